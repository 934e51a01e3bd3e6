"""Orders and fleet: whole units, dates, supply, where a unit may stand, and what stands when."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import BOUGHT_OR_TERMED, HOSTED, at
from planner.plan.audit.orders.standing import STAND, misplacements
from planner.plan.audit.report import Check, beside, breaches, compare, total
from planner.units import DAYS_PER_WEEK

NANOSECONDS_PER_DAY = 86_400e9
CALENDAR_DAYS = 3.0
"""Most days by which planning weeks (13 a quarter, a third of that a month) and the calendar differ."""


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


def order_dates(books: Books) -> Check:
    """Return the check of the dates of every order, in days since 1970.

    Ordered on the first day of the period; delivered after the lead time of the scenario's case (rentals at
    once); in service on the first day of the first period that starts after delivery and installation. The
    last days to order, to be delivered and to have power count back from there in whole days, the last day to
    order kept inside the period and the offer's sale.
    """
    stated, orders = books["orders"], books.orders
    committed = orders["mode"].isin(BOUGHT_OR_TERMED)
    start = pd.Series(books.period_of(orders, "start_date"), index=orders.index)
    lead = (orders["delay_weeks"] - orders["install_weeks"]).where(committed, 0.0)
    serves = books.facts.periods["start_date"].to_numpy()
    known = np.minimum(orders["first"].to_numpy(int), len(serves) - 1)
    install = _whole_days(orders["install_weeks"].where(committed, 0.0))
    hosted = orders["includes"].eq(HOSTED)
    latest = pd.Series(serves[known], index=orders.index) - install
    arrives = start + _whole_days(lead)
    own = {
        "order_by_date": _order_by(books, start),
        "delivery_by_date": latest,
        "power_ready_date": latest[~hosted],
        "order_date": start,
        "delivery_date": arrives.where(arrives <= latest, latest),
        "in_service_date": pd.Series(serves[known], index=orders.index),
    }
    parts = [
        stated.loc[dates.index, ["offer", "site", "period"]].assign(
            date=name, left=_days(stated.loc[dates.index, name]), right=_days(dates)
        )
        for name, dates in own.items()
        if name in stated
    ]
    return compare("order_dates", "orders", pd.concat(parts, ignore_index=True), "==", floor=1e-3)


def _whole_days(count: pd.Series) -> pd.Series:
    return pd.to_timedelta(np.ceil(count * DAYS_PER_WEEK - 1e-9), unit="D")


def _order_by(books: Books, start: pd.Series) -> pd.Series:
    """Return the last day to order by counting back from the day of service, rentals without other limits."""
    orders, periods = books.orders, books.facts.periods
    first = np.minimum(orders["first"].to_numpy(int), len(periods) - 1)
    serves = pd.Series(periods["start_date"].to_numpy()[first], index=orders.index)
    latest = serves - _whole_days(orders["delay_weeks"])
    ends = pd.Series(books.period_of(orders, "end_date"), index=orders.index)
    last = np.ceil((ends - start) / pd.Timedelta(days=1)) - 1
    last_day = start + pd.to_timedelta(last, unit="D")
    sale = at(books.facts.offers["available_until"], books["orders"], ["offer"])
    committed = orders["mode"].isin(BOUGHT_OR_TERMED)
    capped = latest.where(latest <= last_day, last_day)
    capped = capped.where(~(committed & sale.notna() & (sale < capped)), sale)
    return capped.where(~(committed & (capped < start)), start)


def ordered_in_time(books: Books) -> Check:
    """Return the check that nothing is ordered after its last day, and that the last day is early enough.

    In days since 1970: order_date <= order_by_date, and order_by_date + lead + installation <= in_service_date,
    but for the days by which planning weeks (13 a quarter) and the calendar differ.
    """
    orders = books["orders"][books.orders["mode"].isin(BOUGHT_OR_TERMED)]
    if "order_by_date" not in orders:
        return compare("ordered_in_time", "orders", orders.iloc[:0], "<=")
    delay = np.ceil(books.orders.loc[orders.index, "delay_weeks"] * DAYS_PER_WEEK - 1e-9)
    by, serves = _days(orders["order_by_date"]), _days(orders["in_service_date"])
    labels = orders[["offer", "site", "period"]]
    rows = [
        labels.assign(date="order", left=_days(orders["order_date"]), right=by),
        labels.assign(date="arrival", left=by + delay.to_numpy(), right=serves + CALENDAR_DAYS),
    ]
    return compare("ordered_in_time", "orders", pd.concat(rows, ignore_index=True), "<=", floor=1e-3)


def commissioned(books: Books) -> Check:
    """Return the check that no committed unit is in service before it has been delivered and installed.

    In days since 1970: the first day an order of the offer at this stand can serve (its order_date + lead +
    installation) <= the first day of the first period in which the fleet shows any.
    """
    orders, fleet = books["orders"], books["fleet"]
    committed = books.orders["mode"].isin(BOUGHT_OR_TERMED)
    days = _days(orders["order_date"]) + books.orders["delay_weeks"].to_numpy(float) * DAYS_PER_WEEK
    first = pd.Series(days, index=orders.index)[committed].groupby(
        [orders.loc[committed, name] for name in STAND]
    )
    held = fleet[fleet["mode"].isin(BOUGHT_OR_TERMED) & (fleet["units"] > 1e-6)]
    start = pd.Series(_days(pd.Series(books.period_of(held, "start_date"))), index=held.index)
    rows = start.groupby([held[name] for name in STAND]).min().rename("right").reset_index()
    left = at(first.min(), rows, STAND) if len(rows) else pd.Series(dtype=float)
    return compare(
        "commissioned",
        "fleet_balance",
        rows.assign(left=left, right=rows["right"] + CALENDAR_DAYS),
        "<=",
        floor=1e-3,
    )


def _days(dates: pd.Series) -> np.ndarray:
    """Return days since 1970; NaN where there is no date."""
    moments = pd.to_datetime(dates).astype("datetime64[ns]")
    return np.where(moments.isna(), np.nan, moments.to_numpy().astype("int64") / NANOSECONDS_PER_DAY)


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


def supply(books: Books) -> Check:
    """Return the check that units of an offer ordered or rented in a period, over all sites, <= what is
    confirmed.
    """
    orders = books.orders[~books.orders["hourly"]]
    return _supplied(books, "supply", total(orders["units"], orders, ["offer", "period"]))


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
