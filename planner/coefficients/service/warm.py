"""Start of replicas: how fast the demand of a workload rises within the time one takes to serve, hour by hour.

A replica that is asked for when the load is there serves a delay later. Until then others must be up that serve nobody
yet: powered, idle, on a unit of their own. A *predictive* scaler knows the hours and holds that much in each hour
before a rise. A *reactive* one sees the load only when it is there, so it holds the largest rise of the period in every
hour from which the load can still rise, up to the most of its period (its ceiling).

Blocks are means of hours, so what follows what is counted on the hours of the calendar: the classes of hours are the
pairs of the block of an hour and the block of the hour after it, and a rise is that of the demand in those hours, over
the mean of their blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from planner.coefficients.service.deferral import HOUR
from planner.units import HOURS_PER_DAY, SECONDS_PER_HOUR

PREDICTIVE, REACTIVE = "predictive", "reactive"
EVERY_HOUR = "any"
"""Block and next block of what a reactive scaler holds in all hours of a period."""
CLASS = ["period", "block", "next_block"]
HOURS = [*CLASS, "share"]
RISES = ["workload", *CLASS, "held_block", "held_next", "at_block", "weight"]
HELD = ["workload", *CLASS, "held_block", "held_next", "share"]


@dataclass(frozen=True)
class Warm:
    """What workloads with a stated start of replicas hold before they need it.

    Attributes
    ----------
    hours
        HOURS: share of the hours of a block that the block ``next_block`` follows.
    rises
        RISES: the rise within the delay in a class of hours is ``sum weight * units needed in at_block``; it is held in
        the column named by ``held_block`` and ``held_next``.
    held
        HELD: share of that column that stands by in each class of hours.
    """

    hours: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=HOURS))
    rises: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=RISES))
    held: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=HELD))


def warm_units(
    workloads: pd.DataFrame, assigned: pd.DataFrame, cell_demand: pd.DataFrame, waiting: pd.DataFrame
) -> Warm:
    """Return what is held before a rise; nothing for workloads that state no delay or may wait for a better hour.

    In the hour c of a day the demand D of a workload, all regions, rises to D(c+1); within a delay of d seconds

    rise(c) = d / 3600 * max(0, D(c+1) - D(c)),   d <= 3600;   max(0, D(c+1), ..., D(c+n) - D(c)),   n hours, rounded up

    Units needed in an hour are those of its block times D(c) / mean D of the block, so that with routes held the rise
    of units is in proportion. A day of a kind follows on a day of the same kind, as where demand may wait.

    Parameters
    ----------
    workloads
        Index workload: scale_up_delay_s (blank = starts at once), scaling (blank = reactive).
    assigned
        Cells of the calendar with hours and block.
    cell_demand
        workload, region, HOUR, requests_per_s.
    waiting
        ``deferral.deferrable_hours``: its workloads wait for a replica instead.
    """
    delay = workloads["scale_up_delay_s"].astype(float).fillna(0.0)
    slow = delay[(delay > 0.0) & ~delay.index.isin(waiting["workload"])]
    if slow.empty:
        return Warm()
    days = _days(assigned)
    hours = _classes(days, assigned)
    rises, held = [], []
    for workload, seconds in slow.items():
        own = cell_demand[cell_demand["workload"] == workload].groupby(HOUR)["requests_per_s"].sum()
        table = _rising(days, own, float(seconds))
        if not (table["rise"] > 0.0).any():
            continue
        ahead = workloads["scaling"].get(workload) == PREDICTIVE
        found, share = _predictive(table) if ahead else _reactive(table)
        rises.append(found.assign(workload=workload))
        held.append(share.assign(workload=workload))
    if not rises:
        return Warm()
    return Warm(hours, pd.concat(rises, ignore_index=True)[RISES], pd.concat(held, ignore_index=True)[HELD])


def _days(assigned: pd.DataFrame) -> pd.DataFrame:
    """Return the hours of whole days in order, each with the block of the next: HOUR, hours, block, next_block."""
    table = assigned.sort_values(HOUR, kind="stable")
    whole = table.groupby(HOUR[:-1], sort=False)["hour_utc"].transform("size") == HOURS_PER_DAY
    table = table[whole].reset_index(drop=True)
    blocks = table["block"].to_numpy(object).reshape(-1, HOURS_PER_DAY)
    return table.assign(next_block=np.roll(blocks, -1, axis=1).ravel())


def _classes(days: pd.DataFrame, assigned: pd.DataFrame) -> pd.DataFrame:
    """Return HOURS; hours of a day that is not whole are followed by their own block."""
    known = pd.MultiIndex.from_frame(assigned[HOUR]).isin(pd.MultiIndex.from_frame(days[HOUR]))
    rest = assigned[~known]
    both = pd.concat([days, rest.assign(next_block=rest["block"])], ignore_index=True)
    counted = both.groupby(CLASS, as_index=False, sort=False)["hours"].sum()
    whole = counted.groupby(["period", "block"])["hours"].transform("sum")
    return counted.assign(share=counted["hours"] / whole)[HOURS]


def _rising(days: pd.DataFrame, demand: pd.Series, seconds: float) -> pd.DataFrame:
    """Return the hours with their demand, its rise within the delay, the block it rises to and the two weights.

    ``rise = gain * units needed in at_block - loss * units needed in block`` while demand per unit of a block is held.
    """
    asked = demand.reindex(pd.MultiIndex.from_frame(days[HOUR])).fillna(0.0).to_numpy(float)
    table = days.assign(asked=asked)
    by = [table["period"], table["block"]]
    total = (table["asked"] * table["hours"]).groupby(by).transform("sum")
    mean = total / table["hours"].groupby(by).transform("sum")
    rings = asked.reshape(-1, HOURS_PER_DAY)
    ahead = max(int(np.ceil(seconds / SECONDS_PER_HOUR)), 1)
    part = min(seconds / SECONDS_PER_HOUR, 1.0)
    later = np.stack([np.roll(rings, -step, axis=1) for step in range(1, min(ahead, HOURS_PER_DAY - 1) + 1)])
    best = later.argmax(axis=0)
    top = later.max(axis=0).ravel()
    hour = np.arange(HOURS_PER_DAY)[None, :]
    at = (hour + 1 + best) % HOURS_PER_DAY + np.arange(len(rings))[:, None] * HOURS_PER_DAY
    level = mean.to_numpy(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(level[at.ravel()] > 0.0, part * top / level[at.ravel()], 0.0)
        loss = np.where(level > 0.0, part * asked / level, 0.0)
    return table.assign(
        rise=np.maximum(part * (top - asked), 0.0),
        at_block=table["block"].to_numpy(object)[at.ravel()],
        gain=gain,
        loss=loss,
    )


def _predictive(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the mean rise of each class of hours in which some hour rises, held in that class alone."""
    length = table.groupby(CLASS)["hours"].transform("sum")
    up = table.assign(part=table["hours"] / length)[table["rise"] > 0.0]
    gain = up.assign(weight=up["gain"] * up["part"])
    loss = up.assign(weight=-up["loss"] * up["part"], at_block=up["block"])
    both = pd.concat([gain, loss], ignore_index=True)
    rises = both.groupby([*CLASS, "at_block"], as_index=False, sort=False)["weight"].sum()
    rises = rises.assign(held_block=rises["block"], held_next=rises["next_block"])
    held = rises[[*CLASS, "held_block", "held_next"]].drop_duplicates().assign(share=1.0)
    return rises, held


def _reactive(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the largest rise of each class of hours, held in all hours as far as the day can still rise from them."""
    up = table[table["rise"] > 0.0].sort_values("rise", ascending=False, kind="stable")
    top = up.drop_duplicates(CLASS)
    both = pd.concat(
        [top.assign(weight=top["gain"]), top.assign(weight=-top["loss"], at_block=top["block"])],
        ignore_index=True,
    )
    rises = both.groupby([*CLASS, "at_block"], as_index=False, sort=False)["weight"].sum()
    rises = rises.assign(held_block=EVERY_HOUR, held_next=EVERY_HOUR)
    by_period = table["period"]
    largest = table["rise"].groupby(by_period).transform("max")
    left = table["asked"].groupby(by_period).transform("max") - table["asked"]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(largest > 0.0, np.minimum(left / largest, 1.0), 0.0)
    weighed = table.assign(share=share * table["hours"])
    total = weighed.groupby(CLASS, as_index=False, sort=False)[["share", "hours"]].sum()
    held = total.assign(share=total["share"] / total["hours"], held_block=EVERY_HOUR, held_next=EVERY_HOUR)
    return rises, held.loc[held["share"] > 0.0, [*CLASS, "held_block", "held_next", "share"]]
