"""Two months of one hall and a cloud region: products and offers, work of every kind, quotas and token services."""

from __future__ import annotations

from typing import Any

from column_stages import EUR, box, charge, statistics
from column_walk import Stage
from small_scenarios import SAID, demand, point, purchase, region, rental, shape, workload

Row = dict[str, Any]
PERIODS = ("m1", "m2")


def offers() -> list[Row]:
    term = {"mode": "lease", "price_unit": "unit_month", "term_months": 12}
    return [
        purchase(price=60_000, supply_units_per_period=200, origin_country="Here", sites="own"),
        purchase("leased", price=2_500, **term),
        rental(price=4.0, currency="EUR"),
        rental("other", product="other", price=5.0),
        purchase("other bought", product="other", price=70_000),
    ]


def products() -> list[Row]:
    kept = {"failures_per_year": 2, "repair_days": 4, "parts_fraction_per_failure": 0.01}
    made = {"chip": "fast", "chips_per_unit": 8, "coolings": "air;hosted", "provisioned_kw": 9}
    return [box(**(kept | made)), box("other", nameplate_kw=12, asset_class="server", racks_per_unit=0.05)]


def workloads() -> list[Row]:
    """Return work with and without a model, optional, put off, sized on the p99 and on the mean of the minutes."""
    burst = {"minute_peak_input_ratio": 3, "minute_peak_output_ratio": 3}
    p99 = {"sizing_statistic": "p99", "minute_p99_input_ratio": 2, "minute_p99_output_ratio": 2}
    mean = {"sizing_statistic": "mean", "scale_up_delay_s": 30, "tpot_ms": 60, "percentile": "p95"}
    of_model = {"model": "every", "business": "desk"}
    optional = {"must_serve_fraction": 0.5, "value_per_mtok": 900}
    return [
        workload(
            "sized", **(of_model | burst | p99 | {"cache_write_fraction": 0.2, "scale_up_delay_s": 900})
        ),
        workload("quick", **(of_model | burst | mean)),
        workload("spare", **(of_model | optional | {"priority": 3})),
        workload(
            "plain", **burst, **p99, egress_bytes_per_token=5, critical_fraction=0.3, scale_up_delay_s=900
        ),
        workload("urgent", **optional),
        workload("brisk", **burst, **mean),
        workload("later", **(optional | {"deferral_h": 3, "priority": 2})),
    ]


def api_offers() -> list[Row]:
    service = {"api_offer": "tokens", "model": "every", "vendor": "Service", "price_input_per_mtok": 3}
    service |= {"price_output_per_mtok": 9, "price_cached_input_per_mtok": 1, "price_cache_write_per_mtok": 4}
    service |= {"currency": "EUR", "price_trend_fraction_per_year": -0.1, "quality_pass_fraction": 0.99}
    service |= {"ttft_ms": 100, "tpot_ms": 10, "mtok_per_period": 1e6, "regions": "home;away"}
    return [service | {"available_from": "2027-01-01", "available_until": "2027-12-31"} | SAID]


def quotas() -> list[Row]:
    return [
        {"quota": "refuse", "workload": "sized", "cap_requests_per_s": 1, "beyond": "refuse"},
        {"quota": "queue", "workload": "plain", "cap_requests_per_s": 1, "beyond": "queue", "queue_h": 2},
        {"quota": "tokens", "workload": "brisk", "cap_mtok": 1_000, "beyond": "refuse", "period": "m1"},
        {"quota": "money", "workload": "quick", "cap_currency": 900, "price_per_mtok": 1}
        | {"beyond": "degrade", "fallback_workload": "spare"},
    ]


def chips() -> list[Row]:
    fast = {"vendor": "Maker", "family": "new", "memory_gb": 80, "memory_tb_per_s": 3.3, "tdp_w": 700}
    return [{"chip": name, **fast, "scale_up_chips": 8, **SAID} for name in ("fast", "slow")]


def families() -> list[Row]:
    new = {
        "family": "new",
        "bandwidth_efficiency_fraction": 0.7,
        "mfu_bf16_fraction": 0.5,
        "overhead_ratio": 1,
    }
    return [new | {"band_low_ratio": 0.8, "band_high_ratio": 1.25} | SAID]


def day() -> list[Row]:
    hours = {f"h{hour:02d}": 0.5 + hour / 23 for hour in range(24)}
    return [{"profile": "day", "day_type": name, **hours, **SAID} for name in ("weekday", "weekend")]


