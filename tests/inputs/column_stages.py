"""Small scenarios that together have a row of every kind in every table: facilities, orders, demand, performance."""

from __future__ import annotations

from typing import Any

from column_walk import Stage
from small_scenarios import (
    SAID,
    cooling,
    demand,
    mild,
    point,
    purchase,
    region,
    rental,
    shape,
    workload,
)

Row = dict[str, Any]

MONTHS = ("m1", "m2", "m3")
EUR = [{"currency": "USD", "usd_per_unit": 1, **SAID}, {"currency": "EUR", "usd_per_unit": 1.25, **SAID}]


def months() -> list[Row]:
    return [
        {"period": name, "start_date": f"2027-0{number}-01", "months": 1}
        for number, name in enumerate(MONTHS, 1)
    ]


def box(name: str = "box", **more: Any) -> Row:
    plain = {
        "product": name,
        "chips_per_unit": 1,
        "vendor": "Maker",
        "nameplate_kw": 10,
        "busy_kw": 8,
        "idle_kw": 2,
    }
    more = {
        "racks_per_unit": 1,
        "life_years": 5,
        "asset_class": "gpu",
        "maintenance_fraction_per_year": 0.03,
    } | more
    return plain | more | SAID


def charge(tariff: str, component: str, kind: str, price: float, unit: str, **more: Any) -> Row:
    plain = {"tariff": tariff, "component": component, "charge": kind, "price": price, "price_unit": unit}
    return plain | {"currency": "USD", "day_type": "all"} | more | SAID


def tariffs() -> list[Row]:
    return [
        charge("grid", "energy", "energy", 0.10, "kwh"),
        charge("grid", "spot", "energy", 0.01, "kwh", market="hub"),
        charge(
            "grid",
            "peak",
            "demand",
            9,
            "kw_month",
            ratchet_fraction=0.8,
            ratchet_months=11,
        ),
        charge("grid", "rent of the meter", "fixed", 300, "month"),
        charge("grid", "least take", "minimum", 20, "kw_month", contract_fraction=0.5),
        charge("grid", "levy", "levy", 0.05, "fraction"),
        charge("plain", "first", "energy", 0.12, "kwh", tier_of="block", tier_from=0, tier_unit="kwh"),
        charge("plain", "second", "energy", 0.09, "kwh", tier_of="block", tier_from=4000, tier_unit="kwh"),
        charge("plain", "least take", "minimum", 20, "kw_month", contract_fraction=0.5),
    ]


def statistics() -> list[Row]:
    """Return a made-up factor for every statistic of both latencies."""
    ratios = {"mean": 1.05, "median": 1, "p90": 1.6, "p95": 2, "p99": 3, "unstated": 1}
    return [
        {"metric": metric, "statistic": name, "ratio_to_median": ratio, **SAID}
        | ({} if name == "unstated" else {"attained_fraction": 0.9})
        for metric in ("ttft", "tpot")
        for name, ratio in ratios.items()
    ]


