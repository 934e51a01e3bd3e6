"""Terms of colocation contracts as the tables state them: which bind by opening, how their rent rises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.once import once
from planner.plan.audit.report import keyed

SITE_PERIOD = ["site", "period"]
Row = Mapping[str, Any]


def contracts(books: Books) -> list[Row]:
    """Return the contracts that state contracted kW."""
    tables = books.facts.scenario.tables
    own = tables["colo_contracts"]
    return own[own["site"].isin(tables["colo_ramp"]["site"])].to_dict("records")


@once
def bound_sites(books: Books) -> set[str]:
    """Return the sites whose contract starts when they open."""
    return {row["site"] for row in contracts(books) if pd.isna(row["start_date"])}


def rent_level(books: Books, contract: Row, date: pd.Timestamp) -> float:
    """Return how many times the stated rent is due on a day: one rise a year, on the anniversary."""
    rise = contract["escalator_fraction_per_year"]
    base = contract["escalator_date"]
    if pd.isna(base):
        base = contract["start_date"]
    if pd.isna(base):
        base = books.facts.periods["start_date"].iloc[0]
    level, birthday = 1.0, base + pd.DateOffset(years=1)
    while not pd.isna(rise) and birthday <= date:
        level, birthday = level * (1.0 + rise), birthday + pd.DateOffset(years=1)
    return level


@once
def rent_levels(books: Books) -> pd.Series:
    """Return the mean level of the rent over the months of each period, index (site, period); contracts only."""
    found = {}
    for row in books.facts.scenario.tables["colo_contracts"].to_dict("records"):
        for period, months in rent_months(books).groupby("period", sort=False):
            levels = np.array([rent_level(books, row, date) for date in months["date"]])
            found[row["site"], str(period)] = float(levels.mean())
    return keyed(found, SITE_PERIOD)


def rent_months(books: Books) -> pd.DataFrame:
    """Return period, month, date, months of every month of the horizon; a period stated in hours counts as one."""
    rows = []
    for row in books.facts.periods.reset_index().to_dict("records"):
        date, label = row["start_date"], row["period"]
        if row["stated_in_hours"]:
            rows.append((label, f"{date:%Y-%m}", date, row["months"]))
            continue
        while date < row["end_date"]:
            rows.append((label, f"{date:%Y-%m}", date, 1.0))
            date = date + pd.DateOffset(months=1)
    return pd.DataFrame(rows, columns=["period", "month", "date", "months"])
