"""The stage as a whole: trust, targets, classes, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serving_case import MEASURED, product, serving_scenario, shape, workload

from planner.errors import InputError
from planner.performance import operating_points

SWEEP = [(1, 120, 45), (4, 420, 68), (8, 760, 95), (16, 1280, 150), (32, 1900, 260), (64, 2400, 480)]
"""Batch, tok/s and TTFT (ms) of one card."""


def sweep_rows() -> list[dict[str, object]]:
    """Return the batch sweep as opaque rows."""
    return [
        {
            "point": f"batch {batch}",
            "product": "card",
            "phase": "mixed",
            "concurrency": batch,
            "load_kind": "static_batch",
            "output_tok_per_s": rate,
            "ttft_ms": ttft,
            "ttft_statistic": "p95",
            **MEASURED,
        }
        for batch, rate, ttft in SWEEP
    ]


def sweep_points(rtt_ms: float = 0.0, **targets: object):
    """Return the points of the batch sweep for a workload with some targets."""
    scenario = serving_scenario(
        [workload(percentile="p95", **targets)],
        [shape(input_tokens=500, output_tokens=100)],
        [product("card", None, 1)],
        sweep_rows(),
        rtt_ms=rtt_ms,
    )
    return operating_points(scenario)


def measured_row(**changed: object) -> dict[str, object]:
    """Return a closed-loop row of Llama 3.1 70B FP8 on four H200 at 1,024/1,024."""
    return {
        "point": "run",
        "curve": "curve",
        "chip": "H200",
        "chips": 4,
        "model": "Llama-3.1-70B",
        "engine": "vllm-fp8",
        "tensor_parallel": 4,
        "phase": "mixed",
        "input_tokens": 1000,
        "output_tokens": 1000,
        "concurrency": 32,
        "load_kind": "closed_loop",
        "output_tok_per_s": 1500,
        "ttft_ms": 200,
        "ttft_statistic": "p95",
        "tpot_ms": 20,
        "tpot_statistic": "p95",
        "cache_hit_fraction": 0,
        **MEASURED,
    } | changed


def online_points(points: list[dict[str, object]], prompt: float = 1000, answer: float = 1000, **targets):
    """Return points of Llama 70B on an H200 box for one shape, with the catalogue's own rows replaced."""
    goals = {"ttft_ms": 1000, "tpot_ms": 50, "percentile": "p95"} | targets
    scenario = serving_scenario(
        [workload(model="Llama-3.1-70B", engines="vllm-fp8", **goals)],
        [shape(input_tokens=prompt, output_tokens=answer)],
        [product("box", "H200", 8)],
        points,
    )
    # Only the rows of the test speak: the catalogue's measured rows of the same model are taken out.
    own = scenario.tables["operating_points"]
    own = own[own["point"].isin([row["point"] for row in points])].reset_index(drop=True)
    return operating_points(
        type(scenario)(
            scenario.name,
            scenario.settings,
            {**scenario.tables, "operating_points": own},
            scenario.origin,
            scenario.warnings,
            scenario.input_hash,
        )
    )


@pytest.mark.parametrize(
    ("targets", "rtt_ms", "batch", "rate"),
    [({"ttft_ms": 200}, 0.0, 16, 1280), ({}, 0.0, 64, 2400), ({"ttft_ms": 200}, 60.0, 8, 760)],
)
def test_the_batch_is_chosen_by_what_the_latency_target_leaves(targets, rtt_ms, batch, rate):
    points = sweep_points(rtt_ms, **targets)
    (row,) = points.taken.to_dict("records")
    assert row["concurrency"] == batch
    assert row["requests_per_s"] == pytest.approx(rate / 100)
    assert row["provider"] == "opaque"


def test_a_row_without_the_statistic_of_a_stated_target_is_refused():
    points = sweep_points(ttft_ms=200, tpot_ms=50)
    assert points.taken.empty
    assert set(points.refused["reason"]) >= {"no TPOT statistic for a stated target"}


def test_a_measured_row_beats_the_roofline_at_its_own_shape():
    (row,) = online_points([measured_row()]).taken.to_dict("records")
    assert row["provider"] == "measured"
    # 1,500 tok/s on four chips are 1.5 requests/s; the box holds two such replicas.
    assert row["requests_per_s"] == pytest.approx(3.0)
    assert (row["replica_chips"], row["replicas_per_unit"], row["concurrency"]) == (4, 2, 32)
    assert (row["ttft_ms"], row["tpot_ms"]) == (200, 20)
    assert row["latency_pass_fraction"] == pytest.approx(0.95)
    assert row["quality_pass_fraction"] == pytest.approx(0.992)


