"""Prices of units: in the plan's currency, with their trend, by the hour or month, and what they are the base of."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.fleet import FLEET_PREFIX
from planner.coefficients.money import currency_ratio, market_residual, sinking_fund_residual
from planner.inputs import Scenario

RENT_LINES = {
    "lease": "lease",
    "reserved": "reserved_rent",
    "on_demand": "on_demand_rent",
    "spot": "spot_rent",
}
"""Contract mode of what is paid for by time -> its cost line."""


def price_in_period(stand: pd.DataFrame, start_years: pd.Series) -> pd.Series:
    """Return the price with its yearly trend applied from the start of the horizon."""
    trend = stand["price_trend_fraction_per_year"].fillna(0.0)
    return stand["price_converted"] * (1.0 + trend) ** start_years


def priced_stands(scenario: Scenario, stand: pd.DataFrame) -> pd.DataFrame:
    """Return the stands with their price in the scenario's currency (``price_converted``), contract discount taken."""
    ratio = currency_ratio(scenario.tables["fx"], stand["currency"], scenario.settings.currency)
    agreed = 1.0 - stand["contract_discount_fraction"].astype(float).fillna(0.0)
    return stand.assign(price_converted=stand["price"] * ratio * agreed)


def time_units(table: pd.DataFrame, hours: np.ndarray, months: np.ndarray) -> np.ndarray:
    """Return the units of time that a price is multiplied with: calendar months of a price per month, else hours.

    Parameters
    ----------
    table
        Column price_unit.
    hours, months
        Length of what is paid for, on the rows of the table; a broken month counts by its days.
    """
    monthly = table["price_unit"].eq("unit_month").to_numpy()
    return np.where(monthly, np.asarray(months, dtype=float), np.asarray(hours, dtype=float))


def period_units(table: pd.DataFrame, period: pd.Series, periods: pd.DataFrame) -> np.ndarray:
    """Return the units of time of the period of each row (:func:`time_units`)."""
    return time_units(
        table, period.map(periods["hours"]).to_numpy(), period.map(periods["months_equivalent"]).to_numpy()
    )


def purchase_prices(stand: pd.DataFrame) -> pd.Series:
    """Return the lowest purchase price by product today: the base of maintenance for bought and existing units."""
    bought = stand[stand["mode"] == "purchase"]
    return bought.groupby("product")["price_converted"].min()


def lot_prices(scenario: Scenario, stand: pd.DataFrame, table: pd.DataFrame) -> pd.Series:
    """Return the price of a unit on which its maintenance is reckoned, 0 for units that are not ours.

    What was paid for an existing lot where ``fleet.purchase_price`` states it, else the lowest purchase price of its
    product today.
    """
    fleet = scenario.tables["fleet"]
    stated = pd.Series(
        fleet["purchase_price"].to_numpy(float), index=(FLEET_PREFIX + fleet["fleet"]).astype("str")
    )
    today = table["product"].map(purchase_prices(stand)).astype(float).fillna(0.0)
    own = table["offer"].map(stated).astype(float)
    return own.fillna(today).where(table["mode"].isin(["purchase", "owned"]), 0.0)


def upkeep_shares(table: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the yearly cost of keeping a unit as shares of its price: support, and parts of failed units.

    maintenance = maintenance_fraction_per_year;  spares = failures_per_year * parts_fraction_per_failure
    """
    parts = table["failures_per_year"].astype(float) * table["parts_fraction_per_failure"].astype(float)
    return {
        "maintenance": table["maintenance_fraction_per_year"].astype(float).fillna(0.0),
        "spares": parts.fillna(0.0),
    }


def residual_share(scenario: Scenario, bought: pd.DataFrame, age_years: np.ndarray) -> np.ndarray:
    """Return the value left over the price paid at an age, by the scenario's method."""
    settings = scenario.settings
    if settings.residual_method == "none":
        return np.zeros(len(bought))
    if settings.residual_method == "sinking_fund":
        return sinking_fund_residual(
            settings.nominal_rate_fraction, age_years, bought["life_years"].to_numpy()
        )
    share = market_residual(scenario.tables["residuals"], bought["asset_class"], age_years)
    # A unit past its life has been taken out: nobody pays for its age.
    return np.where(age_years < bought["life_years"].to_numpy(), share, 0.0)
