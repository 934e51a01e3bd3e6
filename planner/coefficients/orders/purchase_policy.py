"""Policies on purchases: how much may come from one vendor or country, and which chip may not stand where."""

from __future__ import annotations

import pandas as pd

from planner.coefficients.fleet import COMMITTED, STAND
from planner.inputs import Scenario
from planner.units import MONEY_PER_K

ORDER = [*STAND, "period"]
SHARES = ["limit", "group", "max_fraction", *ORDER, "weight"]
TIER_SHARES = [*SHARES, "tier"]
GROUPS = {"vendor": "vendor", "country": "origin_country", "chip": "chip", "product": "product"}
"""What a concentration limit counts by -> the column of an offer's stand."""


def permitted_orders(
    scenario: Scenario, stand: pd.DataFrame, orders: pd.DataFrame, periods: pd.DataFrame
) -> pd.DataFrame:
    """Return the orders that no export restriction forbids.

    A row of ``export_limits`` forbids hardware with a chip at sites of a country, ordered from its date on. What
    stands there already stays; hosted units are where their vendor may have them.
    """
    limits = scenario.tables["export_limits"]
    if limits.empty:
        return orders
    country = (
        scenario.tables["sites"]
        .set_index("site")["region"]
        .map(scenario.tables["regions"].set_index("region")["country"])
    )
    about = orders.reset_index(names="at").merge(stand[[*STAND, "chip", "includes"]], on=STAND)
    about = about[about["includes"] == "hardware"].assign(country=about["site"].map(country))
    about = about.merge(limits[["chip", "country", "from_date"]], on=["chip", "country"])
    begun = about["period"].map(periods["start_date"]) >= about["from_date"]
    forbidden = about.loc[begun | about["from_date"].isna(), "at"]
    return orders.drop(index=forbidden.unique()).reset_index(drop=True)


def share_weights(
    scenario: Scenario,
    stand: pd.DataFrame,
    orders: pd.DataFrame,
    order_costs: pd.DataFrame,
    tier_costs: pd.DataFrame,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what each order counts for in each concentration limit, and what a tier's price takes off it.

    Returns
    -------
    SHARES frame: one row per limit and order under it; ``group`` is the vendor, country, chip or product, ``weight``
    units, chips, thousands of currency paid within the horizon, or provisioned kW of one unit.
    TIER_SHARES frame: the same of units at a tier's price, for limits on spend (negative weights).
    """
    return weighed_orders(scenario, stand, orders, order_costs, tier_costs, ("max_fraction",))


def weighed_orders(
    scenario: Scenario,
    stand: pd.DataFrame,
    orders: pd.DataFrame,
    order_costs: pd.DataFrame,
    tier_costs: pd.DataFrame,
    bounds: tuple[str, ...],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what each order counts for under each limit that states the first bound, and what a tier takes off it.

    Parameters
    ----------
    bounds
        Columns of ``concentration`` that go with the orders; further ones are 0 where blank.

    Returns
    -------
    limit, group, the bounds, order, weight: one row per limit and order under it; the same with a tier, for limits on
    spend (negative weights).
    """
    limits = scenario.tables["concentration"]
    about = orders[ORDER].merge(stand.drop(columns="period", errors="ignore"), on=STAND)
    about = about[about["mode"].isin(COMMITTED)]
    spend = spend_per_unit(order_costs, ORDER)
    names = ["limit", "group", *bounds, *ORDER, "weight"]
    plain, tiered = [], []
    for limit in limits[limits[bounds[0]].notna()].to_dict("records"):
        counted = about if pd.isna(limit["period"]) else about[about["period"] == limit["period"]]
        group = counted[GROUPS[limit["by"]]].astype("str")
        own = {name: 0.0 if pd.isna(limit[name]) else float(limit[name]) for name in bounds}
        named = counted.assign(limit=limit["limit"], group=group, **own)
        plain.append(named.assign(weight=order_weight(named, limit["measure"], spend))[names])
        if limit["measure"] == "spend":
            saved = spend_per_unit(tier_costs, [*ORDER, "tier"]).rename("weight").reset_index()
            cheaper = named[[name for name in names if name != "weight"]]
            tiered.append(cheaper.merge(saved, on=ORDER)[[*names, "tier"]])
    return (
        pd.concat(plain, ignore_index=True) if plain else pd.DataFrame(columns=names),
        pd.concat(tiered, ignore_index=True) if tiered else pd.DataFrame(columns=[*names, "tier"]),
    )


def spend_per_unit(costs: pd.DataFrame, key: list[str]) -> pd.Series:
    """Return thousands of currency really paid for one unit within the horizon, warranty not deducted."""
    paid = costs[(costs["timing"] != "end") & ~costs["line"].isin(["maintenance", "spares"])]
    return paid.groupby(key)["amount"].sum() / MONEY_PER_K


def order_weight(orders: pd.DataFrame, measure: str, spend: pd.Series) -> pd.Series:
    """Return what one unit of each order counts for in a measure: units, chips, kw or spend."""
    if measure == "units":
        return pd.Series(1.0, index=orders.index)
    if measure == "chips":
        return orders["chips_per_unit"].astype(float)
    if measure == "kw":
        return orders["provisioned_kw"].astype(float)
    paid = spend.reindex(pd.MultiIndex.from_frame(orders[ORDER])).fillna(0.0)
    return pd.Series(paid.to_numpy(float), index=orders.index)


def commissioned_orders(scenario: Scenario, stand: pd.DataFrame, orders: pd.DataFrame) -> pd.DataFrame:
    """Return site, in_service_period, most_units and the orders of hardware that are put in service then and there."""
    sites = scenario.tables["sites"]
    limited = sites.loc[sites["commission_units_per_period"].notna(), ["site", "commission_units_per_period"]]
    table = orders[[*ORDER, "in_service_period"]].merge(limited, on="site")
    hardware = stand.loc[stand["includes"] == "hardware", STAND]
    return table.merge(hardware, on=STAND).rename(columns={"commission_units_per_period": "most_units"})
