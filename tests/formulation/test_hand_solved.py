"""Plans whose fleet, service and money can be found by hand; the arithmetic stands beside each."""

from __future__ import annotations

import pytest
from small_scenarios import (
    HOURS,
    YEAR,
    box,
    cloud,
    demand,
    hall,
    least_cost,
    line,
    one_hour,
    one_year,
    point,
    purchase,
    quarters,
    region,
    rental,
    scenario,
    shape,
    solved,
    units,
    workload,
)

from planner.inputs import Scenario

SUPPORTED = [hall(), cloud()]


def bridging(lead_weeks: float) -> Scenario:
    """Return ten requests/s for a year; a box costs 100,000, or 20 an hour in the cloud."""
    return scenario(
        {
            "periods": quarters(),
            "sites": SUPPORTED,
            "offers": [purchase(lead_weeks=lead_weeks, install_weeks=3), rental()],
            "demand": demand(YEAR, 10),
        }
    )


def test_boxes_are_rented_until_the_bought_ones_arrive():
    # 10 + 3 weeks are one quarter of 13: bought on day one, in service in the second quarter. Renting on
    # would cost 20 x (2,184 + 2,208 + 2,208) = 132,000 a box. So 10 x 20 x 2,160 of rent and ten boxes.
    plan = solved(bridging(10))
    assert units(plan) == {("purchase", "2027-Q1"): 10, ("rental", "2027-Q1"): 10}
    assert plan.headline["total_cost"] == pytest.approx(10 * 20 * 2_160 + 10 * 100_000)
    bought = plan["orders"].set_index("offer").loc["purchase"]
    assert bought["in_service_period"] == "2027-Q2"


def test_a_lead_time_one_week_longer_makes_renting_all_year_cheaper():
    # 14 weeks miss the second quarter; for the two left renting costs 20 x 4,416 = 88,320 < 100,000.
    assert least_cost(bridging(11)) == pytest.approx(10 * 20 * sum(HOURS.values()))


def test_unit_cost_and_cost_choose_the_same_plan_when_every_plan_makes_the_same_tokens():
    # 10 requests/s x 3,600 x 8,760 h = 315.36 million requests without token lengths, whatever serves them.
    plan = solved(bridging(10), objective="unit-cost")
    assert units(plan) == {("purchase", "2027-Q1"): 10, ("rental", "2027-Q1"): 10}
    assert plan.headline["effective_mrequests_discounted"] == pytest.approx(315.36)
    assert plan.headline["cost_per_million_requests"] == pytest.approx(1_432_000 / 315.36)
    assert plan.headline["cost_per_mtok_effective"] is None


def test_the_cheap_vendor_delivers_what_it_confirms_and_the_dear_one_the_rest():
    # Four at 1 an hour and six at 1.5 in the first quarter, where a dated row says seven: seven and three.
    case = scenario(
        {
            "periods": quarters(2),
            "sites": [cloud()],
            "offers": [rental("cheap", price=1.0, supply_units_per_period=4), rental("dear", price=1.5)],
            "supply": [{"offer": "cheap", "period": "2027-Q2", "units": 7}],
            "demand": demand(YEAR[:2], 10),
        }
    )
    plan = solved(case)
    assert units(plan) == {
        ("cheap", "2027-Q1"): 4,
        ("dear", "2027-Q1"): 6,
        ("cheap", "2027-Q2"): 7,
        ("dear", "2027-Q2"): 3,
    }
    assert plan.headline["total_cost"] == pytest.approx(2_160 * (4 + 9) + 2_184 * (7 + 4.5))


def test_new_boxes_fill_what_retires_and_what_has_not_arrived():
    # Six boxes are needed. Four old ones retire at mid-year, two on order serve from the third quarter. A box
    # lives half a year here: two are bought now, and four in July when these and the old ones are gone.
    lot = {"product": "box", "site": "hall", "cooling": "air"}
    case = scenario(
        {
            "periods": quarters(),
            "sites": [hall()],
            "products": [box(life_years=0.5)],
            "fleet": [
                lot
                | {"fleet": "old", "units": 4, "in_service_date": "2024-01-01", "retire_date": "2027-07-01"},
                lot | {"fleet": "coming", "units": 2, "in_service_date": "2027-05-20", "book_value": 7_000},
            ],
            "offers": [purchase(price=10_000)],
            "demand": demand(YEAR, 6),
        }
    )
    plan = solved(case)
    assert units(plan) == {("purchase", "2027-Q1"): 2, ("purchase", "2027-Q3"): 4}
    assert plan.headline["total_cost"] == pytest.approx(60_000)
    held = plan["fleet"].groupby(["offer", "period"])["units"].sum().to_dict()
    assert held == {
        ("fleet:old", "2027-Q1"): 4,
        ("fleet:old", "2027-Q2"): 4,
        ("fleet:coming", "2027-Q3"): 2,
        ("fleet:coming", "2027-Q4"): 2,
        ("purchase", "2027-Q1"): 2,
        ("purchase", "2027-Q2"): 2,
        ("purchase", "2027-Q3"): 4,
        ("purchase", "2027-Q4"): 4,
    }
    # The book value of the lot is shown and not part of the cost.
    sunk = plan["costs"].set_index("line").loc["sunk_book_value"]
    assert sunk["amount"] == 7_000
    assert not sunk["in_objective"]


