"""Metrics of the plan, with the definitions of the field.

Reading order: ``totals`` (what they are made of), ``workload_metrics``, ``service_availability``, ``engine_metrics``,
``fleet_metrics``, ``bands``, ``priorities``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.inputs import Scenario
from planner.plan.attribution import REQUESTS, TOKENS
from planner.plan.bands import band_metrics
from planner.plan.engine_metrics import engine_metrics
from planner.plan.fleet_metrics import energy_metrics, fleet_metrics, footprint_metrics, own_output
from planner.plan.metric_rows import MetricRow, over_horizon, ratio
from planner.plan.priorities import priority_metrics
from planner.plan.service_availability import availability_metrics
from planner.plan.totals import accounting_cost
from planner.plan.unit_costs import KEYS, OUTPUT, PER, bases
from planner.plan.workload_metrics import workload_metrics
from planner.units import SECONDS_PER_HOUR, TOKENS_PER_MTOK

MINUTES_PER_HOUR = 60.0
REQUESTS_PER_MILLION = 1e6
ETPM = "output tokens per minute x success x quality pass x latency pass"
UNIT_COSTS = {
    "cost_per_mtok_effective": "present value of all cost rows / present value of effective tokens",
    "accounting_cost_per_mtok": "(accelerator depreciation and rent + API tokens - resale + electricity + staff + "
    "network) / effective tokens",
    "cost_per_million_requests": "present value of the cost of requests without token lengths / present value of their "
    "number, effective ones",
    "accounting_cost_per_million_requests": "(accelerator depreciation and rent - resale + electricity + staff + "
    "network) / effective requests without token lengths",
}
"""Figure of the headline -> its definition."""
ACCOUNTING_PART = {
    basis: f"part of (depreciation and rent + API tokens - resale + electricity + staff + network) / {output}, "
    "undiscounted"
    for basis, output in ((TOKENS, "effective tokens"), (REQUESTS, "effective requests"))
}
SCOPE = {TOKENS: "all", REQUESTS: "requests without token lengths"}
"""How output is counted -> scope of a metric of all of it."""


def metric_frame(
    scenario: Scenario,
    c: Coefficients,
    frames: Mapping[str, pd.DataFrame],
    headline: Mapping[str, object],
    sure: pd.DataFrame,
) -> pd.DataFrame:
    """Return metric, scope, period, value, unit, definition for every metric that follows from a plan.

    ``sure``: how surely each pool has the units it needs (see ``plan.spares.pool_confidence``).
    """
    tokens = frames["tokens"]
    counted = bases(c, tokens)
    rows = _throughput(c, tokens) if TOKENS in counted else []
    rows += _request_rate(c, tokens) if REQUESTS in counted else []
    rows += workload_metrics(c, frames)
    rows += availability_metrics(scenario, c, frames["serving"], sure)
    rows += engine_metrics(scenario, c, frames)
    rows += band_metrics(frames)
    rows += priority_metrics(c, frames)
    rows += fleet_metrics(c, frames)
    own = own_output(c, frames)
    rows += energy_metrics(frames["energy"], own)
    rows += footprint_metrics(frames["footprint"], own)
    for basis in counted:
        made, unit = float(tokens[OUTPUT[basis]].sum()), f"currency/{PER[basis]}"
        if not made:
            continue
        for part, amount in accounting_cost(frames, basis if len(counted) > 1 else None).items():
            if basis == REQUESTS and part == "API tokens":
                # Services sell tokens: nothing of them serves a request without lengths.
                continue
            name = f"accounting cost: {part}"
            rows.append(over_horizon(name, SCOPE[basis], ratio(amount, made), unit, ACCOUNTING_PART[basis]))
        for name in KEYS[basis]:
            cost = float(headline[name] or np.nan)  # type: ignore[arg-type]
            rows.append(over_horizon(name, "all", cost, unit, UNIT_COSTS[name]))
    return pd.DataFrame(rows, columns=["metric", "scope", "period", "value", "unit", "definition"])


def _request_rate(c: Coefficients, tokens: pd.DataFrame) -> list[MetricRow]:
    """Return the rate of effective requests without token lengths: the only output they have."""
    definition = "requests x success x quality pass x latency pass, of those without token lengths"
    whole = float(tokens["effective_mrequests"].sum()) * REQUESTS_PER_MILLION
    seconds = float(c.periods["hours"].sum()) * SECONDS_PER_HOUR
    rows = [over_horizon("effective requests", SCOPE[REQUESTS], whole / seconds, "requests/s", definition)]
    for period, group in tokens.groupby("period", sort=False)["effective_mrequests"]:
        rate = float(group.sum()) * REQUESTS_PER_MILLION
        rate /= float(c.periods.loc[period, "hours"]) * SECONDS_PER_HOUR
        rows.append(("effective requests", SCOPE[REQUESTS], str(period), rate, "requests/s", definition))
    return rows


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
