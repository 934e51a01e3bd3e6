"""Pools of replicas: how much of its points' rate each may carry, at the size it is taken to have.

A pool is the replicas of one product and engine that serve one workload within one latency class at a site under one
cooling option. The caps by size come from the performance stage; which size holds is decided by the plan, so the caps
start from an estimate and the pipeline tightens them where the plan's pools turn out smaller.
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

EXPECTED_SHARE = 0.25
"""Part of the demand within reach that a pool is first taken to serve; too large a part is tightened after a solve."""

SURE_SHARE = 0.75
"""Part of the replicas a plan gave a pool that its next cap supposes."""


def first_pools(
    points: PointSet, runs: pd.DataFrame, routes: pd.DataFrame, demand: pd.DataFrame, workloads: pd.DataFrame
) -> pd.DataFrame:
    """Return every pool there can be with the size it is first taken to have, and its cap.

    ``replicas = share * sum over regions in reach of demand * (1 + retries) * minute peak / rate of a replica``, at
    least 1; the rate is that of a large pool at its cap, share is EXPECTED_SHARE.

    Returns
    -------
    DataFrame: POOL, site, cooling, period, block, replicas, utilisation_cap_fraction; empty without queued workloads.
    """
    if points.caps.empty:
        return pd.DataFrame(columns=[*POOL_PLACE, "replicas", "utilisation_cap_fraction"])
    large = points.caps.sort_values("replicas").drop_duplicates(POOL, keep="last")
    keys = [*POOL, "site", "cooling"]
    pools = runs.groupby(keys, as_index=False, sort=False, dropna=False)["peak_ratio"].max()
    pools = pools.merge(large[[*POOL, "requests_per_s"]], on=POOL)
    within = routes.merge(demand, on=["workload", "region"])
    reach = ["workload", "site", "ttft_class", "period", "block"]
    asked = within.groupby(reach, as_index=False)["requests_per_s"].sum()
    asked = asked.rename(columns={"requests_per_s": "asked"})
    pools = pools.merge(asked, on=["workload", "site", "ttft_class"])
    attempts = 1.0 + pools["workload"].map(workloads["retry_fraction"]).astype(float)
    load = EXPECTED_SHARE * pools["asked"] * attempts * pools["peak_ratio"]
    replicas = (load / pools["requests_per_s"]).clip(lower=1.0)
    caps = cap_at(points.caps, pools, replicas.to_numpy(float))
    return pools.assign(replicas=replicas, utilisation_cap_fraction=caps)[
        [*POOL_PLACE, "replicas", "utilisation_cap_fraction"]
    ]


def tightened(
    pools: pd.DataFrame, curves: pd.DataFrame, seen: pd.DataFrame, given_up: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return the pools with caps no looser than the sizes a plan gave them allow; caps never rise.

    A pool the plan uses gets the cap of SURE_SHARE of its size, one it does not use that of a single replica: the next
    plan neither shrinks out of its caps nor moves to small pools elsewhere. The marginal pool of an hour shrinks again
    each time its cap is tightened, whatever share is supposed: in hours given up, a pool below the size its cap
    supposed gets the cap of a single replica, which no size breaks.

    Parameters
    ----------
    curves : DataFrame
        ``PointSet.caps``.
    seen : DataFrame
        Pools of the plan: POOL, PLACE, replicas.
    given_up : DataFrame
        Hours (TOGETHER) whose shrinking pools are followed no further; none by default.
    """
    joined = pools.merge(seen[[*POOL_PLACE, "replicas"]], on=POOL_PLACE, how="left", suffixes=("", "_seen"))
    size = (SURE_SHARE * joined["replicas_seen"]).fillna(1.0).clip(lower=1.0, upper=joined["replicas"])
    if given_up is not None:
        hours = pd.MultiIndex.from_frame(joined[TOGETHER]).isin(pd.MultiIndex.from_frame(given_up[TOGETHER]))
        size = size.mask(hours & (joined["replicas_seen"] < joined["replicas"]), 1.0)
    caps = cap_at(curves, joined, size.to_numpy(float))
    kept = pd.Series(caps, index=joined.index).clip(upper=joined["utilisation_cap_fraction"])
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
