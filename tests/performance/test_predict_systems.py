"""Predictions of systems of several replicas, of loads in words, of named engines, and their memory budget."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from test_predict import predicted, row

from planner.inputs import load_scenario
from planner.performance.candidates import replicas
from planner.performance.deployment import deployments
from planner.performance.foreign import load_kinds, point_facts
from planner.performance.memory import most_concurrent
from planner.performance.roofline_constants import roofline_constants


def test_more_chips_than_tensor_and_pipeline_are_replicas_that_share_the_load():
    one = predicted(row(chips_used=4, tp=4, concurrency_or_batch=16)).loc["a"]
    two = predicted(row(chips_used=8, tp=4, concurrency_or_batch=32)).loc["a"]
    four = predicted(row(chips_used=16, tp=2, pp=2, dp=4, concurrency_or_batch=64)).loc["a"]
    for name in ("predicted_tpot_ms", "predicted_ttft_ms"):
        assert two[name] == pytest.approx(one[name])
    assert two["predicted_throughput_out_tok_s"] == pytest.approx(2 * one["predicted_throughput_out_tok_s"])
    alone = predicted(row(chips_used=4, tp=2, pp=2, concurrency_or_batch=16)).loc["a"]
    assert four["predicted_throughput_out_tok_s"] == pytest.approx(
        4 * alone["predicted_throughput_out_tok_s"]
    )
    assert four["predicted_tpot_ms"] == pytest.approx(alone["predicted_tpot_ms"])


def test_fewer_requests_than_replicas_leave_some_idle_and_an_offered_rate_is_split():
    single = predicted(row(chips_used=4, tp=4, concurrency_or_batch=1)).loc["a"]
    three = predicted(row(chips_used=32, tp=4, concurrency_or_batch=3)).loc["a"]
    assert three["predicted_tpot_ms"] == pytest.approx(single["predicted_tpot_ms"])
    assert three["predicted_throughput_out_tok_s"] == pytest.approx(
        3 * single["predicted_throughput_out_tok_s"]
    )
    offered = {"conc_kind": "Poisson arrivals", "concurrency_or_batch": 2}
    spread = predicted(row(chips_used=32, tp=4, **offered)).loc["a"]
    assert spread["predicted_throughput_out_tok_s"] == pytest.approx(2 * 1024, rel=1e-3)
    crowded = predicted(row(chips_used=4, tp=4, **offered)).loc["a"]
    assert spread["predicted_tpot_ms"] < crowded["predicted_tpot_ms"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"chips_used": 8, "tp": 3}, "8 chips are no whole number of replicas of tensor 3 x pipeline 1"),
        ({"chips_used": 8, "tp": 4, "dp": 4}, "chips must be tp x pp x dp: 8 chips"),
        (
            {"conc_kind": "production average"},
            "load production average is not known: it must hold one of closed loop",
        ),
        (
            {"conc_kind": "offered requests/s", "concurrency_or_batch": np.nan},
            "an offered load needs its requests/s",
        ),
        ({"concurrency_or_batch": 0}, "the load must be above 0"),
        ({"model": "Qwen3"}, "model Qwen3 names more than one model; write one of 'Qwen3-8B'"),
    ],
)
def test_sizes_loads_and_names_that_say_nothing_certain_are_refused(changed, words):
    found = predicted(row(**changed)).loc["a"]
    assert words in found["reason"]
    assert np.isnan(found["predicted_throughput_out_tok_s"])


def test_every_word_for_a_load_in_the_measured_points_is_known_or_refused():
    kinds = {
        "client concurrency (closed loop)": "closed_loop",
        "concurrent agent sessions": "closed_loop",
        "": "closed_loop",
        "static batch": "static_batch",
        "maximum the engine fits (offline, all requests queued)": "offline_max",
        "maximum the engine fits (offline)": "offline_max",
        "all samples queued": "offline_max",
        "offered requests/s (open loop, 500 requests)": "offered",
        "Poisson arrivals": "offered",
        "number of prompts = max sequences, infinite rate": "open_loop",
        "production average": None,
        "as fast as it goes": None,
    }
    found = load_kinds(pd.Series(list(kinds)))
    assert found.astype(object).where(found.notna(), None).to_list() == list(kinds.values())


def test_an_engine_of_the_catalogue_brings_its_own_precision_memory_and_overheads():
    stated = predicted(row(engine="vllm", weight_precision="fp8", kv_precision="fp8")).loc["a"]
    named = predicted(row(engine="vLLM FP8", weight_precision=None, kv_precision=None)).loc["a"]
    assert named["predicted_tpot_ms"] == pytest.approx(stated["predicted_tpot_ms"])
    assert predicted(row(engine="vllm", weight_precision=None)).loc["a"]["reason"] != ""


def test_points_of_a_plan_and_predictions_have_one_memory_budget():
    scenario = load_scenario("small")
    usable, _ = replicas(scenario, scenario.tables["workloads"])
    box = usable[
        usable["engine"].eq("vllm-fp8")
        & usable["chip"].eq("H200")
        & usable["chips"].eq(4)
        & ~usable["attention_dp"]
    ].iloc[:1]
    tables = scenario.tables
    facts = point_facts(pd.DataFrame([row(chip="H200", engine="vllm-fp8", kv_precision="fp8")]), tables)
    constants = roofline_constants(tables["roofline_constants"])
    ours, theirs = (most_concurrent(deployments(rows), 2048.0, constants) for rows in (box, facts))
    assert ours[0, 0] == theirs[0, 0] > 100
    # A loop of that size runs at once; one request more waits for a place.
    fits, waits = (
        predicted(row(chip="H200", engine="vllm-fp8", concurrency_or_batch=load)).loc["a"]
        for load in (ours[0, 0], 2 * ours[0, 0])
    )
    assert fits["predicted_tpot_ms"] == pytest.approx(waits["predicted_tpot_ms"])
    assert waits["predicted_ttft_ms"] > fits["predicted_ttft_ms"] + 1000 * 2
