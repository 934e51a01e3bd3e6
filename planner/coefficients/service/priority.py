"""Optional demand by rank: what is left first where something is short."""

from __future__ import annotations

import pandas as pd

from planner.inputs import Settings

PLACE = ["region", "period", "block"]
OPTIONAL = ["workload", *PLACE, "optional", "unranked", "priority", "next_priority", "past_priority"]


def ranked_demand(settings: Settings, demand: pd.DataFrame, workloads: pd.DataFrame) -> pd.DataFrame:
    """Return optional demand with the ranks next to its own in the same region and block; none without the rule.

    Parameters
    ----------
    demand
        workload, region, period, block, requests_per_s.
    workloads
        Index workload: priority, must_serve_fraction, unranked_fraction.

    Returns
    -------
    DataFrame, OPTIONAL: optional and what of it waits for no rank (requests/s), ranks as numbers, NaN for none.
    """
    if settings.priority_rule == "value":
        return pd.DataFrame(columns=OPTIONAL)
    share = 1.0 - demand["workload"].map(workloads["must_serve_fraction"]).astype(float)
    table = demand.assign(
        optional=share * demand["requests_per_s"],
        priority=demand["workload"].map(workloads["priority"]).astype(float),
    )
    free = demand["workload"].map(workloads["unranked_fraction"]).astype(float).fillna(0.0)
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
