"""Plans choose among the engine options a workload admits."""

from __future__ import annotations

import pytest

from planner.inputs import load_scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan.audit import audit_plan

BARE = RunOptions(baselines=False)


def admitted(options: str, *more: str) -> list[str]:
    return [f"workloads/assistant/engine_options={options}", *more]


def option_shares(plan) -> dict[str, float]:
    """Return the share of running units of the assistant by engine option."""
    option = plan["points"].set_index("point")["engine_option"]
    serving = plan["serving"][plan["serving"]["workload"] == "assistant"]
    units = serving.groupby(serving["point"].map(option))["units_running"].sum()
    return (units / units.sum()).to_dict()


@pytest.mark.slow
def test_speculative_decoding_is_taken_where_it_wins():
    plan = run_plan(load_scenario("small", admitted("eagle3-70b")), BARE)
    assert plan.status == "optimal"
    assert option_shares(plan)["eagle3-70b"] > 0.0
    assert audit_plan(plan).passed


@pytest.mark.slow
def test_a_prefix_cache_serves_sessions_that_send_their_context_again():
    overrides = admitted(
        "prefix-cache",
        "workloads/assistant/reusable_input_fraction=0.9",
        "workloads/assistant/session_think_s=20",
    )
    plan = run_plan(load_scenario("small", overrides), BARE)
    assert plan.status == "optimal"
    assert option_shares(plan)["prefix-cache"] == pytest.approx(1.0)
    assert audit_plan(plan).passed
