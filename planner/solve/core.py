"""Solve a plan model, and solve it again with its whole numbers held."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from planner.errors import SolverFailed
from planner.formulation.arrays import ModelArrays
from planner.formulation.pulp_face import PlanProblem
from planner.solve.bridge import PulpSession
from planner.solve.first_plan import is_large
from planner.solve.highs import HighsSession, Limits
from planner.solve.large import solve_large
from planner.solve.options import SolveOptions
from planner.solve.result import Solution, Termination, relative_gap, status_of_plan

LOOSE_TOLERANCE = 1e-6
"""Feasibility tolerance at which a MILP solver accepts a plan; the last resort of a fixed re-solve."""


class Session(Protocol):
    """A model in a solver whose costs may change between runs."""

    is_milp: bool

    def set_cost(self, cost: np.ndarray, offset: float = 0.0) -> None:
        """Replace the objective."""

    def run(self, limits: Limits | None = None, start: np.ndarray | None = None, step: str = "") -> Solution:
        """Solve."""


def open_session(arrays: ModelArrays, options: SolveOptions) -> Session:
    """Return a session of the solver the options name."""
    return HighsSession(arrays, options) if options.solver == "highs" else PulpSession(arrays, options)


def solve(
    problem: PlanProblem, options: SolveOptions | None = None, start: np.ndarray | None = None
) -> Solution:
    """Return the best plan found, with status, bound and gap; PuLP variables of the problem show its values.

    Parameters
    ----------
    problem
        The model.
    options
        Solver, gap, limits.
    start
        A known plan per column (NaN where unknown) from which a MILP search begins.

    Raises
    ------
    SolverFailed
        The model is unbounded, or the solver broke down.
    InputError
        The solver is unknown or not installed.
    """
    options = options or SolveOptions()
    arrays = problem.arrays()
    if start is None and is_large(arrays, options):
        solution = solve_large(arrays, problem.recourse(), options)
    else:
        solution = open_session(arrays, options).run(start=start)
    problem.assign_values(solution.values if solution.termination.has_values else None)
    return solution


def solve_fixed(problem: PlanProblem, solution: Solution, options: SolveOptions | None = None) -> Solution:
    """Return the plan with whole numbers rounded and held, all else optimal given them, and its LP duals.

    Row duals are marginal values *at this fleet*: they say nothing about buying another unit. Status and
    bound stay those of `solution`; the gap is that of the new objective. Should rounding break a limit by a
    solver tolerance, the whole numbers are held between found and rounded value, and ``detail`` says so.

    Raises
    ------
    SolverFailed
        `solution` has no values, or no LP near it is feasible.
    """
    options = options or SolveOptions()
    fixed, note = run_fixed(problem.arrays(), solution, options, lambda session, limits: session.run(limits))
    ended = fixed_termination(solution, fixed, fixed.objective, options.gap, note)
    problem.assign_values(fixed.values)
    return replace(fixed, termination=ended)


class FixedRun(Protocol):
    """How the LP with held whole numbers is solved."""

    def __call__(self, session: HighsSession, limits: Limits) -> Solution:
        """Solve."""


def run_fixed(
    arrays: ModelArrays, solution: Solution, options: SolveOptions, run: FixedRun
) -> tuple[Solution, str]:
    """Return the LP plan with whole numbers held, and a note if they could not be held exactly."""
    if not solution.termination.has_values:
        raise SolverFailed("there is no plan whose whole numbers could be held")
    found, whole = solution.values, arrays.integer
    rounded = np.clip(np.round(found), arrays.lower, arrays.upper)
    attempts = [
        (rounded, rounded, None, ""),
        (rounded, rounded, LOOSE_TOLERANCE, "limits hold to 1e-6 only with whole numbers"),
        (
            np.minimum(found, rounded),
            np.maximum(found, rounded),
            LOOSE_TOLERANCE,
            "whole numbers hold to solver tolerance only",
        ),
    ]
    session = HighsSession(arrays, replace(options, solver="highs", relax=True))
    for low, high, tolerance, note in attempts:
        session.set_bounds(np.where(whole, low, arrays.lower), np.where(whole, high, arrays.upper))
        fixed = run(session, Limits(seconds=options.time_limit_s, feasibility=tolerance))
        if fixed.termination.has_values:
            return fixed, note
    raise SolverFailed(f"no LP plan near the whole numbers found: {fixed.termination.detail}")


def fixed_termination(
    solution: Solution, fixed: Solution, objective: float, requested: float, note: str
) -> Termination:
    """Return the termination of a plan re-solved with held whole numbers: the proof stays, the gap is new."""
    first = solution.termination
    bound = min(first.bound, objective)
    gap = relative_gap(objective, bound)
    detail = "; ".join(part for part in (first.detail, note) if part)
    seconds = first.seconds + fixed.termination.seconds
    return Termination(status_of_plan(gap, requested), bound, gap, seconds, detail, first.stop)
