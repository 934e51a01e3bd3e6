"""Two months of one hall and one cloud with two vendors: limits, losses and grants, each a row that stands alone."""

from __future__ import annotations

from typing import Any

from column_service import chips, families
from column_stages import EUR, box
from column_walk import Stage
from small_scenarios import SAID, cooling, demand, mild, purchase, region, rental, workload

Row = dict[str, Any]
MONTHS = ("m1", "m2")


def limits_tables() -> dict[str, list[Row]]:
    return {
        "periods": [
            {"period": name, "start_date": f"2027-0{at}-01", "months": 1} for at, name in enumerate(MONTHS, 1)
        ],
        "fx": EUR,
        "regions": [region("home"), region("away") | {"country": "There"}],
        "climate": [{"region": name, **row} for name in ("home", "away") for row in mild()],
        "carbon": [
            {"region": name, "gco2_per_kwh": 400, "basis": "average", **SAID} for name in ("home", "away")
        ],
        "cooling": [
            cooling("air", capex_per_kw=900, water_l_per_kwh=1.1),
            {"cooling": "hosted", "medium": "hosted", **SAID},
        ],
        "sites": [
            {"site": "own", "region": "home", "kind": "owned", "tariff": "grid", "build_capex_per_kw": 9_000}
            | {"build_weeks": 4, "build_life_years": 20, "opening_cost": 5_000}
            | SAID,
            {"site": "own too", "region": "away", "kind": "owned", "tariff": "grid", **SAID},
            {"site": "cloud", "region": "away", "kind": "cloud", **SAID},
        ],
        "facility_options": [{"site": name, "cooling": "air"} for name in ("own", "own too")],
        "chips": chips(),
        "chip_families": families(),
        "products": [
            box(chip="fast", chips_per_unit=8),
            box("other", chip="slow", chips_per_unit=8, vendor="Rival"),
        ],
        "residuals": [
            {"asset_class": "gpu", "age_years": age, "residual_fraction": 1 - age / 5, **SAID}
            for age in (0, 5)
        ],
        "offers": [
            purchase(price=60_000, origin_country="Here"),
            purchase("rival", product="other", price=50_000, vendor="Rival", origin_country="There"),
            rental(price=4.0),
        ],
        "operating_points": [
            {"point": name, "product": name, "phase": "mixed", "workload": "chat", "shape": "any"}
            | {"requests_per_s": 1.0, **SAID}
            for name in ("box", "other")
        ],
        "workloads": [workload(critical_fraction=0.5)],
        "demand": demand(MONTHS, (2.0, 3.0)),
        "concentration": [
            {"limit": "vendor", "by": "vendor", "measure": "spend", "max_fraction": 0.9, "period": "m1"},
            {"limit": "product", "by": "product", "measure": "units", "min_count": 2, "min_fraction": 0.1},
        ],
        "export_limits": [
            {"chip": "fast", "country": "There", "from_date": "2027-02-01"},
            {"chip": "slow", "country": "There"},
        ],
        "vendor_capacity": [
            {"limit": "named", "offers": "purchase", "measure": "units", "amount": 90, "period": "m1"},
            {"limit": "of a vendor", "vendor": "Maker", "measure": "kw", "amount": 9_000},
        ],
        "failure_cases": [
            {"failure_case": "any", "loss": "each_site"},
            {"failure_case": "one", "loss": "site", "site": "own"},
            {"failure_case": "some", "loss": "units", "units": 1, "product": "box", "site": "own"},
        ],
        "incentives": [
            {"incentive": "share", "basis": "capex_fraction", "amount": 0.2, "most_amount": 9_000}
            | {"asset_class": "gpu", "site": "own", "received_date": "2027-01-20", "currency": "EUR", **SAID},
            {"incentive": "by kW", "basis": "per_kw", "amount": 90, "most_amount": 9_000}
            | {"asset_class": "building", "received_date": "2027-01-20", "currency": "EUR", **SAID},
            {"incentive": "flat", "basis": "flat", "amount": 900, "least_capex": 20_000, "site": "own"}
            | {"asset_class": "gpu", "received_date": "2027-01-20", "currency": "EUR", **SAID},
        ],
        "resource_limits": [
            {"limit": "carbon", "kind": "carbon_t", "amount": 900, "site": "own", "period": "m1"},
            {"limit": "carbon of the year", "kind": "carbon_t", "amount": 900, "year": 2027},
            {"limit": "water", "kind": "water_m3", "amount": 900, "year": 2027},
        ],
    }


LIMITS = Stage(
    "limits",
    limits_tables(),
    words={"vendor_capacity.vendor": ("Rival",), "incentives.asset_class": ("gpu",)},
)
