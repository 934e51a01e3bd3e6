"""Constants and factors of the performance model, row by row: each means something else, so each is proven by itself.

Work of a plain model on measured and unmeasured chips, of a long prompt, of a latent model and of options shows the
constants in operating points; a pool whose waiting is computed shows the rest in a plan.
"""

from __future__ import annotations

from typing import Any

from column_speed import eras, families, measured, models, speed_tables
from column_stages import statistics
from column_walk import Stage
from small_scenarios import (
    SAID,
    box,
    cloud,
    demand,
    one_hour,
    point,
    region,
    rental,
    shape,
    shipped_rows,
    workload,
)

Row = dict[str, Any]
TARGETS: Row = {"ttft_ms": 20_000, "tpot_ms": 90, "percentile": "p95"}


def constants() -> list[Row]:
    """Return the shipped constants, with numbers as numbers."""
    return [row | {"value": float(row["value"])} for row in shipped_rows("roofline_constants")]


def chips() -> list[Row]:
    """Return two chips of one family, and a card of another whose chips meet over the bus."""
    fast = {"vendor": "Maker", "family": "new", "bf16_tflops": 1_000, "fp8_tflops": 2_000, "memory_gb": 80}
    fast |= {"memory_tb_per_s": 3.3, "tdp_w": 700, "scale_up_chips": 8, "scale_up_gb_per_s": 450}
    fast |= {"measured_rows": 3, **SAID}
    bus = {"family": "old", "scale_up_chips": 1, "scale_up_gb_per_s": 60}
    return [fast | {"chip": "fast"}, fast | {"chip": "sister"}, fast | {"chip": "card"} | bus]


def engines() -> list[Row]:
    plain = {"software": "server", "version": "1", "era": "now", "quality_pass_fraction": 1, **SAID}
    return [plain | {"engine": name, "weight_precision": name} for name in ("bf16", "fp8")]


def rows() -> list[Row]:
    """Return rows of one model: at the lengths asked for, at others, on a sister, on a card, at half precision."""
    light = {"concurrency": 8, "output_tok_per_s": 700, "ttft_ms": 100, "tpot_ms": 11}
    loaded = {"concurrency": 32, "output_tok_per_s": 2_200, "ttft_ms": 200, "tpot_ms": 14}
    other = {"input_tokens": 900}
    return [
        measured("light", **light),
        measured("loaded", **loaded) | {"source_date": "2025-06-01"},
        measured("elsewhere", **light, **other, attention_dp=True, expert_parallel=4)
        | {"source": "elsewhere"},
        measured("sister", **light, chip="sister"),
        measured("card", **light, chip="card", chips=2, tensor_parallel=2),
        measured("half", **loaded, engine="fp8"),
        measured("halved", **light, engine="fp8", chips=2, tensor_parallel=2),
    ]


WORK: dict[str, tuple[tuple[float, float], Row]] = {
    "measured": ((500, 200), {"model": "every", "engines": "bf16"}),
    "near": ((700, 300), {"model": "every", "engines": "bf16;fp8", "waiting_ms": None}),
    "long": ((60_000, 200), {"model": "latent", "engines": "fp8"}),
    "stated": ((500, 200), {}),
}


def tables(work: tuple[str, ...] = tuple(WORK)) -> dict[str, list[Row]]:
    chosen = {name: WORK[name] for name in work}
    return {
        "periods": one_hour(),
        "regions": [region()],
        "sources": [
            {"source": name, "title": "made up", "location": "tests", "kind": "estimate"}
            for name in ("case", "elsewhere")
        ],
        "statistic_factors": statistics(),
        "roofline_constants": constants(),
        "sites": [cloud()],
        "chips": chips(),
        "chip_families": families(),
        "models": [row | {"context_tokens": 131_072} for row in models()],
        "engines": engines(),
        "software_eras": eras(),
        "products": [
            box(chip="fast", chips_per_unit=8, busy_kw=8, idle_kw=2),
            box("cards", chip="card", chips_per_unit=4, busy_kw=8, idle_kw=2),
        ],
        "offers": [rental(price=30.0), rental("cards", product="cards", price=9.0)],
        "operating_points": [*rows(), *(point(name=name, ttft_ms=90) for name in work if name == "stated")],
        "workloads": [workload(name, **(TARGETS | own)) for name, (_, own) in chosen.items()],
        "shapes": [
            shape(name, input_tokens=lengths[0], output_tokens=lengths[1])
            for name, (lengths, _) in chosen.items()
        ],
        "demand": [
            {"workload": name, "region": "home", "period": "hour", "requests_per_s": 5} for name in chosen
        ],
    }


CONSTANTS = Stage("constants", tables(), ({"clock_choices": "0.8"},), upto="points")
"""Operating points of four workloads on a box and on cards, each at nominal clock and below."""

OPTIONS = Stage("options", speed_tables() | {"roofline_constants": constants()}, upto="points")
"""Operating points of every option of an engine: slower, for the constants that no other stage shows."""

SHIPPED = Stage(
    "shipped",
    {"periods": one_hour(), "sites": [cloud()], "offers": [rental()], "roofline_constants": constants()}
    | {"demand": demand(["hour"], 1.0)},
    upto="points",
    catalog=True,
)
"""Beside the shipped catalogue: what check says of a constant that no plan reads."""

POOLS = Stage("pools", tables(("near",)))
"""The plan of an hour of one workload whose waiting is computed."""


def factor_tables() -> dict[str, list[Row]]:
    """Return work of a target in every statistic, on stated rates of which one latency says no statistic."""
    work = ("mean", "median", "p90", "p95", "p99")
    latencies = {"ttft_ms": 200, "ttft_statistic": None, "tpot_ms": 20, "tpot_statistic": "unstated"}
    return {
        "periods": one_hour(),
        "sites": [cloud()],
        "statistic_factors": statistics(),
        "products": [box()],
        "offers": [rental()],
        "workloads": [workload(name, ttft_ms=9_000, tpot_ms=900, percentile=name) for name in work],
        "shapes": [shape(name, input_tokens=500, output_tokens=200) for name in work],
        "operating_points": [point(name=name, **latencies) for name in work],
        "demand": [row for name in work for row in demand(["hour"], 1.0, name)],
    }


FACTORS = Stage("factors", factor_tables(), upto="points")