def test_a_budget_of_the_first_quarter_moves_half_the_purchase_to_the_second():
    # 500,000 buy five. The other five are rented for a quarter at 20 x 2,160 = 43,200 and bought in the
    # second (100,000 < 132,000 of rent for the rest of the year).
    case = scenario(
        {
            "periods": quarters(),
            "sites": SUPPORTED,
            "offers": [purchase(), rental()],
            "budgets": [{"budget": "start", "kind": "capex", "period": "2027-Q1", "limit": 599_000}],
            "demand": demand(YEAR, 10),
        }
    )
    plan = solved(case)
    assert units(plan) == {
        ("purchase", "2027-Q1"): 5,
        ("purchase", "2027-Q2"): 5,
        ("rental", "2027-Q1"): 5,
    }
    assert plan.headline["total_cost"] == pytest.approx(10 * 100_000 + 5 * 43_200)


def test_a_budget_of_one_cost_line_leaves_the_others_free():
    # 599,000 of purchases buy five; the other five are rented all year at 20 x 8,760 = 175,200, beyond any limit.
    case = scenario(
        {
            "periods": quarters(),
            "sites": SUPPORTED,
            "offers": [purchase(), rental()],
            "budgets": [
                {"budget": "machines", "kind": "total", "line": "hardware_purchase", "limit": 599_000}
            ],
            "demand": demand(YEAR, 10),
        }
    )
    plan = solved(case)
    bought = sum(count for (offer, _), count in units(plan).items() if offer == "purchase")
    assert bought == 5
    used = plan["budget_use"].set_index("budget").loc["machines"]
    assert (used["paid"], used["left"]) == (500_000, 99_000)


def test_distance_takes_the_far_site_from_those_who_wait_and_leaves_it_to_those_who_do_not():
    # 200 ms to the first token, of which the service takes 150: 5 ms of network fit, 100 do not. Online 4
    # requests/s near at 2 an hour, offline 3 far at 1.
    trips = {"statistic": "p95", "source": "case", "source_date": "2026-11-29", "confidence": "estimate"}
    first_token = {"ttft_ms": 150, "ttft_statistic": "p95"}
    case = scenario(
        {
            "periods": one_hour(),
            "regions": [region(), region("near"), region("far")],
            "latency": [
                {"from_region": "home", "to_region": name, "rtt_ms": trip, **trips}
                for name, trip in (("near", 5), ("far", 100))
            ],
            "sites": [cloud("near", "near"), cloud("far", "far")],
            "offers": [rental("near", price=2, sites="near"), rental("far", price=1, sites="far")],
            "operating_points": [point(name="online", **first_token), point(name="offline", **first_token)],
            "workloads": [workload("online", ttft_ms=200, percentile="p95"), workload("offline")],
            "shapes": [shape("online"), shape("offline")],
            "demand": demand(["hour"], 4, "online") + demand(["hour"], 3, "offline"),
        }
    )
    plan = solved(case)
    placed = plan["placement"].set_index(["workload", "site"])["requests_per_s"].to_dict()
    assert {key: rate for key, rate in placed.items() if rate > 0} == {
        ("online", "near"): 4,
        ("offline", "far"): 3,
    }
    assert plan.headline["total_cost"] == pytest.approx(4 * 2 + 3 * 1)
    routes = plan["routes"].set_index(["workload", "site"])["admissible"]
    assert not routes["online", "far"]


def test_prefill_and_decode_units_are_in_balance_and_each_is_sized_on_its_own_peak():
    # 20 requests/s: prompts arrive at 1.5 times their mean in the busiest minute, so 20 x 1.5 / 10 = 3
    # prefill units at 3 an hour; output is even: 20 / 4 = 5 decode units at 2. Together 19 an hour; the
    # decode unit alone would do 1.9 requests/s whole: 11 at 2 an hour, and more with the peak of the prompts.
    case = scenario(
        {
            "periods": one_hour(),
            "sites": [cloud()],
            "products": [box("first"), box("later")],
            "offers": [rental("first", "first", 3.0), rental("later", "later", 2.0)],
            "operating_points": [
                point("first", 10.0, phase="prefill"),
                point("later", 4.0, phase="decode"),
                point("later", 1.9),
            ],
            "workloads": [workload(minute_peak_input_ratio=1.5)],
            "demand": demand(["hour"], 20),
        }
    )
    plan = solved(case)
    assert units(plan, "offer") == {"first": 3, "later": 5}
    assert plan.headline["total_cost"] == pytest.approx(3 * 3 + 5 * 2)
    busy = plan["serving"].set_index("phase")["units_running"]
    assert busy["prefill"] == pytest.approx(20 / 10)
    assert busy["decode"] == pytest.approx(20 / 4)


