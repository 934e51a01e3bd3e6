"""What must be there on the days on which units are installed and tested, and what is, as a labelled frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.commissioning_constraints import (
    commissioning_contract,
    commissioning_hall,
    commissioning_path,
    commissioning_power,
    commissioning_racks,
)
from planner.plan.decided import NEGLIGIBLE

LIMITS: Mapping[str, tuple[Callable[[Coefficients, ColumnIndex], RowBlock], str, str]] = {
    "energised power": (commissioning_power, "kW", ""),
    "path to power": (commissioning_path, "kW", "item"),
    "hall": (commissioning_hall, "kW IT", "cooling"),
    "contracted power": (commissioning_contract, "kW IT", ""),
    "rack positions": (commissioning_racks, "racks", ""),
}
"""Limit -> its family, its unit, and the label that says which of them."""

COMMISSIONING = [
    "site",
    "day",
    "period",
    "limit",
    "which",
    "serving",
    "tested",
    "needed",
    "available",
    "unit",
]
SERVING, TESTED = ("installed",), ("order", "unpowered")


def commissioning_frame(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return COMMISSIONING: on each day with units under test, what serves and is tested, and what the site has.

    ``available`` is after headroom, with temporary power for tests and generation rented on site.
    """
    if c.commissioning.days.empty:
        return _typed(pd.DataFrame(columns=COMMISSIONING))
    where = {
        kind: np.concatenate([columns.frame(family)["column"].to_numpy(int) for family in families])
        for kind, families in (("serving", SERVING), ("tested", TESTED))
    }
    parts = []
    for limit, (family, unit, which) in LIMITS.items():
        block = family(c, columns)
        if not len(block.labels):
            continue
        moved = block.value * values[block.column]
        sums = {
            kind: np.bincount(
                block.row,
                weights=np.where(np.isin(block.column, own), moved, 0.0),
                minlength=len(block.labels),
            )
            for kind, own in where.items()
        }
        needed = sums["serving"] + sums["tested"]
        every = np.bincount(block.row, weights=moved, minlength=len(block.labels))
        parts.append(
            block.labels.assign(
                limit=limit,
                which=block.labels[which] if which else "",
                **sums,
                needed=needed,
                available=block.rhs - (every - needed),
                unit=unit,
            )
        )
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COMMISSIONING)
    table = table.reindex(columns=COMMISSIONING)
    return _typed(table[table["tested"].astype(float) > NEGLIGIBLE])


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    numbers = ["serving", "tested", "needed", "available"]
    text = ["site", "period", "limit", "which", "unit"]
    typed = table.astype(dict.fromkeys(numbers, float) | dict.fromkeys(text, "str"))
    typed["day"] = pd.to_datetime(typed["day"]).astype("datetime64[ns]")
    return typed.sort_values(["day", "site", "limit", "which"], kind="stable", ignore_index=True)
