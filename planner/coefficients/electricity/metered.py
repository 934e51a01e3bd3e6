"""A metered load laid out for billing: energy and power by interval, month and kind of day."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from planner.inputs.meter_load import checked_load, interval_hours
from planner.inputs.windows import QUARTERS_PER_DAY, QUARTERS_PER_HOUR

WEEKEND = 5


@dataclass(frozen=True)
class Metered:
    """One load in local time.

    Attributes
    ----------
    start
        Start of each interval, datetime64.
    kw, kwh
        Mean power and energy of each interval.
    month
        Ordinal of each interval's month: 0 is the first month of the load.
    months
        Calendar month of each ordinal, as periods.
    quarter
        First quarter hour of the day in each interval, 0..95.
    quarters
        Quarter hours in one interval: 1, 2 or 4.
    weekday
        Monday to Friday.
    """

    start: pd.DatetimeIndex
    kw: np.ndarray
    kwh: np.ndarray
    month: np.ndarray
    months: pd.PeriodIndex
    quarter: np.ndarray
    quarters: int
    weekday: np.ndarray

    @property
    def month_kwh(self) -> np.ndarray:
        """Return energy by month: ndarray (months,), kWh."""
        return self.by_month(self.kwh)

    @property
    def month_peak_kw(self) -> np.ndarray:
        """Return the highest interval of each month: ndarray (months,), kW."""
        return self.peak_by_month(np.ones(len(self.kw), dtype=bool))

    def by_month(self, amounts: np.ndarray) -> np.ndarray:
        """Return the sum of an amount per interval by month."""
        return np.bincount(self.month, weights=amounts, minlength=len(self.months))

    def peak_by_month(self, inside: np.ndarray) -> np.ndarray:
        """Return the highest kW of the intervals inside, by month; 0 in a month without any."""
        peak = np.zeros(len(self.months))
        np.maximum.at(peak, self.month[inside], self.kw[inside])
        return peak

    def known_peaks(self, component: str, weekday: np.ndarray, weekend: np.ndarray) -> dict:
        """Return the highest kW of each month inside a charge's daily windows: what a ratchet looks back at."""
        return dict(
            zip(self.months, self.peak_by_month(self.window_share(weekday, weekend) > 0), strict=True)
        )

    def window_share(self, weekday: np.ndarray, weekend: np.ndarray) -> np.ndarray:
        """Return the share of each interval inside daily windows of quarter hours: ndarray (intervals,)."""
        sums = [np.concatenate([[0], np.cumsum(flags)]) for flags in (weekday, weekend)]
        end = np.minimum(self.quarter + self.quarters, QUARTERS_PER_DAY)
        inside = [(total[end] - total[self.quarter]) / self.quarters for total in sums]
        return np.where(self.weekday, inside[0], inside[1])

    def in_months(self, months: tuple[int, ...]) -> np.ndarray:
        """Return which ordinals are one of some calendar months: ndarray (months,), bool."""
        return np.isin(self.months.month, list(months))

    def holds(self, start_date: pd.Timestamp, end_date: pd.Timestamp) -> np.ndarray:
        """Return which intervals lie between the first and the last day of a charge: ndarray (intervals,)."""
        day = self.start.normalize()
        after = np.ones(len(day), dtype=bool) if pd.isna(start_date) else np.asarray(day >= start_date)
        before = np.ones(len(day), dtype=bool) if pd.isna(end_date) else np.asarray(day <= end_date)
        return after & before

    def month_share(self, inside: np.ndarray) -> np.ndarray:
        """Return the share of each month's intervals that are inside: ndarray (months,)."""
        return self.by_month(inside.astype(float)) / np.bincount(self.month, minlength=len(self.months))


def metered(load: pd.DataFrame, where: str = "load") -> Metered:
    """Return a load laid out for billing.

    Parameters
    ----------
    load
        Columns ``timestamp`` (start of the interval, local time) and ``kw``; checked again here.
    where
        Name used in faults.
    """
    table = checked_load(load, where)
    hours = interval_hours(table)
    start = pd.DatetimeIndex(table["timestamp"])
    period = start.to_period("M")
    months = period.unique()
    return Metered(
        start=start,
        kw=table["kw"].to_numpy(),
        kwh=table["kw"].to_numpy() * hours,
        month=(period.year * 12 + period.month).to_numpy() - (months[0].year * 12 + months[0].month),
        months=months,
        quarter=(start.hour * QUARTERS_PER_HOUR + start.minute // 15).to_numpy(),
        quarters=round(hours * QUARTERS_PER_HOUR),
        weekday=np.asarray(start.day_of_week < WEEKEND),
    )
