"""Quantity discounts, smallest orders, lots and allocations: plans whose quantities can be found by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_scenarios import (
    YEAR,
    demand,
    hall,
    least_cost,
    line,
    one_year,
    purchase,
    quarters,
    rental,
    scenario,
    solved,
    units,
)
from workbook_checks import failed_checks

from planner.errors import InputError
from planner.inputs import Scenario
from planner.plan.audit.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts

pytestmark = pytest.mark.slow

TIER = {
    "offer": "purchase",
    "from_units": 10,
    "discount_fraction": 0.2,
    "basis": "all_units",
    "counts": "order",
}


def for_a_year(boxes: float, *tiers: dict, **offer: object) -> Scenario:
    """Return a year that needs so many boxes at 100,000 each."""
    return scenario(
        {
            "periods": one_year(),
            "sites": [hall()],
            "offers": [purchase(**offer)],
            "offer_tiers": list(tiers),
            "demand": demand(["2027"], boxes),
        }
    )


def in_two_steps(*tiers: dict, second: float, **offer: object) -> Scenario:
    """Return two quarters: six boxes from the first, so many from the second."""
    return scenario(
        {
            "periods": quarters(2),
            "sites": [hall()],
            "offers": [purchase(**offer)],
            "offer_tiers": list(tiers),
            "demand": demand(YEAR[:2], [6, second]),
        }
    )


def test_ten_boxes_are_cheaper_than_the_nine_that_are_needed():
    # Nine at 100,000 are 900,000; ten at 80,000 are 800,000.
    plan = solved(for_a_year(9, TIER))
    assert units(plan) == {("purchase", "2027"): 10}
    assert plan.headline["total_cost"] == pytest.approx(800_000)
    assert line(plan, "hardware_purchase") == pytest.approx(800_000)
    bought = plan["orders"].iloc[0]
    assert bought["unit_price"] == pytest.approx(80_000)
    assert bought["cost"] == pytest.approx(800_000)
    assert plan["order_tiers"]["units"].tolist() == [10.0]


def test_seven_boxes_are_not_worth_a_tier_of_ten():
    # Ten at 80,000 are 800,000, seven at the full price 700,000.
    assert least_cost(for_a_year(7, TIER)) == pytest.approx(700_000)


def test_a_price_that_holds_for_the_units_beyond_only_never_pays_for_a_unit_too_many():
    # Nine at the full price are 900,000 and a tenth at 80,000 helps nobody; of twelve the last three are cheaper.
    beyond = TIER | {"basis": "incremental"}
    assert least_cost(for_a_year(9, beyond)) == pytest.approx(900_000)
    assert least_cost(for_a_year(12, beyond)) == pytest.approx(9 * 100_000 + 3 * 80_000)


def test_steps_of_price_count_each_unit_once():
    # Units 1-4 at 100,000, 5-9 at 90,000, 10-12 at 70,000; as prices of all units twelve cost 70,000 each.
    steps = [
        TIER | {"from_units": 5, "discount_fraction": None, "price": 90_000},
        TIER | {"from_units": 10, "discount_fraction": 0.3},
    ]
    own = [row | {"basis": "incremental"} for row in steps]
    assert least_cost(for_a_year(12, *own)) == pytest.approx(4 * 100_000 + 5 * 90_000 + 3 * 70_000)
    assert least_cost(for_a_year(12, *steps)) == pytest.approx(12 * 70_000)
    assert least_cost(for_a_year(7, *steps)) == pytest.approx(7 * 90_000)


def test_a_frame_contract_counts_the_orders_of_all_periods():
    # Six now and four in the second quarter are ten: 80,000 each. By order neither is ten, and buying four early
    # makes ten of the first order: the same price, as nothing is discounted here.
    framed = TIER | {"counts": "horizon"}
    plan = solved(in_two_steps(framed, second=10, supply_units_per_period=6))
    assert plan.headline["total_cost"] == pytest.approx(800_000)
    assert units(plan) == {("purchase", "2027-Q1"): 6, ("purchase", "2027-Q2"): 4}
    # Alone, an order of at most six never has the tier.
    assert least_cost(in_two_steps(TIER, second=10, supply_units_per_period=6)) == pytest.approx(1_000_000)


def test_the_later_units_of_a_frame_contract_are_the_cheaper_ones():
    # Prices rise at 300 % a year: a box of the second quarter costs 4^0.25 = 1.4142 times as much. Units beyond the
    # fifth are 20 % cheaper: one of the first order and all four of the second.
    framed = TIER | {"from_units": 6, "basis": "incremental", "counts": "horizon"}
    case = in_two_steps(framed, second=10, supply_units_per_period=6, price_trend_fraction_per_year=3.0)
    later = 4**0.25
    assert least_cost(case) == pytest.approx(100_000 * (5 + 0.8 + 4 * 0.8 * later))


def test_a_smallest_order_binds_exactly():
    # Three boxes are needed and five is the least one may buy; where renting three costs less, nothing is bought.
    plan = solved(for_a_year(3, minimum_order_units=5))
    assert units(plan) == {("purchase", "2027"): 5}
    assert plan.headline["total_cost"] == pytest.approx(500_000)
    both = scenario(
        {
            "periods": one_year(),
            "sites": [hall(), {"site": "cloud", "region": "home", "kind": "cloud", **CASE}],
            "offers": [purchase(minimum_order_units=5), rental(price=15.0)],
            "demand": demand(["2027"], 3),
        }
    )
    assert least_cost(both) == pytest.approx(3 * 15 * 8_760)


CASE = {"source": "case", "source_date": "2026-11-29", "confidence": "estimate"}


def test_an_allocation_binds_exactly_and_orders_are_whole_lots():
    # Nine needed, lots of four: twelve. With eleven confirmed a period, eight now and eight in the next quarter.
    assert units(solved(for_a_year(9, order_multiple_units=4))) == {("purchase", "2027"): 12}
    plan = solved(in_two_steps(second=16, order_multiple_units=4, supply_units_per_period=11))
    assert units(plan) == {("purchase", "2027-Q1"): 8, ("purchase", "2027-Q2"): 8}


def test_a_tier_of_a_lease_lowers_every_payment():
    # Ten leases at 10 an hour less 20 % for a year of 8,760 hours, cheaper than nine at the full price.
    lease = {"mode": "lease", "price_unit": "unit_hour", "term_months": 12, "price": 10.0}
    plan = solved(for_a_year(9, TIER, **lease))
    assert line(plan, "lease") == pytest.approx(10 * 8.0 * 8_760)
    assert units(plan) == {("purchase", "2027"): 10}


def test_the_workbook_recomputes_a_plan_with_tiers(tmp_path):
    framed = TIER | {"from_units": 6, "basis": "incremental", "counts": "horizon"}
    plan = solved(in_two_steps(framed, second=10, supply_units_per_period=6))
    assert failed_checks(plan, tmp_path) == []


def test_the_audit_sees_terms_that_are_not_kept():
    plan = solved(for_a_year(9, TIER, minimum_order_units=5, order_multiple_units=5))
    for frame, change, check in (
        ("order_tiers", {"from_units": 11}, "tier_terms"),
        ("order_tiers", {"units": 11.0}, "tier_units"),
        ("order_tiers", {"discount_fraction": 0.3}, "tier_terms"),
        ("orders", {"units": 9.0}, "tiers_reached"),
        ("orders", {"units": 9.0}, "order_lots"),
        ("orders", {"units": 4.0}, "minimum_order"),
        ("orders", {"unit_price": 100_000.0}, "order_prices"),
    ):
        wrong = replace(plan, frames={**plan.frames, frame: plan[frame].assign(**change)})
        assert not CHECKS[check](Accounts(wrong, Facts(wrong.scenario))).passed, check


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"price": 90_000}, "either the discount or the price"),
        ({"discount_fraction": None}, "either the discount or the price"),
        ({"discount_fraction": None, "price": 120_000}, "must be below the offer's price"),
        ({"discount_fraction": 0.0}, "must be above 0"),
        ({"offer": "rent"}, "is on_demand; allowed"),
    ],
)
def test_a_tier_that_says_nothing_sensible_is_a_fault(row, said):
    tables = {
        "periods": one_year(),
        "sites": [hall()],
        "offers": [purchase(), rental("rent")],
        "offer_tiers": [TIER | row],
        "demand": demand(["2027"], 1),
    }
    with pytest.raises(InputError, match=said):
        scenario(tables)


def test_tiers_that_do_not_fall_or_mix_bases_and_terms_of_rentals_are_faults():
    tables = {
        "periods": one_year(),
        "sites": [hall()],
        "offers": [purchase(), rental("rent", minimum_order_units=3)],
        "offer_tiers": [TIER, TIER | {"from_units": 20, "discount_fraction": 0.1, "basis": "incremental"}],
        "demand": demand(["2027"], 1),
    }
    with pytest.raises(InputError) as caught:
        scenario(tables)
    said = str(caught.value)
    for part in (
        "must give more than the tier before",
        "all tiers of an offer have the same",
        "only for purchase",
    ):
        assert part in said
