"""Prompts and answers on replicas of their own: prefill points and decode points from the roofline.

A prefill replica computes one prompt after the other and sends its KV cache to a decode replica of the same site,
which may be of another product; the plan finds the ratio of the pools.

    prefill   rate = u / prompt,   TTFT = host + prompt + u / (2 (1 - u)) * prompt + KV / link
    decode    rate = B / ((generated - 1) * step(B) + KV / link),   TPOT = step(B) + KV / link / (generated - 1)

u is the load, the wait that of Poisson arrivals at one server (Pollaczek and Khinchine, M/D/1), KV the cache of the
whole prompt and the link the replica's share of its unit's network, which bounds the rate of either phase too.
Sender and receiver are each charged for the transfer over their own link, as if it were stored in between.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.performance.corrected import Rates, correction_at
from planner.performance.deployment import Array, Deployments, deployments
from planner.performance.estimates import by_factor, concurrency_grid, flatten
from planner.performance.frame import FACT_COLUMNS, REFUSED_COLUMNS, as_text
from planner.performance.memory import kv_bytes_per_sequence, most_concurrent
from planner.performance.option_frame import estimated, request_lengths
from planner.performance.pipelines import fill_s, hand_over_s
from planner.performance.roofline import prefill_s
from planner.performance.roofline_constants import RooflineConstants
from planner.performance.serving import Timing
from planner.performance.speculation import draft, speculative_step_s, with_draft
from planner.units import BYTES_PER_GB

LOADS = np.linspace(0.05, 0.95, 19)
"""Loads of a prefill replica that are looked at: shares of its busy time."""


def phase_points(
    rows: pd.DataFrame, factors: pd.DataFrame, rates: Rates
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return prefill and decode points of rows whose option runs the phases apart, and the refusals."""
    parts, refused = [], []
    for phase, make in (("prefill", prefill_points), ("decode", decode_points)):
        deployment = with_draft(deployments(rows), draft(rows))
        tokens = rows["input_tokens"] + (rows["generated_tokens"] if phase == "decode" else 0.0)
        context = tokens.to_numpy(float)[:, None]
        limit = most_concurrent(deployment, context, rates.anchoring.constants)
        fits = limit[:, 0] >= 1
        held = rows[fits].reset_index(drop=True)
        found = make(held, deployment.take(fits), limit[fits], factors, rates) if fits.any() else None
        if found is not None:
            parts.append(found)
        refused.append(phase_refusals(rows, fits, found, phase))
    points = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=FACT_COLUMNS)
    return points, pd.concat(refused, ignore_index=True)


def link_s(rows: pd.DataFrame, deployment: Deployments, constants: RooflineConstants) -> Array:
    """Return seconds to move the KV cache of one prompt over a replica's share of its unit's network."""
    share = (rows["chips"] / rows["chips_per_unit"]).to_numpy(float)
    bytes_per_s = rows["scale_out_gb_per_s"].to_numpy(float) * BYTES_PER_GB * share
    bytes_per_s = (bytes_per_s * constants.transfer_efficiency_fraction)[:, None]
    return kv_bytes_per_sequence(deployment, rows["input_tokens"].to_numpy(float)[:, None]) / bytes_per_s


