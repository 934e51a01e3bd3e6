"""The frame of points all providers fill, and its reduction to the loads that can be chosen."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

FACT_COLUMNS = [
    "workload",
    "shape",
    "product",
    "model",
    "engine",
    "engine_option",
    "decoding",
    "phase",
    "layout",
    "replica_chips",
    "replicas_per_unit",
    "units_per_replica",
    "idle_chips_per_unit",
    "concurrency",
    "cache_hit_fraction",
    "prefill_time_fraction",
    "requests_per_s",
    "memory_bound_requests_per_s",
    "ttft_ms",
    "tpot_ms",
    "e2e_ms",
    "service_ttft_ms",
    "step_ms",
    "step_alone_ms",
    "slots",
    "quality_pass_fraction",
    "measured_kw",
    "provider",
    "band_low_ratio",
    "band_high_ratio",
    "source",
    "source_date",
    "confidence",
    "basis",
]
"""Columns every provider returns; rates are of one product unit, latencies at the target's statistic.

``service_ttft_ms`` (no waiting), ``step_ms`` (a decode step at the point's concurrency; of a prefill point its whole
prompt), ``step_alone_ms`` (of one request) and ``slots`` (most requests a replica holds) are what the queue model
needs; blank where a point states only its rate. ``layout`` (blank where a rate is stated) and ``replica_chips`` tell
deployments apart: a pool has one for all its shapes. Of workloads whose waiting is computed, points of both phases come
at every load, with the latencies of the service alone: what a pool may carry is decided over its mix.
``memory_bound_requests_per_s`` is the rate of the replica's best load that memory holds, whatever the latency (blank
where nothing estimates it).
"""

ERROR_COLUMNS = [
    "rate_log_correction",
    "rate_log_sd",
    "first_token_log_sd",
    "tuning_low_ratio",
    "tuning_high_ratio",
    "chip_family",
    "engine_software",
    "evidence_fraction",
    "evidence",
]
"""How far a rate may be off; a provider fills what it knows, ``errors.with_errors`` the rest.

``rate_log_correction`` is what measurements add to log(rate) of the roofline (0 = nothing), ``rate_log_sd`` the
standard deviation of log(true / predicted rate), ``first_token_log_sd`` that of the first token; the tuning ratios are
what tuning of the own engines may change beside it (1 where the user measured them). Errors go together by
``chip_family``, ``model`` and ``engine_software``. ``evidence_fraction`` is the share of that variance which
measurements explain, ``evidence`` says which rows these are, or why there are none.
"""

TAKEN_COLUMNS = [
    "point",
    "workload",
    "shape",
    "ttft_class",
    "clock",
    "clock_choice",
    "product",
    "model",
    "engine",
    "engine_option",
    "phase",
    "replica_chips",
    "replicas_per_unit",
    "units_per_replica",
    "idle_chips_per_unit",
    "concurrency",
    "cache_hit_fraction",
    "prefill_time_fraction",
    "requests_per_s",
    "memory_bound_requests_per_s",
    "engine_requests_per_s",
    "power_bound_requests_per_s",
    "prefill_compute_fraction",
    "decode_compute_fraction",
    "decode_memory_fraction",
    "memory_used_fraction",
    "ttft_ms",
    "tpot_ms",
    "e2e_ms",
    "service_ttft_ms",
    "step_ms",
    "step_alone_ms",
    "slots",
    "latency_pass_fraction",
    "quality_pass_fraction",
    "evaluations",
    "prefill_kw",
    "decode_kw",
    "unit_kw",
    "provider",
    "band_low_ratio",
    "band_high_ratio",
    "rate_log_correction",
    "rate_log_sd",
    "first_token_log_sd",
    "tuning_low_ratio",
    "tuning_high_ratio",
    "chip_family",
    "engine_software",
    "evidence_fraction",
    "evidence",
    "source",
    "source_date",
    "confidence",
    "basis",
]

REFUSED_COLUMNS = ["workload", "shape", "ttft_class", "product", "engine", "phase", "reason"]
ROUTE_COLUMNS = [
    "workload",
    "region",
    "site",
    "rtt_ms",
    "ttft_budget_ms",
    "ttft_class",
    "admissible",
    "reason",
]


def as_text(numbers: pd.Series) -> pd.Series:
    """Return whole numbers as text."""
    return pd.Series([f"{value:.0f}" for value in numbers], index=numbers.index, dtype="str")


@dataclass(frozen=True)
class PointSet:
    """Operating points of a scenario.

    Attributes
    ----------
    taken : DataFrame
        One row per usable point (``TAKEN_COLUMNS``); ``engine_option`` is empty for the plain engine,
        ``cache_hit_fraction`` blank where the workload's stated share holds; ``units_per_replica`` above 1 where a
        replica takes several units. ``requests_per_s`` are attempts one
        product unit completes per second when it serves only that shape and phase; latencies are of the service
        alone, at the statistic of the target; ``unit_kw`` is the IT power of one unit running at the point. Beside the
        rate stand what bounds it, at nominal clock: memory and bandwidth without a latency target, the engine before
        power, power (blank where none is known to bind), and the arithmetic and memory traffic of each phase over peak.
    refused : DataFrame
        Points and pairs that were looked at and not taken, with the reason (``REFUSED_COLUMNS``).
    routes : DataFrame
        Region-site pairs per workload with the latency budget left and its class (``ROUTE_COLUMNS``).
    caps : DataFrame
        Highest load of each pool as a share of its points' rates, by number of replicas, and the latency percentiles
        there (``pool_caps.CAP_COLUMNS``); only of workloads whose waiting is computed.
    """

    taken: pd.DataFrame
    refused: pd.DataFrame
    routes: pd.DataFrame
    caps: pd.DataFrame = field(default_factory=pd.DataFrame)


def frontier(points: pd.DataFrame) -> pd.DataFrame:
    """Return the points of each group that no other beats in TTFT and rate at once.

    Parameters
    ----------
    points : DataFrame
        Columns group, ttft_ms, requests_per_s, keep_all (true keeps the point whatever the others are).
    """
    ordered = points.sort_values(
        ["group", "ttft_ms", "requests_per_s"], ascending=[True, True, False], kind="stable"
    )
    best_before = ordered.groupby("group")["requests_per_s"].cummax().groupby(ordered["group"]).shift()
    better = best_before.isna() | (ordered["requests_per_s"] > best_before)
    return ordered[better | ordered["keep_all"]]
