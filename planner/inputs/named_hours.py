"""Hours named afterwards, as a tariff row lists them, and the months whose bills rest on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from planner.units import MONTHS_PER_YEAR

Row = Mapping[Hashable, Any]


def month_number(when: pd.Timestamp) -> int:
    """Return months since year 0.

    >>> month_number(pd.Timestamp("2027-01-15"))
    24324
    """
    return int(when.year * MONTHS_PER_YEAR + when.month - 1)


def named_times(text: str) -> list[pd.Timestamp]:
    """Return the starts of the hours a charge names.

    >>> [str(time) for time in named_times("2026-06-24T16:00; 2026-07-20T17:00")]
    ['2026-06-24 16:00:00', '2026-07-20 17:00:00']
    """
    return [pd.Timestamp(part.strip()) for part in text.split(";") if part.strip()]


def named_shares(text: str) -> dict[int, float]:
    """Return the share of the named hours in each month that has some, by months since year 0."""
    times = named_times(text)
    count = Counter(month_number(time) for time in times)
    return {month: count[month] / len(times) for month in sorted(count)}


def named_months(text: str) -> list[int]:
    """Return the calendar months of the named hours.

    >>> named_months("2026-12-24T16:00;2027-01-20T17:00")
    [1, 12]
    """
    return sorted({time.month for time in named_times(text)})


def first_billed(row: Row) -> int:
    """Return the month the named hours are billed from: of ``start_date``, else January after the last of them.

    >>> first_billed({"named_hours": "2026-06-24T16:00", "start_date": pd.NaT}) == month_number(pd.Timestamp("2027-01"))
    True
    """
    if not pd.isna(row["start_date"]):
        return month_number(row["start_date"])
    last = max(named_shares(str(row["named_hours"])))
    return (last // MONTHS_PER_YEAR + 1) * MONTHS_PER_YEAR


def peaks_behind(row: Row, month: int) -> dict[int, float]:
    """Return the months whose peaks a month's bill rests on, with their shares.

    The twelve months from the first billed one rest on the named hours' months, the next twelve on those a year later.
    """
    later = (month - first_billed(row)) // MONTHS_PER_YEAR * MONTHS_PER_YEAR
    return {past + later: share for past, share in named_shares(str(row["named_hours"])).items()}
