"""What fits into device memory, against hand arithmetic and practitioners' numbers."""

from __future__ import annotations

import numpy as np
import pytest
from serving_case import deployment, neutral_constants

from planner.performance.memory import (
    free_memory_per_chip,
    kv_bytes_per_chip,
    kv_bytes_per_sequence,
    most_concurrent,
    weight_bytes_per_chip,
)


def test_an_8b_model_on_an_80_gb_card_serves_42_users_of_ten_thousand_tokens():
    # 80 GB x 0.9 = 72 GB, less 8.03e9 x 2 bytes = 16.06 GB, is 55.94 GB of cache; one token costs
    # 32 layers x 2 x 8 heads x 128 x 2 bytes = 131,072 bytes: 426,788 tokens = 42.7 requests of 10,000.
    card = deployment("H100 SXM", "Llama-3.1-8B")
    assert kv_bytes_per_sequence(card, 1.0).item() == 131_072
    assert most_concurrent(card, 10_000.0, neutral_constants()).item() == 42
    # 2 GB of buffers take one of them: 53.94 GB = 411,529 tokens.
    assert most_concurrent(card, 10_000.0, neutral_constants(memory_overhead_gb=2.0)).item() == 41
    # At the mean life of 8,000 + 2,000/2 tokens it would be 47.
    assert most_concurrent(card, 9_000.0, neutral_constants()).item() == 47


def test_the_engines_maximum_concurrency_line_counts_full_length_requests():
    # A cache of 37,765 tokens is printed as 4.61 requests of 8,192; it holds 47 requests of 800.
    card = deployment("H100 SXM", "Llama-3.1-8B")
    free = float(free_memory_per_chip(card, 0.0).item())
    overhead_gb = (free - 37_765 * 131_072) / 1e9
    constants = neutral_constants(memory_overhead_gb=overhead_gb)
    assert most_concurrent(card, 8_192.0, constants).item() == 4
    assert most_concurrent(card, 800.0, constants).item() == 47


def test_a_slice_that_holds_the_weights_but_no_cache_fits_nobody():
    # 40 GB x 0.9 = 36 GB against 32.76e9 FP8 weights and 3 GB of buffers: 0.24 GB of cache is less than the
    # 0.26 GB of one 1,000-token request (64 x 2 x 8 x 128 x 2 bytes a token).
    card = deployment("A100 40GB", "Qwen3-32B", "int8")
    constants = neutral_constants(memory_overhead_gb=3.0)
    assert free_memory_per_chip(card, 3e9).item() == pytest.approx(0.24e9, rel=1e-6)
    assert kv_bytes_per_chip(card, 1_000.0).item() == 262_144_000
    assert most_concurrent(card, 1_000.0, constants).item() == 0


def test_weights_that_do_not_fit_leave_negative_memory_and_no_request():
    card = deployment("H100 SXM", "Llama-3.1-70B")
    assert free_memory_per_chip(card, 0.0).item() < 0
    assert most_concurrent(card, 1.0, neutral_constants()).item() == 0


def test_grouped_heads_are_split_over_at_most_as_many_chips_as_there_are_kv_heads():
    on_8 = deployment("H100 SXM", "Llama-3.1-70B", chips=8.0, tensor=8.0)
    on_16 = deployment("GB200", "Llama-3.1-70B", chips=16.0, tensor=16.0)
    per_sequence = 80 * 2 * 8 * 128 * 2 * 100.0
    assert kv_bytes_per_chip(on_8, 100.0).item() == per_sequence / 8
    assert kv_bytes_per_chip(on_16, 100.0).item() == per_sequence / 8
    assert weight_bytes_per_chip(on_16).item() == 70.55e9 * 2 / 16


def test_a_latent_cache_is_whole_on_every_tensor_parallel_chip_and_split_by_data_parallel_attention():
    # MLA: 61 layers x (512 latent + 64 rope) = 35,136 elements a token, one head.
    tensor = deployment("H200", "DeepSeek-R1", "fp8", chips=8.0, tensor=8.0, kv_precision="fp8")
    spread = deployment(
        "H200", "DeepSeek-R1", "fp8", chips=8.0, tensor=8.0, expert=8.0, attention_dp=True, kv_precision="fp8"
    )
    assert kv_bytes_per_chip(tensor, 1_000.0).item() == 35_136_000
    assert kv_bytes_per_chip(spread, 1_000.0).item() == 35_136_000 / 8
    # Experts are spread either way; data-parallel attention keeps every other weight on each chip.
    dense, experts = 671.03e9 - 653.909e9, 653.909e9
    assert weight_bytes_per_chip(tensor).item() == pytest.approx((dense + experts) / 8)
    assert weight_bytes_per_chip(spread).item() == pytest.approx(dense + experts / 8)


def test_sliding_layers_stop_caching_at_their_window():
    card = deployment("H100 SXM", "gpt-oss-20b", "mxfp4")
    inside, outside = kv_bytes_per_sequence(card, 128.0).item(), kv_bytes_per_sequence(card, 1_128.0).item()
    assert outside - inside == 1_000 * 12_288 * 2
    assert inside == 128 * (12_288 + 12_288) * 2


def test_linear_attention_keeps_a_state_of_fixed_size():
    card = deployment("B200", "Qwen3.5-35B-A3B", "fp8")
    # 30 layers x 32 value heads x 128 x 128 elements in FP32.
    state = 30 * 32 * 128 * 128 * 4
    assert kv_bytes_per_sequence(card, 0.0).item() == state
    assert kv_bytes_per_sequence(card, 10.0).item() == state + 10 * 10_240 * 2


def test_more_memory_or_shorter_requests_never_fit_fewer():
    card = deployment("H100 SXM", "Llama-3.1-8B")
    lengths = np.array([100.0, 500.0, 2_000.0, 8_000.0, 32_000.0])
    fitting = most_concurrent(card, lengths, neutral_constants())[0]
    assert (np.diff(fitting) <= 0).all()
    larger = deployment("H200", "Llama-3.1-8B")
    assert (most_concurrent(larger, lengths, neutral_constants())[0] >= fitting).all()
