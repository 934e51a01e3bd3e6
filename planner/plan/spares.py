"""Spares of a plan: the units needed at a place, those held, and how sure it is that enough of them are up."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import STAND
from planner.coefficients.service.spares import SPOT, confidence_of, down_fraction
from planner.formulation.blocks import ColumnIndex
from planner.formulation.service_constraints import POOL_BLOCK, sized_runs
from planner.inputs import Scenario
from planner.plan.decided import decided

POOL = ["product", "site", "cooling", "period"]
SPARE_FRAME = [*POOL, "needed_units", "held_units", "spare_units", "down_fraction", "confidence_fraction"]
ROUNDING = 1e-6
"""A unit counts as whole within this."""


def spare_frame(c: Coefficients, pools: pd.DataFrame) -> pd.DataFrame:
    """Return SPARE_FRAME of the pools in which spares are held by probability, out of those of ``pool_confidence``."""
    asked = c.spares[POOL].drop_duplicates()
    return pools.merge(asked, on=POOL)[SPARE_FRAME]


def pool_confidence(
    scenario: Scenario, c: Coefficients, columns: ColumnIndex, values: np.ndarray
) -> pd.DataFrame:
    """Return SPARE_FRAME: one row per product that fails, place and period with units held throughout.

    needed_units         units to hold in the busiest block beside those rented by the hour or on spot
    held_units           units held throughout the period: in service or rented for it, not on spot
    spare_units          held_units - needed_units
    down_fraction        share of time a unit is failed
    confidence_fraction  P(Binomial(held_units, 1 - down_fraction) >= needed_units)
    """
    unit = c.stands[[*STAND, "product", "mode", "availability_fraction"]]
    running = decided(columns, values, "run", "busy")[["column", "busy"]]
    need = sized_runs(c, columns).merge(running, on="column")
    need = (need["units_per_busy_unit"] * need["busy"]).groupby([need[name] for name in POOL_BLOCK]).sum()
    hourly = decided(columns, values, "rent_hour", "units").merge(unit, on=STAND)
    parts = [decided(columns, values, family, "units") for family in ("installed", "rent")]
    held = pd.concat(parts, ignore_index=True).merge(unit, on=STAND)
    spot = held[held["mode"] == SPOT]
    lent = _there(hourly, POOL_BLOCK).reindex(need.index).fillna(0.0)
    kept = _there(spot, POOL).reindex(need.index.droplevel("block")).fillna(0.0).to_numpy(float)
    most = (need - lent - kept).groupby(level=POOL).max().rename("needed")
    own = held[held["mode"] != SPOT]
    there = own["units"].groupby([own[name] for name in POOL]).sum().rename("held")
    share = down_fraction(scenario.tables["products"].set_index("product"))
    pools = pd.concat([most, there], axis=1, join="inner").reset_index()
    pools = pools[(pools["needed"] > ROUNDING) & (pools["product"].map(share).astype(float) > 0.0)]
    needed = np.ceil(pools["needed"].to_numpy(float) - ROUNDING)
    whole = np.floor(pools["held"].to_numpy(float) + ROUNDING)
    down = pools["product"].map(share).astype(float)
    sure = [
        confidence_of(int(least), int(units - least), failed)
        for least, units, failed in zip(needed, whole, down, strict=True)
    ]
    return pools.assign(
        needed_units=needed,
        held_units=whole,
        spare_units=whole - needed,
        down_fraction=down,
        confidence_fraction=np.array(sure, dtype=float),
    )[SPARE_FRAME]


def _there(units: pd.DataFrame, by: list[str]) -> pd.Series:
    """Return units, each counted the share of time it is there, by labels."""
    return (units["units"] * units["availability_fraction"]).groupby([units[name] for name in by]).sum()
