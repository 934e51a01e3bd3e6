"""What takes time to start is up before it is needed: units that stand by warm, counted and paid by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from openpyxl import load_workbook
from small_scenarios import (
    SAID,
    YEAR,
    cloud,
    demand,
    hall,
    least_cost,
    model_of,
    purchase,
    quarters,
    rental,
    scenario,
    shape,
    solved,
    units,
    workload,
)
from small_scenarios import point as rate

from planner.errors import InputError
from planner.plan import audit_plan
from planner.solve import SolveOptions, solve
from reports.content import content_of
from reports.latency import sizing_sentences
from reports.workbook import write_workbook

DAYS = 90
"""Days of 2027-Q1."""


def steps(name="steps", night=0.5, day=1.5):
    """Return a day of twelve quiet hours and twelve busy ones."""
    hours = {f"h{hour:02d}": night if hour < 12 else day for hour in range(24)}
    return {"profile": name, "day_type": "all", **hours, **SAID}


def two_levels(delay=None, scaling=None, **more):
    """Return boxes of one request/s at 1 an hour, rented by the hour: 5 are needed for half a day, 15 for the other."""
    tables = {
        "periods": quarters(1),
        "sites": [cloud()],
        "offers": [rental(price=1.0, rent_step="hour")],
        "profiles": [steps()],
        "workloads": [workload(scale_up_delay_s=delay, scaling=scaling)],
        "demand": demand(YEAR[:1], 10.0, profile="steps"),
    }
    return scenario(tables | more, integer_hourly_rent=False)


BUSY = DAYS * 12 * (5 + 15)


# Predictive: the ten boxes of the noon are up a delay ahead, once a day. Reactive: the share of them that load may rise
# by within the delay stands by in all twelve quiet hours; in the busy ones nothing more can come.
@pytest.mark.parametrize(
    ("delay", "scaling", "held"),
    [
        (None, None, 0.0),
        (0, "reactive", 0.0),
        (100, "predictive", 10 * 100 / 3600),
        (3600, "predictive", 10.0),
        (5400, "predictive", 20.0),
        (100, "reactive", 12 * 10 * 100 / 3600),
        (100, None, 12 * 10 * 100 / 3600),
        (3600, "reactive", 12 * 10.0),
    ],
)
def test_a_start_costs_the_hours_that_units_stand_by(delay, scaling, held):
    plan = solved(two_levels(delay, scaling), audit=True)
    assert plan.headline["total_cost"] == pytest.approx(BUSY + DAYS * held)
    assert plan["checks"]["passed"].all()
    assert ("warm_units" in plan.frames) == (held > 0)
    if held:
        warm = plan["warm_units"]
        assert (warm["units"] * warm["hours"]).sum() == pytest.approx(DAYS * held)


def test_averaged_hours_rise_as_the_hours_in_them_do():
    # A ramp of two to sixteen boxes in steps of two from 0 to 8, level from then on, back at midnight: eight rises of
    # two boxes an hour (the first from two at midnight on). In four blocks the same start costs the same.
    hours = {f"h{hour:02d}": float(min(2 * (hour + 1), 16)) for hour in range(24)}
    mean = sum(hours.values()) / 24
    ramp = {
        "profile": "steps",
        "day_type": "all",
        **{name: rate / mean for name, rate in hours.items()},
        **SAID,
    }
    cases = [
        replace_blocks(two_levels(delay, "predictive", profiles=[ramp]), most)
        for most in (0, 4)
        for delay in (0, 1800)
    ]
    fine, fine_held, coarse, coarse_held = (least_cost(case) for case in cases)
    assert fine == pytest.approx(coarse)
    assert fine_held - fine == pytest.approx(DAYS * 7 * 2 / mean * 10 / 2)
    # Of a rise between averaged blocks and inside one the mean is held.
    assert coarse_held - coarse == pytest.approx(fine_held - fine)


def replace_blocks(case, most):
    return replace(case, settings=case.settings.model_copy(update={"max_blocks": most}))


def opposite(delay, **more):
    """Return two workloads that share bought boxes: one needs 15 by night and 5 by day, the other the reverse."""
    names = ("east", "west")
    tables = {
        "periods": quarters(1),
        "sites": [hall()],
        "offers": [purchase(price=100.0)],
        "profiles": [steps("east"), steps("west", 1.5, 0.5)],
        "workloads": [workload(name, scale_up_delay_s=delay, scaling="predictive") for name in names],
        "shapes": [shape(name) for name in names],
        "operating_points": [rate(name=name) for name in names],
        "demand": [row for name in names for row in demand(YEAR[:1], 10.0, name, profile=name)],
    }
    return scenario(tables | more)


@pytest.mark.parametrize(("delay", "bought"), [(0, 20), (900, 23), (3600, 30)])
def test_what_changes_hands_takes_more_bought_units(delay, bought):
    # Twenty boxes at every hour. At noon ten go from west to east: those of east start while west's still serve, 10 x
    # delay / 3600 on top of the twenty (2.5 at a quarter of an hour, so 23).
    plan = solved(opposite(delay), audit=True)
    assert units(plan, "offer") == {"purchase": bought}
    assert plan["checks"]["passed"].all()


def test_bought_units_of_one_workload_stand_loaded_anyway():
    tables = {"sites": [hall()], "offers": [purchase(price=100.0)]}
    costs = [least_cost(two_levels(delay, **tables)) for delay in (0, 3600)]
    assert costs == [pytest.approx(1_500)] * 2


def relaxed(delay, **more):
    model = model_of(two_levels(delay, "reactive", **more))
    return model, solve(model.problem, SolveOptions(relax=True))


def test_the_dual_of_the_buffer_is_what_a_smaller_rise_would_save():
    # Held in 12 hours of 90 days: a box less to hold saves 1,080. A second less of delay is 10 / 3600 boxes less.
    model, found = relaxed(3600)
    dual = model.problem.row_frame("warm_buffer", found.row_duals)["value"].sum()
    assert dual == pytest.approx(-DAYS * 12)
    _, less = relaxed(3599)
    assert less.objective - found.objective == pytest.approx(dual * 10 / 3600)


def test_who_may_wait_for_a_better_hour_waits_for_its_replica():
    model = model_of(
        replace(
            two_levels(3600, workloads=[workload(scale_up_delay_s=3600, deferral_h=2)]),
            settings=two_levels().settings.model_copy(update={"defer_demand": True}),
        )
    )
    assert not len(model.columns.block("warm"))


def test_the_audit_counts_what_has_to_stand_by():
    plan = solved(two_levels(100, "reactive"))
    for frame, check in (("warm_units", "warm_buffer"), ("hourly_ahead", "warm_rent")):
        wrong = plan[frame].assign(units=plan[frame]["units"] * 1.5)
        report = audit_plan(replace(plan, frames={**plan.frames, frame: wrong}))
        assert check in set(report.failures["check"])
    slower = audit_plan(replace(plan, scenario=two_levels(200, "reactive")))
    assert {"warm_buffer", "warm_capacity"} <= set(slower.failures["check"])


def test_the_report_says_what_stands_by(tmp_path):
    plan = solved(two_levels(3600, "predictive"))
    (sentence,) = sizing_sentences(content_of(plan, audit=False))
    assert sentence.endswith("up to 10 units stand by warm for it (predictive), 900 unit-hours.")
    write_workbook(plan, tmp_path / "plan.xlsx")
    cells = [cell.value for row in load_workbook(tmp_path / "plan.xlsx")["Fleet"].iter_rows() for cell in row]
    assert "Units that stand by warm" in cells


def test_scaling_is_one_of_two_words():
    with pytest.raises(InputError, match=r"scaling.*reactive"):
        two_levels(100, "eager")
