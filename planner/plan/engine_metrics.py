"""Metrics of engines and chips at the operating points in use: phases, arithmetic, memory, energy, context."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.inputs import Scenario
from planner.plan.attribution import TOKENS, basis_of
from planner.plan.metric_rows import MetricRow, over_horizon, ratio
from planner.units import BYTES_PER_GB, SECONDS_PER_HOUR, W_PER_KW

PREFILL = "prompt tokens computed / busy seconds of a unit in prefill"
DECODE = "tokens generated / busy seconds of a unit in decode"
MFU = "2 x active parameters x tokens computed per second / nameplate FLOPS of the busy units"
PER_WATT = "tokens generated per second / W of the busy units at own sites (idle and load, no cooling)"
OCCUPANCY = "weights, buffers and cache of the requests in flight / memory of the busy replicas"
PER_TOKEN = "memory used by busy replicas / tokens of the requests in flight at their mean length"
CONTEXT = "most input + output tokens of one request: the model's context, or what KV memory holds where that is less"


def engine_metrics(
    scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]
) -> list[MetricRow]:
    """Return the metrics of every workload whose requests have lengths; only of points that say enough."""
    rows: list[MetricRow] = []
    for name, run in busy_points(scenario, c, frames).groupby("workload", sort=False):
        scope, seconds = str(name), run["seconds"]
        in_prefill = seconds * run["held_prefill_fraction"]
        for metric, made, spent, unit, definition in (
            ("prefill throughput", run["prompts"], in_prefill, "tok/s", PREFILL),
            ("decode throughput", run["answers"], seconds - in_prefill, "tok/s", DECODE),
            ("compute utilisation (MFU)", seconds * run["mfu"], seconds, "fraction", MFU),
            ("energy efficiency", run["answers"], seconds * run["kw"] * W_PER_KW, "tok/s/W", PER_WATT),
            ("memory occupancy", run["used_bytes"], run["bytes"], "fraction", OCCUPANCY),
            ("memory per token", run["used_bytes"], run["held_tokens"], "B/token", PER_TOKEN),
        ):
            known = (made.notna() & spent.notna() & (spent > 0)).to_numpy()
            if known.any():
                value = ratio(float(made[known].sum()), float(spent[known].sum()))
                rows.append(over_horizon(metric, scope, value, unit, definition))
        longest = run["context"].dropna()
        if len(longest):
            rows.append(over_horizon("context window", scope, float(longest.min()), "tokens", CONTEXT))
    return rows


def busy_points(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return what the busy units of each serving row do whose requests have lengths.

    Returns
    -------
    DataFrame: workload, seconds (unit-seconds busy), held_prefill_fraction, prompts and answers (tokens computed and
    generated), mfu at the held clock, kw of a busy unit of own sites, bytes, used_bytes and held_tokens (times
    seconds), context.
    """
    serving = frames["serving"]
    serving = serving[basis_of(c, serving) == TOKENS].reset_index(drop=True)
    tables = scenario.tables
    point = frames["points"].drop_duplicates("point").set_index("point").reindex(serving["point"])
    point = point.reset_index(drop=True)
    place = pd.MultiIndex.from_frame(serving[["point", "site", "cooling"]])
    run = c.runs.set_index(["point", "site", "cooling"]).reindex(place).reset_index(drop=True)
    shape = c.shapes.set_index(["workload", "shape"])
    shape = shape.reindex(pd.MultiIndex.from_frame(serving[["workload", "shape"]])).reset_index(drop=True)
    about = c.workloads.reindex(serving["workload"]).reset_index(drop=True)
    attempts = 1.0 + about["retry_fraction"].astype(float)
    seconds = serving["units_running"] * serving["hours"] * SECONDS_PER_HOUR
    tried = seconds * run["requests_per_s"] * attempts
    hit = point["cache_hit_fraction"].astype(float).fillna(about["cached_input_fraction"].astype(float))
    generated = shape["output_tokens"] * about["reasoning_ratio"].astype(float)
    share = point["prefill_time_fraction"].astype(float)
    busiest = (share * point["prefill_compute_fraction"]).fillna(0.0)
    busiest = busiest + ((1.0 - share) * point["decode_compute_fraction"]).fillna(0.0)
    known = point[["prefill_compute_fraction", "decode_compute_fraction"]].notna().any(axis=1)
    idle = c.stands.drop_duplicates(["product", "site", "cooling"]).set_index(["product", "site", "cooling"])
    unit = idle.reindex(pd.MultiIndex.from_frame(serving[["product", "site", "cooling"]])).reset_index(
        drop=True
    )
    own = unit["includes"].ne("hosted")
    chip = serving["product"].map(tables["products"].set_index("product")["chip"])
    memory = chip.map(tables["chips"].set_index("chip")["memory_gb"]).astype(float) * BYTES_PER_GB
    replicas = point["replicas_per_unit"].astype(float)
    total = seconds * replicas * point["replica_chips"].astype(float) * memory
    in_flight = seconds * replicas * point["concurrency"].astype(float)
    model = point["model"].map(tables["models"].set_index("model")["context_tokens"]).astype(float)
    length = shape["input_tokens"] + generated
    return pd.DataFrame(
        {
            "workload": serving["workload"],
            "seconds": seconds,
            "held_prefill_fraction": run["held_prefill_fraction"],
            "prompts": (tried * shape["input_tokens"] * (1.0 - hit)).where(point["phase"] != "decode", 0.0),
            "answers": (tried * generated).where(point["phase"] != "prefill", 0.0),
            "mfu": (busiest * run["requests_per_s"] * attempts / point["requests_per_s"]).where(known),
            "kw": (unit["idle_kw"].astype(float) + serving["added_kw"]).where(own),
            "bytes": total.where(point["memory_used_fraction"].notna()),
            "used_bytes": total * point["memory_used_fraction"].astype(float),
            "held_tokens": in_flight * (shape["input_tokens"] + generated / 2.0),
            "context": np.fmin(model, point["slots"].astype(float) * length),
        }
    )
