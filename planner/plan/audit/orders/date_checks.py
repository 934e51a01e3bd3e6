"""Dates of every order recounted from the tables: order, deposit, delivery, hall and power, service."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.facts import BOUGHT_OR_TERMED, HOSTED, RENTED, at
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.orders.last_days import last_day_to_order, whole_days
from planner.plan.audit.orders.standing import STAND
from planner.plan.audit.report import Check, compare, total
from planner.units import DAYS_PER_WEEK

NANOSECONDS_PER_DAY = 86_400e9
CALENDAR_DAYS = 3.0
"""Most days by which planning weeks (13 a quarter, a third of that a month) and the calendar differ."""
PAIRS = (
    ("order_date", "order_by_date"),
    ("deposit_date", "order_by_date"),
    ("order_by_date", "deposit_date"),
    ("order_by_date", "delivery_by_date"),
    ("delivery_date", "delivery_by_date"),
    ("order_by_date", "vendor_delivery_date"),
    ("vendor_delivery_date", "delivery_date"),
    ("delivery_by_date", "hall_ready_date"),
    ("delivery_by_date", "power_ready_date"),
    ("hall_ready_date", "in_service_date"),
    ("power_ready_date", "in_service_date"),
    ("delivery_by_date", "in_service_date"),
)
"""Pairs of dates of one order of which the first is never after the second."""


def order_dates(books: Accounts) -> Check:
    """Return the check of every date of every order, in days since 1970, counted once more from the tables.

    Committed units arrive for the first period that starts after lead and installation: delivered so many whole days
    of installation before, ordered by so many of both, inside the period and the offer's sale; the deposit falls due
    that day. Rentals are asked for their lead ahead and serve their period. Units stored until they have power serve
    from the period in which the last of the row, oldest orders first, is powered; hall and power take the first of
    them its installation before.
    """
    stated, orders = books["orders"], books.orders
    committed = orders["mode"].isin(BOUGHT_OR_TERMED)
    starts = books.facts.periods["start_date"].to_numpy()
    known = np.minimum(orders["first"].to_numpy(int), len(starts) - 1)
    arrival = pd.Series(starts[known], index=orders.index)
    install = whole_days(orders["install_weeks"].where(committed, 0.0))
    lead = orders["delay_weeks"] - orders["install_weeks"]
    start = pd.Series(books.period_of(orders, "start_date"), index=orders.index)
    by, own = last_day_to_order(books), orders["includes"].ne(HOSTED)
    delivery = (arrival - install).where(~committed | (arrival - install >= by), by)
    vendor = by + whole_days(lead)
    powered, served = _powered(books, arrival)
    ready = (powered - install).where(powered.isna() | (powered - install >= delivery), delivery)
    paid = orders["mode"].eq("purchase") & _first_share(orders).gt(0.0)
    expected = {
        "order_date": start.where(committed, by),
        "order_by_date": by,
        "deposit_date": by.where(paid),
        "delivery_date": delivery,
        "delivery_by_date": delivery,
        "vendor_delivery_date": vendor.where(vendor < delivery, delivery).where(committed),
        "hall_ready_date": ready.where(own),
        "power_ready_date": ready.where(own),
        "in_service_date": served,
    }
    parts = []
    for name, dates in expected.items():
        if name not in stated:
            continue
        rows = stated[["offer", "site", "period"]].assign(
            date=name, left=days_since_1970(stated[name]), right=days_since_1970(dates)
        )
        parts.append(rows[~(rows["left"].isna() & rows["right"].isna())])
    return compare("order_dates", "orders", pd.concat(parts, ignore_index=True), "==", floor=1e-3)


def _first_share(orders: pd.DataFrame) -> pd.Series:
    """Return the share of the price that a purchase pays with the order: all where it states no share at all."""
    none = orders["deposit_fraction"].isna() & orders["delivery_fraction"].isna()
    return orders["deposit_fraction"].fillna(0.0).where(~none, 1.0)


def _powered(books: Accounts, arrival: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return the days on which the first and the last unit of each order serve, those delivered first before others.

    Units are counted out one delivery after another: what waits at a stand in a period are the youngest there.
    """
    orders, waiting, periods = books.orders, books["unpowered"], books.facts.periods
    powered, served = arrival.copy(), arrival.copy()
    if waiting.empty:
        return powered, served
    names, starts = [str(name) for name in periods.index], periods["start_date"].to_list()
    held = total(waiting["units"], waiting, [*STAND, "period"])
    rank = books.period_of(orders, "ordinal")
    for stand in waiting[STAND].drop_duplicates().itertuples(index=False, name=None):
        here = orders[(orders[STAND] == list(stand)).all(axis=1)]
        queue = sorted(here.index, key=lambda row: (int(orders.loc[row, "first"]), int(rank[row])))
        for place, row in enumerate(queue):
            younger = queue[place + 1 :]
            began, done = None, None
            for k in range(int(orders.loc[row, "first"]), len(names)):
                there = sum(
                    float(orders.loc[other, "units"])
                    for other in younger
                    if int(orders.loc[other, "first"]) <= k
                )
                left = float(held.get((*stand, names[k]), 0.0)) - there
                if began is None and left < float(orders.loc[row, "units"]) - 1e-6:
                    began = k
                if done is None and left <= 1e-6:
                    done = k
            powered[row] = starts[began] if began is not None else pd.NaT
            served[row] = starts[done] if done is not None else pd.NaT
    return powered, served


