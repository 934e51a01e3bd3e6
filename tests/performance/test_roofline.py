"""The roofline against steps computed by hand with neutral constants."""

from __future__ import annotations

import numpy as np
import pytest
from serving_case import catalog_tables, deployment, neutral_constants

from planner.performance.roofline import (
    activation_s,
    collective_s,
    decode_step_s,
    experts_touched_fraction,
    host_s,
    prefill_s,
    product_flops,
    weight_read_bytes,
)
from planner.performance.roofline_constants import roofline_constants
from planner.performance.serving import Lengths, balanced_concurrency, batch_requests_per_s, closed_loop

PEAK = 989e12
BANDWIDTH = 3.35e12


def lengths(prompt: float, generated: float) -> Lengths:
    """Return lengths of one row without cache hits."""
    return Lengths(np.array([[prompt]]), np.array([[generated]]), np.array([[prompt]]))


def test_a_dense_decode_step_adds_weights_products_cache_and_attention():
    # Llama 3.1 8B in BF16 on one H100, 16 sequences at 2,000 tokens, nothing hidden (p = 1):
    #   weights    7.505e9 x 2 bytes / 3.35e12 B/s                      = 4.481 ms
    #   products   2 x 7.505e9 x 16 / 989e12                            = 0.243 ms
    #   cache      16 x 2,000 x 131,072 bytes / 3.35e12                 = 1.252 ms
    #   attention  16 x 4 x 32 heads x 128 x 32 layers x 2,000 / 989e12 = 0.017 ms
    card = deployment("H100 SXM", "Llama-3.1-8B")
    weights = 7.505e9 * 2 / BANDWIDTH
    products = 2 * 7.505e9 * 16 / PEAK
    cache = 16 * 2_000 * 131_072 / BANDWIDTH
    attention = 16 * 4 * 32 * 128 * 32 * 2_000 / PEAK
    assert [round(1e3 * part, 3) for part in (weights, products, cache, attention)] == [
        4.481,
        0.243,
        1.252,
        0.017,
    ]
    step = decode_step_s(card, 16.0, 2_000.0, neutral_constants()).item()
    assert step == pytest.approx(weights + products + cache + attention)


def test_a_large_overlap_exponent_leaves_only_the_longer_time():
    card = deployment("H100 SXM", "Llama-3.1-8B")
    step = decode_step_s(card, 16.0, 2_000.0, neutral_constants(overlap_exponent=60.0)).item()
    assert step == pytest.approx(7.505e9 * 2 / BANDWIDTH + 16 * 2_000 * 131_072 / BANDWIDTH, rel=1e-6)


def test_host_time_counts_layers_sequences_and_the_step():
    bare = deployment("H100 SXM", "Llama-3.1-8B")
    slow = deployment(
        "H100 SXM", "Llama-3.1-8B", layer_overhead_us=50.0, step_overhead_us=300.0, sequence_overhead_us=10.0
    )
    extra = decode_step_s(slow, 8.0, 10.0, neutral_constants()) - decode_step_s(
        bare, 8.0, 10.0, neutral_constants()
    )
    assert extra.item() == pytest.approx(32 * 50e-6 + 300e-6 + 8 * 10e-6)


def test_data_parallel_chips_each_schedule_their_share_of_the_sequences():
    over = {"sequence_overhead_us": 10.0}
    for spread, most in ((False, 64), (True, 8)):
        facts = {"chips": 8.0, "tensor": 1.0 if spread else 8.0, "attention_dp": spread}
        slow = deployment("B200", "DeepSeek-R1", "fp8", **facts, **over)
        assert host_s(slow, 64.0, neutral_constants()).item() == pytest.approx(most * 10e-6)


