"""The best ever measured: no estimate without measurements of its own goes beyond it.

Compared are computed tokens/s per chip, prompt and answer, times the active parameters of the model, within a class:
dense models or models with experts, of half to twice the active parameters. Where the chip has ``LEAST_ROWS`` rows of
the class, their best is the ceiling; else the best per watt (of thermal design power) of any chip. Lengths are left
aside: the best of a class was measured at the lengths that suit it best, so a ceiling is generous.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.performance.deployment import Array
from planner.performance.frame import as_text
from planner.performance.measured import measured_rows

LEAST_ROWS = 30
"""Rows from which the best of them is taken for what a chip can do; fewer are an accident of who measured what."""

CLASS_RATIO = 2.0


def best_measured(tables: Mapping[str, pd.DataFrame], engines: pd.DataFrame) -> pd.DataFrame:
    """Return the work of every believed row: chip, model, experts (bool), active_b, work, work_per_w.

    ``work`` is active parameters (billions) times computed tokens/s per chip.
    """
    models, chips = set(tables["models"]["model"]), set(tables["chips"]["chip"])
    rows = measured_rows(tables, engines, models, chips)
    columns = ["chip", "model", "experts", "active_b", "work", "work_per_w"]
    if rows.empty:
        return pd.DataFrame(columns=columns)
    rows = rows[rows["reason"].eq("") & ~rows["predicted"] & rows["decoding"].eq("plain")]
    computed = rows["input_tokens"] * (1.0 - rows["cache_hit_fraction"].fillna(0.0)) + rows["output_tokens"]
    work = rows["parameters_active_b"] * computed * rows["system_requests_per_s"] / rows["chips"]
    found = rows.assign(
        experts=rows["experts"].fillna(0.0) > 1,
        active_b=rows["parameters_active_b"],
        work=work,
        work_per_w=work / rows["tdp_w"],
    )
    return found[columns].reset_index(drop=True)


def with_ceiling(replicas: pd.DataFrame, best: pd.DataFrame) -> pd.DataFrame:
    """Return replica rows with ``ceiling_tok_per_s`` (computed tokens/s per chip, inf without any) and its origin.

    Parameters
    ----------
    replicas : DataFrame
        Result of ``candidates.replicas``: chip, model, experts, parameters_active_b, tdp_w.
    best : DataFrame
        Result of ``best_measured``.
    """
    pairs = replicas.drop_duplicates(["chip", "model"])
    found: dict[tuple[str, str], tuple[float, str]] = {}
    for pair in pairs.itertuples():
        active = float(pair.parameters_active_b)
        alike = best["experts"].eq(float(np.nan_to_num(pair.experts)) > 1)
        alike &= best["active_b"].between(active / CLASS_RATIO, active * CLASS_RATIO)
        same = best[alike & best["chip"].eq(pair.chip)]
        if len(same) >= LEAST_ROWS:
            row = same.loc[same["work"].idxmax()]
            found[pair.chip, pair.model] = (row["work"] / active, f"of {row['model']} on this chip")
        elif alike.any():
            row = best.loc[best.loc[alike, "work_per_w"].idxmax()]
            per_chip = row["work_per_w"] * float(pair.tdp_w) / active
            found[pair.chip, pair.model] = (per_chip, f"per watt, of {row['model']} on {row['chip']}")
    keys = list(zip(replicas["chip"], replicas["model"], strict=True))
    unknown = (np.inf, "")
    return replicas.assign(
        ceiling_tok_per_s=np.asarray([found.get(key, unknown)[0] for key in keys], dtype=float),
        ceiling_origin=pd.Series(
            [found.get(key, unknown)[1] for key in keys], index=replicas.index, dtype="str"
        ),
    )


def beyond_ceiling(rows: pd.DataFrame, requests_per_s: Array, tokens: Array, anchored: Array) -> Array:
    """Return by what ratio (at least 1) each rate exceeds the ceiling of its replica; 1 where rows stand behind it.

    Parameters
    ----------
    rows : DataFrame
        Replica shapes with chips and ceiling_tok_per_s.
    requests_per_s : ndarray
        Rate of a replica at each load, (n, m).
    tokens : ndarray
        Computed tokens of a request, (n, 1).
    anchored : ndarray of bool
        Loads whose rate rests on measurements, (n, m).
    """
    ceiling = rows["ceiling_tok_per_s"].to_numpy(float)[:, None]
    per_chip = requests_per_s * tokens / rows["chips"].to_numpy(float)[:, None]
    ratio = np.maximum(per_chip / np.where(np.isnan(ceiling), np.inf, ceiling), 1.0)
    return np.where(anchored, 1.0, ratio)


def cut_text(rows: pd.DataFrame, ratio: Array) -> pd.Series:
    """Return what was cut from each point, empty where nothing was; ``rows`` and ``ratio`` match the points."""
    share = as_text(pd.Series(100.0 / ratio))
    limit = as_text(rows["ceiling_tok_per_s"].where(np.isfinite(rows["ceiling_tok_per_s"]), 0.0))
    text = "; cut to " + share + " % of the estimate: " + limit + " tokens/s per chip are the best measured "
    text = text.reset_index(drop=True) + rows["ceiling_origin"].reset_index(drop=True)
    return text.where(pd.Series(ratio) > 1.0, "")
