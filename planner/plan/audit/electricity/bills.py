"""One bill of the hours of a site, charge by charge, from the rows of its tariff: prices, months, tiers, minimums.

It shares nothing with the bill inside the model: every hour of the horizon is read on its own, and every row of the
tariff is applied to it as its text says.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from planner.plan.audit.electricity.site_hours import SiteHours
from planner.plan.audit.electricity.tariff_rows import (
    PER_KW,
    YEARLY,
    Row,
    charges,
    ladders,
    named_months,
    untiered,
)
from planner.plan.audit.facts import Facts
from planner.tables import HOURS
from planner.units import HOURS_PER_DAY, MONTHS_PER_YEAR

Rows = list[dict[Hashable, Any]]
Amounts = dict[str, np.ndarray]
"""Component -> amount by billing month, before levies."""


def levied(meter: SiteHours, row: Row) -> np.ndarray:
    """Return 1 + the levies on a charge, each by the share of the month's days it holds, by billing month."""
    factor = np.ones(len(meter.months))
    for levy in row["levies"]:
        factor += levy["price"] * meter.held(levy, named_months(levy["months"]))
    return factor


def held_hours(meter: SiteHours, row: Row) -> np.ndarray:
    """Return the share of each hour in which a charge holds: its months, days, hours and dates."""
    return meter.in_months(row["held_months"])[meter.at] * meter.dated(row) * meter.window(row)


def bare_price(facts: Facts, meter: SiteHours, row: Row) -> np.ndarray:
    """Return the price of an energy charge in each hour before levies: its own, added to its market's."""
    price = np.full(len(meter.hours), float(row["bare"]))
    if pd.isna(row["market"]):
        return price
    table = facts.scenario.tables["wholesale"]
    quoted = table[table["market"] == row["market"]]
    rates = facts.fx(quoted["currency"])
    by_month = np.full((MONTHS_PER_YEAR, len(HOURS)), np.nan)
    by_month[quoted["month"].to_numpy(int) - 1] = quoted[list(HOURS)].to_numpy(float) * rates[:, None]
    month = meter.hours["number"].to_numpy(int) % MONTHS_PER_YEAR
    return price + by_month[month, meter.hours["hour"].to_numpy(int)]


def energy_price(facts: Facts, meter: SiteHours, tariff: str) -> pd.Series:
    """Return the mean price of a kWh in each block at the lowest tier, levies included, index (period, block)."""
    price = np.zeros(len(meter.hours))
    for row in untiered(charges(facts, "energy")):
        if row["tariff"] == tariff:
            price += held_hours(meter, row) * bare_price(facts, meter, row) * levied(meter, row)[meter.at]
    rows = meter.hours[["period", "block"]].assign(paid=price * meter.weight, weight=meter.weight)
    both = rows.groupby(["period", "block"], sort=False)[["paid", "weight"]].sum()
    return both["paid"] / both["weight"]


def energy_amounts(facts: Facts, meter: SiteHours, tariff: str, kwh: np.ndarray) -> Amounts:
    """Return what energy is charged at the lowest tier before levies, by component and billing month."""
    amounts: Amounts = {}
    for row in untiered(charges(facts, "energy")):
        if row["tariff"] == tariff:
            paid = meter.by_month(kwh * held_hours(meter, row) * bare_price(facts, meter, row))
            amounts[row["component"]] = amounts.get(row["component"], 0.0) + paid
    return amounts


