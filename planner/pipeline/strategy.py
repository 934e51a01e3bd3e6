"""How the main model is solved: relaxation, rounded plan, its neighbourhood, whole model, until the gap is proven.

The relaxation gives the long-run duals and a bound. Its rounded plan (``rounding``) may be near enough; if not, a small
search holds every whole number to the relaxation's value rounded down or up. The first plan within the requested gap
of the relaxation's bound is proven; else the best one so far starts the search of the whole model.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.bill_values import settled_bill
from planner.formulation.blocks import ColumnBlock, ColumnIndex
from planner.formulation.build import PlanModel
from planner.formulation.colocation_constraints import settled_rent
from planner.formulation.objective import constant_tokens, token_range
from planner.formulation.pulp_face import PlanProblem
from planner.formulation.standby_constraints import settled_standby
from planner.pipeline.rounding import rounded_plans
from planner.solve import (
    Ratio,
    Solution,
    SolveOptions,
    Termination,
    relative_gap,
    solve,
    solve_fixed,
    solve_ratio,
    solve_ratio_fixed,
)
from planner.solve.warm import WarmRelaxation

STAGED_FROM_COLUMNS = 5_000
"""Below this the whole model is solved at once."""
NEIGHBOURHOOD_TIME_SHARE = 0.4
"""Most of a time limit the neighbourhood search may take."""
NEIGHBOURHOOD_GAP_SHARE = 0.3
"""Share of the requested gap left to the neighbourhood: the rest is for its distance to the bound."""
ROUTING_SHARE = 2e-7
"""Share of the objective that decides between plans of equal cost: less than any tolerance of a proof."""
SLACK = 1e-7
"""A value this near a whole number is that number."""


@dataclass(frozen=True)
class Goal:
    """What is minimised: cost, cost less optional value, or the ratio of cost to tokens.

    Attributes
    ----------
    objective
        ``unit-cost`` or ``cost``.
    is_ratio
        Whether the unit cost needs a true ratio: with one yield and nothing optional, least cost is least unit cost.
    tokens
        Least and greatest discounted effective Mtok of any plan.
    """

    objective: str
    is_ratio: bool
    tokens: tuple[float, float]

    @classmethod
    def of(cls, objective: str, c: Coefficients) -> Goal:
        """Return the goal of an objective for these coefficients."""
        return cls(objective, objective == "unit-cost" and not constant_tokens(c), token_range(c))

    def optimise(
        self, model: PlanModel, problem: PlanProblem, options: SolveOptions, start: np.ndarray | None = None
    ) -> Solution:
        """Return the best plan of a problem with the model's columns."""
        if self.is_ratio:
            return solve_ratio(
                problem,
                model.numerator,
                model.denominator,
                options,
                start,
                numerator_offset=model.numerator_constant,
                denominator_range=self.tokens,
            )
        self._price(model, problem)
        return solve(problem, options, start)

    def relax(
        self,
        model: PlanModel,
        options: SolveOptions,
        warm: WarmRelaxation | None = None,
        afresh: bool = False,
    ) -> Solution:
        """Return the optimum of the relaxation, begun from where the last one ended unless that is far away."""
        # A plan that may serve nothing has no unit cost: the usual way says so.
        if warm is None or (self.is_ratio and self.tokens[0] <= 0):
            return self.optimise(model, model.problem, divisible(options))
        if self.is_ratio:
            ratio = Ratio(model.numerator, model.denominator, model.numerator_constant)
            found = warm.solve(model.problem, ratio, options.time_limit_s, afresh)
            return replace(found, denominator_range=self.tokens) if found.termination.has_values else found
        self._price(model, model.problem)
        cost = model.problem.cost, model.problem.offset
        return warm.solve(model.problem, cost, options.time_limit_s, afresh)

    def fix(self, c: Coefficients, model: PlanModel, found: Solution, options: SolveOptions) -> Solution:
        """Return the plan with its whole numbers held: plan values and fixed-fleet duals come from this LP.

        Among plans of equal cost the one with the shortest round trips is taken: each routed request costs a sliver
        per millisecond, together at most ROUTING_SHARE of the objective, which is taken out again.

        Yes-or-no variables of a bill that are right only within the gap (a cheaper tier left shut) make the LP pay more
        than the tariff reads for the same load: the plan is taken with its bill as the tariff reads it. All modules
        carry that can: a search may leave some out.
        """
        found = replace(found, values=settled_standby(c, model.columns, found.values))
        detour = routing_sliver(c, model, found)
        if self.is_ratio:
            ratio = Ratio(model.numerator + detour, model.denominator, model.numerator_constant)
            fixed = solve_ratio_fixed(model.problem, found, ratio, options)
        else:
            self._price(model, model.problem)
            bare, constant = model.problem.cost, model.problem.offset
            model.problem.set_cost(bare + detour, constant)
            fixed = solve_fixed(model.problem, found, options)
        values, plain = self._settled(c, model, fixed.values)
        bound = min(fixed.termination.bound, plain)
        ended = replace(fixed.termination, bound=bound, gap=relative_gap(plain, bound))
        return replace(fixed, values=values, objective=plain, termination=ended)

    def as_billed(
        self, c: Coefficients, model: PlanModel, found: Solution, options: SolveOptions
    ) -> Solution:
        """Return a relaxed plan with its bill as the tariff reads it.

        With divisible yes-or-no variables the relaxation pays less than the tariff where a tier gets cheaper; the
        relaxation stays the bound, and the gap is what the tariff reads above it.
        """
        whole = settled_standby(c, model.columns, found.values, relaxed=True)
        found = replace(found, values=whole)
        settled = settled_rent(c, model.columns, settled_bill(c, model.columns, whole))
        read = self._level(model, settled)
        if relative_gap(read, found.objective) <= SLACK:
            return found
        bound = min(found.termination.bound, read)
        gap = relative_gap(read, bound)
        status: Literal["optimal", "feasible"] = "optimal" if gap <= options.gap else "feasible"
        ended = replace(found.termination, status=status, bound=bound, gap=gap)
        return replace(found, values=settled, objective=read, termination=ended)

    def _settled(self, c: Coefficients, model: PlanModel, values: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the values with the bill as the tariff reads it where that is cheaper, and their objective."""
        settled = settled_rent(c, model.columns, settled_bill(c, model.columns, values))
        paid, read = (self._level(model, each) for each in (values, settled))
        return (settled, read) if read < paid else (values, paid)

    def _level(self, model: PlanModel, values: np.ndarray) -> float:
        if self.is_ratio:
            return Ratio(model.numerator, model.denominator, model.numerator_constant).at(values)
        if self.objective == "cost":
            return float(model.value @ values) + model.value_constant
        return float(model.numerator @ values) + model.numerator_constant

    def _price(self, model: PlanModel, problem: PlanProblem) -> None:
        if self.objective == "cost":
            problem.set_cost(model.value, model.value_constant)
        else:
            problem.set_cost(model.numerator, model.numerator_constant)


def divisible(options: SolveOptions) -> SolveOptions:
    """Return the options of a relaxation: units may be fractions."""
    return replace(options, relax=True, progress=None)


def warm_relaxation(c: Coefficients, options: SolveOptions, follows: bool = False) -> WarmRelaxation | None:
    """Return where relaxations of a scenario are begun; None where another solver than HiGHS is asked for."""
    if options.solver != "highs":
        return None
    return WarmRelaxation(options, follows, tuple(c.periods.index))


def routing_sliver(c: Coefficients, model: PlanModel, found: Solution) -> np.ndarray:
    """Return a cost per column on the flows, proportional to their round trip and far below the solver's gap."""
    routed = [model.columns.frame(family) for family in ("flow", "failure_flow")]
    flows = pd.concat(routed, ignore_index=True).merge(
        c.routes[["workload", "region", "site", "rtt_ms"]],
        on=["workload", "region", "site"],
        validate="many_to_one",
    )
    detour = np.zeros(model.columns.count)
    detour[flows["column"].to_numpy(int)] = flows["rtt_ms"].fillna(0.0).to_numpy()
    total = float(detour @ np.maximum(found.values, 0.0))
    cost = abs(float(model.numerator @ found.values))
    return detour * (ROUTING_SHARE * cost / total) if total > 0 else detour


def solve_main(
    c: Coefficients, model: PlanModel, goal: Goal, relaxed: Solution, options: SolveOptions
) -> Solution:
    """Return the best integer plan, with the best bound known.

    Parameters
    ----------
    relaxed
        Optimal solution of the relaxation.
    options
        Gap, limits and solver of the whole search.
    """
    began = time.perf_counter()
    if options.gap == 0 or model.columns.count < STAGED_FROM_COLUMNS or relaxed.status != "optimal":
        return goal.optimise(model, model.problem, options)
    share = None if options.time_limit_s is None else options.time_limit_s * NEIGHBOURHOOD_TIME_SHARE
    start: np.ndarray | None = None
    least = np.inf
    for plan in rounded_plans(c, model, relaxed.values, options, goal.optimise):
        if plan.objective < least:
            start, least = plan.values, plan.objective
        if relative_gap(plan.objective, relaxed.objective) <= options.gap:
            return _proven(plan, relaxed, began, "running totals of the relaxation rounded to whole units")
    near = replace(options, gap=options.gap * NEIGHBOURHOOD_GAP_SHARE, time_limit_s=share)
    found = goal.optimise(model, neighbourhood(model, relaxed.values), near)
    if found.termination.has_values and found.objective < least:
        start, least = found.values, found.objective
        if relative_gap(least, relaxed.objective) <= options.gap:
            return _proven(
                found, relaxed, began, "best plan whose orders are those of the relaxation rounded up or down"
            )
    left = (
        None
        if options.time_limit_s is None
        else max(options.time_limit_s - (time.perf_counter() - began), 0.01)
    )
    return goal.optimise(model, model.problem, replace(options, time_limit_s=left), start)


def _proven(plan: Solution, relaxed: Solution, began: float, how: str) -> Solution:
    """Return the plan as optimal within the gap: the relaxation's bound is the proof."""
    ended = Termination(
        "optimal",
        relaxed.objective,
        relative_gap(plan.objective, relaxed.objective),
        time.perf_counter() - began,
        f"{how}; proven by the bound of the relaxation",
    )
    return replace(plan, termination=ended)


def neighbourhood(model: PlanModel, relaxed: np.ndarray) -> PlanProblem:
    """Return the model with every whole number held between the relaxation's value rounded down and rounded up.

    Most whole numbers of a relaxation are whole already, so few are left to decide (relaxation enforced
    neighbourhood search: T. Berthold, "RENS", Mathematical Programming Computation 6, 2014).
    """
    blocks = []
    for block in model.columns.blocks:
        level = relaxed[model.columns.position(block.family)]
        low = np.where(block.integer, np.maximum(np.floor(level + SLACK), block.lower), block.lower)
        high = np.where(block.integer, np.minimum(np.ceil(level - SLACK), block.upper), block.upper)
        blocks.append(ColumnBlock(block.family, block.labels, low, np.maximum(low, high), block.integer))
    return PlanProblem("neighbourhood", ColumnIndex(blocks), model.problem.rows)
