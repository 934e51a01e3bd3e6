"""A small scenario of modelled and stated rates: every kind of precision, option, measured row and target."""

from __future__ import annotations

from typing import Any

from column_stages import statistics
from column_walk import Stage
from small_scenarios import SAID, point, region, rental, workload

Row = dict[str, Any]
MEASURED = SAID | {"confidence": "measured"}


def chips() -> list[Row]:
    fast = {"chip": "fast", "vendor": "Maker", "family": "new", "bf16_tflops": 1_000, "fp8_tflops": 2_000}
    fast |= {"int8_tops": 1_900, "fp4_tflops": 4_000, "memory_gb": 80, "memory_tb_per_s": 3.3, "tdp_w": 700}
    fast |= {"scale_up_chips": 8, "scale_up_gb_per_s": 450, "measured_rows": 3}
    return [fast | SAID, fast | {"chip": "slow", "bf16_tflops": 700} | SAID]


def families() -> list[Row]:
    new = {"family": "new", "bandwidth_efficiency_fraction": 0.7, "overhead_ratio": 1.2, "fit_rows": 9}
    new |= {"mfu_bf16_fraction": 0.5, "mfu_fp8_fraction": 0.45, "mfu_fp4_fraction": 0.4}
    new |= {"band_low_ratio": 0.8, "band_high_ratio": 1.25}
    return [new | SAID, new | {"family": "old", "overhead_ratio": 1.4} | SAID]


def models() -> list[Row]:
    """Return a model with layers of every kind, and one with latent attention and sparse reads."""
    every = {"model": "every", "layers": 32, "hidden": 4_096, "heads": 32, "kv_heads": 4, "head_dim": 128}
    every |= {"attention": "GQA", "full_attention_layers": 16, "sliding_layers": 8, "moe_layers": 24}
    every |= {"sliding_window_tokens": 512, "linear_attention_layers": 8, "linear_state_elements": 300_000}
    every |= {"experts": 64, "active_experts": 4, "kv_elements_full": 16_384, "kv_elements_sliding": 8_192}
    every |= {"parameters_total_b": 60, "parameters_active_b": 8, "parameters_expert_b": 50}
    latent = every | {"model": "latent", "attention": "MLA", "sparse_attention_topk": 400}
    latent |= {"indexer_elements": 4_000, "indexer_heads": 4, "mtp_layers": 1, "parameters_mtp_b": 2}
    return [every | {"context_tokens": 1_200} | SAID, latent | {"context_tokens": 131_072} | SAID]


def engines() -> list[Row]:
    plain = {"software": "server", "version": "1", "era": "now", "vendors": "Maker", "kv_precision": "bf16"}
    plain |= {"models": "every;latent", "quality_pass_fraction": 0.99, "memory_fraction": 0.9}
    plain |= {"layer_overhead_us": 60, "sequence_overhead_us": 20, "tuning_ratio": 1.1}
    own = [
        plain | {"engine": name, "weight_precision": name} | SAID for name in ("bf16", "fp8", "int8", "fp4")
    ]
    bare = {"memory_fraction": None, "layer_overhead_us": None, "sequence_overhead_us": None}
    return [*own, plain | bare | {"engine": "as its era", "weight_precision": "fp8"} | SAID]


def options() -> list[Row]:
    """Return an option of every kind; each column is read by one of them at least."""
    draft = {"draft_tokens": 3, "acceptance_fraction": 0.7, "draft_cost_fraction": 0.1, "draft_layers": 2}
    made = {"engines": "bf16", "models": "every;latent"}
    rows: list[Row] = [
        {"option": "kept", "prefix_cache": "device", "routing": "spread", "pool_replicas": 2},
        {"option": "kept by the host", "prefix_cache": "host", "routing": "spread"}
        | {"pool_replicas": 2, "host_memory_fraction": 0.3},
        {"option": "drafts", "draft_memory_fraction": 0.05, **draft},
        {"option": "own draft", "models": "latent", "draft_tokens": 2, "acceptance_fraction": 0.7},
        {"option": "stages", "most_units": 2},
        {"option": "apart", "disaggregated": True},
    ]
    return [made | row | SAID for row in rows]


