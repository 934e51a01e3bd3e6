"""What tuning may add to a rate: by hand on a frame, and through the stage on one product."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from serving_case import product, serving_scenario, shape, workload
from test_power import neutral_constants

from planner.performance import operating_points
from planner.performance.options import LATENCIES
from planner.performance.power import dynamic_room
from planner.performance.tuned_limits import with_limits
from planner.pipeline import RunOptions, run_plan

DRAWS = {"nameplate_kw": 10.2, "idle_kw": 2.52, "busy_kw": 7.42}


def held(tuning: float, ceiling_tok_per_s: float = np.inf, **changes: object) -> pd.Series:
    """One replica of 4 chips, 2 to a unit: 40 ms of prompt work, 20 ms of answer products, 100 ms of traffic a request.

    Full peak: 2 / 0.14 = 14.29/s. Static draw 0.2, arithmetic 1.6, memory 0.5: 2 x 0.8 / (1.6 x 0.06 + 0.5 x 0.1) =
    10.96/s.
    """
    point = dict.fromkeys(LATENCIES, 100.0) | {
        "product": "box",
        "model": "m",
        "engine": "e",
        "phase": "mixed",
        "decoding": "plain",
        "provider": "roofline",
        "tuning_low_ratio": np.nan,
        "tuning_high_ratio": np.nan,
        "replica_chips": 4.0,
        "replicas_per_unit": 2.0,
        "concurrency": 8.0,
        "requests_per_s": 12.0,
        "prompt_compute_s": 0.04,
        "answer_compute_s": 0.02,
        "answer_memory_s": 0.10,
        "computed_tokens": 1_000.0,
        "basis": "estimate",
    }
    constants = neutral_constants(
        power_static_fraction=0.2, power_compute_fraction=1.6, power_memory_fraction=0.5
    )
    engines = pd.DataFrame([{"engine": "e", "tuning_ratio": tuning, "first_token_overhead_ms": 0.0}])
    replicas = pd.DataFrame([{"chip": "c", "model": "m", "ceiling_tok_per_s": ceiling_tok_per_s}])
    blank = dict.fromkeys(["nameplate_kw", "idle_kw", "busy_kw"], np.nan)
    products = pd.DataFrame([{"product": "box", "chip": "c", **blank}])
    return with_limits(pd.DataFrame([point | changes]), engines, replicas, products, constants).iloc[0]


def test_the_power_of_the_chips_holds_a_tuned_rate():
    found = held(1.4)
    power = 2 * 0.8 / (1.6 * 0.06 + 0.5 * 0.10)
    assert found["engine_requests_per_s"] == pytest.approx(12.0)
    assert (
        found["requests_per_s"] == pytest.approx(power) == pytest.approx(found["power_bound_requests_per_s"])
    )
    assert [found[name] for name in LATENCIES] == pytest.approx([100.0 * 12.0 / power] * len(LATENCIES))
    assert "held to 91 % by the power of its chips" in found["basis"]


def test_no_tuned_rate_is_beyond_full_peak_and_bandwidth():
    """Without arithmetic that draws power only 2 / (0.04 + 0.1) is left, and 28 of twice the untuned 14 is no proof."""
    found = held(3.0, requests_per_s=28.0)
    assert found["engine_requests_per_s"] == pytest.approx(2 / 0.14)


def test_no_tuned_rate_is_beyond_the_best_ever_measured():
    assert held(1.4, 1_250.0)["engine_requests_per_s"] == pytest.approx(1_250.0 * 8 / 1_000)


def test_what_is_reached_without_tuning_stands():
    """12 at 1.05 is 11.43 untuned: more than the draw allows by the model, and all the same what was measured."""
    assert held(1.05)["requests_per_s"] == pytest.approx(12.0 / 1.05)
    assert held(1.0)["requests_per_s"] == 12.0
    assert np.isnan(held(1.0)["power_bound_requests_per_s"])
    for known in ({"provider": "measured"}, {"tuning_low_ratio": 1.0, "tuning_high_ratio": 1.0}):
        assert held(1.4, **known)["requests_per_s"] == 12.0


def test_a_rate_below_all_limits_is_free_and_the_power_left_is_stated():
    found = held(1.4, requests_per_s=6.0)
    assert found["requests_per_s"] == 6.0
    assert found["power_bound_requests_per_s"] == pytest.approx(2 * 0.8 / 0.146)


def test_the_nameplate_of_the_unit_counts_where_it_is_reached_before_the_power_of_the_chips():
    """Busy is 0.49 above static: a nameplate 6.0 above idle of a busy draw 4.9 above it leaves 6.0 / 4.9 x 0.49."""
    constants = neutral_constants(power_static_fraction=0.2, power_busy_fraction=0.69)
    products = pd.DataFrame(
        [{"product": "box", **DRAWS, "nameplate_kw": 8.52}, {"product": "roomy", **DRAWS, "nameplate_kw": 90}]
    )
    room = dynamic_room(pd.Series(["box", "roomy", "other"]), products, constants)
    assert room.to_list() == pytest.approx([6.0 / 4.9 * 0.49, 0.8, 0.8])


@pytest.fixture(scope="module")
def tuned() -> pd.DataFrame:
    """Long prompts on boxes of H100: prompts keep the arithmetic busy and draw near the limit of the chips."""
    rows = []
    for tuning in (1.0, 1.4, 2.0):
        taken = operating_points(
            serving_scenario(
                [workload(model="Llama-3.1-70B", engines="vllm-fp8")],
                [shape(input_tokens=4_000, output_tokens=100)],
                [product("box", "H100 SXM", **DRAWS)],
                settings={"engine_tuning_ratio": tuning},
            )
        ).taken
        rows.append(taken.iloc[0])
    return pd.DataFrame(rows).reset_index(drop=True)


def test_forty_per_cent_of_tuning_give_what_power_lets_through(tuned):
    rate, power = tuned["requests_per_s"], tuned["power_bound_requests_per_s"]
    assert rate[0] < power[0] < 1.1 * rate[0]
    assert rate[1] == pytest.approx(power[0], rel=1e-6)
    assert rate[2] == pytest.approx(rate[1], rel=1e-6)


def test_activity_and_power_follow_the_tuned_rate(tuned):
    ratio = tuned["requests_per_s"] / tuned["requests_per_s"][0]
    assert ratio[1] > 1.0
    work = tuned["prefill_compute_fraction"] * tuned["prefill_time_fraction"]
    assert (work / work[0]).to_list() == pytest.approx(ratio.to_list(), rel=1e-6)
    assert tuned["unit_kw"][1] > tuned["unit_kw"][0]
    assert (tuned["unit_kw"] <= DRAWS["nameplate_kw"]).all()


def test_a_plan_delivers_no_more_per_unit_than_power_lets_through():
    """Engine +40 % on units at the power of their chips: what a busy unit delivers grows by the room there was."""
    delivered, room = [], []
    for tuning in (1.0, 1.4):
        case = serving_scenario(
            [workload(model="Llama-3.1-70B", engines="vllm-fp8")],
            [shape(input_tokens=4_000, output_tokens=100)],
            [product("box", "H100 SXM", **DRAWS)],
            settings={"engine_tuning_ratio": tuning, "gap": 0.0},
        )
        plan = run_plan(case, RunOptions(baselines=False))
        assert plan.status == "optimal", plan.headline.get("message")
        serving, hours = plan["serving"], plan["waterfall_hours"]
        busy = (serving["units_running"] * serving["hours"]).sum()
        delivered.append(plan.headline["effective_mtok"] / busy)
        room.append(hours["unit_power"].sum() / hours[["engine", "memory_and_bandwidth"]].min(axis=1).sum())
    assert delivered[1] / delivered[0] == pytest.approx(room[0], rel=1e-6)
    assert 1.0 < room[0] < 1.1
    assert room[1] < 1.0