def test_a_measurement_speaks_for_any_lengths_less_the_farther_they_are():
    near, far = (online_points([measured_row()], prompt=prompt, answer=600).taken for prompt in (1800, 8000))
    assert set(near["provider"]) == {"anchored"}
    assert near["rate_log_sd"].min() < far["rate_log_sd"].min()
    assert near["evidence_fraction"].max() > far["evidence_fraction"].max()
    assert near["evidence"].str.contains("nearest at 1000/1000 tokens, 32 in flight on 4 chips").all()
    assert near["band_high_ratio"].iloc[0] < far["band_high_ratio"].iloc[0]


def test_without_a_row_the_point_says_which_one_is_missing():
    scenario = serving_scenario(
        [workload(model="Qwen3-14B", engines="vllm-bf16")], [shape()], [product("box", "A100 80GB")]
    )
    taken = operating_points(scenario).taken
    assert set(taken["evidence"]) == {"no measured row of Qwen3-14B"}
    assert taken["rate_log_correction"].eq(0.0).all()


def test_an_anchored_point_follows_the_measurement_it_stands_on():
    def taken(**row: float):
        loose = {"ttft_ms": 60_000, "tpot_ms": 500}
        found = online_points([measured_row(**row)], prompt=1500, answer=1000, **loose).taken
        return found[found["concurrency"].eq(32)].iloc[0]

    slow, fast = taken(), taken(ttft_ms=100, tpot_ms=10, output_tok_per_s=3000)
    # One row of a noise of 4 % against an error of some 20 % beforehand: nine tenths of what it says are believed.
    assert slow["tpot_ms"] / 2 < fast["tpot_ms"] < slow["tpot_ms"] / 2 * 1.1
    assert 2 * slow["requests_per_s"] > fast["requests_per_s"] > 1.8 * slow["requests_per_s"]


def test_no_point_goes_beyond_the_last_measured_load():
    taken = online_points([measured_row()], prompt=1500, answer=1000, ttft_ms=60_000, tpot_ms=500).taken
    assert taken["concurrency"].max() == 32


def test_between_a_load_that_meets_and_one_that_does_not_the_met_one_is_the_capacity():
    curve = [
        measured_row(),
        measured_row(point="heavy", concurrency=64, output_tok_per_s=2400, ttft_ms=1500, tpot_ms=30),
    ]
    points = online_points(curve)
    (row,) = points.taken.to_dict("records")
    assert (row["provider"], row["concurrency"]) == ("measured", 32)
    assert any("TTFT 1500 ms is above the target of 1000 ms" in reason for reason in points.refused["reason"])


def test_a_mean_is_scaled_to_the_targets_percentile_by_the_catalogue():
    points = online_points([measured_row(ttft_statistic="median", tpot_statistic="median")])
    (row,) = points.taken.to_dict("records")
    factors = {"ttft": 1.796, "tpot": 1.332}
    assert row["ttft_ms"] == pytest.approx(200 * factors["ttft"], rel=1e-3)
    assert row["tpot_ms"] == pytest.approx(20 * factors["tpot"], rel=1e-3)


def test_a_rate_above_seventy_percent_of_the_peak_is_refused_unless_verified():
    # 2 x 69.5e9 x 2 tokens x 30 requests/s on four H200: 8.3e15 of 7.9e15 FLOP/s.
    row = measured_row(output_tok_per_s=30_000)
    points = online_points([row])
    assert "measured" not in set(points.taken["provider"])
    assert any("above 70 %" in reason for reason in points.refused["reason"])
    assert set(online_points([row | {"verified": True}]).taken["provider"]) == {"measured"}


def test_a_closed_loop_without_a_rate_gets_it_from_littles_law_and_says_so():
    medians = {"ttft_statistic": "median", "tpot_statistic": "median"}
    points = online_points([measured_row(output_tok_per_s=None, **medians)])
    (row,) = points.taken.to_dict("records")
    assert row["requests_per_s"] == pytest.approx(2 * 32 / (0.2 + 999 * 0.020))
    assert "derived" in row["basis"]


def test_phase_rates_of_a_node_become_requests_of_that_phase():
    # 3,800 prompt tokens at 73,700 tok/s and 1,050 generated ones at 14,800 tok/s.
    rates = [
        {"point": "p", "product": "node", "phase": "prefill", "input_tok_per_s": 73_700, **MEASURED},
        {"point": "d", "product": "node", "phase": "decode", "output_tok_per_s": 14_800, **MEASURED},
    ]
    scenario = serving_scenario(
        [workload()], [shape(input_tokens=3800, output_tokens=1050)], [product("node", "H800", 8)], rates
    )
    taken = operating_points(scenario).taken.set_index("phase")
    assert taken.loc["prefill", "requests_per_s"] == pytest.approx(73_700 / 3_800)
    assert taken.loc["decode", "requests_per_s"] == pytest.approx(14_800 / 1_050)
    assert (taken.loc["prefill", "prefill_time_fraction"], taken.loc["decode", "prefill_time_fraction"]) == (
        1,
        0,
    )
    assert set(taken["ttft_class"]) == {"any"}


