"""Existing lots that may be taken out early and sold: when, and for how much."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.fleet import FLEET_PREFIX, STAND
from planner.coefficients.money import market_residual
from planner.coefficients.orders.prices import lot_prices
from planner.coefficients.payments import payment_rows
from planner.inputs import Scenario

RETIRABLE = [*STAND, "period", "age_years", "value_per_unit"]
RETIRE_REACH = [*STAND, "period", "gone_period"]


def retirable(
    scenario: Scenario, stand: pd.DataFrame, fleet_units: pd.DataFrame, periods: pd.DataFrame
) -> pd.DataFrame:
    """Return RETIRABLE: every period in which a lot with a stated resale serves and may be taken out at its start.

    value = resale share x price of a unit x market value at its age over the price paid

    The price is what the lot cost where stated, else the lowest purchase price today; the market value that of the
    product's asset class, 0 without one.
    """
    fleet = scenario.tables["fleet"]
    offer = (FLEET_PREFIX + fleet["fleet"]).astype("str")
    sold = fleet.assign(offer=offer)[fleet["resale_fraction"].notna()]
    if sold.empty:
        return pd.DataFrame(columns=RETIRABLE)
    table = fleet_units[[*STAND, "period"]].merge(
        sold[["offer", "in_service_date", "resale_fraction"]], on="offer"
    )
    table = table.merge(stand[[*STAND, "product", "mode", "asset_class"]], on=STAND, validate="many_to_one")
    age = (table["period"].map(periods["start_date"]) - table["in_service_date"]) / pd.Timedelta(days=365.25)
    left = market_residual(scenario.tables["residuals"], table["asset_class"], age.to_numpy(float))
    price = lot_prices(scenario, stand, table).to_numpy(float)
    value = table["resale_fraction"].to_numpy(float) * price * left
    return table.assign(age_years=age, value_per_unit=value)[RETIRABLE].reset_index(drop=True)


def retire_reach(retirable: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return RETIRE_REACH: for each retirement, the periods from then on in which the unit would have served."""
    later = retirable[[*STAND, "period"]].rename(columns={"period": "gone_period"})
    pairs = retirable[[*STAND, "period"]].merge(later, on=STAND)
    ordinal = periods["ordinal"]
    after = pairs["gone_period"].map(ordinal).to_numpy(float) >= pairs["period"].map(ordinal).to_numpy(float)
    return pairs.loc[np.asarray(after, dtype=bool), RETIRE_REACH].reset_index(drop=True)


def resale_income(retirable: pd.DataFrame) -> pd.DataFrame:
    """Return what a unit taken out brings at the start of the period, as a negative cost."""
    rows = retirable.assign(value_per_unit=retirable["value_per_unit"].astype(float))
    return payment_rows(
        rows, [*STAND, "period"], "resale", "opex", "period", "start", -rows["value_per_unit"]
    )
