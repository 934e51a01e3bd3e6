"""An hour of two workloads with stated rates at two precisions, and gates that admit, bar and count by evaluations."""

from __future__ import annotations

from typing import Any

from column_service import api_offers
from column_speed import chips, eras, families, models
from column_stages import EUR
from column_walk import Stage
from small_scenarios import SAID, cloud, demand, one_hour, point, region, rental, shape, workload

Row = dict[str, Any]
TASK: Row = {"model": "every", "task": "sums", "metric": "right", "shots": 5}


def engines() -> list[Row]:
    plain = {"software": "server", "era": "now", "kv_precision": "bf16", **SAID}
    return [
        plain | {"engine": "whole", "weight_precision": "bf16", "quality_pass_fraction": 1},
        plain | {"engine": "half", "weight_precision": "fp8", "quality_pass_fraction": 0.99},
    ]


def evaluations() -> list[Row]:
    rows: list[Row] = [
        {"evaluation": "whole", "engine": "whole", "score": 0.9, "reference": True, "standard_error": 0.01},
        {"evaluation": "fp8", "weight_precision": "fp8", "kv_precision": "bf16", "score": 0.8}
        | {"standard_error": 0.02},
        {"evaluation": "fewer", "engine": "half", "shots": 4, "score": 0.7, "standard_error": 0.02},
        {"evaluation": "other task", "engine": "half", "task": "other", "score": 0.6, "reference_score": 0.7},
        {
            "evaluation": "other metric",
            "engine": "half",
            "metric": "other",
            "score": 0.5,
            "standard_error": 0.1,
        },
        {"evaluation": "whole other", "engine": "whole", "task": "other", "score": 0.7},
        {
            "evaluation": "bought",
            "api_offer": "tokens",
            "task": "other",
            "score": 0.65,
            "reference_score": 0.7,
        },
        {"evaluation": "odd", "engine": "whole", "metric": "other", "score": 5, "lower_is_better": True}
        | {"engine_option": None},
    ]
    return [TASK | row | SAID for row in rows]


def gates() -> list[Row]:
    sums = {"task": "sums", "metric": "right", "shots": 5}
    return [
        {"gate": "strict", "workload": "desk", "minimum_score": 0.85, "standard_errors": 2, **sums},
        {"gate": "kept", "service_class": "chat", "task": "other", "metric": "right"}
        | {"maximum_loss_fraction": 0.2, "quality_from": "retained"},
        {"gate": "lossy", "workload": "desk", "maximum_loss_fraction": 0.05, **sums},
    ]


def quality_tables() -> dict[str, list[Row]]:
    bought = api_offers()[0] | {"currency": None, "regions": None}
    chat = {"service_class": "chat", "meaning": "a person waits", "percentile": "p95"}
    chat |= {"availability_fraction": 0.9, "deferral_h": 0} | SAID
    return {
        "periods": one_hour(),
        "regions": [region("home"), region("away")],
        "sites": [cloud()],
        "chips": chips(),
        "chip_families": families(),
        "models": models(),
        "software_eras": eras(),
        "engines": engines(),
        "engine_options": [
            {"option": "drafts", "draft_tokens": 3, "acceptance_fraction": 0.7, "draft_layers": 2}
            | {"draft_cost_fraction": 0.1, "draft_memory_fraction": 0.1}
            | SAID
        ],
        "service_classes": [chat, chat | {"service_class": "careful"}],
        "workloads": [
            workload("desk", model="every", service_class="careful"),
            workload("bench", model="every", service_class="chat"),
        ],
        "shapes": [shape(name, input_tokens=500, output_tokens=100) for name in ("desk", "bench")],
        "operating_points": [
            point(requests_per_s=rate, name=name, model="every", engine=engine)
            | {"point": f"{name} {engine}"}
            for name in ("desk", "bench")
            for engine, rate in (("whole", 8.0), ("half", 10.0))
        ],
        "offers": [rental(price=1.0)],
        "api_offers": [bought, bought | {"api_offer": "other tokens"}],
        "demand": [row for name in ("desk", "bench") for row in demand(["hour"], 40.0, name)],
        "evaluations": evaluations(),
        "quality_gates": gates(),
    }


QUALITY = Stage("quality", quality_tables())


def qualified_tables() -> dict[str, list[Row]]:
    """Return the same without gates, and what desk and bench cost to qualify on one of the engines."""
    rows = [
        {"qualification": "desk", "workload": "desk", "engine": "half", "cost": 50, "currency": "EUR"},
        {"qualification": "any", "cost": 20},
    ]
    own = {"qualifications": [row | SAID for row in rows], "fx": EUR}
    return {**quality_tables(), **own, "evaluations": [], "quality_gates": []}


QUALIFIED = Stage("qualified", qualified_tables())
