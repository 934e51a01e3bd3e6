"""Orders and fleet: whole units, supply, where a unit may stand, and what stands when."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import BOUGHT_OR_TERMED, at
from planner.plan.audit.once import once
from planner.plan.audit.orders.standing import STAND, misplacements
from planner.plan.audit.report import Check, beside, breaches, compare, total


def whole_units(books: Books) -> Check:
    """Return the check that units are whole: ordered, in service, and rented by the hour unless those may be
    shares.

    A plan of the linear relaxation (headline ``relaxed``) is not held to it.
    """
    hourly = ["hourly_rent"] if books.facts.scenario.settings.integer_hourly_rent else []
    parts = []
    for name in ["orders", "fleet", *hourly]:
        units = books[name]
        if not hourly and "mode" in units:
            units = units[~_hourly(books, name)]
        parts.append(
            units[[*STAND, "period"]].assign(frame=name, left=units["units"], right=units["units"].round())
        )
    share = books["sites"]["open_fraction"]
    parts.append(books["sites"][["site", "period"]].assign(frame="sites", left=share, right=share.round()))
    rows = pd.concat(parts, ignore_index=True)
    return compare(
        "whole_units", "integer", rows.iloc[:0] if books.plan.headline.get("relaxed") else rows, "=="
    )


def _hourly(books: Books, name: str) -> pd.Series:
    return books.orders["hourly"] if name == "orders" else books.fleet["hourly"]


def order_serves(books: Books) -> Check:
    """Return the check that every order serves inside the horizon, from the period it says.

    Left is the ordinal of ``in_service_period``, right that of the first period that starts no earlier than
    order + lead + installation; a rental must have had its lead time since the start of the horizon. An order
    that cannot serve at all is infinitely late.
    """
    orders = books.orders
    stated = books.facts.periods["ordinal"].reindex(books["orders"]["in_service_period"]).to_numpy(float)
    waiting = ~orders["mode"].isin(BOUGHT_OR_TERMED) & (
        books.period_of(orders, "start_weeks") < orders["delay_weeks"] - 1e-9
    )
    never = ~books.serves.any(axis=1) | waiting.to_numpy(bool)
    due = np.where(never, np.inf, orders["first"])
    rows = orders[["offer", "site", "period"]].assign(left=stated, right=due)
    return compare("order_serves", "orders", rows, "==")


def on_sale(books: Books) -> Check:
    """Return the check that the period of every order starts while the offer is on sale."""
    orders = books["orders"]
    offer = at(books.facts.offers[["available_from", "available_until"]], orders, ["offer"])
    start = pd.Series(books.period_of(orders, "start_date"), index=orders.index)
    early, late = start < offer["available_from"], start > offer["available_until"]
    return breaches("on_sale", "orders", orders, early | late, ["offer", "site", "period"])


def fleet_balance(books: Books) -> Check:
    """Return the check that units in service or waiting for power are orders that have arrived and not ended,
    plus existing lots.

    Rentals by the hour count as the most units held in any block of the period.
    """
    key = [*STAND, "period"]
    there = pd.concat([books[name][[*key, "units"]] for name in ("fleet", "unpowered")], ignore_index=True)
    return compare(
        "fleet_balance", "fleet_balance", beside(total(there["units"], there, key), books.due_fleet), "=="
    )


def hourly_peak(books: Books) -> Check:
    """Return the check that the order of an hourly rental is the most units held in any block of its
    period.
    """
    orders, rented, key = books.orders, books["hourly_rent"], [*STAND, "period"]
    hourly = orders[orders["hourly"]]
    most = rented.groupby(key)["units"].max() if len(rented) else total(rented["units"], rented, key)
    return compare("hourly_peak", "orders", beside(total(hourly["units"], hourly, key), most), "==")


def supply_limits(books: Books) -> pd.Series:
    """Return units a vendor confirms by (offer, period): the supply row, else the offer's own limit."""
    own = books.facts.offers["supply_units_per_period"].dropna()
    limits = {(offer, period): units for offer, units in own.items() for period in books.facts.periods.index}
    supply = books.facts.scenario.tables["supply"]
    limits |= dict(zip(zip(supply["offer"], supply["period"], strict=True), supply["units"], strict=True))
    return pd.Series(limits, dtype=float)


@once
def supply(books: Books) -> Check:
    """Return the check that units of an offer ordered or rented in a period, over all sites, <= what is
    confirmed.
    """
    orders = books.orders[~books.orders["hourly"]]
    return _supplied(books, "supply", total(orders["units"], orders, ["offer", "period"]))


@once
def hourly_supply(books: Books) -> Check:
    """Return the check that units of an offer rented by the hour, in each block over all sites, <= what is
    confirmed.
    """
    rented = books.hourly
    return _supplied(books, "hourly_supply", total(rented["units"], rented, ["offer", "period", "block"]))


def _supplied(books: Books, check: str, taken: pd.Series) -> Check:
    rows = taken.rename("left").reset_index()
    limits = supply_limits(books)
    right = [
        limits.get((offer, period), np.inf)
        for offer, period in zip(rows["offer"], rows["period"], strict=True)
    ]
    return compare(check, check, rows.assign(right=right)[np.isfinite(right)], "<=")


def standing_rules(books: Books) -> Check:
    """Return the check that every unit stands where it may.

    Under a cooling that the site offers and its product admits; hosted units at cloud sites and only there,
    rentals hosted; the offer serves the site and its region; a whole rack no denser than its cooling allows.
    """
    rows = pd.concat([books[name][STAND] for name in ("orders", "fleet", "hourly_rent")]).drop_duplicates(
        ignore_index=True
    )
    broken = misplacements(books.facts, rows)
    parts = [rows.assign(rule=rule, left=broken[rule].astype(float), right=0.0) for rule in broken.columns]
    return compare("standing_rules", "columns", pd.concat(parts, ignore_index=True), "<=")


def unit_numbers(books: Books) -> Check:
    """Return the check of kW, racks and availability of one unit in the fleet frame."""
    stated = books["fleet"]
    parts = [
        stated[[*STAND, "period"]].assign(quantity=name, left=stated[name], right=books.fleet[name])
        for name in ("provisioned_kw", "idle_kw", "racks", "availability_fraction")
    ]
    return compare("unit_numbers", "fleet", pd.concat(parts, ignore_index=True), "==", floor=1e-3)
