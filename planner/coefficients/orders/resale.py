"""Units the plan buys and takes out again before the horizon ends: when they may go, and what they bring."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.fleet import STAND
from planner.coefficients.money import market_residual
from planner.coefficients.orders.prices import price_in_period
from planner.coefficients.payments import PAYMENT
from planner.inputs import Scenario

RESOLD = [*STAND, "period", "sold_period"]
RESALES = [*RESOLD, "age_years", "value_per_unit"]
RESALE_REACH = [*RESOLD, "gone_period"]
UNDONE = ("hardware_residual", "maintenance", "spares")
"""Lines of an order that a unit no longer has once it is sold: value at the end, what its warranty pays."""


def resales(
    scenario: Scenario, stand: pd.DataFrame, orders: pd.DataFrame, alive: pd.DataFrame, periods: pd.DataFrame
) -> pd.DataFrame:
    """Return RESALES: every period after its first in which a unit bought in a period may be taken out at its start.

    value = resale share x price paid x market value at its age over the price paid

    Only purchases of offers with a stated ``resale_fraction``; the age counts from the period in which the order
    serves, the market value is that of the product's asset class, 0 without one.
    """
    sold = stand.loc[stand["mode"].eq("purchase") & stand["resale_fraction"].notna()]
    table = alive.merge(orders[[*STAND, "period", "in_service_ordinal"]], on=[*STAND, "period"])
    table = table.merge(sold, on=STAND, validate="many_to_one").rename(
        columns={"alive_period": "sold_period"}
    )
    began = table["in_service_ordinal"].to_numpy(int)
    table = table[table["sold_period"].map(periods["ordinal"]).to_numpy(int) > began]
    if table.empty:
        return pd.DataFrame(columns=RESALES)
    start = periods["start_years"]
    age = table["sold_period"].map(start) - start.to_numpy()[table["in_service_ordinal"].to_numpy(int)]
    left = market_residual(scenario.tables["residuals"], table["asset_class"], age.to_numpy(float))
    price = price_in_period(table, table["period"].map(start)).to_numpy(float)
    value = table["resale_fraction"].to_numpy(float) * price * left
    return table.assign(age_years=age, value_per_unit=value)[RESALES].reset_index(drop=True)


def resale_reach(sales: pd.DataFrame, alive: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return RESALE_REACH: for each sale, the periods from then on in which the unit would have served."""
    pairs = sales[RESOLD].merge(alive.rename(columns={"alive_period": "gone_period"}), on=[*STAND, "period"])
    ordinal = periods["ordinal"]
    after = pairs["gone_period"].map(ordinal).astype(float) >= pairs["sold_period"].map(ordinal).astype(float)
    return pairs.loc[after, RESALE_REACH].reset_index(drop=True)


def resale_costs(sales: pd.DataFrame, ordered: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return what taking out one unit brings, as a negative cost, and what of its order's cost rows it undoes.

    Undone are its market value at the end of the horizon and, from the sale on, what its warranty pays of upkeep:
    upkeep itself is charged on installed units and ends with the unit.

    Parameters
    ----------
    ordered
        Cost rows of one ordered unit.
    """
    income = sales[RESOLD].assign(
        line="resale",
        kind="opex",
        paid_period=sales["sold_period"],
        timing="start",
        amount=-sales["value_per_unit"].astype(float),
    )
    undone = sales[RESOLD].merge(ordered[ordered["line"].isin(UNDONE)], on=[*STAND, "period"])
    ordinal = periods["ordinal"]
    later = undone["paid_period"].map(ordinal).astype(float) >= undone["sold_period"].map(ordinal).astype(
        float
    )
    undone = undone[later].assign(amount=lambda rows: -rows["amount"])
    both = pd.concat([income, undone], ignore_index=True)[[*RESOLD, *PAYMENT]]
    return both[np.asarray(both["amount"] != 0.0, dtype=bool)].reset_index(drop=True)
