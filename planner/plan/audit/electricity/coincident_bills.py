"""Charges on hours named afterwards, recomputed: the kW a month is billed, and what the horizon's peaks still owe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from planner.plan.audit.electricity.tariff_rows import Row, named_months
from planner.units import MONTHS_PER_YEAR


def _named(row: dict) -> pd.PeriodIndex:
    """Return the month of each named hour."""
    parts = [part.partition("/")[0] for part in str(row["named_hours"]).split(";") if part.strip()]
    return pd.DatetimeIndex([part.strip() for part in parts]).to_period("M")


def _months_behind(row: dict, month: pd.Period) -> pd.PeriodIndex:
    """Return the month of every hour a month's bill rests on: the named ones, moved by whole years since then."""
    named = _named(row)
    start = row["start_date"]
    january = pd.Period(year=named.max().year + 1, month=1, freq="M")
    begin = january if pd.isna(start) else pd.Timestamp(start).to_period("M")
    years = (month.ordinal - begin.ordinal) // MONTHS_PER_YEAR
    return named + MONTHS_PER_YEAR * years


def _month(number: int) -> pd.Period:
    return pd.Period(year=number // MONTHS_PER_YEAR, month=number % MONTHS_PER_YEAR + 1, freq="M")


def coincident_kw(
    row: dict, number: int, measured: Mapping[pd.Period, Sequence[float]], earlier: Mapping[pd.Period, float]
) -> tuple[float, float]:
    """Return the mean kW a month's bill rests on: from the horizon, and from the history.

    Parameters
    ----------
    number
        The month, since year 0.
    measured
        Peaks of the horizon; one month may lie in two periods.
    earlier
        Peaks before it.
    """
    behind = _months_behind(row, _month(number))
    inside = sum(float(np.mean(measured[month])) for month in behind if month in measured)
    return inside / len(behind), sum(earlier.get(month, 0.0) for month in behind) / len(behind)


def owed_per_kw(row: dict, numbers: Sequence[int], rate_fraction: float) -> dict[int, tuple[float, float]]:
    """Return what one kW of each month's peak is billed after the last month: the sum, and its value on the last day.

    Paid in the middle of each month, at the price and levies of that month.
    """
    last = _month(max(numbers))
    rows_of = {number: numbers.count(number) for number in numbers}
    owed = dict.fromkeys(rows_of, (0.0, 0.0))
    if not row["bare"]:
        return owed
    named = _named(row)
    furthest = max(0, (last - named.min()).n) + 2 * MONTHS_PER_YEAR
    for ahead in range(1, furthest + 1):
        month = last + ahead
        behind = _months_behind(row, month)
        if behind.min() > last:
            break
        levies = sum(levy["price"] * month_held(levy, month) for levy in row["levies"])
        price = row["bare"] * month_held(row, month) * (1.0 + levies)
        worth = (1.0 + rate_fraction) ** -((ahead - 0.5) / MONTHS_PER_YEAR)
        for number, count in rows_of.items():
            part = price * float((behind == _month(number)).sum()) / len(behind) / count
            owed[number] = (owed[number][0] + part, owed[number][1] + part * worth)
    return owed


def month_held(row: Row, month: pd.Period) -> float:
    """Return the share of the days of a month on which a charge or levy holds, in its months."""
    if month.month not in named_months(row["months"]):
        return 0.0
    days = pd.date_range(month.start_time.normalize(), month.end_time.normalize(), freq="D")
    holds = np.ones(len(days), dtype=bool)
    holds &= True if pd.isna(row["start_date"]) else days >= row["start_date"]
    holds &= True if pd.isna(row["end_date"]) else days <= row["end_date"]
    return float(holds.mean())
