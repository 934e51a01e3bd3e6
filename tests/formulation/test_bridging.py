"""Generation rented on site until the grid is there, from cases solved by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from bill_model import full_power
from small_scenarios import (
    HOURS,
    YEAR,
    cloud,
    demand,
    energy,
    hall,
    least_cost,
    least_cost_relaxed,
    line,
    model_of,
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
from planner.plan.audit import CHECKS, audit_plan
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts
from planner.solve import SolveOptions, solve

HALF = HOURS["2027-Q1"] + HOURS["2027-Q2"]
FUEL = 20 * 0.2
"""Fuel of two boxes, 20 kW at 0.2 a kWh, for an hour."""
GRID = [{"site": "hall", "from_date": "2027-07-01", "usable_kw": 100}]


def bridged(
    place: dict[str, Any] | None = None, more: dict[str, Any] | None = None, **terms: Any
) -> Scenario:
    """Return two requests/s on boxes of 10 kW at 10,000 for a hall with power from July on, or hosted at 20 an hour."""
    plain = {
        "site": "hall",
        "generator": "gensets",
        "max_kw": 100,
        "rent_per_kw_month": 30,
        "fuel_per_kwh": 0.2,
        "lead_weeks": 0,
    }
    tables = {
        **full_power(),
        "periods": quarters(),
        "sites": [hall(**(place or {})), cloud()],
        "site_power": GRID,
        "offers": [purchase(price=10_000), rental(price=20)],
        "demand": demand(YEAR, 2),
        "bridging_power": [plain | terms],
    }
    return scenario(tables | (more or {}))


@pytest.mark.slow
def test_a_generator_bridges_until_the_grid_is_there():
    # 20 kW for six months at 30, their fuel, two boxes; from July on the grid is free. Hosted they would be 173,760.
    plan = solved(bridged(min_term_months=24))
    # The shortest rent holds the generator to the end of the year and another twelve months after it.
    assert line(plan, "bridge_rent") == pytest.approx(20 * 30 * 12)
    assert line(plan, "bridge_fuel") == pytest.approx(FUEL * HALF)
    assert plan.headline["total_cost"] == pytest.approx(20_000 + 7_200 + FUEL * HALF)
    assert units(plan) == {("purchase", "2027-Q1"): 2}
    rented = plan["bridging"].set_index("period")
    assert rented["hired_kw"].tolist() == [20, 0, 0, 0]
    assert rented["kwh"].tolist() == pytest.approx([20 * HOURS["2027-Q1"], 20 * HOURS["2027-Q2"], 0, 0])
    assert rented["owed_after_horizon"].tolist() == pytest.approx([20 * 30 * 12, 0, 0, 0])
    assert plan.headline["liability_after_horizon"] == pytest.approx(7_200)
    energy_of = plan["energy"].groupby("period")[["grid_kw", "onsite_kw", "pue"]].max()
    assert energy_of.loc["2027-Q1"].tolist() == [0, 20, 1]
    assert energy_of.loc["2027-Q3"].tolist() == [20, 0, 1]
    assert audit_plan(plan).passed
    for name, column, factor, check in (
        ("bridging", "kw", 10, "bridge_limit"),
        ("bridging", "hired_kw", 1.1, "bridge_hire"),
        ("bridging", "kw", 0.5, "bridge_output"),
        ("bridge_output", "kw", 1.1, "grid_power"),
    ):
        assert fails(plan, check, name, plan[name].assign(**{column: plan[name][column] * factor}))
    assert fails(plan, "bridge_term", "bridging", plan["bridging"].iloc[:2])
    costs = plan["costs"]
    for name in ("bridge_rent", "bridge_fuel"):
        dearer = costs["amount"].where(costs["line"] != name, costs["amount"] * 1.01)
        assert fails(plan, f"cost {name}", "costs", costs.assign(amount=dearer))


def fails(plan: Plan, check: str, name: str, frame: pd.DataFrame) -> bool:
    """Return whether a check fails when one frame of the plan is another."""
    wrong = Plan(plan.headline, {**plan.frames, name: frame}, plan.scenario)
    return not CHECKS[check](Accounts(wrong, Facts(plan.scenario))).passed


@pytest.mark.parametrize(
    ("terms", "cost"),
    [
        # Given back in July, at will.
        ({}, 20_000 + 20 * 30 * 6 + FUEL * HALF),
        # Kept for nine months.
        ({"min_term_months": 9}, 20_000 + 20 * 30 * 9 + FUEL * HALF),
        # Kept for seven: given back in July and paid to the end of it.
        ({"min_term_months": 7}, 20_000 + 20 * 30 * 7 + FUEL * HALF),
        # There from April on; hosted until then.
        ({"lead_weeks": 13}, 20_000 + 40 * HOURS["2027-Q1"] + 20 * 30 * 3 + FUEL * HOURS["2027-Q2"]),
        # Gone by the end of March: a box in the hall needs power from then on, so both come in July.
        ({"until_date": "2027-03-31"}, 20_000 + 40 * HALF),
        # Dearer than a hosted unit: 30 an hour of fuel for a box against 20. Nothing is bought before July.
        ({"fuel_per_kwh": 3}, 20_000 + 40 * HALF),
        # Room for one box only.
        ({"max_kw": 10}, 20_000 + 20 * HALF + 10 * 30 * 6 + FUEL / 2 * HALF),
    ],
)
def test_it_is_rented_while_it_is_cheapest(terms: dict[str, Any], cost: float):
    assert least_cost(bridged(**terms)) == pytest.approx(cost)


def test_headroom_is_kept_free_of_rented_power_too():
    case = bridged(place={"headroom_fraction": 0.2})
    assert least_cost(case) == pytest.approx(20_000 + 25 * 30 * 6 + FUEL * HALF)


def test_it_stands_beside_a_path_that_is_late_and_opens_the_site():
    gear = {"site": "hall", "module": "gear", "item": "gear", "kw": 100, "lead_weeks": 26, "cost": 500}
    power = [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 100}]
    case = bridged(more={"site_modules": [gear], "site_power": power}, place={"opening_cost": 1_000})
    assert least_cost(case) == pytest.approx(20_000 + 500 + 1_000 + 20 * 30 * 6 + FUEL * HALF)
    closed = bridged(place={"opening_cost": 1_000})
    assert least_cost(closed) == pytest.approx(20_000 + 1_000 + 20 * 30 * 6 + FUEL * HALF)


def test_it_runs_on_where_the_grid_is_dearer():
    # 0.2 a kWh and 30 a kW-month against 1.0: rented all year, and nothing is drawn.
    case = bridged(more={"tariffs": [energy(price=1.0)]})
    assert least_cost(case) == pytest.approx(20_000 + 20 * 30 * 12 + FUEL * sum(HOURS.values()))


def test_a_kilowatt_of_it_is_worth_its_dual():
    # Ten kW of twenty: one more replaces a tenth of a hosted unit for half a year.
    case = bridged(max_kw=10)
    model = model_of(case)
    found = solve(model.problem, SolveOptions(relax=True))
    dual = found.row_duals[model.problem.row_position("bridge_limit")].sum()
    saved = least_cost_relaxed(case) - least_cost_relaxed(bridged(max_kw=10.5))
    assert saved == pytest.approx(-dual * 0.5)
    assert saved > 0


def test_its_carbon_is_priced_by_the_kilowatt_hour():
    # 500 g at 100 a tonne are 0.05 a kWh.
    case = bridged(gco2_per_kwh=500)
    case = replace(case, settings=case.settings.model_copy(update={"carbon_price_per_t": 100}))
    made = build_coefficients(case, operating_points(case)).costs["bridge_run_kw"]
    by_line = made.groupby(["line", "period"])["amount"].sum()
    assert by_line["bridge_carbon", "2027-Q1"] == pytest.approx(0.05 * HOURS["2027-Q1"])
    assert by_line["bridge_fuel", "2027-Q1"] == pytest.approx(0.2 * HOURS["2027-Q1"])


@pytest.mark.slow
def test_the_workbook_calculates_the_cost_of_a_plan_with_generation(tmp_path: Path):
    plan = solved(bridged(min_term_months=7))
    tail = plan["bridge_tails"].iloc[0]
    assert tail[["begun_period", "period", "kw", "months", "rent"]].tolist() == [
        *("2027-Q1", "2027-Q3", 20, 1, 600)
    ]
    assert audit_plan(plan).passed
    assert fails(plan, "bridge_tail", "bridge_tails", plan["bridge_tails"].assign(kw=21.0))
    assert failed_checks(plan, tmp_path) == []


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"site": "cloud"}, r"bridging_power.*column site.*a cloud site has no power of its own"),
        ({"lead_weeks_low": 5}, r"column lead_weeks_low.*must not be above lead_weeks 0"),
        ({"max_kw": 0}, r"column max_kw"),
        ({"rent_per_kw_month": None}, r"column rent_per_kw_month"),
        ({"min_term_months": 0}, r"column min_term_months"),
    ],
)
def test_terms_that_contradict_are_refused(terms: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        bridged(**terms)


def test_carbon_that_counts_has_to_be_stated():
    assert any("the reported carbon is too low" in str(said) for said in bridged().warnings)
    assert not any(
        "the reported carbon is too low" in str(said) for said in bridged(gco2_per_kwh=500).warnings
    )
    limit = {"limit": "all", "kind": "carbon_t", "amount": 10}
    with pytest.raises(
        InputError, match=r"column gco2_per_kwh.*needed, because carbon has a price or a limit"
    ):
        bridged(more={"resource_limits": [limit]})
