"""Frames made of others are made once more by the audit: a word, a date or an amount changed in one is seen there."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from tampering_plans import solved

from planner.plan import audit_plan
from planner.plan.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.frame_checks import FRAME_CHECKS
from planner.plan.audit.money.accounts import Accounts

CELLS = [
    # frame, column, check that must notice
    ("periods", "calendar_months", "frame periods"),
    ("blocks", "label", "frame blocks"),
    ("block_cells", "label", "block_labels"),
    ("finance_periods", "end_date", "frame finance_periods"),
    ("orders", "delivery_terms", "frame orders"),
    ("orders", "stored_units", "frame orders"),
    ("purchases", "vendor", "frame purchases"),
    ("purchases", "quantity_unit", "frame purchases"),
    ("serving", "utilisation_cap_fraction", "frame serving"),
    ("placement", "share_fraction", "frame placement"),
    ("energy", "onsite_kw", "frame energy"),
    ("footprint", "period", "frame footprint"),
    ("sites", "period", "frame sites"),
    ("peaks", "months", "frame peaks"),
    ("peaks", "price_per_kw_month", "frame peaks"),
    ("modules", "kw", "frame modules"),
    ("modules", "energised_date", "frame modules"),
    ("standby", "carrying", "frame standby"),
    ("standby", "redundancy", "frame standby"),
    ("power_path", "decides", "frame power_path"),
    ("unpowered", "capital_cost", "frame unpowered"),
    ("commissioning", "unit", "frame commissioning"),
    ("commissioning", "day", "days_of_test"),
    ("free_cooling", "free_cooling_hours", "frame free_cooling"),
    ("assets", "tax_method", "frame assets"),
    ("assets", "in_service_period", "frame assets"),
    ("assets", "decided_period", "asset_decisions"),
    ("costs", "decided_period", "decided_when"),
    ("cash", "category", "cash_kinds"),
    ("book_value", "period", "frame book_value"),
    ("commitments", "term_end_date", "frame commitments"),
    ("commitments", "service_value_fraction", "frame commitments"),
    ("baseline_costs", "kind", "frame baseline_costs"),
    ("totals", "amount", "frame totals"),
    ("cost_by_workload", "amount", "frame cost_by_workload"),
    ("cost_by_workload", "workload", "frame cost_by_workload"),
    ("chargeback", "business", "frame chargeback"),
    ("chargeback_rates", "unit_cost", "frame chargeback_rates"),
    ("unit_costs", "output", "frame unit_costs"),
    ("unit_cost_trend", "effective_mrequests", "unit_cost_trend"),
]
POOLS = [
    ("routes", "ttft_budget_ms", "frame routes"),
    ("pools", "replicas", "frame pools"),
    ("pools", "allowed_fraction", "frame pools"),
    ("latency", "ttft_ms", "frame latency"),
    ("latency", "sla_concurrency", "frame latency"),
]


def other(value: object, frame: pd.DataFrame, column: str) -> object:
    """Return another value of the kind of a cell."""
    if isinstance(value, pd.Timestamp):
        return value + pd.Timedelta(days=9)
    if isinstance(value, (bool, int, float)) and not isinstance(value, str):
        return not value if isinstance(value, bool) else value * 1.01 + 0.01
    return next((one for one in frame[column].dropna() if one != value), f"{value} of another")


def noticed(plan, frame, column, check):
    table = plan[frame].copy()
    row = table[column].last_valid_index()
    values = table[column].tolist()
    at = table.index.get_loc(row)
    values[at] = other(values[at], table, column)
    wrong = replace(plan, frames={**plan.frames, frame: table.assign(**{column: values})})
    return not CHECKS[check](Accounts(wrong, Facts(plan.scenario))).passed


def test_plans_of_every_kind_pass():
    assert audit_plan(solved("campus")).failures.to_dict("records") == []
    assert audit_plan(solved("hosted")).failures.to_dict("records") == []


@pytest.mark.parametrize(("frame", "column", "check"), CELLS)
def test_a_changed_cell_is_noticed(frame, column, check):
    assert noticed(solved("campus"), frame, column, check)


@pytest.mark.slow
@pytest.mark.parametrize(("frame", "column", "check"), POOLS)
def test_a_changed_pool_is_noticed(frame, column, check):
    assert noticed(solved("small"), frame, column, check)


@pytest.mark.parametrize("name", ["gross_capex", "payments", "total_cost_undiscounted"])
def test_a_changed_total_of_the_headline_is_noticed(name):
    plan = solved("campus")
    totals = dict(plan.headline["totals"]) | {name: plan.headline["totals"][name] * 1.001}
    wrong = replace(plan, headline=dict(plan.headline) | {"totals": totals})
    assert not CHECKS["headline_totals"](Accounts(wrong, Facts(plan.scenario))).passed


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hours_too_busy", "most_units_short_fraction"])
def test_hours_said_to_be_short_are_counted(name):
    plan = solved("small")
    wrong = replace(plan, headline=dict(plan.headline) | {name: 3.0})
    assert not CHECKS["hours_short"](Accounts(wrong, Facts(plan.scenario))).passed


def test_every_frame_made_once_more_is_tried():
    tried = {check for *_, check in (*CELLS, *POOLS)}
    assert set(FRAME_CHECKS) <= tried
