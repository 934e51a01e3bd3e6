"""What fits into device memory: weights, KV cache, and how many requests at once.

Bytes are decimal (1 GB = 1e9). A request is counted at its full length (prompt + all generated tokens), so
that nothing has to be pre-empted when every request reaches its end together.
"""

from __future__ import annotations

import numpy as np

from planner.performance.deployment import Array, Deployments
from planner.performance.roofline_constants import RooflineConstants


def weight_bytes_per_chip(deployment: Deployments) -> Array:
    """Return the weights one chip of the replica holds, bytes.

    ``(non-expert / spread + expert / chips) * bytes per weight``; ``spread`` is ``chips`` under tensor or
    pipeline parallelism and 1 where attention is data-parallel, because every chip then keeps a whole copy
    of the attention, shared and embedding weights.
    """
    dense = deployment.total - deployment.expert_weights
    spread = np.where(deployment.attention_dp > 0, 1.0, deployment.chips)
    return (dense / spread + deployment.expert_weights / deployment.chips) * deployment.weight_bytes


def kv_shards(deployment: Deployments) -> Array:
    """Return over how many chips one sequence's KV cache is spread.

    Heads are split over ``min(tensor, kv_heads)`` chips; a latent (MLA) cache has one head and is kept whole
    on each tensor-parallel chip; under data-parallel attention each sequence lives on one chip.
    """
    split = np.where(deployment.attention_dp > 0, 1.0, np.minimum(deployment.tensor, deployment.kv_heads))
    return split * deployment.pipeline


def kv_bytes_per_sequence(deployment: Deployments, tokens: Array | float) -> Array:
    """Return the whole KV cache of one sequence of a given length, bytes.

    ``(full * L + sliding * min(L, window)) * bytes + linear layers * state * 2``
    """
    cached = deployment.kv_full * tokens + deployment.kv_sliding * np.minimum(tokens, deployment.window)
    return cached * deployment.kv_bytes + deployment.linear_layers * deployment.linear_state * 2.0


def kv_bytes_per_chip(deployment: Deployments, tokens: Array | float) -> Array:
    """Return the KV cache that one more request adds to each chip (on average), bytes."""
    per_sequence = kv_bytes_per_sequence(deployment, tokens) / kv_shards(deployment)
    return per_sequence / np.where(deployment.attention_dp > 0, deployment.chips, 1.0)


def free_memory_per_chip(deployment: Deployments, overhead_bytes: float) -> Array:
    """Return memory left for the KV cache on each chip, bytes; negative when the weights do not fit."""
    usable = deployment.memory * deployment.memory_fraction
    return usable - weight_bytes_per_chip(deployment) - overhead_bytes


def most_concurrent(deployment: Deployments, tokens: Array | float, constants: RooflineConstants) -> Array:
    """Return how many requests of a full length fit at once into one replica; 0 when not even one does.

    ``floor((memory * fraction - weights - overhead) / KV bytes of the request)``, at most the engine's
    sequence limit.
    """
    free = free_memory_per_chip(deployment, constants.memory_overhead_bytes)
    fitting = np.floor(np.maximum(free, 0.0) / np.maximum(kv_bytes_per_chip(deployment, tokens), 1.0))
    return np.minimum(fitting, constants.sequence_limit)


def cached_tokens(deployment: Deployments, tokens: Array | float, constants: RooflineConstants) -> Array:
    """Return tokens of requests of one length that the memory beside the weights holds; negative if these do not fit.

    ``(memory * fraction - weights - overhead) / KV bytes of the request * its tokens``
    """
    free = free_memory_per_chip(deployment, constants.memory_overhead_bytes)
    return free / np.maximum(kv_bytes_per_chip(deployment, tokens), 1.0) * tokens
