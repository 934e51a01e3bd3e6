"""What the queue model reads out of a closed loop: the step without the prompts of others, and the share asked for.

A mean TPOT never qualifies a point: what a pool may carry is the load at which the percentile of the target holds over
the mix of its requests, interference of prompts and waiting included (``mixes``, ``pool_caps``).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.performance.deployment import Array
from planner.performance.serving import Timing


def target_shares(factors: pd.DataFrame, percentile: pd.Series, metric: str) -> Array:
    """Return the share of requests that must be inside a target stated at each percentile (1 without one)."""
    statistic = "tpot" if metric == "tpot" else "ttft"
    shares = factors[factors["metric"].eq(statistic)].set_index("statistic")["attained_fraction"]
    return percentile.map(shares).fillna(1.0).to_numpy(float)


def with_known_waiting(points: pd.DataFrame, workloads: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the points without stated and measured rates of which no waiting can be computed where it has to be.

    With ``sizing_statistic`` attained capacity is sized on the mean of the hour, and what the minutes and their queues
    ask for is left to the load a pool may carry: a rate without first token and step would carry all of it.

    Returns
    -------
    tuple of DataFrame
        Points kept; points refused, with column reason.
    """
    asked = workloads.loc[workloads["sizing_statistic"].eq("attained"), "workload"]
    unknown = points["provider"].isin(["opaque", "measured"])
    unknown &= points[["step_ms", "service_ttft_ms"]].isna().any(axis=1) & points["workload"].isin(asked)
    lost = points[unknown].assign(reason="sized on what is attained, and of this rate no waiting is known")
    return points[~unknown].reset_index(drop=True), lost


def unloaded_step_s(timing: Timing, grid: Array, generated: Array) -> Array:
    """Return the decode step without the prompts of others: ``TPOT - (B - 1) prefill / generated``."""
    prompts = np.maximum(grid - 1.0, 0.0) * timing.prefill_s / generated
    return np.maximum(timing.tpot_s - prompts, 0.1 * timing.tpot_s)
