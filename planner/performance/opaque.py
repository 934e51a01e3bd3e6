"""Opaque points: rates stated for a product and a workload, taken straight when they meet the targets.

A row is opaque when it names a product and gives no lengths: a batch sweep of a card, requests/s per request
bucket, or prompt and output tokens/s of a node by phase. Lengths then come from the shapes table; the row is
used as it stands and never scaled to another length or load.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.performance.candidates import accepts
from planner.performance.frame import ERROR_COLUMNS, FACT_COLUMNS, REFUSED_COLUMNS
from planner.performance.measured import at_target_statistic, unmet_targets
from planner.performance.power import measured_unit_kw
from planner.performance.roofline_constants import RooflineConstants


def opaque_rows(points: pd.DataFrame) -> pd.DataFrame:
    """Return rows that name a product and neither of the lengths."""
    blank = points["input_tokens"].isna() & points["output_tokens"].isna()
    return points[points["product"].notna() & blank]


def opaque_pairs(rows: pd.DataFrame, shapes: pd.DataFrame, products: pd.DataFrame) -> pd.DataFrame:
    """Return opaque rows beside the shapes they speak for.

    A row with a workload (and shape) speaks for that one only; a row without speaks for every workload whose
    model it names, or that names no model either; a row that names an engine only where the workload accepts it.
    """
    wanted = shapes.rename(
        columns={
            "workload": "to_workload",
            "shape": "to_shape",
            "model": "to_model",
            "input_tokens": "shape_input",
            "generated_tokens": "shape_generated",
            "ttft_ms": "ttft_target_ms",
            "tpot_ms": "tpot_target_ms",
            "e2e_ms": "e2e_target_ms",
        }
    )
    pairs = rows.drop(columns=["input_tokens", "output_tokens"]).merge(wanted, how="cross")
    named = pairs["workload"].notna()
    same_model = pairs["model"].eq(pairs["to_model"]) | (pairs["model"].isna() & pairs["to_model"].isna())
    speaks = (named & pairs["workload"].eq(pairs["to_workload"])) | (~named & same_model)
    speaks &= pairs["shape"].isna() | pairs["shape"].eq(pairs["to_shape"])
    speaks &= pairs["engine"].isna() | accepts(pairs["engines"], pairs["engine"])
    units = products[["product", "chips_per_unit", "tdp_w"]]
    return pairs[speaks].merge(units, on="product").reset_index(drop=True)


def unit_requests_per_s(pairs: pd.DataFrame) -> pd.Series:
    """Return attempts/s one product unit completes.

    Stated requests/s first; else prompt rate / prompt length, output rate / generated length, the lower one
    when both are given. Prompt rates count every prompt token, cache hits included. A row whose ``chips``
    differ from the unit's is scaled by the ratio of chips.
    """
    generated = pairs["shape_generated"].fillna(1.0)
    by_input = (pairs["input_tok_per_s"] / pairs["shape_input"]).where(pairs["phase"].ne("decode"))
    by_output = (pairs["output_tok_per_s"] / generated).where(pairs["phase"].ne("prefill"))
    rate = pairs["requests_per_s"].fillna(pd.concat([by_input, by_output], axis=1).min(axis=1))
    units = (pairs["chips"] / pairs["chips_per_unit"]).fillna(1.0)
    return rate / units


def phase_targets(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return pairs without the targets that the other phase has to meet."""
    ttft = pairs["ttft_target_ms"].where(pairs["phase"].ne("decode"))
    tpot = pairs["tpot_target_ms"].where(pairs["phase"].ne("prefill"))
    whole = pairs["e2e_target_ms"].where(pairs["phase"].eq("mixed"))
    return pairs.assign(ttft_target_ms=ttft, tpot_target_ms=tpot, e2e_target_ms=whole)


