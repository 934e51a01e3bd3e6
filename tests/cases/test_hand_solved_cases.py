"""Whole plans against answers found by hand."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from planning_cases import (
    BATCH_SWEEP,
    ON_DEMAND_PER_HOUR,
    OUTPUT_TOKENS,
    RESERVED_PER_HOUR,
    UNITS_NEEDED,
    batch_choice,
    reserve_rule,
)
from small_scenarios import least_cost

from planner.inputs import load_scenario, make_scenario
from planner.inputs.importers import ImportResult
from planner.inputs.importers.gpu_mix import import_gpu_mix
from planner.pipeline import RunOptions, run_plan
from planner.plan.plan import Plan

GPU_MIX = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "gpu-mix"
BARE = RunOptions(baselines=False)


def batches_run(plan: Plan) -> dict[str, set[float]]:
    """Return the batch sizes each workload runs at."""
    serving = plan["serving"].merge(plan["points"][["point", "concurrency"]], on="point")
    running = serving[serving["units_running"] > 1e-9]
    return {name: set(rows["concurrency"]) for name, rows in running.groupby("workload")}


def rate_per_unit(plan: Plan, workload: str) -> float:
    rows = plan["serving"][plan["serving"]["workload"] == workload]
    return rows["requests_per_s"].sum() / rows["units_running"].sum()


def test_one_chip_runs_batch_16_online_and_batch_64_offline_in_one_plan():
    # 200 ms to the first token: 150 ms at batch 16 fits, 260 ms at 32 does not. Online 12,800 tok/s on
    # 1,280 tok/s cards = 10, offline 4,800 on 2,400 = 2: 12 cards at 1 an hour.
    plan = run_plan(batch_choice(0.0), BARE)
    assert plan.status == "optimal"
    assert batches_run(plan) == {"online": {16.0}, "offline": {64.0}}
    assert rate_per_unit(plan, "online") * OUTPUT_TOKENS == pytest.approx(BATCH_SWEEP[16][0])
    assert rate_per_unit(plan, "offline") * OUTPUT_TOKENS == pytest.approx(BATCH_SWEEP[64][0])
    assert plan.headline["total_cost"] == pytest.approx(12.0, rel=1e-9)


def test_sixty_milliseconds_of_network_cost_online_a_batch_step():
    # 140 ms are left: batch 8 (95 ms) is the best. 12,800 / 760 = 16.84 and 2 offline: 19 whole cards.
    plan = run_plan(batch_choice(60.0), BARE)
    assert batches_run(plan) == {"online": {8.0}, "offline": {64.0}}
    assert rate_per_unit(plan, "online") * OUTPUT_TOKENS == pytest.approx(BATCH_SWEEP[8][0])
    assert plan.headline["total_cost"] == pytest.approx(19.0, rel=1e-9)


def test_the_kth_unit_is_reserved_if_and_only_if_it_is_needed_in_more_than_two_thirds_of_the_hours():
    hours_needed = [sum(need >= k for need in UNITS_NEEDED) for k in range(1, max(UNITS_NEEDED) + 1)]
    threshold = 24 * RESERVED_PER_HOUR / ON_DEMAND_PER_HOUR
    assert threshold == 16.0
    assert threshold not in hours_needed
    reserved = sum(hours > threshold for hours in hours_needed)
    best = reserved * 24 * RESERVED_PER_HOUR + sum(
        hours * ON_DEMAND_PER_HOUR for hours in hours_needed[reserved:]
    )
    plan = run_plan(reserve_rule(), BARE)
    assert plan.status == "optimal"
    assert plan.headline["total_cost"] == pytest.approx(best, rel=1e-9)
    units = plan["orders"].groupby("offer")["units"].sum()
    assert units["reserved"] == reserved == 6


def test_demand_below_the_threshold_is_never_reserved():
    # Two units for 15 hours, none else: 15 < 16, so renting 2 x 15 x 3 = 90 beats reserving 2 x 24 x 2 = 96.
    plan = run_plan(reserve_rule((2,) * 15 + (0,) * 9), BARE)
    assert plan.headline["total_cost"] == pytest.approx(90.0, rel=1e-9)
    assert set(plan["orders"]["offer"]) == {"on demand"}
    # One hour more than the threshold: 17 x 3 = 51 > 48.
    plan = run_plan(reserve_rule((2,) * 17 + (0,) * 7), BARE)
    assert plan.headline["total_cost"] == pytest.approx(96.0, rel=1e-9)
    assert set(plan["orders"]["offer"]) == {"reserved"}


def test_the_published_deepseek_day_needs_24_prefill_and_8_decode_units():
    # Prefill: 608e9 tokens / (24 h x 3600 x 4 x 73,700 tok/s) = 23.87 units of 4 nodes; decode:
    # 168e9 / (24 x 3600 x 18 x 14,800) = 7.30 units of 18. (24 x 4 + 8 x 18) nodes x 8 x 2 x 24 = 92,160.
    prefill = 608e9 / (86_400 * 4 * 73_700)
    decode = 168e9 / (86_400 * 18 * 14_800)
    scenario = load_scenario("deepseek-day")
    plan = run_plan(scenario, BARE)
    units = plan["orders"].set_index("product")["units"].to_dict()
    assert units == {"prefill-unit": 24.0, "decode-unit": 8.0}
    assert plan.headline["total_cost"] == pytest.approx((24 * 4 + 8 * 18) * 8 * 2 * 24, rel=1e-9)
    assert plan.headline["total_cost"] == pytest.approx(92_160.0, rel=1e-9)
    assert plan.headline["generated_mtok"] == pytest.approx(168_000.0, rel=1e-9)
    relaxed = run_plan(scenario, RunOptions(baselines=False, relax=True))
    assert relaxed.headline["total_cost"] == pytest.approx((prefill * 4 + decode * 18) * 384, rel=1e-9)
    assert relaxed.headline["total_cost"] == pytest.approx(87_115.6, abs=0.05)
    prices = relaxed["marginal_costs"].set_index("phase")["value"]
    # One more million prompt tokens: 1e6 / 73,700 s of a node at 16 an hour; likewise for output.
    assert prices["prefill"] == pytest.approx(1e6 / 73_700 / 3600 * 16, rel=1e-6)
    assert prices["decode"] == pytest.approx(1e6 / 14_800 / 3600 * 16, rel=1e-6)


@cache
def expected_mixes() -> list[dict]:
    path = GPU_MIX / "expected.json"
    return json.loads(path.read_text())["results"] if path.is_file() else []


def case_path(identity: str) -> Path:
    return next(
        path for path in GPU_MIX.glob("case_*.json") if json.loads(path.read_text())["id"] == identity
    )


def mix_cost(row: dict) -> float:
    result = import_gpu_mix(case_path(row["case"]), row["variant"], row["rate_rps"])
    scenario = make_scenario(result.settings, result.tables)
    assert scenario.tables["periods"]["hours"].tolist() == [1.0]
    return least_cost(scenario)


TOY = {
    "gpu_info": {
        "A10G": {"cost": 1.01, "tputs": [[2, 1], [5, 2]]},
        "A100-80GB": {"cost": 3.67, "tputs": [[20, 20], [40, 20]]},
    },
    "workload_distribution": [[0.2, 0.1], [0.5, 0.2]],
    "total_request_rate": 30,
}


@pytest.fixture
def toy(tmp_path) -> ImportResult:
    path = tmp_path / "toy.json"
    path.write_text(json.dumps(TOY))
    return import_gpu_mix(path)


def test_the_toy_mix_at_30_requests_needs_one_of_each_unit(toy):
    # On A100 alone the load is 6/20 + 3/20 + 15/40 + 6/20 = 1.125 units; 5 of the 15 requests/s of bucket
    # (2, 1) fill one A10G and leave exactly 1.0 A100: 1.01 + 3.67 = 4.68 an hour.
    plan = run_plan(make_scenario(toy.settings, toy.tables), BARE)
    assert plan.headline["total_cost"] == pytest.approx(4.68, rel=1e-9)
    assert plan["orders"].set_index("product")["units"].to_dict() == {"A10G": 1.0, "A100-80GB": 1.0}


def test_the_toy_mix_without_stock_of_the_small_unit_needs_two_large_ones(toy):
    sold_out = ["offers/A10G on demand/supply_units_per_period=0"]
    cost = least_cost(make_scenario(toy.settings, toy.tables, overrides=sold_out))
    assert cost == pytest.approx(2 * 3.67, rel=1e-9)


def test_the_toy_mix_over_two_days_rents_each_day_what_it_needs(toy):
    # 30 requests/s one day, 60 the next: 24 x 4.68 and, at twice the load with two of each, 24 x 9.36.
    days = [{"period": f"day {n}", "start_date": f"2027-01-0{n}", "hours": 24} for n in (1, 2)]
    demand = toy.tables["demand"].to_dict("records")[0]
    rates = [{**demand, "period": f"day {n}", "requests_per_s": 30.0 * n} for n in (1, 2)]
    plan = run_plan(make_scenario(toy.settings, {**toy.tables, "periods": days, "demand": rates}), BARE)
    assert plan.headline["total_cost"] == pytest.approx(24 * (4.68 + 9.36), rel=1e-9)
    by_day = plan["orders"].groupby("period")["units"].sum().to_dict()
    assert by_day == {"day 1": 2.0, "day 2": 4.0}


@pytest.mark.skipif(not expected_mixes(), reason="the reference mixes are not at hand")
@pytest.mark.parametrize(
    "row", expected_mixes()[17::9], ids=lambda row: f"{row['variant']}-{row['rate_rps']}"
)
def test_mixes_of_measured_units_cost_what_the_reference_optimum_costs(row):
    assert mix_cost(row) == pytest.approx(row["split_flow_optimum"]["cost"], rel=1e-6)


@pytest.mark.slow
@pytest.mark.skipif(not expected_mixes(), reason="the reference mixes are not at hand")
def test_all_reference_mixes_are_matched_and_never_beaten_by_a_sliced_model():
    rows = expected_mixes()
    assert len(rows) == 27
    for row in rows:
        cost = mix_cost(row)
        assert cost == pytest.approx(row["split_flow_optimum"]["cost"], rel=1e-6), row["variant"]
        assert cost >= row["lp_bound"] * (1 - 1e-6)
        assert cost <= row["melange_best_cost"] * (1 + 1e-6)
