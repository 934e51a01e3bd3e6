"""Fairness: where optional demand is left, a later rank keeps a share beside what is served of an earlier one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_scenarios import model_of, short_of_boxes, solved

from planner.plan import audit_plan
from planner.solve import SolveOptions, solve


def left(plan):
    stated = plan["unserved"].set_index("workload")["requests_per_s"]
    return stated.reindex(["gold", "basic"], fill_value=0.0).to_dict()


# Gold (rank 1) and basic (rank 2) have two optional requests/s each; beside the four boxes that must be there two more
# serve one request/s each. A Mtok of basic is worth ten times as much, so without a rule it takes both.
@pytest.mark.parametrize(
    ("rule", "guaranteed", "gold", "basic"),
    [
        ("value", (None, None), 2.0, 0.0),
        ("strict", (None, None), 0.0, 2.0),
        # The earlier rank is served no worse than the later one, and value takes it there: one request/s each.
        ("weighted", (None, None), 1.0, 1.0),
        # A quarter of the share of basic: g = b / 4, and g + b = 2 leaves gold 1.6 short.
        ("value", (0.25, None), 1.6, 0.4),
        # A fifth of the share of gold waits for no rank: 2 x 0.2 = 0.4 at most, worth more, and gold has the rest.
        ("strict", (None, 0.2), 0.4, 1.6),
        ("value", (1.0, None), 1.0, 1.0),
    ],
)
def test_what_is_left_of_each(rule, guaranteed, gold, basic):
    plan = solved(short_of_boxes(6, rule, guaranteed=guaranteed), audit=True)
    assert left(plan) == pytest.approx({"gold": gold, "basic": basic}, abs=1e-6)
    assert plan["checks"]["passed"].all()


def test_weights_keep_the_later_rank_from_starving_where_the_earlier_one_is_worth_more():
    # Value now prefers gold. Basic keeps half the served share of gold: g + b = 2 with b = g / 2.
    dearer = short_of_boxes(6, "weighted")
    rows = dearer.tables["workloads"]
    dearer = replace(
        dearer, tables={**dearer.tables, "workloads": rows.assign(value_per_mtok=[10_000.0, 1_000.0])}
    )
    plan = solved(dearer)
    assert left(plan) == pytest.approx({"gold": 2 - 4 / 3, "basic": 2 - 2 / 3}, abs=1e-6)


def test_the_audit_sees_who_starves():
    plan = solved(short_of_boxes(6))
    for other in (short_of_boxes(6, "weighted"), short_of_boxes(6, guaranteed=(None, 0.2))):
        assert "served_share" in set(audit_plan(replace(plan, scenario=other)).failures["check"])


def relaxed(share):
    model = model_of(short_of_boxes(6, "value", guaranteed=(share, None)))
    return model, solve(model.problem, SolveOptions(relax=True))


def test_the_dual_is_what_one_request_more_to_leave_would_save():
    # On the right stands (1 - x) * 2, and x scales what is left of basic: 0.4 of it at x = 1 / 4.
    model, found = relaxed(0.25)
    dual = model.problem.row_frame("served_share", found.row_duals)["value"].item()
    assert dual < 0.0
    _, more = relaxed(0.2501)
    basic = model.problem.frame("unserved", found.values).set_index("workload")["value"]["basic"]
    expected = dual * 0.0001 * (basic - 2.0)
    assert more.objective - found.objective == pytest.approx(expected, rel=1e-3)
    assert expected > 0.0
