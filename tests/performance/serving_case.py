"""Small serving scenarios and neutral roofline constants for the tests of the performance stage."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pandas as pd

from planner.inputs import Scenario, Settings, typed_frame
from planner.inputs.catalog import shipped_catalog
from planner.performance.deployment import Deployments, compute_path, deployments, join_facts
from planner.performance.roofline_constants import RooflineConstants
from planner.tables import TABLES

STATED = {"source": "planner_estimate", "source_date": "2026-11", "confidence": "estimate"}
MEASURED = {"source": "planner_estimate", "source_date": "2026-11", "confidence": "measured"}


def neutral_constants(**changed: float) -> RooflineConstants:
    """Return constants that change nothing: ratios 1, no latency, no overhead, times simply added."""
    values: dict[str, Any] = {field.name: 1.0 for field in fields(RooflineConstants)}
    values |= {
        "source_date": "2026-11-29",
        "expert_tile_tokens": 0.0,
        "expert_size_exponent": 0.0,
        "collective_chips_exponent": 0.0,
        "activation_passes": 0.0,
        "collective_latency_us": 0.0,
        "memory_overhead_gb": 0.0,
        "sequence_limit": 1e9,
        "fitted_prompt_tokens": 1e9,
    }
    return RooflineConstants(**(values | changed))


def catalog_tables() -> dict[str, pd.DataFrame]:
    """Return the shipped tables as typed frames."""
    return {name: located.frame for name, located in shipped_catalog().items()}


def deployment(chip: str, model: str, precision: str = "bf16", **changed: Any) -> Deployments:
    """Return one deployment of catalogue chip and model; overheads 0 unless given, family shares 1."""
    row = {
        "chip": chip,
        "model": model,
        "weight_precision": precision,
        "kv_precision": "bf16",
        "chips": 1.0,
        "tensor": 1.0,
        "pipeline": 1.0,
        "expert": 1.0,
        "attention_dp": False,
        "layer_overhead_us": 0.0,
        "step_overhead_us": 0.0,
        "sequence_overhead_us": 0.0,
        "first_token_overhead_ms": 0.0,
        "tuning_ratio": 1.0,
        "memory_fraction": 0.9,
    } | changed
    shares = [
        "bandwidth_efficiency_fraction",
        "mfu_bf16_fraction",
        "mfu_fp8_fraction",
        "mfu_fp4_fraction",
        "overhead_ratio",
    ]
    tables = catalog_tables()
    tables["chip_families"] = tables["chip_families"].assign(**dict.fromkeys(shares, 1.0))
    joined = join_facts(pd.DataFrame([row]), tables)
    joined = joined.assign(path=compute_path(joined["weight_precision"], joined))
    return deployments(joined)


def workload(name: str = "chat", **changed: Any) -> dict[str, Any]:
    """Return a workload row without losses."""
    return {
        "workload": name,
        "business": "assistant",
        "waiting_ms": 0,
        "success_fraction": 1,
        "quality_pass_fraction": 1,
        "retry_fraction": 0,
        "reasoning_ratio": 1,
        "cached_input_fraction": 0,
        "minute_peak_input_ratio": 1,
        "minute_peak_output_ratio": 1,
        "priority": 1,
        "must_serve_fraction": 1,
    } | changed


def shape(workload_name: str = "chat", name: str = "all", **changed: Any) -> dict[str, Any]:
    """Return a shape row of 1,000 prompt and 200 output tokens."""
    return {
        "workload": workload_name,
        "shape": name,
        "share_fraction": 1,
        "input_tokens": 1000,
        "output_tokens": 200,
    } | changed


def product(name: str, chip: str | None, chips_per_unit: int = 8, **changed: Any) -> dict[str, Any]:
    """Return a product row."""
    return {
        "product": name,
        "chip": chip,
        "chips_per_unit": chips_per_unit,
        "vendor": "maker",
        "nameplate_kw": 10.0,
        "idle_kw": 2.0,
        "busy_kw": 7.0,
        **STATED,
    } | changed


def offer(product_name: str) -> dict[str, Any]:
    """Return an hourly offer of a product."""
    return {
        "offer": f"rent {product_name}",
        "product": product_name,
        "vendor": "maker",
        "mode": "on_demand",
        "includes": "hosted",
        "price": 1.0,
        "price_unit": "unit_hour",
        "rent_step": "hour",
        "lead_weeks": 0,
        "install_weeks": 0,
        **STATED,
    }


def serving_scenario(
    workloads: list[dict[str, Any]],
    shapes: list[dict[str, Any]],
    products: list[dict[str, Any]],
    points: list[dict[str, Any]] | None = None,
    rtt_ms: float = 0.0,
    settings: dict[str, Any] | None = None,
    **tables: list[dict[str, Any]],
) -> Scenario:
    """Return a scenario with one region, one cloud site at a round trip, and the given products on offer."""
    rows: dict[str, list[dict[str, Any]]] = {
        "periods": [{"period": "one", "start_date": "2027-01-01", "months": 1}],
        "regions": [
            {"region": name, "country": "A", "continent": "Europe", "utc_offset_h": 0, **STATED}
            for name in ("users", "hall")
        ],
        "latency": [
            {"from_region": "users", "to_region": "hall", "rtt_ms": rtt_ms, "statistic": "average", **STATED}
        ],
        "sites": [{"site": "site", "region": "hall", "kind": "cloud", **STATED}],
        "workloads": workloads,
        "shapes": shapes,
        "demand": [
            {"workload": row["workload"], "region": "users", "period": "one", "requests_per_s": 1.0}
            for row in workloads
        ],
        "products": products,
        "offers": [offer(row["product"]) for row in products],
        "operating_points": points or [],
    }
    base: dict[str, Any] = {"name": "case", "discount_rate_fraction": 0.0}
    merged = {name: merged_table(name, (rows | tables).get(name, [])) for name in TABLES}
    return Scenario("case", Settings(**(base | (settings or {}))), merged, "memory", (), "")


def merged_table(name: str, own: list[dict[str, Any]]) -> pd.DataFrame:
    """Return own rows, and behind them the shipped rows of a library table they do not replace.

    The plausibility checks of the input stage are left out: these cases are simple, not plausible.
    """
    mine = typed_frame(name, own)
    located = shipped_catalog().get(name)
    if located is None or TABLES[name].scope != "library":
        return mine
    shipped = located.frame
    if not own:
        return shipped
    keys = list(TABLES[name].key)
    replaced = pd.MultiIndex.from_frame(shipped[keys]).isin(pd.MultiIndex.from_frame(mine[keys]))
    return pd.concat([mine, shipped[~replaced]], ignore_index=True)
