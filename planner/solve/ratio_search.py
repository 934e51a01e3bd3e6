"""The search behind :func:`planner.solve.solve_ratio`; its mathematics stands at the top of ``ratio``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.formulation.arrays import ModelArrays
from planner.solve.clock import Clock
from planner.solve.core import open_session
from planner.solve.first_plan import Interrupted, is_large
from planner.solve.highs import HighsSession, Limits
from planner.solve.large import near_plan
from planner.solve.options import Progress, SolveOptions
from planner.solve.ratio_lp import (
    LP_ROUNDING,
    MOST_STEPS,
    Ratio,
    extreme_denominator,
    greatest_denominator,
    is_constant,
    lp_least_ratio,
    require_positive,
)
from planner.solve.result import (
    ROUNDING,
    Solution,
    Stop,
    Termination,
    nothing_found,
    relative_gap,
    status_of_plan,
)

START_TOLERANCE = 1e-6
SHRINK = 4.0
"""How much tighter a step is repeated that neither improved the plan nor certified it."""


class RatioSearch:
    """One search: the plan in hand, the best certified bound and the time left.

    Parameters
    ----------
    arrays
        The model.
    ratio
        What is to be least.
    recourse
        Flag per column: decided block by block.
    options
        Gap of the ratio, seconds over all steps, solver of the MILP steps; LP steps run in HiGHS.
    """

    def __init__(self, arrays: ModelArrays, ratio: Ratio, recourse: np.ndarray, options: SolveOptions):
        self.arrays, self.ratio, self.recourse, self.options = arrays, ratio, recourse, options
        self.is_milp = bool(arrays.integer.any()) and not options.relax
        self.clock = Clock(options.time_limit_s)
        self.low, self.high = 0.0, np.inf
        self.best: Solution | None = None
        self.least, self.bound = np.inf, -np.inf
        self.level, self.reference, self.step = 0.0, 0.0, "start"
        self.stop: Stop = "proof"
        self.steps = 0

    def run(
        self,
        start: np.ndarray | None,
        relaxation: Solution | None,
        denominator_range: tuple[float, float] | None,
    ) -> Solution:
        """Return the plan of least ratio, certified within the gap unless a limit ends the search."""
        if relaxation is None or relaxation.denominator_range is None:
            relaxation = self._relaxation(denominator_range)
        if not self.is_milp or relaxation.denominator_range is None:
            return relaxation
        self.low, self.high = relaxation.denominator_range
        self.bound = relaxation.objective - LP_ROUNDING * abs(relaxation.objective)
        if start is not None and self._usable(start):
            self._take_plan(start)
        elif is_large(self.arrays, self.options):
            try:
                self._take_near(relaxation.values)
            except Interrupted as interrupted:
                self.stop = "interrupt"
                if interrupted.plan is not None:
                    self._take_plan(interrupted.plan)
                return self._finished("interrupted")
        return self._search()

    def _take_near(self, relaxed: np.ndarray) -> None:
        """Take a whole plan near the relaxation, if one is found in a share of the time left."""
        cost, offset = self.ratio.cost_at(self.bound, self.low)
        level = replace(self.arrays, cost=cost, offset=offset)
        plan = near_plan(level, relaxed, self.recourse, self.options, self.clock)
        if plan is not None:
            self._take_plan(plan)

    def _take_plan(self, plan: np.ndarray) -> None:
        self._take(Solution(Termination("feasible", -np.inf, np.inf, 0.0), plan, np.nan))

    def _relaxation(self, known: tuple[float, float] | None) -> Solution:
        """Return the least ratio of the relaxation with the least denominator, or why there is none."""
        session = HighsSession(self.arrays, replace(self.options, solver="highs", relax=True, progress=None))
        session.set_cost(self.ratio.numerator, self.ratio.numerator_offset)
        cheapest = session.run(self._limits())
        if not cheapest.termination.has_values or cheapest.termination.stop != "proof":
            return self._without_plan(cheapest)
        low, high = known or (0.0, np.inf)
        if low <= 0:
            lowest = extreme_denominator(self.arrays, self.ratio, 1.0, self.options, self._limits())
            if not lowest.termination.has_values or lowest.termination.stop != "proof":
                return self._without_plan(lowest)
            low = lowest.objective
        require_positive(low, high)
        found = lp_least_ratio(session, self.ratio, self._limits(), self.ratio.at(cheapest.values))
        if not found.termination.has_values or found.termination.stop != "proof":
            return self._without_plan(found)
        ended = replace(found.termination, seconds=self.clock.elapsed)
        return replace(found, termination=ended, denominator_range=(low, high))

    def _usable(self, start: np.ndarray) -> bool:
        complete = start.shape == self.arrays.cost.shape and bool(np.isfinite(start).all())
        return complete and self.arrays.violation_at(start) <= START_TOLERANCE

    def _search(self) -> Solution:
        """Run MILP steps until the ratio is certified; every step starts from the plan in hand."""
        gap, shrink, detail = self.options.gap, 1.0, "relaxation and a whole plan near it"
        if relative_gap(self.least, self.bound) <= gap:
            return self._finished(detail)
        if not np.isfinite(self.high):
            self.high = greatest_denominator(self.arrays, self.ratio, self.options, self._limits())
        session = open_session(self.arrays, self._reporting())
        for self.steps in range(1, MOST_STEPS + 1):
            limits = self._set_level(shrink)
            self.step = f"ratio step {self.steps}"
            session.set_cost(*self.ratio.cost_at(self.level, self.reference))
            held = None if self.best is None else self.best.values
            found = session.run(limits, held, self.step)
            detail = found.termination.detail
            if found.termination.status == "infeasible":
                return self._without_plan(found)
            self._certify(found.termination.bound)
            improved = found.termination.has_values and self._take(found)
            self.stop = found.termination.stop
            if self.stop != "proof" or relative_gap(self.least, self.bound) <= gap + ROUNDING:
                break
            if not improved:
                if gap == 0:
                    break
                shrink *= SHRINK
        return self._finished(detail)

    def _set_level(self, shrink: float) -> Limits:
        """Set level and reference denominator of the next step and return when it may stop.

        The reference turns ``N - vD`` into ``N - v (D - reference)``, which is about N: solvers steer their
        heuristics by a gap relative to the objective, and that says nothing where the objective is near zero.
        Without a plan in hand the level is the relaxation's ratio. With one it lies half the gap below, and a
        bound that reaches ``v reference`` certifies it.
        """
        gap = self.options.gap
        if self.best is None or is_constant(self.low, self.high):
            self.level, self.reference = self.bound, self.low
            share = 1.0 if is_constant(self.low, self.high) else 0.5
            return replace(self._limits(), relative_gap=share * gap / shrink)
        self.level = self.least - 0.5 * gap * abs(self.least)
        self.reference = self.ratio.denominator_at(self.best.values)
        enough = self.level * self.reference
        absolute = 0.25 * gap * abs(enough) / shrink
        return replace(self._limits(), relative_gap=0.0, absolute_gap=absolute, stop_at_bound=enough)

    def _certify(self, bound: float) -> None:
        """Raise the certified ratio by a proven lower bound of ``N - level (D - reference)``."""
        if np.isfinite(bound):
            self.bound = max(self.bound, self._certified(bound))

    def _certified(self, bound: float) -> float:
        below = bound - self.level * self.reference
        size = self.low if below < 0 else self.high
        return self.level + (below / size if np.isfinite(size) else 0.0)

    def _take(self, found: Solution) -> bool:
        """Keep a plan if its ratio is less; return whether it was."""
        reached = self.ratio.at(found.values)
        if reached >= self.least - 1e-12 * abs(self.least) and self.best is not None:
            return False
        self.best, self.least = found, reached
        return True

    def _limits(self) -> Limits:
        """Return limits with the seconds left; the gap only tells LP steps how exact to be."""
        return Limits(relative_gap=self.options.gap, seconds=self.clock.left)

    def _finished(self, detail: str) -> Solution:
        """Return the plan in hand with its certificate."""
        seconds = self.clock.elapsed
        if self.best is None:
            ended = Termination("no_solution", self.bound, np.inf, seconds, detail, self.stop)
            return nothing_found(ended, len(self.arrays.cost))
        bound = min(self.bound, self.least)
        gap = relative_gap(self.least, bound)
        words = f"{detail}; ratio steps: {self.steps}"
        ended = Termination(status_of_plan(gap, self.options.gap), bound, gap, seconds, words, self.stop)
        return replace(self.best, objective=self.least, termination=ended)

    def _without_plan(self, found: Solution) -> Solution:
        """Return the outcome of a step that ends the search without a plan of least ratio."""
        ended = replace(found.termination, seconds=self.clock.elapsed)
        if ended.status != "infeasible":
            ended = replace(ended, bound=self.bound)
        return nothing_found(ended, len(self.arrays.cost))

    def _reporting(self) -> SolveOptions:
        """Return the options with progress told in terms of the ratio."""
        report = self.options.progress
        if report is None:
            return self.options

        def tell(state: Progress) -> None:
            bound = max(self.bound, self._certified(state.bound)) if np.isfinite(state.bound) else self.bound
            report(
                Progress(self.clock.elapsed, self.least, bound, relative_gap(self.least, bound), self.step)
            )

        return replace(self.options, progress=tell)
