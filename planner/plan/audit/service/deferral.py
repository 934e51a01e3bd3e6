"""Demand that is put off to a better hour: what moves between blocks, and that nothing waits too long."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import at
from planner.plan.audit.report import Check, compare, keyed
from planner.units import HOURS_PER_DAY

DAY = ["workload", "region", "period", "month", "day_type"]
HOUR = [*DAY, "hour_utc"]
DEMANDED = ["workload", "region", "period", "block"]


def _days(books: Books) -> pd.DataFrame:
    """Return the hours of every day in which something waits: HOUR, waiting, arriving (requests/s), block, hours."""
    stated = books["waiting"]
    day = stated[DAY].drop_duplicates(ignore_index=True)
    table = day.merge(pd.DataFrame({"hour_utc": np.arange(HOURS_PER_DAY)}), how="cross")
    rate = books.facts.cell_demand.merge(table, on=HOUR, how="right")["requests_per_s"]
    level = stated.groupby(HOUR)["requests_waiting"].sum()
    cells = books["block_cells"]
    table = table.assign(arriving=rate.fillna(0.0).to_numpy(float))
    label = pd.MultiIndex.from_frame(table[HOUR])
    table["waiting"] = level.reindex(label).fillna(0.0).to_numpy(float) if len(level) else 0.0
    return table.merge(
        cells[["period", "month", "day_type", "hour_utc", "block", "hours"]],
        on=["period", "month", "day_type", "hour_utc"],
        how="left",
    )


def _rings(table: pd.DataFrame, column: str) -> np.ndarray:
    return table[column].to_numpy(float).reshape(-1, HOURS_PER_DAY)


def put_off(books: Books) -> pd.Series:
    """Return the mean requests/s by which less is served in a block than arrives, index DEMANDED.

    In each hour what waits at its end, less what waited at the end of the hour before.
    """
    table = _days(books)
    if table.empty:
        return keyed({}, DEMANDED)
    level = _rings(table, "waiting")
    moved = (level - np.roll(level, 1, axis=1)).ravel() * table["hours"].to_numpy(float)
    hours = books.hours
    total = pd.Series(moved).groupby([table[name] for name in DEMANDED]).sum()
    place = total.index.droplevel(["workload", "region"])
    return total / hours.reindex(place).to_numpy(float)


def served_hour(books: Books) -> Check:
    """Return the check that what waits more than an hour before has arrived in the hour, and is not below zero."""
    table = _days(books)
    level = _rings(table, "waiting")
    more = (level - np.roll(level, 1, axis=1)).ravel() if len(table) else np.zeros(0)
    rows = table[HOUR].assign(left=more, right=table["arriving"])
    least = table[HOUR].assign(left=-table["waiting"], right=0.0)
    return compare("served_hour", "served_hour", pd.concat([rows, least], ignore_index=True), "<=")


def deferral_window(books: Books) -> Check:
    """Return the check that what waits has arrived within the hours its workload may wait, and only where the
    scenario puts demand off.
    """
    table = _days(books)
    hours = np.floor(at(books.facts.workloads["deferral_h"], table, ["workload"]).fillna(0.0).to_numpy(float))
    hours = np.minimum(hours, HOURS_PER_DAY) * books.facts.scenario.settings.defer_demand
    window = hours.reshape(-1, HOURS_PER_DAY)
    arriving = _rings(table, "arriving")
    most = np.zeros_like(arriving)
    for back in range(HOURS_PER_DAY):
        most += np.where(back < window, np.roll(arriving, back, axis=1), 0.0)
    rows = table[HOUR].assign(left=table["waiting"], right=most.ravel())
    return compare("deferral_window", "deferral_window", rows, "<=")
