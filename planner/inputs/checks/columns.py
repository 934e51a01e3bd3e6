"""Checks a column's declaration states by itself: limits, hard and soft band, unique keys."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from planner.errors import Fault
from planner.inputs.located import Located, number_text
from planner.tables import Column


def check_columns(located: Located) -> list[Fault]:
    """Return the faults of one table that need no other table: limits and duplicate keys."""
    faults = [fault for column in located.table.columns for fault in _limit_faults(located, column)]
    return faults + duplicate_keys(located)


def _limit_faults(located: Located, column: Column) -> list[Fault]:
    if column.kind not in ("number", "integer") or (column.low is None and column.high is None):
        return []
    values = located.frame[column.name].to_numpy()
    outside = np.zeros(len(values), dtype=bool)
    if column.low is not None:
        outside |= (values <= column.low) if column.above_low else (values < column.low)
    if column.high is not None:
        outside |= values > column.high
    return [
        located.fault(int(at), column.name, f"allowed: {limits_text(column)}")
        for at in np.flatnonzero(outside)
    ]


def limits_text(column: Column) -> str:
    """Return the hard limits in words, with the unit."""
    parts = []
    if column.low is not None:
        parts.append(f"{'above' if column.above_low else 'at least'} {number_text(column.low)}")
    if column.high is not None:
        parts.append(f"at most {number_text(column.high)}")
    return " and ".join(parts) + (f" ({column.unit})" if column.unit else "")


def duplicate_keys(located: Located) -> list[Fault]:
    """Return a fault per row whose key an earlier row has already."""
    keys = list(located.table.key)
    frame = located.frame[keys]
    required = [name for name in keys if located.table[name].required]
    complete = frame[required].notna().all(axis=1)
    repeated = np.flatnonzero(frame.duplicated(keys) & complete)
    if len(repeated) == 0:
        return []
    group = frame.groupby(keys, dropna=False, sort=False).ngroup().to_numpy()
    first = pd.Series(np.arange(len(group))).groupby(group).first()
    return [
        located.fault(
            int(at),
            keys[-1] if len(keys) == 1 else None,
            f"key {located.key_text(int(at))!r} is already in row {located.row[first[group[at]]]}",
        )
        for at in repeated
    ]


def band_faults(
    located: Located, accept: Collection[str], usd_per_row: np.ndarray
) -> tuple[list[Fault], list[str]]:
    """Return faults outside the hard plausibility band and warnings outside the soft one.

    Parameters
    ----------
    located
        A merged table.
    accept
        ``table/key/column`` names whose hard band does not apply.
    usd_per_row
        USD per unit of the row's currency; bands of money columns are in USD.
    """
    faults: list[Fault] = []
    warnings: list[str] = []
    for column in located.table.columns:
        if column.kind not in ("number", "integer"):
            continue
        values = located.frame[column.name].to_numpy()
        money = column.unit.startswith("currency")
        compared = values * usd_per_row if money else values
        hard = _outside(compared, column.band_low, column.band_high)
        soft = _outside(compared, column.soft_low, column.soft_high)
        unit = _band_unit(column)
        for at in np.flatnonzero(hard | soft):
            name = located.accept_name(int(at), column.name)
            shown = number_text(float(compared[at])) if money else number_text(float(values[at]))
            if hard[at] and name not in accept:
                band = _band_text(column.band_low, column.band_high)
                message = (
                    f"implausible: {shown}{unit} is outside {band}; allow it with settings accept: {name}"
                )
                faults.append(located.fault(int(at), column.name, message))
            elif soft[at] and located.own[at]:
                band = _band_text(column.soft_low, column.soft_high)
                place = located.fault(int(at), column.name, f"unusual: {shown}{unit} is outside {band}")
                warnings.append(str(place))
    return faults, warnings


def _outside(values: np.ndarray, low: float | None, high: float | None) -> np.ndarray:
    outside = np.zeros(len(values), dtype=bool)
    if low is not None:
        outside |= values < low
    if high is not None:
        outside |= values > high
    return outside


def _band_text(low: float | None, high: float | None) -> str:
    return f"{'' if low is None else number_text(low)}..{'' if high is None else number_text(high)}"


def _band_unit(column: Column) -> str:
    unit = column.unit.replace("currency", "USD", 1) if column.unit.startswith("currency") else column.unit
    return f" {unit}" if unit else ""
