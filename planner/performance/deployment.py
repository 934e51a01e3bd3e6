"""Deployments: one model on some chips under one engine, as arrays the formulas read.

A deployment is (chip, model, engine constants, parallelism). ``deployments`` joins the tables by key and
returns one :class:`Deployments` whose fields are float arrays of shape (n, 1), so that a concurrency grid of
shape (n, m) or (m,) broadcasts against them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
import pandas as pd

from planner.units import (
    BYTES_PER_GB,
    BYTES_PER_TB,
    FLOPS_PER_TFLOPS,
    MS_PER_SECOND,
    PARAMS_PER_BILLION,
    US_PER_SECOND,
)

Array = np.ndarray

WEIGHT_BYTES: Mapping[str, float] = {
    "bf16": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    "fp4": 0.5625,
    "mxfp4": 0.53125,
    "int4": 0.53125,
}
"""Bytes per weight, block scales included (fp4: one FP8 scale per 16 weights, mxfp4: one per 32)."""

UNMEASURED_BAND = (0.5, 2.0)
"""Least error band of a chip none of whose own measurements stand behind its constants: family constants carried
over to another memory system, power limit or software state have been wrong by up to that much."""

STATE_BYTES = 2.0
"""Bytes per element of a linear layer's state where the model does not say: BF16."""

KV_BYTES: Mapping[str, float] = {"bf16": 2.0, "fp8": 1.0, "int8": 1.0, "fp4": 0.5625}

COMPUTE_PATHS: Mapping[str, tuple[str, ...]] = {
    "bf16": ("bf16",),
    "fp8": ("fp8",),
    "int8": ("int8",),
    "fp4": ("fp4",),
    "mxfp4": ("fp4", "bf16"),
    "int4": ("bf16",),
}
"""Arithmetic a weight precision runs in, first one the chip has; INT4 and, without FP4 units, MXFP4 are
weight-only formats: weights shrink, arithmetic stays BF16."""

PEAK_COLUMNS: Mapping[str, str] = {
    "bf16": "bf16_tflops",
    "fp8": "fp8_tflops",
    "int8": "int8_tops",
    "fp4": "fp4_tflops",
}
MFU_COLUMNS: Mapping[str, str] = {
    "bf16": "mfu_bf16_fraction",
    "fp8": "mfu_fp8_fraction",
    "int8": "mfu_fp8_fraction",
    "fp4": "mfu_fp4_fraction",
}


@dataclass(frozen=True)
class Deployments:
    """Arrays of shape (n, 1); bytes, bytes/s, FLOP/s, seconds and plain counts.

    Attributes
    ----------
    chips, tensor, pipeline, expert
        Chips of one replica and its parallel sizes.
    attention_dp
        1 when attention runs data-parallel over the chips (experts stay spread), else 0.
    peak_flops, mfu, bandwidth, bandwidth_efficiency, memory, link
        Per chip: dense FLOP/s of the compute path and its achieved share, bytes/s of memory and its achieved
        share, bytes of memory, bytes/s of the scale-up link in one direction.
    attention_flops_per_s
        Achieved FLOP/s per chip of BF16, in which attention runs whatever the precision of the weights.
    layers, hidden, heads, kv_heads, head_dim, mla
        Architecture; ``mla`` is 1 for multi-head latent attention.
    window, linear_layers, linear_state, state_bytes
        Tokens of the sliding window; linear layers, elements of the state of one and bytes of an element.
    kv_full, kv_indexed, kv_sliding
        Cached elements per token in the full layers, in those of them that attend what an indexer selects, and in
        the sliding layers.
    entry
        Elements of one cached entry of one layer: keys and values of all heads, or the latent that stands for both.
    sparse_topk
        Tokens attended per query by a sparse indexer; infinite when dense.
    indexer, indexer_heads
        Keys the indexers cache per token, elements of all layers; their heads.
    active, total, expert_weights, experts, active_experts, moe_layers
        Parameters used per token, all, in routed experts; experts per layer, used per token, their layers.
    weight_bytes, kv_bytes
        Bytes per parameter and per cached element.
    layer_s, step_s, sequence_s, first_token_s, tuning, memory_fraction
        Engine: host seconds per layer and step, per stage and step, per sequence and step, per request before
        its first token; tuning ratio; usable memory share.
    """

    chips: Array
    tensor: Array
    pipeline: Array
    expert: Array
    attention_dp: Array
    peak_flops: Array
    mfu: Array
    attention_flops_per_s: Array
    bandwidth: Array
    bandwidth_efficiency: Array
    memory: Array
    link: Array
    scale_up: Array
    layers: Array
    hidden: Array
    heads: Array
    kv_heads: Array
    head_dim: Array
    mla: Array
    window: Array
    linear_layers: Array
    linear_state: Array
    state_bytes: Array
    kv_full: Array
    kv_indexed: Array
    kv_sliding: Array
    entry: Array
    sparse_topk: Array
    indexer: Array
    indexer_heads: Array
    active: Array
    total: Array
    expert_weights: Array
    experts: Array
    active_experts: Array
    moe_layers: Array
    weight_bytes: Array
    kv_bytes: Array
    layer_s: Array
    step_s: Array
    sequence_s: Array
    first_token_s: Array
    tuning: Array
    memory_fraction: Array

    def take(self, positions: Array) -> Deployments:
        """Return the deployments at some positions (repeats allowed)."""
        return Deployments(**{field.name: getattr(self, field.name)[positions] for field in fields(self)})


