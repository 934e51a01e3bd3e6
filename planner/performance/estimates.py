"""Roofline estimates of every replica, shape and concurrency, reduced to the loads that can matter."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.performance.anchoring import Correction
from planner.performance.candidates import accepts
from planner.performance.ceiling import cut_text
from planner.performance.corrected import Rates, corrected_loop, correction_at, evidence_text
from planner.performance.deployment import Array, Deployments, deployments
from planner.performance.frame import ERROR_COLUMNS, FACT_COLUMNS, as_text, frontier
from planner.performance.memory import cached_tokens, most_concurrent
from planner.performance.queued_points import unloaded_step_s
from planner.performance.roofline_constants import RooflineConstants
from planner.performance.serving import Lengths, Timing
from planner.performance.statistics import ratio_to_median
from planner.units import MS_PER_SECOND

GRID_POINTS = 40
UNMEASURED_NOTE = "; no measured row of this chip stands behind the estimate"


def concurrency_grid(limit: Array, points: int = GRID_POINTS) -> Array:
    """Return whole concurrencies from 1 to each row's limit, even in the logarithm, shape (n, points).

    The last column is the limit itself, so that the memory-bound load is always looked at.
    """
    exponent = np.linspace(0.0, 1.0, points)[None, :]
    return np.floor(np.power(np.maximum(limit, 1.0), exponent) + 1e-9)


def replica_shapes(replicas: pd.DataFrame, shapes: pd.DataFrame) -> pd.DataFrame:
    """Return replicas beside the shapes of the workloads that call their model and accept their engine."""
    known = shapes[shapes["model"].notna() & shapes["input_tokens"].notna() & shapes["output_tokens"].notna()]
    rows = replicas.merge(known, on="model")
    return rows[accepts(rows["engines"], rows["engine"])].reset_index(drop=True)


def memory_refusals(
    rows: pd.DataFrame, limit: Array, deployment: Deployments, constants: RooflineConstants
) -> pd.DataFrame:
    """Return why no replica inside one unit of purchase holds the model and one request of the shape.

    The reason names what the roomiest replica leaves beside the weights, in tokens of such requests.
    """
    keys = ["workload", "shape", "product", "engine"]
    context = rows["input_tokens"] + rows["generated_tokens"]
    room = cached_tokens(deployment, context.to_numpy(float)[:, None], constants)[:, 0]
    frame = rows.assign(fits=limit[:, 0] >= 1, context=context, room=np.where(limit[:, 0] >= 1, np.inf, room))
    long = frame["context"] > frame["context_tokens"].fillna(np.inf)
    best = (
        frame.assign(fits=frame["fits"] & ~long, long=long)
        .groupby(keys, as_index=False)
        .agg(
            fits=("fits", "any"),
            long=("long", "all"),
            room=("room", "max"),
            context=("context", "first"),
            chips=("chips", "max"),
            unit=("chips_per_unit", "first"),
            link=("scale_up_gb_per_s", "first"),
        )
    )
    lost = best[~best["fits"]]
    held = as_text(lost["room"].clip(lower=0.0))
    left = ": the cache has room for " + held + " of its " + as_text(lost["context"]) + " tokens"
    left = left.where(lost["room"] > 0, ": the weights alone take more")
    spanning = (
        "weights and the KV cache of one request do not fit into "
        + as_text(lost["chips"])
        + " chips"
        + left
        + "; a replica over more than one unit of purchase ("
        + as_text(lost["unit"])
        + " chips) needs an engine option with more most_units"
    )
    unlinked = lost["link"].isna() & lost["unit"].gt(1)
    reason = spanning.mask(
        unlinked,
        "weights and the KV cache of one request do not fit into one chip, and the bandwidth between the"
        " chips is not in the catalogue",
    )
    reason = reason.where(~lost["long"], "prompt and answer are longer than the model's context")
    return lost[keys].assign(ttft_class="", phase="mixed", reason=reason)


def target_refusals(rows: pd.DataFrame, ttft_ms: Array, tpot_ms: Array, kept: pd.DataFrame) -> pd.DataFrame:
    """Return why pairs that fit into memory meet their targets at no load: what one request alone takes.

    Parameters
    ----------
    rows : DataFrame
        Replicas and shapes.
    ttft_ms, tpot_ms : ndarray
        Latencies at the target's statistic; the first column is one request alone.
    kept : DataFrame
        Points that meet the targets.
    """
    keys = ["workload", "shape", "product", "engine"]
    alone = (
        rows.assign(ttft=ttft_ms[:, 0], tpot=tpot_ms[:, 0])
        .groupby(keys, as_index=False)[["ttft", "tpot", "ttft_ms", "tpot_ms"]]
        .min()
    )
    served = pd.MultiIndex.from_frame(kept[keys].drop_duplicates())
    lost = alone[~pd.MultiIndex.from_frame(alone[keys]).isin(served)]
    slow_token = lost["tpot"] > lost["tpot_ms"].fillna(np.inf)
    late = lost["ttft"] > lost["ttft_ms"].fillna(np.inf)
    token = "TPOT of one request alone, " + as_text(lost["tpot"]) + " ms, is above the target"
    first = "TTFT of one request alone, " + as_text(lost["ttft"]) + " ms, is above the target"
    reason = pd.Series("no replica meets all targets together", index=lost.index, dtype="str")
    reason = reason.mask(late, first).mask(slow_token, token)
    return lost[keys].assign(ttft_class="", phase="mixed", reason=reason)


def time_fractions(timing: Timing, concurrency: Array) -> Array:
    """Return the share of busy time spent on prompts: ``rate * prefill``, at most 1."""
    return np.minimum(timing.requests_per_s * timing.prefill_s, 1.0)


def by_factor(rows: pd.DataFrame, timing: Timing, factors: pd.DataFrame) -> tuple[Array, Array, Array]:
    """Return TTFT, TPOT and end-to-end time in ms: medians times the factor of each target's statistic.

    The end-to-end time is the first token's plus that of the tokens after it.
    """
    ttft_ratio = ratio_to_median(factors, "ttft", rows["percentile"])[:, None]
    tpot_ratio = ratio_to_median(factors, "tpot", rows["percentile"])[:, None]
    ttft, tpot = timing.ttft_s * MS_PER_SECOND * ttft_ratio, timing.tpot_s * MS_PER_SECOND * tpot_ratio
    later = np.maximum(rows["generated_tokens"].to_numpy(float)[:, None] - 1.0, 0.0)
    return ttft, tpot, ttft + later * tpot


def first_token_alone_s(timing: Timing, grid: Array, constants: RooflineConstants) -> Array:
    """Return the first token of a closed loop without the other prompts in front of it, seconds."""
    in_front = constants.first_token_queue_ratio * np.maximum(grid - 1.0, 0.0) * timing.prefill_s
    return np.asarray(timing.ttft_s - in_front)


def shape_lengths(rows: pd.DataFrame) -> Lengths:
    """Return the lengths of each row's shape."""
    return Lengths(
        rows["input_tokens"].to_numpy(float)[:, None],
        rows["generated_tokens"].to_numpy(float)[:, None],
        rows["uncached_tokens"].to_numpy(float)[:, None],
    )


