"""What the path to usable power carries by then, recomputed from site_modules and the plan's orders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from planner.plan.audit.clock import first_period_from
from planner.plan.audit.facts import at
from planner.plan.audit.once import once
from planner.plan.audit.report import keyed
from planner.units import MONTHS_PER_QUARTER, MONTHS_PER_YEAR, WEEKS_PER_QUARTER

if TYPE_CHECKING:
    from planner.plan.audit.books import Books

ITEM = ["site", "item", "period"]
MODULE = ["site", "module"]


@once
def lead(books: Books) -> pd.Series:
    """Return weeks from order to power by (site, module), of the scenario's case."""
    table = books.facts.scenario.tables["site_modules"].set_index(MODULE)
    case = books.facts.scenario.settings.lead_case
    if case == "base":
        return table["lead_weeks"].astype(float)
    stated = table[f"lead_weeks_{case}"]
    return stated.where(stated.notna(), table["lead_weeks"]).astype(float)


@once
def first_powered(books: Books) -> np.ndarray:
    """Return the ordinal of the first period in which each row of ``modules`` carries power."""
    rows = books["modules"]
    weeks = books.period_of(rows, "start_weeks") + at(lead(books), rows, MODULE)
    return first_period_from(books.facts.periods, weeks.to_numpy(float))


@once
def batches(books: Books) -> pd.DataFrame:
    """Return the modules of each site in the lots they come in: those that need no decision, and those of each order.

    Returns
    -------
    DataFrame: site, module, item, kw (of one), units, first (ordinal of the first period they carry power in), date
    (day they were ordered, or energised where that is known; blank for those always there), weeks (from that day on),
    ordered (period of the plan's order, blank for the others).
    """
    periods = books.facts.periods
    start, waits = periods["start_date"].iloc[0], lead(books)
    rows: list[dict[str, Any]] = []
    table = books.facts.scenario.tables["site_modules"]
    for row in table.to_dict("records"):
        known, asked = row["energised_date"], row["ordered_date"]
        alone = not (pd.isna(known) and pd.isna(asked))
        units = float(alone) if pd.isna(row["existing_modules"]) else float(row["existing_modules"])
        weeks = float(waits[row["site"], row["module"]]) if alone and pd.isna(known) else 0.0
        date = known if not pd.isna(known) else asked
        ready = _weeks(date, start) + weeks if alone else -np.inf
        first = int(first_period_from(periods, np.array([ready]))[0])
        rows.append(
            _kind(row) | {"units": units, "first": first, "date": date, "weeks": weeks, "ordered": ""}
        )
    kinds = {(row["site"], row["module"]): row for row in table.to_dict("records")}
    for row, first in zip(books["modules"].to_dict("records"), first_powered(books), strict=True):
        about = kinds[row["site"], row["module"]]
        rows.append(
            _kind(about)
            | {
                "units": float(row["modules"]),
                "first": int(first),
                "date": periods["start_date"][row["period"]],
            }
            | {"weeks": float(waits[row["site"], row["module"]]), "ordered": str(row["period"])}
        )
    return pd.DataFrame(rows, columns=[*MODULE, "item", "kw", "units", "first", "date", "weeks", "ordered"])


def _kind(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in (*MODULE, "item")} | {"kw": float(row["kw"])}


@once
def orderable_from(books: Books) -> dict[tuple[str, str], tuple[float, int, pd.Timestamp | None, float]]:
    """Return by (site, module) how many can be ordered, the first period they can carry power in, the day they can
    first be ordered, None where that is after the last period, and their weeks from order to power.
    """
    periods, waits = books.facts.periods, lead(books)
    found: dict[tuple[str, str], tuple[float, int, pd.Timestamp | None, float]] = {}
    for row in books.facts.scenario.tables["site_modules"].to_dict("records"):
        label, after = (row["site"], row["module"]), row["earliest_order_date"]
        if not (pd.isna(row["energised_date"]) and pd.isna(row["ordered_date"])):
            continue
        able = periods if pd.isna(after) else periods[periods["start_date"] >= after]
        most = 1.0 if pd.isna(row["max_modules"]) else float(row["max_modules"])
        weeks = float(waits[label])
        begins = able["start_weeks"].iloc[0] + weeks if len(able) else np.inf
        first = int(first_period_from(periods, np.array([begins]))[0])
        day = able["start_date"].iloc[0] if first < len(periods) else None
        found[label] = (most, first, day, weeks)
    return found


def carrying(redundancy: object, there: float, could: float, relaxed: bool) -> float:
    """Return how many of the modules in place carry: N of N+k, N of 2N, N of 2(N+1); k, N and N+2 stand by.

    In a relaxation parts of them do, each with its part of those that stand by when as many are in place as ``could``.

    >>> [carrying(name, 6.0, 6.0, False) for name in ("N", "N+1", "N+2", "2N", "2N+1", "2(N+1)")]
    [6.0, 5.0, 4.0, 3.0, 2.0, 2.0]
    >>> carrying("N+1", 0.75, 3.0, True)
    0.5
    """
    if not isinstance(redundancy, str) or redundancy == "N":
        return there
    paths = 2.0 if redundancy.startswith("2") else 1.0
    beside = float(redundancy.rstrip(")").rpartition("+")[2]) if "+" in redundancy else 0.0
    beside *= paths if "(" in redundancy else 1.0
    if not relaxed:
        return max(float(np.floor((there - beside) / paths + 1e-6)), 0.0)
    most = carrying(redundancy, could, could, False)
    return there / paths if beside == 0.0 else most * min(1.0, there / (paths * most + beside))


@once
def in_place(books: Books) -> pd.DataFrame:
    """Return site, module, item, period, redundancy, kw, in_place, standing_by, carrying of every kind and period."""
    periods, lots = books.facts.periods, batches(books)
    relaxed, able = bool(books.plan.headline.get("relaxed")), orderable_from(books)
    rows = []
    for row in books.facts.scenario.tables["site_modules"].to_dict("records"):
        own = lots[(lots["site"] == row["site"]) & (lots["module"] == row["module"])]
        most, first = able.get((row["site"], row["module"]), (0.0, len(periods)))[:2]
        for at_period, period in enumerate(periods.index):
            here = own[own["first"] <= at_period]
            there = float(here["units"].sum())
            could = float(here.loc[here["ordered"] == "", "units"].sum()) + most * (first <= at_period)
            used = carrying(row["redundancy"], there, could, relaxed)
            rows.append((*_kind(row).values(), str(period), row["redundancy"], there, there - used, used))
    columns = [*MODULE, "item", "kw", "period", "redundancy", "in_place", "standing_by", "carrying"]
    return pd.DataFrame(rows, columns=columns)


@once
def carried_kw(books: Books) -> pd.Series:
    """Return kW that the modules of each item carry, ordered long ago or by the plan; index (site, item, period)."""
    kinds = in_place(books)
    found: dict[tuple[str, str, str], float] = {}
    for row in kinds.to_dict("records"):
        label = (row["site"], row["item"], row["period"])
        found[label] = found.get(label, 0.0) + row["carrying"] * row["kw"]
    return keyed(found, ITEM)


def _weeks(date: pd.Timestamp, start: pd.Timestamp) -> float:
    """Return planning weeks between two days: months by the calendar, 13 weeks a quarter."""
    months = (date.year - start.year) * MONTHS_PER_YEAR + date.month - start.month
    part = (date.day - 1) / date.days_in_month - (start.day - 1) / start.days_in_month
    return (months + part) * WEEKS_PER_QUARTER / MONTHS_PER_QUARTER
