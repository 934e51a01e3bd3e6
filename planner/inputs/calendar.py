"""The planning horizon as real calendar hours."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd

from planner.inputs.scenario import Scenario
from planner.units import (
    DAYS_PER_WEEK,
    HOURS_PER_DAY,
    HOURS_PER_YEAR,
    MONTHS_PER_YEAR,
    weeks_from_months,
)

HOURS_PER_WEEK = HOURS_PER_DAY * DAYS_PER_WEEK
CELL = ["period", "month", "day_type", "hour_utc"]
"""What tells the distinct hours of the calendar apart."""
RECKONED = {"start": 0.0, "mid": 0.5, "end": 1.0}
"""Setting ``discount_timing`` -> how far into a period its running cost is reckoned."""


def local_hours(hour_utc: np.ndarray, utc_offset_h: np.ndarray | float) -> np.ndarray:
    """Return the local clock hour, 0..23, of each UTC hour: (hour_utc + round(offset)) mod 24.

    >>> local_hours(np.array([0, 20]), 5.5).tolist()
    [6, 2]
    """
    return np.mod(np.asarray(hour_utc) + np.rint(utc_offset_h), HOURS_PER_DAY).astype(int)


def end_date(start_date: pd.Timestamp, months: float, hours: float) -> pd.Timestamp:
    """Return the first moment after a period of so many months, or else of so many hours.

    >>> end_date(pd.Timestamp("2028-01-01"), 3, float("nan")).date().isoformat()
    '2028-04-01'
    """
    if not np.isnan(months):
        return start_date + pd.DateOffset(months=int(months))
    return start_date + pd.Timedelta(hours=hours)


def months_between(start: pd.Timestamp, end: pd.Timestamp) -> float:
    """Return the calendar months from one moment to another: whole ones, and the broken one by its days.

    A broken month is its hours over the hours of the month that begins on the last whole month's day.

    >>> months_between(pd.Timestamp("2028-01-01"), pd.Timestamp("2029-01-01"))
    12.0
    >>> round(months_between(pd.Timestamp("2027-01-15"), pd.Timestamp("2027-03-01")), 6)
    1.5
    """
    if end < start:
        return -months_between(end, start)
    whole = (end.year - start.year) * MONTHS_PER_YEAR + end.month - start.month
    while start + pd.DateOffset(months=whole) > end:
        whole -= 1
    last, following = start + pd.DateOffset(months=whole), start + pd.DateOffset(months=whole + 1)
    return whole + float((end - last) / (following - last))


def after_months(start: pd.Timestamp, months: float) -> pd.Timestamp:
    """Return the day so many calendar months after a day; a broken month by its share of the month it falls in.

    >>> after_months(pd.Timestamp("2027-01-15"), 1.5).isoformat()
    '2027-03-01T00:00:00'
    """
    whole = int(np.floor(months + 1e-9))
    last, following = start + pd.DateOffset(months=whole), start + pd.DateOffset(months=whole + 1)
    return last + max(months - whole, 0.0) * (following - last)


def years_between(start: pd.Timestamp, dates: pd.Series) -> np.ndarray:
    """Return the years of twelve calendar months from a day to each date, negative before it, NaN where blank."""
    return np.array(
        [
            np.nan if pd.isna(date) else months_between(start, pd.Timestamp(date)) / MONTHS_PER_YEAR
            for date in dates
        ],
        dtype=float,
    )


def period_frame(scenario: Scenario) -> pd.DataFrame:
    """Return the periods in order of time, with their length and distance from the start of the horizon.

    calendar_months = months, of a period in hours the calendar months it lasts, a broken one by its days
    start_weeks  = 13/3 * months before it + hours before it / 168     (a quarter is 13 planning weeks)
    start_years  = months before it / 12 + hours before it / 8760
    mid_years    = start_years + half of the period's own length
    running_years = start_years + 0, half or all of it: where running cost is reckoned (setting ``discount_timing``)

    Returns
    -------
    DataFrame, index ``period``; columns ``ordinal`` (0, 1, ...), ``start_date``, ``months`` (NaN when the
    length is given in hours), ``calendar_months``, ``hours`` (actual calendar hours, leap days included),
    ``start_weeks``, ``start_years``, ``mid_years``, ``running_years``.
    """
    periods = scenario.tables["periods"].sort_values("start_date", kind="stable")
    starts = periods["start_date"]
    ends = [end_date(*row) for row in zip(starts, periods["months"], periods["hours"], strict=True)]
    months = periods["months"].to_numpy()
    by_hours = np.isnan(months)
    stated_hours = np.where(by_hours, periods["hours"].to_numpy(), 0.0)
    stated_months = np.where(by_hours, 0.0, months)
    calendar_hours = np.array(
        [(end - start) / pd.Timedelta(hours=1) for start, end in zip(starts, ends, strict=True)], dtype=float
    )
    weeks = weeks_from_months(1) * stated_months + stated_hours / HOURS_PER_WEEK
    years = stated_months / MONTHS_PER_YEAR + stated_hours / HOURS_PER_YEAR
    before_years = np.concatenate([[0.0], np.cumsum(years)[:-1]])[: len(years)]
    return pd.DataFrame(
        {
            "ordinal": np.arange(len(periods)),
            "start_date": starts.to_numpy(),
            "months": months,
            "calendar_months": [
                months_between(start, end) if hourly else stated
                for start, end, hourly, stated in zip(starts, ends, by_hours, months, strict=True)
            ],
            "hours": np.where(by_hours, stated_hours, calendar_hours),
            "start_weeks": np.concatenate([[0.0], np.cumsum(weeks)[:-1]])[: len(weeks)],
            "start_years": before_years,
            "mid_years": before_years + years / 2,
            "running_years": before_years + years * RECKONED[scenario.settings.discount_timing],
        },
        index=pd.Index(periods["period"].to_numpy(), name="period", dtype="str"),
    )


def calendar_cells(scenario: Scenario) -> pd.DataFrame:
    """Return every distinct hour class of every period; ``hours`` sum to the hours of the period.

    A period in months has the cells (calendar month, weekday | weekend, UTC hour), each as many hours as
    there are such days in the actual calendar. A period in hours has day type ``all`` and the month of its
    first day: 24 cells of hours/24, or one cell at UTC hour 0 when it is shorter than a day.

    Returns
    -------
    DataFrame, RangeIndex; columns ``period``, ``month``, ``day_type``, ``hour_utc``, ``hours``.
    """
    frame = period_frame(scenario)
    parts = [
        _hour_cells(period, start, hours) if np.isnan(months) else _month_cells(period, start, months)
        for period, start, months, hours in zip(
            frame.index, frame["start_date"], frame["months"], frame["hours"], strict=True
        )
    ]
    if not parts:
        parts = [_hour_cells("", pd.Timestamp(0), 0.0).iloc[:0]]
    cells = pd.concat(parts, ignore_index=True)
    return cells.astype({"period": "str", "day_type": "str"})


def _month_cells(period: str, start: pd.Timestamp, months: float) -> pd.DataFrame:
    cells = _month_hours(start, months).assign(period=period)
    return cells[[*CELL, "hours"]]


@lru_cache(maxsize=1024)
def _month_hours(start: pd.Timestamp, months: float) -> pd.DataFrame:
    """Return month, day_type, hour_utc, hours of so many months; kept, because every stage and sweep asks again."""
    days = pd.date_range(start, end_date(start, months, np.nan), inclusive="left")
    kinds = pd.DataFrame(
        {"month": days.month, "day_type": np.where(days.day_of_week < 5, "weekday", "weekend")}
    )
    counts = kinds.groupby(["month", "day_type"], sort=False).size().rename("hours").reset_index()
    cells = counts.merge(pd.DataFrame({"hour_utc": np.arange(HOURS_PER_DAY)}), how="cross")
    return cells.astype({"hours": float})


def _hour_cells(period: str, start: pd.Timestamp, hours: float) -> pd.DataFrame:
    count = HOURS_PER_DAY if hours >= HOURS_PER_DAY else 1
    return pd.DataFrame(
        {
            "period": period,
            "month": start.month,
            "day_type": "all",
            "hour_utc": np.arange(count),
            "hours": hours / count,
        }
    )
