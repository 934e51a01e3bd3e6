"""IT power of one product unit running at a point."""

from __future__ import annotations

import pandas as pd

from planner.performance.roofline_constants import RooflineConstants
from planner.units import W_PER_KW

WHOLE_SYSTEM_WORDS = "system|server|node|unit|instance|rack|wall"


def unit_kw(points: pd.DataFrame, products: pd.DataFrame, constants: RooflineConstants) -> pd.Series:
    """Return kW of one unit at full run of each point; NaN when nothing about its power is known.

    ``idle + (busy - idle) * (f * prefill_power_ratio + (1 - f) * decode_power_ratio)``, at most nameplate,
    with f the share of busy time in prefill. First form: busy draw is a mix of the two phases; prompts keep
    the arithmetic units busy and draw more, decoding waits for memory and draws less. A measured draw of the
    unit replaces the formula; without an idle figure the busy draw stands as it is, without a busy figure the
    nameplate does.

    Parameters
    ----------
    points : DataFrame
        Columns product, prefill_time_fraction, measured_kw.
    """
    facts = products.set_index("product")[["nameplate_kw", "idle_kw", "busy_kw"]].reindex(
        points["product"].to_numpy()
    )
    facts.index = points.index
    busy = facts["busy_kw"].fillna(facts["nameplate_kw"])
    idle = facts["idle_kw"].fillna(busy)
    share = points["prefill_time_fraction"]
    level = share * constants.prefill_power_ratio + (1.0 - share) * constants.decode_power_ratio
    drawn = idle + (busy - idle).clip(lower=0.0) * level
    ceiling = pd.concat([facts["nameplate_kw"], busy], axis=1).max(axis=1)
    return points["measured_kw"].fillna(pd.concat([drawn, ceiling], axis=1).min(axis=1, skipna=False))


def measured_unit_kw(rows: pd.DataFrame, products: pd.DataFrame) -> pd.Series:
    """Return kW of one unit from a measured draw, NaN where none is stated.

    A draw of the whole system counts as such, times the systems in a unit; a draw per accelerator gets the
    unit's host share (nameplate less chips times TDP) on top.

    Parameters
    ----------
    rows : DataFrame
        Columns product, power_w, power_scope, chips, chips_per_unit, tdp_w.
    """
    nameplate = rows["product"].map(products.set_index("product")["nameplate_kw"])
    systems = rows["chips_per_unit"] / rows["chips"]
    whole = rows["power_w"] / W_PER_KW * systems
    host = (nameplate - rows["chips_per_unit"] * rows["tdp_w"] / W_PER_KW).clip(lower=0.0)
    by_chip = host + rows["chips_per_unit"] * rows["power_w"] / W_PER_KW
    scope = rows["power_scope"].fillna("").str.lower()
    return whole.where(scope.str.contains(WHOLE_SYSTEM_WORDS), by_chip).where(rows["power_w"].notna())
