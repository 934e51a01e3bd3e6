"""Modules that stand by (N+1, N+2, 2N): what is in place, what carries, what it costs, and what two solvers say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_scenarios import (
    YEAR,
    box,
    cloud,
    demand,
    hall,
    line,
    model_of,
    purchase,
    quarters,
    rental,
    scenario,
    solved,
)

from planner.errors import InputError
from planner.inputs import Scenario
from planner.plan import Plan, audit_plan
from planner.solve import SolveOptions, available_solvers, solve

PLACED = {"N": 2, "N+1": 3, "N+2": 4, "2N": 4, "2N+1": 5, "2(N+1)": 6}
"""Modules in place for two that carry."""
HALF_YEAR_RENT = 2 * 20 * (90 + 91) * 24
"""Two boxes from the cloud at 20 an hour through the first two quarters of 2027."""


def ups(**more: object) -> dict[str, object]:
    """Return a kind of UPS: 10 kW each, ready 26 weeks after an order, 5,000 each, written off over ten years."""
    plain = {"site": "hall", "module": "ups", "item": "ups", "kw": 10, "lead_weeks": 26, "cost": 5_000}
    return plain | {"life_years": 10, "max_modules": 9, "redundancy": "N+1"} | more


def backed(*modules: dict[str, object], install_weeks: float = 0, **tables: object) -> Scenario:
    """Return a year of two boxes of 10 kW at a hall whose UPS decide what it can use, or from the cloud."""
    plain = {
        "periods": quarters(),
        "sites": [hall(), cloud()],
        "products": [box()],
        "offers": [purchase(price=10_000, install_weeks=install_weeks), rental(price=20)],
        "site_modules": list(modules),
        "demand": demand(YEAR, 2),
    }
    return scenario(plain | tables, max_blocks=1)


@pytest.fixture(scope="module")
def plans() -> dict[str, Plan]:
    return {name: solved(backed(ups(redundancy=name))) for name in PLACED}


@pytest.mark.parametrize("redundancy", PLACED)
def test_what_stands_by_is_paid_for_beside_what_carries(plans, redundancy):
    plan, count = plans[redundancy], PLACED[redundancy]
    assert plan["modules"]["modules"].tolist() == [count]
    assert line(plan, "site_module") == 5_000 * count
    assert plan.headline["total_cost"] == pytest.approx(2 * 10_000 + HALF_YEAR_RENT + 5_000 * count)
    path = plan["power_path"].set_index("period")["carried_kw"]
    assert path.to_dict() == dict(zip(YEAR, (0, 0, 20, 20), strict=True))
    if redundancy != "N":
        rows = plan["standby"].set_index("period")
        assert rows["in_place"].to_dict() == dict.fromkeys(YEAR[2:], count)
        assert rows["carrying"].to_dict() == dict.fromkeys(YEAR[2:], 2)
        assert rows["standing_by"].to_dict() == dict.fromkeys(YEAR[2:], count - 2)


@pytest.mark.parametrize("redundancy", PLACED)
def test_the_audit_finds_as_many_modules_and_as_much_money(plans, redundancy):
    report = audit_plan(plans[redundancy])
    assert report.passed, report.failures


def test_modules_that_stand_by_are_ordered_paid_and_written_off_as_the_others(plans):
    plan = plans["N+1"]
    bought = plan["purchases"].set_index("kind").loc["power module"]
    assert (bought["quantity"], bought["contract_value"], bought["deposit_amount"]) == (3, 15_000, 15_000)
    asset = plan["assets"].set_index("line").loc["site_module"]
    assert (asset["cost"], asset["book_life_years"]) == (15_000, 10)


@pytest.mark.skipif("cbc" not in available_solvers(), reason="cbc is not installed")
@pytest.mark.parametrize("redundancy", PLACED)
def test_two_solvers_find_the_same_cost(plans, redundancy):
    problem = model_of(backed(ups(redundancy=redundancy))).problem
    found = solve(problem, SolveOptions(gap=0.0, solver="cbc"))
    assert found.objective == pytest.approx(plans[redundancy].headline["total_cost"], rel=1e-6)


def test_a_module_ordered_beside_those_in_place_shares_what_stands_by():
    # Two in place, of which one stands by, carry 10 kW: one box from the start, the second with the third UPS.
    plan = solved(backed(ups(existing_modules=2)))
    assert plan["modules"]["modules"].tolist() == [1]
    carrying = plan["standby"].set_index("period")["carrying"]
    assert carrying.to_dict() == dict(zip(YEAR, (1, 1, 2, 2), strict=True))
    assert plan.headline["total_cost"] == pytest.approx(2 * 10_000 + HALF_YEAR_RENT / 2 + 5_000)
    assert audit_plan(plan).passed


@pytest.mark.parametrize(("count", "redundancy"), [(3, "N+1"), (5, "2N"), (6, "2(N+1)"), (2, "N"), (2, None)])
def test_modules_that_come_by_a_date_keep_what_stands_by(count, redundancy):
    given = {"energised_date": "2027-04-01", "existing_modules": count, "redundancy": redundancy}
    plan = solved(backed(ups(lead_weeks=None, cost=None, life_years=None, max_modules=None) | given))
    assert plan["power_path"]["carried_kw"].tolist() == [0, 20, 20, 20]
    assert plan.headline["total_cost"] == pytest.approx(2 * 10_000 + 2 * 20 * 90 * 24)
    assert audit_plan(plan).passed


def test_boxes_are_tested_on_what_carries_on_the_day():
    # The third UPS, ordered in January, is ready after 8 weeks, on 26 February; boxes of April are installed from
    # 4 March on: of three in place two carry then, 20 kW. A UPS of 10 weeks is too late for them: they come in July.
    early = solved(backed(ups(existing_modules=2, lead_weeks=8), install_weeks=4))
    tested = early["commissioning"].set_index("limit").loc["path to power"]
    assert str(tested["day"].date()) == "2027-03-04"
    assert (tested["needed"], tested["available"]) == (20, 20)
    assert audit_plan(early).passed
    late = solved(backed(ups(existing_modules=2, lead_weeks=10), install_weeks=4))
    days = late["commissioning"]
    assert days.loc[days["limit"] == "path to power", "needed"].tolist() == [10, 20]
    assert audit_plan(late).passed
    assert late.headline["total_cost"] - early.headline["total_cost"] == pytest.approx(20 * 91 * 24)


@pytest.mark.parametrize("redundancy", PLACED)
def test_a_relaxation_is_a_bound_and_passes_its_audit(plans, redundancy):
    bound = solved(backed(ups(redundancy=redundancy)), relax=True)
    assert bound.status == "bound"
    assert bound.headline["total_cost"] <= plans[redundancy].headline["total_cost"] + 1e-6
    assert audit_plan(bound).passed


def test_a_changed_cell_of_what_stands_by_is_found(plans):
    plan = plans["N+1"]
    for column in ("in_place", "standing_by", "carrying", "kw"):
        rows = plan["standby"].copy()
        rows.loc[0, column] += 1
        failed = audit_plan(replace(plan, frames={**plan.frames, "standby": rows})).failures
        assert "frame standby" in set(failed["check"])
    fewer = plan["modules"].assign(modules=2.0)
    failed = audit_plan(replace(plan, frames={**plan.frames, "modules": fewer})).failures
    assert {"power_path", "energised_load", "energised_provision"} <= set(failed["check"])


@pytest.mark.parametrize(
    ("changed", "column", "text"),
    [
        ({"redundancy": "N+1", "max_modules": None}, "redundancy", "needs 2 modules in place"),
        (
            {"redundancy": "2(N+1)", "max_modules": 3},
            "redundancy",
            "needs 4 modules in place before one carries",
        ),
        ({"redundancy": "n+1"}, "redundancy", ""),
        ({"existing_modules": -1}, "existing_modules", ""),
        (
            {"energised_date": "2027-01-01", "max_modules": None, "redundancy": "2N"},
            "redundancy",
            "1 can be: raise existing_modules",
        ),
    ],
)
def test_a_redundancy_that_leaves_nothing_to_carry_is_named(changed, column, text):
    with pytest.raises(InputError) as caught:
        backed(ups(**changed))
    assert any(fault.column == column and text in fault.message for fault in caught.value.faults)
