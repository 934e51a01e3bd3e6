"""A ratio of two linear expressions, and its least value over an LP."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from planner.solve.core import Session
from planner.solve.highs import Limits
from planner.solve.result import Solution

MOST_STEPS = 40
LP_ROUNDING = 1e-9
"""Share of ``v D`` within which an LP's ``F(v)`` is zero."""


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

    def cost_at(self, level: float) -> tuple[np.ndarray, float]:
        """Return costs and constant of ``N - level * D``."""
        offset = self.numerator_offset - level * self.denominator_offset
        return self.numerator - level * self.denominator, offset


def lp_least_ratio(session: Session, ratio: Ratio, limits: Limits, level: float = 0.0) -> Solution:
    """Return the least ratio of an LP, from a first level; each step's plan gives the next level.

    The ratios fall faster than linearly, so a handful of warm LPs is enough. A run that a limit stopped is
    returned as it is, with the objective ``N - v D``.
    """
    began = time.perf_counter()
    for _ in range(MOST_STEPS):
        session.set_cost(*ratio.cost_at(level))
        left = None if limits.seconds is None else limits.seconds - (time.perf_counter() - began)
        found = session.run(replace(limits, seconds=left), step="relaxation")
        if found.termination.stop != "proof" or not found.termination.has_values:
            return found
        before, level = level, ratio.at(found.values)
        if abs(found.objective) <= LP_ROUNDING * abs(level) * ratio.denominator_at(found.values):
            break
        if level == before:
            break
    ended = replace(found.termination, bound=level, gap=0.0, seconds=time.perf_counter() - began)
    return replace(found, objective=level, termination=ended)
