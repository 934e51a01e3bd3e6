"""Cap iteration: the load a pool may carry depends on its size, and its size on the plan.

A run starts from caps of expected sizes. Where the pools of the relaxation, then of the plan, are smaller than their
caps suppose, the caps are tightened to the sizes seen and the model is solved again; caps never rise, so this ends. A
run whose first caps hold is solved once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from planner.coefficients import Coefficients
from planner.coefficients.pools import tightened
from planner.formulation.build import PlanModel
from planner.plan.pools import pools_of_plan, too_busy

MOST_PASSES = 3
"""Most models of one run: two tightenings."""


@dataclass(frozen=True)
class CapPass:
    """How far the iteration is.

    Attributes
    ----------
    number
        Models solved, this one included.
    loose
        Hours in which the last plan looked at had fewer units than the sizes of its pools require.
    """

    number: int = 1
    loose: int = 0

    @property
    def is_last(self) -> bool:
        """Return whether no further model is solved."""
        return self.number >= MOST_PASSES


FIRST_PASS = CapPass()


def retightened(
    c: Coefficients, model: PlanModel, values: np.ndarray, at: CapPass
) -> tuple[Coefficients, int]:
    """Return coefficients whose caps hold at the sizes of these values, and the hours that were too busy.

    The coefficients are the same object where nothing is too busy or the pass is the last.
    """
    if c.pools.empty:
        return c, 0
    seen = pools_of_plan(c, model.columns, values)
    loose = len(too_busy(seen))
    if not loose or at.is_last:
        return c, loose
    return replace(c, pools=tightened(c.pools, c.cap_curves, seen)), loose


def cap_headline(c: Coefficients, at: CapPass) -> dict[str, Any]:
    """Return what the headline says of the caps: passes, and hours still short of units for their pools' sizes."""
    if c.pools.empty:
        return {}
    return {"cap_passes": at.number, "hours_too_busy": at.loose}