def fixed_amounts(facts: Facts, tariff: str) -> pd.DataFrame:
    """Return what the fixed charges of a tariff bill: component, period, month, amount and ``bare`` (before levies).

    A month is billed by the share of its days in the period on which the charge holds, a price per day for those
    days; a period in hours its share of a mean month. Levies count by the share of the same days.
    """
    rows = []
    for row in charges(facts, "fixed"):
        if row["tariff"] != tariff:
            continue
        for period in facts.periods.reset_index().to_dict("records"):
            for month, days in _days(period).items():
                share = period["months"] if period["stated_in_hours"] else 1.0
                daily = row["price_unit"] == "day"
                count = (365 / MONTHS_PER_YEAR if period["stated_in_hours"] else len(days)) if daily else 1.0
                bare = row["bare"] * count * share * _share_of(days, row, row["held_months"])
                factor = 1.0 + sum(
                    levy["price"] * _share_of(days, levy, named_months(levy["months"]))
                    for levy in row["levies"]
                )
                rows.append(
                    {
                        "component": row["component"],
                        "period": period["period"],
                        "month": month,
                        "amount": bare * factor,
                        "bare": bare,
                    }
                )
    return pd.DataFrame(rows, columns=["component", "period", "month", "amount", "bare"])


def _days(period: Mapping[Hashable, Any]) -> dict[str, pd.DatetimeIndex]:
    start = period["start_date"]
    if period["stated_in_hours"]:
        return {f"{start:%Y-%m}": pd.DatetimeIndex([start.normalize()])}
    days = pd.date_range(start, period["end_date"], freq="D", inclusive="left")
    label = days.strftime("%Y-%m")
    return {month: days[label == month] for month in dict.fromkeys(label)}


def _share_of(days: pd.DatetimeIndex, row: Row, months: frozenset[int]) -> float:
    holds = np.isin(days.month, list(months))
    holds &= True if pd.isna(row["start_date"]) else days >= row["start_date"]
    holds &= True if pd.isna(row["end_date"]) else days <= row["end_date"]
    return float(holds.mean())


def filled(use: float, starts: Sequence[float], steps: np.ndarray | Sequence[float]) -> list[float]:
    """Return what the use inside each tier costs above the lowest one's price.

    >>> filled(250.0, [0.0, 100.0, 200.0], [0.0, 0.5, 2.0])
    [0.0, 50.0, 100.0]
    """
    ends = [*starts[1:], np.inf]
    return [
        max(min(use, end) - start, 0.0) * step for start, end, step in zip(starts, ends, steps, strict=True)
    ]


def energy_tiers(
    facts: Facts, meter: SiteHours, tariff: str, kwh: np.ndarray, kw: np.ndarray
) -> pd.DataFrame:
    """Return what energy ladders cost above their lowest tier by month: ladder, component, period, month, amount, bare.

    The month's whole use fills a ladder; starts per day are as many times higher as the month has days. Ladders of
    several windows with the same starts are filled once, their steps weighted by the hours of their windows.
    """
    alike: dict[tuple, list[Rows]] = {}
    for ladder in ladders(charges(facts, "energy")):
        if ladder[0]["tariff"] == tariff:
            starts = tuple(0.0 if pd.isna(row["tier_from"]) else float(row["tier_from"]) for row in ladder)
            alike.setdefault((ladder[0]["tier_unit"], starts), []).append(ladder)
    used, hours = meter.by_month(kwh), meter.by_month(meter.weight)
    peak = meter.peaks(kw, np.ones(len(kw), dtype=bool))
    parts = []
    for (unit, starts), same in alike.items():
        steps, bare = (np.zeros((len(starts), len(used))) for _ in range(2))
        for ladder in same:
            lowest = ladder[0]["bare"] * levied(meter, ladder[0])
            for tier, row in enumerate(ladder):
                share = meter.by_month(held_hours(meter, row) * meter.weight) / hours
                steps[tier] += share * (row["bare"] * levied(meter, row) - lowest)
                bare[tier] += share * (row["bare"] - ladder[0]["bare"])
        scale = peak if str(unit).startswith("kwh_per_kw") else np.ones(len(used))
        scale = scale * hours / HOURS_PER_DAY if str(unit).endswith("_day") else scale
        amounts = [
            [
                np.sum(filled(used[at], [start * scale[at] for start in starts], table[:, at]))
                for at in range(len(used))
            ]
            for table in (steps, bare)
        ]
        parts.append(
            meter.months[["period", "month"]].assign(
                ladder=" + ".join(str(ladder[0]["tier_of"]) for ladder in same),
                component=same[0][0]["component"],
                amount=amounts[0],
                bare=amounts[1],
            )
        )
    return _joined(parts)


