"""Demand that may wait moves to the cheap hours of its window; the arithmetic stands beside each case."""

from __future__ import annotations

import pytest
from small_scenarios import (
    SAID,
    YEAR,
    box,
    demand,
    energy,
    hall,
    least_cost,
    line,
    model_of,
    purchase,
    quarters,
    scenario,
    solved,
    workload,
)

from planner.analysis import deferral_value
from planner.errors import InputError
from planner.inputs import Scenario
from planner.plan import audit_plan

HOURS = 2_160
"""Hours of 2027-Q1: 90 days."""
BUSY_KW = 9.5
"""A box that decodes draws 95 % of its busy kW (roofline_constants, decode_power_ratio)."""


def valley(window_h: float, defer: bool = True, rate: float = 0.5, **tables: object) -> Scenario:
    """Return a flat batch load of half a box, in a hall of two; energy costs 0.04 from 0 to 6 and 0.10 else."""
    own = {
        "periods": quarters(1),
        "sites": [hall()],
        "products": [box()],
        "offers": [purchase(price=1_000, supply_units_per_period=2)],
        "tariffs": [energy("valley", 0.04, hours="00-06"), energy("day", 0.10, hours="06-24")],
        "workloads": [workload(deferral_h=window_h)],
        "demand": demand(YEAR[:1], rate),
    }
    return scenario(own | tables, defer_demand=defer)


def test_the_batch_moves_to_the_valley_of_its_window():
    # Served in 6 of 24 hours the day's load is 4 x 0.5 = 2 requests/s: two full boxes for 0.04 instead of one at
    # half load for 6/24 x 0.04 + 18/24 x 0.10 = 0.085. The second box costs 100, and the second half of the shift
    # saves 0.5 x 10,260 x 0.06 = 308.
    plan = solved(valley(24, offers=[purchase(price=100)]))
    kwh = 0.5 * BUSY_KW * HOURS
    assert line(plan, "energy") == pytest.approx(kwh * 0.04)
    assert plan.headline["total_cost"] == pytest.approx(200 + kwh * 0.04)
    assert audit_plan(plan).passed


def test_what_may_wait_six_hours_reaches_the_valley_from_the_six_hours_before_it_only():
    # Arrivals from 18 to 24 are served from 0 on: 12 of 24 hours' worth of load is served at 0.04.
    kwh = 0.5 * BUSY_KW * HOURS
    cost = least_cost(valley(6))
    assert cost == pytest.approx(1_000 + kwh * (0.5 * 0.04 + 0.5 * 0.10))


def test_nothing_waits_unless_the_scenario_and_the_workload_say_so():
    kwh = 0.5 * BUSY_KW * HOURS
    for case in (valley(24, defer=False), valley(0)):
        assert not len(model_of(case).columns.block("waiting"))
        assert least_cost(case) == pytest.approx(1_000 + kwh * 0.085)


def test_a_full_fleet_leaves_room_for_part_of_the_load_only():
    # One box serves 1 request/s: in the valley 6 x 1 of the day's 12, the rest by day, and no second box is to be had.
    kwh = 0.5 * BUSY_KW * HOURS
    offers = [purchase(price=1_000, supply_units_per_period=1)]
    assert least_cost(valley(24, offers=offers)) == pytest.approx(1_000 + kwh * (0.5 * 0.04 + 0.5 * 0.10))


def test_shifted_energy_times_the_price_difference_is_the_saving():
    found = deferral_value(valley(24, offers=[purchase(price=1_000, supply_units_per_period=1)]))
    # Half of the load was there in 6 of 24 hours; from 25 % to 50 % of the energy: a quarter has moved.
    kwh = 0.5 * BUSY_KW * HOURS
    row = found.energy.iloc[0]
    assert row["shifted_kwh"] == pytest.approx(0.25 * kwh)
    assert row["price_before"] - row["price_after"] == pytest.approx(0.06)
    assert row["shifted_kwh"] * (row["price_before"] - row["price_after"]) == pytest.approx(
        row["moved_saving"]
    )
    assert row["moved_saving"] - row["more_paid"] == pytest.approx(row["saving"])
    assert row["more_paid"] == pytest.approx(0.0, abs=1e-6)
    assert found.saving == pytest.approx(0.25 * kwh * 0.06)
    assert found.requests.iloc[0]["shifted_fraction"] == pytest.approx(0.25)


def test_who_promises_a_first_token_does_not_wait():
    with pytest.raises(InputError) as caught:
        valley(6, workloads=[workload(deferral_h=6, ttft_ms=500, percentile="p95")])
    assert any(fault.column == "deferral_h" for fault in caught.value.faults)


def test_cooler_hours_are_worth_waiting_for_as_well():
    # A chiller runs by day: the same tariff at every hour, and PUE decides.
    warm = {f"h{hour:02d}": 35 if 6 <= hour < 24 else 5 for hour in range(24)}
    case = valley(
        24,
        tariffs=[energy(price=0.10)],
        climate=[{"region": "home", "month": month, **warm, **SAID} for month in range(1, 13)],
    )
    plain = least_cost(
        valley(0, tariffs=[energy(price=0.10)], climate=case.tables["climate"].to_dict("records"))
    )
    assert least_cost(case) < plain + 1_000 - 1
