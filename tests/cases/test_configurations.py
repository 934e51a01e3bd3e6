"""How many engines and chips a workload runs on: limited by the settings, priced by qualifications."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from small_scenarios import (
    SAID,
    box,
    cloud,
    demand,
    line,
    model_of,
    point,
    quarters,
    rental,
    scenario,
    shape,
    solved,
    workload,
)
from test_quality_gates import ERA, engine
from test_token_services import MODEL
from workbook_checks import failed_checks

from planner.errors import InputError
from planner.formulation.build import PlanModel
from planner.formulation.pulp_face import PlanProblem
from planner.inputs import Scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan.audit import audit_plan
from planner.plan.audit.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts
from planner.solve import SolveOptions, solve

Row = dict[str, Any]
HOURS = 2_160
"""Hours of the first quarter of 2027."""

RATES = {"box": 10.0, "middle": 6.0, "slim": 2.0}
PRICES = {"box": 10.0, "middle": 6.6, "slim": 2.4}


def served(
    rate: float = 18.0,
    priced: list[Row] | None = None,
    tables: dict[str, list[Row]] | None = None,
    **settings: Any,
) -> Scenario:
    """Return a quarter of some requests/s on three kinds of unit rented whole: 10, 6 and 2 a second at 10, 6.6, 2.4."""
    return scenario(
        {
            "periods": quarters(1),
            "sites": [cloud()],
            "models": [MODEL],
            "software_eras": [ERA],
            "engines": [engine("whole", "bf16", 1.0)],
            "products": [box(name) for name in RATES],
            "workloads": [workload(model="dense-8b")],
            "shapes": [shape(input_tokens=500, output_tokens=100)],
            "operating_points": [
                point(name, rate, model="dense-8b", engine="whole") for name, rate in RATES.items()
            ],
            "offers": [rental(name, product=name, price=PRICES[name], rent_step="period") for name in RATES],
            "demand": demand(["2027-Q1"], rate),
            "qualifications": [row | SAID for row in priced or []],
        }
        | (tables or {}),
        **settings,
    )


def used(plan: Any) -> set[str]:
    frame = plan["configurations"]
    return set(frame.loc[frame["runs"], "chip"])


@pytest.mark.parametrize(
    ("limit", "per_hour", "kinds"),
    [
        # 18 = 10 + 6 + 2: one of each, 10 + 6.6 + 2.4 = 19.
        (None, 19.0, {"box", "middle", "slim"}),
        (3, 19.0, {"box", "middle", "slim"}),
        # Of two kinds: 10 + 4 x 2 = 19.6; 3 x 6 = 19.8; 10 + 2 x 6 = 23.2; 2 x 6 + 3 x 2 = 20.4.
        (2, 19.6, {"box", "slim"}),
        # Of one kind: 3 x 6.6 = 19.8; 2 x 10 = 20; 9 x 2.4 = 21.6.
        (1, 19.8, {"middle"}),
    ],
)
def test_a_limit_costs_what_the_best_of_so_many_kinds_costs(limit, per_hour, kinds, tmp_path):
    plan = solved(served(max_configurations_per_workload=limit))
    assert plan.headline["total_cost"] == pytest.approx(per_hour * HOURS)
    assert used(plan) == kinds
    assert audit_plan(plan).passed
    metrics = plan["metrics"].set_index("metric")
    assert metrics.loc["configurations in use", "value"] == len(kinds)
    assert not failed_checks(plan, tmp_path)


def test_the_cost_of_the_limit_is_printed():
    plan = run_plan(served(max_configurations_per_workload=1), RunOptions())
    assert plan.headline["configuration_limit_cost"] == pytest.approx((19.8 - 19.0) * HOURS)
    assert any("costs 1,728 USD" in said for said in plan.headline["warnings"])
    assert "configuration_limit_cost" not in run_plan(served(), RunOptions()).headline


def apart(mixed: bool = True, **settings: Any) -> Scenario:
    """Return prompts on the box and answers on the middle, at 4 an hour each, or both on the slim at 10."""
    phases = {"box": "prefill", "middle": "decode"} | ({"slim": "mixed"} if mixed else {})
    points = [
        point(name, 18.0, model="dense-8b", engine="whole", phase=phase) for name, phase in phases.items()
    ]
    prices = {"box": 4.0, "middle": 4.0, "slim": 10.0}
    tables = {
        "operating_points": points,
        "offers": [rental(name, product=name, price=prices[name], rent_step="period") for name in phases],
    }
    return served(tables=tables, **settings)


def relaxed(model: PlanModel, family: str, more: float = 0.0) -> tuple[float, float]:
    """Return objective and dual of the one row of a family, relaxed, its right side so much higher."""
    rows = [replace(row, rhs=row.rhs + more) if row.family == family else row for row in model.problem.rows]
    problem = PlanProblem("relaxed", model.columns, rows, model.numerator, model.numerator_constant)
    found = solve(problem, SolveOptions(relax=True))
    return found.objective, problem.row_frame(family, found.row_duals)["value"].item()


def test_the_dual_of_the_limit_is_what_a_little_more_of_it_saves():
    # Apart takes two of 1 / 1.01, together one: 0.01 of the requests go apart, which saves 10 - 8 an hour.
    model = model_of(apart(max_configurations_per_workload=1))
    cost, dual = relaxed(model, "configuration_limit")
    assert cost == pytest.approx((10.0 - 2.0 * 0.01) * HOURS)
    assert dual == pytest.approx(-2.0 * 1.01 * HOURS)
    assert relaxed(model, "configuration_limit", 0.1)[0] - cost == pytest.approx(0.1 * dual)


def test_the_dual_of_use_is_what_a_request_less_to_qualify_for_saves():
    case = served(priced=[{"qualification": "any", "cost": 1_000}], tables={"offers": [box_alone()]})
    model = model_of(case)
    cost, dual = relaxed(model, "configuration_use")
    assert dual == pytest.approx(-1_000 / (1.01 * 18.0))
    assert relaxed(model, "configuration_use", 0.1)[0] - cost == pytest.approx(0.1 * dual)


def box_alone() -> Row:
    return rental("box", product="box", price=10.0, rent_step="period")


def test_a_limit_that_leaves_no_plan_is_relieved():
    plan = run_plan(apart(mixed=False, max_configurations_per_workload=1), RunOptions())
    assert plan.status == "infeasible"
    assert "settings/max_configurations_per_workload=2" in str(plan["reliefs"].to_dict("records"))


def test_what_a_configuration_costs_is_paid_once_where_it_pays(tmp_path):
    # A third kind saves 0.6 an hour (1,296 in the quarter), a second 0.2 (432).
    rows = [{"qualification": "any", "cost": 1_000}]
    plan = solved(served(priced=rows))
    # One kind 19.8 h + 1,000; two 19.6 h + 2,000; three 19 h + 3,000: in steps of 432 and 1,296.
    assert used(plan) == {"middle"}
    assert line(plan, "qualification") == pytest.approx(1_000)
    assert plan.headline["total_cost"] == pytest.approx(19.8 * HOURS + 1_000)
    assert audit_plan(plan).passed
    assert not failed_checks(plan, tmp_path)
    cheap = solved(served(priced=[{"qualification": "any", "cost": 400}]))
    assert used(cheap) == {"box", "middle", "slim"}
    assert line(cheap, "qualification") == pytest.approx(1_200)


def test_a_second_row_of_one_configuration_is_refused():
    rows = [{"qualification": name, "engine": "whole", "cost": 5} for name in ("one", "two")]
    with pytest.raises(InputError) as caught:
        served(priced=rows)
    (fault,) = caught.value.faults
    assert fault.column == "qualification"
    assert "the same workload, engine and chip" in str(fault)


@pytest.mark.parametrize(
    ("row", "column"), [({"cost": -1}, "cost"), ({"cost": 1, "engine": "wohle"}, "engine"), ({}, "cost")]
)
def test_a_qualification_costs_something_stated_of_an_engine_there_is(row, column):
    with pytest.raises(InputError) as caught:
        served(priced=[{"qualification": "any"} | row])
    assert [fault.column for fault in caught.value.faults] == [column]


def test_the_row_that_names_most_counts_and_of_equals_the_dearer():
    rows = [
        {"qualification": "any", "cost": 1_000},
        {"qualification": "engine", "engine": "whole", "cost": 500},
        {"qualification": "chip", "workload": "chat", "cost": 600},
        {"qualification": "both", "engine": "whole", "workload": "chat", "cost": 0},
    ]
    # Three kinds at 600 each save 1,728 on one kind.
    assert line(solved(served(priced=rows[:3])), "qualification") == pytest.approx(1_800)
    assert line(solved(served(priced=rows)), "qualification") == 0.0


def test_the_audit_counts_and_prices_configurations_itself():
    plan = solved(served(max_configurations_per_workload=3))

    def passes(check: str, frames: Any = None, **settings: Any) -> bool:
        case = served(**({"max_configurations_per_workload": 3} | settings))
        changed = replace(plan, frames={**plan.frames, **(frames or {})}, scenario=case)
        return bool(CHECKS[check](Accounts(changed, Facts(case))).passed)

    assert passes("configuration_limit")
    assert not passes("configuration_limit", max_configurations_per_workload=2)
    assert passes("configuration_use")
    assert not passes("configuration_use", {"configurations": plan["configurations"].iloc[1:]})
    assert not passes("cost qualification", priced=[{"qualification": "any", "cost": 5}])
    assert not passes("configuration_terms", priced=[{"qualification": "any", "cost": 5}])
    assert not passes("configuration_terms", {"configurations": plan["configurations"].assign(cost=1.0)})
