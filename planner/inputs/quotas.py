"""Demand under quotas: what is served inside a cap, served as another workload, kept waiting or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from planner.units import SECONDS_PER_HOUR, TOKENS_PER_MTOK

HOUR = ["period", "month", "day_type", "hour_utc"]
PLACE = ["workload", "region", *HOUR]
USE = ["quota", *PLACE, "hours", "asked", "within", "degraded", "refused", "beyond", "fallback_workload"]
MOST_DAYS = 50
"""Days after which a queue that empties at its cap repeats itself; a request waits less than one day."""


def under_quotas(
    asked: pd.DataFrame, cells: pd.DataFrame, quotas: pd.DataFrame, business: pd.Series, tokens: pd.Series
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the demand that is planned for, and what each quota does to whom.

    A cap per hour, over the workloads w under it and their regions r:

        within[w,r,h] = asked[w,r,h] * min(1, cap / sum_{w,r} asked[w,r,h])

    A cap per period, in Mtok of visible output (or currency / price), takes the same share in every hour h of t:

        within[w,r,h] = asked[w,r,h] * min(1, cap / sum_{w,r,h of t} n[w] * hours[h] * asked[w,r,h])

    so that nobody under a cap is served before another. Who is beyond it does not depend on the plan: quotas are
    kept by a gateway that knows neither prices nor load. What is beyond is added, hour by hour, to the fallback
    workload's demand in the same region (``degrade``), left out (``refuse``), or waits, first come first served, for
    an hour whose own demand leaves room under the cap, at most ``queue_h`` hours (``queue``), and is refused then.
    A day of a kind follows on a day of the same kind. Rows apply in order, each to what the ones before let through.

    Parameters
    ----------
    asked
        PLACE, requests_per_s: first attempts.
    cells
        HOUR, hours.
    quotas
        The table.
    business, tokens
        Business line and visible output tokens of a mean request, by workload.

    Returns
    -------
    Demand as given (PLACE, requests_per_s), and USE: requests/s by quota and hour.
    """
    demand = asked.merge(cells, on=HOUR, how="left", validate="many_to_one").set_index(asked.index)
    added = pd.Series(0.0, index=demand.index)
    place = pd.MultiIndex.from_frame(demand[["workload", "region", *HOUR]])
    uses = []
    for quota in quotas.to_dict("records"):
        use = _use(demand[_members(demand, quota, business)], quota, tokens)
        demand.loc[use.index, "requests_per_s"] = use["within"]
        if quota["beyond"] == "degrade":
            target = use.assign(workload=quota["fallback_workload"]).groupby(PLACE)["degraded"].sum()
            added += target.reindex(place).fillna(0.0).to_numpy(float)
        uses.append(use)
    table = pd.concat(uses, ignore_index=True) if uses else pd.DataFrame(columns=USE)
    planned = demand["requests_per_s"] + added
    return asked.assign(requests_per_s=planned.to_numpy(float)), table[USE]


def _members(demand: pd.DataFrame, quota: dict[str, Any], business: pd.Series) -> pd.Series:
    if isinstance(quota["workload"], str):
        chosen = demand["workload"].eq(quota["workload"])
    else:
        chosen = demand["workload"].map(business).eq(quota["business"])
    return chosen & demand["period"].eq(quota["period"]) if isinstance(quota["period"], str) else chosen


def _use(rows: pd.DataFrame, quota: dict[str, Any], tokens: pd.Series) -> pd.DataFrame:
    """Return the rows under a quota with USE."""
    asked = rows["requests_per_s"].to_numpy(float)
    if quota["beyond"] == "queue":
        within, refused = _queued(rows, float(quota["cap_requests_per_s"]), int(quota["queue_h"]))
    else:
        within = asked * _share(rows, quota, tokens)
        refused = asked - within
    degrade = quota["beyond"] == "degrade"
    return rows.drop(columns="requests_per_s").assign(
        quota=quota["quota"],
        asked=asked,
        within=within,
        degraded=refused if degrade else 0.0,
        refused=0.0 if degrade else refused,
        beyond=quota["beyond"],
        fallback_workload=quota["fallback_workload"] if degrade else "",
    )


def _share(rows: pd.DataFrame, quota: dict[str, Any], tokens: pd.Series) -> np.ndarray:
    """Return the share of each row's requests inside the cap: of its hour, or of its period."""
    rate = rows["requests_per_s"]
    if not np.isnan(quota["cap_requests_per_s"]):
        cap, use, by = quota["cap_requests_per_s"], rate, HOUR
    else:
        mtok = rows["workload"].map(tokens).astype(float) / TOKENS_PER_MTOK
        cap, use, by = quota["cap_mtok"], rate * rows["hours"] * SECONDS_PER_HOUR * mtok, ["period"]
        if np.isnan(cap):
            cap = quota["cap_currency"] / quota["price_per_mtok"]
    total = use.groupby([rows[name] for name in by]).transform("sum").to_numpy(float)
    return np.minimum(np.divide(cap, total, out=np.ones_like(total), where=total > 0), 1.0)


def _queued(rows: pd.DataFrame, cap: float, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Return requests/s let in and refused per row, day by day of one kind until a day repeats the one before."""
    within, refused = pd.Series(0.0, index=rows.index), pd.Series(0.0, index=rows.index)
    for _, day in rows.groupby(HOUR[:-1], sort=False):
        wide = day.pivot_table(
            index="hour_utc", columns=["workload", "region"], values="requests_per_s", sort=True
        ).fillna(0.0)
        served, lost = _ring(wide.to_numpy(float), cap, longest)
        label = pd.MultiIndex.from_frame(day[["workload", "region"]])
        column = wide.columns.get_indexer(label)
        line = wide.index.get_indexer(pd.Index(day["hour_utc"]))
        within.loc[day.index], refused.loc[day.index] = served[line, column], lost[line, column]
    return within.to_numpy(float), refused.to_numpy(float)


def _ring(asked: np.ndarray, cap: float, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Return hours x who of what is let in and refused, oldest first, once the day repeats itself.

    Where the cap is full all day, what waits grows day by day until it is refused: what is let in repeats itself long
    before, and what is not let in of a day is refused in the end. It is shown in the hours it was asked.
    """
    queue = np.zeros((longest + 1, asked.shape[1]))
    served = np.zeros_like(asked)
    for _ in range(MOST_DAYS):
        before = served.copy()
        for hour, arriving in enumerate(asked):
            # Age 0 has just arrived; what has waited its hours without finding room is left out.
            queue = np.vstack([arriving, queue[:longest]])
            older = np.cumsum(queue[::-1].sum(axis=1))[::-1] - queue.sum(axis=1)
            room = np.clip(cap - older, 0.0, None)
            total = queue.sum(axis=1)
            share = np.minimum(np.divide(room, total, out=np.ones_like(total), where=total > 0), 1.0)
            taken = queue * share[:, None]
            served[hour], queue = taken.sum(axis=0), queue - taken
        if np.allclose(before, served, rtol=1e-12, atol=1e-12):
            break
    total = asked.sum(axis=0)
    left = np.maximum(total - served.sum(axis=0), 0.0)
    return served, asked * np.divide(left, total, out=np.zeros_like(total), where=total > 0)
