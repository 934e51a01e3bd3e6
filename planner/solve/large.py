"""A large MILP: relaxation first, a plan near it, and a search only where these two do not settle it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.formulation.arrays import ModelArrays
from planner.solve.clock import Clock
from planner.solve.first_plan import Interrupted, first_plan, without_bounds
from planner.solve.highs import HighsSession, Limits
from planner.solve.options import SolveOptions
from planner.solve.result import Solution, Termination, nothing_found, relative_gap, status_of_plan

LP_ROUNDING = 1e-9
"""Relative error of an LP optimum that is discounted where it serves as a bound."""
SHARE_OF_TIME = 0.7
"""Share of the time left that a first plan may take (unsourced estimate)."""


def solve_large(arrays: ModelArrays, recourse: np.ndarray, options: SolveOptions) -> Solution:
    """Return the best plan found of a MILP, proven by its relaxation where that is enough."""
    clock = Clock(options.time_limit_s)
    part = without_bounds(options, "relaxation")
    relaxed = HighsSession(arrays, replace(part, relax=True)).run(Limits(options.gap, seconds=clock.left))
    if not relaxed.termination.has_values or relaxed.termination.stop != "proof":
        return nothing_found(relaxed.termination, len(arrays.cost))
    bound = relaxed.objective - LP_ROUNDING * abs(relaxed.objective)
    try:
        plan = near_plan(arrays, relaxed.values, recourse, options, clock)
    except Interrupted as interrupted:
        ended = Termination("no_solution", bound, np.inf, clock.elapsed, "interrupted", "interrupt")
        if interrupted.plan is None:
            return nothing_found(ended, len(arrays.cost))
        return _with_bound(arrays, interrupted.plan, bound, options.gap, clock, ended.detail, ended)
    if plan is not None and relative_gap(arrays.objective_at(plan), bound) <= options.gap:
        return _with_bound(
            arrays, plan, bound, options.gap, clock, "relaxation and a whole plan near it", None
        )
    found = HighsSession(arrays, options).run(Limits(options.gap, seconds=clock.left), start=plan)
    if found.status == "infeasible":
        return found
    if found.termination.has_values:
        plan = found.values
    bound = max(bound, found.termination.bound)
    if plan is None:
        return nothing_found(replace(found.termination, bound=bound, seconds=clock.elapsed), len(arrays.cost))
    return _with_bound(arrays, plan, bound, options.gap, clock, found.termination.detail, found.termination)


def near_plan(
    arrays: ModelArrays, relaxed: np.ndarray, recourse: np.ndarray, options: SolveOptions, clock: Clock
) -> np.ndarray | None:
    """Return a whole plan near the relaxation within a share of the time left, or None."""
    seconds = np.inf if clock.left is None else SHARE_OF_TIME * clock.left
    return first_plan(arrays, relaxed, recourse, without_bounds(options, "first plan"), seconds)


def _with_bound(
    arrays: ModelArrays,
    plan: np.ndarray,
    bound: float,
    requested: float,
    clock: Clock,
    detail: str,
    search: Termination | None,
) -> Solution:
    objective = arrays.objective_at(plan)
    bound = min(bound, objective)
    gap = relative_gap(objective, bound)
    stop = "proof" if search is None else search.stop
    ended = Termination(status_of_plan(gap, requested), bound, gap, clock.elapsed, detail, stop)
    return Solution(ended, plan, objective)
