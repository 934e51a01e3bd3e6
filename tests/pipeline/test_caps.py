"""The loads of pools and their sizes fit each other in the plan of the shipped example."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tiny_coefficients import tiny

from planner.inputs import load_scenario
from planner.pipeline import RunOptions, caps, run_plan
from planner.pipeline.caps import FIRST_PASS, MOST_PASSES, CapPass, cap_headline, cap_warnings, retightened
from planner.plan.audit.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.service import pool_checks, service_checks
from planner.plan.plan import Plan
from reports.content import content_of
from reports.latency import latency_sentences

KEY = {
    "workload": "chat",
    "ttft_class": "near",
    "clock": "1/1",
    "clock_choice": 1.0,
    "product": "box",
    "engine": "e",
    "engine_option": "",
    "phase": "mixed",
}
PLACE = {"site": "hall", "cooling": "air", "period": "t1", "block": "day"}
CURVE = {1.0: 0.1, 8.0: 0.4, 32.0: 0.8, 128.0: 1.0}


def allowed(replicas: float) -> float:
    return max(cap for size, cap in CURVE.items() if size <= replicas)


def follow(monkeypatch: pytest.MonkeyPatch, sizes: list[float]) -> tuple[float, CapPass]:
    """Return the cap after models whose only pool, filled to its cap, has these sizes; and the last pass."""
    curve = pd.DataFrame({"replicas": list(CURVE), "utilisation_cap_fraction": list(CURVE.values())})
    pools = pd.DataFrame([KEY | PLACE | {"replicas": 200.0, "utilisation_cap_fraction": 1.0}])
    monkeypatch.setattr(caps, "MOST_PASSES", 3)
    c, at = replace(tiny(), pools=pools, cap_curves=curve.assign(**KEY)), FIRST_PASS
    for number, replicas in enumerate(sizes, 1):
        cap = c.pools["utilisation_cap_fraction"].item()
        seen = pools.assign(
            units=replicas, replicas=replicas, utilisation_fraction=cap, allowed_fraction=allowed(replicas)
        )
        monkeypatch.setattr(caps, "pools_of_plan", lambda *_, seen=seen: seen)
        c, at = retightened(c, SimpleNamespace(columns=None), np.zeros(0), replace(at, number=number))
    return c.pools["utilisation_cap_fraction"].item(), at


def test_marginal_pool_that_shrinks_at_every_pass_fits_its_size_in_the_last(monkeypatch):
    cap, _ = follow(monkeypatch, [70.0, 31.0])
    assert cap == allowed(1.0)  # not allowed(31): the third plan gives it 9 and keeps its targets
    cap, at = follow(monkeypatch, [70.0, 31.0, 9.0])
    assert (at.loose, at.short_fraction) == (0, 0.0)
    assert cap_warnings(at) == []


def test_pool_that_keeps_its_size_is_not_given_up(monkeypatch):
    cap, at = follow(monkeypatch, [70.0, 60.0])
    assert cap == allowed(70.0)
    assert at.loose == 0


def test_hours_short_after_the_last_model_are_stated(monkeypatch):
    _, at = follow(monkeypatch, [200.0, 200.0, 100.0])
    assert (at.number, at.loose, at.short_fraction) == (3, 1, pytest.approx(1.0 / 0.8 - 1.0))
    assert "in 1 workload-hours" in cap_warnings(at)[0]
    assert "25.00%" in cap_warnings(at)[0]
    assert cap_headline(tiny(), at, 1.0, 1.0) == {}  # no queued workload, no pool


@pytest.fixture(scope="module")
def plan() -> Plan:
    return run_plan(load_scenario("small"), RunOptions(gap=0.02, baselines=False))


def test_caps_of_the_plan_hold_at_its_sizes(plan):
    pools = plan["pools"]
    assert plan.headline["cap_passes"] <= MOST_PASSES
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


def stating(accounts: Accounts, **headline: float) -> Accounts:
    stated = replace(accounts.plan, headline={**accounts.plan.headline, **headline})
    return Accounts(stated, accounts.facts)


def test_audit_allows_the_shortage_a_plan_states_and_no_more(plan):
    short = with_frame(plan, "pool_caps", "utilisation_cap_fraction", 0.9)
    hours = len(plan["pools"].drop_duplicates(["workload", "period", "block"]))
    part = 1.0 / 0.9 - 1.0
    for count, fraction, passes in ((hours, part, True), (hours, 0.5 * part, False), (0, part, False)):
        stated = stating(short, hours_too_busy=count, most_units_short_fraction=fraction)
        assert pool_checks.utilisation_caps(stated).passed is passes


@pytest.mark.parametrize(("name", "factor"), [("bound_any_sizes", 1.01), ("gap_any_sizes", 2.0)])
def test_audit_recounts_the_gap_to_pools_of_other_sizes(plan, name, factor):
    accounts = Accounts(plan, Facts(plan.scenario))
    assert CHECKS["proof"](accounts).passed
    assert not CHECKS["proof"](stating(accounts, **{name: factor * plan.headline[name]})).passed
