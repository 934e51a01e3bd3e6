"""Predictions for rows of measured-point files by one provider alone, never a look-up of the row itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.catalog import shipped_catalog
from planner.performance.corrected import band_log_sd
from planner.performance.database_times import database_times
from planner.performance.deployment import Array, Deployments, deployments
from planner.performance.foreign import point_facts
from planner.performance.kernel_database import NOT_INSTALLED, installed_version
from planner.performance.memory import most_concurrent
from planner.performance.roofline_constants import RooflineConstants, roofline_constants
from planner.performance.serving import Lengths, Timing, balanced_concurrency, closed_loop, loop_timing
from planner.performance.step_store import StepStore
from planner.units import MS_PER_SECOND

Provider = Literal["roofline", "aiconfigurator"]
REQUIRED = ["row_id", "chip", "chips_used", "model", "engine", "input_len", "output_len"]
UNUSUAL_BAND = (0.5, 2.0)
"""Band of rows with speculative decoding or separate prefill: the roofline was not fitted on any."""

OUTPUT_COLUMNS = [
    "row_id",
    "predicted_tpot_ms",
    "predicted_throughput_out_tok_s",
    "predicted_ttft_ms",
    "band_low_ratio",
    "band_high_ratio",
    "provider",
    "reason",
]


def predict_points(rows: pd.DataFrame, provider: Provider = "roofline") -> pd.DataFrame:
    """Return TPOT, output rate and TTFT of measured configurations as one provider alone predicts them.

    Measured values are not read and catalogued measurements are not looked up, so the result says how good
    the provider is on configurations it may or may not have been fitted on.

    Parameters
    ----------
    rows : DataFrame
        Columns row_id, chip, chips_used, tp, pp, dp, ep, attention_dp, model, engine, engine_version,
        weight_precision, kv_precision, input_len, output_len, concurrency_or_batch, conc_kind,
        prefix_cache_hit, spec_decode, disaggregated; the optional ones may be absent. Chips, models and engines
        resolve as in scenarios (``planner.inputs.names``). Chips beyond tp x pp are further replicas, which share
        the load.
    provider
        ``roofline``, or ``aiconfigurator``, which refuses what its database does not hold.

    Returns
    -------
    DataFrame
        ``OUTPUT_COLUMNS``, one row per input row in its order; a row that cannot be predicted has a reason
        and no numbers. The band is 5th to 95th percentile of true over predicted rate; of a time take the inverse.
    """
    absent = [name for name in REQUIRED if name not in rows]
    if absent:
        raise InputError([Fault("points", "column is missing", column=name) for name in absent])
    tables = {name: located.frame for name, located in shipped_catalog().items()}
    if provider == "aiconfigurator" and installed_version() is None:
        raise InputError([Fault("provider", NOT_INSTALLED, value=provider)])
    facts = point_facts(rows, tables)
    reason = facts["reason"]
    known = facts[reason.eq("")]
    constants = roofline_constants(tables["roofline_constants"])
    if provider == "aiconfigurator" and len(known):
        numbers = database_numbers(known, constants)
        reason = reason.where(reason.ne(""), numbers["reason"].reindex(reason.index).fillna(""))
        numbers = numbers[numbers["reason"].eq("")].drop(columns="reason")
    else:
        numbers = predicted_numbers(known, constants) if len(known) else pd.DataFrame(index=known.index)
    result = pd.DataFrame({"row_id": rows["row_id"].to_numpy()}, index=facts.index).join(numbers)
    result = result.assign(provider=np.where(reason.eq(""), provider, ""), reason=reason)
    return result.reindex(columns=OUTPUT_COLUMNS).reset_index(drop=True)


@dataclass(frozen=True)
class Load:
    """The load of each row, arrays (n, 1).

    Attributes
    ----------
    lengths
        Tokens of a request.
    stated
        Concurrency, batch or requests/s; NaN = the most that fits.
    offered, together
        The load is a request rate; the load is a batch started together or kept full.
    separate, speculative
        Prompts run on other chips than decoding; several tokens are proposed per step.
    replicas
        Replicas that share the load stated; ``stated`` is the load of one.
    """

    lengths: Lengths
    stated: Array
    offered: Array
    together: Array
    separate: Array
    speculative: Array
    replicas: Array


def row_loads(facts: pd.DataFrame) -> Load:
    """Return the load each row states; cached prompt tokens are not computed again."""

    def column(name: str) -> Array:
        return facts[name].to_numpy(float)[:, None]

    hit = facts["prefix_cache_hit"].fillna(0.0).to_numpy(float)[:, None]
    prompt = column("input_len")
    lengths = Lengths(prompt, np.maximum(column("output_len"), 1.0), np.maximum(prompt * (1.0 - hit), 1.0))
    return Load(
        lengths,
        column("load"),
        facts["load_kind"].eq("offered").to_numpy()[:, None],
        facts["load_kind"].isin(["static_batch", "offline_max", "open_loop"]).to_numpy()[:, None],
        facts["separate"].to_numpy(bool)[:, None],
        facts["speculative"].to_numpy(bool)[:, None],
        column("replicas"),
    )


def load_batch(deployment: Deployments, load: Load, constants: RooflineConstants) -> tuple[Array, Array]:
    """Return the requests in flight at once and those asked for, each (n, 1).

    Every request counts at its full length, as where a plan's points are made; an offered rate takes the
    concurrency that balances it.
    """
    lengths = load.lengths
    full = lengths.prompt + lengths.generated
    fitting = np.maximum(most_concurrent(deployment, full, constants), 1.0)
    asked = np.where(np.isnan(load.stated) | load.offered, fitting, load.stated)
    batch = np.minimum(asked, fitting)
    rows = np.flatnonzero(load.offered)
    if len(rows):
        part = Lengths(lengths.prompt[rows], lengths.generated[rows], lengths.uncached[rows])
        batch[rows] = balanced_concurrency(
            deployment.take(rows), load.stated[rows], fitting[rows], part, constants
        )
    return batch, asked


def served(deployment: Deployments, load: Load, constants: RooflineConstants) -> tuple[Array, Array, Array]:
    """Return TTFT (s), TPOT (s) and output rate (tok/s) of each row under its load by the roofline, each (n, 1)."""
    batch, asked = load_batch(deployment, load, constants)
    return under_load(closed_loop(deployment, batch, load.lengths, constants), batch, asked, load, constants)


def under_load(
    timing: Timing, batch: Array, asked: Array, load: Load, constants: RooflineConstants
) -> tuple[Array, Array, Array]:
    """Return TTFT (s), TPOT (s) and output rate (tok/s) of any provider's closed-loop times under each row's load.

    closed loop: both latencies and ``B * output / (TTFT + (output - 1) * TPOT)``. Static batch and offline:
    the batch rate. Offered rate: at most what is offered. Requests beyond what memory holds wait: each full turn
    adds to the time to first token. Speculative decoding shortens a step by a catalogue ratio; where prompts
    run on chips of their own they do not delay decoding (the split of the chips is not known, so all of them
    are taken to decode).
    """
    lengths = load.lengths
    step_s = timing.step_s * np.where(load.speculative, constants.speculative_step_ratio, 1.0)
    tpot_s = step_s + np.where(load.separate, 0.0, timing.tpot_s - timing.step_s)
    turn_s = timing.ttft_s + np.maximum(lengths.generated - 1.0, 0.0) * tpot_s
    whole_s = lengths.generated * step_s + batch * timing.prefill_s
    rate = batch / np.where(load.together, whole_s, turn_s)
    rate = np.where(load.offered, np.fmin(load.stated, rate), rate)
    queued_s = np.where(load.offered, 0.0, np.maximum(asked / batch - 1.0, 0.0)) * batch / rate
    return timing.ttft_s + queued_s, tpot_s, rate * lengths.generated * load.replicas


def database_numbers(facts: pd.DataFrame, constants: RooflineConstants) -> pd.DataFrame:
    """Return the predicted columns by the kernel database, and the reason where it holds nothing.

    How many requests fit, and how prompts and waiting delay them, is ours; step and prompt times are its own.
    """
    deployment, load = deployments(facts), row_loads(facts)
    batch, asked = load_batch(deployment, load, constants)
    batch = np.rint(batch)
    times = database_times(facts, deployment, batch, load.lengths, StepStore())
    timing = loop_timing(deployment, batch, load.lengths, times.step_s, times.prompt_s, constants)
    usual = ~(facts["separate"] | facts["speculative"])
    low, high = constants.aiconfigurator_band_low_ratio, constants.aiconfigurator_band_high_ratio
    frame = number_frame(under_load(timing, batch, asked, load, constants), facts.index)
    return frame.assign(
        band_low_ratio=np.where(usual, low, min(low, UNUSUAL_BAND[0])),
        band_high_ratio=np.where(usual, high, max(high, UNUSUAL_BAND[1])),
        reason=times.reason,
    )


def number_frame(predicted: tuple[Array, Array, Array], index: pd.Index) -> pd.DataFrame:
    """Return the predicted columns of TTFT (s), TPOT (s) and output rate (tok/s)."""
    ttft_s, tpot_s, output_tok_per_s = predicted
    return pd.DataFrame(
        {
            "predicted_tpot_ms": (tpot_s * MS_PER_SECOND)[:, 0],
            "predicted_throughput_out_tok_s": output_tok_per_s[:, 0],
            "predicted_ttft_ms": (ttft_s * MS_PER_SECOND)[:, 0],
        },
        index=index,
    )


def predicted_numbers(facts: pd.DataFrame, constants: RooflineConstants) -> pd.DataFrame:
    """Return the predicted columns of rows that have all facts, by the roofline.

    The band is that of ``errors``: of the rate, with what sources and repeated measurements differ by.
    """
    usual = ~(facts["separate"] | facts["speculative"])
    family = band_log_sd(facts["band_low_ratio"], facts["band_high_ratio"], constants)
    other = constants.anchor_source_log**2 + constants.anchor_noise_log**2
    wide = np.exp(constants.rate_band_deviations * np.sqrt(family**2 + other))
    facts = facts.assign(band_low_ratio=1.0 / wide, band_high_ratio=wide)
    low = facts["band_low_ratio"].clip(upper=UNUSUAL_BAND[0])
    high = facts["band_high_ratio"].clip(lower=UNUSUAL_BAND[1])
    return number_frame(served(deployments(facts), row_loads(facts), constants), facts.index).assign(
        band_low_ratio=facts["band_low_ratio"].where(usual, low),
        band_high_ratio=facts["band_high_ratio"].where(usual, high),
    )
