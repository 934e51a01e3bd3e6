"""Models, engines, measured operating points and levers."""

from __future__ import annotations

from planner.tables.hardware import PHASES
from planner.tables.schema import (
    Kinds,
    Table,
    choice,
    flag,
    fraction,
    integer,
    key,
    keys,
    number,
    positive,
    provenance,
    text,
)

PRECISIONS = ("bf16", "fp8", "int8", "fp4", "mxfp4", "int4")
STATISTICS = ("mean", "median", "p90", "p95", "p99", "unstated")

MODELS = Table(
    "models",
    "architecture facts of LLMs for memory and roofline",
    ("model",),
    (
        key("model", "name of the model"),
        integer("layers", "layers", "decoder layers", low=1),
        integer("hidden", "elements", "hidden size", low=1),
        integer("heads", "heads", "attention heads", low=1),
        integer("kv_heads", "heads", "key/value heads", low=1),
        integer("head_dim", "elements", "size of one head", low=1),
        choice(
            "attention",
            "kind of attention: grouped heads; one latent of all heads (MLA); one latent per group of tokens (CSA)",
            ("GQA", "MLA", "CSA"),
            required=False,
        ),
        integer("full_attention_layers", "layers", "layers that attend to the whole context"),
        integer("sliding_layers", "layers", "layers with a sliding window"),
        integer("sliding_window_tokens", "tokens", "window of the sliding layers"),
        integer("linear_attention_layers", "layers", "layers with a state of fixed size"),
        integer("linear_state_elements", "elements per layer", "state kept per sequence by a linear layer"),
        positive(
            "linear_state_bytes",
            "bytes per element",
            "size of an element of that state; blank = 2",
            band=(1, 8),
        ),
        integer("moe_layers", "layers", "layers with experts"),
        integer("experts", "experts", "experts per layer; blank for dense models"),
        integer("active_experts", "experts", "experts used per token"),
        integer(
            "sparse_attention_topk",
            "tokens",
            "tokens attended by a sparse-attention indexer; blank when dense",
        ),
        number(
            "indexer_elements",
            "elements per token",
            "keys the indexers cache per token, all layers, in FP8; read whole in every step",
        ),
        integer("indexer_heads", "heads", "heads of an indexer, each of which scores every key", low=1),
        number(
            "kv_elements_full",
            "elements per token",
            "cached per token in full-attention layers (MLA: latent + rope; CSA: latent over the tokens it stands for)",
        ),
        number(
            "kv_elements_indexed",
            "elements per token",
            "part of kv_elements_full in layers that read only what their indexer selects; blank = all with an indexer",
        ),
        number(
            "kv_elements_sliding",
            "elements per token",
            "cached per token in sliding layers, capped by the window",
        ),
        positive("parameters_total_b", "1e9 parameters", "all weights", band=(0.05, 5_000)),
        positive(
            "parameters_active_b",
            "1e9 parameters",
            "weights used per token, output head included",
            band=(0.05, 2_000),
        ),
        number("parameters_expert_b", "1e9 parameters", "weights that sit in routed experts"),
        integer(
            "mtp_layers",
            "layers",
            "layers that propose a further token (multi-token prediction), not part of layers; loaded when an engine "
            "option drafts with them",
        ),
        number(
            "parameters_mtp_b", "1e9 parameters", "weights of those layers, not part of parameters_total_b"
        ),
        positive("context_tokens", "tokens", "longest input + output the model supports"),
        *provenance(),
    ),
    only_stated="sliding_layers",
)

ENGINES = Table(
    "engines",
    "named engine configurations: software, precision, options",
    ("engine",),
    (
        key("engine", "name of the configuration"),
        text("software", "serving software", required=True),
        text("version", "version the numbers hold for"),
        key("era", "software era whose overheads the engine has", "software_eras.era"),
        choice("weight_precision", "precision of the weights", PRECISIONS, required=False),
        choice("kv_precision", "precision of the KV cache", PRECISIONS, required=False),
        keys("vendors", "chip makers the engine runs on; blank = all"),
        keys("models", "models it can serve; blank = all", "models.model"),
        fraction("quality_pass_fraction", "quality pass rate against the reference precision", required=True),
        fraction("memory_fraction", "share of device memory the engine may use; blank = its era's"),
        number(
            "layer_overhead_us", "us per layer", "host and launch time per layer and step; blank = its era's"
        ),
        number(
            "sequence_overhead_us", "us per sequence", "host time per sequence and step; blank = its era's"
        ),
        positive(
            "tuning_ratio",
            "ratio",
            "engine tuning: about 0.65 untuned, 1 reference, 1.3 hand-tuned",
            band=(0.2, 3),
        ),
        *provenance(),
    ),
    only_stated="version",
)

