"""An infeasible scenario is answered with what is short, where, when and by how much; the amounts are found by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from bill_model import full_power
from small_scenarios import (
    SAID,
    YEAR,
    cloud,
    demand,
    hall,
    one_year,
    purchase,
    quarters,
    rental,
    scenario,
)

from planner.coefficients import build_coefficients
from planner.formulation.build import FAMILIES
from planner.inputs import Scenario
from planner.performance import operating_points
from planner.pipeline import RunOptions, run_plan
from planner.pipeline.clash import Clash
from planner.pipeline.diagnosis_limits import LIMITS
from planner.pipeline.diagnosis_words import RELIEFS, SHORTAGES
from planner.plan import Plan


def diagnosed(case: Scenario) -> Plan:
    plan = run_plan(case, RunOptions())
    assert plan.status == "infeasible"
    assert "orders" not in plan.frames
    assert list(plan["shortages"].columns) == SHORTAGES
    assert list(plan["reliefs"].columns) == RELIEFS
    first = plan["shortages"]["relief"] == "1"
    assert plan.headline["message"] == "; ".join(plan["shortages"].loc[first, "message"])
    assert set(plan["reliefs"]["status"]) == {"proven"}
    return plan


def short(plan: Plan, relief: str | None = None) -> dict[tuple[str, str, str], float]:
    table = plan["shortages"]
    table = table if relief is None else table[table["relief"] == relief]
    return {
        (row.resource, row.place, row.period): row.amount
        for row in table.itertuples()
    }  # fmt: skip


def cells(plan: Plan, relief: str = "1") -> list[str]:
    table = plan["reliefs"]
    return table.loc[table["relief"] == relief, "set"].tolist()


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


def test_power_short_for_two_reasons_is_one_row_with_the_kilowatts_that_are_enough():
    # Twelve boxes draw 120 kW of 100, and 80 may be provisioned: 150 kW leave 120 after a fifth of headroom.
    plan = diagnosed(powered(100, 12, headroom_fraction=0.2))
    assert short(plan) == {
        ("grid power", "hall", "2027-Q1"): pytest.approx(50),
        ("serving capacity", "chat, home", "2027-Q1"): pytest.approx(4),
    }
    assert cells(plan) == ["site_power/hall|2027-01-01/usable_kw=150"]
    assert cells(plan, "2") == ["demand/chat|home|2027-Q1/requests_per_s=8"]
    assert plan["shortages"]["message"][0] == (
        "2027-Q1: short of 50 kW of grid power at hall: usable_kw of site_power hall|2027-01-01 from 100 to 150"
    )


@pytest.mark.slow
def test_whole_units_that_do_not_fit_are_told_apart_from_units_that_almost_do():
    # 10.5 boxes would draw 105 kW of 106, but eleven have to be provisioned: 4 kW are short.
    plan = diagnosed(powered(106, 10.5))
    assert short(plan, "1") == {("grid power", "hall", "2027-Q1"): pytest.approx(4)}


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


@pytest.mark.slow
def test_a_short_budget_is_named_in_its_currency():
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
    assert short(plan)["budget", "hardware", "horizon"] == pytest.approx(250_000)
    assert short(plan)["serving capacity", "chat, home", "2027"] == pytest.approx(8 - 5)
    assert "250,000 USD of budget at hardware" in plan.headline["message"]
    assert cells(plan) == ["budgets/hardware/limit=800000"]


@pytest.mark.slow
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
    ) == pytest.approx(300_000)
    assert found["budget", "both", "horizon"] == pytest.approx(100_000)
    assert len([key for key in found if key[0] == "budget"]) == len(
        {key[1] for key in found if key[0] == "budget"}
    )


@pytest.mark.parametrize(
    ("own", "when"), [({"period": "2027-Q2"}, ("2027-Q2",)), ({"year": 2027}, ("2027",)), ({}, ())]
)
def test_a_shortage_is_labelled_with_the_period_or_year_its_limit_states(own, when):
    case = scenario(
        {
            "periods": quarters(2),
            "sites": [hall()],
            "offers": [purchase()],
            "resource_limits": [{"limit": "site", "kind": "carbon_t", "amount": 1.0, **own}],
            "carbon": [{"region": "home", "gco2_per_kwh": 400, "basis": "average", **SAID}],
            "demand": demand(YEAR[:2], 1),
        }
    )
    points = operating_points(case)
    clash = Clash(case, points, build_coefficients(case, points))
    found = pd.DataFrame({"limit": ["site"], "shortfall": [2.0]})
    (change,) = LIMITS["carbon_limit"].cells(clash, found, np.empty(0))
    assert change.periods == when
    assert (change.set_text, change.unit) == ("resource_limits/site/amount=3", "t CO2")


def test_demand_before_any_unit_can_arrive_is_one_cause_with_its_date():
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
    assert short(plan, "1") == {("anything that can serve", "home", "2027-Q1 to 2027-Q2"): pytest.approx(6)}
    assert "nothing can be in service before 2027-07-01" in plan.headline["message"]
    assert cells(plan) == [f"demand/chat|home|{name}/requests_per_s=0" for name in YEAR[:2]]
    assert cells(plan, "2") == ["offers/purchase/lead_weeks=0", "offers/purchase/install_weeks=0"]


def test_every_limit_is_a_family_with_a_name_a_unit_and_a_place():
    assert set(LIMITS) <= set(FAMILIES)
    for limit in LIMITS.values():
        assert limit.resource
        assert limit.unit
        assert limit.place
