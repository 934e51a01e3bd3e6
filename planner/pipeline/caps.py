"""Cap iteration: the load a pool may carry depends on its size, and its size on the plan.

A run starts from the loosest caps any plan could use (``pools.first_pools``), which no limit, price or path moves.
Where the pools of the plan are smaller than their caps suppose, the caps of those hours are tightened to the sizes seen
and the model is solved again; caps never rise, so this ends: at a plan whose caps hold at its own sizes. Large models,
and runs with a limit of time, first follow the pools of the relaxation, which is quicker. The last tightening gives up
the pools that shrink at every pass; what is still short after the last model is stated with the plan.

A plan found so is the best at the caps it ends at, not at all caps. The bound of the first model holds for pools of all
sizes (``bound_any_sizes``): how far the plan may be above the best one is stated beside the gap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from planner.coefficients import Coefficients
from planner.coefficients.service.pools import tightened
from planner.formulation.build import PlanModel
from planner.pipeline.strategy import STAGED_FROM_COLUMNS
from planner.plan.pools import pools_of_plan, too_busy
from planner.solve import SolveOptions, relative_gap

MOST_PASSES = 12
"""Most models of one run, relaxations followed included."""
RELAXED_PASSES = 4
"""Most models whose relaxation alone is followed."""


@dataclass(frozen=True)
class CapPass:
    """How far the iteration is.

    Attributes
    ----------
    number
        Models built, this one included.
    loose
        Workload-hours in which the last plan looked at had fewer units than the sizes of its pools require.
    short_fraction
        The largest part of its units such an hour was short of.
    whole
        Whether plans are followed already, no more the relaxation.
    bound
        Best bound of the model at the loosest caps, in what is minimised; None before it is known.
    """

    number: int = 1
    loose: int = 0
    short_fraction: float = 0.0
    whole: bool = False
    bound: float | None = None

    @property
    def is_last(self) -> bool:
        """Return whether no further model is solved."""
        return self.number >= MOST_PASSES

    def follows_relaxation(self, model: PlanModel, options: SolveOptions) -> bool:
        """Return whether the relaxation's pools are followed before a plan is made: where a plan takes long."""
        long = model.columns.count >= STAGED_FROM_COLUMNS or options.time_limit_s is not None
        return long and not options.relax and not self.whole and self.number < RELAXED_PASSES

    def bounded(self, bound: float) -> CapPass:
        """Return the pass with a bound of the first model, the better of two; as it is after the first."""
        if self.number > 1 or not np.isfinite(bound):
            return self
        return replace(self, bound=bound if self.bound is None else max(bound, self.bound))


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
    given_up = at.number + 1 == MOST_PASSES
    return replace(c, pools=tightened(c.pools, c.cap_curves, seen, hours, given_up)), at


def cap_headline(c: Coefficients, at: CapPass, objective: float, scale: float) -> dict[str, Any]:
    """Return what the headline says of the caps: passes, hours still short of units, the bound at pools of any size.

    Parameters
    ----------
    objective
        Objective of the plan, currency.
    scale
        Currency per unit of what is minimised: discounted output where that is a ratio, 1 otherwise.
    """
    if c.pools.empty:
        return {}
    found: dict[str, Any] = {
        "cap_passes": at.number,
        "hours_too_busy": at.loose,
        "most_units_short_fraction": at.short_fraction,
    }
    if at.bound is not None:
        bound = min(at.bound * scale, objective)
        found |= {"bound_any_sizes": bound, "gap_any_sizes": relative_gap(objective, bound)}
    return found


def cap_warnings(at: CapPass) -> list[str]:
    """Return a sentence where the plan holds fewer units than the sizes of its pools require."""
    if not at.loose:
        return []
    return [
        f"in {at.loose} workload-hours the pools are smaller than the load planned on them supposes: up to "
        f"{at.short_fraction:.2%} more units would keep every latency target there"
    ]
