"""What an architecture caches, reads and multiplies per token, each against arithmetic by hand."""

from __future__ import annotations

import numpy as np
import pytest
from serving_case import deployment, neutral_constants, product, serving_scenario, shape, workload

from planner.performance import operating_points
from planner.performance.memory import (
    kv_bytes_per_chip,
    kv_bytes_per_sequence,
    most_concurrent,
    read_bytes_per_chip,
    read_bytes_per_sequence,
    weight_bytes_per_chip,
)
from planner.performance.roofline import (
    attended_entries,
    attention_flops,
    decode_step_s,
    decode_width,
    indexer_flops,
    routed_parameters,
)
from planner.performance.speculation import draft

NEW_MODELS = (
    *("GLM-4.5", "GLM-4.6", "GLM-4.5-Air", "Qwen3-Next-80B-A3B", "Qwen3-Coder-480B-A35B", "Qwen3-4B"),
    *("Gemma-3-4B", "Gemma-3-12B", "Gemma-3-27B", "Mistral-Small-3", "Mistral-Large-3", "Phi-4"),
    *("Nemotron-3-Nano-30B-A3B", "Nemotron-3-Super-120B-A12B", "Nemotron-3-Ultra-550B-A55B"),
    *("Llama-3.2-1B", "Llama-3.2-3B", "DeepSeek-V4-Flash", "DeepSeek-V4-Pro"),
)


@pytest.mark.parametrize("model", NEW_MODELS)
def test_every_new_model_gives_points(model):
    scenario = serving_scenario(
        [workload(model=model, engines="vllm-fp8;vllm-fp4")], [shape()], [product("box", "B300", 8)]
    )
    points = operating_points(scenario)
    assert len(points.taken), set(points.refused["reason"])


def test_experts_of_a_mixture_are_used_in_part():
    # GLM-4.5-Air: 45 layers x 128 experts x 3 x 4,096 x 1,408; 8 of 128 serve a token.
    card = deployment("H200", "GLM-4.5-Air", "fp8")
    experts = 45 * 128 * 3 * 4_096 * 1_408
    assert card.expert_weights.item() == pytest.approx(experts, rel=1e-4)
    assert routed_parameters(card).item() == pytest.approx(experts / 16, rel=1e-4)
    assert kv_bytes_per_sequence(card, 1.0).item() == 46 * 2 * 8 * 128 * 2


def test_gemma_keeps_a_window_in_five_of_six_layers():
    # 27B: 10 layers of the whole context and 52 of 1,024 tokens, 16 heads of 128.
    card = deployment("H100 SXM", "Gemma-3-27B", "fp8")
    token = 2 * 16 * 128 * 2
    assert kv_bytes_per_sequence(card, 10_000.0).item() == (10 * 10_000 + 52 * 1_024) * token
    assert read_bytes_per_sequence(card, 10_000.0).item() == (10 * 10_000 + 52 * 1_024) * token
    assert attended_entries(card, 10_000.0).item() == 10 * 10_000 + 52 * 1_024
    flops = attention_flops(card, 10_000.0, decode_width(card)).item()
    assert flops == 4 * 32 * 128 * (10 * 10_000 + 52 * 1_024)


def test_a_sparse_indexer_reads_a_key_of_every_token_and_the_cache_of_the_selected():
    # V3.2: 61 layers x 576 elements in FP8; an indexer key of 128 FP8 bytes and a scale of 4 per token and layer.
    card = deployment("H200", "DeepSeek-V3.2", "fp8", chips=8.0, tensor=8.0, kv_precision="fp8")
    held = kv_bytes_per_sequence(card, 10_000.0).item()
    assert held == 10_000 * 61 * (576 + 132)
    read = read_bytes_per_sequence(card, 10_000.0).item()
    assert read == 2_048 * 61 * 576 + 10_000 * 61 * 132
    # Below the top k all of it is read, and the indexers' keys besides.
    assert read_bytes_per_sequence(card, 1_000.0).item() == 1_000 * 61 * (576 + 132)
    assert indexer_flops(card, 10_000.0).item() == 2 * 64 * 128 * 61 * 10_000
    assert attended_entries(card, 10_000.0).item() == 61 * 2_048
    # One latent head: every tensor-parallel chip keeps and reads all of it.
    assert read_bytes_per_chip(card, 10_000.0).item() == read


def test_glm_5_has_fewer_indexer_heads_over_more_layers():
    card = deployment("B200", "GLM-5", "fp8", chips=8.0, tensor=8.0, kv_precision="fp8")
    assert kv_bytes_per_sequence(card, 4_096.0).item() == 4_096 * 78 * (576 + 132)
    assert indexer_flops(card, 4_096.0).item() == 2 * 32 * 128 * 78 * 4_096
    dense = deployment("B200", "DeepSeek-R1", "fp8", chips=8.0, tensor=8.0, kv_precision="fp8")
    assert indexer_flops(dense, 4_096.0).item() == 0.0


