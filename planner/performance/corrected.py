"""Rates a plan may rest on: the roofline corrected by measurements, held at the confidence asked for.

    log speed = expected residual - d * sd       (of the configuration, at the lengths and load: ``anchoring``)

A choice among many uncertain rates lands on those that are too high, so every rate is lowered by d standard deviations
of its own: little where much was measured, more where nothing was. d follows from the setting ``rate_confidence``,
the probability that the true rate is at least the planned one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from statistics import NormalDist

import numpy as np
import pandas as pd

from planner.performance.anchoring import Anchoring, Correction
from planner.performance.ceiling import beyond_ceiling
from planner.performance.deployment import Array, Deployments
from planner.performance.evidence import evidence
from planner.performance.frame import as_text
from planner.performance.roofline_constants import RooflineConstants
from planner.performance.serving import Lengths, Timing, closed_loop

TARGETS = ("ttft_ms", "tpot_ms", "e2e_ms")


@dataclass(frozen=True)
class Rates:
    """What corrects the roofline: the evidence, and by how many standard deviations rates are lowered."""

    anchoring: Anchoring
    lowered_deviations: float

    @classmethod
    def of(
        cls,
        tables: Mapping[str, pd.DataFrame],
        engines: pd.DataFrame,
        replicas: pd.DataFrame,
        confidence: float,
        constants: RooflineConstants,
    ) -> Rates:
        """Return what corrects the rates of some replicas.

        Parameters
        ----------
        tables
            Typed tables of the scenario.
        engines : DataFrame
            Engine rows with the scenario's tuning.
        replicas : DataFrame
            Result of ``candidates.replicas``: chip, model.
        confidence
            Setting ``rate_confidence``.
        """
        rows = evidence(tables, engines, set(replicas["model"]), set(tables["chips"]["chip"]), constants)
        return cls(Anchoring(rows, constants), deviations(confidence))

    def loads(self, rows: pd.DataFrame, grid: Array, limit: Array) -> Array:
        """Return the loads to look at: the grid and the last one measured of the configuration, (n, m + 1)."""
        last = np.minimum(self.anchoring.last_load(rows)[:, None], limit)
        return np.sort(np.c_[grid, np.where(np.isnan(last), limit, last)], axis=1)

    def corrected(
        self, rows: pd.DataFrame, deployment: Deployments, grid: Array
    ) -> tuple[Deployments, Correction]:
        """Return the deployments at corrected, lowered speed at each load, and the correction.

        Parameters
        ----------
        rows : DataFrame
            Replica shapes with rate_log_sd (``with_prior``).
        """
        untargeted = rows[[name for name in TARGETS if name in rows]].isna().all(axis=1)
        found = self.anchoring.correction(rows.assign(either=untargeted), grid)
        speed = np.exp(found.speed_log - self.lowered_deviations * found.speed_sd)
        return replace(deployment, tuning=deployment.tuning * speed), found

    def first_token_ratio(self, found: Correction) -> Array:
        """Return by what the roofline's time to first token is multiplied."""
        return np.exp(self.lowered_deviations * found.speed_sd - found.first_log)


def deviations(confidence: float) -> float:
    """Return by how many standard deviations a rate is lowered for its truth to reach it that often.

    >>> deviations(0.5)
    0.0
    """
    return float(NormalDist().inv_cdf(confidence)) + 0.0


def band_log_sd(low: pd.Series, high: pd.Series, constants: RooflineConstants) -> pd.Series:
    """Return the standard deviation of log(true / predicted rate) that a band of 90 % stands for."""
    return np.log(high / low) / (2.0 * constants.rate_band_deviations)


def with_prior(
    rows: pd.DataFrame, tables: Mapping[str, pd.DataFrame], constants: RooflineConstants
) -> pd.DataFrame:
    """Return replica rows with ``rate_log_sd``: how far the roofline alone may be off.

    The band of the chip family, wider by ``unmeasured_log_sd`` for a model and again for an engine software of which no
    measured row exists on any chip: nothing in the fit has seen what is special about them.
    """
    points = tables["operating_points"]
    seen_model = rows["model"].isin(points["model"].dropna().unique())
    software = tables["engines"].set_index("engine")["software"]
    seen = points["engine"].map(software).dropna().unique()
    unseen = (~seen_model).astype(float) + (~rows["software"].isin(seen)).astype(float)
    family = band_log_sd(rows["band_low_ratio"], rows["band_high_ratio"], constants)
    return rows.assign(rate_log_sd=np.sqrt(family**2 + unseen * constants.unmeasured_log_sd**2))


def corrected_loop(
    rows: pd.DataFrame, deployment: Deployments, grid: Array, lengths: Lengths, rates: Rates
) -> tuple[Timing, Array, Correction]:
    """Return closed-loop timing by the corrected roofline, the first token without queue, and the correction.

    Speed and first token have residuals of their own; the rate follows from both (Little's law). A rate beyond the best
    ever measured (``ceiling``) with no rows behind it is cut: all its times are longer.
    """
    constants = rates.anchoring.constants
    plain = closed_loop(deployment, grid, lengths, constants)
    tuned, found = rates.corrected(rows, deployment, grid)
    fast = closed_loop(tuned, grid, lengths, constants)
    ratio = rates.first_token_ratio(found)
    ttft = plain.ttft_s * ratio
    in_front = constants.first_token_queue_ratio * np.maximum(grid - 1.0, 0.0) * plain.prefill_s
    rate = grid / (ttft + np.maximum(lengths.generated - 1.0, 0.0) * fast.tpot_s)
    beyond = beyond_ceiling(rows, rate, lengths.uncached + lengths.generated, found.anchored)
    timing = Timing(
        ttft * beyond, fast.tpot_s * beyond, rate / beyond, fast.prefill_s * beyond, fast.step_s * beyond
    )
    return timing, (plain.ttft_s - in_front) * ratio * beyond, replace(found, cut=beyond)


def at_points(values: Array, grid: Array, points: pd.DataFrame) -> Array:
    """Return the grid value of each point, found by its row and concurrency."""
    rows = points["row"].to_numpy()
    column = np.argmax(grid[rows] == points["concurrency"].to_numpy(float)[:, None], axis=1)
    return np.broadcast_to(values, grid.shape)[rows, column]


def correction_at(found: Correction, grid: Array, points: pd.DataFrame) -> Correction:
    """Return the correction of each point, arrays (points,)."""
    flat = {
        field.name: at_points(getattr(found, field.name), grid, points)
        for field in fields(Correction)
        if field.name != "rows"
    }
    return Correction(rows=found.rows[points["row"].to_numpy()], **flat)


def evidence_text(found: Correction, evidence_rows: pd.DataFrame) -> pd.Series:
    """Return how many rows stand behind each anchored point and where the heaviest of them was measured."""
    near = evidence_rows.iloc[np.maximum(found.nearest, 0)].reset_index(drop=True)
    lengths = as_text(near["input_tokens"]) + "/" + as_text(near["output_tokens"])
    place = (
        lengths + " tokens, " + as_text(near["load"]) + " in flight on " + as_text(near["chips"]) + " chips"
    )
    return as_text(pd.Series(found.rows, dtype=float)) + " rows, nearest at " + place
