"""Local time of a load: which share of which day a charge holds, for a metered load and for a plan's hour classes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from planner.inputs.calendar import CELL, end_date
from planner.inputs.windows import QUARTERS_PER_DAY, QUARTERS_PER_HOUR, parse_months
from planner.units import DAYS_PER_WEEK, HOURS_PER_DAY, MONTHS_PER_YEAR

WEEKDAYS_PER_WEEK = 5
Row = Mapping[Hashable, Any]
"""A row of the table ``tariffs``, with ``weekday`` and ``weekend`` of :func:`charges.row_windows` where hours count."""


@dataclass(frozen=True)
class Calendar:
    """Rows of local time: the intervals of a metered load, or the hour classes of a site.

    Attributes
    ----------
    month
        Ordinal of each row's billing month: 0 is the first one.
    months
        Calendar month of each ordinal, as periods.
    quarter
        First quarter hour of the day in each row, 0..95.
    quarters
        Quarter hours in one row: 1, 2 or 4.
    weekday
        Share of each row on Monday to Friday: 1 or 0, five sevenths where days are not told apart.
    hours
        Hours of each row.
    day, day_row
        Every day that belongs to a row, and the row it belongs to.
    """

    month: np.ndarray
    months: pd.PeriodIndex
    quarter: np.ndarray
    quarters: int
    weekday: np.ndarray
    hours: np.ndarray
    day: np.ndarray
    day_row: np.ndarray

    def by_month(self, amounts: np.ndarray) -> np.ndarray:
        """Return the sum of an amount per row by month."""
        return np.bincount(self.month, weights=amounts, minlength=len(self.months))

    def in_months(self, months: tuple[int, ...]) -> np.ndarray:
        """Return which ordinals are one of some calendar months: ndarray (months,), bool."""
        return np.isin(self.months.month, list(months))

    @property
    def month_days(self) -> np.ndarray:
        """Return the days of each month: ndarray (months,)."""
        return self.by_month(self.hours) / HOURS_PER_DAY

    def window_share(self, row: Row) -> np.ndarray:
        """Return the share of each row inside a charge's kinds of day and hours: ndarray (rows,)."""
        sums = [np.concatenate([[0], np.cumsum(row[kind])]) for kind in ("weekday", "weekend")]
        end = np.minimum(self.quarter + self.quarters, QUARTERS_PER_DAY)
        weekday, weekend = ((total[end] - total[self.quarter]) / self.quarters for total in sums)
        return self.weekday * weekday + (1.0 - self.weekday) * weekend

    def dates_share(self, row: Row) -> np.ndarray:
        """Return the share of each row's days from the first to the last day of a charge: ndarray (rows,)."""
        if pd.isna(row["start_date"]) and pd.isna(row["end_date"]):
            return np.ones(len(self.month))
        held = held_days(pd.DatetimeIndex(self.day), row).astype(float)
        count = np.bincount(self.day_row, minlength=len(self.month))
        return np.bincount(self.day_row, weights=held, minlength=len(self.month)) / np.maximum(count, 1)

    def share_held(self, row: Row) -> np.ndarray:
        """Return the share of each row in which a charge holds: its months, days, hours and dates."""
        inside = self.in_months(parse_months(row["months"]))[self.month]
        return inside * self.window_share(row) * self.dates_share(row)

    def months_held(self, row: Row) -> np.ndarray:
        """Return the share of each month in which a charge or levy is billed: its months, between its dates."""
        share = self.by_month(self.dates_share(row) * self.hours) / self.by_month(self.hours)
        return share * self.in_months(parse_months(row["months"]))


def held_days(days: pd.DatetimeIndex, row: Row) -> np.ndarray:
    """Return which days lie between the first and the last day of a charge."""
    holds = np.ones(len(days), dtype=bool)
    holds &= True if pd.isna(row["start_date"]) else np.asarray(days >= row["start_date"])
    holds &= True if pd.isna(row["end_date"]) else np.asarray(days <= row["end_date"])
    return holds


