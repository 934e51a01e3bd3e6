"""Every plan stands beside what else could have been done; the costs are found by hand."""

from __future__ import annotations

import pytest
from small_scenarios import box, cloud, demand, energy, hall, one_year, point, purchase, rental, scenario

from planner.inputs import Scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan import Plan

YEAR_HOURS = 8_760.0


def short_of_power(existing: int, usable_kw: float = 100.0, kwh_price: float = 0.0) -> Scenario:
    """Return twelve requests/s on little power, some old boxes standing already.

    Old: 1 request/s, 10 kW, 100,000 or 30 an hour in the cloud. New: 1.2 requests/s, 8 kW, 150,000.
    """
    lot = {
        "fleet": "lot",
        "product": "old",
        "site": "hall",
        "cooling": "air",
        "in_service_date": "2026-06-01",
    }
    return scenario(
        {
            "periods": one_year(),
            "sites": [hall(), cloud()],
            "site_power": [{"site": "hall", "from_date": "2026-01-01", "usable_kw": usable_kw}],
            "products": [box("old", 10), box("new", 8)],
            "fleet": [lot | {"units": existing}] if existing else [],
            "offers": [
                purchase("old", "old"),
                purchase("new", "new", 150_000),
                rental("old rented", "old", 30),
            ],
            "operating_points": [point("old", 1.0), point("new", 1.2)],
            "demand": demand(["2027"], 12),
            "tariffs": [energy(price=kwh_price)],
        }
    )


@pytest.fixture(scope="module")
def plan() -> Plan:
    return run_plan(short_of_power(3), RunOptions())


def baseline(plan: Plan, name: str) -> dict[str, object]:
    return plan["baselines"].set_index("baseline").loc[name].to_dict()


def test_the_plan_itself_mixes_both_products(plan):
    # Nine requests/s more on 70 kW: a + 1.2 b >= 9 and 10 a + 8 b <= 70 meet at a = 3, b = 5.
    assert plan.headline["total_cost"] == pytest.approx(3 * 100_000 + 5 * 150_000)


def test_doing_nothing_serves_what_the_boxes_that_stand_can_serve(plan):
    nothing = baseline(plan, "do nothing")
    assert nothing["status"] == "infeasible"
    assert nothing["served_fraction"] == pytest.approx(3 / 12)
    assert nothing["total_cost"] != nothing["total_cost"]  # no cost at all, rather than a low one


def test_doing_nothing_says_what_it_serves_and_what_that_costs():
    # The three boxes that stand run all year, half of it prefill at 10 kW, half decode at 9: 3 x 9.5 x 8,760 h at 0.1.
    dear = short_of_power(3, kwh_price=0.1)
    nothing = baseline(run_plan(dear, RunOptions()), "do nothing")
    assert nothing["detail"] == "serves 25.0% of the plan's demand at most, for 24,966 USD, present value"
    assert nothing["total_cost"] != nothing["total_cost"]
    none = baseline(run_plan(short_of_power(0), RunOptions()), "do nothing")
    assert none["detail"] == "serves 0.0% of the plan's demand at most, for 0 USD, present value"


def test_renting_everything_leaves_the_boxes_that_stand(plan):
    rented = baseline(plan, "rent everything")
    assert rented["status"] == "optimal"
    assert rented["total_cost"] == pytest.approx(9 * 30 * YEAR_HOURS)
    assert rented["served_fraction"] == 1.0


def test_the_cheapest_single_type_is_the_better_of_the_two(plan):
    # Old alone: seven more fit 70 kW, two are rented: 700,000 + 2 x 262,800 = 1,225,600. New alone: 7.5, so
    # eight, 64 kW: 1,200,000.
    single = baseline(plan, "cheapest single type")
    assert single["status"] == "optimal"
    assert single["total_cost"] == pytest.approx(8 * 150_000)
    assert str(single["detail"]).startswith("new, ")


def test_no_baseline_is_cheaper_than_the_plan(plan):
    assert (plan["baselines"]["total_cost"].dropna() >= plan.headline["total_cost"] * (1 - 1e-6)).all()
    assert [row["baseline"] for row in plan.headline["baselines"]] == list(plan["baselines"]["baseline"])


def test_doing_nothing_is_a_plan_where_enough_stands_already():
    enough = run_plan(short_of_power(12, 120.0), RunOptions())
    nothing = baseline(enough, "do nothing")
    assert nothing["status"] == "optimal"
    assert nothing["total_cost"] == pytest.approx(0.0, abs=1e-6)
    assert nothing["served_fraction"] == 1.0
