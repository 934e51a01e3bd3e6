"""The kernel database as a source of step and prompt times for rows of deployments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from planner.performance.deployment import Array, Deployments
from planner.performance.kernel_database import Configuration, NotCovered, configuration, prompt_ms, step_ms
from planner.performance.roofline import least_prompt_s, least_step_s
from planner.performance.serving import Lengths
from planner.performance.step_store import StepStore
from planner.units import MS_PER_SECOND


@dataclass(frozen=True)
class DatabaseTimes:
    """Seconds per step (n, m) and per prompt (n, 1), NaN where the database holds nothing, and why (n)."""

    step_s: Array
    prompt_s: Array
    reason: pd.Series


def database_times(
    rows: pd.DataFrame, deployment: Deployments, batch: Array, lengths: Lengths, store: StepStore
) -> DatabaseTimes:
    """Return the times of each row's configuration on its batches.

    One column of batches is asked for as it is; of a grid only powers of two and the largest, between which a
    step is interpolated in the logarithms of both (it is smooth and convex there). No time is shorter than the
    bytes at full bandwidth or the arithmetic at full peak take: what no provider may break.

    Parameters
    ----------
    rows : DataFrame
        Columns chip, backend_software, model, weight_precision, kv_precision, chips, tensor, pipeline, expert,
        attention_dp.
    """
    step = np.full(np.broadcast_shapes(batch.shape, (len(rows), 1)), np.nan)
    prompt = np.full((len(rows), 1), np.nan)
    reasons = []
    context = np.rint(lengths.mean_context[:, 0]).astype(int)
    computed = np.rint(lengths.uncached[:, 0]).astype(int)
    cached = np.rint((lengths.prompt - lengths.uncached)[:, 0]).astype(int)
    for number, row in enumerate(rows.itertuples(index=False)):
        try:
            wanted = _configuration(row)
            asked = batch[number] if batch.shape[1] == 1 else knots(float(batch[number].max()))
            steps = [_step(store, wanted, int(count), context[number]) for count in asked]
            prompt[number] = _prompt(store, wanted, int(computed[number]), int(cached[number]))
        except NotCovered as error:
            reasons.append(str(error))
            continue
        step[number] = np.exp(np.interp(np.log(batch[number]), np.log(asked), np.log(steps)))
        reasons.append("")
    step = np.maximum(step / MS_PER_SECOND, least_step_s(deployment, batch, lengths.mean_context))
    prompt = np.maximum(prompt / MS_PER_SECOND, least_prompt_s(deployment, lengths.uncached))
    tuning = deployment.tuning
    return DatabaseTimes(step / tuning, prompt / tuning, pd.Series(reasons, index=rows.index, dtype="str"))


def knots(most: float) -> Array:
    """Return 1, 2, 4, ... below the largest batch, and the largest.

    >>> knots(5.0).tolist()
    [1.0, 2.0, 4.0, 5.0]
    """
    powers = 2.0 ** np.arange(int(np.log2(max(most, 1.0))) + 1)
    return np.unique(np.append(powers, max(most, 1.0)))


def _configuration(row: object) -> Configuration:
    facts = {name: getattr(row, name) for name in ("chips", "tensor", "pipeline", "expert", "attention_dp")}
    spread = bool(facts["attention_dp"])
    chips = int(facts["chips"] if spread else facts["tensor"])
    return configuration(
        str(getattr(row, "chip", "")),
        str(getattr(row, "backend_software", "")),
        str(getattr(row, "model", "")),
        str(getattr(row, "weight_precision", "")),
        str(getattr(row, "kv_precision", "")),
        (chips, int(facts["pipeline"]), int(facts["expert"])),
        spread,
    )


def _step(store: StepStore, wanted: Configuration, count: int, context: int) -> float:
    return store.ms("step", wanted, count, context, lambda: step_ms(wanted, count, int(context)))


def _prompt(store: StepStore, wanted: Configuration, computed: int, cached: int) -> float:
    return store.ms("prompt", wanted, cached, computed, lambda: prompt_ms(wanted, computed, cached))