def test_stated_requests_per_shape_are_taken_straight_and_zero_means_not_servable():
    cells = [
        {
            "point": "a",
            "product": "gpu",
            "workload": "mix",
            "shape": "small",
            "phase": "mixed",
            "requests_per_s": 5,
        },
        {
            "point": "b",
            "product": "gpu",
            "workload": "mix",
            "shape": "large",
            "phase": "mixed",
            "requests_per_s": 0,
        },
    ]
    scenario = serving_scenario(
        [workload("mix")],
        [
            {"workload": "mix", "shape": "small", "share_fraction": 0.5},
            {"workload": "mix", "shape": "large", "share_fraction": 0.5},
        ],
        [product("gpu", None, 1)],
        [cell | MEASURED for cell in cells],
    )
    points = operating_points(scenario)
    assert points.taken[["shape", "requests_per_s"]].to_dict("records") == [
        {"shape": "small", "requests_per_s": 5.0}
    ]
    assert points.refused["shape"].to_list() == ["large"]


def test_routes_lose_network_and_waiting_from_the_budget():
    scenario = serving_scenario(
        [workload(model="Llama-3.1-8B", engines="vllm-fp8", ttft_ms=1000, percentile="p95", waiting_ms=100)],
        [shape()],
        [product("box", "H100 SXM")],
        rtt_ms=40.0,
    )
    (route,) = operating_points(scenario).routes.to_dict("records")
    assert route["ttft_budget_ms"] == 860.0
    assert route["ttft_class"] == "860 ms"
    assert route["admissible"]


def test_a_budget_used_up_by_the_network_makes_the_route_inadmissible():
    scenario = serving_scenario(
        [workload(model="Llama-3.1-8B", engines="vllm-fp8", ttft_ms=100, percentile="p95")],
        [shape()],
        [product("box", "H100 SXM")],
        rtt_ms=120.0,
    )
    (route,) = operating_points(scenario).routes.to_dict("records")
    assert not route["admissible"]
    assert route["reason"] == "network and waiting use up the latency target"


def test_only_products_on_offer_or_installed_are_looked_at():
    scenario = serving_scenario(
        [workload(model="Llama-3.1-8B", engines="vllm-fp8")], [shape()], [product("box", "H100 SXM")]
    )
    assert set(operating_points(scenario).taken["product"]) == {"box"}


def test_better_tuned_engines_complete_more():
    def rate(ratio: float) -> float:
        scenario = serving_scenario(
            [workload(model="Llama-3.1-8B", engines="vllm-fp8")],
            [shape(input_tokens=700, output_tokens=100)],
            [product("box", "A100 80GB")],
            settings={"engine_tuning_ratio": ratio},
        )
        return float(operating_points(scenario).taken["requests_per_s"].sum())

    assert rate(1.0) == 0.0  # no FP8 path on A100

    def bf16(ratio: float, chip: str, answer: int) -> float:
        scenario = serving_scenario(
            [workload(model="Qwen3-14B", engines="vllm-bf16")],
            [shape(input_tokens=200, output_tokens=answer)],
            [product("box", chip)],
            settings={"engine_tuning_ratio": ratio},
        )
        return float(operating_points(scenario).taken["requests_per_s"].iloc[0])

    assert bf16(1.3, "H200", 4_000) > bf16(1.0, "H200", 4_000) > bf16(0.65, "H200", 4_000)
    # Short answers keep an A100 at the power of its chips untuned: tuning adds nothing there.
    assert bf16(1.3, "A100 80GB", 20) == pytest.approx(bf16(1.0, "A100 80GB", 20), rel=1e-4)
    assert bf16(1.0, "A100 80GB", 20) > 1.01 * bf16(0.65, "A100 80GB", 20)


@settings(max_examples=2, derandomize=True, deadline=None, database=None)
@given(st.lists(st.floats(60.0, 20_000.0), min_size=3, max_size=3, unique=True))
def test_loosening_the_first_token_target_never_lowers_the_rate(targets):
    rates = []
    for ttft_ms in sorted(targets):
        points = online_points([measured_row()], prompt=1200, answer=800, ttft_ms=ttft_ms, tpot_ms=60)
        rates.append(float(points.taken["requests_per_s"].max()) if len(points.taken) else 0.0)
    assert (np.diff(rates) >= -1e-9).all()


