"""A replica that takes two boxes is whole: half of one serves nobody."""

from __future__ import annotations

import pytest
from small_scenarios import SAID, box, cloud, demand, least_cost, point, quarters, rental, scenario, solved

from planner.plan import audit_plan

HOURS = 2_160.0


def pairs(rate: float, **stated):
    """Return a quarter of some requests/s, boxes rented at 20 an hour, a replica of two boxes doing two a second."""
    return scenario(
        {
            "periods": quarters(1),
            "sites": [cloud()],
            "products": [box()],
            "offers": [rental()],
            "operating_points": [
                point(requests_per_s=2.0, chips=2, tensor_parallel=1, pipeline_parallel=2) | stated
            ],
            "demand": demand(["2027-Q1"], rate),
        }
    )


@pytest.mark.parametrize(("rate", "boxes"), [(1.0, 2), (2.0, 2), (3.0, 4), (4.5, 6)])
def test_replicas_of_two_boxes_come_in_pairs_of_boxes(rate, boxes):
    assert least_cost(pairs(rate)) == pytest.approx(boxes * 20 * HOURS)


def test_the_rate_of_a_system_is_not_one_replica():
    # Without a pipeline size the row may be two replicas side by side: three boxes do three a second.
    assert least_cost(pairs(3.0, pipeline_parallel=None)) == pytest.approx(3 * 20 * HOURS)


def test_the_plan_says_how_many_replicas_stand_and_the_audit_counts_them_again():
    plan = solved(pairs(3.0))
    (row,) = plan["replicas"].to_dict("records")
    assert (row["product"], row["units_per_replica"], row["replicas"]) == ("box", 2.0, 2.0)
    assert plan["orders"]["units"].sum() == 4
    checks = audit_plan(plan).checks.set_index("check")
    assert checks["passed"].all()
    assert checks.loc["whole_replicas", ["left", "right"]].tolist() == [4.0, 4.0]


def test_boxes_rented_by_the_hour_make_a_pair_that_is_held_for_all_hours():
    # Twice the load by day: one pair would do at night, but a replica is there for the period or not at all.
    hours = {f"h{hour:02d}": 4 / 3 if 8 <= hour < 20 else 2 / 3 for hour in range(24)}
    mixed = scenario(
        {
            "periods": quarters(1),
            "sites": [cloud()],
            "products": [box()],
            "profiles": [{"profile": "day", "day_type": "all", **hours, **SAID}],
            "offers": [rental("by the hour", price=1.0, rent_step="hour")],
            "operating_points": [point(requests_per_s=2.0, chips=2, tensor_parallel=1, pipeline_parallel=2)],
            "demand": demand(["2027-Q1"], 3.0, profile="day"),
        }
    )
    assert least_cost(mixed) == pytest.approx(4 * HOURS)
