"""Roofline of one replica: time of a decode step, of a prompt, and what follows for TTFT, TPOT and rate.

All functions are vectorised: deployments (n, 1) against a concurrency or length grid (n, m) or (m,). Times
are seconds.

    step(B)  = max(memory, compute) + overlap * min(memory, compute) + collectives + host
    prefill  = max(memory, compute) + overlap * min(memory, compute) + collectives   of one prompt
    TPOT     = step(B) + (B - 1) * prefill / generated          closed loop on a shared replica
    rate     = B / (TTFT + (generated - 1) * TPOT)              requests/s, Little's law
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.performance.deployment import Array, Deployments
from planner.performance.memory import kv_bytes_per_chip
from planner.performance.roofline_constants import RooflineConstants
from planner.units import US_PER_SECOND

ACTIVATION_BYTES = 2.0


@dataclass(frozen=True)
class Timing:
    """Times and rate of a replica at each concurrency; seconds and requests/s, shape (n, m)."""

    ttft_s: Array
    tpot_s: Array
    requests_per_s: Array
    prefill_s: Array
    step_s: Array


def experts_touched_fraction(deployment: Deployments, tokens: Array | float) -> Array:
    """Return the expected share of experts that a batch of tokens reads: ``1 - (1 - k/E)^tokens``."""
    idle = 1.0 - np.minimum(deployment.active_experts / deployment.experts, 1.0)
    return 1.0 - np.power(idle, tokens)


def weight_read_bytes(deployment: Deployments, batch: Array | float, constants: RooflineConstants) -> Array:
    """Return weight traffic of one step per chip, bytes of equivalent dense reading.

    Dense weights once per step; routed experts only where a token of the batch goes, at the lower bandwidth
    of scattered reads. The input embedding is a look-up and is not read.
    """
    routed_active = deployment.expert_weights * deployment.active_experts / deployment.experts
    dense = deployment.active - routed_active
    spread = np.where(deployment.attention_dp > 0, 1.0, deployment.chips)
    routed = deployment.expert_weights * experts_touched_fraction(deployment, batch) / deployment.chips
    return (dense / spread + routed / constants.expert_bandwidth_fraction) * deployment.weight_bytes


def attended_tokens(deployment: Deployments, context: Array | float) -> Array:
    """Return tokens one query attends to in a full layer (all, or the indexer's top k)."""
    return np.minimum(context, deployment.sparse_topk)


def attention_flops(deployment: Deployments, context: Array | float) -> Array:
    """Return FLOPs of attention for one new token against a context, all layers.

    4 * heads * head size per attended token and layer (two products); a latent cache works on the 576 cached
    elements per head instead of the head size.
    """
    cached_width = np.where(
        deployment.mla > 0, deployment.kv_full / np.maximum(deployment.layers, 1.0), deployment.head_dim
    )
    full = deployment.full_layers * attended_tokens(deployment, context)
    sliding = deployment.sliding_layers * np.minimum(context, deployment.window)
    return 4.0 * deployment.heads * cached_width * (full + sliding)


def collective_s(deployment: Deployments, tokens: Array | float, constants: RooflineConstants) -> Array:
    """Return time of the collectives of one pass of some tokens, seconds.

    Tensor parallel: two all-reduces per layer, ``latency + 2 (N-1)/N * tokens * hidden * 2 bytes / link``.
    Data-parallel attention: two all-to-alls per expert layer at twice the latency.
    """
    chips = deployment.chips / deployment.pipeline
    ring = 2.0 * (chips - 1.0) / chips
    volume = ring * tokens * deployment.hidden * ACTIVATION_BYTES
    transfer = volume / (constants.link_efficiency_fraction * np.maximum(deployment.link, 1.0))
    latency = constants.collective_latency_us / US_PER_SECOND
    reduce = 2.0 * deployment.layers * (latency + transfer)
    exchange = 2.0 * deployment.moe_layers * (2.0 * latency + transfer / chips)
    return np.where(chips > 1, np.where(deployment.attention_dp > 0, exchange, reduce), 0.0)


def _overlapped(memory_s: Array, compute_s: Array, constants: RooflineConstants) -> Array:
    longer, shorter = np.maximum(memory_s, compute_s), np.minimum(memory_s, compute_s)
    return longer + constants.overlap_fraction * shorter


def decode_step_s(
    deployment: Deployments, batch: Array | float, context: Array | float, constants: RooflineConstants
) -> Array:
    """Return time of one decode step of a batch whose sequences are at a mean context, seconds."""
    visible = attended_tokens(deployment, context)
    read = weight_read_bytes(deployment, batch, constants) + batch * kv_bytes_per_chip(deployment, visible)
    memory_s = read / (deployment.bandwidth_efficiency * deployment.bandwidth)
    flops = batch * (2.0 * deployment.active + attention_flops(deployment, context))
    compute_s = flops / (deployment.chips * deployment.mfu * deployment.peak_flops)
    host_s = deployment.layers * deployment.layer_s + batch * deployment.sequence_s
    step = _overlapped(memory_s, compute_s, constants) + collective_s(deployment, batch, constants) + host_s
    return step / deployment.tuning


def prefill_s(deployment: Deployments, prompt_tokens: Array | float, constants: RooflineConstants) -> Array:
    """Return time of the uncached part of one prompt on an otherwise idle replica, seconds.

    ``(2 * active * L + causal attention at the mean context L/2) / (chips * MFU * peak) + collectives``
    """
    per_token = 2.0 * deployment.active + attention_flops(deployment, np.asarray(prompt_tokens) / 2.0)
    compute_s = prompt_tokens * per_token / (deployment.chips * deployment.mfu * deployment.peak_flops)
    return (compute_s + collective_s(deployment, prompt_tokens, constants)) / deployment.tuning


def closed_loop(
    deployment: Deployments,
    batch: Array,
    input_tokens: Array | float,
    generated_tokens: Array | float,
    uncached_tokens: Array | float,
    constants: RooflineConstants,
) -> Timing:
    """Return median TTFT, mean TPOT and completed requests/s with a fixed number of requests in flight.

    Prompts of the other ``B - 1`` requests delay decoding once per generated length (chunked prefill spreads
    it evenly); a first token waits for its own prompt, a floor of host work and the step in progress.
    """
    context = np.asarray(input_tokens) + np.asarray(generated_tokens) / 2.0
    step = decode_step_s(deployment, batch, context, constants)
    prompt = prefill_s(deployment, uncached_tokens, constants)
    tpot = step + (batch - 1.0) * prompt / generated_tokens
    ttft = constants.ttft_floor_ms / 1000.0 + constants.ttft_prefill_ratio * prompt + step
    rate = batch / (ttft + np.maximum(np.asarray(generated_tokens) - 1.0, 0.0) * tpot)
    return Timing(ttft, tpot, rate, np.broadcast_to(prompt, rate.shape), step)


def static_batch_rate(
    deployment: Deployments,
    batch: Array,
    input_tokens: Array | float,
    generated_tokens: Array | float,
    constants: RooflineConstants,
) -> Array:
    """Return requests/s of a batch started together, or of an offline run kept full.

    ``B / (generated * step(B) + B * prefill)``
    """
    context = np.asarray(input_tokens) + np.asarray(generated_tokens) / 2.0
    step = decode_step_s(deployment, batch, context, constants)
    return batch / (generated_tokens * step + batch * prefill_s(deployment, input_tokens, constants))
