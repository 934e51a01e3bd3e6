"""Demand that may wait: what arrives in each hour of the day, and how much may be waiting at its end."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs import Scenario
from planner.units import HOURS_PER_DAY

HOUR = ["period", "month", "day_type", "hour_utc"]
WAITING = ["workload", "region", *HOUR]
COLUMNS = [*WAITING, "block", "block_share", "arriving", "most_waiting", "next_hour"]


def deferrable_hours(
    scenario: Scenario, workloads: pd.DataFrame, assigned: pd.DataFrame, cell_demand: pd.DataFrame
) -> pd.DataFrame:
    """Return the hours in which requests of a workload may be left waiting; none unless the scenario defers demand.

    A day of a kind (month, weekday or weekend) follows on a day of the same kind, so its 24 hours form a ring. A
    request that may wait H hours is served in the hour it arrives in or in one of the H that follow: what waits at the
    end of an hour has arrived in the last H hours, which with first come first served is all that is needed. A block
    is a set of such hours, and an hour weighs in its block by its length.

    Parameters
    ----------
    workloads
        Index workload, column deferral_h.
    assigned
        Cells of the calendar with hours and block.
    cell_demand
        workload, region, HOUR, requests_per_s.

    Returns
    -------
    DataFrame, COLUMNS: block_share (share of the block's hours), arriving (requests/s), most_waiting (requests/s x h),
    next_hour (the hour that what waits is passed on to).
    """
    window = np.floor(workloads["deferral_h"].fillna(0.0).astype(float))
    window = window[window >= 1.0].clip(upper=float(HOURS_PER_DAY))
    if not scenario.settings.defer_demand or window.empty:
        return pd.DataFrame(columns=COLUMNS)
    block_hours = assigned.groupby(["period", "block"])["hours"].transform("sum")
    cells = assigned.assign(block_share=assigned["hours"] / block_hours)
    table = cell_demand[cell_demand["workload"].isin(window.index)].merge(
        cells[[*HOUR, "block", "block_share"]], on=HOUR, validate="many_to_one"
    )
    table = table.sort_values(WAITING, kind="stable").reset_index(drop=True)
    day = [table[name] for name in WAITING[:-1]]
    whole = table.groupby(day, sort=False)["hour_utc"].transform("size") == HOURS_PER_DAY
    table = table[whole].reset_index(drop=True)
    arriving = table["requests_per_s"].to_numpy(float).reshape(-1, HOURS_PER_DAY)
    hours = table["workload"].map(window).to_numpy(int).reshape(-1, HOURS_PER_DAY)[:, 0]
    most = np.zeros_like(arriving)
    for back in range(HOURS_PER_DAY):
        most += np.where((back < hours)[:, None], np.roll(arriving, back, axis=1), 0.0)
    following = (table["hour_utc"].astype(int) + 1) % HOURS_PER_DAY
    return table.assign(arriving=arriving.ravel(), most_waiting=most.ravel(), next_hour=following)[COLUMNS]


def most_served(demand: pd.DataFrame, waiting: pd.DataFrame) -> pd.DataFrame:
    """Return the demand with the most that can be served of it in a block: what arrives and all that may wait."""
    if waiting.empty:
        return demand
    key = ["workload", "region", "period"]
    most = waiting.assign(most=waiting["arriving"] + waiting["most_waiting"]).groupby(key)["most"].max()
    more = most.reindex(pd.MultiIndex.from_frame(demand[key])).fillna(0.0).to_numpy(float)
    return demand.assign(requests_per_s=np.maximum(demand["requests_per_s"].to_numpy(float), more))
