"""How much of the optional demand of each priority is served, and what ranks leave that is worth more."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.service.priority import PLACE, ranked_demand
from planner.plan.metric_rows import HORIZON, MetricRow

NAME = "served share of optional demand"
DEFINITION = "optional requests served / optional requests asked, of the workloads of one priority"


SERVED = 1e-6
"""Share of optional demand below which none counts as served, or left."""


def rank_warnings(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return a sentence for each workload that ranks leave waiting behind one whose tokens are worth less.

    By value the dearer would be served first; that it is not is a rule of the scenario, and what it leaves is said.
    """
    ranked = ranked_demand(c.settings, c.demand, c.workloads)
    if ranked.empty:
        return []
    key = ["workload", *PLACE]
    table = ranked.merge(frames["unserved"], on=key, how="left")
    table = table.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    table["left"] = table["requests_per_s"].astype(float).fillna(0.0).clip(lower=0.0)
    table["served"] = table["optional"] - table["left"]
    table["value"] = table["workload"].map(c.workloads["value_per_mtok"]).astype(float).fillna(0.0)
    behind = table[table["left"] > SERVED * table["optional"]]
    before = table[table["served"] > SERVED * table["optional"]]
    pairs = behind.merge(before, on=PLACE, suffixes=("", "_before"))
    pairs = pairs[
        (pairs["priority_before"] < pairs["priority"]) & (pairs["value_before"] < pairs["value"])
    ].drop_duplicates(key)
    asked = (table["optional"] * table["hours"]).groupby(table["workload"]).sum()
    said = []
    for workload, own in pairs.groupby("workload", sort=False):
        share = float((own["left"] * own["hours"]).sum() / asked[workload])
        first = own.iloc[0]
        worth = f"{first['value']:,.6g} {c.settings.currency}/Mtok"
        said.append(
            f"priority_rule strict leaves {share:.0%} of the optional demand of {workload} (rank "
            f"{first['priority']:.0f}, {worth}) while {first['workload_before']} (rank "
            f"{first['priority_before']:.0f}, {first['value_before']:,.6g}) is served; workloads.unranked_fraction "
            "takes a share of it out of the ranks, guaranteed_share keeps one beside what is served, "
            "must_serve_fraction makes one a limit"
        )
    return said


def priority_metrics(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> list[MetricRow]:
    """Return the metric of every priority with optional demand, over the horizon and by period."""
    lost = frames["unserved"].rename(columns={"requests_per_s": "unserved"})
    table = c.demand.merge(lost, on=["workload", "region", "period", "block"], how="left")
    table = table.assign(unserved=table["unserved"].fillna(0.0).astype(float))
    table = table.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    table["priority"] = table["workload"].map(c.workloads["priority"])
    optional = 1.0 - table["workload"].map(c.workloads["must_serve_fraction"]).astype(float)
    table["asked"] = table["requests_per_s"] * optional * table["hours"]
    table["served"] = table["asked"] - table["unserved"] * table["hours"]
    rows: list[MetricRow] = []
    for priority, own in table[table["asked"] > 0.0].groupby("priority"):
        parts = [(HORIZON, own), *((str(name), part) for name, part in own.groupby("period", sort=False))]
        for period, part in parts:
            share = float(part["served"].sum() / part["asked"].sum())
            rows.append(
                (NAME, f"priority {priority:.0f}", period, min(max(share, 0.0), 1.0), "fraction", DEFINITION)
            )
    return rows
