"""Least ratio of two linear expressions over a MILP, with a certificate (Dinkelbach's method).

For a level ``v`` let ``F(v) = min N(x) - v D(x)``, with ``D(x) > 0`` everywhere. The least ratio is the ``v``
with ``F(v) = 0`` (W. Dinkelbach, "On nonlinear fractional programming", Management Science 13(7), 1967).

Certificate. Suppose a solver proves ``F(v) >= b``. Every plan then has ``N(x) >= v D(x) + b``, so

    N(x) / D(x)  >=  v + b / D(x)  >=  v + b / D_low    if b < 0
                                   >=  v + b / D_high   if b >= 0

where ``D_low <= D(x) <= D_high`` for every plan. No exact solve is needed: any proven bound of any step
counts, and the best one is kept. The range of D comes from two LPs over the relaxation
unless it is given.

Steps. With a plan of ratio ``r`` in hand and a requested gap ``g``, the next level is ``v = r - g/2 |r|``:
either a plan with ``N - vD < 0`` turns up and improves the ratio by more than half the gap, or the bound
reaches 0 and certifies ``v`` by itself, however small ``D_low`` is. Each step is the same matrix with new
costs, begun from the plan in hand.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.formulation.pulp_face import PlanProblem
from planner.solve.core import fixed_termination, run_fixed
from planner.solve.highs import HighsSession, Limits
from planner.solve.options import SolveOptions
from planner.solve.ratio_lp import Ratio, lp_least_ratio
from planner.solve.ratio_search import RatioSearch
from planner.solve.result import Solution


def solve_ratio(
    problem: PlanProblem,
    numerator: np.ndarray,
    denominator: np.ndarray,
    options: SolveOptions | None = None,
    start: np.ndarray | None = None,
    *,
    numerator_offset: float = 0.0,
    denominator_offset: float = 0.0,
    denominator_range: tuple[float, float] | None = None,
    relaxation: Solution | None = None,
) -> Solution:
    """Return the plan of least ratio; ``objective`` is the ratio, ``termination.bound`` its certified bound.

    Duals (of an LP only) are those of ``N - v D`` at the final ratio ``v``, in units of N.

    Parameters
    ----------
    problem
        The model; its own objective is not used.
    numerator, denominator
        Coefficient per column.
    options
        ``gap`` is the relative gap of the ratio; ``time_limit_s`` counts over all steps.
    start
        A complete plan to begin from; one that breaks a limit is ignored.
    numerator_offset, denominator_offset
        Constants added to each.
    denominator_range
        Numbers between which the denominator of every plan lies, if known; saves the LPs that find them.
    relaxation
        What this function returned for the same ratio with ``relax``; saves its LPs.

    Raises
    ------
    InputError
        A plan may have a denominator of zero or less, so that the ratio means nothing.
    """
    sides = np.asarray(numerator, float), np.asarray(denominator, float)
    ratio = Ratio(*sides, numerator_offset, denominator_offset)
    search = RatioSearch(problem.arrays(), ratio, problem.recourse(), options or SolveOptions())
    solution = search.run(start, relaxation, denominator_range)
    problem.assign_values(solution.values if solution.termination.has_values else None)
    return solution


def solve_ratio_fixed(
    problem: PlanProblem, solution: Solution, ratio: Ratio, options: SolveOptions | None = None
) -> Solution:
    """Return the plan of least ratio with the whole numbers of `solution` held, and the duals of that LP.

    As :func:`planner.solve.solve_fixed` does for a plain objective.
    """
    options = options or SolveOptions()

    def least_ratio(session: HighsSession, limits: Limits) -> Solution:
        return lp_least_ratio(session, ratio, limits, ratio.at(solution.values))

    fixed, note = run_fixed(problem.arrays(), solution, options, least_ratio)
    ended = fixed_termination(solution, fixed, fixed.objective, options.gap, note)
    problem.assign_values(fixed.values)
    return replace(fixed, termination=ended)
