"""An infeasible scenario is answered with what is short, where, when and by how much; the amounts are found by hand."""

from __future__ import annotations

import pandas as pd
import pytest
from bill_model import full_power
from small_scenarios import (
    YEAR,
    cloud,
    demand,
    hall,
    one_year,
    purchase,
    quarters,
    rental,
    scenario,
    solved,
)
from tiny_coefficients import tiny

from planner.coefficients.facility.environment import Environment
from planner.inputs import Scenario
from planner.pipeline import RunOptions, run_plan
from planner.pipeline.diagnosis import LIMITS, SHORTAGES, _with_period, shortage_text
from planner.plan import Plan


def diagnosed(case: Scenario) -> Plan:
    plan = run_plan(case, RunOptions())
    assert plan.status == "infeasible"
    assert "orders" not in plan.frames
    assert list(plan["shortages"].columns) == SHORTAGES
    assert plan.headline["message"] == "; ".join(plan["shortages"]["message"].head(5))
    return plan


def short(plan: Plan) -> dict[tuple[str, str, str], float]:
    table = plan["shortages"]
    return {
        (row.resource, row.place, row.period): row.amount
        for row in table.itertuples()
    }  # fmt: skip


def powered(usable_kw: float, rate: float, headroom_fraction: float = 0.0, **settings: object) -> Scenario:
    """Return boxes of 10 kW for so many requests/s in a hall with so much power until April, plenty from then on."""
    return scenario(
        {
            **full_power(),
            "periods": quarters(2),
            "sites": [hall(headroom_fraction=headroom_fraction)],
            "site_power": [
                {"site": "hall", "from_date": "2027-01-01", "usable_kw": usable_kw},
                {"site": "hall", "from_date": "2027-04-01", "usable_kw": 300},
            ],
            "offers": [purchase()],
            "demand": demand(YEAR[:2], rate),
        },
        **settings,
    )


def test_short_power_is_named_with_its_site_its_quarter_and_its_kilowatts():
    # Twelve boxes draw 120 kW of 100, and 80 may be provisioned. With eight boxes 4 requests/s are not served.
    plan = diagnosed(powered(100, 12, headroom_fraction=0.2))
    assert short(plan) == {
        ("grid power", "hall", "2027-Q1"): pytest.approx(20),
        ("provisioned power after headroom", "hall", "2027-Q1"): pytest.approx(40),
        ("serving capacity", "chat, home", "2027-Q1"): pytest.approx(4),
    }
    messages = dict(zip(plan["shortages"]["resource"], plan["shortages"]["message"], strict=True))
    assert (
        messages["grid power"]
        == "2027-Q1: short of 20 kW of grid power at hall; feasible with that much more"
    )
    assert messages["serving capacity"].endswith("cannot be served under the limits as they stand")


def test_the_relief_named_makes_the_scenario_feasible():
    # 120 kW at the meter and 120 kW left after a fifth of headroom: 150 kW usable.
    assert solved(powered(150, 12, headroom_fraction=0.2)).status == "optimal"


def test_whole_units_that_do_not_fit_are_told_apart_from_units_that_almost_do():
    # 10.5 boxes would draw 105 kW of 106, but eleven have to be provisioned: 4 kW are short.
    plan = diagnosed(powered(106, 10.5))
    assert short(plan)["provisioned power after headroom", "hall", "2027-Q1"] == pytest.approx(4)
    assert not [key for key in short(plan) if key[0] == "grid power"]


def test_short_supply_is_named_with_its_offer_and_its_units():
    # Ten units a quarter; seven of one vendor and none of the other in the second quarter.
    case = scenario(
        {
            "periods": quarters(2),
            "sites": [cloud()],
            "offers": [
                rental("ours", supply_units_per_period=20),
                rental("theirs", available_until="2027-02-01"),
            ],
            "supply": [{"offer": "ours", "period": "2027-Q2", "units": 7}],
            "demand": demand(YEAR[:2], 10),
        }
    )
    plan = diagnosed(case)
    assert short(plan)["vendor supply", "ours", "2027-Q2"] == pytest.approx(3)
    assert short(plan)["serving capacity", "chat, home", "2027-Q2"] == pytest.approx(3)
    assert {period for _, _, period in short(plan)} == {"2027-Q2"}