def compute_path(weight_precision: pd.Series, chips: pd.DataFrame) -> pd.Series:
    """Return the arithmetic each row runs in, missing when its chip has no path for the precision.

    Parameters
    ----------
    weight_precision : Series of text
    chips : DataFrame
        Chip columns aligned with it.
    """
    path = np.full(len(weight_precision), "", dtype=object)
    for precision, candidates in COMPUTE_PATHS.items():
        for candidate in reversed(candidates):
            usable = weight_precision.eq(precision) & chips[PEAK_COLUMNS[candidate]].notna()
            path = np.where(usable, candidate, path)
    named = pd.Series(path, index=weight_precision.index, dtype="str")
    return named.where(named.ne(""))


def by_path(frame: pd.DataFrame, path: pd.Series, columns: Mapping[str, str]) -> Array:
    """Return the column that belongs to each row's compute path."""
    chosen = np.full(len(frame), np.nan)
    for name, column in columns.items():
        chosen = np.where(path.eq(name), frame[column].to_numpy(float), chosen)
    return chosen


def _achieved_bf16(joined: pd.DataFrame) -> Array:
    """Return achieved BF16 FLOP/s per chip; those of the compute path where the catalogue has no BF16 figure."""
    bf16 = joined["bf16_tflops"].to_numpy(float) * joined["mfu_bf16_fraction"].to_numpy(float)
    path = by_path(joined, joined["path"], PEAK_COLUMNS) * by_path(joined, joined["path"], MFU_COLUMNS)
    return np.where(np.isnan(bf16), path, bf16) * FLOPS_PER_TFLOPS


