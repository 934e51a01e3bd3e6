"""Rows of the purchase schedule that are contracts: hall rent, generators, energy, tokens bought from a service."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from planner.coefficients import Coefficients
from planner.inputs import Scenario


def paid_on(frames: Mapping[str, pd.DataFrame], line: str, *by: str) -> pd.Series:
    """Return payments of a cost line within the horizon by columns of the ledger."""
    costs = frames["costs"]
    own = costs[(costs["line"] == line) & (costs["timing"] != "end")]
    return own.groupby(list(by))["amount"].sum()


def first_deliveries(frames: Mapping[str, pd.DataFrame]) -> pd.Series:
    """Return the day by which the hall of each site must take its first hardware, of sites that any is ordered for."""
    orders = frames["orders"]
    return orders[orders["hall_ready_date"].notna()].groupby("site")["hall_ready_date"].min()


def earlier(days: pd.Series, others: pd.Series) -> pd.Series:
    """Return the earlier of two days by label, on the index of the first; a blank is later than any."""
    other = pd.Series(others.reindex(days.index).to_numpy("datetime64[ns]"), index=days.index)
    return days.where(other.isna() | (days <= other), other)


def rent_rows(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return a row per site whose hall is rented: rent of what stands and of what is contracted and not used.

    It is agreed on by the day of its contract, or by the first delivery there, or from the start where a lot stands.
    """
    used, unused = paid_on(frames, "facility_rent", "site"), paid_on(frames, "facility_rent_unused", "site")
    paid = used.add(unused, fill_value=0.0)
    contracts, fleet = frames["colo_contracts"], frames["fleet"]
    owed = contracts.groupby("site")["owed_after_horizon"].sum()
    begun = contracts.groupby("site")["start_date"].min()
    own = fleet[fleet["includes"] == "hardware"]
    kw = (
        (own["units"] * own["provisioned_kw"])
        .groupby([own["site"], own["period"]])
        .sum()
        .groupby("site")
        .max()
    )
    taken = first_deliveries(frames)
    standing = scenario.tables["fleet"]["site"].unique()
    first = c.periods["start_date"].iloc[0]
    days = []
    for site in paid.index:
        free = first if site in standing else taken.get(site, pd.NaT)
        # A contract of a later day does not house what is delivered before it: that is agreed on by then.
        known = [pd.Timestamp(day) for day in (begun.get(site, pd.NaT), free) if not pd.isna(day)]
        days.append(min(known, default=first))
    day = pd.Series(days, index=paid.index, dtype="datetime64[ns]")
    return pd.DataFrame(
        {
            "kind": "colocation",
            "item": paid.index,
            "site": paid.index,
            "quantity": kw.reindex(paid.index).to_numpy(float),
            "quantity_unit": "kW IT",
            "order_by_date": day.to_numpy(),
            "delivery_date": day.to_numpy(),
            "ready_date": day.to_numpy(),
            "in_service_date": day.to_numpy(),
            "paid_in_horizon": paid.to_numpy(float),
            "owed_after_horizon": owed.reindex(paid.index).to_numpy(float),
        }
    )


def generator_rows(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return a row per generator rented: rent of all periods and shortest terms, and fuel."""
    rented, tails = frames["bridging"], frames["bridge_tails"]
    key = ["site", "generator"]
    if rented.empty:
        return rented
    table = rented.groupby(key, as_index=False, sort=False).agg(
        period=("period", "first"),
        quantity=("kw", "max"),
        order_by_date=("order_by_date", "min"),
        rent=("rent", "sum"),
        fuel=("fuel", "sum"),
        owed_after_horizon=("owed_after_horizon", "sum"),
    )
    kept = tails.groupby(key)["rent"].sum().reindex(pd.MultiIndex.from_frame(table[key])).fillna(0.0)
    day = table["period"].map(c.periods["start_date"])
    return table.assign(
        kind="generator",
        item=table["generator"],
        quantity_unit="kW",
        delivery_date=day,
        ready_date=day,
        in_service_date=day,
        paid_in_horizon=table["rent"] + table["fuel"] + kept.to_numpy(float),
    )


def energy_rows(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return a row per energy contract: a share pays for what it covers, a profile for what it delivers.

    Its quantity is the kW of the profile as contracted, of a share the most it covers.
    """
    held = c.environment.ppas
    if held.empty:
        return held
    used = frames["ppa"].groupby(["ppa", "site", "period", "block"])["ppa_kw"].sum()
    label = pd.MultiIndex.from_frame(held[["ppa", "site", "period", "block"]])
    kw = held["kw"].fillna(used.reindex(label).fillna(0.0).set_axis(held.index)).astype(float)
    rows = held.assign(level=kw, paid=kw * held["hours"].astype(float) * held["price_per_kwh"].astype(float))
    table = rows.groupby(["ppa", "site"], as_index=False, sort=False).agg(
        period=("period", "first"), quantity=("level", "max"), paid_in_horizon=("paid", "sum")
    )
    first = c.periods["start_date"].iloc[0]
    stated = scenario.tables["ppas"].set_index("ppa").reindex(table["ppa"])
    begun = stated["start_date"].fillna(first).to_numpy()
    return table.assign(
        quantity=stated["kw"].fillna(table.set_index("ppa")["quantity"]).to_numpy(float),
        kind="energy contract",
        item=table["ppa"],
        quantity_unit="kW",
        order_by_date=begun,
        delivery_date=begun,
        ready_date=begun,
        in_service_date=begun,
    )


def token_rows(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return a row per token service used: its tokens and their price over the horizon, from its first period on.

    Nothing is paid ahead and nothing owed after the horizon: a service is paid by the token.
    """
    sent = frames["api"].merge(c.blocks[["period", "block"]], on=["period", "block"])
    if sent.empty:
        return sent
    sent = sent.assign(
        ordinal=sent["period"].map(c.periods["ordinal"]), mtok=sent["input_mtok"] + sent["generated_mtok"]
    )
    table = sent.sort_values("ordinal", kind="stable").groupby("api_offer", as_index=False, sort=False)
    table = table.agg(period=("period", "first"), quantity=("mtok", "sum"), paid_in_horizon=("cost", "sum"))
    table = table[table["quantity"] > 0.0]
    day = table["period"].map(c.periods["start_date"])
    vendor = scenario.tables["api_offers"].set_index("api_offer")["vendor"]
    return table.assign(
        kind="token service",
        item=table["api_offer"],
        vendor=table["api_offer"].map(vendor),
        quantity_unit="Mtok",
        order_by_date=day,
        delivery_date=day,
        ready_date=day,
        in_service_date=day,
    )