def prefill_points(
    rows: pd.DataFrame,
    deployment: Deployments,
    limit: Array,
    factors: pd.DataFrame,
    rates: Rates,
) -> pd.DataFrame:
    """Return the loads at which prompts meet their target, one point per replica shape and load."""
    constants = rates.anchoring.constants
    lengths = request_lengths(rows)
    # Prompts run one after the other: what is known of a replica at the middle of its loads speaks for all of them.
    deployment, known = rates.corrected(rows, deployment, np.sqrt(np.maximum(limit, 1.0)))
    prompt = prefill_s(deployment, lengths.uncached, constants, lengths.prompt - lengths.uncached)
    transfer = link_s(rows, deployment, constants)
    wait = LOADS / (2.0 * (1.0 - LOADS)) * prompt
    stages = fill_s(deployment, prompt, lengths.uncached, constants)
    stages = stages + hand_over_s(rows, deployment, lengths.uncached, constants)
    ttft = deployment.first_token_s + prompt + stages + wait + transfer
    rate = np.minimum(LOADS / prompt, 1.0 / transfer)
    nothing = np.zeros_like(ttft)
    timing = Timing(ttft, nothing, rate, np.broadcast_to(prompt, ttft.shape), nothing)
    free = rows.assign(tpot_ms=np.nan, e2e_ms=np.nan, queued=False)
    latencies = by_factor(free, timing, factors)
    load = rate * ttft
    points = flatten(free, load, limit, timing, ttft - wait, latencies)
    # What a prefill replica does in one step is a whole prompt.
    alone_ms = 1e3 * prompt[points["row"].to_numpy(), 0]
    points = points.assign(step_ms=alone_ms, step_alone_ms=alone_ms)
    known = known.spread_over(load.shape[1])
    family = rows.iloc[points["row"].to_numpy()].reset_index(drop=True)
    moved = pd.Series(1e3 * transfer[points["row"].to_numpy(), 0])
    return estimated(points, family, constants, correction_at(known, load, points)).assign(
        phase="prefill",
        decoding="plain",
        tpot_ms=np.nan,
        prefill_time_fraction=1.0,
        basis=points["basis"] + "; prompts only, KV cache sent in " + as_text(moved) + " ms",
    )


def decode_points(
    rows: pd.DataFrame,
    deployment: Deployments,
    limit: Array,
    factors: pd.DataFrame,
    rates: Rates,
) -> pd.DataFrame:
    """Return the batches at which answers meet their target, undisturbed by prompts."""
    constants = rates.anchoring.constants
    lengths, proposed = request_lengths(rows), draft(rows)
    grid = concurrency_grid(limit)
    deployment, known = rates.corrected(rows, deployment, grid)
    later = np.maximum(lengths.generated - 1.0, 1.0)
    transfer = link_s(rows, deployment, constants)
    step = speculative_step_s(deployment, grid, lengths.mean_context, proposed, constants)
    tokens = grid * (proposed.tokens + 1.0) / deployment.pipeline
    step = step + hand_over_s(rows, deployment, tokens, constants)
    tpot = step / proposed.tokens_per_step + transfer / later
    rate = np.minimum(grid / (later * tpot), 1.0 / transfer)
    # Points are compared by time per token, which stands in for the first token they have no part in.
    timing = Timing(tpot, tpot, rate, np.zeros_like(tpot), step)
    free = rows.assign(ttft_ms=np.nan, queued=False)
    tpot_ms = by_factor(free, timing, factors)[1]
    whole_ms = tpot_ms * (1.0 + np.maximum(lengths.generated - 1.0, 0.0))
    points = flatten(free, grid, limit, timing, timing.ttft_s, (tpot_ms, tpot_ms, whole_ms))
    family = rows.iloc[points["row"].to_numpy()].reset_index(drop=True)
    return estimated(points, family, constants, correction_at(known, grid, points)).assign(
        phase="decode",
        ttft_ms=np.nan,
        e2e_ms=points["e2e_ms"] - points["tpot_ms"],
        prefill_time_fraction=0.0,
        basis=points["basis"] + "; answers only",
    )


def phase_refusals(rows: pd.DataFrame, fits: Array, found: pd.DataFrame | None, phase: str) -> pd.DataFrame:
    """Return the candidates that have no point of the phase, and why."""
    keys = ["workload", "shape", "product", "plain_engine", "option"]
    best = rows.assign(fits=fits).groupby([*keys, "engine"], as_index=False)["fits"].any()
    if found is not None and len(found):
        names = ["workload", "shape", "product", "engine", "engine_option"]
        served = pd.MultiIndex.from_frame(found[names].drop_duplicates())
        best = best[~pd.MultiIndex.from_frame(best[keys]).isin(served)]
    target = (
        "prompts miss the TTFT target" if phase == "prefill" else "answers miss the TPOT or end-to-end target"
    )
    reason = np.where(
        best["fits"],
        f"{target} at every load",
        "weights and the KV cache of one request do not fit into a replica",
    )
    return best.assign(phase=phase, ttft_class="", reason=reason)[REFUSED_COLUMNS]
