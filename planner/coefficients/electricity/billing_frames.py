"""The empty frames of a bill: the columns each one has."""

from __future__ import annotations

import pandas as pd

from planner.coefficients.electricity.bill_tiers import LADDER_MONTH

CHARGE_MONTH = ["site", "component", "period", "month"]
CHARGE_NUMBERS = ["price_per_kw", "price_bare", "floor_kw", "history_kw", "owed_per_kw", "value_per_kw"]
CHARGES = [*CHARGE_MONTH, *CHARGE_NUMBERS, "billed", "named", "after"]
PLAIN = ["site", "component", "period", "months", "price_per_kw_month"]
PLAIN_BLOCKS = ["site", "component", "period", "block"]


def _empty(*columns: str, **numbers: str) -> pd.DataFrame:
    labels = {name: pd.Series(dtype="str") for name in columns}
    return pd.DataFrame(labels | {name: pd.Series(dtype=float) for name in numbers.values()})


def no_plain() -> pd.DataFrame:
    """Return the frame ``plain`` of a bill without any charge by period."""
    return _empty(*PLAIN[:3], a="months", b="price_per_kw_month")


def no_plain_blocks() -> pd.DataFrame:
    """Return the frame ``plain_blocks`` of a bill without any charge by period."""
    return _empty(*PLAIN_BLOCKS)


def no_charges() -> pd.DataFrame:
    """Return the frame ``charges`` of a bill without any charge by month."""
    table = _empty(*CHARGE_MONTH, **{name: name for name in CHARGE_NUMBERS})
    return table.assign(
        billed=pd.Series(dtype=bool), named=pd.Series(dtype=bool), after=pd.Series(dtype=bool)
    )


def no_blocks() -> pd.DataFrame:
    """Return the frame ``peak_blocks`` of a bill without any charge by month."""
    return _empty(*CHARGE_MONTH, "block")


def no_look_back() -> pd.DataFrame:
    """Return the frame ``look_back`` of a bill without any ratchet."""
    return _empty(*CHARGE_MONTH, "past_period", "past_month", a="ratchet_fraction")


def no_coincident() -> pd.DataFrame:
    """Return the frame ``coincident`` of a bill without any charge on named hours."""
    return _empty(*CHARGE_MONTH, "past_period", "past_month", a="share")


def no_tiers() -> pd.DataFrame:
    """Return the frame ``tiers`` of a bill without any."""
    return _empty(*LADDER_MONTH, "unit", "first_component", a="price_step", b="step_bare", c="width").assign(
        tier=pd.Series(dtype=int), falls=pd.Series(dtype=bool)
    )


def no_ladders() -> pd.DataFrame:
    """Return the frame ``ladders`` of a bill without any tiers."""
    table = _empty(*LADDER_MONTH, "unit", "component", a="most", b="most_kw")
    return table.assign(attained=pd.Series(dtype=bool))


def no_fills() -> pd.DataFrame:
    """Return the frame ``fills`` of a bill without any energy tiers."""
    return _empty(*LADDER_MONTH, "block", a="mwh_per_kw")