def demand_tiers(
    facts: Facts,
    meter: SiteHours,
    tariff: str,
    billed_kw: Mapping[str, np.ndarray],
    share: Mapping[str, np.ndarray],
) -> pd.DataFrame:
    """Return what the billed kW of each ladder cost above its lowest tier, as :func:`energy_tiers` does.

    Parameters
    ----------
    billed_kw, share
        By component of the ladder that is billed: kW by month, and the share of the month it holds.
    """
    parts = []
    for ladder in ladders(charges(facts, "demand")):
        billed = [row["component"] for row in ladder if row["component"] in billed_kw]
        if ladder[0]["tariff"] != tariff or not billed:
            continue
        starts = [0.0 if pd.isna(row["tier_from"]) else float(row["tier_from"]) for row in ladder]
        prices = np.array([row["bare"] * levied(meter, row) for row in ladder])
        bare = np.array([row["bare"] for row in ladder])[:, None] * np.ones_like(prices)
        amounts = [
            [
                np.sum(filled(kw, starts, (table[:, at] - table[0, at]) * share[billed[0]][at]))
                for at, kw in enumerate(billed_kw[billed[0]])
            ]
            for table in (prices, bare)
        ]
        parts.append(
            meter.months[["period", "month"]].assign(
                ladder=ladder[0]["tier_of"],
                component=ladder[0]["component"],
                amount=amounts[0],
                bare=amounts[1],
            )
        )
    return _joined(parts)


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    names = ["period", "month", "ladder", "component", "amount", "bare"]
    return pd.concat(parts, ignore_index=True)[names] if parts else pd.DataFrame(columns=names)


def minimum_rows(facts: Facts, tariff: str, contract_kw: float) -> Rows:
    """Return the minimum bills of a tariff that a site can be asked for, the monthly ones first.

    Those per kW need the site's contract.
    """
    rows = [
        row
        for row in charges(facts, "minimum")
        if row["tariff"] == tariff and not (row["price_unit"] in PER_KW and np.isnan(contract_kw))
    ]
    return sorted(rows, key=lambda row: row["price_unit"] in YEARLY)


def minimum_owed(meter: SiteHours, row: Row, contract_kw: float) -> np.ndarray:
    """Return the least that is owed in each billing month: money, or the share of the contract that is owed."""
    size = np.full(len(meter.months), float(row["bare"]))
    if row["price_unit"] == "day":
        numbers = meter.months["number"].to_numpy(int)
        size = size * [pd.Period(year=at // 12, month=at % 12 + 1, freq="M").days_in_month for at in numbers]
    if row["price_unit"] in PER_KW:
        size = size * contract_kw * (1.0 if pd.isna(row["contract_fraction"]) else row["contract_fraction"])
    return size * meter.held(row, row["held_months"])


def top_ups(owed: np.ndarray, charged: np.ndarray, yearly: bool) -> np.ndarray:
    """Return what charges leave open of a minimum: month by month, or over each twelve in the last of them.

    >>> top_ups(np.array([10.0, 10.0]), np.array([4.0, 15.0]), False).tolist()
    [6.0, 0.0]
    >>> top_ups(np.array([10.0, 10.0]), np.array([4.0, 15.0]), True).tolist()
    [0.0, 1.0]
    """
    if not yearly:
        return np.maximum(owed - charged, 0.0)
    amount = np.zeros(len(owed))
    for first in range(0, len(owed), MONTHS_PER_YEAR):
        months = slice(first, min(first + MONTHS_PER_YEAR, len(owed)))
        amount[months.stop - 1] = max(owed[months].sum() - charged[months].sum(), 0.0)
    return amount