def test_every_point_has_a_unique_name_and_says_where_it_comes_from():
    scenario = serving_scenario(
        [workload(model="Llama-3.1-70B", ttft_ms=2000, tpot_ms=60, percentile="p95")],
        [shape(name="short"), shape(name="long", input_tokens=6000)],
        [product("box", "H200"), product("rack", "GB200", 72)],
    )
    taken = operating_points(scenario).taken
    assert taken["point"].is_unique
    assert taken["source"].ne("").all()
    assert taken["confidence"].isin(["measured", "derived", "estimate", "published", "quoted"]).all()
    assert (taken["band_low_ratio"] <= 1).all()
    assert (taken["band_high_ratio"] >= 1).all()


def test_no_point_is_beaten_by_another_of_the_same_product_in_rate_yield_and_power():
    scenario = serving_scenario(
        [workload(model="Llama-3.1-70B", ttft_ms=2000, tpot_ms=60, percentile="p95")],
        [shape()],
        [product("box", "H200"), product("rack", "GB200", 72)],
    )
    points = operating_points(scenario)
    for _, group in points.taken.groupby(["product", "shape", "ttft_class", "phase"]):
        best = group["requests_per_s"].max()
        rest = group[group["requests_per_s"] < best]
        fastest = group[group["requests_per_s"].eq(best)].iloc[0]
        assert (rest["quality_pass_fraction"] > fastest["quality_pass_fraction"]).all() or (
            (rest["unit_kw"] - 2) / rest["requests_per_s"] < (fastest["unit_kw"] - 2) / best
        ).any()
    assert points.refused["reason"].str.startswith("dominated by").any()


def test_a_target_in_a_statistic_without_a_factor_is_an_input_fault():
    scenario = serving_scenario(
        workloads=[workload(model="Llama-3.1-70B", percentile="p95", ttft_ms=2000.0)],
        shapes=[shape()],
        products=[product("box", "H100 SXM")],
    )
    empty = scenario.tables["statistic_factors"].iloc[:0]
    bare = replace(scenario, tables={**scenario.tables, "statistic_factors": empty})
    with pytest.raises(InputError) as raised:
        operating_points(bare)
    told = [fault.message for fault in raised.value.faults]
    assert told == [f"no row for {metric} and p95" for metric in ("ttft", "tpot")]


def test_a_measured_system_of_two_replicas_speaks_for_each_of_them():
    single = measured_row()
    double = measured_row(chips=8, concurrency=64, output_tok_per_s=3000)
    (one,), (two,) = (online_points([row]).taken.to_dict("records") for row in (single, double))
    assert one["replica_chips"] == two["replica_chips"] == 4
    for name in ("concurrency", "requests_per_s", "ttft_ms", "tpot_ms"):
        assert two[name] == pytest.approx(one[name])
    assert two["requests_per_s"] == pytest.approx(2 * 1.5)


def test_a_measured_system_that_is_no_whole_number_of_replicas_is_refused_with_the_reason():
    points = online_points([measured_row(chips=6, tensor_parallel=4)])
    assert points.refused["reason"].str.contains("6 chips are no whole number of replicas of tensor 4").any()


def stated_or_modelled(**asked: object) -> set[str]:
    """Return what gives the rates of a workload with a model for which one is stated outright, on vllm-fp8."""
    stated = {"point": "stated", "product": "gpu", "workload": "chat", "shape": "all", "phase": "mixed"}
    stated |= {"engine": "vllm-fp8", "requests_per_s": 50, "ttft_ms": 100, "ttft_statistic": "p95"}
    stated |= {"tpot_ms": 10, "tpot_statistic": "p95", **MEASURED}
    targets = {"model": "Llama-3.1-70B", "percentile": "p95", "tpot_ms": 60, "waiting_ms": None}
    work = workload(**(targets | {"engines": "vllm-fp8"} | asked))
    found = operating_points(serving_scenario([work], [shape()], [product("gpu", "H200")], [stated]))
    return set(found.taken["provider"])


def test_a_stated_rate_is_no_answer_where_capacity_is_sized_on_what_is_attained():
    """Nothing is known of its queue: all of it would count, at the mean of the hour."""
    assert stated_or_modelled() == {"opaque"}
    assert "opaque" not in stated_or_modelled(sizing_statistic="attained", arrival_cv=0.2)


def test_a_stated_rate_of_an_engine_that_the_workload_does_not_accept_is_left_out():
    assert "opaque" not in stated_or_modelled(engines="sglang-fp8")
