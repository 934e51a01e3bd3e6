"""Dates, lengths and discount factors of the periods, and the hours of the calendar, counted one by one."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs import Scenario, Settings
from planner.units import (
    DAYS_PER_WEEK,
    HOURS_PER_DAY,
    HOURS_PER_YEAR,
    MONTHS_PER_QUARTER,
    MONTHS_PER_YEAR,
    WEEKS_PER_QUARTER,
)

CELL = ["period", "month", "day_type", "hour_utc"]
ROUNDING = 1e-9
"""Weeks and years nearer than this are the same moment."""


def yearly_rate(settings: Settings) -> float:
    """Return the discount rate of money as it is paid: a real rate grows by inflation."""
    rate = settings.discount_rate_fraction
    if settings.money_terms == "real":
        rate += settings.inflation_fraction_per_year * (1.0 + rate)
    return rate


def present_value(rate_fraction: float, years: float) -> float:
    """Return the value today of one unit of money paid after some years: ``1 / (1 + r)^years``.

    >>> round(present_value(0.21, 0.5), 6)
    0.909091
    """
    return float(1.0 / (1.0 + rate_fraction) ** years)


def walked_months(start: pd.Timestamp, end: pd.Timestamp) -> float:
    """Return the calendar months from one day to a later one, walked one by one; the last by its share of its days.

    >>> round(walked_months(pd.Timestamp("2028-02-01"), pd.Timestamp("2028-03-16")), 6)
    1.483871
    """
    count = 0
    while start + pd.DateOffset(months=count + 1) <= end:
        count += 1
    reached, following = (start + pd.DateOffset(months=count + more) for more in (0, 1))
    return count + float((end - reached) / (following - reached))


def walked_periods(scenario: Scenario) -> pd.DataFrame:
    """Return the periods in order, their dates, lengths and discount factors, walking from one to the next.

    A month is 1/12 year and 13/3 planning weeks, a period in hours is hours/8760 year, hours/168 weeks and so many
    calendar months, a broken one by its days.

    Returns
    -------
    DataFrame, index ``period``: ordinal, start_date, end_date, hours, years, months, start_weeks,
    start_years, running_years, discount_start, discount_mid (of what is paid in the course of the period),
    discount_end (of the horizon).
    """
    rate = yearly_rate(scenario.settings)
    share = {"start": 0.0, "mid": 0.5, "end": 1.0}[scenario.settings.discount_timing]
    rows = []
    weeks = years = 0.0
    for row in scenario.tables["periods"].sort_values("start_date", kind="stable").to_dict("records"):
        start = row["start_date"]
        in_months = not pd.isna(row["months"])
        end = start + (
            pd.DateOffset(months=int(row["months"])) if in_months else pd.Timedelta(hours=row["hours"])
        )
        hours = (end - start) / pd.Timedelta(hours=1)
        length_years = row["months"] / MONTHS_PER_YEAR if in_months else row["hours"] / HOURS_PER_YEAR
        rows.append(
            {
                "period": row["period"],
                "start_date": start,
                "end_date": end,
                "hours": hours if in_months else row["hours"],
                "years": length_years,
                "months": float(row["months"]) if in_months else walked_months(start, end),
                "start_weeks": weeks,
                "start_years": years,
                "discount_start": present_value(rate, years),
                "discount_mid": present_value(rate, years + length_years * share),
                "running_years": years + length_years * share,
                "stated_in_hours": not in_months,
            }
        )
        per_month = WEEKS_PER_QUARTER / MONTHS_PER_QUARTER
        weeks += row["months"] * per_month if in_months else row["hours"] / (HOURS_PER_DAY * DAYS_PER_WEEK)
        years += length_years
    frame = pd.DataFrame(rows).set_index("period")
    return frame.assign(ordinal=np.arange(len(frame)), discount_end=present_value(rate, years))


def counted_cells(periods: pd.DataFrame) -> pd.DataFrame:
    """Return hours of every (period, month, weekday or weekend, UTC hour), counting the hours of the
    calendar.

    A period stated in hours is 24 equal cells of day type ``all`` in the month it starts in, or one if
    shorter than a day.
    """
    parts = []
    for row in periods.reset_index().to_dict("records"):
        period = row["period"]
        if row["stated_in_hours"]:
            count = HOURS_PER_DAY if row["hours"] >= HOURS_PER_DAY else 1
            cells = pd.DataFrame(
                {"month": row["start_date"].month, "day_type": "all", "hour_utc": range(count)}
            )
            parts.append(cells.assign(hours=row["hours"] / count, period=period))
            continue
        moments = pd.date_range(row["start_date"], row["end_date"], freq="h", inclusive="left")
        kind = np.where(moments.day_of_week >= 5, "weekend", "weekday")
        cells = pd.DataFrame({"month": moments.month, "day_type": kind, "hour_utc": moments.hour})
        parts.append(cells.value_counts().rename("hours").reset_index().assign(period=period))
    every = pd.concat(parts, ignore_index=True)
    return every[[*CELL, "hours"]].astype({"period": "str", "day_type": "str", "hours": float})


def first_period_from(periods: pd.DataFrame, weeks: np.ndarray) -> np.ndarray:
    """Return the ordinal of the first period that starts at or after each moment; their number when none
    does.
    """
    starts = periods["start_weeks"].to_numpy(float)
    not_yet = starts[None, :] < np.asarray(weeks, dtype=float)[:, None] - ROUNDING
    return not_yet.sum(axis=1)


def serving_periods(periods: pd.DataFrame, first: np.ndarray, service_years: np.ndarray) -> np.ndarray:
    """Return which periods a unit serves: those that start from its first one on and before its end of
    service.

    Returns
    -------
    ndarray (units, periods), bool; no period for a unit that arrives after the horizon or whose life is
    unknown.
    """
    start = periods["start_years"].to_numpy(float)
    arrives = first < len(start)
    began = start[np.minimum(first, len(start) - 1)]
    end = began + service_years - ROUNDING
    with np.errstate(invalid="ignore"):
        serves = (start[None, :] >= began[:, None]) & (start[None, :] < end[:, None])
    return serves & arrives[:, None]