def month_held(row: Row, month: int) -> float:
    """Return the share of the days of a month (since year 0) in which a charge or levy holds; 0 outside its months."""
    if month % MONTHS_PER_YEAR + 1 not in parse_months(row["months"]):
        return 0.0
    first = pd.Timestamp(month // MONTHS_PER_YEAR, month % MONTHS_PER_YEAR + 1, 1)
    return float(held_days(pd.date_range(first, periods=first.days_in_month, freq="D"), row).mean())


def local_hours_of(periods: pd.DataFrame, utc_offset_h: float) -> pd.DataFrame:
    """Return every hour of the periods in UTC and by a site's clock.

    A period holds whole days of the site: its first hours in UTC that are the day before at a site west of Greenwich
    stand for the same hours of its last day, which in UTC belong to the next period, and the other way round east of
    it. So a site is billed whole months. A period in hours is billed as one month, the one it starts in, its kinds of
    day in the mean of a week.

    Parameters
    ----------
    periods
        Index ``period``; columns ``start_date``, ``months``, ``hours``.
    utc_offset_h
        Standard-time offset of the clock, rounded to whole hours as everywhere in the calendar.

    Returns
    -------
    DataFrame; columns ``period``, ``month``, ``day_type``, ``hour_utc`` (in UTC), ``bill_month`` (since year 0),
    ``weekday`` (share on Monday to Friday) and ``day`` by the site's clock.
    """
    parts = []
    for row in periods.reset_index().to_dict("records"):
        if np.isnan(row["months"]):
            hours = _hours_of_a_sample(row["start_date"], row["hours"])
        else:
            hours = _hours_of_months(row["start_date"], row["months"], int(np.rint(utc_offset_h)))
        parts.append(hours.assign(period=row["period"]))
    columns = [*CELL, "bill_month", "weekday", "day"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


@lru_cache(maxsize=512)
def _hours_of_months(start: pd.Timestamp, months: float, utc_offset_h: int) -> pd.DataFrame:
    stop = end_date(start, months, np.nan)
    utc = pd.date_range(start, stop, freq="h", inclusive="left")
    local = start + (utc - start + pd.Timedelta(hours=utc_offset_h)) % (stop - start)
    return pd.DataFrame(
        {
            "month": utc.month,
            "day_type": np.where(utc.day_of_week < WEEKDAYS_PER_WEEK, "weekday", "weekend"),
            "hour_utc": utc.hour,
            "bill_month": local.year * MONTHS_PER_YEAR + local.month - 1,
            "weekday": (local.day_of_week < WEEKDAYS_PER_WEEK).astype(float),
            "day": local.normalize(),
        }
    )


def _hours_of_a_sample(start: pd.Timestamp, hours: float) -> pd.DataFrame:
    days = pd.date_range(start.normalize(), end_date(start, np.nan, hours), freq="D", inclusive="left")
    each = pd.DataFrame({"day": days}).merge(
        pd.DataFrame({"hour_utc": np.arange(HOURS_PER_DAY)}), how="cross"
    )
    return each.assign(
        month=start.month,
        day_type="all",
        bill_month=start.year * MONTHS_PER_YEAR + start.month - 1,
        weekday=WEEKDAYS_PER_WEEK / DAYS_PER_WEEK,
    )


def month_label(bill_month: pd.Series) -> pd.Series:
    """Return months since year 0 as text.

    >>> month_label(pd.Series([24324])).tolist()
    ['2027-01']
    """
    year, month = bill_month // MONTHS_PER_YEAR, bill_month % MONTHS_PER_YEAR + 1
    return (year.astype(int).astype("str") + "-" + month.astype(int).astype("str").str.zfill(2)).astype("str")


__all__ = ["QUARTERS_PER_HOUR", "Calendar", "Row", "held_days", "local_hours_of", "month_held", "month_label"]
