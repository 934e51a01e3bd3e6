"""Units are installed and tested in a hall and on power that exist: from when they serve, and what it costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from small_scenarios import (
    HOURS,
    SAID,
    YEAR,
    box,
    cloud,
    demand,
    hall,
    least_cost,
    model_of,
    purchase,
    quarters,
    rental,
    scenario,
    solved,
)

from planner.formulation.pulp_face import PlanProblem
from planner.inputs import Scenario
from planner.plan import Plan, audit_plan
from planner.plan.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts
from planner.solve import SolveOptions, solve

RATE = 20
PRICE = 10_000
JULY, OCTOBER = "2027-07-01", "2027-10-01"


def power(usable_from: str = "2027-01-01", kw: float = 100.0, **more: object) -> dict[str, object]:
    return {"site": "hall", "from_date": usable_from, "usable_kw": kw} | more


def late_power(*steps: dict[str, object], **tables: object) -> Scenario:
    """Return a year of two boxes of 10 kW: bought (13 weeks with four of installation) for the hall, or rented."""
    plain = {
        "periods": quarters(),
        "sites": [hall(), cloud()],
        "site_power": list(steps),
        "products": [box()],
        "offers": [purchase(price=PRICE, lead_weeks=9, install_weeks=4), rental(price=RATE)],
        "demand": demand(YEAR, 2),
    }
    return scenario(plain | tables, max_blocks=1)


def owned_hall(build_weeks: float, **tables: object) -> Scenario:
    """Return the same at a site of our own whose hall is still to be built."""
    site = hall(kind="owned", build_capex_per_kw=500, build_weeks=build_weeks, build_life_years=15)
    free = [{"cooling": "air", "capex_per_kw": 0, "site": "hall"}]
    return late_power(power(), **({"sites": [site, cloud()], "facility_options": free} | tables))


def rent(count: float, until: int) -> float:
    """Return what so many boxes cost to rent for the first quarters."""
    return count * RATE * sum(HOURS[name] for name in YEAR[:until])


BUILT = 500 * 20 + 2 * PRICE


def transformer(**more: object) -> dict[str, object]:
    return {"site": "hall", "module": "transformer", "item": "transformer", "kw": 100, "cost": 0} | more


def contracted(*steps: tuple[int, float]) -> dict[str, object]:
    """Return a colocation contract from the first day that refuses more than is contracted."""
    return {
        "colo_contracts": [
            {"site": "hall", "start_date": "2027-01-01", "take_fraction": 0, "beyond": "refused"} | SAID
        ],
        "colo_ramp": [{"site": "hall", "from_month": month, "contracted_kw": kw} for month, kw in steps],
    }


FIRST = [
    # Power of 1 July cannot test what is to serve on that day: four weeks of installation begin on 3 June.
    ("power on the first day of a quarter", lambda: late_power(power(JULY)), rent(2, 3) + 2 * PRICE),
    ("power four weeks before", lambda: late_power(power("2027-06-03")), rent(2, 2) + 2 * PRICE),
    ("power a day too late for that", lambda: late_power(power("2027-06-04")), rent(2, 3) + 2 * PRICE),
    (
        "temporary power for the tests",
        lambda: late_power(power("2027-05-01", kw=0, commissioning_kw=20), power(JULY)),
        rent(2, 2) + 2 * PRICE,
    ),
    (
        "temporary power for one box",
        lambda: late_power(power("2027-05-01", kw=0, commissioning_kw=19), power(JULY)),
        rent(2, 2) + rent(1, 3) - rent(1, 2) + 2 * PRICE,
    ),
    # Beside a box that serves on 12 kW no second one of 10 kW can be tested.
    (
        "temporary power beside what serves",
        lambda: late_power(power(kw=12), power(JULY)),
        rent(2, 1) + rent(1, 3) - rent(1, 1) + 2 * PRICE,
    ),
    # 20 weeks: ready on 21 May; 24 weeks: on 18 June, after the racks of a third quarter would come.
    ("a hall ready before", lambda: owned_hall(20), rent(2, 2) + BUILT),
    ("a hall ready meanwhile", lambda: owned_hall(24), rent(2, 3) + BUILT),
    (
        "a module ready before",
        lambda: late_power(power(), site_modules=[transformer(lead_weeks=20)]),
        rent(2, 2) + 2 * PRICE,
    ),
    (
        "a module ready meanwhile",
        lambda: late_power(power(), site_modules=[transformer(lead_weeks=24)]),
        rent(2, 3) + 2 * PRICE,
    ),
    (
        "a module that comes by itself meanwhile",
        lambda: late_power(power(), site_modules=[transformer(cost=None, energised_date="2027-06-18")]),
        rent(2, 3) + 2 * PRICE,
    ),
    # A contract that grows in July takes no rack in June.
    (
        "a contract that grows later",
        lambda: late_power(power(), **contracted((0, 10), (6, 20))),
        rent(2, 1) + rent(1, 3) - rent(1, 1) + 2 * PRICE,
    ),
    # Racks that stand until the end of June are free from July on.
    (
        "racks taken by what leaves",
        lambda: late_power(power(), sites=[hall(racks=2), cloud()], **leaving()),
        rent(2, 3) - rent(2, 2) + 2 * PRICE,
    ),
]


def leaving() -> dict[str, object]:
    """Return two boxes that serve until the end of June."""
    lot = {"fleet": "old", "product": "box", "site": "hall", "cooling": "air", "units": 2}
    return {"fleet": [lot | {"in_service_date": "2023-01-01", "retire_date": JULY}]}


@pytest.mark.parametrize(("case", "cost"), [row[1:] for row in FIRST], ids=[row[0] for row in FIRST])
def test_service_waits_for_hall_and_power_to_install_and_test_on(case, cost):
    assert least_cost(case()) == pytest.approx(cost)


def test_what_has_waited_for_power_is_tested_before_it_serves():
    # On sale in the first quarter only: delivered for April, stored until it can be tested on power of July.
    case = late_power(
        power(JULY),
        sites=[hall(holding_fraction_per_year=0.04), cloud()],
        offers=[
            purchase(price=PRICE, lead_weeks=9, install_weeks=4, available_until="2027-03-31"),
            rental(price=RATE),
        ],
    )
    # Storage of two boxes from April to September: 4 % a year of their price.
    assert least_cost(case) == pytest.approx(rent(2, 3) + 2 * PRICE + 2 * PRICE * 0.04 / 2)


def test_a_unit_that_needs_no_installation_serves_from_the_day_of_power():
    case = late_power(power(JULY), offers=[purchase(price=PRICE, lead_weeks=13), rental(price=RATE)])
    assert least_cost(case) == pytest.approx(rent(2, 2) + 2 * PRICE)
    assert not len(model_of(case).columns.block("unpowered"))


def test_one_more_kw_to_test_on_saves_the_rent_until_the_next_quarter():
    # One more box of 10 kW under test in June saves its rent of the third quarter.
    at_10, at_20 = (
        least_cost(late_power(power("2027-05-01", kw=0, commissioning_kw=kw), power(JULY))) for kw in (10, 20)
    )
    assert at_10 - at_20 == pytest.approx(rent(1, 3) - rent(1, 2))


BINDING = {
    "commissioning_power": "temporary power for one box",
    "commissioning_path": "a module that comes by itself meanwhile",
    "commissioning_hall": "a hall ready meanwhile",
    "commissioning_contract": "a contract that grows later",
    "commissioning_racks": "racks taken by what leaves",
}
"""Family -> the case in which it decides when something serves."""


@pytest.mark.parametrize(("family", "name"), BINDING.items())
def test_a_dual_is_the_difference_of_least_cost_on_either_side(family, name):
    """A kW or a rack position more, or less, on the day whose row costs most; less than none leaves no plan."""
    case = next(make for label, make, _ in FIRST if label == name)
    model = model_of(case())
    found = solve(model.problem, SolveOptions(relax=True))
    duals = found.row_duals[model.problem.row_position(family)]
    row = int(np.argmin(duals))

    def least_cost_with(more: float) -> float:
        rows = [
            replace(block, rhs=block.rhs + more * (np.arange(len(block)) == row))
            if block.family == family
            else block
            for block in model.problem.rows
        ]
        moved = PlanProblem("moved", model.columns, rows, model.value, model.value_constant)
        solution = solve(moved, SolveOptions(relax=True))
        return solution.objective if solution.status == "optimal" else np.inf

    step = 0.01
    left = (found.objective - least_cost_with(-step)) / step
    right = (least_cost_with(step) - found.objective) / step
    tolerance = 1e-6 * abs(duals[row])
    assert duals[row] < -1.0, "the limit does not bind, so the case shows nothing"
    assert left - tolerance <= duals[row] <= right + tolerance


def test_stored_units_say_when_the_last_of_them_is_powered_and_serves():
    # Two boxes of March; 10 kW from July test and serve one from October, the other from January.
    steps = [power(kw=0), power(JULY, kw=10), power(OCTOBER)]
    following = {"period": "2028-Q1", "start_date": "2028-01-01", "months": 3}
    plan = solved(
        late_power(
            *steps,
            periods=[*quarters(), following],
            sites=[hall(holding_fraction_per_year=0.04), cloud()],
            demand=demand([*YEAR, "2028-Q1"], 2),
            offers=[
                purchase(price=PRICE, lead_weeks=9, install_weeks=4, available_until="2027-03-31"),
                rental(price=RATE),
            ],
        )
    )
    assert audit_plan(plan).passed
    bought = plan["orders"].set_index("offer").loc["purchase"]
    assert (bought["delivery_terms"], bought["stored_units"]) == ("stored until powered", 2)
    days = bought[["delivery_by_date", "hall_ready_date", "power_ready_date", "in_service_date"]]
    assert [day.date().isoformat() for day in days] == [
        "2027-03-04",
        "2027-09-03",
        "2027-09-03",
        "2028-01-01",
    ]
    held = plan["unpowered"]
    early = held.assign(units=held["units"].where(held["period"] != "2027-Q4", 0.0))
    wrong = replace(plan, frames={**plan.frames, "unpowered": early[early["units"] > 0]})
    assert not CHECKS["order_dates"](Accounts(wrong, Facts(plan.scenario))).passed


@pytest.fixture(scope="module")
def tested() -> Plan:
    """Return the plan of two boxes tested on 20 kW of temporary power."""
    return solved(late_power(power("2027-05-01", kw=0, commissioning_kw=20), power(JULY)))


def failing(plan: Plan, **tables: pd.DataFrame) -> set[str]:
    """Return the checks of commissioning that fail once the inputs are changed."""
    scenario = replace(plan.scenario, tables={**plan.scenario.tables, **tables})
    books = Accounts(replace(plan, scenario=scenario), Facts(scenario))
    return {name for name in CHECKS if name.startswith("commissioning_") and not CHECKS[name](books).passed}


def test_the_audit_finds_units_tested_on_power_that_is_not_there(tested):
    assert audit_plan(tested).passed
    table = tested.scenario.tables["site_power"]
    assert not failing(tested)
    assert failing(tested, site_power=table.assign(commissioning_kw=float("nan"))) == {"commissioning_power"}
    assert failing(tested, site_power=table.assign(commissioning_kw=19.0)) == {"commissioning_power"}
    late = table.assign(
        from_date=table["from_date"].replace(pd.Timestamp("2027-05-01"), pd.Timestamp("2027-06-04"))
    )
    assert failing(tested, site_power=late) == {"commissioning_power"}


def test_the_audit_finds_racks_that_come_before_their_hall_module_or_place():
    sites = {"owned": owned_hall(20), "path": late_power(power(), site_modules=[transformer(lead_weeks=20)])}
    hall_plan, path_plan = solved(sites["owned"]), solved(sites["path"])
    table = hall_plan.scenario.tables["sites"]
    assert failing(hall_plan, sites=table.assign(build_weeks=24.0)) == {"commissioning_hall"}
    assert failing(hall_plan, sites=table.assign(racks=1.0)) == {"commissioning_racks"}
    modules = path_plan.scenario.tables["site_modules"]
    assert failing(path_plan, site_modules=modules.assign(lead_weeks=24.0)) == {"commissioning_path"}


def test_the_audit_finds_racks_that_come_before_the_contract_grows():
    plan = solved(late_power(power(), **contracted((0, 20))))
    ramp = plan.scenario.tables["colo_ramp"]
    later = pd.concat([ramp.assign(contracted_kw=0.0), ramp.assign(from_month=3)], ignore_index=True)
    assert failing(plan, colo_ramp=later) == {"commissioning_contract"}