def test_compressed_attention_caches_one_latent_for_several_tokens():
    # V4-Pro at 2 bytes: 30 layers of a latent of 512 per 4 tokens, 31 per 128 tokens, 61 windows of 128 tokens, and
    # indexer keys of 128 FP4 per 4 tokens (64 bytes, 66 with scales) in 30 layers. The report on its cache at a
    # million tokens gives 9.6 GiB with the keys in BF16; here 8.3 GiB.
    card = deployment("B300", "DeepSeek-V4-Pro", "fp4", chips=8.0, tensor=8.0)
    million = 2.0**20
    latents = million * (30 * 512 / 4 + 31 * 512 / 128) * 2
    windows = 61 * 128 * 512 * 2
    keys = million * 30 * 64 / 4 * (1 + 4 / 128)
    assert kv_bytes_per_sequence(card, million).item() == pytest.approx(latents + windows + keys)
    assert latents + million * 30 * 128 / 4 * 2 == pytest.approx(9.6 * 2**30, rel=0.01)
    # A step reads 1,024 selected latents in 30 layers, all 8,192 in 31, the windows, and all indexer keys.
    read = (30 * 1_024 + 31 * 8_192 + 61 * 128) * 512 * 2 + keys
    assert read_bytes_per_sequence(card, million).item() == pytest.approx(read)
    assert attended_entries(card, million).item() == 30 * 1_024 + 31 * 8_192 + 61 * 128
    assert attention_flops(card, million, decode_width(card)).item() == pytest.approx(
        4 * 128 * 512 * (30 * 1_024 + 31 * 8_192 + 61 * 128)
    )


def test_linear_layers_keep_read_and_write_a_state_that_is_split_like_weights():
    # Qwen3-Next: 36 layers x 32 heads x 128 x 128 in FP32 whatever the length; 12 layers cache 2 heads of 256.
    one = deployment("H100 SXM", "Qwen3-Next-80B-A3B", "fp8")
    state, token = 36 * 32 * 128 * 128 * 4, 12 * 2 * 2 * 256 * 2
    assert kv_bytes_per_sequence(one, 0.0).item() == state
    assert kv_bytes_per_sequence(one, 5_000.0).item() == state + 5_000 * token
    assert read_bytes_per_chip(one, 5_000.0).item() == 2 * state + 5_000 * token
    four = deployment("H100 SXM", "Qwen3-Next-80B-A3B", "fp8", chips=4.0, tensor=4.0)
    # Two key/value heads are split over two chips, the 32 heads of the state over four.
    assert kv_bytes_per_chip(four, 5_000.0).item() == state / 4 + 5_000 * token / 2
    spread = deployment(
        "H100 SXM", "Qwen3-Next-80B-A3B", "fp8", chips=4.0, tensor=4.0, expert=4.0, attention_dp=True
    )
    assert kv_bytes_per_chip(spread, 5_000.0).item() == (state + 5_000 * token) / 4


def test_mamba_layers_keep_one_state_per_head():
    # Nemotron 3 Nano: 23 layers x 64 heads x 64 x 128 in FP32; 6 attention layers of 2 heads of 128.
    card = deployment("H100 SXM", "Nemotron-3-Nano-30B-A3B", "fp8")
    assert kv_bytes_per_sequence(card, 1_000.0).item() == 23 * 64 * 64 * 128 * 4 + 1_000 * 6 * 2 * 2 * 128 * 2


def test_the_state_bounds_how_many_requests_fit_and_slows_a_step():
    # 80 GB x 0.9 less 31.58 GB of FP8 weights is 40.42 GB; a request of 100 tokens takes 48.2 + 0.6 MB.
    card, constants = deployment("H100 SXM", "Nemotron-3-Nano-30B-A3B", "fp8"), neutral_constants()
    held = kv_bytes_per_sequence(card, 100.0).item()
    free = 72e9 - weight_bytes_per_chip(card).item()
    assert most_concurrent(card, 100.0, constants).item() == np.floor(free / held)
    batch = np.array([[1.0, 101.0]])
    one, many = decode_step_s(card, batch, 100.0, constants)[0]
    assert many - one > 100 * 2 * 23 * 64 * 64 * 128 * 4 / 3.35e12


def test_the_layers_for_multi_token_prediction_draft_where_an_option_leaves_the_draft_blank():
    scenario = serving_scenario(
        [workload(model="GLM-4.5-Air", engines="vllm-fp8")], [shape()], [product("box", "H200", 8)]
    )
    row = scenario.tables["models"].query("model == 'GLM-4.5-Air'")
    option = scenario.tables["engine_options"].query("option == 'mtp-1-own'")
    proposed = draft(row.merge(option, how="cross"))
    # One layer of experts and attention, and a product that joins two streams: 2.38e9 beside 106.85e9.
    layer = 4_096 * 96 * 128 * 2 + 2 * 4_096 * 8 * 128 + 129 * 3 * 4_096 * 1_408 + 4_096 * 128 + 2 * 4_096**2
    assert proposed.memory.item() == pytest.approx(layer / 106.85e9, rel=0.01)
    assert (proposed.layers.item(), proposed.cost.item()) == (1.0, pytest.approx(1 / 46))