def eras() -> list[Row]:
    now = {"era": "now", "names": "server", "versions": "1", "layer_overhead_us": 70, "step_overhead_us": 140}
    now |= {"sequence_overhead_us": 22, "first_token_overhead_ms": 9, "memory_fraction": 0.95, "fit_rows": 5}
    return [now | SAID, now | {"era": "then", "step_overhead_us": 300} | SAID]


def products() -> list[Row]:
    box = {"product": "box", "chip": "fast", "chips_per_unit": 8, "vendor": "Maker", "nameplate_kw": 10}
    box |= {"busy_kw": 8, "idle_kw": 2, "racks_per_unit": 1, "life_years": 5, "host_memory_gb": 900}
    node = {"product": "node", "chip": None}
    box |= {"host_gb_per_s": 50, "scale_out_gb_per_s": 50}
    return [box | SAID, box | node | SAID]


def measured(name: str, **more: Any) -> Row:
    """Return a closed loop of four chips, of which two fit into a box."""
    plain = {"point": name, "curve": "swept", "chip": "fast", "chips": 4, "model": "every", "engine": "bf16"}
    plain |= {"tensor_parallel": 4, "pipeline_parallel": 1, "expert_parallel": 1, "phase": "mixed"}
    plain |= {"input_tokens": 500, "output_tokens": 200, "load_kind": "closed_loop", "cache_hit_fraction": 0}
    plain |= {"ttft_statistic": "median", "tpot_statistic": "median", "speculative": "no"}
    return plain | {"power_w": 2_500, "power_scope": "system"} | more | MEASURED


def points() -> list[Row]:
    stated = {"chips": 8, "ttft_ms": 200, "ttft_statistic": "p95", "tpot_ms": 20, "tpot_statistic": "p95"}
    stated |= {"concurrency": 32, "power_w": 6_000, "power_scope": "system", "cache_hit_fraction": 0}
    long = {"input_tokens": 900, "output_tokens": 200}
    return [
        measured("light", concurrency=8, output_tok_per_s=900, ttft_ms=100, tpot_ms=10),
        measured("loaded", concurrency=32, output_tok_per_s=2_400, ttft_ms=200, tpot_ms=13),
        measured("looped", engine="fp8", concurrency=8, ttft_ms=100, tpot_ms=10, **long),
        measured("too fast", engine="int8", output_tok_per_s=500_000, ttft_ms=90, tpot_ms=9, **long),
        measured("prompts", engine="fp4", input_tok_per_s=9_000, ttft_ms=90, tpot_ms=9, **long),
        point(requests_per_s=2.0, name="stated", engine="bf16") | stated,
        {"point": "node", "product": "node", "phase": "mixed", "chips": 16, "tensor_parallel": 8}
        | {"pipeline_parallel": 2, "input_tok_per_s": 9_000, "output_tok_per_s": 3_000}
        | {"ttft_ms": 200, "ttft_statistic": "p95", "tpot_ms": 20, "tpot_statistic": "p95"}
        | MEASURED,
    ]


