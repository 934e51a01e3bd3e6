"""One check of a plan, and the report of all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

RELATIVE_TOLERANCE = 1e-6
"""Difference allowed, relative to the larger side: the solver's own tolerances are ten times smaller."""

NOTHING = "nothing of this kind in the plan"
MANY = 5_000
"""Rows from which on pandas matches labels faster than a dictionary does."""


@dataclass(frozen=True)
class Check:
    """One statement about a plan, judged on its worst row.

    Attributes
    ----------
    check
        Name of the statement.
    family
        Constraint family, cost line or headline key it covers.
    scope
        The worst row in words.
    left, right
        What the plan says or uses there; what it should be, or the limit.
    difference, tolerance
        How far left is from right (for a limit: above it), and how far it may be.
    passed
        Whether every row holds.
    rows
        How many rows were checked; 0 when the plan has nothing of this kind.
    table
        The rows themselves (labels, left, right), for checks that rest on another; not part of the report.
    """

    check: str
    family: str
    scope: str
    left: float
    right: float
    difference: float
    tolerance: float
    passed: bool
    rows: int
    table: pd.DataFrame | None = field(default=None, repr=False, compare=False)


CHECK_COLUMNS = [name for name in Check.__dataclass_fields__ if name != "table"]


@dataclass(frozen=True)
class AuditReport:
    """What an independent recalculation says about a plan.

    Attributes
    ----------
    checks
        One row per check: check, family, scope, left, right, difference, tolerance, passed, rows.
    """

    checks: pd.DataFrame

    @property
    def passed(self) -> bool:
        """Return whether every check holds."""
        return bool(self.checks["passed"].all())

    @property
    def failures(self) -> pd.DataFrame:
        """Return the checks that do not hold."""
        return self.checks[~self.checks["passed"]].reset_index(drop=True)


def report_of(checks: Sequence[Check]) -> AuditReport:
    """Return the report of these checks, in order."""
    rows = [[getattr(check, name) for name in CHECK_COLUMNS] for check in checks]
    return AuditReport(pd.DataFrame(rows, columns=CHECK_COLUMNS))


def compare(check: str, family: str, rows: pd.DataFrame, relation: str, floor: float = 1.0) -> Check:
    """Return the check that left and right stand in a relation in every row.

    A row holds when ``|left - right|`` (for ``<=``: what left is above right) is at most
    ``RELATIVE_TOLERANCE * max(|left|, |right|, floor)``. A missing number never holds.

    Parameters
    ----------
    check, family
        Names, as in :class:`Check`.
    rows
        Label columns and ``left``, ``right``.
    relation
        ``==`` or ``<=``.
    floor
        Size below which numbers count as equal to the tolerance, in the unit of the rows.
    """
    left, right = (rows[side].to_numpy(float) if len(rows) else np.empty(0) for side in ("left", "right"))
    judged = _judged(check, family, left, right, relation, floor, lambda place: in_words(rows.iloc[place]))
    return replace(judged, table=rows)


def _judged(
    check: str,
    family: str,
    left: np.ndarray,
    right: np.ndarray,
    relation: str,
    floor: float,
    words: Callable[[int], str],
) -> Check:
    """Return the check of numbers beside each other (see :func:`compare`); ``words`` says what a place is."""
    if not len(left):
        return Check(check, family, NOTHING, 0.0, 0.0, 0.0, 0.0, True, 0)
    with np.errstate(invalid="ignore"):
        signed = left - right
        apart = np.abs(signed) if relation == "==" else np.maximum(signed, 0.0)
        apart = np.where((left == right) | ((relation == "<=") & (left <= right)), 0.0, apart)
        allowed = RELATIVE_TOLERANCE * np.fmax(np.fmax(np.abs(left), np.abs(right)), floor)
        allowed = np.where(np.isfinite(allowed), allowed, RELATIVE_TOLERANCE * floor)
    apart = np.where(np.isnan(apart), np.inf, apart)
    worst = int(np.argmax(apart / allowed))
    return Check(
        check,
        family,
        words(worst),
        float(left[worst]),
        float(right[worst]),
        float(apart[worst]),
        float(allowed[worst]),
        bool((apart <= allowed).all()),
        len(left),
    )


def in_words(row: pd.Series) -> str:
    """Return the labels of a row: ``site hall, period 2027-Q1``."""
    labels = [(name, value) for name, value in row.items() if name not in ("left", "right")]
    return (
        ", ".join(f"{name} {value}" for name, value in labels if str(value) not in ("", "nan")) or "the plan"
    )