def facility_tables() -> dict[str, list[Row]]:
    staff = {"staff_per_mw": 4, "staff_cost_per_year": 90_000}
    sites = [
        {"site": "own", "region": "home", "kind": "owned", "tariff": "grid", "build_capex_per_kw": 9_000}
        | {
            "build_weeks": 4,
            "build_life_years": 20,
            "opening_cost": 50_000,
            "contract_kw": 90,
            "currency": "USD",
        }
        | staff,
        {"site": "rented", "region": "away", "kind": "colo", "tariff": "plain", "rent_per_kw_month": 150}
        | staff,
        {"site": "cloud", "region": "home", "kind": "cloud", "opening_cost": 7_000},
        {"site": "cloud too", "region": "away", "kind": "cloud"},
    ]
    several, there = {"max_modules": 4}, {"existing_modules": 4}
    lead = {"lead_weeks": 3, "lead_weeks_low": 0.1, "lead_weeks_high": 40}
    module = {"item": "transformer", "kw": 60}
    return {
        "periods": months(),
        "fx": EUR,
        "statistic_factors": statistics(),
        "regions": [region("home"), region("away", 1.0)],
        "climate": [{"region": name, **row} for name in ("home", "away") for row in warm()],
        "carbon": [
            {"region": name, "gco2_per_kwh": 400, "basis": "average", **SAID} for name in ("home", "away")
        ],
        "wholesale": [{"market": "hub", "currency": "USD", **row} for row in prices()],
        "tariffs": tariffs(),
        "cooling": [
            cooling(
                "air", noise_dba=60, capex_per_kw=900, maintenance_fraction_per_year=0.02, water_l_per_kwh=1.1
            )
            | {
                "supply_c": 18,
                "approach_k": 4,
                "distribution_loss_fraction": 0.05,
                "fan_pump_fraction": 0.06,
            },
            cooling("liquid", capex_per_kw=1_300) | {"supply_c": 30, "noise_dba": 55},
            {"cooling": "hosted", "medium": "hosted", **SAID},
        ],
        "power_chains": [
            {"power_chain": "n", "headroom_fraction": 0.1, "capex_per_kw": 100, **SAID},
            {
                "power_chain": "2n",
                "headroom_fraction": 0.3,
                "capex_per_kw": 900,
                "maintenance_fraction_per_year": 0.02,
            }
            | {"availability_fraction": 0.999, "distribution_loss_fraction": 0.08, "build_weeks": 6, **SAID},
        ],
        "sites": [site | SAID for site in sites],
        "site_power": [
            {"site": "own", "from_date": "2027-01-01", "usable_kw": 300},
            {"site": "own", "from_date": "2027-02-10", "usable_kw": 500},
            {"site": "rented", "from_date": "2027-01-01", "usable_kw": 200},
        ],
        "facility_options": [
            {"site": "own", "cooling": "air", "existing_kw": 40, "power_chains": "n;2n"},
            {"site": "own", "cooling": "liquid", "existing_kw": 30},
            {"site": "rented", "cooling": "air"},
            {"site": "rented", "cooling": "liquid"},
        ],
        "hall_retrofits": [
            {
                "site": "own",
                "from_cooling": "air",
                "to_cooling": "liquid",
                "capex_per_kw": 700,
                "life_years": 10,
            }
        ],
        "site_modules": [
            {"site": "own", "module": "to order", "cost": 20_000, "life_years": 20} | module | lead | several,
            {"site": "own", "module": "ordered", "ordered_date": "2026-12-20"} | module | lead | there,
            {"site": "own", "module": "dated", "energised_date": "2026-12-01"} | module | there,
            {"site": "rented", "module": "dated", "energised_date": "2026-12-01"} | module | there,
            {"site": "rented", "module": "to order", "cost": 20_000} | module | lead | several,
        ],
        "bridging_power": [
            {
                "site": name,
                "generator": "set",
                "max_kw": 50,
                "rent_per_kw_month": 30,
                "fuel_per_kwh": 0.3,
                "gco2_per_kwh": 700,
            }
            | lead
            for name in ("own", "rented")
        ],
        "colo_contracts": [
            {"site": "rented", "term_months": 12, "take_fraction": 0.8, "start_date": "2026-02-01"}
            | {"escalator_fraction_per_year": 0.03}
        ],
        "colo_ramp": [{"site": "rented", "from_month": 0, "contracted_kw": 60}],
        "peak_history": [{"site": "own", "component": "peak", "month": "2026-07-01", "peak_kw": 80}],
        "ppas": [
            {
                "ppa": "share",
                "site": "own",
                "share_fraction": 0.3,
                "price_per_kwh": 0.08,
                "currency": "USD",
                **SAID,
            },
            {"ppa": "profile", "site": "rented", "kw": 5, "price_per_kwh": 0.08, "currency": "USD", **SAID},
        ],
        "resource_limits": [
            {"limit": "carbon", "kind": "carbon_t", "amount": 900},
            {"limit": "water", "kind": "water_m3", "amount": 900},
        ],
        "budgets": [{"budget": "all", "kind": "total", "limit": 9e6}],
        "products": [box(provisioned_kw=9), box("other", nameplate_kw=12)],
        "residuals": [
            {"asset_class": "gpu", "age_years": age, "residual_fraction": 1 - age / 5, **SAID}
            for age in (0, 5)
        ],
        "offers": [
            purchase(install_weeks=1, lead_weeks=2, price=60_000),
            rental(price=4.0),
            rental(
                "reserved",
                price=2_000,
                mode="reserved",
                price_unit="unit_month",
                term_months=2,
                rent_step=None,
            ),
        ],
        "fleet": [
            {
                "fleet": name,
                "product": "box",
                "site": site,
                "cooling": option,
                "units": 1,
                "in_service_date": "2026-06-01",
            }
            for name, site, option in (("a", "own", "air"), ("b", "rented", "air"), ("c", "cloud", "hosted"))
        ],
        "latency": [
            {"from_region": "home", "to_region": "away", "rtt_ms": 20, "statistic": "average", **SAID}
        ],
        "workloads": [workload()],
        "shapes": [shape(output_tokens=300, input_tokens=800)],
        "operating_points": [point(requests_per_s=1.0)],
        "demand": demand(MONTHS, (2.0, 3.0, 4.0)) + demand(MONTHS, 1.0, where="away"),
    }


def warm() -> list[Row]:
    hours = {f"h{hour:02d}": 8 + hour for hour in range(24)}
    return [row | hours | {"design_c": 36} for row in mild()]


def prices() -> list[Row]:
    hours = {f"h{hour:02d}": 0.02 + hour / 1000 for hour in range(24)}
    return [{"month": month, **hours, **SAID} for month in range(1, 13)]


FACILITY = Stage(
    "facility",
    facility_tables(),
    (
        {"carbon_price_per_t": 50},
        {"lead_case": "low", "max_blocks": 3},
        {"lead_case": "high", "cooling_case": "low"},
        {"cooling_case": "high"},
    ),
)


