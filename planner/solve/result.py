"""What a solve proves and finds. The status says what is proven; values exist only with a plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

Status = Literal["optimal", "feasible", "infeasible", "no_solution"]
Stop = Literal["proof", "time_limit", "interrupt", "other"]

ROUNDING = 1e-6
"""Relative gap below which two objectives are the same number to the solver's tolerances."""


@dataclass(frozen=True)
class Termination:
    """How a solve ended.

    Attributes
    ----------
    status
        ``optimal``: proven within the requested gap. ``feasible``: a plan, not proven within it.
        ``infeasible``: proven that there is no plan. ``no_solution``: stopped before any plan was found.
    bound
        Proven lower bound of the objective (minus infinity when none).
    gap
        Achieved ``|objective - bound| / |objective|``; infinite when there is no plan or no bound.
    seconds
        Wall seconds.
    detail
        The solver's own words, and anything a reader of the plan should know.
    stop
        What ended the search: the proof, the time limit, Ctrl-C, or something else.
    """

    status: Status
    bound: float
    gap: float
    seconds: float
    detail: str = ""
    stop: Stop = "proof"

    @property
    def has_values(self) -> bool:
        """Return whether a plan was found."""
        return self.status in ("optimal", "feasible")


@dataclass(frozen=True, eq=False)
class Solution:
    """A plan as arrays, with the proof that goes with it.

    Attributes
    ----------
    termination
        Status, bound and gap.
    values
        Value per column; NaN throughout when there is no plan.
    objective
        Objective of the values (cost, or ratio after :func:`planner.solve.solve_ratio`); NaN when none.
    row_duals
        Change of the optimal objective per unit of right-hand side, per row; None for a MILP.
    reduced_costs
        Change of the optimal objective per unit of a column held off its bound; None for a MILP.
    denominator_range
        Least and greatest denominator of any plan, where a relaxed ratio was solved; greatest may be open.
    """

    termination: Termination
    values: np.ndarray
    objective: float
    row_duals: np.ndarray | None = None
    reduced_costs: np.ndarray | None = None
    denominator_range: tuple[float, float] | None = None

    @property
    def status(self) -> Status:
        """Return the status of the termination."""
        return self.termination.status


def nothing_found(ended: Termination, count: int) -> Solution:
    """Return the solution of a run that gives no plan of `count` columns: infeasible stays so, else none found."""
    if ended.status != "infeasible":
        ended = replace(ended, status="no_solution")
    return Solution(replace(ended, gap=float("inf")), np.full(count, np.nan), float("nan"))


def relative_gap(objective: float, bound: float) -> float:
    """Return ``|objective - bound| / |objective|``, infinite without both; 0 when they are equal.

    >>> relative_gap(200.0, 199.0)
    0.005
    """
    if not (np.isfinite(objective) and np.isfinite(bound)):
        return float("inf")
    difference = abs(objective - bound)
    if difference <= 1e-9:
        return 0.0
    return float(difference / abs(objective)) if objective else float("inf")


def status_of_plan(gap: float, requested: float) -> Status:
    """Return ``optimal`` if the achieved gap is within the requested one, else ``feasible``."""
    return "optimal" if gap <= requested + ROUNDING else "feasible"
