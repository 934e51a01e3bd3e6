"""Last days to order, counted back once more from the day of service."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import BOUGHT_OR_TERMED, at


def days_of_weeks(weeks: float) -> pd.Timedelta:
    """Return weeks in whole days, rounded up.

    >>> days_of_weeks(2.5).days
    18
    """
    return pd.Timedelta(days=int(np.ceil(weeks * 7 - 1e-9)))


def whole_days(count: pd.Series) -> pd.Series:
    """Return weeks in whole days, row by row."""
    days = [days_of_weeks(float(weeks)) for weeks in count]
    return pd.Series(days, index=count.index, dtype="timedelta64[ns]")


def last_day_to_order(books: Books) -> pd.Series:
    """Return the last day to order by counting back from the day of service, on the rows of ``orders``.

    Inside the period of the order and the offer's sale; rentals without those limits.
    """
    orders, periods = books.orders, books.facts.periods
    start = pd.Series(books.period_of(orders, "start_date"), index=orders.index)
    first = np.minimum(orders["first"].to_numpy(int), len(periods) - 1)
    serves = pd.Series(periods["start_date"].to_numpy()[first], index=orders.index)
    latest = serves - whole_days(orders["delay_weeks"])
    ends = pd.Series(books.period_of(orders, "end_date"), index=orders.index)
    last = np.ceil((ends - start) / pd.Timedelta(days=1)) - 1
    last_day = start + pd.to_timedelta(last, unit="D")
    sale = at(books.facts.offers["available_until"], books["orders"], ["offer"])
    committed = orders["mode"].isin(BOUGHT_OR_TERMED)
    capped = latest.where(latest <= last_day, last_day)
    capped = capped.where(~(committed & sale.notna() & (sale < capped)), sale)
    return capped.where(~(committed & (capped < start)), start)
