"""Halls changed from air to liquid, from cases solved by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

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
    purchase,
    quarters,
    rental,
    scenario,
    solved,
    units,
)
from workbook_checks import failed_checks

from planner.coefficients import build_coefficients
from planner.errors import InputError
from planner.inputs import Scenario
from planner.performance import operating_points
from planner.plan import Plan
from planner.plan.audit import audit_plan


def changed(capex: float = 1_000, downtime_weeks: float = 13, **more: object) -> Scenario:
    """Return 40 kW of air hall and boxes that need liquid: two requests/s in every quarter, or rent at 20 an hour."""
    tables = {
        "periods": quarters(3),
        "sites": [hall(kind="owned"), cloud()],
        "facility_options": [
            {"site": "hall", "cooling": "air", "existing_kw": 40},
            {"site": "hall", "cooling": "liquid"},
        ],
        "hall_retrofits": [
            {
                "site": "hall",
                "from_cooling": "air",
                "to_cooling": "liquid",
                "capex_per_kw": capex,
                "lead_weeks": 13,
                "downtime_weeks": downtime_weeks,
            }
        ],
        "products": [box(coolings="liquid"), box("airy", coolings="air"), box("hosted")],
        "offers": [purchase(price=10_000), purchase("airy", "airy", 40_000), rental(product="hosted")],
        "operating_points": [
            {**row, "product": name, "point": name} for name in ("box", "airy", "hosted") for row in [POINT]
        ],
        "demand": demand(YEAR[:3], 2),
    }
    return scenario(tables | more)


POINT = {
    "phase": "mixed",
    "workload": "chat",
    "shape": "any",
    "requests_per_s": 1.0,
    "source": "case",
    "source_date": "2026-11-29",
    "confidence": "estimate",
}
RENT = 2 * 20 * (HOURS["2027-Q1"] + HOURS["2027-Q2"])


def test_a_hall_is_changed_while_that_is_cheaper_than_units_for_the_hall_that_stands():
    # Two airy boxes at once are 80,000. Renting two units until July and changing 20 kW costs
    # 173,760 + 20 x 1,000 + 2 x 10,000: more. With airy boxes at 150,000 each it is the other way round.
    assert least_cost(changed()) == pytest.approx(80_000)
    dear = [purchase(price=10_000), purchase("airy", "airy", 150_000), rental(product="hosted")]
    plan = solved(changed(offers=dear))
    assert audit_plan(plan).passed
    costs = plan["costs"]
    dearer = costs["amount"].where(costs["line"] != "hall_retrofit", costs["amount"] * 1.01)
    wrong = Plan(plan.headline, {**plan.frames, "costs": costs.assign(amount=dearer)}, plan.scenario)
    assert "cost hall_retrofit" in set(audit_plan(wrong).failures["check"])
    assert units(plan) == {
        ("purchase", "2027-Q3"): 2,
        ("rental", "2027-Q1"): 2,
        ("rental", "2027-Q2"): 2,
    }
    assert plan["retrofits"][["from_cooling", "cooling", "period", "kw"]].to_numpy().tolist() == [
        ["air", "liquid", "2027-Q1", 20.0]
    ]
    assert line(plan, "hall_retrofit") == pytest.approx(20_000)
    assert plan.headline["total_cost"] == pytest.approx(RENT + 20_000 + 20_000)


def test_what_is_changed_serves_neither_while_the_work_lasts():
    # 20 kW of hall in all, and two airy boxes on it: to change it they would have to go, and nothing else can be had
    # in the second quarter. Without rent the hall stays as it is.
    options = [
        {"site": "hall", "cooling": "air", "existing_kw": 20},
        {"site": "hall", "cooling": "liquid"},
    ]
    offers = [purchase(price=10_000), purchase("airy", "airy", 40_000)]
    case = changed(0, facility_options=options, offers=offers)
    assert least_cost(case) == pytest.approx(80_000)
    # Demand of one only, and 20 kW: half of the hall may be changed, and does where an airy unit more is dearer.
    rising = changed(100, facility_options=options, offers=offers, demand=demand(YEAR[:3], [1, 1, 2]))
    assert least_cost(rising) == pytest.approx(40_000 + 10 * 100 + 10_000)


def test_a_change_that_ends_after_the_horizon_is_not_offered():
    dear = [purchase(price=10_000), purchase("airy", "airy", 150_000), rental(product="hosted")]
    assert least_cost(changed(0, downtime_weeks=27, offers=dear)) == pytest.approx(
        min(300_000, RENT + 2 * 20 * HOURS["2027-Q3"])
    )


DEAR = [purchase(price=10_000), purchase("airy", "airy", 150_000), rental(product="hosted")]


def lasting(**more: object) -> dict[str, object]:
    """Return the 20 kW that are changed, with upkeep of a tenth a year and a life of two and a half years."""
    case = changed(offers=DEAR).tables["hall_retrofits"].iloc[0].dropna().to_dict()
    terms = {"life_years": 2.5, "maintenance_fraction_per_year": 0.1}
    return {"hall_retrofits": [case | terms | more], "offers": DEAR}


def test_a_change_is_kept_up_once_done_and_has_a_value_at_the_end():
    # Done in July, 20 kW x 1,000: a tenth a year for a quarter is 500, and a quarter of two and a half years is used.
    case = changed(**lasting())
    settings = case.settings.model_copy(update={"residual_method": "sinking_fund"})
    costs = model_costs(replace(case, settings=settings))
    assert costs["cooling_maintenance"] == pytest.approx(1_000 * 0.1 / 4)
    assert costs["facility_residual"] == pytest.approx(-1_000 * (1 - 0.25 / 2.5))
    assert least_cost(case) == pytest.approx(RENT + 20_000 + 20_000 + 500)


def model_costs(case: Scenario) -> dict[str, float]:
    """Return by cost line what one kW changed at the start costs."""
    rows = build_coefficients(case, operating_points(case)).costs["retrofit_kw"]
    rows = rows[rows["period"] == "2027-Q1"]
    return rows.groupby("line")["amount"].sum().to_dict()


@pytest.mark.slow
def test_upkeep_value_and_tax_of_a_change_are_audited_and_calculated(tmp_path: Path):
    # 5 % a year on 20 kW of retrofit and two boxes of 10,000 for a quarter: 40,000 x 0.05 / 4.
    taxed = hall(kind="owned", property_tax_fraction_per_year=0.05)
    offers = [DEAR[0], purchase("airy", "airy", 1_500_000), DEAR[2]]
    case = changed(**(lasting() | {"sites": [taxed, cloud()], "offers": offers}))
    policies = {"residual_method": "sinking_fund", "discount_rate_fraction": 0.08}
    plan = solved(replace(case, settings=case.settings.model_copy(update=policies)))
    assert line(plan, "property_tax") == pytest.approx(500)
    left = (1.08**2.5 - 1.08**0.25) / (1.08**2.5 - 1)
    assert line(plan, "facility_residual") == pytest.approx(-20_000 * left)
    report = audit_plan(plan)
    # The hash is that of the inputs before the method was changed here.
    assert set(report.failures["check"]) <= {"same_inputs"}
    costs = plan["costs"]
    dearer = costs["amount"].where(costs["line"] != "property_tax", costs["amount"] * 1.01)
    wrong = Plan(plan.headline, {**plan.frames, "costs": costs.assign(amount=dearer)}, plan.scenario)
    assert "cost property_tax" in set(audit_plan(wrong).failures["check"])
    assert [row[1] for row in failed_checks(plan, tmp_path)] == ["Same inputs"]


@pytest.mark.slow
def test_the_workbook_calculates_the_cost_of_a_plan_with_retrofits(tmp_path: Path):
    dear = [purchase(price=10_000), purchase("airy", "airy", 150_000), rental(product="hosted")]
    assert failed_checks(solved(changed(offers=dear)), tmp_path) == []


def test_a_retrofit_goes_between_two_options_of_an_owned_hall():
    with pytest.raises(InputError, match="only halls of an owned site"):
        changed(sites=[hall(), cloud()])
    with pytest.raises(InputError, match=r"column to_cooling.*facility_options of the site: air"):
        changed(facility_options=[{"site": "hall", "cooling": "air", "existing_kw": 40}])