def order_tables() -> dict[str, list[Row]]:
    """Return one hall and two clouds, with an offer of every mode, limits, and a forecast in requests and in tokens."""
    term = {"price_unit": "unit_month", "term_months": 12}
    calendar = {"payment_every_months": 3}
    monthly = {"vendor": "Lessor", "lead_weeks": 2, "lead_weeks_low": 0.1, "lead_weeks_high": 40}
    lead = {"origin_country": "Here"}
    opened = {"currency": "USD", **monthly}
    return {
        "periods": months(),
        "fx": EUR,
        "regions": [region("home"), region("away")],
        "sites": [
            {"site": "own", "region": "home", "kind": "owned", "tariff": "grid", **SAID},
            {"site": "own too", "region": "home", "kind": "owned", "tariff": "grid", **SAID},
            {"site": "cloud", "region": "home", "kind": "cloud", **SAID},
            {"site": "cloud too", "region": "away", "kind": "cloud", **SAID},
        ],
        "site_power": [
            {"site": name, "from_date": "2027-01-01", "usable_kw": 900} for name in ("own", "own too")
        ],
        "facility_options": [
            {"site": name, "cooling": "air", "existing_kw": 400} for name in ("own", "own too")
        ],
        "vendor_capacity": [{"limit": "lessor", "vendor": "Lessor", "measure": "units", "amount": 90}],
        "products": [box(), box("other", nameplate_kw=12)],
        "residuals": [
            {"asset_class": "gpu", "age_years": age, "residual_fraction": 1 - age / 5, **SAID}
            for age in (0, 5)
        ],
        "concentration": [
            {"limit": f"by {by}", "by": by, "measure": "spend", "max_fraction": 0.95}
            for by in ("vendor", "country")
        ],
        "offers": [
            purchase(price=60_000, **(opened | lead)),
            purchase("leased", price=2_500, **(opened | lead | term | {"mode": "lease"})),
            purchase("by quarter", price=2_500, **(opened | lead | term | calendar | {"mode": "lease"})),
            purchase("kept", price=2_600, **(opened | lead | term | {"mode": "reserved"})),
            rental(
                "reserved",
                price=2_700,
                **(opened | term | {"mode": "reserved", "rent_step": None, "origin_country": "There"}),
            ),
            rental(
                "reserved by quarter",
                price=2_700,
                **(
                    opened
                    | term
                    | calendar
                    | {"mode": "reserved", "rent_step": None, "origin_country": "There"}
                ),
            ),
            rental(price=4.0, **opened),
            rental("spot", price=2.0, **(opened | {"mode": "spot"})),
        ],
        "fleet": [
            {"fleet": "a", "product": "box", "site": "own", "cooling": "air", "units": 12}
            | {"in_service_date": "2026-06-01"},
            {"fleet": "b", "product": "box", "site": "cloud too", "cooling": "hosted", "units": 9}
            | {"in_service_date": "2026-06-01"},
        ],
        "workloads": [workload(critical_fraction=0.2), workload("said", business="desk"), workload("idle")],
        "shapes": [shape(name, output_tokens=300, input_tokens=800) for name in ("chat", "said", "idle")],
        "operating_points": [
            point(product, requests_per_s=1.0, name=name)
            for product in ("box", "other")
            for name in ("chat", "said", "idle")
        ],
        "latency": [
            {"from_region": "home", "to_region": "away", "rtt_ms": 20, "statistic": "average", **SAID},
            {"from_region": "away", "to_region": "home", "rtt_ms": 20, "statistic": "average", **SAID},
        ],
        "profiles": [
            {"profile": "day", "day_type": "all", **{f"h{hour:02d}": 0.5 + hour / 23 for hour in range(24)}}
            | {"source": "case", "source_date": "2026-11-29", "confidence": "estimate"}
        ],
        "demand": [
            *demand(MONTHS, (2.0, 3.0, 4.0)),
            *(
                {"workload": "said", "region": "home", "period": name, "output_mtok_per_day": 40}
                for name in MONTHS
            ),
            *demand(MONTHS, 1.0, name="idle"),
        ],
        "budgets": [
            {"budget": "capex", "kind": "capex", "limit": 9e6},
            {"budget": "opex", "kind": "opex", "limit": 9e6},
            {"budget": "total", "kind": "total", "limit": 9e6},
        ],
        "quotas": [
            {"quota": "refuse", "workload": "chat", "cap_requests_per_s": 3, "beyond": "refuse"},
            {"quota": "queue", "workload": "said", "cap_requests_per_s": 3, "beyond": "queue", "queue_h": 2},
        ],
        "failure_cases": [
            {"failure_case": "any", "loss": "each_site"},
            {"failure_case": "one", "loss": "site", "site": "own"},
            {"failure_case": "some", "loss": "units", "units": 1},
        ],
    }


ORDERS = Stage(
    "orders",
    order_tables(),
    ({}, {"lead_case": "low", "demand_case": "low"}, {"lead_case": "high", "demand_case": "high"}),
)
