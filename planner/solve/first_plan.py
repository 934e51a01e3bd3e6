"""A first good plan of a large MILP from its relaxation, in a fraction of the time a MILP search needs for one.

A fleet model has two kinds of whole numbers. The *first stage* says what is ordered and which site opens; the
*recourse* is what can be had at once in every block (hourly rent). Rounding both together rarely keeps the
limits, because a rounded-down order has to be made up for by recourse, which must be free to move:

1. binaries are set to 1 where the relaxation has more than a trace of them, and the LP is solved again;
2. the other first-stage numbers move to the whole numbers next to their LP value, recourse stays fractional;
3. with the first stage held, recourse becomes whole: at least one less than its LP value, without a ceiling.

Each of 2 and 3 is a MILP of few free whole numbers. Whatever fails is tried once with more room, then given up:
the search that follows needs no start.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from planner.formulation.arrays import ModelArrays
from planner.solve.highs import HighsSession, Limits
from planner.solve.options import Progress, SolveOptions

TRACE = 0.1
"""Relaxed value above which a binary is set to 1 (unsourced estimate; the solver corrects it where it can)."""
SHARE_OF_GAP = 0.4
"""Share of the requested gap within which each of the two small MILPs is solved."""
LEAST_GAP = 1e-3
"""Gap below which a first plan is not polished: that is the work of the search."""
INTEGRAL = 1e-6
FEWEST_COLUMNS = 5000
"""Columns below which a MILP search finds its own first plan at once."""


@dataclass(frozen=True)
class _Stage:
    """The model, which whole numbers are recourse, and the time left for a first plan."""

    arrays: ModelArrays
    recourse: np.ndarray
    options: SolveOptions
    ends: float

    def solved(self, lower: np.ndarray, upper: np.ndarray, whole: np.ndarray) -> np.ndarray | None:
        """Return a plan within these bounds with these whole numbers, or None."""
        left = self.ends - time.perf_counter()
        if left <= 0:
            return None
        session = HighsSession(replace(self.arrays, lower=lower, upper=upper, integer=whole), self.options)
        gap = max(SHARE_OF_GAP * self.options.gap, LEAST_GAP)
        found = session.run(Limits(relative_gap=gap, seconds=left))
        if found.termination.stop == "interrupt":
            complete = found.termination.has_values and bool((whole == self.arrays.integer).all())
            raise Interrupted(found.values if complete else None)
        return found.values if found.termination.has_values else None


class Interrupted(Exception):
    """Ctrl-C was pressed while a first plan was sought; `plan` is one that was there already, or None."""

    def __init__(self, plan: np.ndarray | None):
        super().__init__("interrupted")
        self.plan = plan


def is_large(arrays: ModelArrays, options: SolveOptions) -> bool:
    """Return whether a MILP is worth a first plan before the search."""
    whole = arrays.integer.any() and not options.relax
    return bool(whole and len(arrays.cost) >= FEWEST_COLUMNS and options.solver == "highs")


def first_plan(
    arrays: ModelArrays, relaxed: np.ndarray, recourse: np.ndarray, options: SolveOptions, seconds: float
) -> np.ndarray | None:
    """Return a whole plan near the relaxation, or None where none was found in time.

    Parameters
    ----------
    arrays
        The model with the costs to be minimised.
    relaxed
        Values of its relaxation.
    recourse
        Flag per column: a whole number that may be decided last, block by block.
    options
        The gap of the search that follows.
    seconds
        Wall seconds this may take.

    Raises
    ------
    Interrupted
        Ctrl-C.
    """
    stage = _Stage(arrays, recourse & arrays.integer, options, time.perf_counter() + seconds)
    ordered = _first_stage(stage, relaxed)
    if ordered is None or not stage.recourse.any():
        return ordered
    return _whole_recourse(stage, ordered)


def _first_stage(stage: _Stage, relaxed: np.ndarray) -> np.ndarray | None:
    """Return a plan whose orders and openings are whole, its recourse still fractional."""
    arrays = stage.arrays
    ordered = arrays.integer & ~stage.recourse
    binary = ordered & (arrays.upper - arrays.lower <= 1)
    lower, upper = arrays.lower.copy(), arrays.upper.copy()
    opened = np.clip(np.where(relaxed - arrays.lower > TRACE, arrays.upper, arrays.lower), lower, upper)
    lower[binary] = upper[binary] = opened[binary]
    nothing = np.zeros_like(ordered)
    around = stage.solved(lower, upper, nothing) if binary.any() else relaxed
    if around is None:
        lower, upper, around = arrays.lower.copy(), arrays.upper.copy(), relaxed
    for room in (0.0, 1.0):
        near_lower, near_upper = _near(stage, ordered & ~binary, around, room)
        plan = stage.solved(np.where(binary, lower, near_lower), np.where(binary, upper, near_upper), ordered)
        if plan is not None:
            return plan
    return None


def _whole_recourse(stage: _Stage, plan: np.ndarray) -> np.ndarray | None:
    """Return the plan with its first stage held and its recourse whole."""
    arrays = stage.arrays
    held = arrays.integer & ~stage.recourse
    whole = np.clip(np.round(plan), arrays.lower, arrays.upper)
    for room in (1.0, np.inf):
        least = np.floor(plan + INTEGRAL) - room
        lower = np.where(stage.recourse, np.maximum(least, arrays.lower), arrays.lower)
        made = stage.solved(np.where(held, whole, lower), np.where(held, whole, arrays.upper), arrays.integer)
        if made is not None:
            return made
    return None


def _near(
    stage: _Stage, chosen: np.ndarray, around: np.ndarray, room: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds that keep the chosen columns at the whole numbers next to a value, and `room` beyond."""
    arrays = stage.arrays
    low = np.maximum(np.floor(around + INTEGRAL) - room, arrays.lower)
    high = np.minimum(np.ceil(around - INTEGRAL) + room, arrays.upper)
    return np.where(chosen, low, arrays.lower), np.where(chosen, high, arrays.upper)


def without_bounds(options: SolveOptions, step: str) -> SolveOptions:
    """Return options whose progress tells time and step only: bounds of a part prove nothing of the whole."""
    report = options.progress
    if report is None:
        return options
    began = time.perf_counter()

    def tell(state: Progress) -> None:
        report(Progress(time.perf_counter() - began, np.inf, -np.inf, np.inf, step))

    return replace(options, progress=tell)
