"""Losses solved by hand: how much stands where, so that the critical part survives each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import small_scenarios as case

from planner.coefficients import build_coefficients
from planner.coefficients.service.failures import failures
from planner.formulation.build import build_model
from planner.formulation.joining import EmptyRow
from planner.performance import operating_points
from planner.pipeline import run_plan
from planner.solve import SolveOptions, solve

CHEAP, DEAR = 60_000.0, 100_000.0
PERIOD = case.YEAR[:1]


def two_halls(critical: float, cases: list[dict[str, Any]], rate: float = 4.0, **more: Any) -> Any:
    """Return 4 requests/s and boxes of one: 60,000 in the cheap hall, 100,000 in the dear one."""
    tables = {
        "periods": case.quarters(1),
        "regions": [case.region(), case.region("away")],
        "climate": [row | {"region": place} for place in ("home", "away") for row in case.mild()],
        "products": [case.box()],
        "offers": [
            case.purchase("cheap", price=CHEAP, regions="home"),
            case.purchase("dear", price=DEAR, regions="away"),
        ],
        "sites": [case.hall("one"), case.hall("two", region="away")],
        "workloads": [case.workload(critical_fraction=critical)],
        "demand": case.demand(PERIOD, rate),
        "failure_cases": cases,
    }
    return case.scenario(tables | more)


def loss(kind: str, name: str = "loss", **more: Any) -> dict[str, Any]:
    return {"failure_case": name, "loss": kind, **more}


@pytest.mark.parametrize(
    ("critical", "cases", "cheap", "dear"),
    [
        # Nothing critical: all in the cheap hall.
        (0.0, [loss("each_site")], 4, 0),
        # Half survives the loss of either: 2 in each hall serve all 4 together.
        (0.5, [loss("each_site")], 2, 2),
        # Three quarters: each hall alone serves 3, in whole boxes.
        (0.75, [loss("each_site")], 3, 3),
        # Only the cheap hall may be lost: the dear one holds the critical two, the cheap one the rest.
        (0.5, [loss("site", site="one")], 2, 2),
        (0.25, [loss("site", site="one")], 3, 1),
        # N+1: with any one box gone four are left.
        (1.0, [loss("units", units=1)], 5, 0),
        # N+2 of half: 4 boxes serve all, two gone leave the critical two.
        (0.5, [loss("units", units=2)], 4, 0),
        # N+3 of all: three boxes more in one hall, or four in each: 7 x 60,000 against 4 x 160,000.
        (1.0, [loss("units", units=3)], 7, 0),
    ],
)
def test_what_stands_where_by_hand(critical, cases, cheap, dear):
    assert case.least_cost(two_halls(critical, cases)) == pytest.approx(cheap * CHEAP + dear * DEAR)


def test_the_dual_of_critical_demand_is_the_difference_it_makes():
    def relaxed(critical: float):
        model = case.model_of(two_halls(critical, [loss("each_site")]))
        return model, solve(model.problem, SolveOptions(relax=True))

    model, found = relaxed(0.6)
    _, more = relaxed(0.61)
    duals = model.problem.row_frame("failure_service", found.row_duals)
    assert (duals["value"] >= -1e-9).all()
    assert duals["value"].sum() * 0.01 * 4.0 == pytest.approx(more.objective - found.objective, rel=1e-6)


def test_a_pool_with_fewer_units_than_are_lost_counts_for_nothing():
    model = case.model_of(two_halls(1.0, [loss("units", units=3)]))
    solution = solve(model.problem, SolveOptions(gap=0.0))
    used = model.problem.frame("failure_pool", solution.values)
    dear = used[used["failure"] == "loss: box at two, air"]
    assert np.allclose(dear["value"], 0.0)


def test_a_loss_that_leaves_nothing_in_reach_is_named():
    scenario = two_halls(1.0, [loss("each_site")], sites=[case.hall("one")])
    with pytest.raises(EmptyRow) as caught:
        build_model(build_coefficients(scenario, operating_points(scenario)))
    assert caught.value.family == "failure_service"
    assert caught.value.rhs.tolist() == pytest.approx([4.0])
    plan = run_plan(scenario, case.BARE)
    assert plan["reliefs"]["set"].tolist() == ["workloads/chat/critical_fraction=0"]
    assert "capacity that is left after a loss" in plan.headline["message"]


def test_a_block_that_asks_for_less_everywhere_decides_nothing():
    profile = {f"h{hour:02d}": 2.0 if 8 <= hour < 20 else 0.0 for hour in range(24)}
    scenario = two_halls(
        0.5,
        [loss("each_site")],
        profiles=[{"profile": "day", "day_type": "all", **profile, **case.SAID}],
        demand=case.demand(PERIOD, 4.0, profile="day"),
    )
    c = build_coefficients(scenario, operating_points(scenario))
    assert len(c.blocks) > 1
    assert c.failures.critical["block"].nunique() == 1
    assert c.failures.critical["requests_per_s"].max() == pytest.approx(
        0.5 * c.demand["requests_per_s"].max()
    )


def test_units_rented_by_the_hour_make_every_block_decisive():
    scenario = two_halls(0.5, [loss("each_site")])
    c = build_coefficients(scenario, operating_points(scenario))
    hourly = (
        c.rents.assign(rent_step="hour").iloc[:1]
        if len(c.rents)
        else c.stands.iloc[:1].assign(rent_step="hour")
    )
    night = c.demand.assign(block="night", requests_per_s=1.0)
    both = failures(scenario, case.stacked(c.demand, night), c.shapes, c.workloads, c.stands, hourly)
    plain = failures(scenario, case.stacked(c.demand, night), c.shapes, c.workloads, c.stands, c.rents)
    assert both.critical["block"].nunique() == plain.critical["block"].nunique() + 1
