"""What a set of measured loads says about itself: knees, warm caches, units that cannot be right.

Nothing is dropped here. A flagged row stays a measured row: whether a point past the knee is of use is for
the latency targets of a workload to decide.
"""

from __future__ import annotations

import math

import pandas as pd

from planner.inputs.importers.benchmark_run import BenchmarkRun, Latency
from planner.units import MS_PER_SECOND, mtok_from_requests

PAST_KNEE = "past the knee"
CACHE_SUSPECT = "prefix cache suspected"
UNIT_SUSPECT = "unit suspected"
LOAD_DISAGREES = "load and latency disagree"
LATENCIES_DISAGREE = "latencies disagree"

SERVED_OF_REQUESTED_FRACTION = 0.97
"""Below this share of the requested rate the system did not keep up; the last requests of a run drain after
its end, which alone costs a percent or two."""
KNEE_TTFT_RATIO = 5.0
"""A median time to first token this many times the lowest of the curve is queueing, not service."""
CACHE_TTFT_RATIO = 0.8
"""Under rising load the time to first token may fall this far by chance (first requests, warm-up)."""
SHORTEST_TTFT_MS = 2.0
SHORTEST_TPOT_MS = 0.2
LONGEST_TTFT_MS = 600_000.0
LONGEST_TPOT_MS = 5_000.0
TOKEN_TIME_RATIO = 1.5
"""Means and medians of skewed latencies differ; more than this is another definition or another unit."""
IN_FLIGHT_RANGE = (0.5, 1.5)
"""Rate times mean latency over the stated concurrency of a closed loop; 1 by Little's law."""


def past_knee(points: pd.DataFrame) -> pd.Series:
    """Return where a load is past the knee of its curve.

    Open loop: served below 97 % of the requested rate, and the median TTFT at least five times the lowest of
    the curve. Closed loop: the same TTFT, and a rate no higher than at a lower load of the curve.

    Parameters
    ----------
    points : DataFrame
        Columns curve, load (rises along the curve), requested_per_s, requests_per_s, typical_ttft_ms.
    """
    ordered = points.sort_values(["curve", "load"], kind="stable")
    lowest = ordered.groupby("curve")["typical_ttft_ms"].transform("min")
    queueing = ordered["typical_ttft_ms"] >= KNEE_TTFT_RATIO * lowest
    behind = ordered["requests_per_s"] < SERVED_OF_REQUESTED_FRACTION * ordered["requested_per_s"]
    best_before = ordered.groupby("curve")["requests_per_s"].cummax().groupby(ordered["curve"]).shift()
    flat = ordered["requested_per_s"].isna() & (ordered["requests_per_s"] <= best_before)
    return (queueing & (behind | flat)).reindex(points.index)


def cache_suspected(points: pd.DataFrame) -> pd.Series:
    """Return where the time to first token is below 80 % of that at a lower load of the same curve.

    A ladder of loads that replays the same prompts finds them in the prefix cache: every later step looks
    faster than it is.
    """
    ordered = points.sort_values(["curve", "load"], kind="stable")
    slowest = ordered.groupby("curve")["typical_ttft_ms"].cummax().groupby(ordered["curve"]).shift()
    return (ordered["typical_ttft_ms"] < CACHE_TTFT_RATIO * slowest).reindex(points.index)


def unit_remarks(run: BenchmarkRun) -> tuple[str, ...]:
    """Return why the units of a run's latencies cannot be right, nothing when they can."""
    return (
        *_out_of_range("TTFT", run.ttft, SHORTEST_TTFT_MS, LONGEST_TTFT_MS),
        *_out_of_range("TPOT", run.tpot, SHORTEST_TPOT_MS, LONGEST_TPOT_MS),
        *_not_in_flight(run),
        *_other_token_time(run),
    )


def _out_of_range(label: str, values: Latency, shortest_ms: float, longest_ms: float) -> list[str]:
    slow = values.p99 if math.isfinite(values.p99) else values.typical
    if slow < shortest_ms:
        return [f"{UNIT_SUSPECT}: {label} {slow:.3g} ms is shorter than any engine's; were these seconds?"]
    if values.typical > longest_ms:
        slow = values.typical
        return [f"{UNIT_SUSPECT}: {label} {slow:.6g} ms is longer than any user waits; a smaller unit?"]
    return []


def _not_in_flight(run: BenchmarkRun) -> list[str]:
    """Compare a closed loop with Little's law: rate x mean latency is what the client kept in flight."""
    in_flight = run.served_per_s * run.turn_ms / MS_PER_SECOND
    low, high = IN_FLIGHT_RANGE
    if run.load_kind != "closed_loop" or not run.concurrency > 0 or math.isnan(in_flight):
        return []
    if low <= in_flight / run.concurrency <= high:
        return []
    kept = f"the client kept {run.concurrency:g}"
    return [f"{LOAD_DISAGREES}: rate times latency gives {in_flight:.3g} requests in flight, {kept}"]


def _other_token_time(run: BenchmarkRun) -> list[str]:
    """Compare the stated time per output token with ``(end to end - TTFT) / (output - 1)``."""
    if not (run.output_tokens > 1 and run.tpot.typical > 0):
        return []
    implied_ms = (run.e2e.typical - run.ttft.typical) / (run.output_tokens - 1.0)
    ratio = implied_ms / run.tpot.typical
    if math.isnan(ratio) or 1 / TOKEN_TIME_RATIO < ratio < TOKEN_TIME_RATIO:
        return []
    stated = f"the file says {run.tpot.typical:.3g}"
    return [
        f"{LATENCIES_DISAGREE}: end to end less TTFT gives {implied_ms:.3g} ms per output token, {stated}"
    ]


def cost_per_mtok_output(price_per_chip_hour: float, chips: float, output_tok_per_s: float) -> float:
    """Return what a million output tokens cost on a system that is always busy at this rate.

    ``chips * price / (rate * 0.0036)``: every chip of the measured system is paid for, whatever its role, and
    all of it is charged to the output.

    >>> round(cost_per_mtok_output(2.21, 28, 14_000), 3)
    1.228
    """
    return price_per_chip_hour * chips / mtok_from_requests(1.0, output_tok_per_s, 1.0)
