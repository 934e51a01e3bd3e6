"""Priority: of a later rank only what waits for none is served while some of one before is left; shares are kept."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import at
from planner.plan.audit.once import once
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
    if books.facts.scenario.settings.priority_rule != "strict":
        return pd.DataFrame(columns=[*LABELS, "served", "free", "served_before"])
    table = _optional(books)
    pairs = table.merge(table, on=PLACE, suffixes=("", "_before"))
    return pairs[pairs["rank_before"] < pairs["rank"]]


@once
def served_share(books: Books) -> Check:
    """Return the check that of no workload a smaller part is served than its share of what is served of another.

    left  = unserved - share * optional / optional of the other * unserved of the other
    right = (1 - share) * optional

    share: guaranteed_share; with priority_rule weighted at least priority of the other / own priority, 1 at most.
    Requests/s, every two workloads with optional demand in a region and block.
    """
    table = _optional(books)
    pairs = table.merge(table, on=PLACE, suffixes=("", "_other"))
    pairs = pairs[pairs["workload"] != pairs["workload_other"]]
    share = pairs["promised"].to_numpy(float)
    if books.facts.scenario.settings.priority_rule == "weighted":
        share = np.maximum(share, np.minimum(pairs["rank_other"] / pairs["rank"], 1.0))
    pairs = pairs.assign(share=share)[share > 0.0]
    beside = pairs["share"] * pairs["optional"] * pairs["unserved_other"] / pairs["optional_other"]
    rows = pairs[DEMANDED].assign(
        beside=pairs["workload_other"],
        left=pairs["unserved"] - beside,
        right=(1.0 - pairs["share"]) * pairs["optional"],
    )
    return compare("served_share", "served_share", rows, "<=")


def _optional(books: Books) -> pd.DataFrame:
    """Return optional demand by DEMANDED, requests/s: optional, unserved, served (share), free, promised, rank."""
    table = books.block_demand.rename("asked").reset_index()
    classes = books.facts.scenario.tables["service_classes"].set_index("service_class")["guaranteed_share"]
    stated = books.facts.scenario.tables["workloads"].set_index("workload")
    promised = (
        stated["guaranteed_share"].fillna(stated["service_class"].map(classes).astype(float)).fillna(0.0)
    )
    about = at(stated[["must_serve_fraction", "unranked_fraction", "priority"]], table, ["workload"])
    table["promised"] = table["workload"].map(promised).to_numpy(float)
    table["free"] = np.maximum(about["unranked_fraction"].fillna(0.0).to_numpy(float), table["promised"])
    table["rank"] = about["priority"].to_numpy(int)
    table["optional"] = (1.0 - about["must_serve_fraction"].to_numpy(float)) * table["asked"]
    lost = total(books["unserved"]["requests_per_s"], books["unserved"], DEMANDED)
    table["unserved"] = lost.reindex(pd.MultiIndex.from_frame(table[DEMANDED])).fillna(0.0).to_numpy(float)
    table = table[table["optional"] > 0.0]
    return table.assign(served=1.0 - table["unserved"] / table["optional"])
