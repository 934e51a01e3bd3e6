"""Orders against their contracts: smallest order, whole lots, and the quantity each tier's price asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import BOUGHT_OR_TERMED, HOSTED, at
from planner.plan.audit.money.hardware_costs import payments_by_order
from planner.plan.audit.money.resales import resale_values, sold_again
from planner.plan.audit.once import once
from planner.plan.audit.orders.standing import STAND
from planner.plan.audit.report import Check, beside, breaches, compare, total

ORDER = ["offer", "period"]


def ordered_by_period(books: Books) -> pd.DataFrame:
    """Return offer, period, units of purchases, leases and reservations over all sites; none where relaxed."""
    orders = books.orders[books.orders["mode"].isin(BOUGHT_OR_TERMED)]
    rows = total(orders["units"], orders, ORDER).rename("units").reset_index()
    return rows[rows["units"] > 1e-6].reset_index(drop=True)


def minimum_order(books: Books) -> Check:
    """Return the check that every order is at least the offer's smallest one.

    A plan of the linear relaxation is not held to it.
    """
    rows = _of_whole_plan(books, ordered_by_period(books))
    least = at(books.facts.offers["minimum_order_units"], rows, ["offer"]).astype(float)
    stated = rows.assign(left=least, right=rows["units"])[least.notna()].drop(columns="units")
    return compare("minimum_order", "minimum_order", stated, "<=")


def order_lots(books: Books) -> Check:
    """Return the check that every order of an offer sold in lots is a whole number of them."""
    rows = _of_whole_plan(books, ordered_by_period(books))
    lot = at(books.facts.offers["order_multiple_units"], rows, ["offer"]).astype(float)
    lots = rows["units"] / lot
    stated = rows.assign(left=lots, right=lots.round())[lot.notna()].drop(columns="units")
    return compare("order_lots", "whole_lots", stated, "==")


def tier_units(books: Books) -> Check:
    """Return the check that no more units have a tier's price than are ordered, order by order."""
    bought, orders, key = books.tier_units, books.orders, [*STAND, "period"]
    taken = total(bought["units"], bought, key)
    rows = beside(taken, total(orders["units"], orders, key).reindex(taken.index).fillna(0.0))
    return compare("tier_units", "tier_split", rows, "<=")


def tiers_reached(books: Books) -> Check:
    """Return the check that the quantity a tier asks for was there before any unit had its price.

    Where a tier's price holds for all units, what counts is at least ``from_units``; where it holds for the units
    beyond only, the units at its price or a later one's are at most what counts less ``from_units - 1``. What
    counts is the order of the period, or all orders of the offer (up to the period where only the units beyond are
    cheaper). A plan of the linear relaxation is not held to it.
    """
    bought = _of_whole_plan(books, books.tier_units)
    known = books.facts.tiers.index
    bought = bought[pd.MultiIndex.from_frame(bought[["offer", "from_units"]]).isin(known)]
    ordered = ordered_by_period(books)
    place = books.facts.periods["ordinal"]
    rows = []
    for offer, period, start in (
        bought[["offer", "period", "from_units"]].drop_duplicates().itertuples(index=False)
    ):
        tier = books.facts.tiers.loc[(offer, start)]
        beyond = tier["basis"] == "incremental"
        own, at_tier = ordered[ordered["offer"] == offer], bought[bought["offer"] == offer]
        if tier["counts"] == "order":
            own, at_tier = own[own["period"] == period], at_tier[at_tier["period"] == period]
        elif beyond:
            own = own[own["period"].map(place) <= place[period]]
            at_tier = at_tier[at_tier["period"].map(place) <= place[period]]
        counted = float(own["units"].sum())
        cheaper = float(at_tier.loc[at_tier["from_units"] >= start, "units"].sum())
        left = start - 1 + cheaper if beyond else float(start)
        rows.append({"offer": offer, "period": period, "from_units": start, "left": left, "right": counted})
    columns = ["offer", "period", "from_units", "left", "right"]
    return compare("tiers_reached", "tier_reached", pd.DataFrame(rows, columns=columns), "<=")


def tier_terms(books: Books) -> Check:
    """Return the check that the tiers of the plan have the discounts of the tables."""
    bought = books.tier_units
    own = at(books.facts.tiers["discount_fraction"], bought, ["offer", "from_units"])
    rows = bought[["offer", "period", "from_units"]].assign(
        left=np.asarray(bought["discount_fraction"], dtype=float), right=own.to_numpy(float)
    )
    return compare("tier_terms", "tier_split", rows, "==", floor=1e-3)


def _of_whole_plan(books: Books, rows: pd.DataFrame) -> pd.DataFrame:
    return rows.iloc[:0] if books.plan.headline.get("relaxed") else rows


