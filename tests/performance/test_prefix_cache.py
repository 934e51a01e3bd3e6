"""Prefix cache: found while every session fits into memory, lost at once when one too many does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from serving_case import (
    catalog_tables,
    deployment,
    neutral_constants,
    product,
    serving_scenario,
    shape,
    workload,
)

from planner.performance import operating_points
from planner.performance.prefix_cache import Reuse, session_timing
from planner.performance.roofline import decode_step_s, prefill_s
from planner.performance.roofline_constants import roofline_constants
from planner.performance.serving import Lengths

OVERHEADS = ["layer_overhead_us", "step_overhead_us", "sequence_overhead_us", "first_token_overhead_ms"]


def one(value: float) -> np.ndarray:
    return np.array([[float(value)]])


def kept(**changed: float) -> Reuse:
    values = {
        "cached": 1.0,
        "reusable": 0.9,
        "think_s": 0.0,
        "pool": 1.0,
        "spread": 0.0,
        "host_bytes": 0.0,
        "host_bytes_per_s": np.inf,
    } | changed
    return Reuse(**{name: one(value) for name, value in values.items()})


def found(batch: list[float], constants=None, **changed: float):
    """Return timing, hit share and sessions of an 8B model on an 80 GB card, 9,000 in and 1,000 out."""
    constants = constants or neutral_constants()
    card = deployment("H100 SXM", "Llama-3.1-8B")
    lengths = Lengths(one(9_000), one(1_000), one(9_000))
    loads = np.array([batch], dtype=float)
    step = decode_step_s(card, loads, lengths.mean_context, constants)
    return session_timing(card, loads, lengths, kept(**changed), step, constants)


def test_prefixes_are_found_until_the_sessions_pass_the_memory():
    # (72 GB - 16.06 GB) / (10,000 tokens x 131,072 bytes) = 42.7 sessions, all of them in flight.
    _, hit, sessions = found([1, 42, 43, 60])
    assert hit.tolist() == [[0.9, 0.9, 0.0, 0.0]]
    assert sessions.tolist() == [[1, 42, 43, 60]]


def test_thinking_sessions_hold_memory_too():
    timing, _, _ = found([20])
    think_s = 25.0 / timing.requests_per_s.item()
    _, hit, sessions = found([20], think_s=think_s)
    assert sessions.item() == pytest.approx(45.0)
    assert hit.item() == 0.0


def test_sessions_that_land_anywhere_find_what_the_pool_leaves_of_the_memory():
    # 4 replicas each keep a copy of all 4 x 40 sessions: 42.68 / 160 of 0.9.
    _, hit, _ = found([40], spread=1.0, pool=4.0)
    assert hit.item() == pytest.approx(0.9 * 42.678 / 160, rel=1e-4)


def test_host_memory_brings_the_hits_back_at_the_speed_of_its_link():
    # Each prefix of 8,100 tokens x 131,072 bytes = 1.0617 GB takes 21.2 ms over 50 GB/s, and no more than 47.1 of
    # them pass in a second.
    constants = neutral_constants()
    slow = found([60], constants, host_bytes=100e9, host_bytes_per_s=50e9)
    fast = found([60], constants, host_bytes=100e9)
    assert slow[1].item() == fast[1].item() == 0.9
    assert slow[0].ttft_s.item() - fast[0].ttft_s.item() == pytest.approx(8_100 * 131_072 / 50e9)
    starved = found([60], constants, host_bytes=100e9, host_bytes_per_s=0.1e9)
    assert starved[0].requests_per_s.item() <= 0.1e9 / (8_100 * 131_072) * (1 + 1e-9)


def test_attention_beyond_the_fitted_prompts_runs_at_the_bf16_rate():
    # FP8 weights double the compute path of the H100; attention of a long prompt does not get faster by it.
    fp8 = deployment("H100 SXM", "Llama-3.1-8B", "fp8")
    fitted, bounded = neutral_constants(), neutral_constants(fitted_prompt_tokens=0.0)
    bf16 = replace(fp8, peak_flops=fp8.attention_flops_per_s)
    products_s = 2.0 * 7.505e9 * 100_000
    assert prefill_s(fp8, 100_000.0, bounded).item() > 1.3 * prefill_s(fp8, 100_000.0, fitted).item()
    slow = prefill_s(bf16, 100_000.0, bounded).item() - prefill_s(fp8, 100_000.0, bounded).item()
    # What is left between them are the matrix products: half their BF16 time.
    assert slow == pytest.approx(products_s / 989e12 - products_s / 1979e12, rel=0.05)
    assert prefill_s(fp8, 1_000.0, neutral_constants(fitted_prompt_tokens=20_000.0)).item() == pytest.approx(
        prefill_s(fp8, 1_000.0, fitted).item()
    )


@pytest.mark.parametrize(
    ("sessions", "prompt", "output", "host", "measured"),
    [(32, 81_082, 761, False, 323.12), (40, 89_752, 544, False, 56.77), (40, 88_299, 689, True, 302.81)],
)
def test_agent_sessions_on_four_mi355x_collapse_and_come_back_with_host_memory(
    sessions, prompt, output, host, measured
):
    # Kimi-K2.5 in MXFP4, KV cache in FP8, measured output tok/s of agent sessions of which 0.953 of a prompt has been
    # sent before, 15 s apart; the tuning of 0.73 is that of the row of 16 sessions (bench/prefix_cache.py).
    # ajith-sirra-amd/InferenceMAX_Rocm_Team@59882861:results/0604/kimik2.5-fp4-mi355x-vllm-agentic-lmcache
    constants = roofline_constants(catalog_tables()["roofline_constants"])
    family = catalog_tables()["chip_families"].set_index("family").loc["mi350"]
    chips = {"chips": 4.0, "tensor": 4.0, "kv_precision": "fp8", "tuning_ratio": 0.73}
    era = catalog_tables()["software_eras"].set_index("era").loc["vLLM", OVERHEADS].to_dict()
    neutral = deployment("MI355X", "Kimi-K2.5", "mxfp4", **chips, **era)
    replica = replace(
        neutral,
        mfu=one(family["mfu_fp4_fraction"]),
        bandwidth_efficiency=one(family["bandwidth_efficiency_fraction"]),
        attention_flops_per_s=neutral.attention_flops_per_s * family["mfu_bf16_fraction"],
        layer_s=neutral.layer_s * family["overhead_ratio"],
        sequence_s=neutral.sequence_s * family["overhead_ratio"],
    )
    lengths = Lengths(one(prompt), one(output), one(prompt))
    loads = np.linspace(0.1, 38.0, 380)[None, :]
    step = decode_step_s(replica, loads, lengths.mean_context, constants)
    offload = {"host_bytes": 1e12, "host_bytes_per_s": 0.85 * 64e9} if host else {}
    timing, _, present = session_timing(
        replica, loads, lengths, kept(reusable=0.953, think_s=15.0, **offload), step, constants
    )
    at = int(np.argmin(abs(present[0] - sessions)))
    assert timing.requests_per_s[0, at] * output == pytest.approx(measured, rel=0.3)


def agents(**changed):
    return workload(
        model="Llama-3.1-70B",
        engines="vllm-fp8",
        engine_options="prefix-cache;prefix-cache-host",
        reusable_input_fraction=0.95,
        session_think_s=10.0,
        **changed,
    )


def test_an_option_is_one_more_candidate_for_the_workloads_that_admit_it():
    scenario = serving_scenario(
        [agents(), workload("plain", model="Llama-3.1-70B", engines="vllm-fp8")],
        [shape(input_tokens=30_000), shape("plain", input_tokens=30_000)],
        [product("box", "H200", host_memory_gb=2_000, host_gb_per_s=64)],
    )
    taken = operating_points(scenario).taken.set_index("workload")
    assert taken.loc["plain", "engine_option"] == ""
    best = taken.loc[["chat"]].sort_values("requests_per_s").iloc[-1]
    assert best["engine_option"].startswith("prefix-cache")
    assert "+ prefix-cache" in best["point"]
    assert best["cache_hit_fraction"] == pytest.approx(0.95)
    assert best["requests_per_s"] > 3 * taken.loc["plain", "requests_per_s"]


def test_an_option_whose_facts_are_missing_is_refused_by_name():
    scenario = serving_scenario([agents()], [shape(input_tokens=30_000)], [product("box", "H200")])
    found = operating_points(scenario)
    assert set(found.taken["engine_option"]) <= {"", "prefix-cache"}
    refused = found.refused[found.refused["engine"].eq("vllm-fp8 + prefix-cache-host")]
    assert set(refused["reason"]) == {"the host memory of the product is not in the catalogue"}
