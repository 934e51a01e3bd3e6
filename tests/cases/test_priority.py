"""Priority: where something is short, optional demand of a later rank is left first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_scenarios import model_of, short_of_boxes, solved

from planner.plan.audit import audit_plan
from planner.solve import SolveOptions, solve

pytestmark = pytest.mark.slow


def left(plan):
    stated = plan["unserved"].set_index("workload")["requests_per_s"]
    return stated.reindex(["gold", "basic"], fill_value=0.0).to_dict()


def share(plan):
    rows = plan["metrics"].query("metric == 'served share of optional demand' and period == 'horizon'")
    return rows.set_index("scope")["value"].to_dict()


# Four boxes are for what must be served. Two more serve gold, the next basic, one request/s each.
@pytest.mark.parametrize(
    ("units", "gold", "basic"), [(5, 1.0, 2.0), (6, 0.0, 2.0), (7, 0.0, 1.0), (8, 0.0, 0.0)]
)
def test_the_optional_demand_of_a_later_rank_is_left_first(units, gold, basic):
    plan = solved(short_of_boxes(units))
    assert left(plan) == pytest.approx({"gold": gold, "basic": basic}, abs=1e-6)
    assert share(plan) == pytest.approx({"priority 1": 1 - gold / 2, "priority 2": 1 - basic / 2}, abs=1e-6)
    assert audit_plan(plan).passed


def test_by_value_alone_the_dearer_is_served_and_the_audit_sees_that_the_rank_is_broken():
    plan = solved(short_of_boxes(6, rule="value"))
    assert left(plan) == pytest.approx({"gold": 2.0, "basic": 0.0}, abs=1e-6)
    assert audit_plan(plan).passed
    ranked = audit_plan(replace(plan, scenario=short_of_boxes(6)))
    assert set(ranked.failures["check"]) == {
        "priority_shares",
        "priority_order",
        "same_inputs",
        "stated_terms",
    }


# By value basic goes first as far as it waits for no rank: half of its two, or all; gold has what is left.
@pytest.mark.parametrize(
    ("units", "free", "gold", "basic"),
    [(6, 0.5, 1.0, 1.0), (6, 1.0, 2.0, 0.0), (7, 0.5, 0.0, 1.0), (5, 0.5, 2.0, 1.0), (6, 0.0, 0.0, 2.0)],
)
def test_a_share_of_a_later_rank_waits_for_none(units, free, gold, basic):
    plan = solved(short_of_boxes(units, unranked_fraction=free))
    assert left(plan) == pytest.approx({"gold": gold, "basic": basic}, abs=1e-6)
    assert audit_plan(plan).passed
    if free:
        ranked = audit_plan(replace(plan, scenario=short_of_boxes(units)))
        broken = {"priority_shares", "priority_order"} & set(ranked.failures["check"])
        assert bool(broken) == (gold > 0.0)


def relaxed(free):
    model = model_of(short_of_boxes(6, unranked_fraction=free))
    return model, solve(model.problem, SolveOptions(relax=True))


def test_more_of_a_share_out_of_the_ranks_is_worth_what_its_dual_says():
    # One thousandth more of basic's 2 requests/s waits for no rank: a * O on the right of the row, and by as much less
    # of (1 - a) * O * priority_full on its left.
    (model, found), (_, more) = relaxed(0.25), relaxed(0.251)
    dual = model.problem.row_frame("priority_next", found.row_duals)["value"].item()
    full = model.problem.frame("priority_full", found.values)["value"].item()
    expected = dual * 0.001 * 2.0 * (1.0 - full)
    assert 0.0 < full < 1.0
    assert expected < 0.0
    assert more.objective - found.objective == pytest.approx(expected, rel=2e-3)


def test_what_ranks_leave_that_is_worth_more_is_said():
    (said,) = [text for text in solved(short_of_boxes(6)).headline["warnings"] if "priority_rule" in text]
    assert said.startswith(
        "priority_rule strict leaves 100% of the optional demand of basic (rank 2, 10,000 USD/Mtok) while gold "
        "(rank 1, 1,000) is served"
    )
    for plan in (solved(short_of_boxes(8)), solved(short_of_boxes(6, rule="value"))):
        assert not [text for text in plan.headline["warnings"] if "priority_rule" in text]


def test_the_relaxation_serves_no_greater_share_of_a_later_rank():
    plan = solved(short_of_boxes(6), relax=True)
    # Two boxes over four optional requests/s: the same half of either, the most that basic may have.
    assert share(plan) == pytest.approx({"priority 1": 0.5, "priority 2": 0.5}, abs=1e-6)
    assert audit_plan(plan).passed
