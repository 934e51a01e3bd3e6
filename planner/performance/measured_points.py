"""Points of measured configurations: rows at the shape itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.performance.deployment import deployments
from planner.performance.estimates import layouts
from planner.performance.evidence import is_own, with_load
from planner.performance.frame import ERROR_COLUMNS, FACT_COLUMNS, REFUSED_COLUMNS, as_text
from planner.performance.measured import at_target_statistic, matches, measured_rows, unmet_targets
from planner.performance.memory import most_concurrent
from planner.performance.power import measured_unit_kw
from planner.performance.queued_points import unloaded_step_s
from planner.performance.roofline import prefill_s
from planner.performance.roofline_constants import RooflineConstants
from planner.performance.serving import Timing
from planner.performance.statistics import ratio_to_median
from planner.units import MS_PER_SECOND


def measured_points(
    tables: Mapping[str, pd.DataFrame],
    shapes: pd.DataFrame,
    products: pd.DataFrame,
    engines: pd.DataFrame,
    constants: RooflineConstants,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the measured points, and the measured rows refused.

    Parameters
    ----------
    tables
        Typed tables of the scenario.
    shapes : DataFrame
        Result of ``candidates.workload_shapes``.
    products, engines : DataFrame
        Products on offer; engines with the scenario's tuning.

    Returns
    -------
    tuple of DataFrame
        Points with ``FACT_COLUMNS``; refused with ``REFUSED_COLUMNS``.
    """
    empty = pd.DataFrame(columns=FACT_COLUMNS), pd.DataFrame(columns=REFUSED_COLUMNS)
    known = shapes[shapes["input_tokens"].notna() & shapes["output_tokens"].notna()]
    rows = measured_rows(tables, engines, set(known["model"].dropna()), set(products["chip"].dropna()))
    if rows.empty:
        return empty
    believed = rows[rows["reason"].eq("")].reset_index(drop=True)
    if len(believed):
        believed = with_load(believed, constants)
    disbelieved = matches(rows[rows["reason"].ne("")], known, products)
    pairs = matches(believed, known, products) if len(believed) else disbelieved.iloc[:0]
    too_large = pairs["chips"] > pairs["chips_per_unit"]
    pairs, spanning = pairs[~too_large].reset_index(drop=True), pairs[too_large]
    spanning = spanning.assign(reason="the measured replica spans more than one unit of purchase")
    exact, missed = exact_points(pairs[pairs["exact"]], products, tables["statistic_factors"], constants)
    refused = pd.concat([disbelieved[disbelieved["exact"]], spanning[spanning["exact"]], missed])
    refused = refused.assign(ttft_class="", reason="point " + refused["point"] + ": " + refused["reason"])
    return (exact if len(exact) else empty[0]), refused[REFUSED_COLUMNS]


