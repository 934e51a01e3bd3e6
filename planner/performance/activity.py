"""How hard a point works its chips: arithmetic and memory traffic over their peaks, in prefill and in decode.

Everything follows from what the point itself says (rate, concurrency, lengths) and the model's facts, so that
measured, anchored and estimated points are treated alike; a point that does not say enough stays unknown.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.performance.candidates import ENGINE_COLUMNS
from planner.performance.deployment import compute_path, deployments, join_facts, missing_facts
from planner.performance.memory import read_bytes_per_sequence, state_bytes_per_sequence
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
ACTIVITY = ["prefill_compute_fraction", "decode_compute_fraction", "decode_memory_fraction"]


def with_activity(
    points: pd.DataFrame,
    tables: Mapping[str, pd.DataFrame],
    engines: pd.DataFrame,
    shapes: pd.DataFrame,
    constants: RooflineConstants,
) -> pd.DataFrame:
    """Return the points with ``ACTIVITY``, NaN where a phase takes no time or the point says too little.

    prefill compute = rate * 2 * active parameters * computed prompt tokens / (chips * peak) / f
    decode compute  = rate * 2 * active parameters * generated tokens / (chips * peak) / (1 - f)
    decode memory   = steps/s * (weights touched + KV of the batch) / (chips * bandwidth) / (1 - f)
    steps/s         = rate * generated tokens / concurrency

    rate per replica; f the share of busy time in prefill; all at most 1.

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
    result = points.assign(**dict.fromkeys(ACTIVITY, np.nan))
    if not known.any():
        return result
    rows = joined[known]
    deployment = deployments(rows)
    compute = (deployment.chips * deployment.peak_flops)[:, 0]
    share = rows["prefill_time_fraction"].to_numpy(float)
    in_prefill, in_decode = np.where(share > 0, share, np.nan), np.where(share < 1, 1.0 - share, np.nan)
    rate = (rows["requests_per_s"] / rows["replicas_per_unit"]).to_numpy(float)
    flops = 2.0 * rate * deployment.active[:, 0]
    generated, batch = rows["generated_tokens"].to_numpy(float), rows["concurrency"].to_numpy(float)
    context = (rows["input_tokens"] + rows["generated_tokens"] / 2.0).to_numpy(float)[:, None]
    weights = weight_read_bytes(deployment, batch[:, None], constants) * deployment.chips
    cached = read_bytes_per_sequence(deployment, context) + 2.0 * state_bytes_per_sequence(deployment)
    moved = rate * generated / batch * (weights + batch[:, None] * cached)[:, 0]
    bandwidth = (deployment.chips * deployment.bandwidth)[:, 0]
    values = (
        flops * rows["uncached_tokens"].to_numpy(float) / compute / in_prefill,
        flops * generated / compute / in_decode,
        moved / bandwidth / in_decode,
    )
    for name, value in zip(ACTIVITY, values, strict=True):
        result.loc[result.index[known], name] = np.clip(value, 0.0, 1.0)
    return result


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