def test_elementwise_work_moves_the_residual_stream_once_per_layer_and_expert():
    # Llama 3.1 8B, 16 tokens, 3 passes: 3 x 16 x 4,096 x 32 layers x 2 bytes; tensor parallel: the same on each chip.
    three = neutral_constants(activation_passes=3.0)
    one = 3 * 16 * 4_096 * 32 * 2 / BANDWIDTH
    for chips in (1.0, 4.0):
        dense = deployment("H100 SXM", "Llama-3.1-8B", chips=chips, tensor=chips)
        assert activation_s(dense, 16.0, three).item() == pytest.approx(one)
    extra = decode_step_s(dense, 16.0, 100.0, three) - decode_step_s(dense, 16.0, 100.0, neutral_constants())
    assert extra.item() == pytest.approx(one)
    prompt = prefill_s(dense, 16.0, three) - prefill_s(dense, 16.0, neutral_constants())
    assert prompt.item() == pytest.approx(one)
    # DeepSeek-R1: 61 layers, 58 of them with 8 experts a token; data-parallel attention splits the tokens.
    split = deployment("B200", "DeepSeek-R1", "fp8", chips=8.0, tensor=1.0, attention_dp=True)
    expected = 3 * 16 / 8 * 7_168 * (61 + 58 * 8) * 2 / 7.7e12
    assert activation_s(split, 16.0, three).item() == pytest.approx(expected)


def test_a_prompt_is_two_flops_per_parameter_and_token_plus_causal_attention():
    card = deployment("H100 SXM", "Llama-3.1-8B")
    products = 1_000 * 2 * 7.505e9
    attention = 1_000 * 4 * 32 * 128 * 32 * 500
    assert prefill_s(card, 1_000.0, neutral_constants()).item() == pytest.approx(
        (products + attention) / PEAK
    )


def test_collectives_cost_latency_and_volume_and_nothing_on_one_chip():
    constants = neutral_constants(collective_latency_us=10.0, link_efficiency_fraction=0.5)
    assert collective_s(deployment("H100 SXM", "Llama-3.1-8B"), 64.0, constants).item() == 0.0
    two = deployment("H100 SXM", "Llama-3.1-8B", chips=2.0, tensor=2.0)
    # 2 all-reduces x 32 layers x (10 us + 2 x 1/2 x 64 tokens x 4,096 x 2 bytes / (0.5 x 450 GB/s))
    expected = 2 * 32 * (10e-6 + 64 * 4_096 * 2 / 225e9)
    assert collective_s(two, 64.0, constants).item() == pytest.approx(expected)


def test_a_batch_touches_more_experts_the_larger_it_is():
    model = deployment("B200", "DeepSeek-R1", "fp8", chips=8.0, tensor=8.0)
    assert experts_touched_fraction(model, 1.0).item() == pytest.approx(8 / 256)
    assert experts_touched_fraction(model, 64.0).item() == pytest.approx(1 - (1 - 8 / 256) ** 64)
    one = weight_read_bytes(model, 1.0, neutral_constants()).item()
    # One token reads exactly the active parameters: 36.625e9 bytes over 8 chips.
    assert one == pytest.approx(36.625e9 / 8)


def test_every_pipeline_stage_reads_its_weights_for_each_micro_batch():
    # Two stages on two chips, batch 2: two micro-batches of one, so weights are read twice per step; on one
    # chip of the same memory system they are read once at half the bandwidth: equal times for the weights.
    flat = deployment("H200", "Llama-3.1-8B")
    staged = deployment("H200", "Llama-3.1-8B", chips=2.0, pipeline=2.0)
    one = decode_step_s(flat, 2.0, 1e-9, neutral_constants()).item() - 2 * 2 * 7.505e9 / PEAK
    two = decode_step_s(staged, 2.0, 1e-9, neutral_constants()).item() - 2 * 2 * 7.505e9 / (2 * PEAK)
    assert two == pytest.approx(one)


def test_tuning_scales_every_time():
    constants = neutral_constants()
    plain = deployment("H100 SXM", "Llama-3.1-8B")
    tuned = deployment("H100 SXM", "Llama-3.1-8B", tuning_ratio=1.3)
    assert decode_step_s(tuned, 4.0, 500.0, constants) == pytest.approx(
        decode_step_s(plain, 4.0, 500.0, constants) / 1.3
    )
    assert prefill_s(tuned, 500.0, constants) == pytest.approx(prefill_s(plain, 500.0, constants) / 1.3)


def test_a_closed_loop_obeys_littles_law():
    card = deployment("H100 SXM", "Llama-3.1-8B")
    timing = closed_loop(card, np.array([[1.0, 8.0, 64.0]]), lengths(1_000, 200), neutral_constants())
    in_flight = timing.requests_per_s * (timing.ttft_s + 199 * timing.tpot_s)
    assert in_flight[0] == pytest.approx([1.0, 8.0, 64.0])
    assert (np.diff(timing.ttft_s[0]) > 0).all()
    assert (np.diff(timing.tpot_s[0]) > 0).all()


