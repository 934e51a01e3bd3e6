"""Anchored points: the roofline scaled by what one configuration measured at a nearby shape.

Inside one configuration only, at loads up to the last measured one. Between two measured loads the worse of
the two ratios holds, so that no estimate crosses the knee of the measured curve.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.performance.deployment import Array, Deployments, deployments
from planner.performance.estimates import concurrency_grid, flatten, to_target_statistic
from planner.performance.frame import FACT_COLUMNS, as_text
from planner.performance.measured import CONFIGURATION, turn_s
from planner.performance.memory import most_concurrent
from planner.performance.roofline_constants import RooflineConstants
from planner.performance.serving import Lengths, Timing, batch_requests_per_s, closed_loop
from planner.performance.statistics import ratio_to_median
from planner.units import MS_PER_SECOND

BATCH_KINDS = ("static_batch", "offline_max")
RATIOS = ("ttft_ratio", "tpot_ratio", "rate_ratio", "loop_ratio")


def measured_over_roofline(
    rows: pd.DataFrame, factors: pd.DataFrame, constants: RooflineConstants
) -> pd.DataFrame:
    """Return measured rows with load and measured / roofline ratios.

    ``ttft_ratio`` and ``tpot_ratio`` of the latencies, ``rate_ratio`` of the rate; ``loop_ratio`` is the
    measured rate over the one the row's own latencies imply (Little's law).
    """
    deployment = deployments(rows)
    length = (rows["input_tokens"] + rows["output_tokens"]).to_numpy(float)[:, None]
    fitting = most_concurrent(deployment, length, constants)[:, 0]
    load = rows["concurrency"].fillna(pd.Series(fitting, index=rows.index)).clip(lower=1.0)
    inputs = rows["input_tokens"].to_numpy(float)[:, None]
    outputs = rows["output_tokens"].to_numpy(float)[:, None]
    uncached = inputs * (1.0 - rows["cache_hit_fraction"].fillna(0.0).to_numpy(float)[:, None])
    batch = load.to_numpy(float)[:, None]
    lengths = Lengths(inputs, outputs, uncached)
    timing = closed_loop(deployment, batch, lengths, constants)
    static = batch_requests_per_s(deployment, batch, lengths, constants)[:, 0]
    rate = np.where(rows["load_kind"].isin(BATCH_KINDS), static, timing.requests_per_s[:, 0])
    ttft = rows["ttft_ms"] / ratio_to_median(factors, "ttft", rows["ttft_statistic"])
    tpot = rows["tpot_ms"] / ratio_to_median(factors, "tpot", rows["tpot_statistic"])
    return rows.assign(
        load=load,
        ttft_ratio=ttft / (timing.ttft_s[:, 0] * MS_PER_SECOND),
        tpot_ratio=tpot / (timing.tpot_s[:, 0] * MS_PER_SECOND),
        rate_ratio=rows["system_requests_per_s"] / rate,
        loop_ratio=rows["system_requests_per_s"] * turn_s(rows, factors) / load,
    )


def nearest_curves(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return, per target and configuration, only the rows of the nearest measured lengths, newest first."""
    target = ["workload", "shape", "product", *CONFIGURATION]
    curve = [*target, "input_tokens", "output_tokens", "distance", "curve_key"]
    best = (
        pairs[[*curve, "source_date"]]
        .drop_duplicates(curve)
        .sort_values(["distance", "source_date"], ascending=[True, False], kind="stable")
        .drop_duplicates(target)
    )
    return pairs.merge(best[curve], on=curve)


def ratios_on_grid(curves: pd.DataFrame, group: Array, grid: Array) -> dict[str, Array]:
    """Return each ratio at each load of the grid, the worse neighbour between two rows.

    Parameters
    ----------
    curves : DataFrame
        Measured rows sorted by group and load.
    group : ndarray
        Group number of each row, matching the rows of ``grid``.
    grid : ndarray
        Loads (groups, m), none above the group's last measured load.
    """
    result = {name: np.full(grid.shape, np.nan) for name in RATIOS}
    starts = np.searchsorted(group, np.arange(len(grid)))
    ends = np.searchsorted(group, np.arange(len(grid)), side="right")
    loads = curves["load"].to_numpy(float)
    columns = {name: curves[name].to_numpy(float) for name in result}
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        above = np.minimum(np.searchsorted(loads[start:end], grid[number]), end - start - 1)
        exact = loads[start:end][above] <= grid[number]
        below = np.where(exact, above, np.maximum(above - 1, 0))
        for name, values in columns.items():
            worse = np.fmin if name in ("rate_ratio", "loop_ratio") else np.fmax
            result[name][number] = worse(values[start:end][above], values[start:end][below])
    return result


