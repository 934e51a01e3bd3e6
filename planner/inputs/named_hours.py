"""Hours named afterwards, as a tariff row lists them, and the months whose bills rest on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from planner.inputs.windows import MINUTES_PER_QUARTER
from planner.units import MONTHS_PER_YEAR

Row = Mapping[Hashable, Any]


def month_number(when: pd.Timestamp) -> int:
    """Return months since year 0.

    >>> month_number(pd.Timestamp("2027-01-15"))
    24324
    """
    return int(when.year * MONTHS_PER_YEAR + when.month - 1)


def named_spans(text: str) -> list[tuple[pd.Timestamp, pd.Timestamp]]:
    """Return start and end of what a charge names.

    A full hour names the hour that starts there, a quarter past, half past or a quarter to its quarter of an hour;
    ``/16:15`` states the end.

    >>> [f"{start:%H:%M} {end:%H:%M}" for start, end in named_spans("2026-07-08T15:00;2026-07-08T15:45")]
    ['15:00 16:00', '15:45 16:00']
    >>> [f"{start:%H:%M} {end:%H:%M}" for start, end in named_spans("2026-07-08T16:00/16:15")]
    ['16:00 16:15']

    Raises
    ------
    ValueError
        Not a local time on a quarter of an hour, or an end that is not after it on the same day.
    """
    return [_span(part.strip()) for part in text.split(";") if part.strip()]


def _span(part: str) -> tuple[pd.Timestamp, pd.Timestamp]:
    first, slash, last = part.partition("/")
    start = pd.Timestamp(first)
    if start is pd.NaT or start.tzinfo is not None:
        raise ValueError(f"{part!r} is not a local time without zone")
    if slash:
        hour, _, minute = last.partition(":")
        end = start.normalize() + pd.Timedelta(hours=int(hour), minutes=int(minute or 0))
    else:
        end = start + (pd.Timedelta(minutes=MINUTES_PER_QUARTER) if start.minute else pd.Timedelta(hours=1))
    quarter = f"{MINUTES_PER_QUARTER}min"
    if start != start.floor(quarter) or end != end.floor(quarter) or not end > start:
        raise ValueError(f"{part!r} is not from one quarter of an hour to a later one")
    return start, end


def named_times(text: str) -> list[pd.Timestamp]:
    """Return the starts of the hours a charge names.

    >>> [str(time) for time in named_times("2026-06-24T16:00; 2026-07-20T17:00")]
    ['2026-06-24 16:00:00', '2026-07-20 17:00:00']
    """
    return [start for start, _ in named_spans(text)]


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
