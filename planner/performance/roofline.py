"""Roofline of one replica: the time of one decode step and of one prompt.

Every function is vectorised: deployments (n, 1) against a concurrency or length grid (n, m) or (m,). Times
are seconds. ``a (+) b`` below is the p-norm ``(a^p + b^p)^(1/p)``: p = 1 adds, large p takes the longer.

    step(B)    = [weights (+) products] + [KV reads (+) attention] + activations + collectives + host
    prefill(L) = products + attention + activations + collectives of L prompt tokens

The constants are fitted on measured points (``bench/fit_roofline.py``) and live in the library tables
``chip_families``, ``software_eras`` and ``roofline_constants``.
"""

from __future__ import annotations

import numpy as np

from planner.performance.deployment import Array, Deployments
from planner.performance.memory import read_bytes_per_chip
from planner.performance.roofline_constants import RooflineConstants

ACTIVATION_BYTES = 2.0
REFERENCE_EXPERT_PARAMETERS = 25e6
"""Parameters of one routed expert at which products run at ``expert_mfu_ratio``; of the size of gpt-oss-120b's."""

REFERENCE_ACTIVE_EXPERTS = 8.0
"""Experts per token for which ``expert_layer_ratio`` states the host time of a layer."""

REFERENCE_CHIPS = 4.0
"""Chips of a collective for which ``collective_latency_us`` states the fixed time."""


def experts_touched_fraction(deployment: Deployments, tokens: Array | float) -> Array:
    """Return the share of experts a batch of tokens calls under even routing: ``1 - (1 - k/E)^tokens``."""
    idle = 1.0 - np.minimum(deployment.active_experts / deployment.experts, 1.0)
    return 1.0 - np.power(idle, tokens)


def dense_parameters(deployment: Deployments) -> Array:
    """Return parameters used by every token whatever its routing (the embedding look-up is not read)."""
    return deployment.active - routed_parameters(deployment)


def routed_parameters(deployment: Deployments) -> Array:
    """Return routed-expert parameters one token uses."""
    return deployment.expert_weights * deployment.active_experts / deployment.experts


def weight_read_bytes(deployment: Deployments, batch: Array | float, constants: RooflineConstants) -> Array:
    """Return weight traffic of one step per chip, bytes.

    Dense weights once; routed experts as far as the batch touches them, less what uneven routing saves
    (``expert_read_ratio``). Data-parallel attention reads all dense weights on every chip.
    """
    spread = np.where(deployment.attention_dp > 0, 1.0, deployment.chips)
    touched = experts_touched_fraction(deployment, batch) * constants.expert_read_ratio
    routed = deployment.expert_weights * touched / deployment.chips
    return (dense_parameters(deployment) / spread + routed) * deployment.weight_bytes


def product_flops(deployment: Deployments, tokens: Array | float, constants: RooflineConstants) -> Array:
    """Return FLOPs of the matrix products of some tokens, in dense-equivalent work.

    2 per parameter and token; expert products run at ``expert_mfu_ratio`` of the dense speed, times
    ``(expert / 25 M parameters)^expert_size_exponent``: the products of a small expert fill the chip less.
    """
    one = deployment.expert_weights / np.maximum(deployment.experts * deployment.moe_layers, 1.0)
    size = np.maximum(one, 1.0) / REFERENCE_EXPERT_PARAMETERS
    speed = constants.expert_mfu_ratio * np.power(size, constants.expert_size_exponent)
    routed = routed_parameters(deployment) / speed
    return 2.0 * tokens * (dense_parameters(deployment) + routed)


def expert_tile_flops(deployment: Deployments, tokens: Array | float, constants: RooflineConstants) -> Array:
    """Return FLOPs lost because each touched expert works on whole tiles of tokens."""
    touched = experts_touched_fraction(deployment, tokens)
    padded = 2.0 * constants.expert_tile_tokens * deployment.expert_weights * touched
    return padded / constants.expert_mfu_ratio


def activation_s(deployment: Deployments, tokens: Array | float, constants: RooflineConstants) -> Array:
    """Return time of the elementwise work between the products (norms, residuals, expert routing), seconds.

    ``passes * tokens * hidden * (layers + expert layers * experts per token) * 2 bytes / bandwidth``: the
    residual stream goes through memory a few times per layer, and once more for every expert a token is copied
    to. Tensor-parallel chips all carry the whole stream; data-parallel attention splits the tokens. This is
    what keeps models with many small experts from the speed that their few active parameters promise.
    """
    streams = deployment.layers + deployment.moe_layers * deployment.active_experts
    own = tokens / np.where(deployment.attention_dp > 0, deployment.chips, deployment.pipeline)
    moved = constants.activation_passes * own * deployment.hidden * streams * ACTIVATION_BYTES
    return moved / (deployment.bandwidth_efficiency * deployment.bandwidth)


