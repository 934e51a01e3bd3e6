"""What a contract says about quantities: smallest order, lots, and prices that fall with the quantity."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.fleet import STAND
from planner.inputs import Scenario

ORDER_TERMS = ["offer", "period", "minimum_units", "multiple_units", "most_units"]
TIERS = [
    "offer",
    "period",
    "tier",
    "rank",
    "from_units",
    "basis",
    "counts",
    "discount_fraction",
    "floor_units",
    "anchor",
    "most_units",
]
TIER_REACH = ["offer", "tier", "period", "counted_period"]


LOWEST_CAP = 0.02
"""Caps are not listed below this; see ``performance.pool_caps``."""


def useful_units(
    runs: pd.DataFrame, demand: pd.DataFrame, shapes: pd.DataFrame, stand: pd.DataFrame, caps: pd.DataFrame
) -> pd.Series:
    """Return, by product, a number of units that no plan can use more of at once.

    All demand of the busiest block served by that product alone, each shape at its worst point, both phases where
    they run apart, over the least availability of a unit and over what its pools may carry at least: a pool at its
    lowest cap holds that many more units for the same work. More units than that serve nothing; it bounds what an
    order of the product can be good for.

    Parameters
    ----------
    caps
        What pools may carry by size (``PointSet.caps``); empty where every workload states its allowance for waiting.
    """
    worst = runs.assign(busy=runs["peak_ratio"] / runs["requests_per_s"])
    worst = worst.groupby(["product", "workload", "shape", "phase"])["busy"].max()
    worst = worst.groupby(["product", "workload", "shape"]).sum().reset_index()
    asked = demand.merge(shapes[["workload", "shape", "share_fraction"]], on="workload")
    asked = asked.assign(rate=asked["requests_per_s"] * asked["share_fraction"])
    asked = asked.groupby(["workload", "shape", "period", "block"])["rate"].sum().reset_index()
    table = worst.merge(asked, on=["workload", "shape"])
    busy = (table["busy"] * table["rate"]).groupby([table["product"], table["period"], table["block"]]).sum()
    most = busy.groupby("product").max()
    up = stand.groupby("product")["availability_fraction"].min()
    held = most / up.reindex(most.index).clip(lower=1e-3)
    if not caps.empty:
        lowest = caps.groupby("product")["utilisation_cap_fraction"].min()
        held = held / lowest.reindex(most.index).fillna(1.0).clip(lower=LOWEST_CAP)
    return np.ceil(held).rename("units")


def order_terms(
    scenario: Scenario, orders: pd.DataFrame, supply: pd.DataFrame, useful: pd.Series
) -> pd.DataFrame:
    """Return offer, period, minimum_units, multiple_units, most_units of every order with such a term.

    ``most_units`` is what an order can be good for: the vendor's confirmed units, else the units the product can be
    useful in and whatever a term makes one take beyond them.
    """
    offers = scenario.tables["offers"]
    stated = offers[offers["minimum_order_units"].notna() | offers["order_multiple_units"].notna()]
    table = most_units(scenario, orders[orders["offer"].isin(stated["offer"])], supply, useful)
    table = table.merge(stated[["offer", "minimum_order_units", "order_multiple_units"]], on="offer")
    table = table.rename(
        columns={"minimum_order_units": "minimum_units", "order_multiple_units": "multiple_units"}
    )
    return table[ORDER_TERMS].astype({"minimum_units": float, "multiple_units": float})


def most_units(
    scenario: Scenario, orders: pd.DataFrame, supply: pd.DataFrame, useful: pd.Series
) -> pd.DataFrame:
    """Return offer, period, most_units of every order that can be made."""
    offers = scenario.tables["offers"].set_index("offer")
    table = orders[["offer", "period"]].drop_duplicates().reset_index(drop=True)
    need = offers["product"].map(useful).astype(float).fillna(0.0)
    steps = scenario.tables["offer_tiers"].groupby("offer")["from_units"].max()
    extra = pd.concat(
        [
            offers["minimum_order_units"].astype(float).fillna(0.0),
            offers["order_multiple_units"].astype(float).fillna(0.0),
            steps.reindex(offers.index).astype(float).fillna(0.0),
        ],
        axis=1,
    ).sum(axis=1)
    table = table.assign(bound=table["offer"].map(need + extra).astype(float))
    confirmed = supply.set_index(["offer", "period"])["units"]
    limit = confirmed.reindex(pd.MultiIndex.from_frame(table[["offer", "period"]])).to_numpy(float)
    return table.assign(most_units=np.fmin(table["bound"].to_numpy(float), limit))


def tier_frames(
    scenario: Scenario, orders: pd.DataFrame, supply: pd.DataFrame, useful: pd.Series
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tiers of every order, and which orders count towards each.

    Returns
    -------
    TIERS frame: one row per offer, period of an order and tier. ``floor_units`` is the quantity counted at which the
    tier opens (one less than from_units where only the units beyond are cheaper), ``anchor`` the period that holds
    its yes or no (the first one for a frame contract whose price holds for all units), ``most_units`` the most that
    can count.
    TIER_REACH frame: offer, tier, period (the anchor), counted_period: one row per period whose orders count.
    """
    stated = scenario.tables["offer_tiers"]
    most = most_units(scenario, orders[orders["offer"].isin(stated["offer"])], supply, useful)
    if most.empty:
        return pd.DataFrame(columns=TIERS), pd.DataFrame(columns=TIER_REACH)
    priced = stated.assign(discount_fraction=tier_discounts(scenario)).sort_values(["offer", "from_units"])
    priced = priced.assign(
        rank=priced.groupby("offer").cumcount(),
        tier="from " + priced["from_units"].astype(int).astype(str),
        floor_units=priced["from_units"].astype(float) - priced["basis"].eq("incremental"),
    )
    table = most[["offer", "period", "most_units"]].merge(priced, on="offer")
    place = dict(zip(orders["period"], orders["ordinal"], strict=True))
    table = table.assign(ordinal=table["period"].map(place))
    first = table.sort_values("ordinal").groupby("offer")["period"].first()
    framed = table["counts"].eq("horizon")
    once = framed & table["basis"].eq("all_units")
    table = table.assign(anchor=table["period"].where(~once, table["offer"].map(first)))
    key = ["offer", "tier"]
    counted = table[[*key, "period", "ordinal"]].rename(
        columns={"period": "counted_period", "ordinal": "counted"}
    )
    pairs = table[[*key, "anchor", "ordinal", "counts", "basis"]].merge(counted, on=key)
    same = pairs["counts"].eq("order") & (pairs["counted"] == pairs["ordinal"])
    until = (
        pairs["counts"].eq("horizon")
        & pairs["basis"].eq("incremental")
        & (pairs["counted"] <= pairs["ordinal"])
    )
    whole = pairs["counts"].eq("horizon") & pairs["basis"].eq("all_units")
    reach = pairs[same | until | whole].rename(columns={"anchor": "period"})[TIER_REACH].drop_duplicates()
    total = reach.merge(
        most[["offer", "period", "most_units"]].rename(columns={"period": "counted_period"}),
        on=["offer", "counted_period"],
    )
    sums = total.groupby(["offer", "tier", "period"])["most_units"].sum()
    anchors = pd.MultiIndex.from_frame(table[["offer", "tier", "anchor"]])
    table = table.assign(most_units=sums.reindex(anchors).to_numpy(float))
    return table[TIERS].reset_index(drop=True), reach.reset_index(drop=True)


