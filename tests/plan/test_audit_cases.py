"""The audit agrees with the plans the planner makes, and every limit and cost line has a check that looks at
it.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from plan_cases import BESIDE_THEIR_CASES, CASES, audited, limited, owned, solved

import planner.coefficients.orders.prices
from planner.formulation.build import FAMILIES
from planner.pipeline import RunOptions, run_plan
from planner.plan import audit_plan, load_plan, save_plan
from planner.plan.audit import CHECKS
from planner.tables.cost_lines import COST_LINE

FEASIBLE = [name for name in CASES if name != "impossible"]
AUDIT = Path(planner.coefficients.__file__).parents[1] / "plan" / "audit"


def failures(plan):
    report = audit_plan(plan)
    return report.failures.to_dict("records")


@pytest.mark.parametrize("name", FEASIBLE)
def test_a_plan_as_solved_passes_every_check(name):
    assert solved(name).status == "optimal"
    assert audited(name).failures.to_dict("records") == []


@pytest.mark.parametrize("name", ["bridged"])
def test_a_plan_read_from_disk_is_audited_the_same(name, tmp_path):
    before = audited(name)
    after = audit_plan(load_plan(save_plan(solved(name), tmp_path / "plan")))
    assert after.passed
    pd.testing.assert_frame_equal(after.checks, before.checks)


def test_a_relaxed_plan_passes_though_its_units_and_sites_are_shares():
    plan = run_plan(owned(), RunOptions(relax=True, baselines=False))
    assert (plan["fleet"]["units"] % 1 > 1e-6).any()
    assert plan["sites"]["open_fraction"].between(1e-6, 1 - 1e-6).any()
    assert failures(plan) == []


def test_a_plan_of_least_unit_cost_with_optional_demand_passes():
    scenario = CASES["optional"]()
    plan = run_plan(
        replace(scenario, settings=scenario.settings.model_copy(update={"objective": "unit-cost"}))
    )
    assert plan.headline["unserved_fraction"] > 0.1
    assert {check["check"] for check in failures(plan)} == {"same_inputs"}  # the settings were changed here


def test_an_infeasible_run_is_audited_for_saying_what_is_short():
    plan = solved("impossible")
    assert failures(plan) == []
    silent = replace(plan, frames={**plan.frames, "shortages": plan["shortages"].iloc[:0]})
    assert not audit_plan(silent).passed
    decided = replace(plan, frames={**plan.frames, "orders": pd.DataFrame()})
    assert not audit_plan(decided).passed
    assert not audit_plan(replace(plan, headline={**plan.headline, "status": "lost"})).passed


def test_every_check_looks_at_something_in_some_case():
    looked = pd.concat([audited(name).checks for name in FEASIBLE])
    seen = set(looked.loc[looked["rows"] > 0, "check"])
    assert set(CHECKS) - seen <= BESIDE_THEIR_CASES


def test_a_check_is_reported_under_its_own_name_even_when_there_is_nothing_to_look_at():
    assert list(audited("limited").checks["check"]) == ["complete", *CHECKS]


JUDGED_WITH_OTHERS = {
    **dict.fromkeys(("open_with_lot", "failure_opening"), "open_to_serve"),
    "tier_limit": "tiers_reached",
    "failure_configuration": "configuration_use",
    "vendor_hourly_supply": "vendor_supply",
    "order_placed": "minimum_order",
    **dict.fromkeys(("source_bought", "source_share", "anything_ordered"), "source_count"),
    "whole_replicas": "whole_replicas",
    **dict.fromkeys(("incentive_cap", "incentive_condition"), "incentives"),
    **dict.fromkeys(("spare_table", "spare_choice"), "spare_confidence"),
    **dict.fromkeys(("module_standby", "standby_kept"), "frame standby"),
    "water_limit": "resource_limits",
    "ppa_share": "ppa",
    "ppa_delivery": "ppa",
    **dict.fromkeys(("month_peak", "billed_floor", "ratchet", "coincident_peak"), "billed_months"),
    **dict.fromkeys(("peak_chosen", "peak_attained"), "billed_months"),
    **dict.fromkeys(("bill_tier_balance", "bill_tier_filled"), "cost energy_tiers"),
    **dict.fromkeys(("bill_tier_width", "bill_tier_gate"), "cost energy_tiers"),
}
"""Families that are one part of a statement about the plan, and the check that makes it."""


def test_every_constraint_family_has_a_check():
    covered = set(audited("limited").checks["family"])
    assert set(FAMILIES) - covered == set(JUDGED_WITH_OTHERS)
    assert set(JUDGED_WITH_OTHERS.values()) <= set(CHECKS)


def test_every_cost_line_of_the_coefficients_is_declared():
    """Lines are the third argument of ``payment_rows``, here or by the names that a loop goes through."""
    files = Path(planner.coefficients.__file__).parent.rglob("*.py")
    calls = [
        node
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("_rows", "payment_rows")
    ]
    named = {call.args[2].value for call in calls if isinstance(call.args[2], ast.Constant)}
    lines = named | set(planner.coefficients.orders.prices.RENT_LINES.values())
    assert len(named) > 10
    assert lines <= set(COST_LINE)


def test_the_audit_imports_nothing_of_the_model_it_checks():
    imported = set()
    for file in AUDIT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                imported.add(node.module)
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
    stages = (
        "planner.coefficients",
        "planner.formulation",
        "planner.solve",
        "planner.pipeline",
        "planner.performance",
        "pulp",
        "highspy",
    )
    assert {name for name in imported if name.startswith(stages)} == set()


def test_the_audit_runs_without_any_solver_in_memory():
    code = "import sys, planner.plan; print([name for name in ('pulp', 'highspy') if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_a_plan_without_a_frame_or_column_is_reported_and_nothing_else_is_tried():
    plan = solved("limited")
    frames = {**plan.frames, "fleet": plan["fleet"].drop(columns="units")}
    del frames["peaks"]
    report = audit_plan(replace(plan, frames=frames))
    assert list(report.checks["check"]) == ["complete"]
    assert not report.passed
    assert report.checks["rows"].iloc[0] == 5  # four columns of peaks, one of fleet


def test_the_worst_row_is_named_in_words():
    plan = solved("limited")
    flows = plan["flows"].copy()
    flows.loc[3, "requests_per_s"] += 2.0
    flows.loc[7, "requests_per_s"] += 1.0
    report = audit_plan(replace(plan, frames={**plan.frames, "flows": flows})).checks.set_index("check")
    row, worst = report.loc["demand_balance"], flows.loc[3]
    place = f"shape {worst['shape']}, region east, period {worst['period']}, block {worst['block']}"
    assert row["difference"] == pytest.approx(2.0)
    assert row["scope"] == f"workload chat, {place}"


def test_limited_is_limited_by_what_it_says():
    """Hand check of the case: 165 kW of IT hold 16 boxes of 10 kW, and 3 may be ordered in the second
    quarter.
    """
    plan, scenario = solved("limited"), limited()
    bought = plan["orders"][plan["orders"]["offer"] == "box purchase"].set_index("period")["units"]
    assert bought["2027-Q1"] <= 2_000_000 / 257_500  # capex of the quarter over price with installation
    assert bought["2027-Q2"] <= 3
    assert "2027-Q4" not in bought  # no longer on sale
    assert bought.sum() * 10 <= scenario.tables["sites"].loc[0, "it_limit_kw"]
