"""Points at the target's percentile where waiting is computed: each load as a replica of a very large pool meets it.

A mean TPOT never qualifies a point: the queue model turns it into the percentile of the target, interference of
prompts included. What a pool of finite size may carry of a point's rate is in ``pool_caps``.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.performance.deployment import Array
from planner.performance.queueing import Pool, latency_under_load
from planner.performance.roofline_constants import RooflineConstants
from planner.performance.serving import Timing
from planner.units import MS_PER_SECOND

LARGE_POOL = 1e6
"""Replicas beyond which one more changes nothing."""


def target_shares(factors: pd.DataFrame, percentile: pd.Series, metric: str) -> Array:
    """Return the share of requests that must be inside a target stated at each percentile (1 without one)."""
    shares = factors[factors["metric"].eq(metric)].set_index("statistic")["attained_fraction"]
    return percentile.map(shares).fillna(1.0).to_numpy(float)


def unloaded_step_s(timing: Timing, grid: Array, generated: Array) -> Array:
    """Return the decode step without the prompts of others: ``TPOT - (B - 1) prefill / generated``."""
    prompts = np.maximum(grid - 1.0, 0.0) * timing.prefill_s / generated
    return np.maximum(timing.tpot_s - prompts, 0.1 * timing.tpot_s)


def queued_latencies(
    rows: pd.DataFrame,
    grid: Array,
    limit: Array,
    timing: Timing,
    service_ttft_s: Array,
    factors: pd.DataFrame,
    constants: RooflineConstants,
) -> tuple[Array, Array, Array]:
    """Return TTFT, TPOT and end-to-end time in ms at the target's percentile, at each load's own rate.

    Only loads whose service alone is inside the targets are computed; the others keep service and mean, which miss.

    Parameters
    ----------
    rows : DataFrame
        Shapes with generated_tokens, uncached_tokens, prompt_scv, arrival_dispersion, percentile and targets in ms.
    grid, limit
        Concurrency (n, m) and the most requests of a replica (n, 1).
    timing, service_ttft_s
        Timing at each concurrency, and first token without other prompts in front, seconds.
    """
    generated = rows["generated_tokens"].to_numpy(float)[:, None]
    step = unloaded_step_s(timing, grid, generated)
    service = np.broadcast_to(service_ttft_s, grid.shape)
    first, token = service * MS_PER_SECOND, timing.tpot_s * MS_PER_SECOND
    whole = first + np.maximum(generated - 1.0, 0.0) * token
    targets = rows[["ttft_ms", "tpot_ms", "e2e_ms"]].fillna(np.inf).to_numpy(float)
    fits = (
        (first <= targets[:, :1])
        & (step * MS_PER_SECOND <= targets[:, 1:2])
        & (whole * 0.5 <= targets[:, 2:])
    )
    fits &= np.isfinite(timing.requests_per_s)
    row, column = np.nonzero(fits)
    if not len(row):
        return first, token, whole
    at = rows.iloc[row]
    slope = (step[row, column] - step[row, 0]) / np.maximum(grid[row, column] - 1.0, 1.0)
    pool = Pool.of(
        step_alone_s=step[row, column] - slope * grid[row, column],
        step_slope_s=slope,
        prompt_s=timing.prefill_s[row, column],
        prompt_scv=at["prompt_scv"],
        chunks=at["uncached_tokens"].to_numpy(float) / constants.chunk_budget_tokens,
        first_token_s=service[row, column],
        own_prompt_s=0.0,
        own_prompt_scv=0.0,
        generated_tokens=at["generated_tokens"],
        mix_generated_tokens=at["generated_tokens"],
        slots=limit[row, 0],
        dispersion=at["arrival_dispersion"],
        replicas=LARGE_POOL,
        uneven_fraction=constants.router_uneven_fraction,
    )
    found = latency_under_load(pool, timing.requests_per_s[row, column])
    early = target_shares(factors, at["percentile"], "ttft")
    steady = target_shares(factors, at["percentile"], "tpot")
    first, token, whole = first.copy(), token.copy(), whole.copy()
    first[row, column] = found.ttft.quantile(early) * MS_PER_SECOND
    token[row, column] = found.tpot.quantile(steady) * MS_PER_SECOND
    whole[row, column] = found.e2e.quantile(early) * MS_PER_SECOND
    return first, token, whole
