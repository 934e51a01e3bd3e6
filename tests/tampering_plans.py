"""Five plans of different kinds, every stored cell of which is changed to see whether the audit sees it."""

from __future__ import annotations

from functools import cache

from plan_cases import CLOUD, SAID, base_tables, cloud_offer, demand, scenario_of, shipped, workload

from planner.inputs import Scenario, load_scenario, make_scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan import Plan

KEPT_PERIODS = ("2027-Q1", "2027-Q2", "2027-Q3", "2027-Q4", "2028-Q1")
BY_PERIOD = ("periods", "demand", "budgets", "supply")


def small() -> Scenario:
    """The example ``small``: one model, a rented hall and a cloud, pools with waiting."""
    return load_scenario("small")


def deepseek_day() -> Scenario:
    """The example ``deepseek-day``: one day in hours, prefill and decode apart, rented units."""
    return load_scenario("deepseek-day")


def cut_flagship() -> Scenario:
    """The first five quarters of ``flagship`` with few blocks: six sites, three clouds, capex budgets."""
    whole = load_scenario("flagship")
    tables = {}
    for name, frame in whole.tables.items():
        cut = frame
        if name in BY_PERIOD and "period" in frame:
            cut = frame[frame["period"].isna() | frame["period"].isin(KEPT_PERIODS)]
        tables[name] = cut.reset_index(drop=True)
    settings = whole.settings.model_dump() | {"max_blocks": 2, "gap": 0.02}
    return make_scenario(settings, tables, catalog=False)


def hosted() -> Scenario:
    """No hall: units by the hour and reserved, tokens bought by the million, a quota, demand that may go unserved."""
    tables = base_tables()
    tables["models"] = [shipped("models")[0] | {"model": "one", "parameters_active_b": 8}]
    tables["sites"] = [CLOUD]
    tables["site_power"], tables["facility_options"] = [], []
    tables["workloads"] = [
        workload("chat", model="one"),
        workload("batch", business="research", model="one", must_serve_fraction=0.4, value_per_mtok=9),
    ]
    shape = tables["shapes"][0]
    tables["shapes"].append(shape | {"workload": "batch", "shape": "page", "share_fraction": 1})
    page = {"point": "box page", "workload": "batch", "shape": "page", "requests_per_s": 10}
    tables["operating_points"] = [
        row | {"model": "one"} for row in (*tables["operating_points"], tables["operating_points"][0] | page)
    ]
    tables["offers"] = [
        cloud_offer("hour box", "on_demand", 55, rent_step="hour"),
        cloud_offer("quarter box", "on_demand", 40, rent_step="period", supply_units_per_period=4),
        cloud_offer(
            "reserved box",
            "reserved",
            14_000,
            price_unit="unit_month",
            term_months=18,
            lead_weeks=8,
            upfront_fraction=0.1,
            supply_units_per_period=3,
        ),
    ]
    tables["api_offers"] = [
        {
            "api_offer": "tokens",
            "model": "one",
            "vendor": "Somebody",
            "price_input_per_mtok": 0.5,
            "price_cached_input_per_mtok": 0.1,
            "price_output_per_mtok": 1.6,
            "currency": "EUR",
            "mtok_per_period": 60_000,
            **SAID,
        }
    ]
    tables["demand"] += demand("batch", "west", (12, 14, 9, 16), profile="leisure")
    tables["latency"][0] |= {"rtt_ms": 160}
    tables["budgets"] = [{"budget": "rent", "kind": "opex", "line": "on_demand_rent", "limit": 60_000_000}]
    return scenario_of(tables, objective="cost", max_blocks=3)


def campus() -> Scenario:
    """A campus of one's own: halls built, power modules, an old lot, loans, tax, leases and a bill with a peak."""
    tables = base_tables()
    site = {
        "site": "campus",
        "region": "west",
        "kind": "owned",
        "tariff": "grid",
        "racks": 60,
        "headroom_fraction": 0.1,
        "holding_fraction_per_year": 0.03,
        "build_capex_per_kw": 9_000,
        "build_weeks": 12,
        "build_life_years": 15,
        "opening_cost": 400_000,
        "fixed_cost_per_year": 90_000,
        "staff_per_mw": 3,
        "staff_cost_per_year": 80_000,
        "network_cost_per_kw_year": 90,
        "property_tax_fraction_per_year": 0.01,
        "currency": "EUR",
        **SAID,
    }
    tables["sites"] = [site, CLOUD]
    tables["site_power"] = [{"site": "campus", "from_date": "2027-01-01", "usable_kw": 500}]
    tables["facility_options"] = [
        {"site": "campus", "cooling": "air", "existing_kw": 60},
        {"site": "campus", "cooling": "liquid", "capex_per_kw": 1_100, "capacity_kw": 400},
    ]
    gear = {"site": "campus", "item": "switchgear", "life_years": 20, "currency": "EUR"}
    tables["site_modules"] = [
        gear | {"module": "old panel", "kw": 80, "lead_weeks": 10, "energised_date": "2026-06-01"},
        gear | {"module": "panel", "kw": 60, "lead_weeks": 12, "cost": 20_000, "max_modules": 4},
        {"site": "campus", "module": "ups", "item": "ups", "kw": 150, "lead_weeks": 6, "cost": 30_000}
        | {"life_years": 15, "currency": "EUR", "max_modules": 4, "redundancy": "N+1", "existing_modules": 1},
    ]
    tables["fleet"] = [
        {
            "fleet": "old",
            "product": "box",
            "site": "campus",
            "cooling": "air",
            "units": 3,
            "in_service_date": "2025-03-01",
            "book_value": 260_000,
        }
    ]
    tables["offers"][0] |= {
        "lead_weeks": 9,
        "install_weeks": 3,
        "deposit_fraction": 0.3,
        "delivery_fraction": 0.5,
        "payment_term_days": 30,
        "freight_fraction": 0.01,
        "supply_units_per_period": 5,
        "warranty_years": 1,
    }
    tables["offers"] += [
        tables["offers"][0]
        | {
            "offer": "box lease",
            "mode": "lease",
            "price": 5_200,
            "price_unit": "unit_month",
            "term_months": 24,
            "upfront_fraction": 0.1,
            "supply_units_per_period": 2,
            **dict.fromkeys(
                ("deposit_fraction", "delivery_fraction", "payment_term_days", "freight_fraction")
            ),
            "warranty_years": None,
            "price_trend_fraction_per_year": None,
        },
        cloud_offer("cloud box", "on_demand", 45, rent_step="period"),
    ]
    tables["depreciation"] = [
        {
            "asset_class": "accelerator",
            "book_method": "declining_balance",
            "tax_method": "macrs",
            "book_life_years": 4,
            "tax_life_years": 5,
            "declining_ratio": 1.5,
            "loan_term_months": 30,
            **SAID,
        }
    ]
    tables["budgets"] = [
        {"budget": "all", "kind": "total", "limit": 90_000_000},
        {"budget": "boxes", "kind": "capex", "line": "hardware_purchase", "limit": 30_000_000},
    ]
    finance = {"tax_rate_fraction": 0.25, "debt_share_fraction": 0.5, "loan_rate_fraction": 0.06}
    return scenario_of(tables, max_blocks=3, **finance)


PLANS = {make.__name__: make for make in (small, deepseek_day, cut_flagship, hosted, campus)}


@cache
def solved(name: str) -> Plan:
    """Return the plan of one of them, solved once in a test session."""
    return run_plan(PLANS[name](), RunOptions())


__all__ = ["PLANS", "solved"]
