"""Measured rows: which ones may be used, at their own shape, and why the others may not.

A row is used for planning when it names chip (or product), model, engine configuration and both lengths.
Rows without an engine key are foreign: they calibrate the roofline and are not planned with.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.performance.candidates import ENGINE_COLUMNS, accepts
from planner.performance.deployment import compute_path, join_facts, missing_facts
from planner.performance.frame import as_text
from planner.performance.layouts import per_replica, unfit
from planner.performance.statistics import ratio_to_median, statistic_ratio
from planner.units import FLOPS_PER_TFLOPS, MS_PER_SECOND, PARAMS_PER_BILLION

PREDICTED = ("derived", "estimate")
"""Confidence of rows that another model computed: used at their own shape, below every measurement."""

MOST_OF_PEAK_FRACTION = 0.70
SAME_LENGTH_FRACTION = 0.01
SAME_HIT_FRACTION = 0.05


def turn_s(rows: pd.DataFrame, factors: pd.DataFrame) -> pd.Series:
    """Return the median time a request stays in the system, seconds: TTFT + (output - 1) * TPOT."""
    ttft = rows["ttft_ms"] / ratio_to_median(factors, "ttft", rows["ttft_statistic"])
    tpot = rows["tpot_ms"] / ratio_to_median(factors, "tpot", rows["tpot_statistic"])
    return (ttft + (rows["output_tokens"] - 1.0).clip(lower=0.0) * tpot) / MS_PER_SECOND


def completed_requests_per_s(rows: pd.DataFrame, factors: pd.DataFrame) -> pd.Series:
    """Return the rate of the measured system, requests/s.

    Stated rate first; else output rate / output length, or prompt rate / prompt length; else, for a
    closed loop with both latencies, ``concurrency / (TTFT + (output - 1) * TPOT)`` with medians (Little's law; derived,
    not measured).
    """
    closed = rows["concurrency"].where(rows["load_kind"].eq("closed_loop")) / turn_s(rows, factors)
    by_output = rows["output_tok_per_s"] / rows["output_tokens"]
    by_input = rows["input_tok_per_s"] / rows["input_tokens"]
    return rows["requests_per_s"].fillna(by_output).fillna(by_input).fillna(closed)


def measured_rows(
    tables: Mapping[str, pd.DataFrame], engines: pd.DataFrame, models: set[str], chips: set[str]
) -> pd.DataFrame:
    """Return the rows of named configurations with facts joined, rates of the system and a refusal reason.

    Parameters
    ----------
    tables
        Typed tables of the scenario.
    engines : DataFrame
        Engine rows with the scenario's tuning.
    models, chips
        Models in use and chips on offer; other rows are left out.

    Returns
    -------
    DataFrame
        Columns of ``operating_points`` with parallel sizes filled, chips, load, rates and power of one replica,
        engine columns, facts, path, system_requests_per_s, decoding (plain or speculative), predicted, reason
        (empty = usable).
    """
    points = tables["operating_points"]
    named = points["model"].notna() & points["engine"].notna()
    named &= points["model"].isin(models)
    named &= points["input_tokens"].notna() & points["output_tokens"].notna() & points["phase"].eq("mixed")
    rows = points[named].copy().reset_index(drop=True)
    products = tables["products"].set_index("product")
    rows["chip"] = rows["chip"].fillna(rows["product"].map(products["chip"]))
    rows["chips"] = rows["chips"].fillna(rows["product"].map(products["chips_per_unit"]))
    rows = rows[rows["chip"].isin(chips)].reset_index(drop=True)
    if rows.empty:
        return rows
    rows["tensor"] = rows["tensor_parallel"].fillna(rows["chips"])
    rows["pipeline"] = rows["pipeline_parallel"].fillna(1.0)
    rows["expert"] = rows["expert_parallel"].fillna(1.0)
    rows["layout"] = unfit(rows)
    rows = per_replica(rows)
    own = [name for name in ENGINE_COLUMNS if name not in ("engine", "software")]
    rows = rows.drop(columns=["weight_precision", "kv_precision"]).merge(
        engines[["engine", *own]], on="engine", how="left"
    )
    joined = join_facts(rows, tables)
    joined = joined.assign(path=compute_path(joined["weight_precision"], joined))
    joined["system_requests_per_s"] = completed_requests_per_s(joined, tables["statistic_factors"])
    decoding = np.where(joined["speculative"].eq("yes"), "speculative", "plain")
    predicted = joined["confidence"].isin(PREDICTED)
    return joined.assign(decoding=decoding, predicted=predicted, reason=row_faults(joined))


def row_faults(rows: pd.DataFrame) -> pd.Series:
    """Return why a measured row is not believed, empty when it is.

    A rate above 70 % of the dense peak (2 FLOP per active parameter and computed token) is refused unless an
    expert marked the row as verified: it usually counts cached or speculative tokens.
    """
    reason = missing_facts(rows)
    computed = rows["input_tokens"] * (1.0 - rows["cache_hit_fraction"].fillna(0.0)) + rows["output_tokens"]
    flops = 2.0 * rows["parameters_active_b"] * PARAMS_PER_BILLION * computed * rows["system_requests_per_s"]
    share = flops / (rows["chips"] * dense_peak_flops(rows))
    checks = (
        (rows["chips"].isna(), "the row does not say how many chips it was measured on"),
        (rows["layout"].ne(""), rows["layout"]),
        (rows["system_requests_per_s"].isna(), "the row gives no rate and none can be derived"),
        (
            (share > MOST_OF_PEAK_FRACTION) & ~rows["verified"],
            "implies " + as_text(100.0 * share) + " % of the chips' dense peak, above 70 %",
        ),
    )
    for failed, message in checks:
        reason = reason.mask(reason.eq("") & failed, message)
    return reason


def dense_peak_flops(rows: pd.DataFrame) -> pd.Series:
    """Return FLOP/s of one chip on each row's compute path."""
    peaks = {"bf16": "bf16_tflops", "fp8": "fp8_tflops", "int8": "int8_tops", "fp4": "fp4_tflops"}
    peak = pd.Series(np.nan, index=rows.index)
    for path, column in peaks.items():
        peak = peak.mask(rows["path"].eq(path), rows[column])
    return peak * FLOPS_PER_TFLOPS


