"""Units on spot are taken away at short notice: they stand only under work whose class may be interrupted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_scenarios import (
    SAID,
    cloud,
    demand,
    model_of,
    one_hour,
    point,
    rental,
    scenario,
    shape,
    solved,
    units,
    workload,
)

from planner.plan import audit_plan
from planner.solve import SolveOptions, solve


def served(rates, shares, **settings):
    """Return workloads of so many requests/s on boxes of one: 20 an hour, on spot 10 and there 80 % of the time."""
    names = list(rates)
    classes = [
        {
            "service_class": name,
            "meaning": "-",
            "availability_fraction": 0.9,
            "deferral_h": 0,
            "percentile": "p95",
        }
        | {"spot_fraction": shares.get(name)}
        | SAID
        for name in names
    ]
    return scenario(
        {
            "periods": one_hour(),
            "sites": [cloud()],
            "offers": [
                rental("kept", price=20),
                rental("lent", price=10, mode="spot", interruption_fraction=0.2),
            ],
            "service_classes": classes,
            "workloads": [workload(name, service_class=name) for name in names],
            "shapes": [shape(name) for name in names],
            "operating_points": [point(name=name) for name in names],
            "demand": [row for name in names for row in demand(["hour"], rates[name], name)],
        },
        **settings,
    )


# Ten busy boxes. All on spot: 10 / 0.8 = 12.5, thirteen at 10. A quarter may: 7.5 must stay, eight at 20, and the two
# requests left take 2.5 units on spot, three. None may: ten at 20.
@pytest.mark.parametrize(
    ("share", "kept", "lent", "cost"),
    [(None, 0, 13, 130.0), (1.0, 0, 13, 130.0), (0.25, 8, 3, 190.0), (0.0, 10, 0, 200.0)],
)
def test_no_more_than_the_share_of_the_class_is_on_spot(share, kept, lent, cost):
    plan = solved(served({"chat": 10.0}, {"chat": share}))
    held = units(plan, "offer")
    assert (held.get("kept", 0), held.get("lent", 0)) == (kept, lent)
    assert plan.headline["total_cost"] == pytest.approx(cost)
    assert audit_plan(plan).passed


def test_work_that_may_be_interrupted_takes_the_spot_units_of_a_place_it_shares():
    # Six boxes for chat stay; batch's four are 4 / 0.8 = 5 on spot: 6 x 20 + 5 x 10.
    plan = solved(served({"chat": 6.0, "batch": 4.0}, {"chat": 0.0}))
    assert units(plan, "offer") == {"kept": 6, "lent": 5}
    assert plan.headline["total_cost"] == pytest.approx(170.0)


def test_the_audit_sees_spot_units_under_work_that_may_not_be_interrupted():
    plan = solved(served({"chat": 10.0}, {}))
    strict = audit_plan(replace(plan, scenario=served({"chat": 10.0}, {"chat": 0.25})))
    assert "spot_share" in set(strict.failures["check"])
    row = strict.failures.set_index("check").loc["spot_share"]
    assert (row["left"], row["right"]) == (pytest.approx(7.5), pytest.approx(0.0))


def relaxed(share, **changes):
    model = model_of(served({"chat": 10.0}, {"chat": share}, **changes))
    return model, solve(model.problem, SolveOptions(relax=True))


def test_the_dual_is_what_one_more_unit_that_stays_would_save():
    # 7.5 units stay at 20, 2.5 / 0.8 on spot at 10: one more that stays spares 20 less the 12.5 of a unit on spot.
    model, found = relaxed(0.25)
    dual = model.problem.row_frame("spot_share", found.row_duals)["value"].item()
    assert found.objective == pytest.approx(7.5 * 20 + 2.5 / 0.8 * 10)
    assert dual == pytest.approx(-(20 - 12.5))
    # A thousandth more may be on spot: 10 busy units x 0.001 fewer must stay.
    _, more = relaxed(0.251)
    assert more.objective - found.objective == pytest.approx(dual * 10 * 0.001)


def test_without_a_limit_there_is_no_row():
    model, _ = relaxed(None)
    assert "spot_share" not in {block.family for block in model.problem.rows}
