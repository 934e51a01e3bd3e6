"""Warm units of a plan: what stands by before demand rises, and the units by the hour that are there for it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import STAND
from planner.coefficients.service.warm import CLASS
from planner.formulation.blocks import ColumnIndex
from planner.formulation.service_constraints import POOL_BLOCK, sized_runs
from planner.formulation.warm_constraints import AHEAD, OF, POOL, WARM
from planner.plan.decided import decided

WARM_FRAME = [*WARM, "hours", "units"]
AHEAD_FRAME = [*AHEAD, "hours", "units"]


def warm_frames(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> Mapping[str, pd.DataFrame]:
    """Return what stands by in each class of hours, and the units by the hour that are there; the least that is enough.

    Returns
    -------
    warm_units : DataFrame
        WARM_FRAME: units of a product that stand by for a workload and phase in the hours of a block before another.
    hourly_ahead : DataFrame
        AHEAD_FRAME: available units by the hour that are there in them, where units can be rented by the hour.
    """
    running = decided(columns, values, "run", "busy")[["column", "busy"]]
    need = sized_runs(c, columns).merge(running, on="column")
    need = need.assign(units=need["units_per_busy_unit"] * need["busy"])
    hours = c.warm.hours.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    hours = hours.assign(hours=hours["share"].astype(float) * hours["hours"])[[*CLASS, "hours"]]
    warm = _standing(c, need).merge(hours, on=CLASS)[WARM_FRAME]
    return {"warm_units": warm, "hourly_ahead": _ahead(c, columns, values, need, warm, hours)}


def _standing(c: Coefficients, need: pd.DataFrame) -> pd.DataFrame:
    """Return WARM and units: the largest rise that a class is held for, times the share that stands by in it."""
    needed = need.groupby([*OF, "block"], as_index=False)["units"].sum().rename(columns={"block": "at_block"})
    joined = needed.merge(c.warm.rises, on=["workload", "period", "at_block"])
    place = ["held_block", "held_next"]
    weighed = joined.assign(rise=joined["weight"].astype(float) * joined["units"])
    rises = weighed.groupby([*WARM, *place], as_index=False)["rise"].sum()
    most = rises.groupby([*OF, *place], as_index=False)["rise"].max()
    held = most[most["rise"] > 0.0].merge(c.warm.held, on=["workload", "period", *place])
    return held.assign(units=held["rise"] * held["share"].astype(float))[[*WARM, "units"]]


def _ahead(
    c: Coefficients,
    columns: ColumnIndex,
    values: np.ndarray,
    need: pd.DataFrame,
    warm: pd.DataFrame,
    hours: pd.DataFrame,
) -> pd.DataFrame:
    """Return AHEAD_FRAME: what is needed and stands by, less the units that are there throughout the period."""
    labels = columns.frame("ahead")[AHEAD].merge(hours, on=CLASS)
    busy = need.groupby(POOL_BLOCK)["units"].sum()
    stood = warm.groupby(AHEAD)["units"].sum()
    unit = c.stands[[*STAND, "product", "availability_fraction"]]
    parts = [
        decided(columns, values, family, "held").merge(unit, on=STAND) for family in ("installed", "rent")
    ]
    kept = pd.concat(parts, ignore_index=True)
    there = (kept["held"] * kept["availability_fraction"]).groupby([kept[name] for name in POOL]).sum()
    least = (
        busy.reindex(pd.MultiIndex.from_frame(labels[POOL_BLOCK])).fillna(0.0).to_numpy(float)
        + stood.reindex(pd.MultiIndex.from_frame(labels[AHEAD])).fillna(0.0).to_numpy(float)
        - there.reindex(pd.MultiIndex.from_frame(labels[POOL])).fillna(0.0).to_numpy(float)
    )
    return labels.assign(units=np.maximum(least, 0.0))[AHEAD_FRAME]