def service_tables() -> dict[str, list[Row]]:
    work = workloads()
    names = [row["workload"] for row in work]
    forecasts = []
    for name in names:
        for row in demand(PERIODS, 2.0, name):
            cases = {"requests_per_s_low": 1.0, "requests_per_s_high": 3.0}
            forecasts.append(row | cases | ({"profile": "day"} if name in ("sized", "plain") else {}))
    tokens = {"output_mtok_per_day": 40, "output_mtok_per_day_low": 30, "output_mtok_per_day_high": 50}
    forecasts += [{"workload": "brisk", "region": "away", "period": name, **tokens} for name in PERIODS]
    return {
        "periods": [
            {"period": name, "start_date": f"2027-0{at}-01", "months": 1}
            for at, name in enumerate(PERIODS, 1)
        ],
        "fx": EUR,
        "statistic_factors": statistics(),
        "regions": [region("home"), region("away", 1.0) | {"country": "There"}],
        "latency": [
            {"from_region": one, "to_region": two, "rtt_ms": 20, "statistic": "average", **SAID}
            for one, two in (("home", "away"), ("away", "home"))
        ],
        "egress_prices": [
            {"from_region": one, "to_region": two, "price_per_gb": 0.1, "currency": "EUR", **SAID}
            for one, two in (("home", "away"), ("away", "home"))
        ],
        "tariffs": [charge("grid", "energy", "energy", 0.1, "kwh")],
        "sites": [
            {"site": "own", "region": "home", "kind": "owned", "tariff": "grid", "racks": 900, **SAID},
            {"site": "cloud", "region": "away", "kind": "cloud", **SAID},
        ],
        "site_power": [{"site": "own", "from_date": "2027-01-01", "usable_kw": 5_000}],
        "facility_options": [
            {"site": "own", "cooling": "air", "existing_kw": 4_000},
            {"site": "own", "cooling": "liquid", "existing_kw": 4_000},
        ],
        "chips": chips(),
        "chip_families": families(),
        "models": [{"model": "every", "context_tokens": 9_000, **SAID}],
        "products": products(),
        "residuals": [
            {"asset_class": name, "age_years": age, "residual_fraction": 1 - age / 5, **SAID}
            for name in ("gpu", "server")
            for age in (0, 5)
        ],
        "offers": offers(),
        "supply": [{"offer": "purchase", "period": "m1", "units": 90}],
        "offer_tiers": [
            {
                "offer": "purchase",
                "from_units": 5,
                "discount_fraction": 0.05,
                "basis": "all_units",
                "counts": "order",
            },
            {"offer": "leased", "from_units": 5, "price": 2_400, "basis": "incremental", "counts": "order"},
        ],
        "export_limits": [{"chip": "slow", "country": "none", "from_date": "2027-02-01"}],
        "vendor_capacity": [
            {"limit": "named", "offers": "purchase", "measure": "units", "amount": 90, "period": "m1"},
            {"limit": "of a vendor", "vendor": "Maker", "measure": "kw", "amount": 9_000},
        ],
        "api_offers": api_offers(),
        "workloads": work,
        "shapes": [shape(name, output_tokens=300, input_tokens=800) for name in names],
        "operating_points": [
            point(product, requests_per_s=1.0, name=name, tpot_ms=20, tpot_statistic="p95")
            for product in ("box", "other")
            for name in names
        ],
        "profiles": day(),
        "demand": forecasts,
        "quotas": quotas(),
        "failure_cases": [
            {"failure_case": "any", "loss": "each_site"},
            {"failure_case": "one", "loss": "site", "site": "own"},
            {"failure_case": "some", "loss": "units", "units": 1, "product": "box", "site": "own"},
        ],
        "concentration": [
            {"limit": "vendor", "by": "vendor", "measure": "spend", "max_fraction": 0.9, "period": "m1"},
            {"limit": "product", "by": "product", "measure": "units", "min_count": 2, "min_fraction": 0.1},
        ],
        "depreciation": [
            {"asset_class": "gpu", "book_method": "declining_balance", "book_life_years": 4}
            | {"book_residual_fraction": 0.1, "declining_ratio": 2, "tax_method": "straight_line"}
            | {"tax_life_years": 3, "loan_term_months": 24, **SAID},
            {
                "asset_class": "server",
                "book_method": "straight_line",
                "tax_method": "macrs",
                "tax_life_years": 5,
            }
            | SAID,
        ],
    }


SERVICE = Stage(
    "service",
    service_tables(),
    (
        {"defer_demand": True, "priority_rule": "strict"},
        {"demand_case": "low"},
        {"demand_case": "high"},
    ),
    words={"workloads.residency_countries": ("none",), "workloads.scale_up_delay_s": (500,)},
)
