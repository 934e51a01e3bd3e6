"""Priority: while some of a rank before is left in the same place and block, only what waits for no rank is served."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import at
from planner.plan.audit.report import Check, compare, total

PLACE = ["region", "period", "block"]
DEMANDED = ["workload", *PLACE]
LABELS = [*DEMANDED, "workload_before"]


def priority_shares(books: Books) -> Check:
    """Return the check that of what waits for ranks no greater share is served than of an earlier rank in the place.

    served - share that waits for none  <=  (1 - that share) * served share of the earlier rank
    """
    pairs = _pairs(books)
    rows = pairs[LABELS].assign(
        left=pairs["served"] - pairs["free"], right=(1.0 - pairs["free"]) * pairs["served_before"]
    )
    return compare("priority_shares", "priority_first", rows, "<=")


def priority_order(books: Books) -> Check:
    """Return the check that of what is served beyond the share that waits for no rank, and what is left of an earlier
    rank, one is nothing.

    A plan of the linear relaxation is not held to it.
    """
    pairs = _pairs(books)
    if books.plan.headline.get("relaxed"):
        pairs = pairs.iloc[:0]
    waiting = np.maximum(pairs["served"].to_numpy(float) - pairs["free"].to_numpy(float), 0.0)
    both = np.minimum(waiting, 1.0 - pairs["served_before"].to_numpy(float))
    return compare("priority_order", "priority_next", pairs[LABELS].assign(left=both, right=0.0), "<=")


def _pairs(books: Books) -> pd.DataFrame:
    """Return every two workloads of different rank in a place, with the served shares of their optional demand."""
    if books.facts.scenario.settings.priority_rule == "value":
        return pd.DataFrame(columns=[*LABELS, "served", "free", "served_before"])
    table = books.block_demand.rename("asked").reset_index()
    stated = ["must_serve_fraction", "unranked_fraction", "priority"]
    about = at(books.facts.workloads[stated], table, ["workload"])
    table["free"] = about["unranked_fraction"].fillna(0.0).to_numpy(float)
    table["rank"] = about["priority"].to_numpy(int)
    table["optional"] = (1.0 - about["must_serve_fraction"].to_numpy(float)) * table["asked"]
    lost = total(books["unserved"]["requests_per_s"], books["unserved"], DEMANDED)
    table["unserved"] = lost.reindex(pd.MultiIndex.from_frame(table[DEMANDED])).fillna(0.0).to_numpy(float)
    table = table[table["optional"] > 0.0]
    table["served"] = 1.0 - table["unserved"] / table["optional"]
    pairs = table.merge(table, on=PLACE, suffixes=("", "_before"))
    return pairs[pairs["rank_before"] < pairs["rank"]]