def worth(value_per_mtok: float) -> Scenario:
    """Return four requests/s of which two must be served. 1,000 tokens a second and box are 3.6 Mtok an hour."""
    return scenario(
        {
            "periods": one_hour(),
            "sites": [cloud()],
            "offers": [rental(price=39.6)],
            "workloads": [workload(must_serve_fraction=0.5, value_per_mtok=value_per_mtok)],
            "shapes": [shape(input_tokens=100, output_tokens=1_000)],
            "demand": demand(["hour"], 4),
        }
    )


def test_optional_demand_is_served_when_its_value_exceeds_what_it_costs():
    # A Mtok costs 39.6 / 3.6 = 11 and is worth 12: all four boxes, less the value of the two optional ones.
    plan = solved(worth(12.0))
    assert units(plan, "offer") == {"rental": 4}
    assert plan.headline["unserved_fraction"] == pytest.approx(0.0)
    assert plan.headline["total_cost"] == pytest.approx(4 * 39.6)
    assert plan.headline["objective"] == pytest.approx(4 * 39.6 - 2 * 3.6 * 12)


def test_optional_demand_is_left_when_its_value_falls_short_of_what_it_costs():
    # Worth 10: two boxes, and no value earned.
    assert least_cost(worth(10.0)) == pytest.approx(2 * 39.6)


AGES = ((0, 1.0), (1, 0.6), (5, 0.0))


@pytest.mark.parametrize(
    ("method", "cost"),
    [
        # 60 % of the price comes back after the year, worth 60,000 / 1.1 now.
        ("market", 100_000 - 60_000 / 1.1),
        # Nothing comes back; 7 an hour in the middle of the year are less.
        ("none", 7 * 8_760 / 1.1**0.5),
        # 1 - (1.1 - 1) / (1.1^5 - 1) of the price is left: buying costs the first year's annuity, due at its end.
        ("sinking_fund", 100_000 * 0.1 / (1 - 1.1**-5) / 1.1),
    ],
)
def test_the_residual_decides_between_buying_and_renting_a_year(method, cost):
    said = {"source": "case", "source_date": "2026-11-29", "confidence": "estimate"}
    case = scenario(
        {
            "periods": one_year(),
            "sites": SUPPORTED,
            "products": [box(asset_class="accelerator")],
            "residuals": [
                {"asset_class": "accelerator", "age_years": age, "residual_fraction": share, **said}
                for age, share in AGES
            ],
            "offers": [purchase(), rental(price=7.0)],
            "demand": demand(["2027"], 1),
        },
        residual_method=method,
        discount_rate_fraction=0.1,
    )
    assert least_cost(case) == pytest.approx(cost)


def test_a_reservation_is_paid_month_by_month_and_what_outlives_the_plan_is_a_liability():
    # Reserved for a year from April at 2 an hour, on demand at 5 until then. Paid in 2027: 2,160 x 5 and
    # 6,600 x 2; three of the twelve months, 2,190 hours, fall into 2028.
    case = scenario(
        {
            "periods": quarters(),
            "sites": [cloud()],
            "offers": [
                rental(
                    "reserved",
                    price=2.0,
                    mode="reserved",
                    rent_step=None,
                    term_months=12,
                    available_from="2027-04-01",
                ),
                rental("on demand", price=5.0),
            ],
            "demand": demand(YEAR, 1),
        }
    )
    plan = solved(case)
    assert units(plan) == {("on demand", "2027-Q1"): 1, ("reserved", "2027-Q2"): 1}
    assert line(plan, "on_demand_rent") == pytest.approx(2_160 * 5)
    assert line(plan, "reserved_rent") == pytest.approx(6_600 * 2)
    assert plan.headline["total_cost"] == pytest.approx(10_800 + 13_200)
    assert plan.headline["liability_after_horizon"] == pytest.approx(2_184 * 2)


def test_a_lease_of_hardware_ends_with_its_term():
    # Six months at 3,000 a month, twice, against 40,000 for a box: 2 x 6 x 3,000 = 36,000.
    case = scenario(
        {
            "periods": quarters(),
            "sites": [hall()],
            "offers": [
                purchase(price=40_000),
                purchase("lease", price=3_000, mode="lease", price_unit="unit_month", term_months=6),
            ],
            "demand": demand(YEAR, 1),
        }
    )
    plan = solved(case)
    assert units(plan) == {("lease", "2027-Q1"): 1, ("lease", "2027-Q3"): 1}
    assert plan.headline["total_cost"] == pytest.approx(36_000)
    assert plan.headline["liability_after_horizon"] == pytest.approx(0.0)
