"""What the diagnosis names makes a plan possible: every relief is applied, as its reader would, and planned again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from infeasible_cases import CASES, drawn
from small_scenarios import YEAR

from planner.inputs import Scenario
from planner.inputs.changed import changed_scenario
from planner.performance import PointSet
from planner.pipeline import RunOptions, diagnosis, run_plan
from planner.pipeline.clash import Clash
from planner.pipeline.diagnosis import reliefs
from planner.pipeline.diagnosis_limits import LIMITS
from planner.pipeline.diagnosis_words import relief_frame, shortage_frame
from planner.pipeline.run import planned
from planner.plan import Plan
from planner.plan.assemble import no_plan
from planner.solve import OutOfTime, SolveOptions

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


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_every_relief_of_a_drawn_scenario_gives_a_plan(seed: int) -> None:
    case = drawn(seed)
    plan = run_plan(case, RunOptions(baselines=False, audit=True))
    if plan.status == "infeasible":
        assert_every_relief_gives_a_plan(case)
    else:
        assert plan.status == "optimal"


def test_a_relief_whose_proof_is_not_finished_is_not_called_proven() -> None:
    case = CASES["power at the meter"]()
    clash = planned(case, RunOptions(baselines=False))
    assert isinstance(clash, Clash)

    def unfinished(changed: Scenario, points: PointSet | None) -> Plan:
        return no_plan(changed, clash.points, "no_solution", shortage_frame(changed, []), "time limit")

    found = reliefs(clash, SolveOptions(gap=0.0), unfinished)
    table = relief_frame(case, found)
    assert set(table["status"]) == {"not proven: not finished: time limit"}
    assert table["total_cost"].isna().all()
    assert table["set"].tolist() == ["site_power/hall|2027-01-01/usable_kw=120"]


def test_a_search_that_the_clock_ends_is_not_finished_and_never_half_a_relief(monkeypatch) -> None:
    clash = planned(CASES["power at the meter"](), RunOptions(baselines=False))
    assert isinstance(clash, Clash)

    def out_of_time(problem, weights, options):
        assert options.node_limit == diagnosis.WHOLE_UNITS_NODES
        raise OutOfTime("the search for the least relief was not finished within its limit")

    monkeypatch.setattr(diagnosis, "least_breach", out_of_time)
    (found,) = reliefs(clash, SolveOptions(gap=0.0, time_limit_s=5.0), lambda changed, points: clash)
    assert found.unproven.startswith("not finished")
    assert found.changes == ()


def test_no_further_alternative_is_begun_after_so_many_columns(monkeypatch) -> None:
    case = CASES["late, then short of power"]()
    clash = planned(case, RunOptions(baselines=False))
    assert isinstance(clash, Clash)
    proofs = []

    def again(changed: Scenario, points: PointSet | None) -> Plan | Clash:
        proofs.append(planned(changed, RunOptions(baselines=False), points))
        return proofs[-1]

    monkeypatch.setattr(diagnosis, "ALTERNATIVE_COLUMNS", 0)
    assert len(reliefs(clash, SolveOptions(gap=0.0), again)) == 1
    assert proofs


@pytest.mark.parametrize(
    ("name", "short_kw", "least"),
    [
        # Of two one carries 50 of 80 kW: a third one (half as many more), not 80 kW each (0.6 more) nor none by.
        ("modules that stand by", 30, "max_modules=3"),
        # Of four, one carries 10 of 30 kW: one by beside three (1 of 5), not none, and not 30 kW each.
        ("two sets of modules that stand by", 20, "redundancy=N+1"),
        # Of three one carries 40 of 80 kW: two carry with one by (half of those by), not 80 kW each (as much again).
        ("modules that stand by, none to order", 40, "redundancy=N+1"),
    ],
)
def test_modules_that_stand_by_give_the_least_that_helps(name: str, short_kw: float, least: str) -> None:
    clash = planned(CASES[name](), RunOptions(baselines=False))
    assert isinstance(clash, Clash)
    rows = pd.DataFrame({"site": "hall", "item": "ups", "period": YEAR[:2], "shortfall": short_kw})
    (change,) = LIMITS["path_power"].cells(clash, rows, np.empty(0))
    assert change.set_text == f"site_modules/hall|ups/{least}"


def test_modules_that_stand_by_are_fewer_by_as_many_as_those_in_place_allow() -> None:
    clash = planned(CASES["two sets of modules that stand by"](), RunOptions(baselines=False))
    assert isinstance(clash, Clash)
    values = np.zeros(clash.model.columns.count)
    carrying = clash.model.columns.frame("carrying")
    values[carrying["column"].to_numpy(int)] = 2.0
    rows = carrying[["site", "module", "period", "day"]].assign(shortfall=2.0)
    (change,) = LIMITS["standby_kept"].cells(clash, rows, values)
    # Two that carry: of four in place two may stand by, as 2N or N+2 keep them.
    assert change.set_text in ("site_modules/hall|ups/redundancy=N+2", "site_modules/hall|ups/redundancy=2N")
    assert change.weight == pytest.approx(0.5)


def test_limits_that_clash_whatever_gives_are_named_and_nothing_is_claimed() -> None:
    clash = planned(CASES["power at the meter"](), RunOptions(baselines=False))
    assert isinstance(clash, Clash)
    found = reliefs(clash, SolveOptions(gap=0.0), lambda changed, points: clash)
    assert all(relief.unproven for relief in found)
    assert "after" in relief_frame(clash.scenario, found)["status"][0]
