"""Pipeline layouts: replicas of several stages, inside one unit or over several whole units.

A stage is a tensor-parallel group inside the scale-up domain; stages hand activations on, between units over the
network. A replica over several units takes them whole, so that a plan can count it in units of purchase.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.performance.deployment import Array, Deployments
from planner.performance.roofline import ACTIVATION_BYTES
from planner.performance.roofline_constants import RooflineConstants
from planner.units import BYTES_PER_GB


def pipeline_layouts(rows: pd.DataFrame) -> pd.DataFrame:
    """Return every pipeline layout of candidates whose option admits one (``most_units``).

    Inside a unit: stages x tensor chips, powers of two; over U units: all their chips in stages of ``tensor`` chips.
    Tensor sizes divide heads and experts and stay inside the scale-up domain; there are no more stages than layers;
    several units need a known network between them.

    Parameters
    ----------
    rows : DataFrame
        Result of ``options.with_options``; only one replica per candidate is looked at.
    """
    keys = ["workload", "shape", "product", "model", "engine", "option"]
    heads = rows[rows["most_units"].notna()].drop_duplicates(keys)
    if heads.empty:
        return rows.iloc[:0]
    largest = int(np.log2(heads["chips_per_unit"].max()))
    powers = 2.0 ** np.arange(largest + 1)
    inside = pd.DataFrame({"units": 1.0, "inner": powers[1:]})
    across = pd.DataFrame({"units": np.arange(2.0, heads["most_units"].max() + 1.0), "inner": np.nan})
    spread = heads.drop(columns=["tensor", "chips", "pipeline", "expert", "attention_dp"])
    spread = spread.merge(pd.concat([inside, across]), how="cross").merge(
        pd.DataFrame({"tensor": powers}), how="cross"
    )
    chips = spread["inner"].where(spread["units"] == 1, spread["units"] * spread["chips_per_unit"])
    spread = spread.assign(chips=chips, pipeline=chips / spread["tensor"], expert=1.0, attention_dp=False)
    return spread[_valid(spread)].drop(columns=["inner", "units"]).reset_index(drop=True)


def _valid(rows: pd.DataFrame) -> pd.Series:
    experts = rows["experts"].fillna(0.0)
    domain = rows["scale_up_chips"].where(rows["scale_up_chips"] > 1, np.inf)
    tensor, unit = rows["tensor"], rows["chips_per_unit"]
    return (
        (rows["units"] <= rows["most_units"])
        & ((rows["units"] == 1) | rows["scale_out_gb_per_s"].notna())
        & (rows["chips"] <= rows["units"] * unit)
        & (tensor <= domain)
        & (tensor <= unit)
        & ((rows["units"] == 1) | (unit % tensor == 0))
        & ((tensor == 1) | rows["scale_up_gb_per_s"].notna())
        & (rows["heads"] % tensor == 0)
        & ((experts == 0) | (experts % tensor == 0))
        & (rows["pipeline"] >= 2)
        & (rows["pipeline"] <= rows["layers"])
    )


def hand_over_s(
    rows: pd.DataFrame, deployment: Deployments, tokens: Array, constants: RooflineConstants
) -> Array:
    """Return seconds some tokens take over the networks between the units of a replica.

    ``(units - 1) * tokens * hidden * 2 bytes / (network of a unit * achieved share)``; 0 inside one unit. The fixed
    time of every hand-over between stages is part of the step.
    """
    hops = np.maximum(rows["chips"] / rows["chips_per_unit"] - 1.0, 0.0).to_numpy(float)[:, None]
    network = rows["scale_out_gb_per_s"].astype(float).fillna(np.inf).to_numpy(float)[:, None] * BYTES_PER_GB
    moved = tokens * deployment.hidden * ACTIVATION_BYTES
    return hops * moved / (network * constants.transfer_efficiency_fraction) / deployment.tuning


def fill_s(deployment: Deployments, prompt_s: Array, uncached: Array, constants: RooflineConstants) -> Array:
    """Return seconds until a prompt's first chunk has passed all stages but one.

    Stages work on different prompts at once, so that a prompt's own way takes ``(stages - 1)`` chunks longer than
    the replica's time for it.
    """
    chunks = np.maximum(uncached / constants.first_token_chunk_tokens, 1.0)
    return (deployment.pipeline - 1.0) * prompt_s / chunks
