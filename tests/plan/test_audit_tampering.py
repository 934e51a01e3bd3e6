"""One number changed anywhere in a plan is found by the check that is there for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import pandas as pd
import pytest
from plan_cases import BESIDE_THEIR_CASES, CASES, solved

from planner.inputs import Scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan import Plan, audit_plan
from planner.plan.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts

Change = Callable[[Any], Any]


class Tampering(NamedTuple):
    """A change to one cell: the first row that has the labels ``where``, or the row of the largest value."""

    check: str
    case: str
    frame: str
    column: str
    change: Change
    where: dict[str, Any] | str | None = None


def times(factor: float) -> Change:
    return lambda value: value * factor


def plus(amount: float) -> Change:
    return lambda value: value + amount


def to(value: Any) -> Change:
    return lambda _: value


HALL = {"site": "hall"}
BOUGHT = {"offer": "box purchase"}
LOST_BOX = {"loss": "units"}
PROMPTS_LEFT = {"failure": "one unit: box at hall, air"}
AT_THIS_FLEET = {"kind": "fixed_fleet"}
DEAREST_HOUR = {"offer": "hour box", "period": "2027-Q1", "block": "x1"}
DEAREST_PRICE = {"kind": "long_run", "label": "box, cloud, hosted, 2027-Q1, x1"}

FRAMES = [
    Tampering("calendar", "limited", "block_cells", "hours", plus(1)),
    Tampering("block_hours", "limited", "blocks", "hours", plus(1)),
    Tampering("block_hours", "limited", "serving", "hours", plus(1)),
    Tampering("period_dates", "limited", "periods", "start_weeks", plus(1)),
    Tampering("period_dates", "limited", "periods", "hours", plus(24)),
    Tampering("discount_factors", "limited", "periods", "discount_mid", times(1.001)),
    Tampering("block_demand", "limited", "demand", "requests_per_s", times(1.001)),
    Tampering("block_price", "limited", "energy", "price_per_kwh", times(1.001)),
    Tampering("block_pue", "limited", "energy", "pue", times(1.001)),
    Tampering("demand_balance", "limited", "flows", "requests_per_s", times(1.001)),
    Tampering("must_serve", "optional", "unserved", "requests_per_s", times(50)),
    Tampering("must_serve", "optional", "unserved", "workload", to("code")),
    Tampering("prefill_balance", "split", "serving", "units_running", times(1.001), {"phase": "prefill"}),
    Tampering("decode_balance", "split", "serving", "units_running", times(1.001), {"phase": "decode"}),
    Tampering("decode_balance", "limited", "serving", "units_running", times(0.999)),
    Tampering(
        "whole_replicas",
        "split",
        "points",
        "units_per_replica",
        to(1_000.0),
        {"shape": "long", "phase": "decode"},
    ),
    Tampering("capacity", "limited", "serving", "units_running", times(20)),
    Tampering("capacity", "bridged", "hourly_rent", "units", to(0.0), "largest"),
    Tampering("point_rates", "limited", "serving", "requests_per_s", times(1.001)),
    Tampering("point_rates", "limited", "points", "requests_per_s", times(1.001)),
    Tampering("point_peaks", "limited", "serving", "peak_ratio", times(1.001)),
    Tampering("point_power", "limited", "serving", "added_kw", times(1.001)),
    Tampering("quality_shares", "split", "points", "quality_pass_fraction", to(0.5)),
    Tampering("point_admissible", "limited", "serving", "phase", to("decode")),
    Tampering("point_admissible", "limited", "serving", "point", to("a faster point")),
    Tampering("point_admissible", "split", "points", "engine", to("another"), {"phase": "decode"}),
    Tampering("non_negative", "limited", "flows", "requests_per_s", to(-1.0)),
    Tampering("placement", "far_apart", "placement", "share_fraction", times(0.9)),
    Tampering("placement", "far_apart", "placement", "requests_per_s", times(1.001)),
    Tampering("round_trip", "far_apart", "routes", "rtt_ms", plus(1)),
    Tampering("frame routes", "limited", "routes", "ttft_class", to("9 ms"), HALL),
    Tampering("route_of_flow", "limited", "routes", "admissible", to(False), HALL),
    Tampering("ttft_target", "far_apart", "points", "ttft_ms", to(551.0), {"workload": "chat"}),
    Tampering("tpot_target", "split", "points", "tpot_ms", to(31.0), {"phase": "decode"}),
    Tampering("e2e_target", "far_apart", "points", "e2e_ms", to(9_001.0), {"workload": "chat"}),
    Tampering(
        "e2e_target", "split", "points", "ttft_ms", to(29_000.0), {"phase": "prefill", "shape": "long"}
    ),
    Tampering("whole_units", "limited", "fleet", "units", plus(0.5)),
    Tampering("whole_units", "owned", "sites", "open_fraction", to(0.5)),
    Tampering("order_dates", "bridged", "orders", "order_date", plus(pd.Timedelta(days=1))),
    Tampering("order_dates", "bridged", "orders", "delivery_date", plus(pd.Timedelta(days=7))),
    Tampering("order_dates", "bridged", "orders", "in_service_date", to(pd.Timestamp("2027-01-01")), BOUGHT),
    Tampering("order_serves", "bridged", "orders", "in_service_period", to("2027-Q1"), BOUGHT),
    Tampering("order_serves", "bridged", "orders", "period", to("2027-Q4"), BOUGHT),
    Tampering("on_sale", "limited", "orders", "period", to("2027-Q4"), BOUGHT),
    Tampering("fleet_balance", "limited", "fleet", "units", plus(1)),
    Tampering("fleet_balance", "bridged", "fleet", "units", plus(-1), {"offer": "fleet:old"}),
    Tampering("hourly_peak", "bridged", "hourly_rent", "units", plus(1), "largest"),
    Tampering("supply", "limited", "orders", "units", plus(9), BOUGHT),
    Tampering("hourly_supply", "bridged", "hourly_rent", "units", plus(9)),
    Tampering("standing_rules", "limited", "fleet", "cooling", to("liquid"), HALL),
    Tampering("standing_rules", "limited", "fleet", "site", to("cloud"), HALL),
    Tampering("standing_rules", "limited", "orders", "site", to("hall"), {"site": "cloud"}),
    Tampering("standing_rules", "far_apart", "orders", "site", to("hall"), {"offer": "box lease"}),
    Tampering("unit_numbers", "limited", "fleet", "provisioned_kw", times(0.99)),
    Tampering("unit_numbers", "limited", "fleet", "availability_fraction", to(1.0)),
    Tampering("grid_power", "limited", "energy", "grid_kw", times(1.001)),
    Tampering("it_load", "limited", "energy", "it_kw", times(1.001)),
    Tampering("site_power", "limited", "fleet", "units", times(50), HALL),
    Tampering("load_within_provision", "limited", "serving", "units_running", times(20)),
    Tampering("energy_use", "limited", "energy", "kwh", times(1.001)),
    Tampering("provisioned_power", "limited", "fleet", "units", times(50), HALL),
    Tampering(
        "provisioned_power",
        "owned",
        "sites",
        "open_fraction",
        to(0.0),
        {"site": "campus", "period": "2027-Q4"},
    ),
    Tampering("it_power", "limited", "fleet", "units", times(50), HALL),
    Tampering("facility_power", "limited", "fleet", "units", times(50), HALL),
    Tampering("rack_space", "limited", "fleet", "units", times(50), HALL),
    Tampering("hall_capacity", "owned", "fleet", "units", plus(1), {"cooling": "liquid"}),
    Tampering("hall_capacity", "owned", "build", "kw", times(0.9)),
    Tampering("cooling_capacity", "limited", "fleet", "units", times(50), HALL),
    Tampering(
        "stay_open", "owned", "sites", "open_fraction", to(0.0), {"site": "campus", "period": "2027-Q4"}
    ),
    Tampering("open_sites", "owned", "sites", "open", to(False), {"site": "campus", "period": "2027-Q4"}),
    Tampering(
        "open_to_serve",
        "unpowered",
        "sites",
        "open_fraction",
        to(0.0),
        {"site": "cloud", "period": "2027-Q1"},
    ),
    Tampering("vendor_supply", "limited", "orders", "units", plus(50), {"offer": "cloud box"}),
    Tampering("billing_peak", "limited", "peaks", "peak_kw", times(0.99)),
    Tampering("power_levels", "limited", "site_power", "peak_kw", times(1.001), {"level": "facility"}),
    Tampering("power_levels", "limited", "site_power", "usable_kw", plus(10), {"level": "grid"}),
    Tampering("power_path", "unpowered", "power_path", "carried_kw", plus(1)),
    Tampering("power_path", "unpowered", "modules", "modules", plus(1)),
    Tampering("energised_load", "unpowered", "modules", "modules", to(0.0)),
    Tampering("energised_provision", "unpowered", "fleet", "units", times(2), HALL),
    Tampering("module_orders", "unpowered", "modules", "modules", plus(3)),
    Tampering("module_orders", "unpowered", "modules", "energised_period", to("2027-Q1")),
    Tampering("module_orders", "unpowered", "modules", "module", to("late panel")),
    Tampering("commissioning", "unpowered", "unpowered", "units", plus(1)),
    Tampering("commissioning", "unpowered", "unpowered", "offer", to("cloud box")),
    Tampering("site_power", "unpowered", "modules", "modules", to(0.0)),
    Tampering(
        "budget", "limited", "orders", "units", times(3), {"offer": "box purchase", "period": "2027-Q1"}
    ),
    Tampering("order_prices", "limited", "orders", "unit_price", times(1.001)),
    Tampering("order_payments", "bridged", "orders", "cost", times(1.001)),
    Tampering("known_lines", "limited", "costs", "line", to("rebate")),
    Tampering("counted_lines", "limited", "costs", "in_objective", to(False)),
    Tampering("counted_lines", "bridged", "costs", "in_objective", to(True), {"kind": "sunk"}),
    Tampering("objective", "limited", "costs", "discounted", times(1.1), "largest"),
    Tampering("total_cost", "limited", "costs", "discounted", times(1.1), "largest"),
    Tampering("effective_tokens", "limited", "tokens", "effective_mtok", times(1.001)),
    Tampering("effective_tokens", "limited", "tokens", "effective_mtok_discounted", times(1.001)),
    Tampering("effective_tokens", "limited", "serving", "effective_mtok", times(1.001)),
    Tampering("generated_tokens", "limited", "tokens", "generated_mtok", times(1.001)),
    Tampering("generated_tokens", "split", "serving", "generated_mtok", to(1.0), {"phase": "prefill"}),
    Tampering("input_tokens", "limited", "tokens", "input_mtok", times(1.001)),
    Tampering("served_fraction", "optional", "tokens", "served_fraction", times(1.001)),
    Tampering("yield_factors", "limited", "points", "latency_pass_fraction", to(1.01)),
    Tampering("token_totals", "limited", "serving", "units_running", times(1.1), "largest"),
    Tampering("unserved_fraction", "optional", "unserved", "requests_per_s", times(2), "largest"),
    Tampering("liability_after_horizon", "far_apart", "orders", "units", plus(1), {"offer": "box lease"}),
    Tampering("headline_lists", "limited", "fleet", "units", plus(1)),
    Tampering("chargeback", "bridged", "chargeback", "amount", times(1.01)),
    Tampering("asset_cost", "limited", "assets", "cost", times(1.01)),
    Tampering("asset_terms", "limited", "assets", "book_life_years", plus(1)),
    Tampering("asset_terms", "limited", "assets", "book_method", to("declining_balance")),
    Tampering("depreciation", "limited", "accounting", "amount", times(1.01), {"category": "depreciation"}),
    Tampering("book_value", "limited", "book_value", "closing", times(1.01)),
    Tampering("book_value", "limited", "book_value", "paid", plus(10_000)),
    Tampering("purchase_amounts", "limited", "purchases", "deposit_amount", plus(1), {"kind": "colocation"}),
    Tampering("frame purchases", "owned", "purchases", "cooling", to("steam"), {"kind": "hall"}),
    Tampering("frame purchases", "limited", "purchases", "cooling", to("air"), {"kind": "colocation"}),
    Tampering("commitments", "bridged", "commitments", "owed_after_horizon", plus(1)),
    Tampering("cash_payments", "limited", "cash", "amount", times(1.01)),
    Tampering("loans", "limited", "cash", "category", to("loan drawn")),
    Tampering("tax", "limited", "accounting", "category", to("income tax")),
    Tampering("idle_capacity", "limited", "accounting", "amount", times(1.1), {"use": "idle"}),
    Tampering("served_hour", "metered", "waiting", "requests_waiting", times(50)),
    Tampering("deferral_window", "metered", "waiting", "requests_waiting", times(50)),
    Tampering("billed_months", "metered", "billed_peaks", "billed_kw", times(0.99)),
    Tampering("billed_months", "metered", "billed_peaks", "amount", times(1.01)),
    Tampering("billed_months", "metered", "billed_peaks", "owed_after_horizon", times(1.01), "largest"),
    Tampering("minimum_bill", "metered", "topups", "amount", plus(9), "largest"),
    Tampering("ppa", "metered", "ppa", "ppa_kw", times(1.01), {"ppa": "wind"}),
    Tampering("ppa", "metered", "ppa", "ppa_kw", times(1.01), {"ppa": "river"}),
    Tampering("resource_limits", "metered", "serving", "units_running", times(1_000)),
    Tampering("footprint", "metered", "footprint", "carbon_t", times(1.01)),
    Tampering("footprint", "metered", "footprint", "water_m3", times(1.01)),
    Tampering("failure_cases", "survives", "failures", "units", plus(1), LOST_BOX),
    Tampering("failure_service", "survives", "failure_flows", "requests_per_s", times(0.9)),
    Tampering("failure_routes", "survives", "failure_flows", "rtt_ms", plus(1)),
    Tampering("failure_decode", "survives", "failure_serving", "units_running", times(1.001)),
    Tampering("failure_prefill", "split", "failure_serving", "units_running", times(1.001), PROMPTS_LEFT),
    Tampering("failure_capacity", "survives", "failure_serving", "units_running", times(20)),
    Tampering("failure_pool", "split", "failure_serving", "units_running", times(20)),
    Tampering("failure_simulation", "survives", "fleet", "units", to(0.0), {"site": "annex"}),
    Tampering("reconciliation", "limited", "reconciliation", "paid_after", plus(100)),
    Tampering("reconciliation", "far_apart", "accounting", "amount", plus(9), {"category": "lease interest"}),
    Tampering("budget_use", "limited", "budget_use", "kind", to("opex"), {"kind": "capex"}),
    Tampering("depreciation_lives", "limited", "depreciation_lives", "depreciation_per_year", times(1.001)),
    Tampering("depreciation_lives", "limited", "depreciation_lives", "life_years", times(1.1)),
    Tampering("effective_requests", "limited", "tokens", "effective_mrequests", plus(1)),
    Tampering("expense_use", "limited", "accounting", "use", to("another")),
    Tampering("expenses", "limited", "accounting", "amount", times(1.001), "largest"),
    Tampering("ledger_labels", "limited", "costs", "kind", to("another")),
    Tampering("payments", "limited", "payments", "amount", times(1.001), "largest"),
    Tampering("payments_sum", "limited", "payments", "amount", times(1.001), "largest"),
    Tampering("rfq", "limited", "rfq", "vendor", to("another")),
    Tampering("stated_labels", "limited", "orders", "vendor", to("another")),
    Tampering("unit_cost_trend", "limited", "unit_cost_trend", "expense", times(1.001)),
    Tampering("used_units", "limited", "used_units", "unit_hours", times(1.001), "largest"),
    Tampering("limit_signs", "limited", "duals", "dual", times(-1)),
    Tampering("limit_signs", "limited", "duals", "label", to("box, hall, air")),
    Tampering("limit_signs", "limited", "duals", "family", to("supply"), {"family": "capacity"}),
    Tampering("limit_slack", "owned", "build", "kw", times(1.01)),
    Tampering("limit_slack", "bridged", "hourly_rent", "units", plus(1), DEAREST_HOUR),
    Tampering("rent_of_capacity", "bridged", "duals", "dual", times(1.01), DEAREST_PRICE),
    Tampering("marginal_rows", "limited", "marginal_costs", "unit", to("EUR/Mtok output")),
    Tampering("marginal_rows", "limited", "marginal_costs", "region", to("west"), AT_THIS_FLEET),
    Tampering("marginal_spending", "bridged", "marginal_costs", "value", times(0.5), AT_THIS_FLEET),
    Tampering("marginal_spending", "by_hand", "marginal_costs", "value", times(0.9), AT_THIS_FLEET),
    Tampering("metrics", "limited", "metrics", "value", times(1.001)),
    Tampering("metrics", "owned", "metrics", "value", times(1.001), {"metric": "load factor"}),
    Tampering("metrics", "optional", "metrics", "scope", to("nobody"), {"metric": "eTPM"}),
]

LINES = {
    "limited": (
        "hardware_purchase",
        "installation",
        "hardware_residual",
        "on_demand_rent",
        "maintenance",
        "facility_rent",
        "staff",
        "network",
        "site_fixed",
        "tariff_fixed",
        "energy",
        "carbon",
        "demand_charge",
    ),
    "bridged": (
        "on_demand_rent",
        "reserved_rent",
        "commitment_after_horizon",
        "spot_rent",
        "sunk_book_value",
    ),
    "far_apart": ("lease",),
    "owned": ("facility_build", "cooling_build", "facility_residual", "cooling_maintenance", "site_opening"),
    "optional": ("optional_demand_value",),
    "survives": ("egress",),
    "metered": (
        *("energy_tiers", "demand_tiers", "minimum_take", "ppa", "ppa_offset"),
        "coincident_peak_after_horizon",
    ),
    "unpowered": ("site_module", "site_module_residual", "delivered_not_powered"),
}
LEDGER = [
    Tampering(f"cost {line}", case, "costs", column, times(1.001), {"line": line})
    for case, lines in LINES.items()
    for line in lines
    for column in ("amount", "discounted")
] + [
    Tampering("cost demand_charge", "limited", "peaks", "peak_kw", times(1.01)),
    Tampering("cost energy", "limited", "energy", "grid_kw", times(1.01)),
    Tampering("cost facility_build", "owned", "build", "kw", times(1.01)),
    Tampering(
        "cost site_opening",
        "owned",
        "sites",
        "open_fraction",
        to(1.0),
        {"site": "campus", "period": "2027-Q1"},
    ),
    Tampering("cost on_demand_rent", "bridged", "hourly_rent", "units", plus(1), {"offer": "hour box"}),
    Tampering("cost hardware_residual", "limited", "orders", "units", plus(1), BOUGHT),
    Tampering("cost optional_demand_value", "optional", "unserved", "requests_per_s", times(1.01)),
]

HEADLINE = [
    (
        "finance_totals",
        "limited",
        "finance",
        lambda stated: {**stated, "capex_paid": stated["capex_paid"] + 1_000.0},
    ),
    ("model_size", "limited", "variables", plus(1)),
    ("stated_terms", "limited", "currency", to("EUR")),
    ("objective", "limited", "objective", times(1.001)),
    ("total_cost", "limited", "total_cost", times(1.001)),
    ("token_totals", "limited", "effective_mtok", times(1.001)),
    ("token_totals", "limited", "effective_mtok_discounted", times(1.001)),
    ("token_totals", "limited", "generated_mtok", times(1.001)),
    ("unit_cost", "limited", "cost_per_mtok_effective", times(0.999)),
    ("accounting_unit_cost", "limited", "accounting_cost_per_mtok", times(0.999)),
    ("unserved_fraction", "optional", "unserved_fraction", to(0.0)),
    ("horizon_hours", "limited", "horizon_hours", plus(1)),
    ("liability_after_horizon", "bridged", "liability_after_horizon", to(0.0)),
    ("headline_lists", "limited", "orders", lambda orders: orders[1:]),
    ("counted_lines", "optional", "minimised", to("unit-cost")),
    ("proof", "limited", "gap", to(0.4)),
    ("proof", "limited", "gap", to(None)),
    ("proof", "limited", "bound", times(1.01)),
    ("proof", "limited", "bound", times(0.9)),
    ("proof", "limited", "requested_gap", to(-0.1)),
    ("same_inputs", "limited", "input_hash", to("0")),
]


@cache
def facts(case: str) -> Facts:
    return Facts(solved(case).scenario)


def with_cell(
    frame: pd.DataFrame, column: str, change: Change, where: dict[str, Any] | str | None
) -> pd.DataFrame:
    """Return the frame with one cell changed."""
    if where == "largest":
        row = frame[column].idxmax()
    else:
        fits = pd.Series(True, index=frame.index)
        for name, value in dict(where or {}).items():
            fits &= frame[name] == value
        row = fits[fits].index[0]
    changed = frame.copy()
    value = change(frame.loc[row, column])
    if isinstance(value, float) and changed[column].dtype.kind in "iu":
        changed[column] = changed[column].astype(float)
    changed.loc[row, column] = value
    return changed


def tampered(plan: Plan, item: Tampering) -> Plan:
    frame = with_cell(plan[item.frame], item.column, item.change, item.where)
    return replace(plan, frames={**plan.frames, item.frame: frame})


def name_of(item: Tampering) -> str:
    return f"{item.check}: {item.frame}.{item.column} of {item.case}"


@pytest.mark.parametrize("item", FRAMES + LEDGER, ids=name_of)
def test_a_changed_cell_fails_the_check_that_is_there_for_it(item):
    books = Accounts(tampered(solved(item.case), item), facts(item.case))
    assert not CHECKS[item.check](books).passed


@pytest.mark.parametrize(("check", "case", "key", "change"), HEADLINE)
def test_a_changed_headline_fails_the_check_that_is_there_for_it(check, case, key, change):
    plan = solved(case)
    wrong = replace(plan, headline={**plan.headline, key: change(plan.headline[key])})
    assert not CHECKS[check](Accounts(wrong, facts(case))).passed


BASELINES = [
    Tampering("baseline_costs", "bridged", "baseline_costs", "amount", times(1.01), "largest"),
    Tampering("investment_measures", "bridged", "investment", "value", plus(9_000), {"measure": "NPV"}),
]
"""What only a plan beside its baselines has."""


@pytest.mark.parametrize("item", BASELINES, ids=name_of)
def test_a_changed_baseline_fails_the_check_that_is_there_for_it(item):
    plan = beside_baselines()
    assert audit_plan(plan).failures.empty
    assert not CHECKS[item.check](Accounts(tampered(plan, item), Facts(plan.scenario))).passed


@cache
def beside_baselines() -> Plan:
    return run_plan(CASES["bridged"](), RunOptions(baselines=True))


def test_every_check_has_a_tampering():
    here = {item.check for item in FRAMES + LEDGER + BASELINES} | {row[0] for row in HEADLINE}
    assert here | BESIDE_THEIR_CASES == set(CHECKS)


def test_a_missing_number_fails_rather_than_counting_as_zero():
    item = Tampering("demand_balance", "limited", "flows", "requests_per_s", to(float("nan")))
    assert not CHECKS["demand_balance"](Accounts(tampered(solved("limited"), item), facts("limited"))).passed


def test_one_tampering_fails_the_whole_audit_and_is_named():
    item = Tampering(
        "budget", "limited", "orders", "units", times(3), {"offer": "box purchase", "period": "2027-Q1"}
    )
    report = audit_plan(tampered(solved("limited"), item))
    assert not report.passed
    assert {"budget", "fleet_balance", "cost hardware_purchase", "objective"} <= set(report.failures["check"])
    capex = report.failures.set_index("check").loc["budget"]
    assert capex["right"] == 2_000_000.0
    assert capex["scope"] == "budget capex of the first quarter"


INPUTS = [
    # table, column, row, change, case, check that must notice
    ("offers", "price", BOUGHT, times(1.01), "limited", "cost hardware_purchase"),
    ("offers", "installation_fraction", BOUGHT, times(1.01), "limited", "cost installation"),
    ("offers", "lead_weeks", BOUGHT, plus(1), "bridged", "order_dates"),
    ("offers", "term_months", {"offer": "reserved box"}, plus(3), "bridged", "liability_after_horizon"),
    ("offers", "interruption_fraction", {"offer": "spot box"}, plus(0.1), "bridged", "unit_numbers"),
    ("fx", "usd_per_unit", {"currency": "EUR"}, times(1.01), "far_apart", "cost lease"),
    ("residuals", "residual_fraction", {"age_years": 1}, times(1.01), "limited", "cost hardware_residual"),
    ("products", "life_years", {"product": "box"}, plus(1), "owned", "cost hardware_residual"),
    ("products", "nameplate_kw", {"product": "box"}, times(1.01), "limited", "power_levels"),
    ("products", "repair_days", {"product": "box"}, plus(1), "limited", "unit_numbers"),
    ("cooling", "frequency_decode_fraction", {"cooling": "air"}, times(0.99), "limited", "point_rates"),
    ("cooling", "fan_pump_fraction", {"cooling": "air"}, plus(0.01), "limited", "grid_power"),
    ("cooling", "kw_per_rack", {"cooling": "air"}, times(0.5), "limited", "unit_numbers"),
    ("climate", "h15", {"region": "east", "month": 7}, plus(3), "limited", "grid_power"),
    ("climate", "design_c", {"region": "east", "month": 7}, plus(3), "limited", "power_levels"),
    ("tariffs", "price", {"component": "day"}, times(1.01), "limited", "cost energy"),
    ("tariffs", "price", {"component": "peak"}, times(1.01), "limited", "cost demand_charge"),
    ("tariffs", "price", {"component": "meter"}, times(1.01), "limited", "cost tariff_fixed"),
    ("sites", "rent_per_kw_month", HALL, times(1.01), "limited", "cost facility_rent"),
    ("sites", "build_life_years", {"site": "campus"}, plus(1), "owned", "cost facility_residual"),
    ("sites", "headroom_fraction", HALL, plus(0.05), "optional", "power_levels"),
    ("facility_options", "capex_per_kw", {"cooling": "liquid"}, times(1.01), "owned", "cost cooling_build"),
    ("site_power", "usable_kw", HALL, to(1.0), "limited", "site_power"),
    ("workloads", "retry_fraction", {}, plus(0.01), "limited", "point_rates"),
    ("workloads", "minute_peak_output_ratio", {}, times(1.01), "limited", "point_peaks"),
    ("workloads", "success_fraction", {}, times(0.99), "limited", "effective_tokens"),
    ("workloads", "reasoning_ratio", {}, times(1.01), "limited", "generated_tokens"),
    ("workloads", "waiting_ms", {}, to(251.0), "far_apart", "ttft_target"),
    ("shapes", "input_tokens", {}, plus(1), "limited", "input_tokens"),
    ("demand", "requests_per_s", {}, times(1.01), "limited", "demand_balance"),
    ("profiles", "h12", {"profile": "day"}, times(1.1), "limited", "block_demand"),
    ("carbon", "gco2_per_kwh", {"region": "east"}, times(1.01), "limited", "cost carbon"),
    ("budgets", "limit", {"kind": "opex"}, to(1.0), "limited", "budget"),
    ("supply", "units", {}, to(0.0), "limited", "supply"),
    ("fleet", "retire_date", {"fleet": "old"}, to(pd.Timestamp("2027-02-01")), "bridged", "fleet_balance"),
]


def with_input(
    scenario: Scenario, table: str, column: str, change: Change, where: dict[str, Any]
) -> Scenario:
    frame = with_cell(scenario.tables[table], column, change, where)
    return replace(scenario, tables={**scenario.tables, table: frame})


@pytest.mark.parametrize(("table", "column", "where", "change", "case", "check"), INPUTS)
def test_the_audit_reads_the_input_itself(table, column, where, change, case, check):
    """A plan no longer fits inputs of which one number is another."""
    plan = solved(case)
    other = with_input(plan.scenario, table, column, change, where)
    assert not CHECKS[check](Accounts(plan, Facts(other))).passed


def test_the_audit_reads_the_discount_rate_itself():
    plan = solved("limited")
    settings = plan.scenario.settings.model_copy(update={"discount_rate_fraction": 0.09})
    books = Accounts(plan, Facts(replace(plan.scenario, settings=settings)))
    assert not CHECKS["discount_factors"](books).passed
    assert not CHECKS["objective"](books).passed
