"""Payment calendars of leases and reservations, walked payment by payment."""

from __future__ import annotations

from typing import Any

import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.clock import walked_months
from planner.plan.audit.once import once
from planner.plan.audit.orders.standing import STAND
from planner.plan.audit.report import Check, alike
from planner.units import MONTHS_PER_YEAR

PAYMENT = ["order", "due_date", "period", "timing", "time", "paid", "ahead", "accrued", "owed"]
TERMED = ("lease", "reserved")


@once
def calendar_payments(books: Books) -> pd.DataFrame:
    """Return every payment of the orders with a calendar; ``order`` is the position of the order in ``orders``.

    ``time`` is the hours or calendar months it pays for: ``paid`` within the horizon and of these ``ahead`` of service
    after it, or ``owed`` after it and of these ``accrued`` by service within it. A payment of the first half of a
    period counts at its start, of the second half in its course.
    """
    periods = books.facts.periods
    spans = list(zip(periods.index, periods["start_date"], periods["end_date"], strict=True))
    edge, rows = spans[-1][2] if spans else None, []
    for at, order in enumerate(books.orders.to_dict("records")):
        if order["mode"] not in TERMED or pd.isna(order["payment_every_months"]):
            continue
        served = [spans[place] for place in range(len(spans)) if books.serves[at, place]]
        if not served:
            continue
        begins, every = served[0][1], int(order["payment_every_months"])
        until = max(served[-1][2], months_later(begins, order["term_months"]))
        late, opens, count = order["payment_in"] == "arrears", begins, 0
        while opens < until:
            count += 1
            closes = min(begins + pd.DateOffset(months=every * count), until)
            moment = closes - pd.Timedelta(minutes=1) if late else opens
            whole, part = _time(order, opens, closes), _time(order, opens, max(min(closes, edge), opens))
            now = moment < edge
            name, starts, ends = [span for span in spans if span[1] <= moment][-1]
            timing = "start" if moment - starts < ends - moment else "mid"
            rows.append(
                (at, closes if late else opens, name, timing, whole)
                + ((whole, whole - part, 0.0, 0.0) if now else (0.0, 0.0, part, whole))
            )
            opens = closes
    kinds = {"order": "int", "due_date": "datetime64[ns]", "period": "str", "timing": "str"} | dict.fromkeys(
        PAYMENT[4:], "float"
    )
    return pd.DataFrame(rows, columns=PAYMENT).astype(kinds)


def months_later(day: pd.Timestamp, months: float) -> pd.Timestamp:
    """Return the day so many calendar months later; a broken month by its share of the days."""
    reached, later = (day + pd.DateOffset(months=int(months) + more) for more in (0, 1))
    return reached + (later - reached) * (months - int(months))


def _time(order: dict[str, Any], opens: pd.Timestamp, closes: pd.Timestamp) -> float:
    """Return calendar months of a price per month, else hours, from one day to another."""
    if order["price_unit"] == "unit_month":
        return walked_months(opens, closes)
    return float((closes - opens) / pd.Timedelta(hours=1))


def instalments(books: Books) -> Check:
    """Return the check of every payment of a lease or reservation with a payment calendar: its day and its amount."""
    rows, key = calendar_payments(books), [*STAND, "period", "due_date"]
    order = books.orders.iloc[rows["order"].to_numpy(int)].reset_index(drop=True)
    price = order["units"] * order["paid_price"] * (1.0 - order["upfront_fraction"].fillna(0.0))
    first = books.facts.periods["start_date"].iloc[0]
    years = pd.Series([walked_months(first, day) for day in rows["due_date"]], dtype=float) / MONTHS_PER_YEAR
    own = order[[*STAND, "period"]].assign(
        due_date=rows["due_date"],
        due_years=years,
        amount=price * rows["time"],
        in_horizon=rows["paid"] > 0.0,
        paid_period=rows["period"],
        timing=rows["timing"],
    )
    stated = books.plan.frames.get("instalments", own.iloc[:0])
    stated = stated.assign(due_years=stated["due_years"].astype(float).round(6))
    return alike("instalments", "cash", stated, own.assign(due_years=own["due_years"].round(6)), key)
