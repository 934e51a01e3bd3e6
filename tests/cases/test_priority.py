"""Priority: where something is short, optional demand of a later rank is left first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_scenarios import short_of_boxes, solved

from planner.plan.audit import audit_plan

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
    assert set(ranked.failures["check"]) == {"priority_shares", "priority_order", "same_inputs"}


def test_the_relaxation_serves_no_greater_share_of_a_later_rank():
    plan = solved(short_of_boxes(6), relax=True)
    # Two boxes over four optional requests/s: the same half of either, the most that basic may have.
    assert share(plan) == pytest.approx({"priority 1": 0.5, "priority 2": 0.5}, abs=1e-6)
    assert audit_plan(plan).passed
