"""Second-source policies: from how many vendors, countries, chips or products orders must come."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.fleet import STAND
from planner.coefficients.orders.order_terms import most_units
from planner.coefficients.orders.purchase_policy import weighed_orders
from planner.inputs import Scenario

ORDER = [*STAND, "period"]
SOURCES = ["limit", "group", "min_count", "min_fraction", *ORDER, "weight"]
SOURCE_TIERS = [*SOURCES, "tier"]
SOURCE_BOUNDS = ["limit", "most_units", "most_weight"]


def source_weights(
    scenario: Scenario,
    stand: pd.DataFrame,
    orders: pd.DataFrame,
    order_costs: pd.DataFrame,
    tier_costs: pd.DataFrame,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what each order counts for under each limit with a ``min_count``, and what a tier's price takes off it.

    Returns
    -------
    SOURCES frame: one row per limit and order under it; ``group`` is the vendor, country, chip or product,
    ``min_fraction`` 0 where none is stated, ``weight`` in the limit's measure.
    SOURCE_TIERS frame: the same of units at a tier's price, for limits on spend (negative weights).
    """
    return weighed_orders(scenario, stand, orders, order_costs, tier_costs, ("min_count", "min_fraction"))


def source_bounds(
    scenario: Scenario, sources: pd.DataFrame, orders: pd.DataFrame, supply: pd.DataFrame, useful: pd.Series
) -> pd.DataFrame:
    """Return SOURCE_BOUNDS: the most that can be ordered under each limit, in units and in the limit's measure.

    The vendors' confirmed units, else the units a product can be useful in, in every period under the limit.
    """
    if sources.empty:
        return pd.DataFrame(columns=SOURCE_BOUNDS)
    heaviest = sources.groupby(["limit", "offer", "period"], sort=False)["weight"].max().reset_index()
    table = heaviest.merge(most_units(scenario, orders, supply, useful), on=["offer", "period"])
    table = table.assign(most_weight=table["most_units"] * np.maximum(table["weight"].astype(float), 0.0))
    return (
        table.groupby("limit", sort=False)[["most_units", "most_weight"]].sum().reset_index()[SOURCE_BOUNDS]
    )
