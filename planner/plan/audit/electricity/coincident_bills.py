"""Hours named afterwards: the kW a month is billed; and what the horizon's peaks still owe, by them and by ratchets."""

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
        price = _later_price(row, month)
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


def _later_price(row: dict, month: pd.Period) -> float:
    levies = sum(levy["price"] * month_held(levy, month) for levy in row["levies"])
    return float(row["bare"] * month_held(row, month) * (1.0 + levies))


def ratchet_months(
    row: dict, known: Sequence[tuple[int, float]], span: int, season: frozenset[int], rate_fraction: float
) -> list[dict]:
    """Return the months after the horizon that a ratchet bills on its peaks, whatever is drawn then.

    Parameters
    ----------
    known
        Month since year 0 and measured kW of every month of the horizon.
    span, season
        How many months the ratchet looks back at, and which calendar months count.
    """
    last, rows = max(number for number, _ in known), []
    for ahead in range(1, span + 1 if row["ratchet"] > 0 else 0):
        now, month = last + ahead, _month(last + ahead)
        back = [kw for when, kw in known if now - when <= span and when % MONTHS_PER_YEAR + 1 in season]
        price = _later_price(row, month)
        if not back or not price:
            continue
        kw = row["ratchet"] * max(back)
        labels = {"month": str(month), "number": now, "after": True, "measured_kw": 0.0, "billed_kw": kw}
        amounts = {"share": 0.0, "price_per_kw": 0.0, "price_bare": 0.0, "owed": kw * price}
        worth = (1.0 + rate_fraction) ** -((ahead - 0.5) / MONTHS_PER_YEAR)
        rows.append(labels | amounts | {"owed_value": kw * price * worth})
    return rows
