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
def carried_kw(books: Books) -> pd.Series:
    """Return kW that the modules of each item carry, ordered long ago or by the plan; index (site, item, period)."""
    periods = books.facts.periods
    table = books.facts.scenario.tables["site_modules"]
    start = periods["start_date"].iloc[0]
    found = {
        (row["site"], row["item"], str(period)): 0.0
        for row in table.to_dict("records")
        for period in periods.index
    }
    waits = lead(books)
    for row in table.to_dict("records"):
        if not pd.isna(row["energised_date"]):
            ready = _weeks(row["energised_date"], start)
        elif not pd.isna(row["ordered_date"]):
            ready = _weeks(row["ordered_date"], start) + float(waits[row["site"], row["module"]])
        else:
            continue
        _add(found, periods, row, row["kw"], int(first_period_from(periods, np.array([ready]))[0]))
    size = table.set_index(MODULE)
    for row, first in zip(books["modules"].to_dict("records"), first_powered(books), strict=True):
        about = size.loc[(row["site"], row["module"])]
        _add(
            found, periods, {"site": row["site"], "item": about["item"]}, row["modules"] * about["kw"], first
        )
    return keyed(found, ITEM)


def _add(
    found: dict[tuple[str, str, str], float],
    periods: pd.DataFrame,
    row: Mapping[str, Any],
    kw: float,
    first: int,
) -> None:
    for period in periods.index[first:]:
        found[row["site"], row["item"], str(period)] += float(kw)


def _weeks(date: pd.Timestamp, start: pd.Timestamp) -> float:
    """Return planning weeks between two days: months by the calendar, 13 weeks a quarter."""
    months = (date.year - start.year) * MONTHS_PER_YEAR + date.month - start.month
    part = (date.day - 1) / date.days_in_month - (start.day - 1) / start.days_in_month
    return (months + part) * WEEKS_PER_QUARTER / MONTHS_PER_QUARTER
