"""From an order to a serving unit: lead time, installation, life and term, in planning weeks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.units import DAYS_PER_WEEK, MONTHS_PER_QUARTER, MONTHS_PER_YEAR, WEEKS_PER_QUARTER

NEVER = -1
"""Ordinal of an order that would enter service after the horizon."""

TOLERANCE_WEEKS = 1e-9


def in_service_ordinal(
    start_weeks: np.ndarray, order_ordinal: np.ndarray, delay_weeks: np.ndarray
) -> np.ndarray:
    """Return the first period that starts no earlier than order + delay, or NEVER.

    Parameters
    ----------
    start_weeks
        Start of each period in weeks since the start of the horizon (13 weeks a quarter), shape (periods,).
    order_ordinal, delay_weeks
        Period of the order and weeks from order to first token, shape (orders,).

    Examples
    --------
    >>> in_service_ordinal(np.array([0., 13., 26.]), np.array([0, 1]), np.array([13., 20.])).tolist()
    [1, -1]
    """
    ready = start_weeks[order_ordinal] + delay_weeks - TOLERANCE_WEEKS
    first = np.searchsorted(start_weeks, ready, side="left")
    return np.where(first < len(start_weeks), first, NEVER)


def planning_weeks(dates: pd.Series, start: pd.Timestamp) -> np.ndarray:
    """Return planning weeks (13 a quarter) from the start of the horizon to each date, negative before it.

    >>> planning_weeks(pd.Series(pd.to_datetime(["2027-04-01", "2026-10-01"])), pd.Timestamp("2027-01-01")).tolist()
    [13.0, -13.0]
    """
    moments = pd.to_datetime(dates)
    months = (moments.dt.year - start.year) * MONTHS_PER_YEAR + (moments.dt.month - start.month)
    days = (moments.dt.day - 1) / moments.dt.days_in_month - (start.day - 1) / start.days_in_month
    return (months + days).to_numpy(float) * (WEEKS_PER_QUARTER / MONTHS_PER_QUARTER)


def whole_days(weeks: pd.Series) -> pd.Series:
    """Return so many weeks as whole days, rounded up: a day begun is a day needed."""
    days = np.ceil(weeks.to_numpy(float) * DAYS_PER_WEEK - TOLERANCE_WEEKS)
    return pd.to_timedelta(days, unit="D").to_series(index=weeks.index)


def ready_dates(
    ordered: pd.Series, weeks: pd.Series, in_service_ordinal: pd.Series, periods: pd.DataFrame
) -> pd.Series:
    """Return the day on which what was ordered is ready: order + weeks, no later than the period it serves from.

    Planning weeks (13 a quarter) and the calendar differ by a day or two: a span that ends a quarter ends with it.
    """
    serves = pd.Series(periods["start_date"].to_numpy()[in_service_ordinal.to_numpy(int)], ordered.index)
    by_weeks = ordered + whole_days(weeks.astype(float))
    return by_weeks.where(by_weeks < serves, serves).astype("datetime64[ns]")


def period_of_day(days: pd.Series, periods: pd.DataFrame) -> np.ndarray:
    """Return the ordinal of the period in which each day falls, the first for a day before it."""
    start = periods["start_date"].to_numpy("datetime64[ns]")
    found = np.searchsorted(start, days.to_numpy("datetime64[ns]"), side="right") - 1
    return np.maximum(found, 0)


def alive_pairs(orders: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return the periods in which each order serves.

    A unit commissioned in period v serves in t when ``start[v] <= start[t] < start[v] + life``: start-of-period
    commissioning, and the unit leaves before the first period that starts at or after its end of life.

    Parameters
    ----------
    orders
        Columns offer, site, cooling, period, in_service_ordinal, service_years.
    periods
        Index period, columns ordinal, start_years.

    Returns
    -------
    DataFrame with the order's label columns and ``alive_period``.
    """
    start = periods["start_years"].to_numpy()
    began = start[orders["in_service_ordinal"].to_numpy(int)]
    end = began + orders["service_years"].to_numpy()
    alive = (start[None, :] >= began[:, None]) & (start[None, :] < end[:, None] - 1e-9)
    order, period = np.nonzero(alive)
    labels = orders[["offer", "site", "cooling", "period"]].iloc[order].reset_index(drop=True)
    return labels.assign(alive_period=periods.index.to_numpy()[period])


def service_years(mode: pd.Series, life_years: pd.Series, term_months: pd.Series) -> pd.Series:
    """Return how long an order serves: life of a purchased unit, term of a lease or reservation."""
    return life_years.where(mode == "purchase", term_months / MONTHS_PER_YEAR)
