"""Metrics of engines and chips by hand on the case ``by_hand`` (see its docstring), and on memory given by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_cases import solved

from planner.coefficients import build_coefficients
from planner.performance import operating_points
from planner.plan.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts
from planner.plan.engine_metrics import engine_metrics


def metrics(plan):
    table = plan["metrics"]
    return table[table["scope"] == "chat"].set_index("metric")["value"]


def test_phases_arithmetic_energy_and_cache_by_hand():
    """A busy box makes 5 attempts/s at the held clock, half of its time on 500 prompt tokens, half on 2,000 generated.

    prefill 5 x 500 / 0.5; decode 5 x 2,000 / 0.5; MFU 5 x 2 x 8e9 x 2,500 / 800 TFLOPS; 10,000 tokens/s at 8 kW; no
    prompt is found in a cache.
    """
    found = metrics(solved("by_hand"))
    assert found["prefill throughput"] == pytest.approx(5_000)
    assert found["decode throughput"] == pytest.approx(20_000)
    assert found["compute utilisation (MFU)"] == pytest.approx(0.25)
    assert found["energy efficiency"] == pytest.approx(1.25)
    assert found["prefix cache hit rate"] == 0.0


def test_memory_context_and_cache_hits_by_hand():
    """Replicas of 4 chips of 80 GB, 10 requests in flight of 500 + 2,000 / 2 tokens, half of the memory used."""
    plan = solved("by_hand")
    chips = plan.scenario.tables["chips"].set_index("chip").loc["core", "memory_gb"]
    points = plan["points"].assign(
        memory_used_fraction=0.5,
        concurrency=10.0,
        replica_chips=4.0,
        replicas_per_unit=2.0,
        slots=12.0,
        cache_hit_fraction=0.4,
    )
    frames = dict(plan.frames) | {"points": points}
    c = build_coefficients(plan.scenario, operating_points(plan.scenario))
    found = {row[0]: row[3] for row in engine_metrics(plan.scenario, c, frames)}
    assert found["memory occupancy"] == pytest.approx(0.5)
    assert found["memory per token"] == pytest.approx(0.5 * 4 * chips * 1e9 / (10 * 1_500))
    assert found["context window"] == min(12 * 2_500, metrics(plan)["context window"])
    assert found["prefill throughput"] == pytest.approx(5_000 * 0.6)


@pytest.mark.parametrize(
    "metric", ["prefill throughput", "decode throughput", "compute utilisation (MFU)", "energy efficiency"]
)
def test_the_audit_makes_each_once_more(metric):
    plan = solved("by_hand")
    table = plan["metrics"]
    wrong = table.assign(value=table["value"].where(table["metric"] != metric, table["value"] * 1.01))
    for frame, passed in ((table, True), (wrong, False)):
        changed = replace(plan, frames=dict(plan.frames) | {"metrics": frame})
        assert CHECKS["metrics"](Accounts(changed, Facts(plan.scenario))).passed is passed