def matches(rows: pd.DataFrame, shapes: pd.DataFrame, products: pd.DataFrame) -> pd.DataFrame:
    """Return measured rows at each shape's own lengths (within 1 %), ``exact`` where the cache hits agree too."""
    wanted = shapes.rename(
        columns={
            "input_tokens": "shape_input",
            "generated_tokens": "shape_generated",
            "ttft_ms": "ttft_target_ms",
            "tpot_ms": "tpot_target_ms",
            "e2e_ms": "e2e_target_ms",
        }
    ).drop(columns=["output_tokens", "shape_key"], errors="ignore")
    source = rows.drop(columns=["workload", "shape"]).rename(columns={"product": "row_product"})
    pairs = source.merge(wanted, on="model")
    pairs = pairs[accepts(pairs["engines"], pairs["engine"])]
    ratio_in = pairs["shape_input"].div(pairs["input_tokens"])
    ratio_out = pairs["shape_generated"].div(pairs["output_tokens"])
    other_hits = (pairs["cache_hit_fraction"] - pairs["cached_input_fraction"]).abs()
    near = (ratio_in - 1.0).abs().le(SAME_LENGTH_FRACTION) & (ratio_out - 1.0).abs().le(SAME_LENGTH_FRACTION)
    pairs = pairs.assign(exact=near & other_hits.fillna(0.0).le(SAME_HIT_FRACTION))[near]
    units = products[["product", "chip", "chips_per_unit"]]
    pairs = pairs.merge(units, on="chip", suffixes=("", "_unit"))
    own = pairs["row_product"].isna() | pairs["row_product"].eq(pairs["product"])
    return pairs[own].reset_index(drop=True)


def at_target_statistic(pairs: pd.DataFrame, factors: pd.DataFrame, metric: str) -> pd.Series:
    """Return a measured latency at the target's statistic, ms.

    The row's own p99 where the target is p99; else the stated statistic times a catalogue factor.
    """
    ratio = statistic_ratio(factors, metric, pairs[f"{metric}_statistic"], pairs["percentile"])
    scaled = pairs[f"{metric}_ms"] * ratio
    own = pairs[f"{metric}_p99_ms"].where(pairs["percentile"].eq("p99"))
    return own.fillna(scaled)


def unmet_targets(pairs: pd.DataFrame) -> pd.Series:
    """Return why a row misses the workload's own targets, empty when it meets them.

    ``pairs`` needs target_ttft, target_tpot, target_e2e (latencies at the target's statistic, ms).
    """
    reason = pd.Series("", index=pairs.index, dtype="str")
    for metric in ("ttft", "tpot", "e2e"):
        target, value = pairs[f"{metric}_target_ms"], pairs[f"target_{metric}"]
        label = {"ttft": "TTFT", "tpot": "TPOT", "e2e": "end-to-end latency"}[metric]
        absent = f"no {label} statistic for a stated target"
        missed = label + " " + as_text(value) + " ms is above the target of " + as_text(target) + " ms"
        reason = reason.mask(reason.eq("") & target.notna() & value.isna(), absent)
        reason = reason.mask(reason.eq("") & target.notna() & (value > target), missed)
    return reason
