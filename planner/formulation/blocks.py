"""Variables and constraint rows as numpy arrays with a label frame each.

A *column block* is one variable family, a *row block* one constraint family. Positions are global: column
``j`` of a row block is the ``j``-th column of all column blocks in order, which :class:`ColumnIndex` counts.
Nothing here knows a solver or PuLP; a family can be built, checked and printed (:func:`lp_text`) alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from planner.errors import Fault, InputError

Sense = Literal["<=", ">=", "=="]
Term = tuple[Any, Any, Any]
"""Row index, global column index and coefficient: scalars or arrays that broadcast together."""

SENSES: tuple[Sense, ...] = ("<=", ">=", "==")
FAMILY_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


def fault(family: str, message: str, value: object = None) -> InputError:
    """Return the error for one thing wrong in a family of the model."""
    return InputError([Fault(f"model family {family}", message, value=None if value is None else str(value))])


def label_text(labels: pd.DataFrame, ordinal: int) -> str:
    """Return one row of labels as ``site=A, period=2027-Q1``."""
    return ", ".join(f"{level}={labels[level].iloc[ordinal]}" for level in labels.columns)


def _spread(family: str, name: str, values: object, count: int, dtype: type) -> np.ndarray:
    """Return a read-only array of `count` values made from a scalar or from an array of that length."""
    given: np.ndarray = np.asarray(values, dtype=dtype)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != count):
        raise fault(family, f"{name} has shape {given.shape}, the label frame has {count} rows")
    array = np.full(count, given) if given.ndim == 0 else np.array(given)
    array.flags.writeable = False
    return array


def _check_labels(family: str, labels: pd.DataFrame) -> None:
    if not FAMILY_NAME.match(family):
        raise fault(str(family), "a family name is lower-case letters, digits and underscores")
    if not (isinstance(labels.index, pd.RangeIndex) and labels.index.start == 0 and labels.index.step == 1):
        raise fault(family, "the label frame needs a RangeIndex from 0; call reset_index(drop=True)")


def _refuse(family: str, labels: pd.DataFrame, wrong: np.ndarray, message: str, values: np.ndarray) -> None:
    """Raise for the first ordinal at which `wrong` holds, with its label and value."""
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise fault(family, f"{message} at {label_text(labels, first) or first}", values[first])


@dataclass(frozen=True, eq=False)
class ColumnBlock:
    """One variable family.

    Attributes
    ----------
    family
        Name of the family, lower case with underscores.
    labels
        DataFrame with a RangeIndex, one row per variable; its columns are the label levels.
    lower, upper
        Bounds in the unit of the variable; one number or an array of ``len(labels)``; infinite = none.
    integer
        Whether the variable is a whole number; an array of flags or one flag for all.
    """

    family: str
    labels: pd.DataFrame
    lower: np.ndarray = 0.0  # type: ignore[assignment]
    upper: np.ndarray = np.inf  # type: ignore[assignment]
    integer: np.ndarray = False  # type: ignore[assignment]

    def __post_init__(self) -> None:
        _check_labels(self.family, self.labels)
        count = len(self.labels)
        for name, dtype in (("lower", float), ("upper", float), ("integer", bool)):
            object.__setattr__(self, name, _spread(self.family, name, getattr(self, name), count, dtype))
        lower, upper = self.lower, self.upper
        _refuse(
            self.family,
            self.labels,
            np.isnan(lower) | (lower == np.inf),
            "lower bound must be a number",
            lower,
        )
        _refuse(
            self.family,
            self.labels,
            np.isnan(upper) | (upper == -np.inf),
            "upper bound must be a number",
            upper,
        )
        _refuse(self.family, self.labels, lower > upper, "lower bound exceeds the upper bound", lower)

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class RowBlock:
    """One constraint family: ``sum of value[k] * x[column[k]] over row[k] == i   <sense>   rhs[i]``.

    Entries are kept sorted by row, then column. Two entries for the same row and column are refused (a join
    that multiplied rows shows itself that way); zero coefficients are dropped. A row without entries is
    refused with its label, because ``0 >= 4`` is a hidden contradiction; with `allow_empty` such a row is
    dropped when it holds by itself, and refused only when it does not.

    Attributes
    ----------
    family, labels
        As for :class:`ColumnBlock`; one label row per constraint row.
    sense
        One of ``<=``, ``>=``, ``==``.
    rhs
        Right-hand side in the unit of the row; an array of ``len(labels)`` or one number.
    row, column, value
        Row ordinal within the block, global column position, coefficient.
    start
        Row ``i`` owns the entries ``start[i]:start[i + 1]`` (set by the block).
    """

    family: str
    labels: pd.DataFrame
    sense: Sense
    rhs: np.ndarray
    row: np.ndarray
    column: np.ndarray
    value: np.ndarray
    allow_empty: InitVar[bool] = False
    start: np.ndarray = field(init=False)

    def __post_init__(self, allow_empty: bool) -> None:
        _check_labels(self.family, self.labels)
        if self.sense not in SENSES:
            raise fault(self.family, f"sense must be one of {', '.join(SENSES)}", self.sense)
        rhs = _spread(self.family, "rhs", self.rhs, len(self.labels), float)
        _refuse(self.family, self.labels, ~np.isfinite(rhs), "right-hand side is not finite", rhs)
        self._set(rhs=rhs)
        self._set_entries(self._sorted_entries())
        self._settle_empty_rows(allow_empty)

    @classmethod
    def from_terms(
        cls,
        family: str,
        labels: pd.DataFrame,
        sense: Sense,
        rhs: object,
        terms: Iterable[Term],
        *,
        allow_empty: bool = False,
    ) -> RowBlock:
        """Return a row block from terms whose three members broadcast together.

        >>> labels = pd.DataFrame({"site": ["A", "B"]})
        >>> block = RowBlock.from_terms("site_power", labels, "<=", [40.0, 60.0], [([0, 1], [3, 4], 1.2)])
        >>> block.value.tolist()
        [1.2, 1.2]
        """
        row, column, value = concatenate_terms(terms)
        return cls(family, labels, sense, rhs, row, column, value, allow_empty)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lower(self) -> np.ndarray:
        """Least value each row may take; minus infinity where only an upper limit exists."""
        return np.full(len(self), -np.inf) if self.sense == "<=" else self.rhs

    @property
    def upper(self) -> np.ndarray:
        """Greatest value each row may take; infinity where only a lower limit exists."""
        return np.full(len(self), np.inf) if self.sense == ">=" else self.rhs

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    def _sorted_entries(self) -> sparse.csr_array:
        row, column, value = (np.asarray(part) for part in (self.row, self.column, self.value))
        if not len(row) == len(column) == len(value):
            raise fault(
                self.family, f"{len(row)} rows, {len(column)} columns and {len(value)} values do not match"
            )
        if len(row) and (row.min() < 0 or row.max() >= len(self.labels) or column.min() < 0):
            raise fault(self.family, "an entry names a row or column that does not exist")
        if not np.isfinite(value).all():
            first = int(np.flatnonzero(~np.isfinite(value))[0])
            at = label_text(self.labels, int(row[first]))
            raise fault(self.family, f"coefficient at {at} is not finite", value[first])
        width = int(column.max()) + 1 if len(column) else 0
        index = (row.astype(np.int32), column.astype(np.int32))
        matrix = sparse.coo_array((value.astype(float), index), shape=(len(self.labels), width)).tocsr()
        if matrix.nnz < len(row):
            self._name_duplicate(row, column)
        matrix.sort_indices()
        matrix.eliminate_zeros()
        return matrix

    def _name_duplicate(self, row: np.ndarray, column: np.ndarray) -> None:
        pairs = pd.DataFrame({"row": row, "column": column})
        first = pairs[pairs.duplicated()].iloc[0]
        at = label_text(self.labels, int(first["row"]))
        raise fault(self.family, f"two entries for column {first['column']} in the row {at}")

    def _set_entries(self, matrix: sparse.csr_array) -> None:
        start = matrix.indptr.astype(np.int64)
        row = np.repeat(np.arange(len(self.labels), dtype=np.int32), np.diff(start))
        self._set(row=row, column=matrix.indices.astype(np.int32), value=matrix.data, start=start)

    def _settle_empty_rows(self, allow_empty: bool) -> None:
        empty = np.diff(self.start) == 0
        if not empty.any():
            return
        holds = {"<=": self.rhs >= 0, ">=": self.rhs <= 0, "==": self.rhs == 0}[self.sense]
        wrong = empty if not allow_empty else empty & ~holds
        message = f"nothing can contribute, so the row reads 0 {self.sense} its right-hand side,"
        _refuse(self.family, self.labels, wrong, message, self.rhs)
        kept = np.flatnonzero(~empty)
        self._set(
            labels=self.labels.iloc[kept].reset_index(drop=True),
            rhs=self.rhs[kept],
            row=(np.cumsum(~empty) - 1).astype(np.int32)[self.row],
            start=np.append(self.start[kept], self.start[-1]),
        )


class ColumnIndex:
    """Column blocks in order, with the global position of every variable.

    >>> sites, offers = pd.DataFrame({"site": ["A"]}), pd.DataFrame({"offer": ["lease", "buy"]})
    >>> index = ColumnIndex([ColumnBlock("open", sites), ColumnBlock("order", offers)])
    >>> index.position("order")
    slice(1, 3, None)
    """

    def __init__(self, blocks: Sequence[ColumnBlock]):
        self.blocks = tuple(blocks)
        self._by_family = {block.family: block for block in self.blocks}
        if len(self._by_family) != len(self.blocks):
            raise fault(
                ", ".join(block.family for block in self.blocks), "two column blocks share a family name"
            )
        self._ends = np.cumsum([0] + [len(block) for block in self.blocks])
        self._start = {block.family: int(k) for block, k in zip(self.blocks, self._ends[:-1], strict=True)}
        self.count = int(self._ends[-1])

    def __contains__(self, family: str) -> bool:
        return family in self._by_family

    def block(self, family: str) -> ColumnBlock:
        """Return the block of a family."""
        if family not in self._by_family:
            raise fault(family, f"no such variable family; there are {', '.join(self._by_family)}")
        return self._by_family[family]

    def position(self, family: str) -> slice:
        """Return the global positions of a family."""
        count = len(self.block(family))
        return slice(self._start[family], self._start[family] + count)

    def at(self, column: int) -> tuple[ColumnBlock, int]:
        """Return the block of a global position and the ordinal within it."""
        which = int(np.searchsorted(self._ends, column, side="right")) - 1
        return self.blocks[which], column - int(self._ends[which])

    def frame(self, family: str) -> pd.DataFrame:
        """Return the labels of a family with their global position in the column ``column``."""
        where = self.position(family)
        return self.block(family).labels.assign(column=np.arange(where.start, where.stop))


def concatenate_terms(terms: Iterable[Term]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row, column and value arrays of all terms, each broadcast to a common shape."""
    spread = [np.broadcast_arrays(*(np.asarray(part) for part in term)) for term in terms]
    if not spread:
        return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, float)
    row, column, value = (np.concatenate([parts[k].ravel() for parts in spread]) for k in range(3))
    return row.astype(np.int32), column.astype(np.int32), value.astype(float)
