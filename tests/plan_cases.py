"""Small scenarios whose plans together touch every limit and every cost line."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from planner.inputs import Scenario, make_scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan import AuditReport, Plan, audit_plan
from planner.plan.audit.frame_checks import FRAME_CHECKS

Rows = list[dict[str, Any]]

SAID = {"source": "case", "source_date": "2026-01-01", "confidence": "estimate"}
HOURS = [f"h{hour:02d}" for hour in range(24)]
QUARTERS = ("2027-Q1", "2027-Q2", "2027-Q3", "2027-Q4")


def shipped(table: str) -> Rows:
    """Return the rows of a shipped table, their provenance put down to the case."""
    with (files("catalogs") / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [{name: cell or None for name, cell in row.items()} | SAID for row in rows]


def climate(region: str, winter_c: float, summer_c: float, swing_c: float) -> Rows:
    """Return twelve months: a season between two means, a day of so many degrees either side of it."""
    rows = []
    for month in range(1, 13):
        mean = winter_c + (summer_c - winter_c) * (1 - abs(month - 7) / 6)
        hours = {name: mean + swing_c * (1 - abs(at - 15) / 7.5) for at, name in enumerate(HOURS)}
        rows.append({"region": region, "month": month, **hours, "design_c": mean + 2 * swing_c, **SAID})
    return rows


def flat(value: float) -> dict[str, float]:
    """Return the same value in all 24 hours."""
    return dict.fromkeys(HOURS, value)


def base_tables() -> dict[str, Rows]:
    """Return one service on one colocation site, 30 to 48 requests/s, units bought."""
    return {
        "sources": [{"source": "case", "title": "made up", "location": "tests", "kind": "estimate"}],
        "fx": [
            {"currency": "USD", "usd_per_unit": 1, **SAID},
            {"currency": "EUR", "usd_per_unit": 1.25, **SAID},
        ],
        "regions": [
            {"region": "east", "country": "A", "continent": "X", "utc_offset_h": -5, **SAID},
            {"region": "west", "country": "B", "continent": "X", "utc_offset_h": 8, **SAID},
        ],
        "latency": [
            {"from_region": "east", "to_region": "west", "rtt_ms": 180, "statistic": "average", **SAID}
        ],
        "climate": climate("east", -2, 26, 5) + climate("west", 14, 30, 3),
        "carbon": [
            {"region": "east", "gco2_per_kwh": 400, "basis": "average", **SAID},
            {"region": "west", "gco2_per_kwh": 600, "basis": "average", **SAID},
        ],
        "roofline_constants": shipped("roofline_constants"),
        "statistic_factors": [
            {
                "metric": metric,
                "statistic": statistic,
                "ratio_to_median": ratio,
                "attained_fraction": share,
                **SAID,
            }
            for metric in ("ttft", "tpot")
            for statistic, ratio, share in (("median", 1, 0.5), ("p95", 2, 0.95), ("unstated", 1, None))
        ],
        "cooling": [
            {
                "cooling": "air",
                "medium": "air",
                "kw_per_rack": 20,
                "frequency_prefill_fraction": 0.9,
                "frequency_decode_fraction": 0.95,
                "frequency_prefill_low_fraction": 0.8,
                "distribution_loss_fraction": 0.06,
                "fan_pump_fraction": 0.05,
                "supply_c": 24,
                "approach_k": 8,
                "free_cooling_band_k": 10,
                "chiller_cop": 5,
                "chiller_reference_lift_k": 12,
                "capex_per_kw": 900,
                "maintenance_fraction_per_year": 0.04,
                "currency": "USD",
                **SAID,
            },
            {
                "cooling": "liquid",
                "medium": "liquid",
                "kw_per_rack": 80,
                "frequency_prefill_fraction": 1,
                "frequency_decode_fraction": 1,
                "distribution_loss_fraction": 0.05,
                "fan_pump_fraction": 0.02,
                "supply_c": 34,
                "approach_k": 6,
                "free_cooling_band_k": 10,
                "chiller_cop": 6,
                "chiller_reference_lift_k": 6,
                "capex_per_kw": 1500,
                "maintenance_fraction_per_year": 0.05,
                "currency": "USD",
                **SAID,
            },
            {"cooling": "hosted", "medium": "hosted", **SAID},
        ],
        "tariffs": [
            {
                "tariff": "grid",
                "component": "energy",
                "charge": "energy",
                "price": 0.06,
                "price_unit": "kwh",
                "currency": "USD",
                "day_type": "all",
                **SAID,
            },
            {
                "tariff": "grid",
                "component": "day",
                "charge": "energy",
                "price": 0.04,
                "price_unit": "kwh",
                "currency": "USD",
                "day_type": "weekday",
                "hours": "08-20",
                **SAID,
            },
            {
                "tariff": "grid",
                "component": "peak",
                "charge": "demand",
                "price": 9,
                "price_unit": "kw_month",
                "currency": "USD",
                "day_type": "weekday",
                "hours": "12-20",
                **SAID,
            },
            {
                "tariff": "grid",
                "component": "meter",
                "charge": "fixed",
                "price": 500,
                "price_unit": "month",
                "currency": "USD",
                "day_type": "all",
                **SAID,
            },
        ],
        "sites": [
            {
                "site": "hall",
                "region": "east",
                "kind": "colo",
                "tariff": "grid",
                "racks": 60,
                "headroom_fraction": 0.1,
                "rent_per_kw_month": 150,
                "fixed_cost_per_year": 40_000,
                "staff_per_mw": 2,
                "staff_cost_per_year": 100_000,
                "network_cost_per_kw_year": 120,
                "currency": "USD",
                **SAID,
            },
        ],
        "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 400}],
        "facility_options": [{"site": "hall", "cooling": "air"}],
        "products": [
            {
                "product": "box",
                "chips_per_unit": 8,
                "vendor": "Maker",
                "nameplate_kw": 10,
                "idle_kw": 3,
                "busy_kw": 8,
                "racks_per_unit": 0.4,
                "coolings": "air;liquid;hosted",
                "life_years": 5,
                "failures_per_year": 2,
                "repair_days": 3,
                "maintenance_fraction_per_year": 0.05,
                "asset_class": "accelerator",
                **SAID,
            },
        ],
        "residuals": [
            {"asset_class": "accelerator", "age_years": age, "residual_fraction": share, **SAID}
            for age, share in ((0, 0.9), (1, 0.6), (3, 0.3), (5, 0.05))
        ],
        "offers": [
            {
                "offer": "box purchase",
                "product": "box",
                "vendor": "Maker",
                "mode": "purchase",
                "includes": "hardware",
                "price": 250_000,
                "price_unit": "unit",
                "currency": "USD",
                "lead_weeks": 0,
                "install_weeks": 0,
                "installation_fraction": 0.03,
                "price_trend_fraction_per_year": -0.1,
                **SAID,
            },
        ],
        "periods": [
            {"period": name, "start_date": f"2027-{month:02d}-01", "months": 3}
            for name, month in zip(QUARTERS, (1, 4, 7, 10), strict=True)
        ],
        "workloads": [workload("chat")],
        "shapes": [
            {
                "workload": "chat",
                "shape": "short",
                "share_fraction": 0.7,
                "input_tokens": 500,
                "output_tokens": 100,
            },
            {
                "workload": "chat",
                "shape": "long",
                "share_fraction": 0.3,
                "input_tokens": 2_000,
                "output_tokens": 400,
            },
        ],
        "operating_points": [
            point("box short", shape="short", requests_per_s=12),
            point("box long", shape="long", requests_per_s=3),
        ],
        "profiles": [
            {
                "profile": "day",
                "day_type": "weekday",
                **{name: 0.68 + 0.8 * (8 <= at < 20) for at, name in enumerate(HOURS)},
                **SAID,
            },
            {"profile": "day", "day_type": "weekend", **flat(0.8), **SAID},
            {"profile": "leisure", "day_type": "weekday", **flat(0.8), **SAID},
            {"profile": "leisure", "day_type": "weekend", **flat(1.5), **SAID},
        ],
        "demand": demand("chat", "east", (30, 36, 42, 48)),
    }


def workload(name: str, **given: Any) -> dict[str, Any]:
    """Return a workload with retries, reasoning and minute peaks."""
    plain = {
        "workload": name,
        "business": "apps",
        "waiting_ms": 50,
        "success_fraction": 0.98,
        "quality_pass_fraction": 0.95,
        "retry_fraction": 0.02,
        "reasoning_ratio": 1.5,
        "cached_input_fraction": 0.2,
        "minute_peak_input_ratio": 1.6,
        "minute_peak_output_ratio": 1.2,
        "priority": 1,
        "must_serve_fraction": 1,
    }
    return plain | given


def point(name: str, **given: Any) -> dict[str, Any]:
    """Return a stated rate of one box."""
    plain = {"point": name, "product": "box", "phase": "mixed", "workload": "chat", **SAID}
    return plain | given


def demand(name: str, region: str, rates: Sequence[float], profile: str | None = "day") -> Rows:
    """Return one rate per quarter."""
    return [
        {"workload": name, "region": region, "period": period, "requests_per_s": rate, "profile": profile}
        for period, rate in zip(QUARTERS, rates, strict=False)
    ]


def scenario_of(tables: Mapping[str, Rows], **settings: Any) -> Scenario:
    """Return the scenario of these tables, without the shipped catalogue."""
    plain = {
        "name": "case",
        "discount_rate_fraction": 0.08,
        "gap": 0.0,
        "max_blocks": 5,
        "carbon_price_per_t": 30,
    }
    return make_scenario(plain | settings, tables, catalog=False)


def cloud_offer(name: str, mode: str, price: float, **given: Any) -> dict[str, Any]:
    """Return a hosted box by the hour."""
    plain = {
        "offer": name,
        "product": "box",
        "vendor": "Cloud",
        "mode": mode,
        "includes": "hosted",
        "price": price,
        "price_unit": "unit_hour",
        "currency": "USD",
        "lead_weeks": 0,
        "install_weeks": 0,
        "sites": "cloud",
        **SAID,
    }
    return plain | given


CLOUD = {"site": "cloud", "region": "east", "kind": "cloud", **SAID}


def limited() -> Scenario:
    """Power, space, cooling, budget and supply limit what is bought; the rest is rented by the quarter."""
    tables = base_tables()
    tables["sites"][0] |= {"it_limit_kw": 165, "facility_limit_kw": 180, "racks": 10}
    tables["sites"].append(CLOUD)
    tables["site_power"] = [
        {"site": "hall", "from_date": "2026-01-01", "usable_kw": 120},
        {"site": "hall", "from_date": "2027-06-01", "usable_kw": 200},
    ]
    tables["facility_options"] = [{"site": "hall", "cooling": "air", "capacity_kw": 160}]
    tables["offers"][0] |= {"supply_units_per_period": 8, "available_until": "2027-08-01"}
    tables["offers"].append(cloud_offer("cloud box", "on_demand", 40, rent_step="period"))
    tables["supply"] = [{"offer": "box purchase", "period": "2027-Q2", "units": 3}]
    limit = {"limit": "rented of this vendor", "offers": "cloud box", "measure": "units", "amount": 40}
    tables["vendor_capacity"] = [limit]
    tables["budgets"] = [
        {"budget": "capex of the first quarter", "kind": "capex", "period": "2027-Q1", "limit": 2_000_000},
        {"budget": "opex at the hall", "kind": "opex", "site": "hall", "limit": 5_000_000},
        {"budget": "all", "kind": "total", "limit": 60_000_000},
    ]
    return scenario_of(tables)


def bridged() -> Scenario:
    """Bought units take five months; rentals by the hour, spot and a reservation bridge; an old lot
    retires.
    """
    tables = base_tables()
    tables["sites"].append(CLOUD)
    tables["fleet"] = [
        {
            "fleet": "old",
            "product": "box",
            "site": "hall",
            "cooling": "air",
            "units": 6,
            "in_service_date": "2024-02-01",
            "retire_date": "2027-08-15",
            "book_value": 300_000,
        },
        {
            "fleet": "ordered",
            "product": "box",
            "site": "hall",
            "cooling": "air",
            "units": 2,
            "in_service_date": "2027-05-20",
        },
    ]
    tables["offers"][0] |= {"lead_weeks": 18, "install_weeks": 2.5, "lead_weeks_high": 30}
    tables["offers"] += [
        cloud_offer("hour box", "on_demand", 60, rent_step="hour", supply_units_per_period=9),
        cloud_offer(
            "spot box", "spot", 20, rent_step="period", supply_units_per_period=2, interruption_fraction=0.15
        ),
        cloud_offer(
            "spot hour box",
            "spot",
            22,
            rent_step="hour",
            supply_units_per_period=1,
            interruption_fraction=0.2,
        ),
        cloud_offer(
            "reserved box",
            "reserved",
            11_000,
            price_unit="unit_month",
            term_months=9,
            lead_weeks=8,
            supply_units_per_period=1,
        ),
    ]
    return scenario_of(tables)


def unpowered() -> Scenario:
    """The grid is there, a transformer comes after two quarters and gear must be ordered; boxes on sale in the
    first quarter only wait for them, with one that came before; the cloud serves until then.
    """
    tables = base_tables()
    tables["sites"][0] |= {"holding_fraction_per_year": 0.03}
    tables["sites"].append(CLOUD | {"opening_cost": 5_000, "fixed_cost_per_year": 1_200})
    tables["offers"][0] |= {"available_until": "2027-01-31", "lead_weeks": 10}
    tables["offers"].append(cloud_offer("cloud box", "on_demand", 60, rent_step="period"))
    tables["fleet"] = [
        {
            "fleet": "early",
            "product": "box",
            "site": "hall",
            "cooling": "air",
            "units": 1,
            "in_service_date": "2026-11-01",
        }
    ]
    gear = {"site": "hall", "item": "switchgear", "life_years": 20, "currency": "EUR"}
    tables["site_modules"] = [
        {"site": "hall", "module": "first", "item": "transformer", "kw": 150, "ordered_date": "2026-10-01"}
        | {"lead_weeks": 39, "lead_weeks_high": 52},
        gear | {"module": "panel", "kw": 60, "lead_weeks": 20, "cost": 20_000, "max_modules": 3},
        gear | {"module": "late panel", "kw": 200, "lead_weeks": 5, "cost": 500_000}
        | {"earliest_order_date": "2027-07-01"},
    ]  # fmt: skip
    return scenario_of(tables)


def optional() -> Scenario:
    """Two fifths of a service may go unserved; what is served has a value, and power is short."""
    tables = base_tables()
    tables["workloads"] = [workload("chat", must_serve_fraction=0.6, value_per_mtok=40)]
    tables["site_power"] = [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 150}]
    return scenario_of(tables, objective="cost", residual_method="none")


def far_apart() -> Scenario:
    """Two halls on two continents with their own tariffs and money; latency targets; a lease; two
    services.
    """
    tables = base_tables()
    hall = tables["sites"][0]
    tables["sites"] = [
        hall | {"fixed_cost_per_year": None},
        hall
        | {
            "site": "annex",
            "region": "west",
            "tariff": "harbour",
            "currency": "EUR",
            "rent_per_kw_month": 90,
        },
    ]
    tables["site_power"] = [
        {"site": "hall", "from_date": "2027-01-01", "usable_kw": 220},
        {"site": "annex", "from_date": "2027-01-01", "usable_kw": 160},
    ]
    tables["facility_options"] += [
        {"site": "annex", "cooling": "air"},
        {"site": "annex", "cooling": "liquid"},
    ]
    tables["tariffs"] += [
        {
            "tariff": "harbour",
            "component": "energy",
            "charge": "energy",
            "price": 0.05,
            "price_unit": "kwh",
            "currency": "EUR",
            "day_type": "all",
            "hours": "07-23",
            **SAID,
        },
        {
            "tariff": "harbour",
            "component": "night",
            "charge": "energy",
            "price": 0.03,
            "price_unit": "kwh",
            "currency": "EUR",
            "day_type": "all",
            "hours": "23-07",
            **SAID,
        },
        {
            "tariff": "harbour",
            "component": "peak",
            "charge": "demand",
            "price": 11,
            "price_unit": "kw_month",
            "currency": "EUR",
            "day_type": "all",
            "hours": "10-12",
            "weekend_hours": "00-24",
            "months": "1-2;6-9",
            **SAID,
        },
        {
            "tariff": "harbour",
            "component": "new fee",
            "charge": "demand",
            "price": 24,
            "price_unit": "kw_year",
            "currency": "EUR",
            "day_type": "all",
            "start_date": "2027-05-17",
            **SAID,
        },
    ]
    tables["offers"] += [
        {
            "offer": "box lease",
            "product": "box",
            "vendor": "Bank",
            "mode": "lease",
            "includes": "hardware",
            "price": 4_800,
            "price_unit": "unit_month",
            "currency": "EUR",
            "lead_weeks": 4,
            "install_weeks": 2,
            "term_months": 24,
            "price_trend_fraction_per_year": -0.05,
            "regions": "west",
            **SAID,
        },
    ]
    targets = {"ttft_ms": 600, "e2e_ms": 9_000, "percentile": "p95"}
    tables["workloads"] = [workload("chat", **targets), workload("batch", waiting_ms=0, reasoning_ratio=1)]
    tables["shapes"].append(
        {"workload": "batch", "shape": "page", "share_fraction": 1, "input_tokens": 900, "output_tokens": 300}
    )
    timed = {"ttft_ms": 350, "ttft_statistic": "p95", "tpot_ms": 12, "tpot_statistic": "p95"}
    tables["operating_points"] = [
        point("box short", shape="short", requests_per_s=12, **timed),
        point("box long", shape="long", requests_per_s=3, **timed),
        point("box page", workload="batch", shape="page", requests_per_s=6),
    ]
    tables["demand"] = demand("chat", "east", (12, 14, 16, 18)) + demand(
        "chat", "west", (10, 12, 14, 16), profile="leisure"
    )
    tables["demand"] += demand("batch", "east", (8, 8, 8, 8), profile=None)
    return scenario_of(tables, max_blocks=4)


def owned() -> Scenario:
    """An owned site has to be opened and built: air stands already, liquid is built, one cheap period is
    missed.
    """
    tables = base_tables()
    site = {
        "site": "campus",
        "region": "west",
        "kind": "owned",
        "tariff": "grid",
        "racks": 40,
        "headroom_fraction": 0.2,
        "build_capex_per_kw": 9_000,
        "build_weeks": 12,
        "build_life_years": 15,
        "opening_cost": 400_000,
        "fixed_cost_per_year": 90_000,
        "staff_per_mw": 3,
        "staff_cost_per_year": 80_000,
        "currency": "EUR",
        **SAID,
    }
    tables["sites"] = [site, CLOUD]
    tables["site_power"] = [{"site": "campus", "from_date": "2027-03-15", "usable_kw": 500}]
    tables["facility_options"] = [
        {"site": "campus", "cooling": "air", "existing_kw": 60},
        {"site": "campus", "cooling": "liquid", "capex_per_kw": 1_100, "capacity_kw": 300},
    ]
    tables["offers"].append(cloud_offer("cloud box", "on_demand", 90, rent_step="period"))
    tables["demand"] = demand("chat", "east", (30, 36, 42, 48), profile=None)
    return scenario_of(
        tables, residual_method="sinking_fund", lead_case="high", cooling_case="low", max_blocks=3
    )


def split() -> Scenario:
    """Prefill and decode run on different boxes, with targets for the first token, each later one, and the
    whole; a fifth survives the loss of one unit of any kind.
    """
    tables = base_tables()
    engine = shipped("engines")[0] | {"models": None, "vendors": None}
    tables["software_eras"] = shipped("software_eras")
    tables["engines"] = [
        engine | {"engine": "exact", "quality_pass_fraction": 1},
        engine | {"engine": "small", "quality_pass_fraction": 0.97},
    ]
    tables["products"].append(
        tables["products"][0] | {"product": "slim", "nameplate_kw": 6, "busy_kw": None, "idle_kw": 1}
    )
    tables["offers"].append(
        tables["offers"][0]
        | {
            "offer": "slim purchase",
            "product": "slim",
            "price": 120_000,
            "price_trend_fraction_per_year": None,
        }
    )
    tables["workloads"] = [
        workload(
            "chat",
            ttft_ms=700,
            tpot_ms=30,
            e2e_ms=30_000,
            percentile="p95",
            engines="exact;small",
            critical_fraction=0.2,
        )
    ]
    tables["failure_cases"] = [{"failure_case": "one unit", "loss": "units", "units": 1}]
    first = {"phase": "prefill", "ttft_ms": 400, "ttft_statistic": "p95"}
    later = {"phase": "decode", "tpot_ms": 20, "tpot_statistic": "p95", "engine": "small"}
    both = {
        "ttft_ms": 450,
        "ttft_statistic": "p95",
        "tpot_ms": 24,
        "tpot_statistic": "p95",
        "engine": "exact",
    }
    tables["operating_points"] = [
        point("box short in", shape="short", requests_per_s=40, engine="exact", **first),
        point("box long in", shape="long", requests_per_s=10, engine="exact", **first),
        point("slim short out", product="slim", shape="short", requests_per_s=9, **later),
        # One replica over two boxes of eight chips.
        point(
            "slim long out",
            product="slim",
            shape="long",
            requests_per_s=5,
            chips=16,
            tensor_parallel=8,
            pipeline_parallel=2,
            **later,
        ),
        point("box long whole", shape="long", requests_per_s=2, **both),
    ]
    return scenario_of(tables)


def impossible() -> Scenario:
    """Two units' worth of power for ten units' worth of work."""
    tables = base_tables()
    tables["site_power"] = [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 25}]
    return scenario_of(tables)


def by_hand() -> Scenario:
    """One period of 100 hours, one steady service, one kind of box at one hall: everything can be worked out
    by hand.

    6 requests/s of 500 prompt and 1,000 visible tokens, twice as many generated, a quarter of them tried
    again. A box makes 6.25 attempts/s at full clock; the hall holds 0.8 of it: 5 attempts/s, 4 first
    attempts/s. 1.5 boxes are busy, so 2 are bought. A box draws 3 kW idle and 8 kW busy; the hall adds 0.2 kW
    per kW and runs no chiller.
    """
    tables = base_tables()
    tables["periods"] = [{"period": "run", "start_date": "2027-01-04", "hours": 100}]
    tables["chips"] = [
        shipped("chips")[0]
        | {
            "chip": "core",
            "family": "plain",
            "bf16_tflops": 100,
            "memory_tb_per_s": 2,
            "fp8_tflops": None,
            "int8_tops": None,
            "fp4_tflops": None,
            "tdp_w": 600,
        }
    ]
    tables["chip_families"] = [
        shipped("chip_families")[0]
        | {"family": "plain", "mfu_bf16_fraction": 0.5, "mfu_fp8_fraction": None, "mfu_fp4_fraction": None}
    ]
    steady = {"opaque_prefill_time_fraction": 0.5, "prefill_power_ratio": 1, "decode_power_ratio": 1}
    steady |= {"power_compute_fraction": 1e9, "power_busy_fraction": 1}
    tables["roofline_constants"] = [
        row | {"value": steady.get(str(row["constant"]), row["value"])}
        for row in tables["roofline_constants"]
    ]
    tables["models"] = [shipped("models")[0] | {"model": "one", "parameters_active_b": 8}]
    engine = shipped("engines")[0] | {
        "engine": "exact",
        "models": None,
        "vendors": None,
        "quality_pass_fraction": 1,
    }
    tables["software_eras"] = shipped("software_eras")
    tables["engines"] = [engine | {"weight_precision": "bf16", "kv_precision": "bf16"}]
    tables["cooling"][0] |= {
        "frequency_prefill_fraction": 0.8,
        "frequency_decode_fraction": 0.8,
        "distribution_loss_fraction": 0.2,
        "fan_pump_fraction": 0,
        "supply_c": 60,
    }
    tables["tariffs"] = [tables["tariffs"][0] | {"price": 0.1}]
    tables["sites"] = [
        {
            "site": "hall",
            "region": "east",
            "kind": "colo",
            "tariff": "grid",
            "rent_per_kw_month": 74.4,
            "staff_per_mw": 10,
            "staff_cost_per_year": 87_600,
            "network_cost_per_kw_year": 87.6,
            "currency": "USD",
            **SAID,
        }
    ]
    tables["products"][0] |= {
        "chip": "core",
        "failures_per_year": None,
        "repair_days": None,
        "maintenance_fraction_per_year": None,
    }
    tables["offers"] = [
        {
            "offer": "box purchase",
            "product": "box",
            "vendor": "Maker",
            "mode": "purchase",
            "includes": "hardware",
            "price": 438_000,
            "price_unit": "unit",
            "currency": "USD",
            "lead_weeks": 0,
            "install_weeks": 0,
            **SAID,
        }
    ]
    tables["workloads"] = [
        workload(
            "chat",
            model="one",
            success_fraction=0.9,
            quality_pass_fraction=0.8,
            retry_fraction=0.25,
            reasoning_ratio=2,
            cached_input_fraction=0,
            minute_peak_input_ratio=1,
            minute_peak_output_ratio=1,
        )
    ]
    tables["shapes"] = [
        {
            "workload": "chat",
            "shape": "only",
            "share_fraction": 1,
            "input_tokens": 500,
            "output_tokens": 1_000,
        }
    ]
    tables["operating_points"] = [
        point("box only", shape="only", requests_per_s=6.25, model="one", engine="exact", concurrency=40)
    ]
    tables["demand"] = [{"workload": "chat", "region": "east", "period": "run", "requests_per_s": 6}]
    # More than is asked: nothing is beyond it.
    tables["quotas"] = [{"quota": "chat", "workload": "chat", "cap_requests_per_s": 7, "beyond": "refuse"}]
    return scenario_of(tables, residual_method="none", carbon_price_per_t=0)


def survives() -> Scenario:
    """Two halls and a cloud; half of the demand survives the loss of any, and all of it that of one box; the
    data stays in its two countries, and answers from the west cost their way.
    """
    tables = base_tables()
    hall = tables["sites"][0]
    tables["sites"] = [
        hall,
        hall | {"site": "annex", "region": "west"},
        {"site": "cloud", "region": "west", "kind": "cloud", **SAID},
    ]
    tables["site_power"] = [
        {"site": site, "from_date": "2027-01-01", "usable_kw": 400} for site in ("hall", "annex")
    ]
    tables["facility_options"] += [{"site": "annex", "cooling": "air"}]
    tables["workloads"] = [
        workload(
            "chat",
            critical_fraction=0.5,
            residency_regions="east",
            residency_countries="B",
            egress_bytes_per_token=900,
        )
    ]
    tables["egress_prices"] = [
        {"from_region": "west", "to_region": "east", "price_per_gb": 0.16, "currency": "EUR", **SAID}
    ]
    tables["failure_cases"] = [
        {"failure_case": "any site", "loss": "each_site"},
        {"failure_case": "one box", "loss": "units", "units": 1},
    ]
    return scenario_of(tables, max_blocks=2, gap=0.01)


def metered() -> Scenario:
    """The bill in full: tiers of energy and demand, a ratchet, a coincident peak, a minimum; two contracts, limits on
    carbon and water, and a service that may wait for the cheap hours.
    """
    tables = base_tables()
    energy, _, peak, meter = tables["tariffs"]
    use = energy | {"tier_of": "use", "tier_unit": "kwh"}
    kw = peak | {"tier_of": "kw", "tier_unit": "kw", "ratchet_fraction": 0.5}
    tables["tariffs"] = [
        use | {"component": "first use", "tier_from": 0, "price": 0.08},
        use | {"component": "more use", "tier_from": 20_000, "price": 0.05},
        energy | {"component": "night", "hours": "00-06", "price": -0.02},
        kw | {"component": "first kw", "tier_from": 0},
        kw | {"component": "more kw", "tier_from": 40, "price": 12},
        peak | {"component": "named", "price": 2, "named_hours": "2026-02-11T17:00;2026-05-13T17:00"},
        meter | {"component": "least", "charge": "minimum", "price": 3_400},
    ]
    earlier = {"site": "hall", "component": "named"}
    tables["peak_history"] = [
        earlier | {"month": "2026-02-01", "peak_kw": 30},
        earlier | {"month": "2026-05-01", "peak_kw": 20},
    ]
    contract = {"site": "hall", "currency": "EUR", "gco2_per_kwh": 20, **SAID}
    tables["ppas"] = [
        contract | {"ppa": "wind", "share_fraction": 0.3, "price_per_kwh": 0.07},
        contract | {"ppa": "river", "kw": 10, "price_per_kwh": 0.05},
    ]
    tables["cooling"][0] |= {"water_l_per_kwh": 1.2}
    tables["resource_limits"] = [
        {"limit": "carbon", "kind": "carbon_t", "site": "hall", "amount": 5_000},
        {"limit": "water", "kind": "water_m3", "year": 2027, "amount": 9_000},
    ]
    tables["workloads"] = [workload("chat", deferral_h=8)]
    tables["periods"] = tables["periods"][:2]
    tables["demand"] = demand("chat", "east", (30, 36), profile=None)
    return scenario_of(tables, defer_demand=True, max_blocks=3)


CASES = {
    case.__name__: case
    for case in (
        survives,
        metered,
        limited,
        bridged,
        unpowered,
        optional,
        far_apart,
        owned,
        split,
        impossible,
        by_hand,
    )
}


BESIDE_THEIR_CASES = {
    "cost carbon_offset",
    *("investment", "loans"),
    *("ordered_in_time", "commissioned", "date_order", "deposits", "rented_hours"),
    *("minimum_order", "order_lots"),
    *("tier_units", "tiers_reached", "tier_terms"),
    *("retired_units", "resold_units", "cost resale"),
    *("api_admissible", "api_allowance", "api_rows", "cost api_tokens"),
    *("waterfall_hours", "waterfall"),
    *("spot_share", "warm_buffer", "warm_capacity", "warm_rent"),
    "data_residency",
    *("concentration", "source_count", "commissioning_pace", "export_limits"),
    *("quota_cap", "quota_split", "quota_demand"),
    *("rent_minimum", "contracted_power", "colo_contracts", "cost facility_rent_unused"),
    *("bridge_limit", "bridge_hire", "bridge_term", "bridge_tail", "bridge_output"),
    *("cost bridge_rent", "cost bridge_fuel", "cost bridge_carbon"),
    *("commissioning_power", "commissioning_path", "commissioning_hall"),
    *("commissioning_contract", "commissioning_racks", "installation_days"),
    *("purchase_amounts", "purchase_dates"),
    *("unstated_supply", "spare_confidence", "incentives", "cost incentive"),
    "cost property_tax",
    "cost hall_retrofit",
    *("priority_shares", "priority_order", "served_share"),
    "quality_gates",
    *("configuration_use", "configuration_terms", "configuration_limit", "cost qualification"),
    *("utilisation_caps", "pool_latency"),
    *(
        "instalments",
        "cost rent_accrued",
        "cost ratchet_after_horizon",
        "baseline_costs",
        "investment_measures",
    ),
    # Frames made once more (``test_frame_checks``).
    *FRAME_CHECKS,
    *("block_labels", "headline_totals", "decided_when", "asset_decisions", "cash_kinds"),
    *("days_of_test", "hours_short"),
    *("cost freight", "cost duty", "cost tax", "cost spares", "cost prepaid_rent_left"),
}
"""Checks tampered with beside the cases that have them (``cases``, ``pipeline``, ``test_hall_retrofit``,
``test_colocation``, ``test_bridging``, ``test_commissioning``, ``test_purchase_schedule``, ``test_failure_audit``,
``test_unstated_supply``, ``test_spares``, ``test_incentives``)."""


@cache
def solved(name: str) -> Plan:
    """Return the plan of a case, solved once in a test session."""
    return run_plan(CASES[name](), RunOptions(baselines=False))


@cache
def audited(name: str) -> AuditReport:
    """Return the audit of a case's plan, made once in a test session."""
    return audit_plan(solved(name))
