"""Pools of replicas: how much of its points' rate each may carry, at the size it is taken to have.

A pool is the replicas of one product and engine that serve one workload within one latency class at a site under one
cooling option. The caps by size come from the performance stage; which size holds is decided by the plan, so the caps
start from the largest size any plan could use and the pipeline tightens them where the plan's pools turn out smaller.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.performance import PointSet
from planner.performance.pool_caps import POOL, cap_at

PLACE = ["site", "cooling", "period", "block"]
POOL_PLACE = [*POOL, *PLACE]
TOGETHER = ["workload", "period", "block"]
"""What shares its pools: requests that one cannot take in time go to another."""


def first_pools(
    points: PointSet, runs: pd.DataFrame, routes: pd.DataFrame, demand: pd.DataFrame, workloads: pd.DataFrame
) -> pd.DataFrame:
    """Return every pool there can be with the largest size any plan could use it at, and its cap there.

    With L replicas kept busy by all the demand in reach,

        L = sum over regions in reach of demand * (1 + retries) * minute peak / rate of a replica

    the size is the least N with ``N * cap(N) >= L``. No plan needs a higher cap: a pool of n <= N replicas has none,
    and one of n > N carries at most L <= N * cap(N) <= n * cap(N). So the model at these caps admits every plan that
    any caps admit, and its bound holds for plans with pools of all sizes.

    Parameters
    ----------
    demand : DataFrame
        Most requests/s that may be served in each block (:func:`deferral.most_served`).

    Returns
    -------
    DataFrame: POOL, site, cooling, period, block, replicas, utilisation_cap_fraction; empty without queued workloads.
    """
    if points.caps.empty:
        return pd.DataFrame(columns=[*POOL_PLACE, "replicas", "utilisation_cap_fraction"])
    large = points.caps.sort_values("replicas").drop_duplicates(POOL, keep="last")
    large = large.assign(full_rate=large["requests_per_s"] / large["utilisation_cap_fraction"])
    keys = [*POOL, "site", "cooling"]
    pools = runs.groupby(keys, as_index=False, sort=False, dropna=False)["peak_ratio"].max()
    pools = pools.merge(large[[*POOL, "full_rate"]], on=POOL)
    within = routes.merge(demand, on=["workload", "region"])
    reach = ["workload", "site", "ttft_class", "period", "block"]
    asked = within.groupby(reach, as_index=False)["requests_per_s"].sum()
    asked = asked.rename(columns={"requests_per_s": "asked"})
    pools = pools.merge(asked, on=["workload", "site", "ttft_class"])
    attempts = 1.0 + pools["workload"].map(workloads["retry_fraction"]).astype(float)
    busy = pools["asked"] * attempts * pools["peak_ratio"] / pools["full_rate"]
    replicas = least_size(points.caps, pools, busy.to_numpy(float))
    caps = cap_at(points.caps, pools, replicas)
    return pools.assign(replicas=replicas, utilisation_cap_fraction=caps)[
        [*POOL_PLACE, "replicas", "utilisation_cap_fraction"]
    ]


def least_size(curves: pd.DataFrame, pools: pd.DataFrame, busy: np.ndarray) -> np.ndarray:
    """Return the least replicas N of each pool with ``N * cap(N) >= busy``, at least 1.

    Caps hold from one listed size to the next, so on each step N is the step's first size or busy / cap, and the first
    step that contains it is taken; past the last size its cap goes on.
    """
    sizes = np.sort(curves["replicas"].unique())
    ends = np.append(sizes[1:], np.inf)
    found = np.full(len(pools), np.nan)
    for first, end in zip(sizes, ends, strict=True):
        needed = np.maximum(busy / cap_at(curves, pools, np.full(len(pools), first)), first)
        found = np.where(np.isnan(found) & (needed < end), needed, found)
    return found


def tightened(
    pools: pd.DataFrame,
    curves: pd.DataFrame,
    seen: pd.DataFrame,
    hours: pd.DataFrame,
    given_up: bool = False,
) -> pd.DataFrame:
    """Return the pools with caps no looser, in the hours given, than the sizes a plan gave them allow.

    In these hours a pool the plan uses gets the cap of its size, one it does not use that of a single replica: the next
    plan does not move to small pools elsewhere. Other hours keep their caps, and no cap rises. An hour is too busy only
    where some pool is smaller than its cap supposes, so each pass lowers a cap by a listed size and the passes end.

    Parameters
    ----------
    curves : DataFrame
        ``PointSet.caps``.
    seen : DataFrame
        Pools of the plan: POOL, PLACE, replicas.
    hours : DataFrame
        Hours (TOGETHER) whose pools are tightened.
    given_up : bool
        Pools of these hours that shrank are followed no further: they get the cap of a single replica, which no size
        breaks.
    """
    joined = pools.merge(seen[[*POOL_PLACE, "replicas"]], on=POOL_PLACE, how="left", suffixes=("", "_seen"))
    size = joined["replicas_seen"].fillna(1.0).clip(lower=1.0, upper=joined["replicas"])
    if given_up:
        size = size.mask(joined["replicas_seen"] < joined["replicas"], 1.0)
    short = pd.MultiIndex.from_frame(joined[TOGETHER]).isin(pd.MultiIndex.from_frame(hours[TOGETHER]))
    size = size.where(short, joined["replicas"])
    caps = pd.Series(cap_at(curves, joined, size.to_numpy(float)), index=joined.index)
    held = joined["utilisation_cap_fraction"]
    kept = held.where(~short, caps.clip(upper=held))
    return joined.assign(replicas=size, utilisation_cap_fraction=kept)[list(pools.columns)]


def as_planned(pools: pd.DataFrame, curves: pd.DataFrame, planned: pd.DataFrame) -> pd.DataFrame:
    """Return the pools with the caps a plan was found with; one the plan does not use gets that of a single replica.

    Pools of periods that the plan does not have keep theirs.

    Parameters
    ----------
    planned : DataFrame
        Frame ``pools`` of the plan: POOL_PLACE, replicas, utilisation_cap_fraction.
    """
    if pools.empty or planned.empty:
        return pools
    names = ["replicas", "utilisation_cap_fraction"]
    kinds = pools[POOL_PLACE].dtypes
    # A saved plan brings clocks and names back in the types of its file.
    known = planned[[*POOL_PLACE, *names]].astype(kinds.to_dict())
    joined = pools[POOL_PLACE].merge(known, on=POOL_PLACE, how="left", validate="many_to_one")
    single = pd.Series(cap_at(curves, joined, np.ones(len(joined))))
    there = pools["period"].isin(known["period"]).reset_index(drop=True)
    first = pools[names].reset_index(drop=True)
    return joined.assign(
        replicas=joined["replicas"].fillna(first["replicas"].mask(there, 1.0)),
        utilisation_cap_fraction=joined["utilisation_cap_fraction"].fillna(
            first["utilisation_cap_fraction"].mask(there, single)
        ),
    )