ENGINE_OPTIONS = Table(
    "engine_options",
    "options an engine may run with; a workload names those a plan may choose among",
    ("option",),
    (
        key("option", "name of the option, or of several used together"),
        keys("engines", "engine configurations it exists for; blank = all", "engines.engine"),
        keys("models", "models it exists for; blank = all", "models.model"),
        choice(
            "prefix_cache",
            "where the prompts of returning sessions are kept: device memory, or that and host memory; "
            "blank = the hit share the workload states",
            ("device", "host"),
            required=False,
        ),
        choice(
            "routing",
            "affinity: a session returns to the replica that holds its prompt; spread: to any of the pool",
            ("affinity", "spread"),
            required=False,
        ),
        integer("pool_replicas", "replicas", "replicas that spread sessions may land on", low=1),
        fraction("host_memory_fraction", "share of the unit's host memory the cache may use"),
        integer(
            "draft_tokens",
            "tokens",
            "tokens a draft proposes per step; blank = plain decoding",
            low=1,
            high=64,
        ),
        fraction("acceptance_fraction", "share of proposed tokens accepted while all before them were"),
        fraction(
            "draft_cost_fraction",
            "device time of one draft pass over a plain step of the model at that batch; blank = the share of the "
            "model's own mtp_layers",
        ),
        integer(
            "draft_layers",
            "layers",
            "layers of the draft, each launched by the host; blank = mtp_layers",
            low=1,
        ),
        fraction(
            "draft_memory_fraction",
            "weights of the draft over those of the model; blank = those of its mtp_layers",
        ),
        integer(
            "most_units",
            "units",
            "units of purchase a replica may take as stages of a pipeline; 1 = stages inside one unit; blank = none",
            low=1,
            high=64,
        ),
        flag(
            "disaggregated",
            "true: prompts and answers run on replicas of their own at one site, of one product or of several",
        ),
        *provenance(),
    ),
)

OPERATING_POINTS = Table(
    "operating_points",
    "measured rates of one configuration at one load",
    ("point",),
    (
        key("point", "name of the row"),
        key("curve", "rows of one configuration that differ only in load", required=False),
        key(
            "product", "unit the rate is for; give either product or chip", "products.product", required=False
        ),
        key("chip", "accelerator; give either product or chip", "chips.chip", required=False),
        integer("chips", "chips", "size of the system whose rate is given", low=1),
        key("model", "model served", "models.model", required=False),
        key(
            "engine",
            "engine configuration; blank for foreign rows that name only software",
            "engines.engine",
            required=False,
        ),
        text("software", "serving software and version as the source names it"),
        choice("weight_precision", "precision of the weights", PRECISIONS, required=False),
        choice("kv_precision", "precision of the KV cache", PRECISIONS, required=False),
        integer("tensor_parallel", "chips", "tensor-parallel size", low=1),
        integer("pipeline_parallel", "stages", "pipeline-parallel size", low=1),
        integer("expert_parallel", "chips", "expert-parallel size", low=1),
        flag(
            "attention_dp", "true when attention runs data-parallel beside tensor or expert parallel experts"
        ),
        choice("phase", "what the unit does at this point", PHASES),
        key("shape", "opaque request shape the rate is for; lengths are then blank", required=False),
        key("workload", "workload of that shape", "workloads.workload", required=False),
        number("input_tokens", "tokens", "prompt length, cache hits included"),
        number("output_tokens", "tokens", "generated length"),
        number(
            "concurrency",
            "requests",
            "static batch or closed-loop concurrency; blank = the most the engine fits",
        ),
        choice(
            "load_kind",
            "how the load was made",
            ("closed_loop", "static_batch", "offline_max", "open_loop", "offered", "unstated"),
            required=False,
        ),
        number("requests_per_s", "requests/s", "completed requests of the system"),
        number("input_tok_per_s", "tok/s", "prompt tokens of the system, hits included"),
        number("output_tok_per_s", "tok/s", "generated tokens of the system"),
        number("ttft_ms", "ms", "time to first token", band=(0.1, 3.6e6)),
        choice("ttft_statistic", "which statistic ttft_ms is", STATISTICS, required=False),
        number("ttft_p99_ms", "ms", "99th percentile of time to first token", band=(0.1, 3.6e6)),
        number("tpot_ms", "ms", "time per output token", band=(0.01, 1e5)),
        choice("tpot_statistic", "which statistic tpot_ms is", STATISTICS, required=False),
        number("tpot_p99_ms", "ms", "99th percentile of time per output token", band=(0.01, 1e5)),
        number(
            "cache_hit_fraction",
            "fraction",
            "share of prompt tokens found in the prefix cache; blank = unknown",
            high=1.0,
        ),
        choice("speculative", "speculative decoding in use", ("yes", "no", "unknown"), required=False),
        number("power_w", "W", "measured draw of the system named in power_scope"),
        text("power_scope", "what power_w covers"),
        flag("verified", "true when an expert checked a row that looks too fast"),
        *provenance(),
    ),
    kinds=(Kinds("a rate of", "input_tokens, output_tokens ?", ("lengths", "shapes")),),
    only_for={
        "lengths": "chip weight_precision kv_precision expert_parallel attention_dp load_kind speculative "
        "verified",
        "shapes": "shape workload",
    },
    only_warned="chip weight_precision kv_precision expert_parallel attention_dp load_kind speculative verified",
    only_stated="software curve",
)

