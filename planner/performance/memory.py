"""What fits into device memory: weights, KV cache, and how many requests at once.

Bytes are decimal (1 GB = 1e9). A request is counted at its full length (prompt + all generated tokens), so
that nothing has to be pre-empted when every request reaches its end together.
"""

from __future__ import annotations

import numpy as np

from planner.performance.deployment import Array, Deployments
from planner.performance.roofline_constants import RooflineConstants

INDEXER_BYTES = 1.0 + 4.0 / 128.0
"""Bytes per element of an indexer's keys: FP8 with one FP32 scale per 128 of them."""


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


def state_bytes_per_sequence(deployment: Deployments) -> Array:
    """Return the states of the linear layers of one sequence, bytes; their size does not depend on its length."""
    return deployment.linear_layers * deployment.linear_state * deployment.state_bytes


def state_shards(deployment: Deployments) -> Array:
    """Return over how many chips the states of one sequence are spread: their many heads are split like weights."""
    return np.where(deployment.attention_dp > 0, 1.0, deployment.tensor) * deployment.pipeline


def grown_bytes_per_sequence(deployment: Deployments, tokens: Array | float) -> Array:
    """Return what one sequence of a given length caches per token, states apart, bytes.

    ``(full * L + sliding * min(L, window)) * bytes + indexer keys * L * 1.03``
    """
    cached = deployment.kv_full * tokens + deployment.kv_sliding * np.minimum(tokens, deployment.window)
    return cached * deployment.kv_bytes + deployment.indexer * tokens * INDEXER_BYTES


def kv_bytes_per_sequence(deployment: Deployments, tokens: Array | float) -> Array:
    """Return the whole cache of one sequence of a given length, bytes: keys and values, indexer keys, states."""
    return grown_bytes_per_sequence(deployment, tokens) + state_bytes_per_sequence(deployment)


def read_bytes_per_sequence(deployment: Deployments, context: Array | float) -> Array:
    """Return what one decode step reads of the cache of one sequence, states apart, bytes.

    ``((full - indexed) * L + indexed * min(L, top k) + sliding * min(L, window)) * bytes + indexer keys * L * 1.03``:
    an indexer scores the keys of every token to select those whose cache is read.
    """
    whole = (deployment.kv_full - deployment.kv_indexed) * context
    selected = deployment.kv_indexed * np.minimum(context, deployment.sparse_topk)
    sliding = deployment.kv_sliding * np.minimum(context, deployment.window)
    keys = deployment.indexer * context * INDEXER_BYTES
    return (whole + selected + sliding) * deployment.kv_bytes + keys


def read_bytes_per_chip(deployment: Deployments, context: Array | float) -> Array:
    """Return cache traffic of one more sequence per chip and decode step (on average), bytes.

    Caches are read; states are read and written.
    """
    moved = read_bytes_per_sequence(deployment, context) / kv_shards(deployment)
    moved = moved + 2.0 * state_bytes_per_sequence(deployment) / state_shards(deployment)
    return moved / np.where(deployment.attention_dp > 0, deployment.chips, 1.0)


def kv_bytes_per_chip(deployment: Deployments, tokens: Array | float) -> Array:
    """Return the cache that one more request adds to each chip (on average), bytes."""
    held = grown_bytes_per_sequence(deployment, tokens) / kv_shards(deployment)
    held = held + state_bytes_per_sequence(deployment) / state_shards(deployment)
    return held / np.where(deployment.attention_dp > 0, deployment.chips, 1.0)


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