WORK: dict[str, tuple[tuple[float, float], Row]] = {
    "measured": ((500, 200), {"model": "every", "service_class": "chat", "engines": "bf16"}),
    "near": ((600, 250), {"model": "every", "service_class": "chat", "engines": "bf16", "waiting_ms": None}),
    **{
        name: ((900, 200), {"model": "every", "service_class": "chat", "engines": name, "waiting_ms": None})
        for name in ("fp8", "int8", "fp4", "as its era")
    },
    "tail": ((900, 200), {"model": "every", "service_class": "chat", "engines": "fp8", "percentile": "p99"}),
    "routed": (
        (900, 200),
        {"model": "every", "service_class": "chat", "engines": "fp8"}
        | {"waiting_ms": None, "busy_dispersion": 3, "busy_dispersion_1s": 1.5}
        | {"cached_input_fraction": 0.3, "router": "round_robin", "router_replicas": 4},
    ),
    "attained": (
        (900, 200),
        {"model": "every", "service_class": "chat", "engines": "fp8", "waiting_ms": None}
        | {"sizing_statistic": "attained", "arrival_cv": 0.3, "input_cv": 0.3},
    ),
    "latent": ((3_000, 400), {"model": "latent", "engines": "fp8", "engine_options": None}),
    "kept": ((8_000, 200), {"model": "latent", "engines": "bf16", "engine_options": "kept", "ttft_ms": 700}),
    "kept by the host": (
        (8_000, 200),
        {"model": "latent", "engines": "bf16", "engine_options": "kept by the host", "ttft_ms": 700},
    ),
    "drafts": ((900, 200), {"model": "latent", "engines": "bf16", "engine_options": "drafts", "tpot_ms": 8}),
    "own draft": (
        (900, 200),
        {"model": "latent", "engines": "bf16", "engine_options": "own draft", "tpot_ms": 8},
    ),
    "stages": ((900, 200), {"model": "latent", "engines": "bf16", "engine_options": "stages"}),
    "apart": ((900, 200), {"model": "latent", "engines": "bf16", "engine_options": "apart"}),
    "stated": ((500, 200), {"percentile": "p99"}),
}
"""Prompt and answer of each workload, and what it says of itself."""


def workloads() -> list[Row]:
    """Return work of a model whose waiting is computed, of one whose waiting is stated, and of stated rates."""
    targets = {"ttft_ms": 900, "tpot_ms": 60, "percentile": "p95", "e2e_ms": 60_000, "waiting_ms": 50}
    session = {"reusable_input_fraction": 0.6, "session_think_s": 900}
    burst = {"arrival_dispersion": 2, "prompt_scv": 1.5}
    made = []
    for name, (_, own) in WORK.items():
        plain: Row = {} if "service_class" in own else dict(targets)
        plain |= session if "engine_options" in own else {}
        plain |= burst if name == "near" else {}
        made.append(workload(name, **(plain | own)))
    return made


def classes() -> list[Row]:
    chat = {"service_class": "chat", "meaning": "a person waits", "ttft_ms": 1_000, "tpot_ms": 50}
    chat |= {"e2e_ms": 50_000, "percentile": "p95", "availability_fraction": 0.999, "deferral_h": 0}
    return [chat | SAID]


def speed_tables() -> dict[str, list[Row]]:
    return {
        "periods": [{"period": "m1", "start_date": "2027-01-01", "months": 1}],
        "regions": [region("home"), region("away")],
        "latency": [
            {"from_region": "home", "to_region": "away", "rtt_ms": 20, "statistic": "average", **SAID}
        ],
        "statistic_factors": statistics(),
        "sites": [{"site": "cloud", "region": "away", "kind": "cloud", **SAID}],
        "chips": chips(),
        "chip_families": families(),
        "models": models(),
        "engines": engines(),
        "engine_options": options(),
        "software_eras": eras(),
        "products": products(),
        "offers": [rental(price=30.0), rental("node", product="node", price=30.0)],
        "operating_points": points(),
        "service_classes": classes(),
        "workloads": workloads(),
        "shapes": [
            {"workload": name, "shape": "any", "share_fraction": 1}
            | {"input_tokens": lengths[0], "output_tokens": lengths[1]}
            for name, (lengths, _) in WORK.items()
        ],
        "demand": [
            {"workload": name, "region": "home", "period": "m1", "requests_per_s": 5} for name in WORK
        ],
    }


SPEED = Stage("speed", speed_tables(), upto="points")