def test_a_short_budget_is_named_in_thousands():
    # Eight boxes are 800,000; the budget of the horizon holds 550,000, enough for five.
    case = scenario(
        {
            "periods": one_year(),
            "sites": [hall()],
            "offers": [purchase()],
            "budgets": [{"budget": "hardware", "kind": "capex", "limit": 550_000}],
            "demand": demand(["2027"], 8),
        }
    )
    plan = diagnosed(case)
    assert short(plan)["budget", "hardware", "horizon"] == pytest.approx(250)
    assert short(plan)["serving capacity", "chat, home", "2027"] == pytest.approx(8 - 5)
    assert "250 thousand USD of budget at hardware" in plan.headline["message"]


def test_a_short_budget_of_a_period_is_named_with_the_period():
    # Eight boxes are needed in the second quarter and can be paid for in either: 200,000 and 300,000 buy five.
    case = scenario(
        {
            "periods": quarters(2),
            "sites": [hall()],
            "offers": [purchase()],
            "budgets": [
                {"budget": "winter", "kind": "capex", "period": "2027-Q1", "limit": 200_000},
                {"budget": "spring", "kind": "capex", "period": "2027-Q2", "limit": 300_000},
                {"budget": "both", "kind": "capex", "limit": 700_000},
            ],
            "demand": demand(YEAR[:2], [2, 8]),
        }
    )
    found = short(diagnosed(case))
    assert found["budget", "spring", "2027-Q2"] + found.get(
        ("budget", "winter", "2027-Q1"), 0.0
    ) == pytest.approx(300)
    assert found["budget", "both", "horizon"] == pytest.approx(100)
    assert len([key for key in found if key[0] == "budget"]) == len(
        {key[1] for key in found if key[0] == "budget"}
    )


@pytest.mark.parametrize(
    ("own", "when"), [({"period": "2027-Q2"}, "2027-Q2"), ({"year": 2027}, "2027"), ({}, "horizon")]
)
def test_a_shortage_is_labelled_with_the_period_or_year_its_limit_states(own, when):
    blank = {"period": None, "year": float("nan")}
    around = Environment(
        limits=pd.DataFrame([{"limit": "site", "kind": "carbon_t", **(blank | own), "amount": 1.0}])
    )
    found = pd.DataFrame({"limit": ["site"], "shortfall": [2.0]})
    assert _with_period(tiny(environment=around), "carbon_limit", found)["period"].tolist() == [when]


def test_demand_before_any_unit_can_arrive_is_named_without_solving_anything():
    # 20 + 3 weeks: nothing serves in the first two quarters, whatever is paid.
    case = scenario(
        {
            "periods": quarters(),
            "sites": [hall()],
            "offers": [purchase(lead_weeks=20, install_weeks=3)],
            "demand": demand(YEAR, [5, 6, 7, 8]),
        }
    )
    plan = diagnosed(case)
    assert short(plan) == {
        ("serving capacity", "chat, home", "2027-Q1"): pytest.approx(5),
        ("serving capacity", "chat, home", "2027-Q2"): pytest.approx(6),
    }
    assert "lead time" in plan.headline["message"]


def test_every_limit_has_a_name_a_unit_and_a_place():
    for limit in LIMITS.values():
        assert limit.resource
        assert limit.unit
        assert limit.place
    assert shortage_text("grid power", "A", "2027-Q3", 4_200.4, "kW") == (
        "2027-Q3: short of 4,200 kW of grid power at A"
    )
    assert shortage_text("rack positions", "A", "2027", 1.504, "racks") == (
        "2027: short of 1.5 racks of rack positions at A"
    )