def fitting_rows(
    rows: pd.DataFrame, constants: RooflineConstants
) -> tuple[pd.DataFrame, Deployments, Array, pd.DataFrame]:
    """Return the rows that hold at least one request, their deployments, how many they hold, and the refusals."""
    deployment = deployments(rows)
    context = (rows["input_tokens"] + rows["generated_tokens"]).to_numpy(float)[:, None]
    limit = most_concurrent(deployment, context, constants)
    refused = memory_refusals(rows, limit, deployment, constants)
    fits = (limit[:, 0] >= 1) & (context[:, 0] <= rows["context_tokens"].fillna(np.inf).to_numpy(float))
    return rows[fits].reset_index(drop=True), deployment.take(fits), limit[fits], refused


def roofline_points(
    rows: pd.DataFrame, factors: pd.DataFrame, rates: Rates
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the points of the corrected roofline worth keeping, and the pairs that lack memory or speed for any.

    A point is ``anchored`` where measured rows explain most of the roofline's error there, else ``roofline``.

    Parameters
    ----------
    rows : DataFrame
        Result of ``replica_shapes`` with rate_log_sd.

    Returns
    -------
    tuple of DataFrame
        Points: ``FACT_COLUMNS`` and ``ERROR_COLUMNS``, one row per replica shape and load on the TTFT/rate frontier of
        its group.
        Refused: workload, shape, ttft_class, product, engine, phase, reason.
    """
    if rows.empty:
        return pd.DataFrame(columns=[*FACT_COLUMNS, *ERROR_COLUMNS]), pd.DataFrame()
    constants = rates.anchoring.constants
    rows, deployment, limit, refused = fitting_rows(rows, constants)
    grid = rates.loads(rows, concurrency_grid(limit), limit)
    timing, service, found = corrected_loop(rows, deployment, grid, shape_lengths(rows), rates)
    ttft, tpot, whole = by_factor(rows, timing, factors)
    points = flatten(rows, grid, limit, timing, service, (ttft, tpot, whole), found.anchored)
    refused = pd.concat([refused, target_refusals(rows, ttft, tpot, points)], ignore_index=True)
    return with_provenance(points, rows, correction_at(found, grid, points), rates), refused


def with_provenance(
    points: pd.DataFrame, rows: pd.DataFrame, found: Correction, rates: Rates
) -> pd.DataFrame:
    """Return points of ``flatten`` with provider, errors and source; ``found`` is the correction of each point."""
    constants = rates.anchoring.constants
    family = rows.iloc[points["row"].to_numpy()].reset_index(drop=True)
    points = points.assign(basis=points["basis"] + cut_text(family, found.cut))
    fitted = (family["fit_rows"].fillna(0.0) > 0) & (family["measured_rows"].fillna(0.0) > 0)
    anchored = pd.Series(found.anchored, index=points.index)
    points = points.assign(
        provider=np.where(anchored, "anchored", "roofline"),
        band_low_ratio=family["band_low_ratio"],
        band_high_ratio=family["band_high_ratio"],
        rate_log_correction=found.speed_log,
        rate_log_sd=found.speed_sd,
        first_token_log_sd=found.first_sd,
        evidence_fraction=found.weight,
        source="roofline_fit",
        source_date=constants.source_date,
        confidence=np.where(fitted | anchored, "derived", "estimate"),
    )
    if not anchored.any():
        return points.assign(
            evidence="", basis=points["basis"].where(fitted, points["basis"] + UNMEASURED_NOTE)
        )
    rests_on = evidence_text(found, rates.anchoring.evidence)
    near = rates.anchoring.evidence.iloc[np.maximum(found.nearest, 0)].reset_index(drop=True)
    own = anchored & near["own"].astype(bool)
    estimate = points["basis"].where(fitted, points["basis"] + UNMEASURED_NOTE)
    return points.assign(
        evidence=rests_on.where(anchored, ""),
        tuning_low_ratio=np.where(own, 1.0, np.nan),
        tuning_high_ratio=np.where(own, 1.0, np.nan),
        source=near["source"].where(anchored, "roofline_fit"),
        source_date=near["source_date"].where(anchored, constants.source_date),
        basis=(points["basis"] + ", anchored on " + rests_on).where(anchored, estimate),
    )


def units_share(rows: pd.DataFrame) -> np.ndarray:
    """Return whole replicas per unit, or the share of a replica a unit is where it takes several units."""
    ratio = rows["chips_per_unit"].to_numpy(float) / rows["chips"].to_numpy(float)
    return np.where(ratio < 1.0, ratio, np.floor(ratio))


def layouts(rows: pd.DataFrame) -> pd.Series:
    """Return how the replica of each row is laid out over its chips, as text."""
    spread = rows["attention_dp"].astype(float).fillna(0.0) > 0
    kind = np.where(spread, "attention DP and experts over ", "tensor parallel over ")
    text = pd.Series(kind, dtype="str").str.cat(as_text(rows["tensor"])) + " chips"
    staged = ", pipeline of " + as_text(rows["pipeline"]) + " stages"
    return text + staged.where(rows["pipeline"] > 1, "").to_numpy()


def flatten(
    rows: pd.DataFrame,
    grid: Array,
    limit: Array,
    timing: Timing,
    service_ttft_s: Array,
    latencies_ms: tuple[Array, Array, Array],
    apart: Array | None = None,
) -> pd.DataFrame:
    """Return one row per replica shape and load that meets TPOT and lies on its group's frontier.

    Where ``apart`` (n, m) is true the loads have a frontier of their own: those that rest on measurements.
    Of shapes whose waiting is computed every load is kept: what the pool of all shapes may carry decides (``mixes``).
    """
    ttft_ms, tpot_ms, e2e_ms = latencies_ms
    count, points = grid.shape
    replicas_per_unit = units_share(rows)
    step = unloaded_step_s(timing, grid, rows["generated_tokens"].to_numpy(float)[:, None])
    position = np.repeat(np.arange(count), points)
    numbers = pd.DataFrame(
        {
            "row": position,
            "concurrency": grid.ravel(),
            "ttft_ms": ttft_ms.ravel(),
            "tpot_ms": tpot_ms.ravel(),
            "e2e_ms": e2e_ms.ravel(),
            "service_ttft_ms": service_ttft_s.ravel() * MS_PER_SECOND,
            "step_ms": step.ravel() * MS_PER_SECOND,
            "step_alone_ms": np.repeat(step[:, 0], points) * MS_PER_SECOND,
            "slots": np.repeat(limit[:, 0], points),
            "requests_per_s": (timing.requests_per_s * replicas_per_unit[:, None]).ravel(),
            "memory_bound_requests_per_s": np.repeat(
                timing.requests_per_s.max(axis=1) * replicas_per_unit, points
            ),
            "prefill_time_fraction": time_fractions(timing, grid).ravel(),
        }
    )
    targets = rows[["ttft_ms", "tpot_ms", "e2e_ms"]].fillna(np.inf).to_numpy(float)[position]
    within = numbers[["ttft_ms", "tpot_ms", "e2e_ms"]].to_numpy(float) <= targets
    meets = (within | np.isinf(targets)).all(axis=1)
    group = rows.groupby(["workload", "shape", "product", "engine"], sort=False).ngroup().to_numpy()[position]
    if apart is not None:
        group = 2 * group + apart.ravel()
    keep_all = rows["e2e_ms"].notna().to_numpy()[position]
    pooled = rows["queued"].to_numpy(bool)[position]
    numbers = numbers.assign(group=group, keep_all=keep_all)
    every = numbers[pooled & numbers[["step_ms", "service_ttft_ms"]].notna().all(axis=1)]
    every = every.drop_duplicates(["row", "concurrency"])
    numbers = pd.concat([frontier(numbers[meets & ~pooled]), every])
    facts = (
        rows[
            [
                "workload",
                "shape",
                "product",
                "model",
                "engine",
                "quality_pass_fraction",
                "chips",
                "chips_per_unit",
            ]
        ]
        .iloc[numbers["row"].to_numpy()]
        .reset_index(drop=True)
    )
    text = layouts(rows)
    numbers = numbers.reset_index(drop=True)
    return pd.concat([facts, numbers], axis=1).assign(
        layout=text.iloc[numbers["row"].to_numpy()].to_numpy(),
        phase="mixed",
        decoding="plain",
        engine_option="",
        cache_hit_fraction=np.nan,
        replica_chips=facts["chips"],
        replicas_per_unit=units_share(facts),
        units_per_replica=np.maximum(facts["chips"] / facts["chips_per_unit"], 1.0),
        idle_chips_per_unit=np.where(
            facts["chips"] > facts["chips_per_unit"], 0.0, facts["chips_per_unit"] % facts["chips"]
        ),
        measured_kw=np.nan,
        basis=text.iloc[numbers["row"].to_numpy()].to_numpy(),
    )