def date_order(books: Accounts) -> Check:
    """Return the check that dates of an order never contradict each other: see ``PAIRS``, days since 1970."""
    stated, parts = books["orders"], []
    for early, late in PAIRS:
        if early in stated and late in stated:
            rows = stated[["offer", "site", "period"]].assign(
                dates=f"{early} <= {late}",
                left=days_since_1970(stated[early]),
                right=days_since_1970(stated[late]),
            )
            parts.append(rows[rows["left"].notna() & rows["right"].notna()])
    rows = pd.concat(parts, ignore_index=True) if parts else stated.iloc[:0]
    return compare("date_order", "orders", rows, "<=", floor=1e-3)


def deposits(books: Accounts) -> Check:
    """Return the check of the deposit: units x price paid x the share due with the order, none of other modes."""
    stated, orders = books["orders"], books.orders
    if "deposit_amount" not in stated:
        return compare("deposits", "orders", stated.iloc[:0], "==")
    share = _first_share(orders).where(orders["mode"].eq("purchase"), 0.0)
    due = orders["units"] * orders["paid_price"] * share
    rows = stated[["offer", "site", "period"]].assign(left=stated["deposit_amount"].fillna(0.0), right=due)
    return compare("deposits", "orders", rows, "==")


def rented_hours(books: Accounts) -> Check:
    """Return the check of the unit-hours and the peak of what is rented, from units by block or by period."""
    stated, orders = books["orders"], books.orders
    if "unit_hours" not in stated:
        return compare("rented_hours", "orders", stated.iloc[:0], "==")
    key = [*STAND, "period"]
    held = books["hourly_rent"]
    hours = at(books.hours, held, ["period", "block"]).to_numpy(float)
    by_hour = at(total(held["units"] * hours, held, key), stated, key).fillna(0.0)
    whole = orders["units"] * pd.Series(books.period_of(orders, "hours"), index=orders.index)
    rents = orders["mode"].isin(RENTED)
    own = by_hour.where(orders["hourly"], whole).where(rents, 0.0)
    labels = stated[["offer", "site", "period"]]
    parts = [
        labels.assign(quantity="unit_hours", left=stated["unit_hours"].fillna(0.0), right=own),
        labels.assign(
            quantity="peak_units",
            left=stated["peak_units"].fillna(0.0),
            right=orders["units"].where(rents, 0.0),
        ),
    ]
    return compare("rented_hours", "orders", pd.concat(parts, ignore_index=True), "==")


def ordered_in_time(books: Accounts) -> Check:
    """Return the check that nothing is ordered after its last day, and that the last day is early enough.

    In days since 1970: order_date <= order_by_date, and order_by_date + lead + installation <= in_service_date,
    but for the days by which planning weeks (13 a quarter) and the calendar differ.
    """
    orders = books["orders"][books.orders["mode"].isin(BOUGHT_OR_TERMED)]
    if "order_by_date" not in orders:
        return compare("ordered_in_time", "orders", orders.iloc[:0], "<=")
    delay = np.ceil(books.orders.loc[orders.index, "delay_weeks"] * DAYS_PER_WEEK - 1e-9)
    by, serves = days_since_1970(orders["order_by_date"]), days_since_1970(orders["in_service_date"])
    labels = orders[["offer", "site", "period"]]
    served = ~np.isnan(serves)
    rows = [
        labels.assign(date="order", left=days_since_1970(orders["order_date"]), right=by),
        labels.assign(date="arrival", left=by + delay.to_numpy(), right=serves + CALENDAR_DAYS)[served],
    ]
    return compare("ordered_in_time", "orders", pd.concat(rows, ignore_index=True), "<=", floor=1e-3)


def commissioned(books: Accounts) -> Check:
    """Return the check that no committed unit is in service before it has been delivered and installed.

    In days since 1970: the first day an order of the offer at this stand can serve (its order_date + lead +
    installation) <= the first day of the first period in which the fleet shows any.
    """
    orders, fleet = books["orders"], books["fleet"]
    committed = books.orders["mode"].isin(BOUGHT_OR_TERMED)
    days = days_since_1970(orders["order_date"]) + books.orders["delay_weeks"].to_numpy(float) * DAYS_PER_WEEK
    first = pd.Series(days, index=orders.index)[committed].groupby(
        [orders.loc[committed, name] for name in STAND]
    )
    held = fleet[fleet["mode"].isin(BOUGHT_OR_TERMED) & (fleet["units"] > 1e-6)]
    start = pd.Series(days_since_1970(pd.Series(books.period_of(held, "start_date"))), index=held.index)
    rows = start.groupby([held[name] for name in STAND]).min().rename("right").reset_index()
    left = at(first.min(), rows, STAND) if len(rows) else pd.Series(dtype=float)
    return compare(
        "commissioned",
        "fleet_balance",
        rows.assign(left=left, right=rows["right"] + CALENDAR_DAYS),
        "<=",
        floor=1e-3,
    )


def days_since_1970(dates: pd.Series) -> np.ndarray:
    """Return days since 1970; NaN where there is no date."""
    moments = pd.to_datetime(dates).astype("datetime64[ns]")
    return np.where(moments.isna(), np.nan, moments.to_numpy().astype("int64") / NANOSECONDS_PER_DAY)
