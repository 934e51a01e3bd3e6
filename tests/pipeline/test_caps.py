"""The loads of pools and their sizes fit each other in the plan of the shipped example."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.inputs import load_scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan.audit import pool_checks, service_checks
from planner.plan.audit.accounts import Accounts
from planner.plan.audit.facts import Facts
from planner.plan.plan import Plan
from reports.content import content_of
from reports.latency import latency_sentences


@pytest.fixture(scope="module")
def plan() -> Plan:
    return run_plan(load_scenario("small"), RunOptions(gap=0.02, baselines=False))


def test_caps_of_the_plan_hold_at_its_sizes(plan):
    pools = plan["pools"]
    assert plan.headline["cap_passes"] <= 3
    assert plan.headline["hours_too_busy"] == 0
    need = pools["utilisation_fraction"] * pools["units"] / pools["allowed_fraction"]
    hours = pools.assign(need=need).groupby(["workload", "period", "block"])[["need", "units"]].sum()
    assert (hours["need"] <= hours["units"] * (1 + 1e-6)).all()


def test_every_workload_with_a_target_keeps_its_percentile(plan):
    latency = plan["latency"]
    assert set(latency["workload"]) == {"assistant"}  # nobody waits for the other one
    assert (latency["ttft_ms"] + latency["rtt_ms"] <= latency["target_ttft_ms"]).all()
    assert (latency["tpot_ms"] <= 1.005 * latency["target_tpot_ms"]).all()
    assert (latency["latency_pass_fraction"] >= 0.895).all()


def test_report_says_percentiles_band_sizes_and_caps(plan):
    (sentence,) = latency_sentences(content_of(plan, audit=False))
    for part in ("p90", "TTFT", "target 2,000, band x0.9 to x1.95", "TPOT", "replicas carry at most"):
        assert part in sentence


def with_frame(plan: Plan, name: str, column: str, factor: float) -> Accounts:
    frame = plan[name].assign(**{column: factor * plan[name][column]})
    return Accounts(replace(plan, frames={**plan.frames, name: frame}), Facts(plan.scenario))


def test_audit_notices_caps_that_sizes_do_not_allow(plan):
    sizes, stated = "pool_caps", "utilisation_cap_fraction"
    assert pool_checks.utilisation_caps(with_frame(plan, sizes, stated, 1.0)).passed
    assert not pool_checks.utilisation_caps(with_frame(plan, sizes, stated, 0.9)).passed
    assert pool_checks.pool_latency(with_frame(plan, sizes, "tpot_ms", 1.0)).passed
    assert not pool_checks.pool_latency(with_frame(plan, sizes, "tpot_ms", 1.1)).passed
    assert service_checks.capacity(with_frame(plan, "serving", stated, 1.0)).passed
    assert not service_checks.capacity(with_frame(plan, "serving", stated, 0.9)).passed
