"""What a replica delivers under a kind of load: latencies and completed requests per second.

closed loop    TPOT = step(B) + (B - 1) * prefill / generated,   rate = B / (TTFT + (generated - 1) TPOT)
batch          rate = B / (generated * step(B) + B * prefill)
offered rate   the concurrency at which arrivals and completions balance, then as a closed loop
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.performance.deployment import Array, Deployments
from planner.performance.roofline import decode_step_s, prefill_s
from planner.performance.roofline_constants import RooflineConstants

BALANCE_STEPS = 24


@dataclass(frozen=True)
class Timing:
    """Times and rate of a replica at each concurrency; seconds and requests/s, shape (n, m)."""

    ttft_s: Array
    tpot_s: Array
    requests_per_s: Array
    prefill_s: Array
    step_s: Array


@dataclass(frozen=True)
class Lengths:
    """Tokens of a request, each (n, 1): whole prompt, generated, and the part of the prompt to compute."""

    prompt: Array
    generated: Array
    uncached: Array

    @property
    def mean_context(self) -> Array:
        """Return the context a sequence stands at on average while it decodes."""
        return self.prompt + self.generated / 2.0


def closed_loop(
    deployment: Deployments, batch: Array, lengths: Lengths, constants: RooflineConstants
) -> Timing:
    """Return median TTFT, mean TPOT and completed requests/s with a fixed number of requests in flight.

    Prompts of the other ``B - 1`` requests delay decoding once per generated length (chunked prefill spreads
    it evenly).

    ``TTFT = host + a * prefill + b * step * (1 + prompt / chunk) + c * (B - 1) * prefill``

    host: request handling of the engine; a: the prompt itself; b: steps in progress that each chunk waits
    for; c: share of the other prompts in front (clients of a closed loop start together). Fitted, a at least 1; the
    error band of TTFT is wider than that of TPOT.
    """
    step = decode_step_s(deployment, batch, lengths.mean_context, constants)
    prompt = prefill_s(deployment, lengths.uncached, constants, lengths.prompt - lengths.uncached)
    return loop_timing(deployment, batch, lengths, step, prompt, constants)


def loop_timing(
    deployment: Deployments,
    batch: Array,
    lengths: Lengths,
    step: Array,
    prompt: Array,
    constants: RooflineConstants,
    transfer_s: Array | float = 0.0,
    tokens_per_step: Array | float = 1.0,
) -> Timing:
    """Return the closed loop of ``closed_loop`` for a given step and prompt time.

    ``transfer_s`` is what a request waits for data before its first token while the chips work on others; a step may
    yield more than one token (``tokens_per_step``).
    """
    tpot = step / tokens_per_step + np.maximum(batch - 1.0, 0.0) * prompt / lengths.generated
    chunks = 1.0 + lengths.uncached / constants.first_token_chunk_tokens
    ttft = deployment.first_token_s + transfer_s + constants.first_token_prefill_ratio * prompt
    ttft = ttft + constants.first_token_step_ratio * step * chunks
    ttft = ttft + constants.first_token_queue_ratio * np.maximum(batch - 1.0, 0.0) * prompt
    rate = batch / (ttft + np.maximum(lengths.generated - 1.0, 0.0) * tpot)
    return Timing(ttft, tpot, rate, np.broadcast_to(prompt, rate.shape), step)


def batch_requests_per_s(
    deployment: Deployments, batch: Array, lengths: Lengths, constants: RooflineConstants
) -> Array:
    """Return requests/s of a batch started together, or of an offline run whose batch is kept full."""
    step = decode_step_s(deployment, batch, lengths.mean_context, constants)
    prompt = prefill_s(deployment, lengths.uncached, constants, lengths.prompt - lengths.uncached)
    return batch / (lengths.generated * step + batch * prompt)


def balanced_concurrency(
    deployment: Deployments,
    offered_per_s: Array,
    most: Array,
    lengths: Lengths,
    constants: RooflineConstants,
) -> Array:
    """Return the concurrency at which a replica completes what is offered, at most ``most``.

    Fixed point of ``B = offered * (TTFT(B) + (generated - 1) * TPOT(B))``, damped by half each step.
    """
    concurrency = np.ones_like(most)
    for _ in range(BALANCE_STEPS):
        timing = closed_loop(deployment, concurrency, lengths, constants)
        implied = offered_per_s * concurrency / timing.requests_per_s
        concurrency = 0.5 * concurrency + 0.5 * np.clip(implied, 0.3, most)
    return concurrency
