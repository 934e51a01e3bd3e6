"""Power that comes later: what it costs, what moves nothing, and one method for sites and decisions."""

from __future__ import annotations

import math

import pytest
from small_scenarios import demand, energy, hall, one_year, purchase, scenario, solved

from planner.analysis.decision_cases import LATE_DELIVERIES, LATE_POWER, late_cases
from planner.analysis.decisions import decide
from planner.analysis.energisation import earlier_power, power_moves
from planner.analysis.sites import compare_sites
from planner.inputs import Scenario
from planner.pipeline import RunOptions

LOT = {
    "fleet": "old",
    "product": "box",
    "site": "cheap",
    "cooling": "air",
    "units": 50,
    "in_service_date": "2025-01-01",
}


def two_halls(dated: str = "2027-01-01", **more: object) -> Scenario:
    """50 requests/s in 50 boxes of 10 kW: 500 kW at 0.05 in one hall, or at 0.10 in the other."""
    return scenario(
        {
            "periods": one_year(),
            "sites": [hall("cheap", tariff="cheap"), hall("dear", tariff="dear")],
            "site_power": [
                {"site": "cheap", "from_date": dated, "usable_kw": 500},
                {"site": "dear", "from_date": "2026-01-01", "usable_kw": 500},
            ],
            "tariffs": [
                energy(tariff=name, price=price) for name, price in (("cheap", 0.05), ("dear", 0.10))
            ],
            "offers": [purchase(price=1.0, lead_weeks_high=26)],
            "demand": demand(["2027"], 50.0),
            **more,
        }
    )


@pytest.fixture(scope="module")
def answers():
    plan, options = solved(two_halls()), RunOptions(baselines=False)
    return compare_sites(plan, options).tables, decide(plan, options, most_offers=0).tables, plan


def test_power_of_the_first_day_can_come_late_and_what_is_there_already_cannot():
    case = two_halls()
    moved = earlier_power(case, "cheap", -1).tables["site_power"].set_index("site")["from_date"]
    assert str(moved["cheap"].date()) == "2027-04-01"
    assert not power_moves(case, earlier_power(case, "dear", -1))
    assert not power_moves(case, earlier_power(case, "cheap", 1))
    standing = two_halls(fleet=[LOT])
    assert not power_moves(standing, earlier_power(standing, "cheap", -1))


def test_late_power_costs_what_the_dearer_hall_costs_more(answers):
    """The period of a year is lost with its first day: all of its kWh cost 0.05 more (219,000 at a steady 500 kW)."""
    drawn = answers[2]["energy"].query("site == 'cheap'")["kwh"].sum()
    assert drawn == pytest.approx(500 * 8_760, rel=0.06)  # decoding draws 95 % of the busy power
    delay = answers[0]["delay"].set_index(["site", "case"])
    assert delay["costs"]["cheap", LATE_POWER] == pytest.approx(0.05 * drawn)
    value = answers[0]["power_value"].set_index("site")
    assert value["later_costs"]["cheap"] == pytest.approx(0.05 * drawn)


def test_a_case_that_moves_nothing_has_no_value_and_no_status_of_a_solve(answers):
    delay = answers[0]["delay"].set_index(["site", "case"])
    assert math.isnan(delay["costs"]["dear", LATE_POWER])
    assert delay["status"]["dear", LATE_POWER].startswith("n/a")
    value = answers[0]["power_value"].set_index("site")
    assert value["later_costs_status"]["dear"].startswith("n/a")
    assert value[["later_costs", "later_costs_whole_units"]].loc["dear"].isna().all()
    # Power of the first day cannot come earlier either.
    assert value["earlier_saves_status"]["cheap"].startswith("n/a")
    assert value["earlier_saves"].isna().all()


def test_a_case_that_moves_nothing_is_no_case_of_the_orders():
    assert LATE_POWER not in late_cases(two_halls(fleet=[LOT]))
    assert LATE_DELIVERIES not in late_cases(two_halls(offers=[purchase(price=1.0)]))
    assert set(late_cases(two_halls())) == {LATE_POWER, LATE_DELIVERIES}


def test_sites_and_decisions_say_the_same_of_what_comes_late(answers):
    placed, signed, _ = answers
    delay = placed["delay"].set_index(["site", "case"])
    cases = signed["cases"].set_index("case")
    for case in (LATE_POWER, LATE_DELIVERIES):
        assert delay["status"]["all sites", case] == cases["status"][case], case
        if delay["status"]["all sites", case] == "optimal":
            assert delay["costs"]["all sites", case] == pytest.approx(cases["change"][case]), case


@pytest.mark.slow
def test_sites_and_decisions_agree_on_the_shipped_example():
    from planner.inputs import load_scenario
    from planner.pipeline import run_plan

    plan, options = run_plan(load_scenario("small"), RunOptions(baselines=False)), RunOptions(baselines=False)
    delay = compare_sites(plan, options).tables["delay"].set_index(["site", "case"])
    cases = decide(plan, options, most_offers=0).tables["cases"].set_index("case")
    for case in (LATE_POWER, LATE_DELIVERIES):
        assert delay["costs"]["all sites", case] == pytest.approx(cases["change"][case])
    assert delay["costs"]["dallas_colo", LATE_POWER] == pytest.approx(delay["costs"]["all sites", LATE_POWER])