def _ordered_by_group(books: Books) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield each limit of ``concentration`` with units and measure ordered, by vendor, country, chip or product."""
    limits = books.facts.scenario.tables["concentration"]
    if limits.empty:
        return
    orders = books.orders.assign(paid=payments_by_order(books), offer=books["orders"]["offer"])
    orders = orders[orders["mode"].isin(BOUGHT_OR_TERMED)]
    offer = at(books.facts.offers[["vendor", "origin_country"]], orders, ["offer"])
    product = at(books.facts.table("products", "product")[["chip", "chips_per_unit"]], orders, ["product"])
    about = orders.assign(
        vendor=offer["vendor"], country=offer["origin_country"], chip=product["chip"], one=1.0
    ).assign(chips_per_unit=product["chips_per_unit"].astype(float))
    weight = {"units": "one", "chips": "chips_per_unit", "kw": "provisioned_kw"}
    for limit in limits.to_dict("records"):
        own = about if pd.isna(limit["period"]) else about[about["period"] == limit["period"]]
        measure = limit["measure"]
        value = own["paid"] if measure == "spend" else own["units"] * own[weight[measure]]
        label = own[limit["by"]].astype("str").fillna("nan")
        grouped = pd.DataFrame({"units": own["units"], "value": value}).groupby(label).sum()
        yield limit, grouped[grouped["units"] > 1e-6]


@once
def concentration(books: Books) -> Check:
    """Return the check of every concentration limit: the measure of one vendor (country, chip, product) <= its share.

    Of purchases, leases and reservations, over all periods or those of the one stated; spend is what an order pays
    within the horizon.
    """
    rows = [
        {
            "limit": limit["limit"],
            "group": name,
            "left": float(amount),
            "right": float(limit["max_fraction"]) * float(grouped["value"].sum()),
        }
        for limit, grouped in _ordered_by_group(books)
        if not pd.isna(limit["max_fraction"])
        for name, amount in grouped["value"].items()
    ]
    columns = ["limit", "group", "left", "right"]
    return compare("concentration", "concentration", pd.DataFrame(rows, columns=columns), "<=")


def source_count(books: Books) -> Check:
    """Return the check that orders come from enough vendors (countries, chips, products), each with its least share."""
    rows = []
    for limit, grouped in _ordered_by_group(books):
        if pd.isna(limit["min_count"]) or grouped.empty:
            continue
        least = 0.0 if pd.isna(limit["min_fraction"]) else float(limit["min_fraction"])
        size = float(grouped["value"].sum())
        enough = grouped["value"] >= least * size - 1e-6 * max(size, 1.0)
        rows.append(
            {"limit": limit["limit"], "left": float(limit["min_count"]), "right": float(enough.sum())}
        )
    return compare(
        "source_count", "source_count", pd.DataFrame(rows, columns=["limit", "left", "right"]), "<="
    )


@once
def commissioning_pace(books: Books) -> Check:
    """Return the check that a site puts no more units of its own halls in service per period than it can."""
    orders = books.orders
    pace = at(books.facts.sites["commission_units_per_period"], orders, ["site"]).astype(float)
    own = orders[orders["mode"].isin(BOUGHT_OR_TERMED) & orders["includes"].ne(HOSTED) & pace.notna()]
    first = total(own["units"], own, ["site", "first"]).rename("left").reset_index()
    limit = at(books.facts.sites["commission_units_per_period"], first, ["site"]).astype(float)
    return compare("commissioning_pace", "commissioning_pace", first.assign(right=limit), "<=")


def export_limits(books: Books) -> Check:
    """Return the check that no hardware is ordered into a country that its chip may not be brought into."""
    orders = books.orders
    chip = at(books.facts.table("products", "product")["chip"], orders, ["product"])
    region = at(books.facts.sites["region"], orders, ["site"])
    country = region.map(books.facts.table("regions", "region")["country"])
    start = pd.Series(books.period_of(orders, "start_date"), index=orders.index)
    broken = pd.Series(False, index=orders.index)
    hardware = orders["includes"].ne(HOSTED)
    for row in books.facts.scenario.tables["export_limits"].to_dict("records"):
        since = pd.isna(row["from_date"]) | (start >= row["from_date"])
        broken |= hardware & chip.eq(row["chip"]) & country.eq(row["country"]) & since
    return breaches("export_limits", "orders", orders, broken, ["offer", "site", "period"])


def resold_units(books: Books) -> Check:
    """Return the check that only purchases with a stated resale are taken out again, whole, after their first period
    and before their end of life, and no more units than were ordered.
    """
    out = sold_again(books)
    relaxed = bool(books.plan.headline.get("relaxed"))
    part = ~relaxed & ((out["units"].astype(float) - out["units"].astype(float).round()).abs() > 1e-6)
    late = out["sold_years"] >= out["ends_years"] - 1e-9
    broken = part | out["share"].isna() | (out["sold_years"] <= out["began_years"] + 1e-9) | late
    key = [*STAND, "period"]
    taken = total(out["units"], out, key).rename("left").reset_index()
    ordered = out.drop_duplicates(key).set_index(key)["ordered_units"].astype(float)
    rows = taken.assign(right=at(ordered, taken, key).fillna(0.0))
    allowed = out[[*key, "sold_period"]].assign(left=broken.astype(float), right=0.0)
    return compare("resold_units", "resold_units", pd.concat([rows, allowed], ignore_index=True), "<=")


def retired_units(books: Books) -> Check:
    """Return the check that only lots with a stated resale are taken out early, and no more units than they have."""
    out = resale_values(books)
    allowed = out["lot_units"].where(out["share"].notna(), 0.0)
    taken = total(out["units"], out, ["offer"]).rename("left").reset_index()
    limit = allowed.groupby(out["offer"]).max()
    return compare("retired_units", "fleet_balance", taken.assign(right=at(limit, taken, ["offer"])), "<=")
