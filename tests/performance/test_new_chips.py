"""Chips without a measurement are planned with: every one gives points, with the widest band."""

from __future__ import annotations

import pytest
from serving_case import product, serving_scenario, shape, workload

from planner.performance import operating_points

CHIPS = {
    "TPU7x": (4, "vllm-tpu-fp8"),
    "Trainium2": (16, "neuron-fp8"),
    "Trainium3": (16, "neuron-fp8"),
    "Inferentia2": (12, "neuron-bf16"),
    "Rubin": (72, "vllm-fp4"),
    "MI455X": (72, "vllm-rocm-fp4"),
    "MI308X": (8, "sglang-rocm-fp8"),
    "L40": (8, "vllm-fp8"),
    "A10G": (8, "vllm-int8"),
    "RTX 4090": (8, "vllm-fp8"),
    "RTX 5090": (8, "vllm-fp4"),
    "GB10": (1, "vllm-fp4"),
    "TPU v5e": (8, "jetstream-int8"),
    "A100 80GB": (8, "vllm-int8"),
}


@pytest.mark.parametrize("chip", CHIPS)
def test_a_chip_nobody_measured_gives_points_that_say_so(chip):
    chips, engine = CHIPS[chip]
    scenario = serving_scenario(
        [workload(model="Llama-3.1-8B", engines=engine)], [shape()], [product("box", chip, chips)]
    )
    taken = operating_points(scenario).taken
    assert set(taken["engine"]) == {engine}
    assert (taken["requests_per_s"] > 0).all()
    if chip != "A100 80GB":
        # A factor of two to either side of the expected rate; the planned one lies below it.
        assert (taken["band_high_ratio"] / taken["band_low_ratio"] >= 4.0 - 1e-9).all()
        assert (taken["band_low_ratio"] * taken["band_high_ratio"] >= 1.0 - 1e-9).all()
        assert set(taken["confidence"]) == {"estimate"}


@pytest.mark.parametrize("engine", ["vllm-ascend-bf16", "vllm-ascend-int8", "mindie-bf16", "mindie-int8"])
def test_a_model_too_large_for_one_ascend_runs_over_several(engine):
    # 70.55e9 parameters at 2 bytes need three chips of 64 GB, at 1 byte two.
    scenario = serving_scenario(
        [workload(model="Llama-3.1-70B", engines=engine)], [shape()], [product("box", "Ascend 910B", 8)]
    )
    taken = operating_points(scenario).taken
    assert len(taken)
    assert (taken["replica_chips"] >= (4 if engine.endswith("bf16") else 2)).all()


def test_peaks_and_memory_order_generations_of_one_maker():
    scenario = serving_scenario([workload()], [shape()], [product("box", "H100 SXM")])
    chips = scenario.tables["chips"].set_index("chip")
    for older, newer in (
        ("GB300", "Rubin"),
        ("MI355X", "MI455X"),
        ("TPU v6e", "TPU7x"),
        ("Trainium2", "Trainium3"),
    ):
        for column in ("bf16_tflops", "fp8_tflops", "memory_tb_per_s", "memory_gb"):
            assert chips.loc[newer, column] >= chips.loc[older, column], (newer, column)
