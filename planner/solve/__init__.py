"""Solve a plan model: status first, values second.

Reading order: ``options`` and ``result`` (what goes in and comes out), ``core`` (solve, and solve again with
whole numbers held), ``ratio``, ``ratio_lp`` and ``ratio_search`` (least unit cost), ``elastic`` (why there is
no plan), ``warm`` and ``sifting`` (relaxations begun from one another, and of very many columns), ``highs``,
``monitor`` and ``process`` (the default solver in memory), ``bridge`` (other solvers).
"""

from planner.solve.bridge import available_solvers
from planner.solve.core import solve, solve_fixed
from planner.solve.elastic import Breach, OutOfTime, elastic, least_breach
from planner.solve.options import Progress, SolveOptions
from planner.solve.ratio import solve_ratio, solve_ratio_fixed
from planner.solve.ratio_lp import Ratio
from planner.solve.result import Solution, Termination, relative_gap

__all__ = [
    "Breach",
    "OutOfTime",
    "Progress",
    "Ratio",
    "Solution",
    "SolveOptions",
    "Termination",
    "available_solvers",
    "elastic",
    "least_breach",
    "relative_gap",
    "solve",
    "solve_fixed",
    "solve_ratio",
    "solve_ratio_fixed",
]
