"""Relief in the reader's own terms: which cell of which table changes, from what to what, and why."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from planner.inputs import Scenario
from planner.inputs.located import cell_text

DIGITS = 4
"""Digits to which a relief is rounded, always to the generous side."""
SLIVER = 1e-9
"""Relative rounding noise that is no reason for another digit."""


@dataclass(frozen=True)
class Change:
    """One cell that gives way.

    Attributes
    ----------
    table, key, column
        The cell, as ``--set`` names it; a setting has no key.
    old, new
        Its text before and after; empty = blank.
    resource, place, periods
        What is short, where and when, in words; no period = over the whole horizon.
    amount, unit
        By how much the cell gives way.
    weight
        Size of the change relative to what stood there.
    adds
        The row does not exist yet.
    note
        What else a reader should know of it.
    """

    table: str
    key: str
    column: str
    old: str
    new: str
    resource: str
    place: str
    periods: tuple[str, ...]
    amount: float
    unit: str
    weight: float = 1.0
    adds: bool = False
    note: str = ""

    @property
    def cell(self) -> tuple[str, str, str]:
        """Return table, key and column."""
        return self.table, self.key, self.column

    @property
    def inner_text(self) -> str:
        """Return the override of the merged tables."""
        if not self.key:
            return f"{self.table}/{self.column}={self.new}"
        return f"{'+' if self.adds else ''}{self.table}/{self.key}/{self.column}={self.new}"

    @property
    def set_text(self) -> str:
        """Return the override as the command line takes it; a hall is named without its power chain."""
        if not self.key:
            return self.inner_text
        key = "|".join(part.split("@")[0] for part in self.key.split("|"))
        key = key if self.table == "facility_options" else self.key
        return f"{'+' if self.adds else ''}{self.table}/{key}/{self.column}={self.new}"


def merged(changes: Sequence[Change], more: Iterable[Change]) -> list[Change]:
    """Return both lists, one change per cell: the later value, counted from the first one's start."""
    cells = {change.cell: change for change in changes}
    for change in more:
        before = cells.get(change.cell)
        if before is not None:
            periods = tuple(dict.fromkeys((*before.periods, *change.periods)))
            change = replace(
                change,
                old=before.old,
                amount=before.amount + change.amount,
                weight=before.weight + change.weight,
                adds=before.adds,
                periods=periods,
            )
        cells[change.cell] = change
    return list(cells.values())


def largest(changes: Iterable[Change]) -> list[Change]:
    """Return one change per cell, the one that gives most, for the periods of all."""
    kept: dict[tuple[str, str, str], Change] = {}
    for change in changes:
        known = kept.get(change.cell)
        periods = tuple(dict.fromkeys((*(known.periods if known else ()), *change.periods)))
        larger = change if known is None or change.amount >= known.amount else known
        kept[change.cell] = replace(larger, periods=periods)
    return list(kept.values())


def row_of(scenario: Scenario, table: str, **labels: object) -> pd.Series | None:
    """Return the one row with these cells; None without."""
    frame = scenario.tables[table]
    mask = pd.Series(True, index=frame.index)
    for name, value in labels.items():
        mask &= frame[name] == value
    return frame[mask].iloc[0] if mask.any() else None


def text(value: object) -> str:
    """Return a cell as text, empty where it is blank."""
    return cell_text(value) or ""


def enough(value: float, whole: bool = False) -> float:
    """Return a value rounded up to a few digits, or to a whole number.

    >>> enough(73.0406), enough(1953000.2), enough(7.0000000001, whole=True), enough(2.2, whole=True)
    (73.05, 1954000.0, 7.0, 3.0)
    """
    if whole:
        return float(math.ceil(value - 1e-6))
    return -_rounded_down(-value)


def at_most(value: float, whole: bool = False) -> float:
    """Return a value rounded down to a few digits, or to a whole number; never below zero.

    >>> at_most(8.66683), at_most(2.9999999999), at_most(3.7, whole=True)
    (8.666, 3.0, 3.0)
    """
    down = float(math.floor(value + 1e-6)) if whole else _rounded_down(value)
    return max(down, 0.0)


def _rounded_down(value: float) -> float:
    if value == 0.0 or not np.isfinite(value):
        return value
    step = 10.0 ** (math.floor(math.log10(abs(value))) + 1 - DIGITS)
    nearest = round(value / step)
    exact = abs(value / step - nearest) <= SLIVER * abs(value / step)
    return float(f"{(nearest if exact else math.floor(value / step)) * step:.12g}")
