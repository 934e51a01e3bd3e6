"""Optional demand by rank, and shares that none may fall below: what is left where something is short."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs import Settings

STRICT, WEIGHTED = "strict", "weighted"
"""Settings priority_rule: ranks one after the other; shares by weight. The third, value, orders nothing."""
PLACE = ["region", "period", "block"]
FLOORS = ["workload", "beside", *PLACE, "ratio", "optional", "optional_beside"]
OPTIONAL = ["workload", *PLACE, "optional", "unranked", "priority", "next_priority", "past_priority"]


def ranked_demand(settings: Settings, demand: pd.DataFrame, workloads: pd.DataFrame) -> pd.DataFrame:
    """Return optional demand with the ranks next to its own in the same region and block; none without the rule.

    Parameters
    ----------
    demand
        workload, region, period, block, requests_per_s.
    workloads
        Index workload: priority, must_serve_fraction, unranked_fraction, guaranteed_share: what is guaranteed beside
        others waits for no rank either.

    Returns
    -------
    DataFrame, OPTIONAL: optional and what of it waits for no rank (requests/s), ranks as numbers, NaN for none.
    """
    if settings.priority_rule != STRICT:
        return pd.DataFrame(columns=OPTIONAL)
    share = 1.0 - demand["workload"].map(workloads["must_serve_fraction"]).astype(float)
    table = demand.assign(
        optional=share * demand["requests_per_s"],
        priority=demand["workload"].map(workloads["priority"]).astype(float),
    )
    free = workloads[["unranked_fraction", "guaranteed_share"]].astype(float).max(axis=1).fillna(0.0)
    free = demand["workload"].map(free)
    table = table.assign(unranked=free * table["optional"])[table["optional"] > 0.0]
    ranks = table[[*PLACE, "priority"]].drop_duplicates().sort_values([*PLACE, "priority"])
    place = [ranks[name] for name in PLACE]
    beside = ranks.assign(
        next_priority=ranks.groupby(place)["priority"].shift(-1),
        past_priority=ranks.groupby(place)["priority"].shift(1),
    )
    return table.merge(beside, on=[*PLACE, "priority"], validate="many_to_one")[OPTIONAL]


def ranks_with_a_next(ranked: pd.DataFrame) -> pd.DataFrame:
    """Return priority and PLACE of every rank that is followed by another in the same place."""
    followed = ranked[ranked["next_priority"].notna()]
    return followed[["priority", *PLACE]].drop_duplicates().reset_index(drop=True)


def share_floors(settings: Settings, demand: pd.DataFrame, workloads: pd.DataFrame) -> pd.DataFrame:
    """Return how little of a workload's optional demand may be served beside that of another in the same place.

    ``served share of workload >= ratio * served share of beside``, ratio being guaranteed_share of the workload, and
    with priority_rule weighted min(1, weight / weight of beside), weight = 1 / priority. Of weights the neighbours in
    their order are enough: the rest follows.

    Parameters
    ----------
    demand
        workload, region, period, block, requests_per_s.
    workloads
        Index workload: priority, must_serve_fraction, guaranteed_share (blank = 0).

    Returns
    -------
    DataFrame, FLOORS: optional and optional_beside in requests/s.
    """
    share = 1.0 - demand["workload"].map(workloads["must_serve_fraction"]).astype(float)
    table = demand[["workload", *PLACE]].assign(optional=share * demand["requests_per_s"])
    table = table[table["optional"] > 0.0]
    floor = workloads["guaranteed_share"].astype(float).fillna(0.0)
    weighted = settings.priority_rule == WEIGHTED
    if table["workload"].nunique() < 2 or not (weighted or (floor[table["workload"]] > 0.0).any()):
        return pd.DataFrame(columns=FLOORS)
    table = table.assign(weight=1.0 / table["workload"].map(workloads["priority"]).astype(float))
    table = table.sort_values([*PLACE, "weight", "workload"], ascending=[True] * 3 + [False, True])
    table = table.assign(place_rank=table.groupby(PLACE).cumcount())
    pairs = table.merge(table, on=PLACE, suffixes=("", "_beside"))
    pairs = pairs[pairs["workload"] != pairs["workload_beside"]]
    ratio = pairs["workload"].map(floor).to_numpy(float)
    if weighted:
        near = (pairs["place_rank"] - pairs["place_rank_beside"]).abs() == 1
        fair = (pairs["weight"] / pairs["weight_beside"]).clip(upper=1.0)
        ratio = np.maximum(ratio, fair.where(near, 0.0).to_numpy(float))
    pairs = pairs.assign(ratio=ratio).rename(columns={"workload_beside": "beside"})
    return pairs.loc[ratio > 0.0, FLOORS].reset_index(drop=True)
