"""From labelled frames to the sparse terms of a row block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from planner.formulation.blocks import RowBlock, Sense


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
        return pd.DataFrame({"row": np.empty(0, int), "column": np.empty(0, int), "value": np.empty(0)})
    joined = rows.merge(columns, on=list(on))
    value = (
        joined[coefficient].to_numpy(float)
        if isinstance(coefficient, str)
        else np.full(len(joined), coefficient)
    )
    if np.isnan(value).any():
        broken = joined.loc[np.isnan(value), list(on)].iloc[0].to_dict()
        raise ValueError(f"no {coefficient} for {broken}")
    return pd.DataFrame(
        {"row": joined["row"].to_numpy(), "column": joined["column"].to_numpy(), "value": value}
    )


def row_block(
    family: str, rows: pd.DataFrame, sense: Sense, rhs: np.ndarray | float, parts: Sequence[pd.DataFrame]
) -> RowBlock:
    """Return the family's rows; duplicate terms are added up, zero terms and rows without any term are dropped.

    A dropped row must hold by itself (``0 <sense> rhs``), else it raises with its label.
    """
    labels = rows.drop(columns=["row"])
    right = np.broadcast_to(np.asarray(rhs, dtype=float), len(rows)).copy()
    stacked = (
        pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({"row": [], "column": [], "value": []})
    )
    summed = stacked.groupby(["row", "column"], sort=True, as_index=False)["value"].sum()
    summed = summed[summed["value"] != 0.0]
    present = np.zeros(len(rows), dtype=bool)
    present[summed["row"].to_numpy(int)] = True
    holds = {"<=": right >= -1e-9, ">=": right <= 1e-9, "==": np.abs(right) <= 1e-9}[sense]
    broken = ~present & ~holds
    if broken.any():
        raise EmptyRow(family, labels[broken].reset_index(drop=True), right[broken])
    position = np.cumsum(present) - 1
    return RowBlock(
        family,
        labels[present].reset_index(drop=True),
        sense,
        right[present],
        position[summed["row"].to_numpy(int)],
        summed["column"].to_numpy(int),
        summed["value"].to_numpy(float),
    )


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
