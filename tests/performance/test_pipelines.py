"""Pipelines: models no unit holds, stages the layers allow, networks that must be known."""

from __future__ import annotations

import numpy as np
import pytest
from serving_case import STATED, deployment, neutral_constants, product, serving_scenario, shape, workload

from planner.performance import operating_points
from planner.performance.pipelines import fill_s
from planner.performance.roofline import decode_step_s, prefill_s


def found(model="DeepSeek-R1", units=2, network=400.0, chip="H200", chips=8, engines="vllm-bf16", **lengths):
    option = {"option": "stages", "most_units": units, **STATED}
    scenario = serving_scenario(
        [workload(model=model, engines=engines, engine_options="stages", percentile="median")],
        [shape(**lengths)],
        [product("box", chip, chips, scale_out_gb_per_s=network)],
        engine_options=[option],
    )
    return operating_points(scenario)


def test_two_boxes_hold_what_one_does_not():
    # 671e9 x 2 bytes = 1.34 TB of weights; eight H200 give the engine 8 x 141 x 0.9 = 1.02 TB, sixteen twice that.
    two = found()
    assert set(two.taken["engine_option"]) == {"stages"}
    assert set(two.taken["units_per_replica"]) == {2.0}
    assert set(two.taken["replicas_per_unit"]) == {0.5}
    assert two.taken["basis"].str.contains("stages").all()
    one = found(units=1)
    assert one.taken.empty
    reasons = one.refused.loc[one.refused["engine"].eq("vllm-bf16 + stages"), "reason"]
    assert reasons.str.contains("do not fit into 8 chips").all()


def test_without_a_known_network_no_replica_leaves_its_box():
    alone = found(network=None)
    assert alone.taken.empty
    reasons = alone.refused.loc[alone.refused["engine"].eq("vllm-bf16 + stages"), "reason"]
    assert reasons.str.contains("scale_out_gb_per_s").all()


def test_a_model_of_64_heads_runs_on_three_boxes_only_in_stages():
    three = found(model="Qwen2.5-72B", units=3, chip="L4", chips=8, engines="vllm-bf16")
    wide = (
        three.taken if len(three.taken) else found(model="Llama-3.1-70B", units=3, chip="L4", chips=8).taken
    )
    assert len(wide)
    assert (
        64 % (wide["replica_chips"] / wide["basis"].str.extract(r"of (\d+) stages")[0].astype(float)) == 0
    ).all()


def test_a_step_passes_all_stages_and_a_prompt_fills_them_first():
    # Four stages on four cards: weights are read once per micro-batch, as on one card of the same total bandwidth / 4.
    constants = neutral_constants(first_token_chunk_tokens=1_000.0)
    staged = deployment("H100 SXM", "Llama-3.1-8B", chips=4.0, tensor=1.0, pipeline=4.0)
    one = deployment("H100 SXM", "Llama-3.1-8B")
    few = np.array([[4.0]])
    assert decode_step_s(staged, few, 0.0, constants).item() == pytest.approx(
        decode_step_s(one, np.array([[1.0]]), 0.0, constants).item(), rel=0.01
    )
    prompt = prefill_s(staged, 4_000.0, constants)
    # Four chunks of 1,000 through four stages: seven chunk times instead of four.
    assert fill_s(staged, prompt, np.array([[4_000.0]]), constants).item() == pytest.approx(
        0.75 * prompt.item()
    )


def test_a_prompt_longer_than_the_context_is_refused_in_words():
    long = found(model="Llama-3.1-70B", input_tokens=200_000)
    assert long.taken.empty
    assert long.refused["reason"].str.contains("longer than the model's context").all()


def test_a_request_longer_than_the_cache_is_refused_with_both_numbers():
    short = found(model="Llama-3.1-8B", chip="L4", chips=1, network=None, input_tokens=100_000)
    (reason,) = short.refused.loc[short.refused["engine"].eq("vllm-bf16"), "reason"]
    assert reason.startswith(
        "weights and the KV cache of one request do not fit into 1 chips: the cache has room for "
    )
    held = float(reason.split("room for ")[1].split(" of its ")[0])
    # 24 GB x 0.9 - 16.06 GB - overhead, over 131,072 bytes a token.
    assert held == pytest.approx((21.6e9 - 16.06e9) / 131_072, rel=0.25)
    assert "of its 100200 tokens" in reason
