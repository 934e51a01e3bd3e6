"""Capacity is sized on the minute that was asked for, never silently on a mean."""

from __future__ import annotations

import pytest
from planning_cases import OWN, cloud, region, rental, scenario, unit, workload

from planner.errors import InputError
from planner.inputs import Scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan.plan import Plan
from reports.content import content_of
from reports.latency import sizing_sentences

pytestmark = pytest.mark.slow

BARE = RunOptions(baselines=False, audit=True)
STEPS_PER_S = (15.0, 2.0, 10.0, 15.0, 5.0, 2.0)
"""Arrivals in equal steps of 150 s, requests/s; a burst test of an autoscaler whose pods took 103 s to start."""
MEAN_PER_S = sum(STEPS_PER_S) / len(STEPS_PER_S)


def one_hour(
    rates: dict[str, float], prices: dict[str, float], requests_per_s: float, **more: object
) -> Scenario:
    """Return an hour of one opaque workload on products of stated rate, rented at a price."""
    points = [
        {
            "point": f"on {name}",
            "product": name,
            "phase": "mixed",
            "workload": "chat",
            "shape": "any",
            "requests_per_s": rate,
            "ttft_ms": 500,
            "ttft_statistic": "p95",
            **OWN,
        }
        for name, rate in rates.items()
    ]
    return scenario(
        {},
        {
            "regions": [region("here")],
            "sites": [cloud("cloud", "here")],
            "products": [unit(name) for name in rates],
            "offers": [rental(f"{name} rented", name, price) for name, price in prices.items()],
            "operating_points": points,
            "periods": [{"period": "hour", "start_date": "2027-01-01", "hours": 1}],
            "workloads": [workload("chat", ttft_ms=1000, percentile="p95", **more)],
            "shapes": [{"workload": "chat", "shape": "any", "share_fraction": 1}],
            "demand": [
                {"workload": "chat", "region": "here", "period": "hour", "requests_per_s": requests_per_s}
            ],
        },
    )


def burst(**more: object) -> Scenario:
    """Return the burst test on replicas of 4 requests/s."""
    peak = max(STEPS_PER_S) / MEAN_PER_S
    ratios = {"minute_peak_input_ratio": peak, "minute_peak_output_ratio": peak}
    return one_hour({"replica": 4.0}, {"replica": 1.0}, MEAN_PER_S, **{**ratios, **more})


def units(plan: Plan) -> dict[str, float]:
    return plan["orders"].groupby("product")["units"].sum().to_dict()


def test_a_burst_faster_than_a_start_is_served_by_what_runs_already():
    plan = run_plan(burst(scale_up_delay_s=103), BARE)
    assert units(plan) == {"replica": 4.0}  # 15 / 4 = 3.75; the mean of 8.17 / 4 = 2.04 would be 3
    (sentence,) = sizing_sentences(content_of(plan, audit=False))
    assert "takes 103 s to start: sized on the peak minute, 3.75 units" in sentence
    assert "2.04 busy" in sentence


def test_a_mean_sizes_only_what_starts_within_the_minute():
    with pytest.raises(InputError, match=r"scale_up_delay_s below 60 s \(103 s\)"):
        burst(sizing_statistic="mean", scale_up_delay_s=103)
    with pytest.raises(InputError, match="not stated"):
        burst(sizing_statistic="mean")
    assert units(run_plan(burst(sizing_statistic="mean", scale_up_delay_s=20), BARE)) == {"replica": 3.0}


def test_right_sizing_goes_by_the_p99_not_by_the_mean():
    # A node at 22 % on average and 81 % at the 99th percentile; one four times smaller would stand at 324 % then.
    nodes, prices = {"node": 100.0, "quarter": 25.0}, {"node": 4.0, "quarter": 1.01}
    ratios = {"minute_peak_input_ratio": 4.5, "minute_peak_output_ratio": 4.5}
    p99 = {"minute_p99_input_ratio": 0.81 / 0.22, "minute_p99_output_ratio": 0.81 / 0.22}
    sized = one_hour(nodes, prices, 22.0, **ratios, **p99, sizing_statistic="p99")
    assert units(run_plan(sized, BARE)) == {"node": 1.0}  # 81 of 100; quarters: 4 x 1.01
    mean = one_hour(nodes, prices, 22.0, **ratios, sizing_statistic="mean", scale_up_delay_s=10)
    assert units(run_plan(mean, BARE)) == {"quarter": 1.0}


def test_sizing_on_p99_needs_the_p99():
    with pytest.raises(InputError, match="needed, because capacity is sized on p99"):
        burst(sizing_statistic="p99")
    with pytest.raises(InputError, match="at most the busiest minute"):
        burst(minute_p99_input_ratio=9.0)
