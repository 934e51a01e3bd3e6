"""What the diagnosis names makes a plan possible: every relief is applied, as its reader would, and planned again."""

from __future__ import annotations

import pytest
from infeasible_cases import CASES

from planner.inputs import Scenario
from planner.inputs.changed import changed_scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan import Plan

QUICK = ("power after headroom", "budget that whole units miss", "residency", "late, then short of power")
"""Of the default suite: one of each kind (rows, whole units, missing columns, both)."""


def diagnosed(case: Scenario) -> Plan:
    plan = run_plan(case, RunOptions(baselines=False))
    assert plan.status == "infeasible"
    return plan


def relieved(case: Scenario, plan: Plan, relief: str) -> Plan:
    """Return the plan of a case with every cell of a relief changed."""
    cells = plan["reliefs"]
    own = cells.loc[cells["relief"] == relief, "set"].tolist()
    return run_plan(changed_scenario(case, own), RunOptions(baselines=False, audit=True))


def assert_every_relief_gives_a_plan(case: Scenario) -> None:
    plan = diagnosed(case)
    cells = plan["reliefs"]
    assert len(cells)
    assert set(cells["status"]) == {"proven"}
    assert set(plan["shortages"]["relief"]) == set(cells["relief"])
    for relief in cells["relief"].unique():
        after = relieved(case, plan, relief)
        assert after.status in ("optimal", "feasible")
        told = cells.loc[cells["relief"] == relief, "total_cost"].iloc[0]
        assert after.headline["total_cost"] == pytest.approx(told, rel=1e-6)


@pytest.mark.parametrize("name", QUICK)
def test_every_relief_named_gives_a_plan(name: str) -> None:
    assert_every_relief_gives_a_plan(CASES[name]())


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name not in QUICK])
def test_every_relief_of_every_kind_gives_a_plan(name: str) -> None:
    assert_every_relief_gives_a_plan(CASES[name]())