def attended_entries(deployment: Deployments, context: Array | float) -> Array:
    """Return cached entries one query attends to, summed over the layers.

    All of the context in full layers, the top k where an indexer selects, the window in sliding layers; an entry that
    stands for several tokens counts once.
    """
    whole = (deployment.kv_full - deployment.kv_indexed) * context
    selected = deployment.kv_indexed * np.minimum(context, deployment.sparse_topk)
    sliding = deployment.kv_sliding * np.minimum(context, deployment.window)
    return (whole + selected + sliding) / deployment.entry


def attention_flops(deployment: Deployments, context: Array | float, width: Array) -> Array:
    """Return FLOPs of attention for one new token against a context, all layers.

    4 * heads * width per attended entry: two products of the width.
    """
    return 4.0 * deployment.heads * width * attended_entries(deployment, context)


def indexer_flops(deployment: Deployments, context: Array | float) -> Array:
    """Return FLOPs of the indexers for one new token: each head scores the keys of the whole context."""
    return 2.0 * deployment.indexer_heads * deployment.indexer * context


def decode_width(deployment: Deployments) -> Array:
    """Return elements per head each attended entry costs: head size, or the latent of an MLA cache."""
    return np.where(deployment.mla > 0, deployment.entry, deployment.head_dim)


def collective_s(deployment: Deployments, tokens: Array | float, constants: RooflineConstants) -> Array:
    """Return time of the collectives of one pass of some tokens, seconds.

    Tensor parallel: two all-reduces per layer, ``latency + 2 (N-1)/N * tokens * hidden * 2 bytes / link``; the latency
    grows as a power of the chips that wait for each other (``collective_chips_exponent``).
    Data-parallel attention: two all-to-alls per expert layer at twice the latency, a chip's share each.
    Pipeline: one hand-over per stage.
    """
    chips = deployment.chips / deployment.pipeline
    achieved = np.where(
        deployment.scale_up > 1, constants.link_efficiency_fraction, constants.bus_efficiency_fraction
    )
    volume = 2.0 * (chips - 1.0) / chips * tokens * deployment.hidden * ACTIVATION_BYTES
    transfer = volume / (achieved * np.maximum(deployment.link, 1.0))
    fewer_or_more = np.maximum(chips, 1.0) / REFERENCE_CHIPS
    latency = constants.collective_latency_s * np.power(fewer_or_more, constants.collective_chips_exponent)
    reduce = 2.0 * deployment.layers * (latency + transfer)
    exchange = 2.0 * deployment.moe_layers * (2.0 * latency + transfer / chips)
    parallel = np.where(chips > 1, np.where(deployment.attention_dp > 0, exchange, reduce), 0.0)
    return parallel + 2.0 * constants.collective_latency_s * (deployment.pipeline - 1.0)


def overlapped(first_s: Array, second_s: Array, constants: RooflineConstants) -> Array:
    """Return the p-norm of two times that partly hide each other."""
    power = constants.overlap_exponent
    return np.power(np.power(first_s, power) + np.power(second_s, power), 1.0 / power)


def attention_imbalance(deployment: Deployments, constants: RooflineConstants) -> Array:
    """Return how much longer the fullest chip works than the average one under data-parallel attention."""
    return np.where(deployment.attention_dp > 0, constants.attention_dp_imbalance_ratio, 1.0)


def host_s(deployment: Deployments, batch: Array | float, constants: RooflineConstants) -> Array:
    """Return host and launch time of one step: per stage, per layer, per sequence.

    A layer with experts takes longer in proportion to the experts per token, each a copy of the token to sort, move
    and add up; one with latent attention or an indexer by a ratio each, for the kernels that are not in others.
    Under data-parallel attention every chip has a scheduler of its own, for its share of the sequences.
    """
    expert_share = deployment.moe_layers / np.maximum(deployment.layers, 1.0)
    copies = deployment.active_experts / REFERENCE_ACTIVE_EXPERTS
    per_layer = deployment.layer_s * (1.0 + (constants.expert_layer_ratio - 1.0) * expert_share * copies)
    per_layer = per_layer * np.where(deployment.mla > 0, constants.latent_layer_ratio, 1.0)
    indexed = np.isfinite(deployment.sparse_topk)
    per_layer = per_layer * np.where(indexed, constants.indexer_layer_ratio, 1.0)
    stages = deployment.pipeline * deployment.step_s
    own = batch / np.where(deployment.attention_dp > 0, deployment.chips, 1.0)
    return stages + deployment.layers * per_layer + own * deployment.sequence_s


