"""Which replicas exist: head counts, units of purchase, scale-up domains."""

from __future__ import annotations

import pytest
from serving_case import STATED, product, serving_scenario, shape, workload

from planner.inputs import resolved_workloads
from planner.performance import operating_points
from planner.performance.candidates import replicas, workload_shapes


def sizes(chips_per_unit: int, model: str, chip: str = "H200") -> set[float]:
    """Return the replica sizes of a model in a unit of some chips."""
    scenario = serving_scenario(
        [workload(model=model, engines="vllm-fp8")], [shape()], [product("box", chip, chips_per_unit)]
    )
    usable, _ = replicas(scenario, resolved_workloads(scenario))
    return set(usable["chips"])


@pytest.mark.parametrize(
    ("chips_per_unit", "expected"), [(1, {1}), (3, {1, 2}), (4, {1, 2, 4}), (6, {1, 2, 4}), (8, {1, 2, 4, 8})]
)
def test_a_model_with_64_heads_is_never_split_over_three_chips(chips_per_unit, expected):
    assert sizes(chips_per_unit, "Llama-3.1-70B") == expected


def test_experts_must_divide_by_the_replica_too():
    # Mixtral has 8 experts: no replica of 16 chips although its 32 heads would divide.
    assert sizes(72, "Mixtral-8x7B", "GB200") == {1, 2, 4, 8}
    assert sizes(72, "Llama-3.1-70B", "GB200") == {1, 2, 4, 8, 16, 32, 64}


def test_chips_of_a_unit_that_no_replica_fills_are_shown_as_idle():
    scenario = serving_scenario(
        [workload(model="Llama-3.1-70B", engines="vllm-bf16")], [shape()], [product("six", "H200", 6)]
    )
    taken = operating_points(scenario).taken
    row = taken.iloc[0]
    assert row["replica_chips"] * row["replicas_per_unit"] + row["idle_chips_per_unit"] == 6
    assert row["replica_chips"] in {2, 4}


def test_a_replica_that_spans_units_of_purchase_is_refused_with_that_reason():
    # DeepSeek R1 in FP8 weighs 671 GB: eight H100 hold 8 x 80 x 0.9 = 576 GB.
    scenario = serving_scenario(
        [workload(model="DeepSeek-R1", engines="vllm-fp8")], [shape()], [product("H100 box", "H100 SXM")]
    )
    points = operating_points(scenario)
    assert points.taken.empty
    (reason,) = set(points.refused["reason"])
    assert "do not fit into 8 chips" in reason
    assert "more than one unit of purchase" in reason
    assert not points.routes["admissible"].any()


def test_a_precision_the_chip_has_no_path_for_is_refused_not_emulated():
    scenario = serving_scenario(
        [workload(model="Llama-3.1-8B", engines="vllm-fp4")], [shape()], [product("box", "H100 SXM")]
    )
    points = operating_points(scenario)
    assert points.taken.empty
    assert set(points.refused["reason"]) == {"chip H100 SXM has no fp4 path"}


def test_a_model_without_architecture_facts_is_refused_not_guessed():
    scenario = serving_scenario(
        [workload(model="house-model", engines="vllm-fp8")],
        [shape()],
        [product("box", "H100 SXM")],
        models=[{"model": "house-model", "parameters_total_b": 12, "parameters_active_b": 12, **STATED}],
    )
    points = operating_points(scenario)
    assert points.taken.empty
    assert set(points.refused["reason"]) == {"model house-model lacks architecture facts"}


def test_engines_stay_with_the_chip_makers_and_models_they_are_made_for():
    scenario = serving_scenario(
        [workload(model="Llama-3.1-8B")], [shape()], [product("amd", "MI300X"), product("box", "H100 SXM")]
    )
    usable, _ = replicas(scenario, resolved_workloads(scenario))
    found = set(usable[usable["product"].eq("amd")]["engine"])
    assert found == {
        f"{software}-rocm-{p}" for software in ("vllm", "sglang") for p in ("bf16", "fp8", "fp4")
    }
    assert not usable["engine"].str.contains("mxfp4").any()


def test_reasoning_multiplies_output_and_cache_hits_reduce_prompt_work_only():
    scenario = serving_scenario(
        [workload(model="Llama-3.1-8B", reasoning_ratio=4, cached_input_fraction=0.25)],
        [shape(input_tokens=1000, output_tokens=200)],
        [product("box", "H100 SXM")],
    )
    row = workload_shapes(scenario, resolved_workloads(scenario)).iloc[0]
    assert (row["generated_tokens"], row["uncached_tokens"], row["input_tokens"]) == (800, 750, 1000)


def test_a_replica_too_slow_even_for_one_request_says_how_slow_it_is():
    # 70.5e9 x 2 bytes over four L40S at 0.864 TB/s are 41 ms a token before anything else.
    scenario = serving_scenario(
        [workload(model="Llama-3.1-70B", engines="vllm-bf16", tpot_ms=10, percentile="median")],
        [shape()],
        [product("box", "L40S", 8)],
    )
    points = operating_points(scenario)
    assert points.taken.empty
    (reason,) = set(points.refused["reason"])
    assert reason.startswith("TPOT of one request alone, ")
    assert reason.endswith(" ms, is above the target")


def test_chips_whose_links_are_not_known_are_not_combined():
    scenario = serving_scenario(
        [workload(model="Llama-3.1-70B", engines="vllm-xpu-bf16")],
        [shape()],
        [product("box", "Max 1550", 8)],
    )
    points = operating_points(scenario)
    assert points.taken.empty
    (reason,) = set(points.refused["reason"])
    assert reason.endswith("the bandwidth between the chips is not in the catalogue")