def test_an_offline_batch_spends_its_prompts_once_per_generated_length():
    card = deployment("H100 SXM", "Llama-3.1-8B")
    constants = neutral_constants()
    step = decode_step_s(card, 32.0, 1_100.0, constants).item()
    prompt = prefill_s(card, 1_000.0, constants).item()
    rate = batch_requests_per_s(card, np.array([[32.0]]), lengths(1_000, 200), constants).item()
    assert rate == pytest.approx(32 / (200 * step + 32 * prompt))


def test_an_offered_rate_settles_where_completions_equal_arrivals():
    card = deployment("H100 SXM", "Llama-3.1-8B")
    most = np.array([[500.0]])
    batch = balanced_concurrency(card, np.array([[2.0]]), most, lengths(500, 200), neutral_constants())
    timing = closed_loop(card, batch, lengths(500, 200), neutral_constants())
    assert timing.requests_per_s.item() == pytest.approx(2.0, rel=1e-3)


def test_cached_prompt_tokens_are_not_computed_again():
    card = deployment("H100 SXM", "Llama-3.1-8B")
    half = prefill_s(card, 500.0, neutral_constants(), 500.0).item()
    products, attention = 500 * 2 * 7.505e9, 500 * 4 * 32 * 128 * 32 * 750
    assert half == pytest.approx((products + attention) / PEAK)


def test_small_experts_compute_slower_by_a_power_of_their_size():
    # DeepSeek-R1 on one token: 8 of 256 experts in 58 layers; exponent 1 scales their work by 25 M over their size.
    model = deployment("B200", "DeepSeek-R1", "fp8", chips=8.0, tensor=8.0)
    plain = product_flops(model, 1.0, neutral_constants()).item()
    sized = product_flops(model, 1.0, neutral_constants(expert_size_exponent=1.0)).item()
    expert = (model.expert_weights / (256 * 58)).item()
    routed = 2 * model.expert_weights.item() * 8 / 256
    assert sized - plain == pytest.approx(routed * (25e6 / expert - 1.0))
    dense = deployment("H100 SXM", "Llama-3.1-8B")
    assert product_flops(dense, 1.0, neutral_constants(expert_size_exponent=1.0)).item() == pytest.approx(
        2 * 7.505e9
    )


def test_host_time_grows_with_experts_per_token_and_with_an_indexer():
    layer = {"layer_overhead_us": 10.0, "chips": 8.0, "tensor": 8.0}
    twice = neutral_constants(expert_layer_ratio=2.0)
    # DeepSeek-R1: 58 of 61 layers with eight experts a token; gpt-oss-120b: all 36 with four.
    eight = host_s(deployment("B200", "DeepSeek-R1", "fp8", **layer), 1.0, twice).item()
    assert eight == pytest.approx((61 + 58) * 10e-6)
    four = host_s(deployment("B200", "gpt-oss-120b", "mxfp4", **layer), 1.0, twice).item()
    assert four == pytest.approx((36 + 36 / 2) * 10e-6)
    indexed = deployment("B200", "GLM-5", "fp8", **layer)
    ratio = host_s(indexed, 1.0, neutral_constants(indexer_layer_ratio=1.5)) / host_s(
        indexed, 1.0, neutral_constants()
    )
    assert ratio.item() == pytest.approx(1.5)


def test_the_fixed_time_of_a_collective_grows_with_its_chips():
    constants = neutral_constants(collective_latency_us=10.0, collective_chips_exponent=0.5)
    times = [
        collective_s(deployment("H100 SXM", "Llama-3.1-8B", chips=n, tensor=n), 0.0, constants).item()
        for n in (1.0, 4.0, 8.0)
    ]
    assert times == pytest.approx([0.0, 64 * 10e-6, 64 * 10e-6 * 2**0.5])


def test_no_shipped_first_token_comes_before_its_own_prompt():
    constants = roofline_constants(catalog_tables()["roofline_constants"])
    card = deployment("B200", "Llama-3.1-70B", "fp8", chips=4.0, tensor=4.0)
    for prompt in (100.0, 10_000.0, 100_000.0):
        timing = closed_loop(card, np.array([[1.0]]), lengths(prompt, 100.0), constants)
        assert (timing.ttft_s > timing.prefill_s).all()