def decode_step_s(
    deployment: Deployments,
    batch: Array | float,
    context: Array | float,
    constants: RooflineConstants,
    queries: Array | float = 1.0,
) -> Array:
    """Return time of one decode step of a batch whose sequences stand at a mean context, seconds.

    A pipeline of P stages works on P micro-batches, so every stage reads its weights P times per step. A step
    that checks several proposed tokens a sequence (``queries``) reads weights and cache once for all of them.
    """
    tokens = batch * queries
    micro = np.maximum(tokens / deployment.pipeline, 1.0)
    imbalance = attention_imbalance(deployment, constants)
    bandwidth = deployment.bandwidth_efficiency * deployment.bandwidth
    compute = deployment.chips * deployment.mfu * deployment.peak_flops
    weights_s = deployment.pipeline * weight_read_bytes(deployment, micro, constants) / bandwidth
    padding = deployment.pipeline * expert_tile_flops(deployment, micro, constants)
    products_s = (imbalance * product_flops(deployment, tokens, constants) + padding) / compute
    cache_ratio = np.where(
        deployment.mla > 0, constants.latent_kv_bandwidth_ratio, constants.kv_bandwidth_ratio
    )
    cached = batch * read_bytes_per_chip(deployment, context) * imbalance
    cache_s = cached / (bandwidth * cache_ratio)
    flops = attention_flops(deployment, context, decode_width(deployment))
    flops = tokens * (flops + indexer_flops(deployment, context))
    attention_s = flops / (compute * constants.decode_attention_mfu_ratio)
    device_s = overlapped(weights_s, products_s, constants) + overlapped(cache_s, attention_s, constants)
    device_s = device_s + deployment.pipeline * activation_s(deployment, tokens, constants)
    stretched = np.where(deployment.pipeline > 1, constants.pipeline_imbalance_ratio, 1.0) * device_s
    step = stretched + collective_s(deployment, micro, constants) + host_s(deployment, batch, constants)
    return step / deployment.tuning


def prefill_s(
    deployment: Deployments,
    prompt_tokens: Array | float,
    constants: RooflineConstants,
    cached_tokens: Array | float = 0.0,
) -> Array:
    """Return replica time that the uncached part of one prompt takes, seconds.

    Causal attention at the mean context ``cached + L/2``; models with a sparse-attention indexer spend
    ``sparse_prefill_ratio`` times the bare products (indexer scores over the whole prompt). Up to the longest
    prompts of the fit, attention keeps the fitted share of the compute path; what lies beyond runs at a share of
    the BF16 rate of its own, because attention kernels do not speed up with narrower weights.
    """
    context = cached_tokens + np.asarray(prompt_tokens) / 2.0
    attention = attention_flops(deployment, context, deployment.head_dim)
    attention = prompt_tokens * attention / constants.prefill_attention_mfu_ratio
    compute = deployment.chips * deployment.mfu * deployment.peak_flops
    beyond = np.maximum(1.0 - 0.5 * constants.fitted_prompt_tokens / np.maximum(context, 1.0), 0.0)
    fitted = deployment.mfu * deployment.peak_flops * constants.prefill_attention_mfu_ratio
    long = deployment.attention_flops_per_s * constants.long_attention_mfu_ratio
    slower = np.maximum(fitted / long, 1.0)
    attention = attention * (1.0 + beyond * (slower - 1.0))
    sparse = np.where(np.isfinite(deployment.sparse_topk), constants.sparse_prefill_ratio, 1.0)
    work_s = (product_flops(deployment, prompt_tokens, constants) + attention) / compute
    work_s = work_s * sparse * attention_imbalance(deployment, constants)
    moved_s = collective_s(deployment, prompt_tokens, constants) / deployment.pipeline
    moved_s = moved_s + activation_s(deployment, prompt_tokens, constants)
    return constants.prefill_time_ratio * (work_s + moved_s) / deployment.tuning


def least_step_s(deployment: Deployments, batch: Array | float, context: Array | float) -> Array:
    """Return the time below which no decode step can be: all bytes at full bandwidth, all products at full peak.

    Weights every token uses and the KV cache are read once; routed experts are left out, as one token may touch few.
    """
    read = dense_parameters(deployment) / deployment.chips * deployment.weight_bytes
    read = read + batch * read_bytes_per_chip(deployment, context)
    flops = 2.0 * batch * deployment.active / deployment.chips
    return np.maximum(read / deployment.bandwidth, flops / deployment.peak_flops)


def least_prompt_s(deployment: Deployments, prompt_tokens: Array | float) -> Array:
    """Return the time below which no prompt can be: two operations per active parameter and token at full peak."""
    return 2.0 * prompt_tokens * deployment.active / (deployment.chips * deployment.peak_flops)
