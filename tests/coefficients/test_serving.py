"""What one busy unit does for a workload: requests, headroom for the busiest minute, tokens that count, power."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_scenarios import (
    SAID,
    box,
    cloud,
    cooling,
    demand,
    hall,
    one_year,
    point,
    purchase,
    rental,
    scenario,
    shape,
    workload,
)

from planner.coefficients.fleet import stands
from planner.coefficients.service.serving import requests_in_block, run_options, token_yields
from planner.inputs import resolved_workloads
from planner.performance import operating_points
from planner.performance.clocks import held_clocks
from planner.performance.roofline_constants import roofline_constants


def case(**settings):
    """Return a workload of two shapes with retries and reasoning, on boxes cooled by air or hosted."""
    slow = cooling(
        "air",
        frequency_prefill_fraction=0.8,
        frequency_decode_fraction=0.9,
        frequency_prefill_low_fraction=0.6,
    )
    hosted = {"cooling": "hosted", "medium": "hosted", **SAID}
    return scenario(
        {
            "periods": one_year(),
            "sites": [hall(), cloud()],
            "cooling": [slow, cooling("liquid"), hosted],
            "products": [box("box", 10, idle_kw=3, busy_kw=8)],
            "offers": [purchase(), rental()],
            "workloads": [
                workload(
                    success_fraction=0.9,
                    quality_pass_fraction=0.8,
                    retry_fraction=0.25,
                    reasoning_ratio=3,
                    minute_peak_input_ratio=2.0,
                    minute_peak_output_ratio=1.2,
                )
            ],
            "shapes": [
                shape()
                | {"shape": "long", "share_fraction": 0.4, "input_tokens": 2_000, "output_tokens": 500},
                shape() | {"shape": "opaque", "share_fraction": 0.6},
            ],
            "operating_points": [
                point(requests_per_s=4.0, shape="long", phase="prefill"),
                point(requests_per_s=2.0, shape="long", phase="decode"),
                point(requests_per_s=5.0, shape="opaque"),
            ],
            "demand": demand(["2027"], 1),
        },
        **settings,
    )


@pytest.fixture(scope="module")
def options():
    plain = case()
    workloads = resolved_workloads(plain).set_index("workload")
    found = run_options(plain, operating_points(plain), stands(plain), workloads)
    return found.set_index(["phase", "site"])


def test_a_request_loads_the_fleet_with_all_its_attempts_and_runs_at_the_held_clock(options):
    # 4 and 2 attempts/s are 1 / 1.25 as many requests; air holds 0.8 of the clock in prefill, 0.9 in decode.
    assert options.loc[("prefill", "hall"), "requests_per_s"] == pytest.approx(4 / 1.25 * 0.8)
    assert options.loc[("decode", "hall"), "requests_per_s"] == pytest.approx(2 / 1.25 * 0.9)


def test_of_a_held_and_a_chosen_clock_the_lower_counts():
    # Air holds 0.8 in prefill and 0.9 in decode: a point chosen at 0.85 loses 0.8 / 0.85 in prefill, nothing in decode.
    plain = case()
    workloads = resolved_workloads(plain).set_index("workload")
    points = operating_points(plain)
    locked = replace(points, taken=points.taken.assign(clock_choice=0.85))
    found = run_options(plain, locked, stands(plain), workloads).set_index(["phase", "site"])
    assert found.loc[("prefill", "hall"), "requests_per_s"] == pytest.approx(4 / 1.25 * 0.8 / 0.85)
    assert found.loc[("decode", "hall"), "requests_per_s"] == pytest.approx(2 / 1.25)


def test_a_mixed_point_runs_at_the_clock_of_its_phases_weighted_by_their_time(options):
    rate = options.loc[("mixed", "hall"), "requests_per_s"]
    assert 5 / 1.25 * 0.8 < rate < 5 / 1.25 * 0.9
    # A share f of busy time in prefill: the time of a request is f / 0.8 + (1 - f) / 0.9 of what it was.
    share = (options.loc[("mixed", "hall"), "peak_ratio"] - 1.2) / (2.0 - 1.2)
    assert 5 / 1.25 / rate == pytest.approx(share / 0.8 + (1 - share) / 0.9)


def test_a_hosted_unit_runs_at_its_providers_clock(options):
    assert options.loc[("decode", "cloud"), "requests_per_s"] == pytest.approx(2 / 1.25)


def test_capacity_is_sized_on_the_busiest_minute_of_what_the_point_does(options):
    assert options.loc[("prefill", "hall"), "peak_ratio"] == 2.0
    assert options.loc[("decode", "hall"), "peak_ratio"] == 1.2


def test_a_busy_unit_adds_its_power_above_idle_where_the_power_is_ours(options):
    # Between 3 idle and 8 busy; decoding alone draws less of the difference than the mean of both phases.
    decode = roofline_constants(case().tables["roofline_constants"]).decode_power_ratio
    assert decode < 1.0
    assert options.loc[("decode", "hall"), "added_kw"] == pytest.approx((8 - 3) * decode)
    assert options.loc[("decode", "cloud"), "added_kw"] == 0.0


def test_tokens_are_counted_once_where_they_are_generated(options):
    # 500 visible tokens, of which 0.9 x 0.8 count; thinking and retries generate 3 x 1.25 as many.
    decode = options.loc[("decode", "hall")]
    assert decode["effective_mtok_per_request"] == pytest.approx(500e-6 * 0.9 * 0.8)
    assert decode["generated_mtok_per_request"] == pytest.approx(500e-6 * 3 * 1.25)
    prefill = options.loc[("prefill", "hall")]
    assert (prefill["effective_mtok_per_request"], prefill["generated_mtok_per_request"]) == (0, 0)


def test_a_shape_without_lengths_counts_one_token_a_request():
    plain = case()
    yields = token_yields(plain, resolved_workloads(plain).set_index("workload")).set_index("shape")
    assert yields.loc["opaque", "output_tokens"] == 1.0
    assert yields.loc["opaque", "reference_mtok_per_request"] == pytest.approx(0.72e-6)
    assert bool(yields.loc["opaque", "opaque"])
    assert yields.loc["long", "input_mtok_per_request"] == pytest.approx(2_000e-6 * 1.25)


@pytest.mark.parametrize(("which", "prefill"), [("base", 0.8), ("low", 0.6), ("high", 0.8)])
def test_the_cooling_case_moves_the_held_clock_and_a_blank_case_is_the_base(which, prefill):
    held = held_clocks(case(cooling_case=which)).set_index("cooling")
    assert held.loc["air", "prefill"] == prefill
    assert held.loc["air", "decode"] == 0.9
    assert held.loc["liquid", ["prefill", "decode"]].to_list() == [1.0, 1.0]
    # What a hosted unit holds is in its measured rate.
    assert held.loc["hosted", ["prefill", "decode"]].to_list() == [1.0, 1.0]


def test_a_request_a_second_makes_3600_an_hour():
    assert requests_in_block([1.0, 24.0]).tolist() == [3_600.0, 86_400.0]
