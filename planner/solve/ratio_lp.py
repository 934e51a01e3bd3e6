"""A ratio of two linear expressions: its least value over an LP, and the range of its denominator."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from planner.errors import Fault, InputError
from planner.formulation.arrays import ModelArrays
from planner.solve.highs import HighsSession, Limits, Unbounded
from planner.solve.options import SolveOptions
from planner.solve.result import Solution, relative_gap

MOST_STEPS = 40
LP_ROUNDING = 1e-9
"""Share of ``v D`` within which an LP's ``F(v)`` is zero."""
RANGE_ROUNDING = 1e-7
"""Relative accuracy of an interior-point optimum; the range of the denominator is widened by it."""


@dataclass(frozen=True, eq=False)
class Ratio:
    """``(numerator @ x + numerator_offset) / (denominator @ x + denominator_offset)``."""

    numerator: np.ndarray
    denominator: np.ndarray
    numerator_offset: float = 0.0
    denominator_offset: float = 0.0

    def denominator_at(self, values: np.ndarray) -> float:
        """Return the denominator of a plan."""
        return float(self.denominator @ values) + self.denominator_offset

    def at(self, values: np.ndarray) -> float:
        """Return the ratio of a plan."""
        return (float(self.numerator @ values) + self.numerator_offset) / self.denominator_at(values)

    def cost_at(self, level: float, reference: float = 0.0) -> tuple[np.ndarray, float]:
        """Return costs and constant of ``N - level * (D - reference)``."""
        offset = self.numerator_offset - level * (self.denominator_offset - reference)
        return self.numerator - level * self.denominator, offset


class LpSession(Protocol):
    """An LP in a solver whose costs may change between runs."""

    def set_cost(self, cost: np.ndarray, offset: float = 0.0) -> None:
        """Replace the objective."""

    def run(self, limits: Limits | None = None) -> Solution:
        """Solve."""


def lp_least_ratio(session: LpSession, ratio: Ratio, limits: Limits, level: float = 0.0) -> Solution:
    """Return the least ratio of an LP, from a first level; each step's plan gives the next level.

    The ratios fall faster than linearly, so a handful of warm LPs is enough. A run that a limit stopped, and
    one without a plan, is returned as it is.
    """
    began = time.perf_counter()
    for _ in range(MOST_STEPS):
        session.set_cost(*ratio.cost_at(level))
        left = None if limits.seconds is None else limits.seconds - (time.perf_counter() - began)
        found = session.run(replace(limits, seconds=left))
        if found.termination.stop != "proof" or not found.termination.has_values:
            return found
        before, level = level, ratio.at(found.values)
        rounding = LP_ROUNDING * abs(level) * ratio.denominator_at(found.values)
        if abs(found.objective) <= rounding or level == before:
            break
    ended = replace(found.termination, bound=level, gap=0.0, seconds=time.perf_counter() - began)
    return replace(found, objective=level, termination=ended)


def extreme_denominator(
    arrays: ModelArrays, ratio: Ratio, sign: float, options: SolveOptions, limits: Limits
) -> Solution:
    """Return the LP plan of least (sign 1) or greatest (sign -1) denominator, the denominator as objective.

    By interior point, which needs no basis here and is several times faster than simplex on this objective;
    by simplex where that ends without an answer.
    """
    session = HighsSession(arrays, replace(options, solver="highs", relax=True, progress=None))
    session.set_cost(sign * ratio.denominator, sign * ratio.denominator_offset)
    found = session.run(replace(limits, interior_point=True))
    if not found.termination.has_values and found.termination.stop not in ("time_limit", "interrupt"):
        found = session.run(limits)
    if not found.termination.has_values:
        return found
    widened = found.objective - RANGE_ROUNDING * abs(found.objective)
    return replace(found, objective=sign * widened)


def greatest_denominator(arrays: ModelArrays, ratio: Ratio, options: SolveOptions, limits: Limits) -> float:
    """Return an upper bound of the denominator, infinity where none was found."""
    try:
        found = extreme_denominator(arrays, ratio, -1.0, options, limits)
    except Unbounded:
        return np.inf
    proven = found.termination.has_values and found.termination.stop == "proof"
    return found.objective if proven else np.inf


def require_positive(lowest: float, greatest: float) -> None:
    """Raise unless every plan has a positive denominator, beyond the rounding of the LP that found the least one.

    Raises
    ------
    InputError
        A plan may serve nothing.
    """
    if lowest > (RANGE_ROUNDING * greatest if np.isfinite(greatest) else 0.0):
        return
    message = (
        "a plan may serve nothing at all, so its unit cost means nothing: state a must-serve share of some "
        "workload, or choose the objective cost"
    )
    raise InputError([Fault("objective unit-cost", message, value=f"least denominator {lowest:.6g}")])


def is_constant(low: float, high: float) -> bool:
    """Return whether the denominator is the same in every plan, to the accuracy of its range."""
    return relative_gap(high, low) <= 4 * RANGE_ROUNDING
