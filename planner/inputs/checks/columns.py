"""Checks a column's declaration states by itself: limits, hard and soft band, unique keys."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.errors import Fault
from planner.inputs.checks.view import Finding, View, judge
from planner.inputs.located import Located, number_text
from planner.tables import Column


def check_columns(located: Located) -> list[Fault]:
    """Return the faults of one table that need no other table: limits and duplicate keys."""
    faults = [fault for column in located.table.columns for fault in _limit_faults(located, column)]
    return faults + duplicate_keys(located)


def _limit_faults(located: Located, column: Column) -> list[Fault]:
    if column.kind not in ("number", "integer") or (column.low is None and column.high is None):
        return []
    outside = _outside_limits(column, located.frame[column.name].to_numpy())
    return [
        located.fault(int(at), column.name, f"allowed: {limits_text(column)}")
        for at in np.flatnonzero(outside)
    ]


def _outside_limits(column: Column, values: np.ndarray) -> np.ndarray:
    outside = np.zeros(len(values), dtype=bool)
    if column.low is not None:
        outside |= (values <= column.low) if column.above_low else (values < column.low)
    if column.high is not None:
        outside |= values > column.high
    return outside


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
    names = list(located.table.key)
    keys = list(zip(*(located.frame[name].tolist() for name in names), strict=True))
    if len(set(keys)) == len(keys):
        return []
    required = [name for name in names if located.table[name].required]
    complete = located.frame[required].notna().all(axis=1)
    first: dict[tuple[object, ...], int] = {}
    faults = []
    for at, key in enumerate(keys):
        earlier = first.setdefault(key, at)
        if earlier < at and complete.iloc[at]:
            message = f"key {located.key_text(at)!r} is already in row {located.row[earlier]}"
            faults.append(located.fault(at, names[0] if len(names) == 1 else None, message))
    return faults


def column_bands(view: View) -> Iterator[Finding]:
    """Yield values outside the plausibility bands their columns declare; bands of money are in USD."""
    for name, located in view.tables.items():
        # Shipped rows stay inside their bands, which a test of the catalogue sees to.
        for column in located.table.columns if located.own.any() else ():
            hard, soft = (column.band_low, column.band_high), (column.soft_low, column.soft_high)
            if column.kind not in ("number", "integer") or {*hard, *soft} == {None}:
                continue
            stated = located.frame[column.name].to_numpy()
            values = np.where(_outside_limits(column, stated), np.nan, stated)
            unit = column.unit
            if unit.startswith("currency"):
                values = values * view.usd_per_row(name)
                unit = unit.replace("currency", "USD", 1)
            yield from judge(view, located, column.name, values, unit, hard, soft)
