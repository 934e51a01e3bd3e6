"""Cap iteration: the load a pool may carry depends on its size, and its size on the plan.

A run starts from caps of expected sizes. Where the pools of the relaxation, then of the plan, are smaller than their
caps suppose, the caps are tightened to the sizes seen and the model is solved again; caps never rise, so this ends. A
run whose first caps hold is solved once. The last tightening gives up the pools that shrink at every pass; what is
still short after the last model is stated with the plan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from planner.coefficients import Coefficients
from planner.coefficients.service.pools import tightened
from planner.formulation.build import PlanModel
from planner.plan.pools import pools_of_plan, too_busy

MOST_PASSES = 6
"""Most models of one run: five tightenings."""


@dataclass(frozen=True)
class CapPass:
    """How far the iteration is.

    Attributes
    ----------
    number
        Models solved, this one included.
    loose
        Workload-hours in which the last plan looked at had fewer units than the sizes of its pools require.
    short_fraction
        The largest part of its units such an hour was short of.
    """

    number: int = 1
    loose: int = 0
    short_fraction: float = 0.0

    @property
    def is_last(self) -> bool:
        """Return whether no further model is solved."""
        return self.number >= MOST_PASSES


FIRST_PASS = CapPass()


def retightened(
    c: Coefficients, model: PlanModel, values: np.ndarray, at: CapPass
) -> tuple[Coefficients, CapPass]:
    """Return coefficients whose caps hold at the sizes of these values, and the pass with what was too busy.

    The coefficients are the same object where nothing is too busy or the pass is the last.
    """
    if c.pools.empty:
        return c, at
    seen = pools_of_plan(c, model.columns, values)
    hours = too_busy(seen)
    short = float((hours["need"] / hours["units"] - 1.0).max()) if len(hours) else 0.0
    at = replace(at, loose=len(hours), short_fraction=short)
    if hours.empty or at.is_last:
        return c, at
    given_up = hours if at.number + 1 == MOST_PASSES else None
    return replace(c, pools=tightened(c.pools, c.cap_curves, seen, given_up)), at


def cap_headline(c: Coefficients, at: CapPass) -> dict[str, Any]:
    """Return what the headline says of the caps: passes, hours still short of units for their pools' sizes, how far."""
    if c.pools.empty:
        return {}
    return {
        "cap_passes": at.number,
        "hours_too_busy": at.loose,
        "most_units_short_fraction": at.short_fraction,
    }


def cap_warnings(at: CapPass) -> list[str]:
    """Return a sentence where the plan holds fewer units than the sizes of its pools require."""
    if not at.loose:
        return []
    return [
        f"in {at.loose} workload-hours the pools are smaller than the load planned on them supposes: up to "
        f"{at.short_fraction:.2%} more units would keep every latency target there"
    ]