def anchored_timing(
    rows: pd.DataFrame,
    deployment: Deployments,
    grid: Array,
    ratios: dict[str, Array],
    constants: RooflineConstants,
) -> Timing:
    """Return the roofline timing of each target shape scaled by the measured ratios.

    With both latencies measured the rate follows from them, at the measured share of Little's law; with a
    rate alone the offline rate is scaled and the latencies stay unknown.
    """
    inputs = rows["shape_input"].to_numpy(float)[:, None]
    generated = rows["shape_generated"].to_numpy(float)[:, None]
    uncached = rows["uncached_tokens"].to_numpy(float)[:, None]
    lengths = Lengths(inputs, generated, uncached)
    base = closed_loop(deployment, grid, lengths, constants)
    offline = batch_requests_per_s(deployment, grid, lengths, constants) * ratios["rate_ratio"]
    ttft, tpot = base.ttft_s * ratios["ttft_ratio"], base.tpot_s * ratios["tpot_ratio"]
    both = np.isfinite(ttft) & np.isfinite(tpot)
    closed = grid / (ttft + np.maximum(generated - 1.0, 0.0) * tpot) * ratios["loop_ratio"]
    return Timing(ttft, tpot, np.where(both, closed, offline), base.prefill_s, base.step_s)


def anchored_points(pairs: pd.DataFrame, factors: pd.DataFrame, constants: RooflineConstants) -> pd.DataFrame:
    """Return anchored points of every target shape near a measured one.

    Parameters
    ----------
    pairs : DataFrame
        Usable rows of ``measured.matches`` with load and ratios from ``measured_over_roofline``.
    """
    if pairs.empty:
        return pd.DataFrame(columns=FACT_COLUMNS)
    curves = nearest_curves(pairs)
    target = ["workload", "shape", "product", *CONFIGURATION]
    curves = curves.assign(group=curves.groupby(target, sort=True).ngroup())
    curves = curves.sort_values(["group", "load"], kind="stable").reset_index(drop=True)
    rows = curves.drop_duplicates("group", keep="last").reset_index(drop=True)
    deployment = deployments(rows)
    length = (rows["shape_input"] + rows["shape_generated"]).to_numpy(float)[:, None]
    memory = most_concurrent(deployment, length, constants)
    limit = np.minimum(memory, rows["load"].to_numpy(float)[:, None])
    fits = (limit[:, 0] >= 1) & (rows["chips"] <= rows["chips_per_unit"]).to_numpy()
    grid = concurrency_grid(limit)
    ratios = ratios_on_grid(curves, curves["group"].to_numpy(), grid)
    timing = anchored_timing(rows, deployment, grid, ratios, constants)
    shapes = rows.assign(
        generated_tokens=rows["shape_generated"],
        ttft_ms=rows["ttft_target_ms"],
        tpot_ms=rows["tpot_target_ms"],
        e2e_ms=rows["e2e_target_ms"],
    )
    # How much of the measured first token is waiting in its closed loop is not known: all of it is service.
    latencies = to_target_statistic(shapes, timing, grid, memory, timing.ttft_s, factors, constants)
    points = flatten(shapes, grid, memory, timing, timing.ttft_s, latencies)
    points = points[fits[points["row"]]].reset_index(drop=True)
    origin = rows.iloc[points["row"].to_numpy()].reset_index(drop=True)
    lengths = as_text(origin["input_tokens"]) + "/" + as_text(origin["output_tokens"])
    return points.assign(
        provider="anchored",
        decoding=origin["decoding"],
        band_low_ratio=constants.anchored_band_low_ratio,
        band_high_ratio=constants.anchored_band_high_ratio,
        source=origin["source"],
        source_date=origin["source_date"],
        confidence="derived",
        basis=points["basis"] + ", anchored on rows measured at " + lengths,
    )
