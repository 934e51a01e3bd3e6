"""A hall of ours and one in a colocation, each in a region of its own: climate, cooling, power chains, metered PUE."""

from __future__ import annotations

from typing import Any

from column_bills import week
from column_speed import chips, engines, families, models
from column_stages import EUR, box, charge, statistics
from column_walk import Stage
from small_scenarios import SAID, cooling, demand, mild, purchase, region, shape, workload

Row = dict[str, Any]
MONTHS = ("m1", "m2")
REGIONS = ("home", "away")


def options() -> list[Row]:
    """Return options of air and liquid, with and without a power chain of their own, and hosted."""
    held = {"frequency_prefill_fraction": 0.9, "frequency_decode_fraction": 0.95}
    held |= {"frequency_prefill_low_fraction": 0.8, "frequency_prefill_high_fraction": 1.0}
    held |= {"frequency_decode_low_fraction": 0.85, "frequency_decode_high_fraction": 1.0}
    plant = {"capex_per_kw": 900, "maintenance_fraction_per_year": 0.02, "water_l_per_kwh": 1.1}
    plant |= {"fan_pump_fraction": 0.06, "distribution_loss_fraction": 0.05, "supply_c": 18, "approach_k": 4}
    plant |= {"noise_dba": 69, "currency": "EUR"} | held
    return [
        cooling("air", kw_per_rack=20.0, **plant),
        cooling("rear_door", **plant) | {"power_chain": "n", "heat_limit_of": "air"},
        cooling("liquid", **plant) | {"power_chain": "2n", "heat_limit_of": "air"},
        cooling("liquid without", **plant) | {"medium": "liquid"},
        {"cooling": "hosted", "medium": "hosted", **SAID},
    ]


def chain() -> Row:
    row = {"power_chain": "2n", "headroom_fraction": 0.3, "capex_per_kw": 900, "availability_fraction": 0.99}
    row |= {"maintenance_fraction_per_year": 0.02, "distribution_loss_fraction": 0.08, "build_weeks": 3}
    row |= {"frequency_fraction": 0.95, "frequency_low_fraction": 0.9, "frequency_high_fraction": 1.0}
    return row | {"transient_margin_fraction": 0.1, "noise_dba": 69, "currency": "EUR"} | SAID


def summer() -> list[Row]:
    """Return a climate in which every hour is too warm for outdoor air alone."""
    hours = {f"h{hour:02d}": 16 + hour / 4 for hour in range(24)}
    return [row | hours | {"design_c": 30} for row in mild()]


def place_tables() -> dict[str, list[Row]]:
    hall = {"tariff": "grid", "racks": 40, "noise_limit_dba": 70, "staff_per_mw": 4}
    build = {"build_capex_per_kw": 9_000, "build_weeks": 2, "build_life_years": 20}
    metered = {"cooling": "air", **SAID}
    return {
        "periods": [
            {"period": name, "start_date": f"2027-0{at}-01", "months": 1} for at, name in enumerate(MONTHS, 1)
        ],
        "fx": EUR,
        "statistic_factors": statistics(),
        "regions": [region("home"), region("away", 1.0)],
        "latency": [
            {"from_region": one, "to_region": two, "rtt_ms": 3, "statistic": "average", **SAID}
            for one, two in (("home", "away"), ("away", "home"))
        ],
        "climate": [{"region": name, **row} for name in REGIONS for row in summer()],
        "carbon": [{"region": name, "gco2_per_kwh": 400, "basis": "average", **SAID} for name in REGIONS],
        "tariffs": [
            charge("grid", "day", "energy", 0.2, "kwh", hours="08-20"),
            charge("grid", "night", "energy", 0.1, "kwh", hours="20-08"),
        ],
        "cooling": options(),
        "power_chains": [chain(), {"power_chain": "n", "frequency_fraction": 0.95, **SAID}],
        "sites": [
            {"site": "own", "region": "home", "kind": "owned", **hall, **build, **SAID},
            {"site": "rented", "region": "away", "kind": "colo", "rent_per_kw_month": 90, **hall, **SAID},
        ],
        "site_power": [
            {"site": name, "from_date": "2027-01-01", "usable_kw": 900} for name in ("own", "rented")
        ],
        "facility_options": [
            {"site": "own", "cooling": "air", "capacity_kw": 500},
            {"site": "own", "cooling": "liquid"},
            {"site": "own", "cooling": "liquid without"},
            {"site": "own", "cooling": "rear_door"},
            {"site": "rented", "cooling": "air"},
        ],
        "site_pue": [
            {"site": name, "month": month, **meter, **metered}
            for name in ("own", "rented")
            for month, meter in ((1, {"pue": 1.3}), (2, {"facility_kwh": 1_300, "it_kwh": 1_000}))
        ],
        "resource_limits": [
            {"limit": "carbon", "kind": "carbon_t", "amount": 900},
            {"limit": "water", "kind": "water_m3", "amount": 900},
        ],
        "chips": chips()[:1],
        "chip_families": families()[:1],
        "models": models()[:1],
        "engines": [row | {"models": "every"} for row in engines() if row["engine"] == "fp8"],
        "software_eras": [
            {"era": "now", "names": "server", "versions": "1", "layer_overhead_us": 70}
            | {"step_overhead_us": 140, "sequence_overhead_us": 22, "first_token_overhead_ms": 9}
            | {"memory_fraction": 0.95, **SAID}
        ],
        "products": [box(chip="fast", chips_per_unit=8)],
        "residuals": [
            {"asset_class": "gpu", "age_years": age, "residual_fraction": 1 - age / 5, **SAID}
            for age in (0, 5)
        ],
        "offers": [purchase(price=60_000)],
        "workloads": [
            workload(model="every", ttft_ms=2_000, tpot_ms=60, percentile="p95", residency_countries="none")
        ],
        "shapes": [shape(input_tokens=500, output_tokens=200)],
        "operating_points": [],
        "profiles": week(),
        "demand": [row for name in REGIONS for row in demand(MONTHS, 5.0, where=name, profile="week")],
    }


PLACES = Stage(
    "places",
    place_tables(),
    ({"max_blocks": 3}, {"cooling_case": "low"}, {"cooling_case": "high"}),
)
"""Copies of a region bring its climate, hall and users; those of a cooling option or a power chain the halls of it."""
