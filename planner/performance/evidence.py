"""Evidence: measured rows beside the roofline's own figure for them, as logarithms of true over predicted rate.

One definition throughout: a residual is ``log(true rate / predicted rate)``; of a time it is the inverse, so a first
token that came later than predicted has a negative residual. A row speaks for its configuration (chip, model, engine
software, weight precision) at any lengths; ``anchoring`` weighs it by distance.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.inputs.catalog import known_keys
from planner.performance.deployment import Array, deployments
from planner.performance.measured import measured_rows, turn_s
from planner.performance.memory import most_concurrent
from planner.performance.roofline_constants import RooflineConstants
from planner.performance.serving import Lengths, Timing, batch_requests_per_s, closed_loop
from planner.performance.statistics import ratio_to_median
from planner.units import MS_PER_SECOND

CONFIGURATION = ["chip", "model", "software", "weight_precision"]
"""What a residual belongs to; lengths, load, chips and layout are distances within it."""

BATCH_KINDS = ("static_batch", "offline_max", "open_loop")
WAITED_RATIO = 2.0
WAITED_FRACTION = 0.1
DAYS_PER_YEAR = 365.25
EVIDENCE_COLUMNS = [
    "point",
    *CONFIGURATION,
    "family",
    "chips",
    "attention_dp",
    "batch",
    "input_tokens",
    "output_tokens",
    "load",
    "speed_log",
    "first_token_log",
    "own",
    "age_years",
    "source",
    "source_date",
]


def is_own(points: pd.Series) -> pd.Series:
    """Return which measured rows are the user's: those the shipped catalogue does not have."""
    return ~points.isin(known_keys("operating_points", "point"))


def with_load(rows: pd.DataFrame, constants: RooflineConstants) -> pd.DataFrame:
    """Return measured rows with ``load``, the requests in flight: as stated, else the most that memory holds."""
    length = (rows["input_tokens"] + rows["output_tokens"]).to_numpy(float)[:, None]
    fitting = pd.Series(most_concurrent(deployments(rows), length, constants)[:, 0], index=rows.index)
    load = rows["concurrency"].fillna(fitting)
    load = load.mask(rows["load_kind"].isin(BATCH_KINDS), np.minimum(load, fitting))
    return rows.assign(load=load.clip(lower=1.0))


def past_knee(rows: pd.DataFrame, predicted_ttft_ms: Array, factors: pd.DataFrame) -> pd.Series:
    """Return which rows are of an engine that is full: what it lets wait is in flight without running.

    A first token that took more than twice the predicted time, and so that over a tenth of a request's turn was wait.
    Such a row says nothing of the speed at the load it states, and nothing of waiting at other lengths.
    """
    ttft = rows["ttft_ms"] / ratio_to_median(factors, "ttft", rows["ttft_statistic"])
    wait = (ttft - WAITED_RATIO * predicted_ttft_ms).clip(lower=0.0)
    return (wait / (MS_PER_SECOND * turn_s(rows, factors))).fillna(0.0) > WAITED_FRACTION


def residuals(rows: pd.DataFrame, factors: pd.DataFrame, constants: RooflineConstants) -> tuple[Array, Array]:
    """Return log(true / predicted) of the speed and of the first token of measured rows, NaN where not measured.

    The speed is that of decoding (the inverse of TPOT) where it was measured, else the rate of the whole request.

    Parameters
    ----------
    rows : DataFrame
        Rows with load and system_requests_per_s.
    """
    timing, rate = predicted_timing(rows, constants)
    times = {}
    for metric, predicted in (("ttft", timing.ttft_s), ("tpot", timing.tpot_s)):
        median = rows[f"{metric}_ms"] / ratio_to_median(factors, metric, rows[f"{metric}_statistic"])
        times[metric] = np.log(predicted[:, 0] * MS_PER_SECOND / median.to_numpy(float))
    by_rate = np.log(rows["system_requests_per_s"].to_numpy(float) / rate)
    return np.where(np.isnan(times["tpot"]), by_rate, times["tpot"]), times["ttft"]


def predicted_timing(rows: pd.DataFrame, constants: RooflineConstants) -> tuple[Timing, Array]:
    """Return the roofline's closed loop at each row's load, and its rate under the row's kind of load."""
    deployment = deployments(rows)
    inputs = rows["input_tokens"].to_numpy(float)[:, None]
    outputs = rows["output_tokens"].to_numpy(float)[:, None]
    uncached = inputs * (1.0 - rows["cache_hit_fraction"].fillna(0.0).to_numpy(float)[:, None])
    batch = rows["load"].to_numpy(float)[:, None]
    lengths = Lengths(inputs, outputs, uncached)
    timing = closed_loop(deployment, batch, lengths, constants)
    static = batch_requests_per_s(deployment, batch, lengths, constants)[:, 0]
    return timing, np.where(rows["load_kind"].isin(BATCH_KINDS), static, timing.requests_per_s[:, 0])


def evidence(
    tables: Mapping[str, pd.DataFrame],
    engines: pd.DataFrame,
    models: set[str],
    chips: set[str],
    constants: RooflineConstants,
) -> pd.DataFrame:
    """Return what was measured of some models and chips, with its residuals (``EVIDENCE_COLUMNS``).

    Rows that another model computed, that are not believed, that decode speculatively or that lie past the knee of
    their curve (``past_knee``) are left out. A public row
    was measured on engines of the reference tuning; the user's own on the user's, whose tuning the scenario states.

    Parameters
    ----------
    tables
        Typed tables of the scenario.
    engines : DataFrame
        Engine rows with the scenario's tuning.
    models, chips
        Models in use and chips on offer.
    """
    rows = measured_rows(tables, engines, models, chips)
    if rows.empty:
        return pd.DataFrame(columns=EVIDENCE_COLUMNS)
    believed = rows["reason"].eq("") & ~rows["predicted"] & rows["decoding"].eq("plain")
    believed &= rows["phase"].eq("mixed") & rows["system_requests_per_s"].gt(0)
    rows = rows[believed].reset_index(drop=True)
    if rows.empty:
        return pd.DataFrame(columns=EVIDENCE_COLUMNS)
    own = is_own(rows["point"])
    rows = rows.assign(own=own, tuning_ratio=rows["tuning_ratio"].where(own, 1.0))
    rows = rows.merge(engines[["engine", "software"]], on="engine", suffixes=("_row", ""))
    rows = with_load(rows, constants)
    ttft_ms = predicted_timing(rows, constants)[0].ttft_s[:, 0] * MS_PER_SECOND
    rows = rows[~past_knee(rows, ttft_ms, tables["statistic_factors"])].reset_index(drop=True)
    if rows.empty:
        return pd.DataFrame(columns=EVIDENCE_COLUMNS)
    speed, first = residuals(rows, tables["statistic_factors"], constants)
    date = pd.to_datetime(rows["source_date"], format="ISO8601", errors="coerce")
    age = (date.max() - date).dt.days.fillna(0.0) / DAYS_PER_YEAR
    return rows.assign(
        batch=rows["load_kind"].isin(BATCH_KINDS),
        speed_log=speed,
        first_token_log=first,
        age_years=age,
    )[EVIDENCE_COLUMNS]
