"""Metrics of the plan, with the definitions of the field.

Reading order: ``totals`` (what they are made of), ``workload_metrics``, ``fleet_metrics``, ``bands``, ``priorities``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.inputs import Scenario
from planner.plan.bands import band_metrics
from planner.plan.fleet_metrics import energy_metrics, fleet_metrics, footprint_metrics
from planner.plan.metric_rows import MetricRow, over_horizon, ratio
from planner.plan.priorities import priority_metrics
from planner.plan.totals import accounting_cost
from planner.plan.workload_metrics import workload_metrics
from planner.units import SECONDS_PER_HOUR, TOKENS_PER_MTOK

MINUTES_PER_HOUR = 60.0
ETPM = "output tokens per minute x success x quality pass x latency pass"
UNIT_COSTS = {
    "cost_per_mtok_effective": "present value of all cost rows / present value of effective tokens",
    "accounting_cost_per_mtok": "(accelerator depreciation and rent + API tokens - resale + electricity + staff + "
    "network) / effective tokens",
}
"""Figure of the headline -> its definition."""
ACCOUNTING_PART = (
    "part of (depreciation and rent + API tokens - resale + electricity + staff + network) / effective tokens, "
    "undiscounted"
)


def metric_frame(
    scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame], headline: Mapping[str, object]
) -> pd.DataFrame:
    """Return metric, scope, period, value, unit, definition for every metric that follows from a plan."""
    effective = float(frames["tokens"]["effective_mtok"].sum())
    rows = _throughput(c, frames["tokens"])
    rows += workload_metrics(c, frames)
    rows += band_metrics(frames)
    rows += priority_metrics(c, frames)
    rows += fleet_metrics(c, frames)
    rows += energy_metrics(frames["energy"], effective)
    rows += footprint_metrics(frames["footprint"], effective)
    for part, amount in accounting_cost(frames).items():
        name, cost = f"accounting cost: {part}", ratio(amount, effective)
        rows.append(over_horizon(name, "all", cost, "currency/Mtok", ACCOUNTING_PART))
    for name, definition in UNIT_COSTS.items():
        cost = float(headline[name] or np.nan)  # type: ignore[arg-type]
        rows.append(over_horizon(name, "all", cost, "currency/Mtok", definition))
    return pd.DataFrame(rows, columns=["metric", "scope", "period", "value", "unit", "definition"])


def _throughput(c: Coefficients, tokens: pd.DataFrame) -> list[MetricRow]:
    hours = float(c.periods["hours"].sum())
    total = tokens[["effective_mtok", "generated_mtok"]].sum()
    generated = total["generated_mtok"] * TOKENS_PER_MTOK / (hours * SECONDS_PER_HOUR)
    effective = total["effective_mtok"] * TOKENS_PER_MTOK / (hours * MINUTES_PER_HOUR)
    definition = "generated tokens in the period / seconds in the period"
    rows = [
        over_horizon("token throughput", "all", generated, "tok/s", definition),
        over_horizon("eTPM", "all", effective, "tok/min", ETPM),
    ]
    for period, group in tokens.groupby("period", sort=False)["effective_mtok"]:
        minutes = float(c.periods.loc[period, "hours"]) * MINUTES_PER_HOUR
        rate = float(group.sum()) * TOKENS_PER_MTOK / minutes
        rows.append(("eTPM", "all", str(period), rate, "tok/min", ETPM))
    return rows
