"""How hard a point works its chips: arithmetic and memory traffic over their peaks, in prefill and in decode.

``with_work`` says what one request takes of a replica, ``with_activity`` what the point's rate makes of it; between the
two stand the limits of a tuned rate (``tuned_limits``), so that activity and power follow the rate that is planned.
Everything follows from what the point itself says (rate, concurrency, lengths) and the model's facts, so that
measured, anchored and estimated points are treated alike; a point that does not say enough stays unknown.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.performance.candidates import ENGINE_COLUMNS
from planner.performance.deployment import compute_path, deployments, join_facts, missing_facts
from planner.performance.memory import (
    kv_bytes_per_chip,
    read_bytes_per_sequence,
    state_bytes_per_sequence,
    weight_bytes_per_chip,
)
from planner.performance.roofline import weight_read_bytes
from planner.performance.roofline_constants import RooflineConstants

POINT_COLUMNS = [
    "workload",
    "shape",
    "product",
    "model",
    "engine",
    "replica_chips",
    "replicas_per_unit",
    "concurrency",
    "requests_per_s",
    "prefill_time_fraction",
    "cache_hit_fraction",
]
WORK = ["prompt_compute_s", "answer_compute_s", "answer_memory_s"]
"""Seconds of a replica that one request's work takes at full arithmetic peak and at full bandwidth."""
OF_A_REPLICA = ["computed_tokens", "memory_used_fraction"]
ACTIVITY = ["prefill_compute_fraction", "decode_compute_fraction", "decode_memory_fraction"]


def with_work(
    points: pd.DataFrame,
    tables: Mapping[str, pd.DataFrame],
    engines: pd.DataFrame,
    shapes: pd.DataFrame,
    constants: RooflineConstants,
) -> pd.DataFrame:
    """Return the points with ``WORK``, computed_tokens of a request and memory_used_fraction; NaN where not known.

    prompt compute = 2 * active parameters * computed prompt tokens / (chips * peak)
    answer compute = 2 * active parameters * generated tokens / (chips * peak)
    memory used    = (weights + buffers + requests in flight * their cache at the mean context) / memory, at most all
    answer memory  = generated tokens / concurrency * (weights touched + KV of the batch) / (chips * bandwidth)

    Parameters
    ----------
    points : DataFrame
        Columns of ``frame.FACT_COLUMNS``.
    engines, shapes : DataFrame
        Results of ``candidates.tuned_engines`` and ``candidates.workload_shapes``.
    """
    joined = _facts(points, tables, engines, shapes)
    stated = joined[["requests_per_s", "generated_tokens", "uncached_tokens"]].notna().all(axis=1)
    known = (missing_facts(joined).eq("") & stated).to_numpy()
    result = points.assign(**dict.fromkeys([*WORK, *OF_A_REPLICA], np.nan))
    if not known.any():
        return result
    rows = joined[known]
    deployment = deployments(rows)
    compute = (deployment.chips * deployment.peak_flops)[:, 0]
    flops = 2.0 * deployment.active[:, 0]
    generated, batch = rows["generated_tokens"].to_numpy(float), rows["concurrency"].to_numpy(float)
    prompt = rows["uncached_tokens"].to_numpy(float)
    context = (rows["input_tokens"] + rows["generated_tokens"] / 2.0).to_numpy(float)[:, None]
    weights = weight_read_bytes(deployment, batch[:, None], constants) * deployment.chips
    cached = read_bytes_per_sequence(deployment, context) + 2.0 * state_bytes_per_sequence(deployment)
    moved = generated / batch * (weights + batch[:, None] * cached)[:, 0]
    bandwidth = (deployment.chips * deployment.bandwidth)[:, 0]
    held = weight_bytes_per_chip(deployment) + constants.memory_overhead_bytes
    held = (held + batch[:, None] * kv_bytes_per_chip(deployment, context)) / deployment.memory
    values = (
        flops * prompt / compute,
        flops * generated / compute,
        moved / bandwidth,
        prompt + generated,
        np.minimum(held[:, 0], 1.0),
    )
    for name, value in zip([*WORK, *OF_A_REPLICA], values, strict=True):
        result.loc[result.index[known], name] = value
    return result


def with_activity(points: pd.DataFrame) -> pd.DataFrame:
    """Return the points with ``ACTIVITY``, NaN where a phase takes no time or the point says too little.

    ``rate * work of a request / share of busy time in the phase``; rate per replica; all at most 1.

    Parameters
    ----------
    points : DataFrame
        Result of ``with_work``.
    """
    share = points["prefill_time_fraction"].astype(float)
    in_prefill, in_decode = share.where(share > 0), (1.0 - share).where(share < 1)
    rate = (points["requests_per_s"] / points["replicas_per_unit"]).astype(float)
    values = (
        rate * points["prompt_compute_s"] / in_prefill,
        rate * points["answer_compute_s"] / in_decode,
        rate * points["answer_memory_s"] / in_decode,
    )
    return points.assign(**{name: value.clip(0.0, 1.0) for name, value in zip(ACTIVITY, values, strict=True)})


def _facts(
    points: pd.DataFrame, tables: Mapping[str, pd.DataFrame], engines: pd.DataFrame, shapes: pd.DataFrame
) -> pd.DataFrame:
    """Return the points beside all facts of chip, model, engine and shape, on a fresh index.

    The layout of a replica is not part of a point; whole weights are read once whatever the layout, except the
    dense part under data-parallel attention, which is small beside the experts of the models that use it.
    """
    columns = [name for name in ENGINE_COLUMNS if name not in ("software", "quality_pass_fraction")]
    lengths = shapes[["workload", "shape", "input_tokens", "generated_tokens", "uncached_tokens"]]
    rows = points[POINT_COLUMNS].reset_index(drop=True)
    # Without a product, or without a point, mapped names would be numbers.
    rows = rows.assign(
        chip=rows["product"].map(tables["products"].set_index("product")["chip"]).astype("str")
    )
    rows = rows.merge(engines[columns], on="engine", how="left")
    rows = rows.merge(lengths, on=["workload", "shape"], how="left")
    hit = rows["input_tokens"] * (1.0 - rows["cache_hit_fraction"].astype(float))
    one = dict.fromkeys(("pipeline", "expert"), 1.0)
    rows = rows.assign(chips=rows["replica_chips"], tensor=rows["replica_chips"], attention_dp=False, **one)
    rows = rows.assign(uncached_tokens=hit.fillna(rows["uncached_tokens"]))
    joined = join_facts(rows, tables)
    return joined.assign(path=compute_path(joined["weight_precision"], joined))
