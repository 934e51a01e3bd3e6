"""Predictions for rows of measured-point files: the pure roofline, never a look-up of the row itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.catalog import shipped_catalog
from planner.performance.deployment import Array, compute_path, deployments, join_facts, missing_facts
from planner.performance.memory import most_concurrent
from planner.performance.roofline import closed_loop, static_batch_rate
from planner.performance.roofline_constants import roofline_constants
from planner.units import MS_PER_SECOND

REQUIRED = ["row_id", "chip", "chips_used", "model", "engine", "weight_precision", "input_len", "output_len"]
SAME_PRECISION = {"fp16": "bf16", "fp16/bf16": "bf16"}
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


def predict_points(rows: pd.DataFrame) -> pd.DataFrame:
    """Return TPOT, output rate and TTFT of measured configurations as the roofline alone predicts them.

    Measured values are not read and catalogued measurements are not looked up, so the result says how good
    the roofline is on configurations it may or may not have been fitted on.

    Parameters
    ----------
    rows : DataFrame
        Columns row_id, chip, chips_used, tp, pp, ep, attention_dp, model, engine, engine_version,
        weight_precision, kv_precision, input_len, output_len, concurrency_or_batch, conc_kind,
        prefix_cache_hit. Chips and models may carry foreign spellings listed in table ``aliases``.

    Returns
    -------
    DataFrame
        ``OUTPUT_COLUMNS``, one row per input row in its order; a row that cannot be predicted has a reason
        and no numbers.
    """
    absent = [name for name in REQUIRED if name not in rows]
    if absent:
        raise InputError([Fault("points", "column is missing", column=name) for name in absent])
    tables = {name: located.frame for name, located in shipped_catalog().items()}
    facts = point_facts(rows, tables)
    reason = facts["reason"]
    known = facts[reason.eq("")]
    numbers = _predicted(known, tables) if len(known) else pd.DataFrame(index=known.index)
    result = pd.DataFrame({"row_id": rows["row_id"].to_numpy()}, index=facts.index).join(numbers)
    result = result.assign(provider=np.where(reason.eq(""), "roofline", ""), reason=reason)
    return result.reindex(columns=OUTPUT_COLUMNS).reset_index(drop=True)
