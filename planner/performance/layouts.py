"""Systems of several replicas: chips = tensor x pipeline x replicas, loads and rates per replica.

A row that names its tensor-parallel size and more chips than tensor x pipeline ran that many copies of the model.
Under data-parallel attention the chips are one replica: each keeps its own sequences, the experts are shared.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

WHOLE = 1e-6
SYSTEM_COLUMNS = ("concurrency", "requests_per_s", "input_tok_per_s", "output_tok_per_s", "power_w")
"""Columns of ``operating_points`` that are those of the whole system."""


def replica_chips(rows: pd.DataFrame) -> pd.Series:
    """Return the chips of one replica: all under data-parallel attention, else tensor x pipeline or expert chips.

    Parameters
    ----------
    rows : DataFrame
        Columns chips, tensor, pipeline, expert (filled) and attention_dp.
    """
    size = np.maximum(rows["tensor"] * rows["pipeline"], rows["expert"])
    return size.where(~rows["attention_dp"], rows["chips"])


def replicas(rows: pd.DataFrame) -> pd.Series:
    """Return how many replicas the chips of a row are; not whole where the sizes do not fit the chips."""
    return rows["chips"] / replica_chips(rows)


def unfit(rows: pd.DataFrame) -> pd.Series:
    """Return why chips and parallel sizes contradict each other, empty text where they fit."""
    count = replicas(rows)
    whole = (count - count.round()).abs().lt(WHOLE) & count.round().ge(1)
    whole &= rows["expert"].le(rows["chips"] + WHOLE)
    text = rows[["chips", "tensor", "pipeline", "expert"]].map(lambda value: f"{value:g}")
    said = text["chips"] + " chips are no whole number of replicas of tensor " + text["tensor"]
    said = said + " x pipeline " + text["pipeline"] + ", experts over " + text["expert"]
    return said.where(~whole & rows["chips"].notna(), "")


def per_replica(rows: pd.DataFrame) -> pd.DataFrame:
    """Return measured rows with chips, load, rates and power of one replica.

    Rows whose sizes do not fit their chips stay as they are: ``unfit`` says why they are of no use.
    """
    fits = unfit(rows).eq("") & rows["chips"].notna()
    count = replicas(rows).round().where(fits, 1.0)
    system = {name: rows[name] / count for name in SYSTEM_COLUMNS}
    return rows.assign(chips=rows["chips"] / count, **system)
