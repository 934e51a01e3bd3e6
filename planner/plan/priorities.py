"""How much of the optional demand of each priority is served."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from planner.coefficients import Coefficients
from planner.plan.metric_rows import HORIZON, MetricRow

NAME = "served share of optional demand"
DEFINITION = "optional requests served / optional requests asked, of the workloads of one priority"


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
