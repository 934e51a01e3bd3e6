"""Second-source policies: from how many vendors, countries, chips or products orders must come."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.fleet import COMMITTED, STAND
from planner.coefficients.order_terms import most_units
from planner.coefficients.purchase_policy import GROUPS, order_weight, spend_per_unit
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
    limits = scenario.tables["concentration"]
    about = orders[ORDER].merge(stand.drop(columns="period", errors="ignore"), on=STAND)
    about = about[about["mode"].isin(COMMITTED)]
    spend = spend_per_unit(order_costs, ORDER)
    plain, tiered = [], []
    for limit in limits[limits["min_count"].notna()].to_dict("records"):
        counted = about if pd.isna(limit["period"]) else about[about["period"] == limit["period"]]
        named = counted.assign(
            limit=limit["limit"],
            group=counted[GROUPS[limit["by"]]].astype("str"),
            min_count=float(limit["min_count"]),
            min_fraction=0.0 if pd.isna(limit["min_fraction"]) else float(limit["min_fraction"]),
        )
        plain.append(named.assign(weight=order_weight(named, limit["measure"], spend))[SOURCES])
        if limit["measure"] == "spend":
            saved = spend_per_unit(tier_costs, [*ORDER, "tier"]).rename("weight").reset_index()
            tiered.append(named[SOURCES[:-1]].merge(saved, on=ORDER)[SOURCE_TIERS])
    return (
        pd.concat(plain, ignore_index=True) if plain else pd.DataFrame(columns=SOURCES),
        pd.concat(tiered, ignore_index=True) if tiered else pd.DataFrame(columns=SOURCE_TIERS),
    )


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
