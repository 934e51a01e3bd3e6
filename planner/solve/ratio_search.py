"""The search behind :func:`planner.solve.solve_ratio`; its mathematics stands at the top of ``ratio``."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from planner.errors import Fault, InputError
from planner.formulation.arrays import ModelArrays
from planner.solve.core import open_session
from planner.solve.highs import HighsSession, Limits, Unbounded
from planner.solve.options import Progress, SolveOptions
from planner.solve.ratio_lp import LP_ROUNDING, MOST_STEPS, Ratio, lp_least_ratio
from planner.solve.result import Solution, Stop, Termination, relative_gap, status_of_plan

CONSTANT = 1e-9
"""Relative width of the denominator's range below which it is a constant."""
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
    options
        Gap of the ratio, seconds over all steps, solver of the MILP steps; LP steps run in HiGHS.
    """

    def __init__(self, arrays: ModelArrays, ratio: Ratio, options: SolveOptions):
        self.arrays, self.ratio, self.options = arrays, ratio, options
        self.is_milp = bool(arrays.integer.any()) and not options.relax
        self.began = time.perf_counter()
        self.low, self.high = 0.0, np.inf
        self.best: Solution | None = None
        self.least, self.bound = np.inf, -np.inf
        self.level, self.step = 0.0, "start"
        self.stop: Stop = "proof"
        self.steps = 0

    def run(self, start: np.ndarray | None, denominator_range: tuple[float, float] | None) -> Solution:
        """Return the plan of least ratio, certified within the gap unless a limit ends the search."""
        quiet = replace(self.options, solver="highs", relax=True, progress=None)
        relaxed = HighsSession(self.arrays, quiet)
        if denominator_range is not None:
            self.low, self.high = denominator_range
        else:
            failed = self._find_range(relaxed)
            if failed is not None:
                return failed
        self._require_positive()
        if self.high - self.low <= CONSTANT * self.high:
            return self._constant_denominator()
        if self.is_milp and start is not None and self._usable(start):
            self._take(Solution(Termination("feasible", -np.inf, np.inf, 0.0), start, np.nan))
            return self._search()
        relaxation = lp_least_ratio(relaxed, self.ratio, self._limits())
        if (
            not self.is_milp
            or relaxation.termination.stop != "proof"
            or not relaxation.termination.has_values
        ):
            return self._as_ratio(relaxation)
        self.bound = relaxation.objective - LP_ROUNDING * abs(relaxation.objective)
        return self._search()

    def _find_range(self, relaxed: HighsSession) -> Solution | None:
        """Set the range of the denominator over the relaxation; return a solution only when that fails."""
        denominator, offset = self.ratio.denominator, self.ratio.denominator_offset
        relaxed.set_cost(denominator, offset)
        lowest = relaxed.run(self._limits())
        if not lowest.termination.has_values or lowest.termination.stop != "proof":
            return self._as_ratio(lowest)
        relaxed.set_cost(-denominator, -offset)
        try:
            highest = relaxed.run(self._limits())
        except Unbounded:
            self.low = lowest.objective
            return None
        if not highest.termination.has_values or highest.termination.stop != "proof":
            return self._as_ratio(highest)
        self.low, self.high = lowest.objective, -highest.objective
        return None

    def _require_positive(self) -> None:
        size = self.high if np.isfinite(self.high) else 1.0
        if self.low > CONSTANT * size:
            return
        message = (
            "a plan may serve nothing at all, so its unit cost means nothing: state a must-serve share of "
            "some workload, or choose the objective cost"
        )
        raise InputError([Fault("objective unit-cost", message, value=f"least denominator {self.low:.6g}")])

    def _usable(self, start: np.ndarray) -> bool:
        complete = start.shape == self.arrays.cost.shape and bool(np.isfinite(start).all())
        return complete and self.arrays.violation_at(start) <= START_TOLERANCE

    def _constant_denominator(self) -> Solution:
        """Return the least ratio where every plan has the same denominator: one ordinary solve is enough."""
        session = open_session(self.arrays, self._reporting())
        session.set_cost(self.ratio.numerator, self.ratio.numerator_offset)
        self.step = "single step, every plan has the same denominator"
        found = session.run(replace(self._limits(), relative_gap=self.options.gap), step=self.step)
        if not found.termination.has_values:
            return self._as_ratio(found)
        self._take(found)
        self._certify(found.termination.bound)
        self.stop = found.termination.stop
        return self._finished(found.termination.detail)

    def _search(self) -> Solution:
        """Run MILP steps until the ratio is certified; every step starts from the plan in hand."""
        session = open_session(self.arrays, self._reporting())
        gap, shrink, detail = self.options.gap, 1.0, ""
        for self.steps in range(1, MOST_STEPS + 1):
            self.level = self._next_level()
            self.step = f"ratio step {self.steps}"
            session.set_cost(*self.ratio.cost_at(self.level))
            held = None if self.best is None else self.best.values
            limits = replace(self._limits(), absolute_gap=self._absolute_gap() / shrink, stop_at_bound=0.0)
            found = session.run(
                limits if held is not None else replace(limits, stop_at_bound=np.inf), held, self.step
            )
            detail = found.termination.detail
            if found.termination.status == "infeasible":
                return self._as_ratio(found)
            self._certify(found.termination.bound)
            improved = found.termination.has_values and self._take(found)
            self.stop = found.termination.stop
            if self.stop != "proof" or relative_gap(self.least, self.bound) <= gap:
                break
            if not improved:
                if gap == 0:
                    break
                shrink *= SHRINK
        return self._finished(detail)

    def _next_level(self) -> float:
        """Return the next level: the relaxation's ratio first, then just below the plan in hand."""
        if self.best is None:
            return self.bound
        return self.least - 0.5 * self.options.gap * abs(self.least)

    def _absolute_gap(self) -> float:
        """Return the gap of N - vD, in its units, at which a step may stop: a quarter of the ratio's gap."""
        size = self.low if self.best is None else self.ratio.denominator_at(self.best.values)
        return 0.25 * self.options.gap * abs(self.level) * size

    def _certify(self, bound: float) -> None:
        """Raise the certified ratio by a proven lower bound of ``N - level D``."""
        if np.isfinite(bound):
            self.bound = max(self.bound, self._certified(bound))

    def _certified(self, bound: float) -> float:
        size = self.low if bound < 0 else self.high
        return self.level + (bound / size if np.isfinite(size) else 0.0)

    def _take(self, found: Solution) -> bool:
        """Keep a plan if its ratio is less; return whether it was."""
        reached = self.ratio.at(found.values)
        if reached >= self.least - 1e-12 * abs(self.least) and self.best is not None:
            return False
        self.best, self.least = found, reached
        return True

    def _limits(self) -> Limits:
        total = self.options.time_limit_s
        return Limits(seconds=None if total is None else total - (time.perf_counter() - self.began))

    def _finished(self, detail: str) -> Solution:
        """Return the plan in hand with its certificate."""
        seconds = time.perf_counter() - self.began
        if self.best is None:
            nothing = np.full(len(self.arrays.cost), np.nan)
            ended = Termination("no_solution", self.bound, np.inf, seconds, detail, self.stop)
            return Solution(ended, nothing, np.nan)
        bound = min(self.bound, self.least)
        gap = relative_gap(self.least, bound)
        words = f"{detail}; ratio steps: {self.steps or 1}"
        ended = Termination(status_of_plan(gap, self.options.gap), bound, gap, seconds, words, self.stop)
        return replace(self.best, objective=self.least, termination=ended)

    def _as_ratio(self, found: Solution) -> Solution:
        """Return an LP's outcome as the outcome of the search, timed over all steps."""
        seconds = time.perf_counter() - self.began
        ended = replace(found.termination, seconds=seconds)
        if self.is_milp or found.termination.stop != "proof":
            ended = replace(ended, gap=np.inf)
            if ended.status != "infeasible":
                ended = replace(ended, status="no_solution", bound=self.bound)
            return Solution(ended, np.full(len(self.arrays.cost), np.nan), np.nan)
        return replace(found, termination=ended)

    def _reporting(self) -> SolveOptions:
        """Return the options with progress told in terms of the ratio."""
        report = self.options.progress
        if report is None:
            return self.options

        def tell(state: Progress) -> None:
            bound = max(self.bound, self._certified(state.bound)) if np.isfinite(state.bound) else self.bound
            elapsed = time.perf_counter() - self.began
            report(Progress(elapsed, self.least, bound, relative_gap(self.least, bound), self.step))

        return replace(self.options, progress=tell)