def breaches(
    check: str,
    family: str,
    rows: pd.DataFrame,
    broken: pd.Series | np.ndarray | Sequence[bool],
    key: Sequence[str],
) -> Check:
    """Return the check that no row breaks a rule that is true or false: left 1 where it is broken, right
    0.
    """
    marked = rows[list(key)].assign(left=np.asarray(broken, dtype=float), right=0.0)
    return compare(check, family, marked, "<=")


def total(values: pd.Series | np.ndarray, frame: pd.DataFrame, key: Sequence[str]) -> pd.Series:
    """Return the sum of values, one per row of the frame, by its key columns (blank labels count as empty
    text).
    """
    labels = [_label(frame[name]) for name in key]
    numbers = np.asarray(values, dtype=float)
    if len(frame) > MANY or any(column.dtype.kind == "f" for column in labels):
        return pd.Series(numbers, index=frame.index).groupby(labels, sort=False).sum(min_count=1)
    groups: dict[tuple[Any, ...], list[float]] = {}
    rows = zip(*(column.tolist() for column in labels), strict=True)
    for label, number in zip(rows, numbers.tolist(), strict=True):
        groups.setdefault(label, []).append(number)
    index = _index_of(list(groups), key, [column.dtype for column in labels])
    return pd.Series([_sum(numbers) for numbers in groups.values()], index=index, dtype=float)


def _sum(numbers: list[float]) -> float:
    """Return the sum of the numbers that are stated; NaN where none is."""
    if len(numbers) == 1:
        return numbers[0]
    stated = [number for number in numbers if not math.isnan(number)]
    return (
        math.fsum(stated)
        if stated and all(map(math.isfinite, stated))
        else sum(stated)
        if stated
        else math.nan
    )


def _index_of(labels: Sequence[tuple[Any, ...]], names: Sequence[str], kinds: Sequence[Any]) -> pd.Index:
    """Return the index of labels that are all different, without looking for that again."""
    levels, codes = [], []
    for place, kind in enumerate(kinds):
        seen: dict[Any, int] = {}
        codes.append([seen.setdefault(label[place], len(seen)) for label in labels])
        levels.append(pd.Index(list(seen), dtype=kind))
    if len(names) == 1:
        return levels[0].rename(names[0])
    return pd.MultiIndex(levels=levels, codes=codes, names=list(names), verify_integrity=False)


def _label(column: pd.Series) -> pd.Series:
    """Return a label column fit to group by: numbers as they are, text with blanks as empty text."""
    if column.dtype.kind in "iufb":
        return column
    text = column if column.dtype == "str" else column.astype("str")
    return text.fillna("") if text.hasnans else text


def beside(stated: pd.Series, own: pd.Series, absent: float = 0.0) -> pd.DataFrame:
    """Return the labels of either, ``left`` stated and ``right`` recomputed; a label only one has counts as
    absent.
    """
    names = list(stated.index.names)
    if len(stated) + len(own) < MANY and stated.index.is_unique and own.index.is_unique and None not in names:
        left, right = (dict(zip(side.index, side.tolist(), strict=True)) for side in (stated, own))
        labels = list(dict.fromkeys([*left, *right]))
        if labels:
            columns = zip(*labels, strict=True) if len(names) > 1 else [labels]
            return pd.DataFrame(
                {
                    **{name: pd.Series(list(column)) for name, column in zip(names, columns, strict=True)},
                    "left": np.array([left.get(label, absent) for label in labels], dtype=float),
                    "right": np.array([right.get(label, absent) for label in labels], dtype=float),
                }
            )
    index = stated.index.union(own.index, sort=False)
    both = pd.DataFrame(
        {
            "left": stated.reindex(index, fill_value=absent).to_numpy(float),
            "right": own.reindex(index, fill_value=absent).to_numpy(float),
        },
        index=index,
    )
    return both.reset_index()


