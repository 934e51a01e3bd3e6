"""The whole model as one sparse matrix and its limits, the form a solver takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from planner.formulation.blocks import RowBlock


@dataclass(frozen=True, eq=False)
class ModelArrays:
    """Minimise ``cost @ x + offset`` with ``row_lower <= matrix @ x <= row_upper``, ``lower <= x <= upper``.

    Attributes
    ----------
    matrix
        scipy CSR array (rows, columns).
    row_lower, row_upper
        Limits of ``matrix @ x``; infinite where there is none.
    cost, lower, upper, integer
        Per column: objective coefficient, bounds, whole-number flag.
    offset
        Constant of the objective.
    """

    matrix: sparse.csr_array
    row_lower: np.ndarray
    row_upper: np.ndarray
    cost: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    integer: np.ndarray
    offset: float = 0.0

    def __iter__(self) -> Iterator[Any]:
        """Unpack as ``matrix, row_lower, row_upper, cost, lower, upper, integer``."""
        return iter(
            (self.matrix, self.row_lower, self.row_upper, self.cost, self.lower, self.upper, self.integer)
        )

    def objective_at(self, values: np.ndarray) -> float:
        """Return the objective of a point."""
        return float(self.cost @ values) + self.offset

    def violation_at(self, values: np.ndarray) -> float:
        """Return the greatest violation of a row, bound or whole number, relative to max(1, |limit|)."""
        activity = self.matrix @ values
        parts = [
            _excess(self.row_lower, activity),
            _excess(-self.row_upper, -activity),
            _excess(self.lower, values),
            _excess(-self.upper, -values),
            np.abs(values - np.round(values))[self.integer],
        ]
        return max((float(part.max()) for part in parts if len(part)), default=0.0)


def _excess(limit: np.ndarray, reached: np.ndarray) -> np.ndarray:
    """Return by how much `reached` stays below `limit`, relative to the size of the limit."""
    finite = np.isfinite(limit)
    return np.maximum(0.0, (limit - reached)[finite] / np.maximum(1.0, np.abs(limit[finite])))


def stack_rows(blocks: Sequence[RowBlock], count: int) -> sparse.csr_array:
    """Return one matrix of all blocks with `count` columns; entries are copied once and not sorted again."""
    if not blocks:
        return sparse.csr_array((0, count))
    value = np.concatenate([block.value for block in blocks])
    column = np.concatenate([block.column for block in blocks])
    offsets = np.cumsum([0] + [len(block.value) for block in blocks])
    starts = [block.start[:-1] + offset for block, offset in zip(blocks, offsets[:-1], strict=True)]
    start = np.concatenate([*starts, offsets[-1:]]).astype(np.int32)
    return sparse.csr_array((value, column, start), shape=(len(start) - 1, count))
