"""From labelled frames to the sparse terms of a row block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from planner.formulation.blocks import RowBlock, Sense

LOOKED_UP = 4_000
"""Rows and columns up to which labels are matched in a dictionary."""


def number_rows(labels: pd.DataFrame) -> pd.DataFrame:
    """Return the row labels with ``row``, their position inside the family."""
    plain = labels.reset_index(drop=True)
    return plain.assign(row=np.arange(len(plain)))


def terms(
    rows: pd.DataFrame, columns: pd.DataFrame, on: Sequence[str], coefficient: str | float
) -> pd.DataFrame:
    """Return row, column, value for every pair of a row and a column whose labels agree.

    Parameters
    ----------
    rows
        Row labels with ``row``.
    columns
        Column labels with ``column``, and the coefficient if it is named.
    on
        Label levels that must agree.
    coefficient
        Name of a column of either frame, or a constant.

    Raises
    ------
    ValueError
        A coefficient is missing: labels must align, a gap is not a zero.
    """
    if rows.empty or columns.empty:
        return _terms(np.empty(0, int), np.empty(0, int), np.empty(0))
    of_row, of_column = _pairs(rows, columns, on)
    if isinstance(coefficient, str):
        holder, position = (rows, of_row) if coefficient in rows else (columns, of_column)
        value = holder[coefficient].to_numpy(float)[position]
    else:
        value = np.full(len(of_row), float(coefficient))
    if np.isnan(value).any():
        broken = rows[list(on)].iloc[of_row[np.isnan(value)][0]].to_dict()
        raise ValueError(f"no {coefficient} for {broken}")
    return _terms(rows["row"].to_numpy()[of_row], columns["column"].to_numpy()[of_column], value)


def _terms(row: np.ndarray, column: np.ndarray, value: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"row": row, "column": column, "value": value})


def _pairs(rows: pd.DataFrame, columns: pd.DataFrame, on: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of every pair of a row and a column whose labels agree, rows in order.

    Few rows are looked up in a dictionary: a join of two frames takes a hundred times as long to set up.
    """
    if len(rows) + len(columns) > LOOKED_UP:
        left = rows[list(on)].assign(_row=np.arange(len(rows)))
        right = columns[list(on)].assign(_column=np.arange(len(columns)))
        joined = left.merge(right, on=list(on))
        return joined["_row"].to_numpy(), joined["_column"].to_numpy()
    known: dict[tuple[object, ...], list[int]] = {}
    for position, label in enumerate(_labels(columns, on)):
        known.setdefault(label, []).append(position)
    found = [known.get(label, ()) for label in _labels(rows, on)]
    counts = [len(positions) for positions in found]
    flat = [position for positions in found for position in positions]
    return np.repeat(np.arange(len(rows)), counts), np.array(flat, dtype=int)


def _labels(frame: pd.DataFrame, on: Sequence[str]) -> Iterator[tuple[object, ...]]:
    return zip(*(frame[name].tolist() for name in on), strict=True)


def row_block(
    family: str, rows: pd.DataFrame, sense: Sense, rhs: np.ndarray | float, parts: Sequence[pd.DataFrame]
) -> RowBlock:
    """Return the family's rows; duplicate terms are added up, zero terms and rows without any term are dropped.

    A dropped row must hold by itself (``0 <sense> rhs``), else it raises with its label.
    """
    right = np.broadcast_to(np.asarray(rhs, dtype=float), len(rows)).copy()
    row, column, value = _summed(parts)
    present = np.zeros(len(rows), dtype=bool)
    present[row] = True
    holds = {"<=": right >= -1e-9, ">=": right <= 1e-9, "==": np.abs(right) <= 1e-9}[sense]
    broken = ~present & ~holds
    labels = rows[[name for name in rows.columns if name != "row"]]
    if broken.any():
        raise EmptyRow(family, labels[broken].reset_index(drop=True), right[broken])
    if not present.all():
        labels = labels[present]
    position = np.cumsum(present) - 1
    return RowBlock(
        family, labels.reset_index(drop=True), sense, right[present], position[row], column, value
    )


def _summed(parts: Sequence[pd.DataFrame]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row, column and sum of the values of every pair, by row and column, where the sum is not zero."""
    if not parts:
        return np.empty(0, int), np.empty(0, int), np.empty(0)
    row, column = (np.concatenate([part[name].to_numpy(int) for part in parts]) for name in ("row", "column"))
    value = np.concatenate([part["value"].to_numpy(float) for part in parts])
    width = int(column.max()) + 1 if len(column) else 1
    pair, at = np.unique(row * width + column, return_inverse=True)
    total = np.bincount(at, weights=value, minlength=len(pair))
    kept = total != 0.0
    return pair[kept] // width, pair[kept] % width, total[kept]


class EmptyRow(ValueError):
    """Rows that no column can satisfy: nothing admissible exists for these labels.

    Attributes
    ----------
    family, labels, rhs
        Constraint family, labels of the rows, and what each would have to reach.
    """

    def __init__(self, family: str, labels: pd.DataFrame, rhs: np.ndarray):
        self.family, self.labels, self.rhs = family, labels, rhs
        first = ", ".join(f"{name} {value}" for name, value in labels.iloc[0].items())
        super().__init__(f"{family}: nothing admissible for {first} (and {len(labels) - 1} more)")