def join_facts(rows: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the rows with the columns of their chip, chip family and model beside them.

    Unknown keys leave the joined columns missing; ``missing_facts`` says which.
    """
    chips = tables["chips"].drop(columns=["source", "source_date", "confidence", "notes", "vendor"])
    families = tables["chip_families"].drop(columns=["source", "source_date", "confidence", "notes"])
    models = tables["models"].drop(columns=["source", "source_date", "confidence", "notes"])
    joined = rows.merge(chips, on="chip", how="left", validate="many_to_one")
    joined = joined.merge(families, on="family", how="left", validate="many_to_one")
    joined = joined.merge(models, on="model", how="left", validate="many_to_one")
    joined.index = rows.index
    return joined.assign(**widened_band(joined))


def widened_band(joined: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the family's error band, at least ``UNMEASURED_BAND`` where no row of the chip itself was measured."""
    own = joined["measured_rows"].fillna(0.0) > 0
    low, high = joined["band_low_ratio"], joined["band_high_ratio"]
    return {
        "band_low_ratio": low.where(own, low.clip(upper=UNMEASURED_BAND[0])),
        "band_high_ratio": high.where(own, high.clip(lower=UNMEASURED_BAND[1])),
    }


def missing_facts(joined: pd.DataFrame) -> pd.Series:
    """Return why a row cannot be computed, empty text when it can; nothing is guessed.

    Parameters
    ----------
    joined : DataFrame
        Result of ``join_facts`` with column ``path`` from ``compute_path``; with ``chips`` and ``pipeline``
        the links between the chips of a replica are checked too.
    """
    reason = pd.Series("", index=joined.index, dtype="str")
    chip, model = joined["chip"].astype("str"), joined["model"].astype("str")
    precision = joined["weight_precision"].astype("str")
    facts = joined[["layers", "hidden", "heads", "kv_elements_full", "parameters_active_b"]]
    share = pd.Series(by_path(joined, joined["path"], MFU_COLUMNS), index=joined.index)
    no_family = "chip family " + joined["family"].astype("str") + " has no fitted or borrowed fractions"
    checks: list[tuple[pd.Series, pd.Series | str]] = [
        (joined["memory_gb"].isna(), "chip " + chip + " is not in the catalogue"),
        (joined["bandwidth_efficiency_fraction"].isna(), no_family),
        (joined["parameters_total_b"].isna(), "model " + model + " is unknown"),
        (facts.isna().any(axis=1), "model " + model + " lacks architecture facts"),
        (joined["weight_precision"].isna(), "the weight precision is not known"),
        (joined["path"].isna(), "chip " + chip + " has no " + precision + " path"),
        (share.isna(), "no achieved compute fraction for this precision on the chip family"),
    ]
    if "chips" in joined:
        apart = joined["chips"].gt(joined["pipeline"]) & joined["scale_up_gb_per_s"].isna()
        checks.append((apart, "the bandwidth between the chips is not in the catalogue"))
    for failed, message in checks:
        text = pd.Series(message, index=joined.index, dtype="str")
        reason = reason.mask(reason.eq("") & failed, text)
    return reason


def cached_entry(joined: pd.DataFrame) -> Array:
    """Return elements of one cached entry of one attention layer.

    Grouped heads cache keys and values of each (2 x heads x size), a latent cache the latent of a layer; where it
    stands for several tokens (CSA) its size is that of a head.
    """
    layers = (joined["full_attention_layers"].fillna(0.0)).clip(lower=1.0).astype(float)
    grouped = 2.0 * joined["kv_heads"].astype(float) * joined["head_dim"].astype(float)
    latent = joined["kv_elements_full"].astype(float) / layers
    entry = grouped.where(joined["attention"].eq("GQA"), latent)
    entry = entry.mask(joined["attention"].eq("CSA"), joined["head_dim"].astype(float))
    return entry.fillna(latent).clip(lower=1.0).to_numpy(float)


def deployments(joined: pd.DataFrame) -> Deployments:
    """Return the arrays of rows that have all facts (see ``missing_facts``).

    Parameters
    ----------
    joined : DataFrame
        Columns of ``join_facts`` plus ``path``, ``chips``, ``tensor``, ``pipeline``, ``expert``,
        ``attention_dp``, ``weight_precision``, ``kv_precision``, the overheads of the software era,
        ``tuning_ratio``, ``memory_fraction``.
    """

    def column(name: str, missing: float = 0.0) -> Array:
        return joined[name].astype(float).fillna(missing).to_numpy(float)

    latent = joined["attention"].isin(["MLA", "CSA"]).to_numpy(float)
    topk = column("sparse_attention_topk", np.inf)
    indexed = joined["kv_elements_indexed"].fillna(joined["kv_elements_full"]).to_numpy(float)
    kv_precision = joined["kv_precision"].fillna("bf16")
    host = column("overhead_ratio", 1.0)
    values = {
        "chips": column("chips"),
        "tensor": column("tensor"),
        "pipeline": column("pipeline", 1.0),
        "expert": column("expert", 1.0),
        "attention_dp": column("attention_dp"),
        "peak_flops": by_path(joined, joined["path"], PEAK_COLUMNS) * FLOPS_PER_TFLOPS,
        "mfu": by_path(joined, joined["path"], MFU_COLUMNS),
        "attention_flops_per_s": _achieved_bf16(joined),
        "bandwidth": column("memory_tb_per_s") * BYTES_PER_TB,
        "bandwidth_efficiency": column("bandwidth_efficiency_fraction"),
        "memory": column("memory_gb") * BYTES_PER_GB,
        "link": column("scale_up_gb_per_s") * BYTES_PER_GB,
        "scale_up": column("scale_up_chips", 1.0),
        "layers": column("layers"),
        "hidden": column("hidden"),
        "heads": column("heads"),
        "kv_heads": np.where(latent > 0, 1.0, column("kv_heads", 1.0)),
        "head_dim": column("head_dim", 128.0),
        "mla": joined["attention"].eq("MLA").to_numpy(float),
        "window": column("sliding_window_tokens"),
        "linear_layers": column("linear_attention_layers"),
        "linear_state": column("linear_state_elements"),
        "state_bytes": column("linear_state_bytes", STATE_BYTES),
        "kv_full": column("kv_elements_full"),
        "kv_indexed": np.where(np.isfinite(topk), indexed, 0.0),
        "kv_sliding": column("kv_elements_sliding"),
        "entry": cached_entry(joined),
        "sparse_topk": topk,
        "indexer": column("indexer_elements"),
        "indexer_heads": column("indexer_heads"),
        "active": column("parameters_active_b") * PARAMS_PER_BILLION,
        "total": column("parameters_total_b") * PARAMS_PER_BILLION,
        "expert_weights": column("parameters_expert_b") * PARAMS_PER_BILLION,
        "experts": column("experts", 1.0),
        "active_experts": column("active_experts", 1.0),
        "moe_layers": column("moe_layers"),
        "weight_bytes": joined["weight_precision"].map(WEIGHT_BYTES).to_numpy(float),
        "kv_bytes": kv_precision.map(KV_BYTES).to_numpy(float),
        "layer_s": column("layer_overhead_us") / US_PER_SECOND * host,
        "step_s": column("step_overhead_us") / US_PER_SECOND * host,
        "sequence_s": column("sequence_overhead_us") / US_PER_SECOND * host,
        "first_token_s": column("first_token_overhead_ms") / MS_PER_SECOND,
        "tuning": column("tuning_ratio", 1.0),
        "memory_fraction": column("memory_fraction"),
    }
    return Deployments(**{name: value[:, None] for name, value in values.items()})
