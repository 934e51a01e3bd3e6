"""Tables in which a row holds for the whole plan: one month of a hall and a token service, each cell tried singly."""

from __future__ import annotations

from typing import Any

from column_service import chips, families
from column_speed import engines, eras
from column_stages import EUR, box
from column_walk import Stage
from small_scenarios import SAID, cooling, demand, hall, point, purchase, region, shape, workload

Row = dict[str, Any]


def month_tables(period: Row) -> dict[str, list[Row]]:
    """Return a hall with units of four classes of asset and a token service, which is the cheapest for its work."""
    classes = ("gpu", "server", "switch", "rack")
    build = {"build_capex_per_kw": 9_000, "build_weeks": 0, "build_life_years": 20}
    service = {"api_offer": "tokens", "model": "every", "vendor": "Service", "currency": "EUR"}
    service |= {"price_input_per_mtok": 0.1, "price_output_per_mtok": 0.2}
    return {
        "periods": [{"period": "m1", "start_date": "2027-01-01", **period}],
        "sources": [
            {"source": "case", "title": "made up", "location": "tests", "date": "2026-11", "kind": "estimate"}
        ],
        "fx": EUR,
        "regions": [region("home"), region("away")],
        "aliases": [
            {"kind": kind, "alias": spelt, "name": name}
            for kind, spelt, name in (
                ("chip", "quick one", "fast"),
                ("model", "the model", "every"),
                ("engine", "the engine", "bf16"),
            )
        ],
        "cooling": [cooling("air", capex_per_kw=900), {"cooling": "hosted", "medium": "hosted", **SAID}],
        "sites": [hall("own", kind="owned", opening_cost=5_000, **build)],
        "chips": chips(),
        "chip_families": families(),
        "models": [{"model": name, "context_tokens": 9_000, **SAID} for name in ("every", "second")],
        "engines": [row | {"models": "every"} for row in engines() if row["engine"] == "bf16"],
        "software_eras": eras(),
        "products": [box(name, asset_class=name, chip="quick one", chips_per_unit=8) for name in classes],
        "residuals": [
            {"asset_class": name, "age_years": age, "residual_fraction": 1 - age / 5, **SAID}
            for name in classes
            for age in (0, 5)
        ],
        "depreciation": [
            {"asset_class": "gpu", "book_method": "declining_balance", "book_life_years": 4}
            | {"book_residual_fraction": 0.1, "declining_ratio": 2, "tax_method": "straight_line"}
            | {"tax_life_years": 3, "loan_term_months": 24, **SAID},
            {"asset_class": "server", "book_method": "straight_line", "tax_method": "macrs"}
            | {"tax_life_years": 5, "book_life_years": 4, **SAID},
            {"asset_class": "switch", "book_method": "macrs", "tax_method": "as_books"}
            | {"book_life_years": 5, **SAID},
            {"asset_class": "rack", "book_method": "straight_line", **SAID},
        ],
        "offers": [
            purchase(name, product=name, price=60_000, currency="EUR", supply_units_per_period=1)
            for name in classes
        ],
        "api_offers": [service | SAID],
        "workloads": [
            workload(),
            workload("bought", model="the model", engines="the engine", ttft_ms=900, tpot_ms=60)
            | {"percentile": "p95", "cached_input_fraction": 0.2},
        ],
        "shapes": [shape(), shape("bought", input_tokens=800, output_tokens=300)],
        "operating_points": [point(name) for name in classes],
        "demand": demand(["m1"], 4.0) + demand(["m1"], 1.0, "bought"),
    }


FINANCE = {"tax_rate_fraction": 0.25, "debt_share_fraction": 0.5}
MONTH = Stage(
    "a month",
    month_tables({"months": 1}),
    (FINANCE,),
    words={
        "sources.kind": ("press",),
        "depreciation.tax_life_years": (7,),
        "depreciation.book_life_years": (7,),
    },
)
HOURS = Stage("some hours", month_tables({"hours": 600}))
"""The same for 600 hours."""
