"""Colocation contracts with a ramp, a least rent and a rise, from cases solved by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_scenarios import (
    HOURS,
    YEAR,
    cloud,
    demand,
    hall,
    least_cost,
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

from planner.coefficients.facility.colocation import rent_level
from planner.errors import InputError
from planner.inputs import Scenario
from planner.plan import Plan
from planner.plan.audit import CHECKS, audit_plan
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts
from planner.solve import SolveOptions, solve

RAMP = ((0, 10), (6, 40))


def contracted(
    ramp: tuple[tuple[int, float], ...] = RAMP, rent: float = 100, hosted: float = 20, **terms: Any
) -> Scenario:
    """Return boxes of 10 kW at 10,000 for a hall under contract, or hosted by the hour: two requests/s in 2027."""
    tables = {
        "periods": quarters(),
        "sites": [hall(rent_per_kw_month=rent), cloud()],
        "offers": [purchase(price=10_000), rental(price=hosted)],
        "demand": demand(YEAR, terms.pop("rates", 2)),
        "colo_contracts": [{"site": "hall", **terms}],
        "colo_ramp": [{"site": "hall", "from_month": month, "contracted_kw": kw} for month, kw in ramp],
    }
    return scenario(tables)


GIVEN = {"start_date": "2027-01-01"}


@pytest.mark.slow
def test_rent_is_paid_on_the_larger_of_used_and_contracted_kw():
    # 20 kW used against 10 contracted until June, 40 from July on: 100 x (6 x 20 + 6 x 40), and two boxes.
    plan = solved(contracted(**GIVEN))
    assert line(plan, "facility_rent") == pytest.approx(12 * 20 * 100)
    assert line(plan, "facility_rent_unused") == pytest.approx(6 * 20 * 100)
    assert plan.headline["total_cost"] == pytest.approx(20_000 + 36_000)
    rent = plan["colo_rent"].set_index("month")
    assert rent.loc["2027-06", ["minimum_kw", "used_kw", "rented_kw"]].tolist() == [10, 20, 20]
    assert rent.loc["2027-07", ["minimum_kw", "used_kw", "rented_kw"]].tolist() == [40, 20, 40]
    assert plan.headline["liability_after_horizon"] == 0
    assert audit_plan(plan).passed


def test_a_step_inside_a_period_counts_from_its_month():
    # 40 kW from the fifth month, May, on: two months of the second quarter and six of the half year after it.
    assert least_cost(contracted(ramp=((0, 10), (4, 40)), **GIVEN)) == pytest.approx(
        20_000 + 100 * (12 * 20 + 8 * 20)
    )


def test_a_share_is_taken_and_the_term_ends():
    # Half of the 80 kW contracted from February on are paid at least, from March 2026 for a year: one month of 2027.
    case = contracted(ramp=((0, 10), (11, 80)), start_date="2026-03-01", term_months=12, take_fraction=0.5)
    assert least_cost(case) == pytest.approx(20_000 + 100 * (12 * 20 + 20))


@pytest.mark.slow
def test_rent_rises_on_its_anniversaries():
    # 10 % from April on: three months at 100 and nine at 110, on 20 kW until June and 40 from July.
    case = contracted(escalator_fraction_per_year=0.1, escalator_date="2026-04-01", **GIVEN)
    plan = solved(case)
    assert line(plan, "facility_rent") == pytest.approx(20 * (3 * 100 + 9 * 110))
    assert line(plan, "facility_rent_unused") == pytest.approx(20 * 6 * 110)
    assert audit_plan(plan).passed
    days = pd.Series(pd.to_datetime(["2027-01-01", "2028-01-01", "2029-12-31"]))
    row = {"escalator_fraction_per_year": 0.1, "escalator_date": pd.NaT, "start_date": pd.NaT}
    assert rent_level(row, days[0], days) == pytest.approx([1.0, 1.1, 1.21])


@pytest.mark.slow
def test_a_rise_alone_needs_no_ramp():
    case = contracted(ramp=(), escalator_fraction_per_year=0.1, escalator_date="2026-07-01")
    plan = solved(case)
    assert line(plan, "facility_rent") == pytest.approx(20 * (6 * 100 + 6 * 110))
    assert plan["rent_levels"]["level"].tolist() == pytest.approx([1, 1, 1.1, 1.1])


OPENED = {"ramp": ((0, 100),), "rent": 50, "hosted": 5, "rates": [1, 1, 4, 4], "term_months": 18}


@pytest.mark.slow
def test_a_contract_that_starts_with_the_site_is_signed_when_it_pays():
    # 100 kW at 50 are 15,000 a quarter. One hosted unit costs 5 x 4,344 in the first half year, less than 30,000; four
    # cost 88,320 in the second, more than 30,000 and four boxes. Signed in July for 18 months, 12 of them remain.
    plan = solved(contracted(**OPENED))
    assert units(plan) == {
        ("rental", "2027-Q1"): 1,
        ("rental", "2027-Q2"): 1,
        ("purchase", "2027-Q3"): 4,
    }
    assert line(plan, "facility_rent_unused") == pytest.approx(6 * 60 * 50)
    assert plan.headline["total_cost"] == pytest.approx(
        5 * (HOURS["2027-Q1"] + HOURS["2027-Q2"]) + 30_000 + 40_000
    )
    owed = plan["colo_contracts"].iloc[0]
    assert (owed["start_period"], owed["months_after_horizon"]) == ("2027-Q3", 12)
    assert owed["owed_after_horizon"] == pytest.approx(12 * 100 * 50)
    assert owed["owed_unused_after_horizon"] == pytest.approx(12 * 60 * 50)
    assert plan.headline["liability_after_horizon"] == pytest.approx(60_000)
    assert audit_plan(plan).passed
    for name, column, check in (
        ("colo_rent", "unused_kw", "rent_minimum"),
        ("colo_contracts", "owed_after_horizon", "colo_contracts"),
    ):
        assert fails(plan, check, name, plan[name].assign(**{column: plan[name][column] * 1.01}))
    costs = plan["costs"]
    dearer = costs["amount"].where(costs["line"] != "facility_rent_unused", costs["amount"] * 1.01)
    assert fails(plan, "cost facility_rent_unused", "costs", costs.assign(amount=dearer))


def fails(plan: Plan, check: str, name: str, frame: pd.DataFrame) -> bool:
    """Return whether a check fails when one frame of the plan is another."""
    wrong = Plan(plan.headline, {**plan.frames, name: frame}, plan.scenario)
    return not CHECKS[check](Accounts(wrong, Facts(plan.scenario))).passed


def test_months_of_a_ramp_count_from_the_opening():
    # As above with 10 kW for the first three months and 100 after: 40 kW used in the third quarter, 100 owed in the
    # fourth. Signed a quarter earlier it would owe 100 from July on, and 10 in the second quarter for one box.
    case = contracted(**(OPENED | {"ramp": ((0, 10), (3, 100)), "rates": [0.5, 0.5, 4, 4], "hosted": 0.2}))
    assert least_cost(case) == pytest.approx(
        min(0.2 * (4_344 + 4 * 4_416), 0.2 * 4_344 + 40_000 + 50 * 3 * 140)
    )
    dear = contracted(**(OPENED | {"ramp": ((0, 10), (3, 100))}))
    # One box from the second quarter on saves 5 x 2,184 and costs 3 x 10 x 50 then and 3 x 60 x 50 in the third.
    late = 5 * 4_344 + 40_000 + 50 * 3 * (40 + 100)
    early = 5 * 2_160 + 40_000 + 50 * 3 * (10 + 100 + 100)
    first = 40_000 + 50 * 3 * (10 + 100 + 100 + 100)
    assert least_cost(dear) == pytest.approx(min(late, early, first))


@pytest.mark.slow
def test_no_more_stands_than_is_contracted_where_more_is_refused():
    # 20 kW for the first half year, then 40: of four requests/s two are hosted until July.
    case = contracted(ramp=((0, 20), (6, 40)), beyond="refused", rates=4, **GIVEN)
    plan = solved(case)
    assert units(plan) == {
        ("purchase", "2027-Q1"): 2,
        ("purchase", "2027-Q3"): 2,
        ("rental", "2027-Q1"): 2,
        ("rental", "2027-Q2"): 2,
    }
    assert audit_plan(plan).passed
    fleet = plan["fleet"]
    more = fleet["units"].where(fleet["site"] != "hall", fleet["units"] + 1)
    assert fails(plan, "contracted_power", "fleet", fleet.assign(units=more))
    # The same where the contract starts with the opening, here at once.
    assert least_cost(contracted(ramp=((0, 20), (6, 40)), beyond="refused", rates=4)) == pytest.approx(
        plan.headline["total_cost"]
    )


def test_a_kilowatt_of_minimum_costs_its_dual():
    # Six months of the second step at 100: each month's row has the month's rent as its dual.
    base = contracted(**GIVEN)
    model = model_of(base)
    found = solve(model.problem, SolveOptions(relax=True))
    block = model.problem.row_block("rent_minimum")
    dual = found.row_duals[model.problem.row_position("rent_minimum")]
    by_month = pd.Series(dual, index=block.labels["month"])
    assert by_month.loc["2027-07":].to_numpy() == pytest.approx(np.full(6, 100.0))
    assert by_month.loc[:"2027-06"].to_numpy() == pytest.approx(np.zeros(6))
    more = least_cost(contracted(ramp=((0, 10), (6, 41)), **GIVEN))
    assert more - least_cost(base) == pytest.approx(by_month.sum())


@pytest.mark.slow
def test_the_workbook_calculates_the_cost_of_a_plan_with_a_contract(tmp_path: Path):
    terms = OPENED | {"escalator_fraction_per_year": 0.1, "escalator_date": "2026-10-01"}
    assert failed_checks(solved(contracted(**terms)), tmp_path) == []


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"site": "cloud"}, r"colo_contracts.*column site.*a site of kind cloud pays no rent"),
        ({"ramp": (), "term_months": 12}, r"column term_months.*needs rows of the site in colo_ramp"),
        ({"escalator_date": "2027-04-01"}, r"column escalator_fraction_per_year.*needed, because"),
        ({"start_date": "2028-01-01"}, r"column start_date.*after the horizon, which ends 2028-01-01"),
        ({"take_fraction": 1.2}, r"column take_fraction"),
        ({"term_months": 0}, r"column term_months"),
        ({"beyond": "maybe"}, r"column beyond.*allowed, refused"),
        ({"escalator_fraction_per_year": 0.8}, r"column escalator_fraction_per_year"),
    ],
)
def test_terms_that_contradict_are_refused(terms: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        contracted(**terms)
