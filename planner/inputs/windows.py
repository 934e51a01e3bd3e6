"""The text forms of months and hours in tariffs: ``1-3;12``, ``07-22;23-24``, and named hours ``2026-06-24T16:00``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from planner.units import HOURS_PER_DAY, MONTHS_PER_YEAR

QUARTERS_PER_HOUR = 4
QUARTERS_PER_DAY = HOURS_PER_DAY * QUARTERS_PER_HOUR
MINUTES_PER_QUARTER = 15
Row = Mapping[Hashable, Any]

_SPAN = re.compile(r"^(\d{1,2})(?::(\d{2}))?\s*-\s*(\d{1,2})(?::(\d{2}))?$")


def parse_months(text: object) -> tuple[int, ...]:
    """Return the months named by a text such as ``1-3;12``; blank means all, ``11-2`` runs over the new year.

    >>> parse_months("11-2;6")
    (1, 2, 6, 11, 12)
    """
    if _is_blank(text):
        return tuple(range(1, MONTHS_PER_YEAR + 1))
    months: set[int] = set()
    for part in _parts(text):
        ends = part.split("-")
        if len(ends) > 2 or not all(end.strip().isdigit() for end in ends):
            raise ValueError(f"{part!r} is not a month or a span of months such as 1-3")
        first, last = int(ends[0]), int(ends[-1])
        if not (1 <= first <= MONTHS_PER_YEAR and 1 <= last <= MONTHS_PER_YEAR):
            raise ValueError(f"{part!r} has a month outside 1 to {MONTHS_PER_YEAR}")
        length = (last - first) % MONTHS_PER_YEAR + 1
        months |= {(first - 1 + step) % MONTHS_PER_YEAR + 1 for step in range(length)}
    return tuple(sorted(months))


def parse_hours(text: object) -> np.ndarray:
    """Return which quarter hours of a day lie in a text such as ``07-22;23-24``; blank means all.

    A span holds its start and not its end; ``22-07`` runs over midnight, ``08:30-11:30`` uses quarter hours,
    ``00-24`` is the whole day.

    Returns
    -------
    ndarray (96,), bool, one entry per quarter hour of the local day.

    Examples
    --------
    >>> int(parse_hours("22-07").sum()) / 4
    9.0
    """
    if _is_blank(text):
        return np.ones(QUARTERS_PER_DAY, dtype=bool)
    inside = np.zeros(QUARTERS_PER_DAY, dtype=bool)
    for part in _parts(text):
        first, last = _quarters(part)
        steps = np.arange(first, last if last > first else last + QUARTERS_PER_DAY)
        inside[steps % QUARTERS_PER_DAY] = True
    return inside


def hour_shares(inside: np.ndarray) -> np.ndarray:
    """Return the share of each of the 24 local hours inside a window of quarter hours: ndarray (24,)."""
    return inside.reshape(HOURS_PER_DAY, QUARTERS_PER_HOUR).mean(axis=1)


def months_text(months: tuple[int, ...]) -> str:
    """Return the shortest text of a set of months, blank for all twelve; inverse of :func:`parse_months`.

    >>> months_text((1, 2, 3, 12))
    '1-3;12'
    """
    if len(set(months)) == MONTHS_PER_YEAR:
        return ""
    flags = np.zeros(MONTHS_PER_YEAR, dtype=bool)
    flags[np.array(months, dtype=int) - 1] = True
    spans = [(start + 1, end) for start, end in _runs(flags)]
    return ";".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def hours_text(inside: np.ndarray) -> str:
    """Return the shortest text of a window of quarter hours, blank for the whole day.

    >>> hours_text(parse_hours("00-07;22-24"))
    '00-07;22-24'
    """
    if inside.all():
        return ""
    return ";".join(f"{_clock(first)}-{_clock(last)}" for first, last in _runs(inside))


def _is_blank(text: object) -> bool:
    return text is None or bool(pd.isna(text)) or not str(text).strip()  # type: ignore[call-overload]


def _parts(text: object) -> list[str]:
    return [part.strip() for part in str(text).split(";") if part.strip()]


def _quarters(part: str) -> tuple[int, int]:
    match = _SPAN.match(part)
    if match is None:
        raise ValueError(f"{part!r} is not a span of hours such as 07-22 or 08:30-11:30")
    minutes = [int(hour) * 60 + int(minute or 0) for hour, minute in (match.group(1, 2), match.group(3, 4))]
    if max(minutes) > HOURS_PER_DAY * 60:
        raise ValueError(f"{part!r} has an hour above 24")
    if any(minute % MINUTES_PER_QUARTER for minute in minutes):
        raise ValueError(f"{part!r} is not on a quarter hour")
    if minutes[0] == minutes[1] or minutes[0] == HOURS_PER_DAY * 60:
        raise ValueError(f"{part!r} holds no time; write 00-24 for the whole day")
    return minutes[0] // MINUTES_PER_QUARTER, minutes[1] // MINUTES_PER_QUARTER


def _runs(flags: np.ndarray) -> list[tuple[int, int]]:
    edges = np.diff(np.concatenate([[0], flags.astype(int), [0]]))
    return list(zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True))


def _clock(quarter: int) -> str:
    hour, rest = divmod(quarter, QUARTERS_PER_HOUR)
    return f"{hour:02d}" if rest == 0 else f"{hour:02d}:{rest * MINUTES_PER_QUARTER:02d}"


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