def alike(check: str, family: str, stated: pd.DataFrame, own: pd.DataFrame, key: Sequence[str]) -> Check:
    """Return the check that a stored frame is the recomputed one: the same rows by key, the same value in every column.

    Numbers are compared as numbers (two blanks are alike), words, dates and yes or no by being the same. Columns that
    are not recomputed, or that an older plan does not have, are not looked at.

    Parameters
    ----------
    stated, own
        The frame of the plan; what it should be.
    key
        Columns that tell the rows apart; rows alike in all of them are taken in order.
    """
    names = [name for name in own.columns if name in stated.columns and name not in key]
    labels, theirs = _row_labels(stated, key), _row_labels(own, key)
    known = {label: place for place, label in enumerate(theirs)}
    met = np.array([known.get(label, -1) for label in labels], dtype=int)
    mine = np.flatnonzero(met >= 0)
    paired, matched = met[mine], set(labels)
    missing = [label for label in theirs if label not in matched]
    parts = [
        (
            np.concatenate([np.ones(len(labels)), np.zeros(len(missing))]),
            np.concatenate([(met >= 0).astype(float), np.ones(len(missing))]),
        )
    ]
    for name in names:
        if pd.api.types.is_numeric_dtype(own[name]) and not pd.api.types.is_bool_dtype(own[name]):
            left, right = _numbers(stated[name])[mine], _numbers(own[name])[paired]
            blank = np.isnan(left) & np.isnan(right)
            parts.append((np.where(blank, 0.0, left), np.where(blank, 0.0, right)))
        else:
            texts, others = as_texts(stated[name]), as_texts(own[name])
            same = [texts[i] == others[j] for i, j in zip(mine, paired, strict=True)]
            parts.append((np.array(same, dtype=float), np.ones(len(same))))

    def words(place: int) -> str:
        if place < len(labels) + len(missing):
            label, column = [*labels, *missing][place], "row"
        else:
            which, at = divmod(place - len(labels) - len(missing), len(mine))
            label, column = labels[mine[at]], names[which]
        return in_words(pd.Series([*label, column], index=[*key, "copy", "column"], dtype=object))

    both = [np.concatenate(sides) for sides in zip(*parts, strict=True)]
    return _judged(check, family, both[0], both[1], "==", 1e-3, words)


def worst(check: str, family: str, parts: Sequence[Check]) -> Check:
    """Return several checks as one: that of the part that is furthest from holding, with the rows of all."""
    rows = sum(part.rows for part in parts)
    if not rows:
        return Check(check, family, NOTHING, 0.0, 0.0, 0.0, 0.0, True, 0)
    far = max(
        (part for part in parts if part.rows), key=lambda part: part.difference / (part.tolerance or 1.0)
    )
    named = f"{far.check}: {far.scope}"
    return replace(
        far, check=check, family=family, scope=named, passed=all(part.passed for part in parts), rows=rows
    )


def _row_labels(frame: pd.DataFrame, key: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the key of each row as text, and which of the rows alike in it this one is, from 0."""
    seen: dict[tuple[str, ...], int] = {}
    rows = []
    for label in zip(*(as_texts(frame[name]) for name in key), strict=True):
        copy = seen.get(label, 0)
        seen[label] = copy + 1
        rows.append((*label, copy))
    return rows


def _numbers(column: pd.Series) -> np.ndarray:
    """Return a column as numbers, what is none as NaN."""
    if column.dtype.kind not in "iuf":
        column = pd.to_numeric(column, errors="coerce")
    return column.to_numpy(float)


def as_texts(column: pd.Series) -> list[str]:
    """Return every cell of a column as :func:`as_text` does."""
    if column.dtype.kind == "M" and isinstance(column.dtype, np.dtype):
        days = column.to_numpy("datetime64[D]")
        return np.where(np.isnat(days), "", days.astype("str")).tolist()
    return [as_text(value) for value in column.tolist()]


def as_text(value: object) -> str:
    """Return a cell as text: blanks empty, dates by their day, whole numbers without a point.

    >>> as_text(pd.Timestamp("2027-01-01")), as_text(2.0), as_text(float("nan")), as_text(True)
    ('2027-01-01', '2', '', 'True')
    """
    if type(value) is str:
        return value
    if isinstance(value, pd.Timestamp):
        return value.date().isoformat()
    if value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return ""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def keyed(values: Mapping[Any, float], names: Sequence[str]) -> pd.Series:
    """Return numbers by label, such as ``{("hall", "2027-Q1"): 400.0}``, as a series with named levels."""
    columns = list(zip(*values, strict=True)) or [()] * len(names)
    index = pd.MultiIndex.from_arrays(
        [pd.Index(column, dtype="str") for column in columns], names=list(names)
    )
    return pd.Series(list(values.values()), index=index, dtype=float)