def tier_discounts(scenario: Scenario) -> pd.Series:
    """Return the discount of each row of ``offer_tiers`` on its offer's price: as stated, or from its price.

    discount = 1 - tier price / offer price; a price trend and a contract discount hold for both alike.
    """
    stated = scenario.tables["offer_tiers"]
    price = stated["offer"].map(scenario.tables["offers"].set_index("offer")["price"]).astype(float)
    return stated["discount_fraction"].astype(float).fillna(1.0 - stated["price"].astype(float) / price)


def tier_labels(orders: pd.DataFrame, tiers: pd.DataFrame) -> pd.DataFrame:
    """Return offer, site, cooling, period, tier: what can be ordered at the price of a tier."""
    key = ["offer", "period"]
    return orders[[*STAND, "period"]].merge(tiers[[*key, "tier"]], on=key)


def tier_costs(order_costs: pd.DataFrame, tiers: pd.DataFrame) -> pd.DataFrame:
    """Return what a unit ordered at a tier's price saves: that share of every amount that follows its price.

    Rows as of ``order`` with ``tier``; each line of the order is reduced by the discount, so that purchase,
    charges in percent of the price, term payments and value left at the end are all those of the price paid. What a
    warranty saves does not follow it.
    """
    priced = order_costs[~order_costs["line"].isin(["maintenance", "spares"])]
    table = priced.merge(tiers[["offer", "period", "tier", "discount_fraction"]], on=["offer", "period"])
    return (
        table.assign(amount=-table["amount"] * table["discount_fraction"])
        .drop(columns="discount_fraction")[lambda rows: rows["amount"] != 0.0]
        .reset_index(drop=True)
    )
