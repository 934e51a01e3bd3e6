"""One check of a plan, and the report of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

RELATIVE_TOLERANCE = 1e-6
"""Difference allowed, relative to the larger side: the solver's own tolerances are ten times smaller."""

NOTHING = "nothing of this kind in the plan"


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


CHECK_COLUMNS = list(Check.__dataclass_fields__)


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
    return AuditReport(pd.DataFrame([asdict(check) for check in checks], columns=CHECK_COLUMNS))


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
    if rows.empty:
        return Check(check, family, NOTHING, 0.0, 0.0, 0.0, 0.0, True, 0)
    left, right = rows["left"].to_numpy(float), rows["right"].to_numpy(float)
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
        in_words(rows.iloc[worst]),
        float(left[worst]),
        float(right[worst]),
        float(apart[worst]),
        float(allowed[worst]),
        bool((apart <= allowed).all()),
        len(rows),
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
    summed = pd.Series(np.asarray(values, dtype=float), index=frame.index).groupby(labels, sort=False)
    return summed.sum(min_count=1)


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
    left, right = (_rows_by_key(frame, key, names) for frame in (stated, own))
    index = left.index.union(right.index, sort=False)
    rows = index.to_frame(index=False)
    there = [pd.Series(1.0, index=side.index).reindex(index).fillna(0.0) for side in (left, right)]
    parts = [rows.assign(column="row", left=there[0].to_numpy(), right=there[1].to_numpy())]
    both = ((there[0] + there[1]) == 2.0).to_numpy()
    for name in names:
        mine, theirs = left[name].reindex(index)[both], right[name].reindex(index)[both]
        if pd.api.types.is_numeric_dtype(own[name]) and not pd.api.types.is_bool_dtype(own[name]):
            values = [pd.to_numeric(side, errors="coerce").to_numpy(float) for side in (mine, theirs)]
            blank = np.isnan(values[0]) & np.isnan(values[1])
            values = [np.where(blank, 0.0, side) for side in values]
        else:
            same = np.array(
                [as_text(a) == as_text(b) for a, b in zip(mine, theirs, strict=True)], dtype=float
            )
            values = [same, np.ones(len(same))]
        parts.append(rows[both].assign(column=name, left=values[0], right=values[1]))
    return compare(check, family, pd.concat(parts, ignore_index=True), "==", floor=1e-3)


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


def _rows_by_key(frame: pd.DataFrame, key: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    labels = [
        pd.Series([as_text(value) for value in frame[name]], index=frame.index, name=name) for name in key
    ]
    copies = (
        pd.concat(labels, axis=1).groupby(list(key)).cumcount().rename("copy") if len(frame) else pd.Series()
    )
    index = pd.MultiIndex.from_arrays([*labels, copies], names=[*key, "copy"])
    return frame[list(names)].set_axis(index, axis="index")


def as_text(value: object) -> str:
    """Return a cell as text: blanks empty, dates by their day, whole numbers without a point.

    >>> as_text(pd.Timestamp("2027-01-01")), as_text(2.0), as_text(float("nan")), as_text(True)
    ('2027-01-01', '2', '', 'True')
    """
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
