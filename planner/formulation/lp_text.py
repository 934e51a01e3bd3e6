"""The model, or one family of it, as deterministic LP text for people, golden files and other tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from planner.formulation.blocks import ColumnBlock, ColumnIndex, RowBlock, label_text

LINE_WIDTH = 100


def lp_text(
    columns: ColumnIndex | Sequence[ColumnBlock],
    rows: Sequence[RowBlock],
    objective: np.ndarray | None = None,
    *,
    comments: bool = True,
) -> str:
    """Return LP text with names ``family_ordinal``, the labels as comments.

    Parameters
    ----------
    columns, rows
        Blocks of the model; a single row block prints that family alone.
    objective
        Cost per column; None leaves the objective empty and lists only the columns that the rows use, so that
        the text of a family changes only when the family does.
    comments
        Whether each row and column is preceded by a comment line with its labels.
    """
    table = columns if isinstance(columns, ColumnIndex) else ColumnIndex(columns)
    names = column_names(table)
    used = _used_columns(table.count, rows, objective)
    lines = ["Minimize"]
    cost = np.zeros(table.count) if objective is None else objective
    nonzero = np.flatnonzero(cost)
    lines += _wrapped(" objective:", [_term(cost[j], names[j]) for j in nonzero])
    lines.append("Subject To")
    for block in rows:
        lines += _row_lines(block, names, comments)
    lines.append("Bounds")
    lines += _bound_lines(table, names, used, comments)
    whole = np.concatenate([block.integer for block in table.blocks] or [np.empty(0, bool)]) & used
    if whole.any():
        lines += ["General", *_wrapped("", [f" {names[j]}" for j in np.flatnonzero(whole)])]
    return "\n".join([*lines, "End", ""])


def column_names(columns: ColumnIndex) -> list[str]:
    """Return ``family_ordinal`` for every column; a name is made from positions and never read back."""
    return [f"{block.family}_{k}" for block in columns.blocks for k in range(len(block))]


def row_names(rows: Sequence[RowBlock]) -> list[str]:
    """Return ``family_ordinal`` for every row."""
    return [f"{block.family}_{k}" for block in rows for k in range(len(block))]


def _used_columns(count: int, rows: Sequence[RowBlock], objective: np.ndarray | None) -> np.ndarray:
    if objective is not None:
        return np.ones(count, bool)
    used = np.zeros(count, bool)
    for block in rows:
        used[block.column] = True
    return used


def _row_lines(block: RowBlock, names: list[str], comments: bool) -> Iterator[str]:
    sense = "=" if block.sense == "==" else block.sense
    for k in range(len(block)):
        if comments:
            yield f"\\ {label_text(block.labels, k)}"
        entries = range(block.start[k], block.start[k + 1])
        terms = [_term(block.value[entry], names[block.column[entry]]) for entry in entries]
        yield from _wrapped(f" {block.family}_{k}:", [*terms, f" {sense} {_number(block.rhs[k])}"])


def _bound_lines(columns: ColumnIndex, names: list[str], used: np.ndarray, comments: bool) -> Iterator[str]:
    for block in columns.blocks:
        start = columns.position(block.family).start
        for k in range(len(block)):
            if not used[start + k]:
                continue
            if comments:
                yield f"\\ {names[start + k]}: {label_text(block.labels, k)}"
            yield from _bound(names[start + k], float(block.lower[k]), float(block.upper[k]))


def _bound(name: str, lower: float, upper: float) -> Iterator[str]:
    if lower == -np.inf and upper == np.inf:
        yield f" {name} free"
    elif lower == upper:
        yield f" {name} = {_number(lower)}"
    elif upper < np.inf:
        yield f" {_number(lower)} <= {name} <= {_number(upper)}"
    elif lower != 0:
        yield f" {name} >= {_number(lower)}"


def _number(value: float) -> str:
    return "-inf" if value == -np.inf else f"{value + 0.0:.12g}"


def _term(value: float, name: str) -> str:
    return f" {'-' if value < 0 else '+'} {_number(abs(value))} {name}"


def _wrapped(head: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield lines of at most `LINE_WIDTH` characters, broken between terms."""
    line = head
    for part in parts:
        if len(line) + len(part) > LINE_WIDTH and line.strip():
            yield line
            line = "  "
        line += part
    yield line