SOFTWARE_ERAS = Table(
    "software_eras",
    "overheads of serving software by era, fitted on measured points",
    ("era",),
    (
        key("era", "name of the software and its era"),
        text(
            "names",
            "fragments of foreign engine names that mean this software, separated by semicolons; blank = any",
        ),
        text("versions", "beginnings of its version texts, separated by semicolons; blank = any other"),
        number("layer_overhead_us", "us per layer", "host and launch time per layer and step", required=True),
        number("step_overhead_us", "us per step", "host time per step and pipeline stage", required=True),
        number("sequence_overhead_us", "us per sequence", "host time per sequence and step", required=True),
        number("first_token_overhead_ms", "ms", "request handling before a first token", required=True),
        fraction("memory_fraction", "share of nominal device memory the engine may use", required=True),
        integer("fit_rows", "rows", "measured rows behind the fit; 0 when borrowed from another era"),
        *provenance(),
    ),
    only_stated="names versions fit_rows",
)

ROOFLINE_CONSTANTS = Table(
    "roofline_constants",
    "constants of the roofline that belong to no chip family and no engine, fitted on measured points",
    ("constant",),
    (
        key("constant", "name of the constant"),
        number("value", "see unit", "fitted or sourced value", required=True, low=None),
        text("unit", "unit of the value", required=True),
        text("meaning", "what it stands for in the formulas", required=True),
        *provenance(),
    ),
    only_stated="unit meaning",
)

STATISTIC_FACTORS = Table(
    "statistic_factors",
    "how one statistic of a latency relates to its median, for rows that state another than the target's",
    ("metric", "statistic"),
    (
        choice("metric", "which latency", ("ttft", "tpot")),
        choice("statistic", "which statistic of it", STATISTICS),
        positive("ratio_to_median", "ratio", "the statistic over the median", required=True, band=(0.5, 50)),
        fraction("attained_fraction", "share of requests at or below the statistic; blank when unstated"),
        *provenance(),
    ),
    kinds=(Kinds("a statistic", "statistic", STATISTICS),),
    only_for={"mean median p90 p95 p99": "attained_fraction"},
)

LEVERS = Table(
    "levers",
    "what an engineering or facility measure changes, by how much",
    ("lever",),
    (
        key("lever", "name of the measure and its variant"),
        choice("layer", "layer it acts on", ("chip", "engine", "cluster", "power_cooling", "operations")),
        text("metric", "quantity it changes", required=True),
        number("effect_low", "see unit", "low end of the measured effect", low=None),
        number("effect_high", "see unit", "high end of the measured effect", low=None),
        text("unit", "unit of the effect"),
        text("conditions", "conditions under which it was measured"),
        text("interacts_with", "other levers or metrics it interferes with"),
        *provenance(),
    ),
    read_by="the workbook shows it among the inputs",
)

PROVENANCE_RANGES = Table(
    "provenance_ranges",
    "how far a number may be off, by how far it is to be trusted: the band where no low and high are stated",
    ("trust",),
    (
        key("trust", "confidence of the number; unstated = no source beside it"),
        positive("low_ratio", "ratio", "low value over the stated one", required=True, high=1.0),
        positive("high_ratio", "ratio", "high value over the stated one", required=True, low=1.0),
        *provenance(),
    ),
    read_by="planner sensitivity reads it",
)

TABLES = (
    PROVENANCE_RANGES,
    MODELS,
    ENGINES,
    ENGINE_OPTIONS,
    OPERATING_POINTS,
    SOFTWARE_ERAS,
    ROOFLINE_CONSTANTS,
    STATISTIC_FACTORS,
    LEVERS,
)
