"""The rows of the tariffs table as the audit reads them: text of windows, units of prices, levies, tiers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from planner.plan.audit.facts import Facts
from planner.plan.audit.once import once
from planner.units import HOURS_PER_DAY, MONTHS_PER_YEAR

Row = Mapping[Hashable, Any]
LEVIED = ("energy", "demand", "fixed")
YEARLY = ("year", "kw_year")
PER_KW = ("kw_month", "kva_month", "kw_year")
PER_DAY = ("kw_day", "kva_day")
MINUTES_PER_DAY = 1440


def named_months(text: object) -> frozenset[int]:
    """Return the months of a text such as ``11-2;6``, all where it is blank.

    >>> sorted(named_months("11-2;6"))
    [1, 2, 6, 11, 12]
    """
    if not isinstance(text, str) or not text.strip():
        return frozenset(range(1, MONTHS_PER_YEAR + 1))
    found: set[int] = set()
    for part in text.split(";"):
        if part.strip():
            month, *rest = (int(end) for end in part.split("-"))
            last = rest[0] if rest else month
            found.add(month)
            while month != last:
                month = month % MONTHS_PER_YEAR + 1
                found.add(month)
    return frozenset(found)


def hours_inside(text: object) -> np.ndarray:
    """Return the share of each of the 24 hours of a day inside a text such as ``22-07`` or ``08:30-11:30``.

    >>> hours_inside("22:30-01").nonzero()[0].tolist(), float(hours_inside("22:30-01").sum())
    ([0, 22, 23], 2.5)
    """
    if not isinstance(text, str) or not text.strip():
        return np.ones(HOURS_PER_DAY)
    minute = np.zeros(MINUTES_PER_DAY)
    for part in text.split(";"):
        if not part.strip():
            continue
        first, last = (_minute(end) for end in part.split("-"))
        if first < last:
            minute[first:last] = 1.0
        else:
            minute[first:] = 1.0
            minute[:last] = 1.0
    return minute.reshape(HOURS_PER_DAY, -1).mean(axis=1)


def _minute(clock: str) -> int:
    hour, _, minute = clock.strip().partition(":")
    return 60 * int(hour) + int(minute or 0)


def paid_tariffs(facts: Facts) -> set[str]:
    """Return the tariffs that own and colocation sites are billed by."""
    sites = facts.sites
    return set(sites.loc[sites["kind"].ne("cloud"), "tariff"].dropna())


@once
def charges(facts: Facts, kind: str) -> list[dict[Hashable, Any]]:
    """Return the rows of a kind of charge that hold on some day of the horizon, in order of the table.

    To the columns of the table are added ``bare`` (scenario currency per kWh, per kW and month, per month, or for the
    unit as stated), ``held_months``, ``on_weekdays`` and ``on_weekends`` (share of each hour inside), ``levies``.
    A charge on named hours counts before it is billed: it rests on the peaks of earlier months.
    """
    table = facts.scenario.tables["tariffs"]
    first, last = facts.periods["start_date"].min(), facts.periods["end_date"].max()
    levies = table[table["charge"] == "levy"].to_dict("records")
    rates = dict(zip(table["currency"], facts.fx(table["currency"]), strict=True))
    paid, found = paid_tariffs(facts), []
    for row in table[table["charge"] == kind].to_dict("records"):
        begun = pd.isna(row["start_date"]) or row["start_date"] < last or not pd.isna(row["named_hours"])
        lasts = pd.isna(row["end_date"]) or row["end_date"] >= first
        if row["tariff"] in paid and begun and lasts:
            weekdays = hours_inside(row["hours"])
            weekends = weekdays if pd.isna(row["weekend_hours"]) else hours_inside(row["weekend_hours"])
            found.append(
                {
                    **row,
                    "fx": rates[row["currency"]],
                    "bare": unit_price(row) * rates[row["currency"]],
                    "held_months": named_months(row["months"]),
                    "on_weekdays": weekdays * (row["day_type"] != "weekend"),
                    "on_weekends": weekends * (row["day_type"] != "weekday"),
                    "levies": [levy for levy in levies if levied_by(row, levy)],
                }
            )
    return found


def levied_by(row: Row, levy: Row) -> bool:
    """Return whether a levy falls on a charge: on those it names, else on energy, demand and fixed charges."""
    if row["tariff"] != levy["tariff"]:
        return False
    return row["component"] in levy["applies_to"] if levy["applies_to"] else row["charge"] in LEVIED


def unit_price(row: Row) -> float:
    """Return the price per kWh, per kW and month, or per month.

    A price per kVA is divided by kW per kVA; a year has twelve equal months, a price per day stays one.
    """
    price = float(row["price"])
    if row["price_unit"] in ("kvah", "kva_month", "kva_day"):
        price /= float(row["power_factor"])
    return price / MONTHS_PER_YEAR if row["price_unit"] in YEARLY else price


def untiered(rows: list[dict[Hashable, Any]]) -> list[dict[Hashable, Any]]:
    """Return the charges without tiers, and the lowest tier of every ladder, free where it starts above zero."""
    kept = []
    for row in rows:
        if pd.isna(row["tier_of"]):
            kept.append(row)
            continue
        lowest = min(_start(other) for other in ladder_of(rows, row))
        if _start(row) == lowest:
            kept.append({**row, "bare": 0.0} if lowest > 0.0 else row)
    return kept


def ladder_of(rows: list[dict[Hashable, Any]], row: Row) -> list[dict[Hashable, Any]]:
    """Return the tiers of the row's ladder, lowest first, with a free one below where the first starts above zero."""
    same = [one for one in rows if one["tariff"] == row["tariff"] and one["tier_of"] == row["tier_of"]]
    same = sorted(same, key=_start)
    return [{**same[0], "tier_from": 0.0, "bare": 0.0}, *same] if _start(same[0]) > 0.0 else same


def _start(row: Row) -> float:
    return 0.0 if pd.isna(row["tier_from"]) else float(row["tier_from"])


def ladders(rows: list[dict[Hashable, Any]]) -> list[list[dict[Hashable, Any]]]:
    """Return the ladders among these rows, each lowest tier first."""
    names = sorted({(row["tariff"], row["tier_of"]) for row in rows if not pd.isna(row["tier_of"])})
    return [ladder_of(rows, {"tariff": tariff, "tier_of": name}) for tariff, name in names]
