"""Metrics of each workload: success, cache hits, latency, concurrency, fluctuation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.plan.metric_rows import MetricRow, over_horizon, ratio
from planner.plan.pools import at_listed_size

SERVICE_BASIS = "request-weighted over the operating points in use, service only: no waiting, no network"
QUEUED_BASIS = "request-weighted over the operating points in use, at full rate in a large pool: with waiting"
LATENCIES = (
    ("ttft_ms", "TTFT", "ms"),
    ("tpot_ms", "TPOT", "ms"),
    ("e2e_ms", "end-to-end latency", "ms"),
    ("latency_pass_fraction", "latency pass rate", "fraction"),
    ("quality_pass_fraction", "quality pass rate of the engine", "fraction"),
)
"""Column of an operating point, its metric, its unit."""


def workload_metrics(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> list[MetricRow]:
    """Return the metrics of every workload that is served."""
    rows: list[MetricRow] = []
    points = frames["points"].set_index("point")
    serving = frames["serving"]
    weighted = serving.assign(weight=serving["requests_per_s"] * serving["hours"])
    for name, group in weighted.groupby("workload", sort=False):
        scope = str(name)
        counting = group[group["phase"] != "prefill"]
        rows += _rates(scope, c.workloads.loc[name])
        rows += _cache_hits(scope, group, c, points)
        rows += _latencies(scope, counting, points, frames)
        rows.append(_sla_concurrency(scope, counting, points, frames))
        rate = counting.groupby(["period", "block"])["requests_per_s"].sum()
        swing = ratio(float(rate.max() - rate.min()), float(rate.mean()))
        definition = "(max - min) / mean over the blocks"
        rows.append(over_horizon("long-run fluctuation of requests", scope, swing, "fraction", definition))
        found = frames["configurations"]
        found = found[found["workload"].eq(scope) & found["runs"]]
        counted = "engines (with their precision) on chips that the workload runs on over the horizon"
        rows.append(over_horizon("configurations in use", scope, len(found), "configurations", counted))
    return rows


def _rates(scope: str, about: pd.Series) -> list[MetricRow]:
    success = float(about["success_fraction"])
    return [
        over_horizon("success rate", scope, success, "fraction", "successful / total requests"),
        over_horizon("error rate", scope, 1.0 - success, "fraction", "failed / total requests"),
    ]


def _cache_hits(scope: str, group: pd.DataFrame, c: Coefficients, points: pd.DataFrame) -> list[MetricRow]:
    """Return the hit rate at which the plan's points run, by prompt tokens: the point's, else the workload's own."""
    prompts = group[group["phase"] != "decode"]
    lengths = c.shapes.set_index(["workload", "shape"])["input_tokens"]
    tokens = lengths.reindex(pd.MultiIndex.from_frame(prompts[["workload", "shape"]])).to_numpy(float)
    weight = prompts["weight"].to_numpy(float) * tokens
    stated = float(c.workloads["cached_input_fraction"][scope])
    hits = prompts["point"].map(points["cache_hit_fraction"]).astype(float).fillna(stated).to_numpy()
    rate = float(np.average(hits, weights=weight)) if weight.sum() else stated
    definition = "prompt tokens found in the cache / prompt tokens, at the operating points in use"
    return [over_horizon("prefix cache hit rate", scope, rate, "fraction", definition)]


def _latencies(
    scope: str, counting: pd.DataFrame, points: pd.DataFrame, frames: Mapping[str, pd.DataFrame]
) -> list[MetricRow]:
    evaluated = _evaluated(counting["point"], points)
    queued = "pools" in frames and frames["pools"]["workload"].eq(scope).any()
    basis = QUEUED_BASIS if queued else SERVICE_BASIS
    weight, rows = counting["weight"].to_numpy(), []
    for column, metric, unit in LATENCIES:
        values = counting["point"].map(points[column]).to_numpy(dtype=float)
        known = ~np.isnan(values)
        if known.any():
            mean = float(np.average(values[known], weights=weight[known]))
            definition = f"{basis}; {evaluated}" if column == "quality_pass_fraction" else basis
            rows.append(over_horizon(metric, scope, mean, unit, definition))
    return rows


def _evaluated(used: pd.Series, points: pd.DataFrame) -> str:
    """Return in words which engines are evaluated on the model of a workload, and by what."""
    rows = points.reindex(used.unique())
    option = rows["engine_option"].where(rows["engine_option"].eq(""), " + " + rows["engine_option"])
    name = rows["engine"].astype(object).where(rows["engine"].notna(), "stated rates") + option
    groups = name.groupby(rows["evaluations"].where(rows["evaluations"].ne(""), "not evaluated"), sort=True)
    return "; ".join(f"{', '.join(sorted(names.unique()))}: {by}" for by, names in groups)


def _sla_concurrency(
    scope: str, counting: pd.DataFrame, points: pd.DataFrame, frames: Mapping[str, pd.DataFrame]
) -> MetricRow:
    """Return the most requests in flight that break no target, in the block with the most.

    Where waiting is computed: the batch of a replica at the cap of its pool's size, times the replicas.
    """
    pools = frames["pools"] if "pools" in frames else pd.DataFrame({"workload": []})
    pools = pools[pools["workload"].eq(scope)]
    if len(pools):
        listed = at_listed_size(pools, frames["pool_caps"])
        flight = (
            (listed["concurrency"] * listed["replicas"]).groupby([listed["period"], listed["block"]]).sum()
        )
        basis = "requests in flight of the busiest block's pools at the load up to which no target is broken"
    else:
        batch = counting["point"].map(points["concurrency"] * points["replicas_per_unit"]).astype(float)
        flight = batch * counting["units_running"] * counting["peak_ratio"]
        flight = flight.groupby([counting["period"], counting["block"]]).sum()
        basis = "requests in flight at the operating points of the busiest block"
    return over_horizon("SLA-compliant concurrency", scope, float(flight.max()), "requests", basis)