def opaque_points(
    pairs: pd.DataFrame,
    products: pd.DataFrame,
    engines: pd.DataFrame,
    factors: pd.DataFrame,
    constants: RooflineConstants,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the points taken straight and the rows refused.

    Returns
    -------
    tuple of DataFrame
        Points with ``FACT_COLUMNS`` and ``ERROR_COLUMNS``; refused with ``REFUSED_COLUMNS``.
    """
    rated = phase_targets(pairs).assign(rate=unit_requests_per_s(pairs))
    rated = rated.assign(
        target_ttft=at_target_statistic(rated, factors, "ttft"),
        target_tpot=at_target_statistic(rated, factors, "tpot"),
    )
    tokens = (rated["shape_generated"].fillna(1.0) - 1.0).clip(lower=0.0)
    # Where the phases run apart, the point's own part of a request: the first token, or the tokens after it.
    first = rated["target_ttft"].mask(rated["phase"].eq("decode"), 0.0)
    whole = first + (tokens * rated["target_tpot"]).mask(rated["phase"].eq("prefill"), 0.0)
    rated = rated.assign(target_e2e=whole, reason=opaque_faults(rated.assign(target_e2e=whole)))
    refused = rated[rated["reason"].ne("")]
    refused = refused.drop(columns=["workload", "shape"]).rename(
        columns={"to_workload": "workload", "to_shape": "shape"}
    )
    taken = rated[rated["reason"].eq("")].reset_index(drop=True)
    return _as_points(taken, products, engines, constants), refused.assign(ttft_class="")[REFUSED_COLUMNS]


def units_per_replica(taken: pd.DataFrame) -> pd.Series:
    """Return units of purchase one replica takes: several where tensor x pipeline sizes make up all chips of the row.

    A row that gives no pipeline size is the rate of a system that may hold many replicas, and counts per unit.
    """
    one = taken["chips"].eq(taken["tensor_parallel"].fillna(1) * taken["pipeline_parallel"])
    units = np.ceil(taken["chips"] / taken["chips_per_unit"])
    return units.where(one & units.gt(1), 1.0).astype(float)


def opaque_faults(rated: pd.DataFrame) -> pd.Series:
    """Return why an opaque row is not taken, empty when it is."""
    reason = pd.Series("", index=rated.index, dtype="str")
    reason = reason.mask(rated["rate"].isna(), "the row gives no rate for this phase")
    reason = reason.mask(rated["rate"].eq(0), "rate 0: the product cannot serve this shape at its target")
    return reason.mask(reason.eq(""), unmet_targets(rated))


def _as_points(
    taken: pd.DataFrame, products: pd.DataFrame, engines: pd.DataFrame, constants: RooflineConstants
) -> pd.DataFrame:
    quality = taken["engine"].map(engines.set_index("engine")["quality_pass_fraction"]).astype(float)
    chips = taken["chips"].fillna(taken["chips_per_unit"]).fillna(1.0)
    share = taken["phase"].map(
        {"prefill": 1.0, "decode": 0.0, "mixed": constants.opaque_prefill_time_fraction}
    )
    stated = taken["source"].notna()
    points = pd.DataFrame(
        {
            "workload": taken["to_workload"],
            "shape": taken["to_shape"],
            "product": taken["product"],
            "model": taken["model"].fillna(taken["to_model"]),
            "engine": taken["engine"],
            "engine_option": "",
            "decoding": "plain",
            "phase": taken["phase"],
            "layout": "",
            "replica_chips": chips,
            "replicas_per_unit": (taken["chips_per_unit"] / chips).fillna(1.0),
            "units_per_replica": units_per_replica(taken),
            "idle_chips_per_unit": 0.0,
            "concurrency": taken["concurrency"],
            "cache_hit_fraction": taken["cache_hit_fraction"],
            "prefill_time_fraction": share.astype(float),
            "requests_per_s": taken["rate"],
            "ttft_ms": taken["target_ttft"],
            "tpot_ms": taken["target_tpot"],
            "e2e_ms": taken["target_e2e"],
            "quality_pass_fraction": quality.where(taken["engine"].notna(), 1.0),
            "measured_kw": measured_unit_kw(taken.assign(chips=chips), products),
            "provider": "opaque",
            "band_low_ratio": constants.measured_band_low_ratio,
            "band_high_ratio": constants.measured_band_high_ratio,
            "source": taken["source"].where(stated, "scenario"),
            "source_date": taken["source_date"],
            "confidence": taken["confidence"],
            "tuning_low_ratio": 1.0,
            "tuning_high_ratio": 1.0,
            "basis": "stated rate of point " + taken["point"],
        }
    )
    return points.reindex(columns=[*FACT_COLUMNS, *ERROR_COLUMNS])
