"""Curves: runs of one configuration and one shape that differ only in load, with their names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

SAME_LENGTH_FRACTION = 0.05
"""Mean lengths this close belong to one shape: a short run draws a few other prompts than a long one."""

CONFIGURATION = (
    "product",
    "chip",
    "chips",
    "model",
    "engine",
    "software",
    "weight_precision",
    "kv_precision",
    "tensor_parallel",
    "pipeline_parallel",
    "expert_parallel",
    "attention_dp",
    "speculative",
    "cache_hit_fraction",
)
"""Columns in which the rows of a curve agree."""


def shape_groups(table: pd.DataFrame) -> pd.Series:
    """Return a number per shape: input and output lengths within 5 % of the shortest of the group."""
    labels = [_length_group(table[name].to_numpy(float)) for name in ("input_tokens", "output_tokens")]
    return pd.Series(labels[0] * len(table) + labels[1], index=table.index)


def _length_group(lengths: np.ndarray) -> np.ndarray:
    """Return group numbers; sorted, a new group starts more than 5 % above the first of the last one."""
    group = np.zeros(len(lengths), dtype=int)
    first, number = -math.inf, -1
    for position in np.argsort(lengths, kind="stable"):
        if lengths[position] > first * (1 + SAME_LENGTH_FRACTION) or number < 0:
            first, number = lengths[position], number + 1
        group[position] = number
    return group


def pooled_lengths(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with one pair of lengths per configuration and shape.

    Mean over all completed requests of the curve: ``sum(length * completed) / sum(completed)``, so that its
    rows differ only in load.
    """
    facts = [name for name in (*CONFIGURATION, "shape_group") if name in table]
    group = table.groupby(facts, sort=False, dropna=False).ngroup()
    weight = table["weight"]
    pooled = {
        name: (table[name] * weight).groupby(group).transform("sum") / weight.groupby(group).transform("sum")
        for name in ("input_tokens", "output_tokens")
    }
    return table.assign(group=group, **pooled)


def named_curves(table: pd.DataFrame, curve: str, digest: str) -> pd.DataFrame:
    """Return the rows with readable, unique names of curve and point.

    The digest of the content keeps two imports of the same configuration apart.
    """
    lengths = table["input_tokens"].map("{:.0f}".format) + "+" + table["output_tokens"].map("{:.0f}".format)
    system = [curve or _system(row) for row in table.to_dict("records")]
    name = pd.Series(system, index=table.index)
    if not curve:
        name = name + " " + lengths + " " + digest
    elif table["group"].max() > 0:
        name = name + " " + lengths
    twin = name.groupby(name).transform("size") != table["group"].groupby(table["group"]).transform("size")
    name = name.where(~twin, name + " " + (table["group"] + 1).astype(str))
    closed = table["load_kind"].eq("closed_loop")
    load = ("c" + table["load"].map("{:g}".format)).where(closed, table["load"].map("{:.4g} rps".format))
    point = name + " " + load
    repeat = point.groupby(point).cumcount()
    point = point.where(repeat.eq(0), point + " run " + (repeat + 1).astype(str))
    return table.assign(curve=name, point=point)


def _system(row: Mapping[str, Any]) -> str:
    """Return a configuration in one line."""
    unit = row.get("chip") if isinstance(row.get("chip"), str) else row.get("product")
    engine = row["engine"] if isinstance(row.get("engine"), str) else row.get("software") or "unknown engine"
    parts = [f"{row['model']} on {row['chips']:g} x {unit}", *_split(row), engine]
    parts += ["speculative"] if row["speculative"] == "yes" else []
    parts += [f"hit {row['cache_hit_fraction']:.3g}"] if row["cache_hit_fraction"] > 0 else []
    return " ".join(parts)


def _split(row: Mapping[str, Any]) -> list[str]:
    """Return how the model is spread over the chips, where the row says."""
    letters = {"tensor_parallel": "tp", "pipeline_parallel": "pp", "expert_parallel": "ep"}
    sizes = {mark: row.get(name) or math.nan for name, mark in letters.items()}
    found = [f"{mark}{size:g}" for mark, size in sizes.items() if size > 1 or (mark == "tp" and size == 1)]
    return [*found, *(["dp attention"] if row.get("attention_dp") else [])]
