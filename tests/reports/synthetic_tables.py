"""Input tables of the synthetic plan, and the constants of its arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from planner.tables import TABLES

RATE = 0.08
CHIPS_PER_UNIT = 8
IDLE_KW, BUSY_KW, NAMEPLATE_KW = 2.0, 8.0, 10.0
INSTALLATION, MAINTENANCE, RESIDUAL_FRACTION = 0.05, 0.04, 0.4
RENT_PER_KW_MONTH, STAFF_PER_MW, STAFF_COST, NETWORK = 150.0, 2.0, 90_000.0, 60.0
ENERGY_PRICE = {"peak": 0.20, "average": 0.10}
DEMAND_PRICE = 9.0
PUE = 1.25
RATE_PER_UNIT = 5.0
OUTPUT_TOKENS, INPUT_TOKENS = 300.0, 1_000.0
SUCCESS, QUALITY, ENGINE_QUALITY, LATENCY_PASS = 0.99, 0.98, 0.995, 0.97
BUSY = {"peak": 1.0, "average": 0.6}
HOURLY = 24.0


def frame_of(table: str, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return a frame with the declared columns and types of a table."""
    declared = TABLES[table]
    provenance = {"source": "desk", "source_date": "2026-09", "confidence": "quoted"}
    filled = [
        {**{name: value for name, value in provenance.items() if name in declared.by_column}, **row}
        for row in rows
    ]
    frame = pd.DataFrame(filled, columns=declared.column_names)
    for column in declared.columns:
        if column.kind in ("number", "integer"):
            frame[column.name] = frame[column.name].astype(float)
        elif column.kind == "date":
            frame[column.name] = pd.to_datetime(frame[column.name])
        elif column.kind == "boolean":
            frame[column.name] = [value is True for value in frame[column.name]]
        elif column.kind == "list":
            frame[column.name] = pd.Series(
                [value if isinstance(value, tuple) else () for value in frame[column.name]], dtype=object
            )
        else:
            frame[column.name] = frame[column.name].astype("str")
    return frame


def input_tables(sites: int, names: Sequence[str], periods: int, months: int) -> dict[str, pd.DataFrame]:
    """Return halls, a cloud region, products, offers, one workload and their sources."""
    starts = pd.date_range("2027-01-01", periods=periods, freq=f"{months}MS")
    halls = [f"hall-{index}" for index in range(sites - 1)]
    tables = {name: frame_of(name, []) for name in TABLES}
    rows: dict[str, list[dict[str, Any]]] = {
        "periods": [
            {"period": f"P{index + 1:02d}", "start_date": day, "months": months}
            for index, day in enumerate(starts)
        ],
        "chips": [
            {
                "chip": f"chip {name}",
                "vendor": "maker",
                "family": "any",
                "memory_gb": 80,
                "memory_tb_per_s": 3.3,
                "tdp_w": 700,
                "scale_up_chips": 8,
            }
            for name in names
        ],
        "products": [
            {
                "product": name,
                "chip": f"chip {name}",
                "chips_per_unit": CHIPS_PER_UNIT,
                "vendor": "maker",
                "nameplate_kw": NAMEPLATE_KW,
                "idle_kw": IDLE_KW,
                "busy_kw": BUSY_KW,
                "life_years": 5,
                "maintenance_fraction_per_year": MAINTENANCE,
                "asset_class": "gpu",
            }
            for name in names
        ],
        "offers": [
            row
            for index, name in enumerate(names)
            for row in (
                {
                    "offer": f"buy {name}",
                    "product": name,
                    "vendor": f"vendor {index % 3}",
                    "mode": "purchase",
                    "includes": "hardware",
                    "price": 250_000.0 + 10_000 * index,
                    "price_unit": "unit",
                    "currency": "USD",
                    "lead_weeks": 0,
                    "install_weeks": 0,
                    "installation_fraction": INSTALLATION,
                    "confidence": "estimate" if index == 0 else "quoted",
                },
                {
                    "offer": f"rent {name}",
                    "product": name,
                    "vendor": "cloud",
                    "mode": "on_demand",
                    "includes": "hosted",
                    "price": HOURLY,
                    "price_unit": "unit_hour",
                    "rent_step": "period",
                    "currency": "USD",
                    "lead_weeks": 0,
                    "install_weeks": 0,
                },
            )
        ],
        "residuals": [
            {"asset_class": "gpu", "age_years": 0, "residual_fraction": RESIDUAL_FRACTION},
            {"asset_class": "gpu", "age_years": 9, "residual_fraction": RESIDUAL_FRACTION},
        ],
        "regions": [{"region": "north", "country": "Norway", "continent": "Europe", "utc_offset_h": 1}],
        "cooling": [{"cooling": "air", "medium": "air", "kw_per_rack": 20}],
        "sites": [
            {
                "site": hall,
                "region": "north",
                "kind": "colo",
                "tariff": "flat",
                "rent_per_kw_month": RENT_PER_KW_MONTH,
                "staff_per_mw": STAFF_PER_MW,
                "staff_cost_per_year": STAFF_COST,
                "network_cost_per_kw_year": NETWORK,
                "currency": "USD",
            }
            for hall in halls
        ]
        + [{"site": "cloud", "region": "north", "kind": "cloud"}],
        "site_power": [
            {"site": hall, "from_date": starts[0], "usable_kw": 120.0 * len(names)} for hall in halls
        ],
        "facility_options": [{"site": hall, "cooling": "air"} for hall in halls],
        "tariffs": [
            {
                "tariff": "flat",
                "component": "energy",
                "charge": "energy",
                "price": 0.125,
                "price_unit": "kwh",
                "currency": "USD",
                "day_type": "all",
            },
            {
                "tariff": "flat",
                "component": "peak",
                "charge": "demand",
                "price": DEMAND_PRICE,
                "price_unit": "kw_month",
                "currency": "USD",
                "day_type": "all",
            },
        ],
        "workloads": [
            {
                "workload": "chat",
                "business": "assistant",
                "percentile": "p99",
                "waiting_ms": 100,
                "success_fraction": SUCCESS,
                "quality_pass_fraction": QUALITY,
                "retry_fraction": 0.0,
                "reasoning_ratio": 1.0,
                "cached_input_fraction": 0.0,
                "minute_peak_input_ratio": 1.0,
                "minute_peak_output_ratio": 1.0,
                "priority": 1,
                "must_serve_fraction": 1.0,
            }
        ],
        "shapes": [
            {
                "workload": "chat",
                "shape": "chat-mean",
                "share_fraction": 1.0,
                "input_tokens": INPUT_TOKENS,
                "output_tokens": OUTPUT_TOKENS,
            }
        ],
        "fx": [{"currency": "USD", "usd_per_unit": 1.0}],
        "sources": [
            {
                "source": "desk",
                "title": "Quotes on the desk",
                "location": "drawer 2",
                "date": "2026-09",
                "kind": "price list",
            }
        ],
        "conflicts": [
            {
                "table": "offers",
                "key": f"buy {names[0]}",
                "column": "price",
                "value": "310000",
                "source": "desk",
                "reason": "older than the quote taken",
            }
        ],
    }
    return tables | {name: frame_of(name, found) for name, found in rows.items()}