def exact_points(
    pairs: pd.DataFrame, products: pd.DataFrame, factors: pd.DataFrame, constants: RooflineConstants
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows measured at a shape's own lengths that meet its targets, and those that do not.

    Where waiting is computed none is judged alone: what a pool may carry is decided over its mix (``mixes``).
    """
    if pairs.empty:
        return pd.DataFrame(columns=FACT_COLUMNS), pairs
    rows = pairs.assign(
        target_ttft=at_target_statistic(pairs, factors, "ttft"),
        target_tpot=at_target_statistic(pairs, factors, "tpot"),
    )
    tokens = (rows["shape_generated"] - 1.0).clip(lower=0.0)
    rows["target_e2e"] = rows["target_ttft"] + tokens * rows["target_tpot"]
    rows = with_service(rows.reset_index(drop=True), factors, constants)
    pooled = rows["queued"] & rows[["step_ms", "service_ttft_ms"]].notna().all(axis=1)
    rows["reason"] = unmet_targets(rows).mask(pooled, "")
    met = rows[rows["reason"].eq("")].reset_index(drop=True)
    return _as_points(met, products, constants), rows[rows["reason"].ne("")]


def with_service(rows: pd.DataFrame, factors: pd.DataFrame, constants: RooflineConstants) -> pd.DataFrame:
    """Return the rows with what the queue model needs: first token, step and most requests.

    The measured first token counts as service although a closed loop's contains waiting: how much is not known.
    """
    deployment = deployments(rows)
    prompt_s = prefill_s(deployment, rows["uncached_tokens"].to_numpy(float)[:, None], constants)
    medians = {
        metric: (rows[f"{metric}_ms"] / ratio_to_median(factors, metric, rows[f"{metric}_statistic"]))
        for metric in ("ttft", "tpot")
    }
    per_s = {metric: values.to_numpy(float)[:, None] / MS_PER_SECOND for metric, values in medians.items()}
    rate = rows["system_requests_per_s"].to_numpy(float)[:, None]
    timing = Timing(per_s["ttft"], per_s["tpot"], rate, prompt_s, per_s["tpot"])
    grid = rows["load"].to_numpy(float)[:, None]
    length = (rows["shape_input"] + rows["shape_generated"]).to_numpy(float)[:, None]
    limit = np.maximum(most_concurrent(deployment, length, constants), grid)
    step = unloaded_step_s(
        timing, np.nan_to_num(grid, nan=1.0), rows["shape_generated"].to_numpy(float)[:, None]
    )
    return rows.assign(
        service_ttft_ms=medians["ttft"],
        step_ms=step[:, 0] * MS_PER_SECOND,
        step_alone_ms=step[:, 0] * MS_PER_SECOND,
        slots=limit[:, 0],
    )


def _as_points(rows: pd.DataFrame, products: pd.DataFrame, constants: RooflineConstants) -> pd.DataFrame:
    if rows.empty:
        return pd.DataFrame(columns=FACT_COLUMNS)
    per_unit = np.floor(rows["chips_per_unit"] / rows["chips"])
    uncached = rows["uncached_tokens"].to_numpy(float)[:, None]
    prompt_s = prefill_s(deployments(rows), uncached, constants)[:, 0]
    chips = as_text(rows["chips"])
    derived = rows[["requests_per_s", "output_tok_per_s", "input_tok_per_s"]].isna().all(axis=1)
    rate_note = np.where(derived, "; rate derived from concurrency and latencies", "")
    predicted = rows["predicted"].to_numpy(bool)
    own = is_own(rows["point"])
    unstated = rows["speculative"].eq("unknown")
    guess_note = np.where(unstated, "; the source does not say whether decoding is speculative", "")
    return pd.DataFrame(
        {
            **{name: rows[name] for name in ("workload", "shape", "product", "model", "engine")},
            "engine_option": "",
            "decoding": rows["decoding"],
            "phase": rows["phase"],
            "layout": layouts(rows.reset_index(drop=True)).to_numpy(),
            "replica_chips": rows["chips"],
            "replicas_per_unit": per_unit,
            "units_per_replica": 1.0,
            "idle_chips_per_unit": rows["chips_per_unit"] - per_unit * rows["chips"],
            "concurrency": rows["load"],
            "cache_hit_fraction": rows["cache_hit_fraction"],
            "prefill_time_fraction": np.minimum(rows["system_requests_per_s"] * prompt_s, 1.0),
            "requests_per_s": rows["system_requests_per_s"] * per_unit,
            "ttft_ms": rows["target_ttft"],
            "tpot_ms": rows["target_tpot"],
            "e2e_ms": rows["target_e2e"],
            **{name: rows[name] for name in ("service_ttft_ms", "step_ms", "step_alone_ms", "slots")},
            "quality_pass_fraction": rows["quality_pass_fraction"],
            "measured_kw": measured_unit_kw(rows, products),
            "provider": np.where(predicted, "modelled", "measured"),
            "band_low_ratio": np.where(predicted, rows["band_low_ratio"], constants.measured_band_low_ratio),
            "band_high_ratio": np.where(
                predicted, rows["band_high_ratio"], constants.measured_band_high_ratio
            ),
            "source": rows["source"],
            "source_date": rows["source_date"],
            "confidence": rows["confidence"],
            "tuning_low_ratio": np.where(own, 1.0, np.nan),
            "tuning_high_ratio": np.where(own, 1.0, np.nan),
            "basis": "point " + rows["point"] + " on " + chips + " chips" + rate_note + guess_note,
        }
    ).reindex(columns=[*FACT_COLUMNS, *ERROR_COLUMNS])
