"""Floors by the clock: the hours of a day in which a pool keeps so many replicas on."""

from __future__ import annotations

from typing import Any

import pandas as pd

DAY = ["pool", "period", "day_type"]
WINDOWS = [*DAY, "months", "from_hour_utc", "to_hour_utc", "floor_replicas"]


def windows_of(replicas: pd.DataFrame, block_cells: pd.DataFrame) -> pd.DataFrame:
    """Return the windows of every pool: hours in a row, and months, with the same floor.

    An hour of the clock lies in one block of its month and day type, so windows of one pool never overlap, and all
    hours of a day are in one; the floor is 0 where the pool serves nothing.

    Parameters
    ----------
    replicas
        pool, period, block, floor_replicas.
    block_cells
        Frame of the plan: period, month, day_type, hour_utc, block.

    Returns
    -------
    DataFrame, WINDOWS: months as numbers of the calendar joined by ',', hours UTC, the last one excluded.
    """
    pools = replicas[["pool", "period"]].drop_duplicates()
    hours = pools.merge(block_cells[["period", "month", "day_type", "hour_utc", "block"]], on="period")
    hours = hours.merge(
        replicas[["pool", "period", "block", "floor_replicas"]], on=["pool", "period", "block"], how="left"
    )
    hours["floor_replicas"] = hours["floor_replicas"].fillna(0.0)
    # An hour that several blocks share (none today) is kept at the busiest of them.
    busiest = hours.groupby([*DAY, "month", "hour_utc"], sort=False)["floor_replicas"].max()
    days: dict[tuple[Any, ...], list[int]] = {}
    for name, day in busiest.groupby(level=[*DAY, "month"], sort=False):
        course = day.droplevel([*DAY, "month"]).sort_index()
        days.setdefault((*map(str, name[:3]), tuple(course.items())), []).append(int(name[3]))
    rows = [
        (*day[:3], ",".join(map(str, sorted(months))), *window)
        for day, months in days.items()
        for window in _runs(day[3])
    ]
    return pd.DataFrame(rows, columns=WINDOWS)


def _runs(course: tuple[tuple[int, float], ...]) -> list[tuple[int, int, float]]:
    """Return first hour, hour after the last and floor of each run of hours with the same floor."""
    runs: list[tuple[int, int, float]] = []
    for hour, floor in course:
        if runs and runs[-1][2] == floor and runs[-1][1] == hour:
            runs[-1] = (runs[-1][0], hour + 1, floor)
        else:
            runs.append((int(hour), int(hour) + 1, float(floor)))
    return runs
