"""A complete little scenario as Python values, for tests that change one thing in it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from planner.inputs import Scenario, make_scenario

HOURS = [f"h{hour:02d}" for hour in range(24)]
STATED = {"source": "note", "source_date": "2026-11", "confidence": "estimate"}
SETTINGS: dict[str, Any] = {"name": "case", "discount_rate_fraction": 0.08}


def tables() -> dict[str, list[dict[str, Any]]]:
    """Return a fresh copy of the rows of every table of the scenario."""
    return copy.deepcopy(TABLES_OF_THE_CASE)


def scenario(changed: Mapping[str, Any] | None = None, **settings: Any) -> Scenario:
    """Return the checked scenario, without the shipped catalogue, with some tables replaced."""
    rows = tables() | dict(changed or {})
    overrides = settings.pop("overrides", ())
    return make_scenario(SETTINGS | settings, rows, catalog=False, overrides=overrides)


def _climate(region: str, base_c: float) -> list[dict[str, Any]]:
    rows = []
    for month in range(1, 13):
        mean = base_c + 8 * (1 - abs(month - 7) / 3)
        hours = {name: mean + (3 if 10 <= hour <= 17 else -2) for hour, name in enumerate(HOURS)}
        rows.append({"region": region, "month": month, **hours, "design_c": mean + 10, **STATED})
    return rows


def _workload(name: str, **values: Any) -> dict[str, Any]:
    return {
        "workload": name,
        "business": "assistant",
        "waiting_ms": 100,
        "success_fraction": 0.98,
        "quality_pass_fraction": 0.97,
        "retry_fraction": 0.02,
        "reasoning_ratio": 1,
        "cached_input_fraction": 0.3,
        "minute_peak_input_ratio": 1.5,
        "minute_peak_output_ratio": 1.4,
        "priority": 1,
        "must_serve_fraction": 1,
    } | values


TABLES_OF_THE_CASE: dict[str, list[dict[str, Any]]] = {
    "periods": [
        {"period": "2027-Q1", "start_date": "2027-01-01", "months": 3},
        {"period": "2027-Q2", "start_date": "2027-04-01", "months": 3},
    ],
    "regions": [
        {"region": "north", "country": "A", "continent": "Europe", "utc_offset_h": 1, **STATED},
        {"region": "south", "country": "B", "continent": "Asia", "utc_offset_h": 5.5, **STATED},
    ],
    "service_classes": [
        {
            "service_class": "chat",
            "meaning": "a person waits",
            "ttft_ms": 1000,
            "tpot_ms": 50,
            "percentile": "p95",
            "availability_fraction": 0.999,
            "deferral_h": 0,
            **STATED,
        }
    ],
    "workloads": [
        _workload("chat", model="dense-8b", service_class="chat"),
        _workload("embed", waiting_ms=0),
    ],
    "shapes": [
        {
            "workload": "chat",
            "shape": "short",
            "share_fraction": 0.75,
            "input_tokens": 500,
            "output_tokens": 100,
        },
        {
            "workload": "chat",
            "shape": "long",
            "share_fraction": 0.25,
            "input_tokens": 3000,
            "output_tokens": 500,
        },
        {"workload": "embed", "shape": "document", "share_fraction": 1},
    ],
    "demand": [
        {
            "workload": workload,
            "region": region,
            "period": period,
            "requests_per_s": rate,
            "requests_per_s_low": 0.8 * rate,
            "requests_per_s_high": 1.5 * rate,
            "profile": "day",
        }
        for workload, region, rate in (("chat", "north", 40), ("chat", "south", 20), ("embed", "north", 5))
        for period in ("2027-Q1", "2027-Q2")
    ],
    "profiles": [
        {
            "profile": "day",
            "day_type": day,
            **dict.fromkeys(HOURS[:8], low),
            **dict.fromkeys(HOURS[8:], high),
            **STATED,
        }
        for day, low, high in (("weekday", 0.5, 1.25), ("weekend", 0.5, 1.25))
    ],
    "chips": [
        {
            "chip": "fast",
            "vendor": "maker",
            "family": "new",
            "bf16_tflops": 1000,
            "fp8_tflops": 2000,
            "memory_gb": 80,
            "memory_tb_per_s": 3.3,
            "tdp_w": 700,
            "scale_up_chips": 8,
            "scale_up_gb_per_s": 450,
            **STATED,
        }
    ],
    "chip_families": [
        {
            "family": "new",
            "bandwidth_efficiency_fraction": 0.7,
            "mfu_bf16_fraction": 0.5,
            "overhead_ratio": 1,
            "band_low_ratio": 0.8,
            "band_high_ratio": 1.25,
            **STATED,
        }
    ],
    "products": [
        {
            "product": "box",
            "chip": "fast",
            "chips_per_unit": 8,
            "vendor": "maker",
            "nameplate_kw": 10,
            "idle_kw": 2.5,
            "busy_kw": 7.5,
            "racks_per_unit": 0.2,
            "coolings": "air",
            "life_years": 5,
            "maintenance_fraction_per_year": 0.02,
            "failures_per_year": 1,
            "repair_days": 5,
            **STATED,
        }
    ],
    "offers": [
        {
            "offer": "buy box",
            "product": "box",
            "vendor": "maker",
            "mode": "purchase",
            "includes": "hardware",
            "price": 250_000,
            "price_unit": "unit",
            "lead_weeks": 16,
            "lead_weeks_low": 12,
            "lead_weeks_high": 26,
            "install_weeks": 4,
            **STATED,
        },
        {
            "offer": "rent box",
            "product": "box",
            "vendor": "renter",
            "mode": "on_demand",
            "includes": "hosted",
            "price": 24,
            "price_unit": "unit_hour",
            "rent_step": "hour",
            "lead_weeks": 0,
            "install_weeks": 0,
            **STATED,
        },
        {
            "offer": "lease box",
            "product": "box",
            "vendor": "lender",
            "mode": "lease",
            "includes": "hardware",
            "price": 9_000,
            "price_unit": "unit_month",
            "term_months": 36,
            "lead_weeks": 12,
            "install_weeks": 4,
            **STATED,
        },
    ],
    "models": [
        {
            "model": "dense-8b",
            "layers": 32,
            "hidden": 4096,
            "heads": 32,
            "kv_heads": 8,
            "head_dim": 128,
            "attention": "GQA",
            "parameters_total_b": 8,
            "parameters_active_b": 8,
            "context_tokens": 131_072,
            **STATED,
        }
    ],
    "operating_points": [
        {
            "point": "box document",
            "product": "box",
            "phase": "mixed",
            "workload": "embed",
            "shape": "document",
            "requests_per_s": 30,
            **STATED,
        }
    ],
    "cooling": [
        {
            "cooling": "air",
            "medium": "air",
            "kw_per_rack": 40,
            "frequency_prefill_fraction": 0.95,
            "frequency_decode_fraction": 0.97,
            "distribution_loss_fraction": 0.07,
            "fan_pump_fraction": 0.1,
            "supply_c": 24,
            "approach_k": 8,
            "chiller_cop": 4,
            "chiller_reference_lift_k": 12,
            "capex_per_kw": 900,
            "maintenance_fraction_per_year": 0.05,
            "currency": "EUR",
            **STATED,
        }
    ],
    "sites": [
        {
            "site": "hall",
            "region": "north",
            "kind": "owned",
            "tariff": "grid",
            "racks": 50,
            "headroom_fraction": 0.1,
            "build_capex_per_kw": 9_000,
            "build_weeks": 52,
            "build_life_years": 15,
            "staff_per_mw": 2,
            "staff_cost_per_year": 90_000,
            "currency": "EUR",
            **STATED,
        },
        {"site": "cloud", "region": "south", "kind": "cloud", **STATED},
    ],
    "site_power": [
        {"site": "hall", "from_date": "2026-01-01", "usable_kw": 400},
        {"site": "hall", "from_date": "2027-03-01", "usable_kw": 900},
    ],
    "ppas": [
        {
            "ppa": "wind",
            "site": "hall",
            "share_fraction": 0.4,
            "price_per_kwh": 0.07,
            "currency": "EUR",
            "start_date": "2027-02-01",
            **STATED,
        }
    ],
    "resource_limits": [{"limit": "water", "kind": "water_m3", "site": "hall", "amount": 1_000_000}],
    "peak_history": [{"site": "hall", "component": "peak", "month": "2026-12-01", "peak_kw": 300}],
    "facility_options": [{"site": "hall", "cooling": "air", "capacity_kw": 1_000, "existing_kw": 300}],
    "climate": [*_climate("north", 4), *_climate("south", 22)],
    "tariffs": [
        {
            "tariff": "grid",
            "component": component,
            "charge": charge,
            "price": price,
            "price_unit": unit,
            "currency": "EUR",
            "day_type": "all",
            "months": months,
            "hours": hours,
            **STATED,
        }
        for component, charge, price, unit, months, hours in (
            ("day", "energy", 0.12, "kwh", None, "07-22"),
            ("night", "energy", 0.08, "kwh", None, "22-07"),
            ("peak", "demand", 9, "kw_month", "11-2", None),
            ("metering", "fixed", 200, "month", None, None),
        )
    ],
    "latency": [
        {"from_region": start, "to_region": end, "rtt_ms": rtt, "statistic": "average", **STATED}
        for start, end, rtt in (("north", "north", 2), ("north", "south", 130), ("south", "south", 2))
    ],
    "fleet": [
        {
            "fleet": "old boxes",
            "product": "box",
            "site": "hall",
            "cooling": "air",
            "units": 6,
            "in_service_date": "2025-06-01",
            "book_value": 500_000,
        }
    ],
    "budgets": [{"budget": "all", "kind": "capex", "limit": 5e6}],
    "supply": [{"offer": "buy box", "period": "2027-Q1", "units": 10}],
    "fx": [
        {"currency": "USD", "usd_per_unit": 1, **STATED},
        {"currency": "EUR", "usd_per_unit": 1.1, **STATED},
    ],
    "sources": [{"source": "note", "title": "A note", "location": "this test", "kind": "estimate"}],
}
