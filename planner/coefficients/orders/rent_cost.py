"""What a unit rented for a period or for hours of it costs."""

from __future__ import annotations

import pandas as pd

from planner.coefficients.fleet import STAND
from planner.coefficients.orders.prices import RENT_LINES, period_units, price_in_period
from planner.coefficients.payments import PAYMENT


def rent_costs(
    stand: pd.DataFrame, rents: pd.DataFrame, periods: pd.DataFrame, blocks: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what one rented unit costs for a period, and for a block where it is released by the hour."""
    table = rents.merge(stand.drop(columns="rent_step"), on=STAND, validate="many_to_one")
    price = price_in_period(table, table["period"].map(periods["start_years"]))
    table["amount"] = price * period_units(table, table["period"], periods)
    table["line"] = table["mode"].map(RENT_LINES)
    table = table.assign(kind="opex", paid_period=table["period"], timing="mid")
    whole = table[table["rent_step"] != "hour"]
    hourly = table[table["rent_step"] == "hour"].merge(blocks[["period", "block", "hours"]], on="period")
    share = hourly["hours"] / hourly["period"].map(periods["hours"]).astype(float)
    hourly = hourly.assign(amount=hourly["amount"] * share)
    return whole[[*STAND, "period", *PAYMENT]], hourly[[*STAND, "period", "block", *PAYMENT]]
