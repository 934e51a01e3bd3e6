"""What a plan must hold to be audited."""

from __future__ import annotations

import pandas as pd

from planner.plan.plan import Plan

PLACE = ["site", "cooling", "period"]
REQUIRED = {
    "block_cells": ["period", "month", "day_type", "hour_utc", "hours", "block"],
    "blocks": ["period", "block", "hours"],
    "periods": [
        "period",
        "hours",
        "start_weeks",
        "start_years",
        "years",
        "discount_start",
        "discount_mid",
        "discount_end",
    ],
    "demand": ["workload", "region", "period", "block", "requests_per_s"],
    "points": [
        "point",
        "workload",
        "shape",
        "ttft_class",
        "product",
        "model",
        "engine",
        "phase",
        "prefill_time_fraction",
        "requests_per_s",
        "ttft_ms",
        "tpot_ms",
        "e2e_ms",
        "latency_pass_fraction",
        "quality_pass_fraction",
        "prefill_kw",
        "decode_kw",
        "unit_kw",
    ],
    "routes": ["workload", "region", "site", "rtt_ms", "ttft_class", "admissible"],
    "orders": [
        "offer",
        *PLACE,
        "mode",
        "product",
        "units",
        "order_date",
        "delivery_date",
        "in_service_date",
        "in_service_period",
        "unit_price",
        "cost",
    ],
    "fleet": [
        "offer",
        *PLACE,
        "product",
        "mode",
        "phase",
        "units",
        "provisioned_kw",
        "idle_kw",
        "racks",
        "availability_fraction",
    ],
    "hourly_rent": ["offer", *PLACE, "block", "units"],
    "serving": [
        "point",
        "workload",
        "shape",
        "ttft_class",
        "product",
        "phase",
        *PLACE,
        "block",
        "hours",
        "units_running",
        "requests_per_s",
        "peak_ratio",
        "added_kw",
        "effective_mtok",
        "generated_mtok",
    ],
    "flows": ["workload", "shape", "region", "site", "period", "block", "requests_per_s"],
    "placement": ["workload", "region", "site", "period", "requests_per_s", "share_fraction", "rtt_ms"],
    "unserved": ["workload", "region", "period", "block", "requests_per_s"],
    "waiting": ["workload", "region", "period", "month", "day_type", "hour_utc", "requests_waiting"],
    "energy": ["site", "period", "block", "hours", "it_kw", "grid_kw", "pue", "price_per_kwh", "kwh"],
    "peaks": ["site", "component", "period", "peak_kw"],
    "billed_peaks": [
        "site",
        "component",
        "period",
        "month",
        "measured_kw",
        "billed_kw",
        "amount",
    ],
    "site_power": ["site", "period", "level", "peak_kw", "usable_kw"],
    "build": [*PLACE, "kw"],
    "sites": ["site", "period", "open", "open_fraction"],
    "modules": ["site", "module", "item", "period", "modules", "energised_period", "cost"],
    "power_path": ["site", "item", "period", "carried_kw"],
    "unpowered": ["offer", *PLACE, "units", "holding_cost"],
    "costs": ["line", "kind", "period", "site", "offer", "workload", "amount", "discounted", "in_objective"],
    "tokens": [
        "workload",
        "period",
        "effective_mtok",
        "effective_mtok_discounted",
        "generated_mtok",
        "input_mtok",
        "served_fraction",
    ],
}
"""Frame and columns the audit reads."""


def missing_columns(plan: Plan) -> pd.DataFrame:
    """Return frame and column of everything that is not there."""
    gone = [
        (frame, column)
        for frame, columns in REQUIRED.items()
        for column in columns
        if frame not in plan.frames or column not in plan.frames[frame]
    ]
    return pd.DataFrame(gone, columns=["frame", "column"])
