"""The frames of a bill: the columns each one has, and each of them empty."""

from __future__ import annotations

import pandas as pd

from planner.coefficients.electricity.bill_tiers import FILLS, LADDER_MONTH, LADDERS, TIERS

CHARGE_MONTH = ["site", "component", "period", "month"]
CHARGE_NUMBERS = ["price_per_kw", "price_bare", "floor_kw", "history_kw", "owed_per_kw", "value_per_kw"]
CHARGES = [*CHARGE_MONTH, *CHARGE_NUMBERS, "billed", "named", "after"]
PLAIN = ["site", "component", "period", "months", "price_per_kw_month"]
PLAIN_BLOCKS = ["site", "component", "period", "block"]
BLOCKS = [*CHARGE_MONTH, "block"]
LOOK_BACK = [*CHARGE_MONTH, "past_period", "past_month", "ratchet_fraction"]
COINCIDENT = [*CHARGE_MONTH, "past_period", "past_month", "share"]
FRAMES = (PLAIN, PLAIN_BLOCKS, CHARGES, BLOCKS, LOOK_BACK, COINCIDENT, TIERS, LADDERS, FILLS)
"""In the order of :class:`billing.Billing`."""
TEXT = {*LADDER_MONTH, "component", "block", "past_period", "past_month", "unit", "first_component"}
OTHER = {
    "billed": "bool",
    "named": "bool",
    "after": "bool",
    "falls": "bool",
    "attained": "bool",
    "tier": "int64",
}


def empty(columns: list[str]) -> pd.DataFrame:
    """Return a frame of a bill that has nothing of its kind."""
    kinds = {name: "str" if name in TEXT else OTHER.get(name, "float64") for name in columns}
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})
