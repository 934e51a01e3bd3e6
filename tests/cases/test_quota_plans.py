"""Plans under quotas: inside the cap served on its own terms, beyond it as another workload, later or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_scenarios import cloud, demand, line, one_hour, point, rental, scenario, shape, solved, workload

from planner.plan.audit import audit_plan

pytestmark = pytest.mark.study


def capped(**quota):
    """Return chat at 6 requests/s, one a second per box at 20 an hour; small answers ten a second per box."""
    return scenario(
        {
            "periods": one_hour(),
            "sites": [cloud()],
            "offers": [rental()],
            "workloads": [workload("chat", business="bank"), workload("small", business="office")],
            "shapes": [shape("chat", output_tokens=200), shape("small", output_tokens=50)],
            "operating_points": [point(name="chat"), point(name="small", requests_per_s=10)],
            "demand": demand(["hour"], 6.0) + demand(["hour"], 0.0, "small"),
            "quotas": [{"quota": "bank", "business": "bank", **quota}] if quota else [],
        }
    )


def failed(plan):
    return set(audit_plan(plan).failures["check"])


def test_inside_the_cap_the_sla_is_met_and_beyond_it_requests_are_degraded():
    plain = solved(capped())
    plan = solved(capped(cap_requests_per_s=2.0, beyond="degrade", fallback_workload="small"))
    # Six boxes without a cap; with it two for chat, and four tenths of one, so one, for the four requests beyond.
    assert line(plain, "on_demand_rent") == pytest.approx(6 * 20)
    assert line(plan, "on_demand_rent") == pytest.approx(3 * 20)
    made = plan["tokens"].set_index("workload")["effective_mtok"]
    assert made["chat"] == pytest.approx(2 * 200 * 3_600 / 1e6)
    assert made["small"] == pytest.approx(4 * 50 * 3_600 / 1e6)
    assert plan.headline["unserved_fraction"] == 0.0
    assert not failed(plain) | failed(plan)
    use = plan["quota_use"].iloc[0]
    assert use["asked_mtok"] == pytest.approx(6 * 200 * 3_600 / 1e6)
    assert use["within_mtok"] == pytest.approx(2 * 200 * 3_600 / 1e6)


def test_what_is_refused_counts_as_unserved():
    # 4.32 Mtok asked, 2.88 let in: a third of the requests is refused.
    plan = solved(capped(cap_mtok=2.88, beyond="refuse"))
    assert line(plan, "on_demand_rent") == pytest.approx(4 * 20)
    assert plan.headline["unserved_fraction"] == pytest.approx(1 / 3)
    assert not failed(plan)


@pytest.mark.parametrize(
    ("column", "check"),
    [
        ("within_requests_per_s", {"quota_cap", "quota_split"}),
        ("degraded_requests_per_s", {"quota_split", "quota_demand"}),
        ("refused_requests_per_s", {"quota_split", "quota_demand", "unserved_fraction"}),
    ],
)
def test_the_audit_sees_a_quota_that_lets_in_or_puts_off_something_else(column, check):
    plan = solved(capped(cap_requests_per_s=2.0, beyond="degrade", fallback_workload="small"))
    frame = plan["quota_use"]
    tampered = replace(
        plan, frames={**plan.frames, "quota_use": frame.assign(**{column: frame[column] + 0.1})}
    )
    assert failed(tampered) == check
