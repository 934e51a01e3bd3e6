"""Cells to typed columns: one function per kind of column, each over a whole column at once.

Every function takes the object cells of a column (None = blank) and returns the typed values and a mapping
from position to what is wrong with the cell there; a wrong cell becomes blank.
"""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import pandas as pd

from planner.inputs.located import number_text
from planner.tables import Column

Complaints: TypeAlias = dict[int, str]
Values: TypeAlias = np.ndarray | pd.api.extensions.ExtensionArray

TEXT = pd.StringDtype(na_value=np.nan)
"""Type of text, key and choice columns (``str``); blank is NaN."""

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})([T ]00:00(:00(\.0+)?)?)?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
SHEET_ERRORS = frozenset(
    ("#REF!", "#N/A", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#GETTING_DATA", "#SPILL!", "#CALC!")
)
"""What a spreadsheet shows in place of a value: never taken as text."""
_TRUE, _FALSE = frozenset(("true", "yes", "1")), frozenset(("false", "no", "0"))


def clean(cells: Iterable[object]) -> list[object]:
    """Return cells with surrounding blanks and carriage returns removed; empty and missing become None."""
    return [_clean_text(cell) if isinstance(cell, str) else _clean_other(cell) for cell in cells]


def _clean_text(cell: str) -> str | None:
    stripped = cell.strip()
    if "\r" in stripped:
        stripped = stripped.replace("\r\n", "\n").replace("\r", "\n")
    return stripped or None


def _clean_other(cell: object) -> object:
    if cell is None or cell is pd.NaT or cell is pd.NA:
        return None
    if isinstance(cell, float | np.floating) and np.isnan(cell):
        return None
    return cell


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `` (nearest known: 'x')`` for a misspelt word, or what is known when nothing is near.

    >>> nearest("puchase", ["purchase", "lease"])
    "; nearest known: 'purchase'"
    """
    names = [str(name) for name in known]
    lowered = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(word.lower(), list(lowered), n=1, cutoff=0.5)
    if close:
        return f"; nearest known: {lowered[close[0]]!r}"
    if not names:
        return "; none is known"
    shown = ", ".join(repr(name) for name in names[:8])
    return f"; known: {shown}" + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def shown(cell: object) -> str:
    """Return an untyped cell as text for a fault."""
    if isinstance(cell, dt.datetime | dt.date):
        return cell.isoformat()
    if isinstance(cell, float):
        return number_text(cell)
    if isinstance(cell, tuple | list):
        return ";".join(str(item) for item in cell)
    return str(cell)


def typed_column(column: Column, cells: Sequence[object]) -> tuple[Values, Complaints]:
    """Return the typed values of a column and its complaints."""
    return _READERS[column.kind](column, cells)


def blank_values(column: Column, rows: int) -> Values:
    """Return a column of blanks of the right type."""
    return _blanks(column.kind, rows)


@lru_cache(maxsize=256)
def _blanks(kind: str, rows: int) -> Values:
    # Only the kind matters for blanks; the name stands for any column of it.
    return _READERS[kind](Column("blank", kind, "", choices=("blank",)), [None] * rows)[0]  # type: ignore[arg-type]


def _texts(column: Column, cells: Sequence[object]) -> tuple[Values, Complaints]:
    values = [cell if isinstance(cell, str) or cell is None else _text_of(cell) for cell in cells]
    complaints: Complaints = {}
    # One search over the whole column; single cells are looked at only when it finds something.
    if _CONTROL.search("".join(value for value in values if value)) or SHEET_ERRORS.intersection(values):
        for position, value in enumerate(values):
            if value in SHEET_ERRORS:
                complaints[position] = "is a spreadsheet error"
            elif value and _CONTROL.search(value):
                complaints[position] = "holds a control character; remove it"
        values = [None if position in complaints else value for position, value in enumerate(values)]
    return pd.array(values, dtype=TEXT), complaints


def _text_of(cell: object) -> str:
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, dt.datetime):
        return cell.strftime("%Y-%m-%d") if cell.time() == dt.time() else cell.isoformat(sep=" ")
    if isinstance(cell, dt.date):
        return cell.isoformat()
    if isinstance(cell, int | np.integer):
        return str(int(cell))
    if isinstance(cell, float | np.floating):
        return number_text(float(cell))
    return str(cell)


def separator_complaints(cells: Sequence[object]) -> Complaints:
    """Return a complaint for every key that holds a character which separates keys."""
    return {
        position: "a key may not hold '|', ';' or a line break (they separate keys)"
        for position, cell in enumerate(cells)
        if isinstance(cell, str) and ("|" in cell or ";" in cell or "\n" in cell)
    }


def _choices(column: Column, cells: Sequence[object]) -> tuple[Values, Complaints]:
    texts, complaints = _texts(column, cells)
    values = texts.tolist()
    known = {*column.choices, np.nan}
    if known.issuperset(values):
        return texts, complaints
    allowed = ", ".join(column.choices)
    for position, value in enumerate(values):
        if isinstance(value, str) and value not in known:
            hint = nearest(value, column.choices) if len(column.choices) > 3 else ""
            complaints[position] = f"allowed: {allowed}" + (hint if "nearest" in hint else "")
    kept = [None if position in complaints else value for position, value in enumerate(values)]
    return pd.array(kept, dtype=TEXT), complaints


def _numbers(column: Column, cells: Sequence[object]) -> tuple[np.ndarray, Complaints]:
    values = _fast_numbers(cells)
    if values is not None:
        return values, {}
    complaints: Complaints = {}
    parsed = np.full(len(cells), np.nan)
    for position, cell in enumerate(cells):
        if cell is None:
            continue
        number = _number(cell)
        if number is None:
            complaints[position] = _number_advice(cell)
        else:
            parsed[position] = number
    return parsed, complaints


def _fast_numbers(cells: Sequence[object]) -> np.ndarray | None:
    """Return a column of plain numbers; None when any cell needs a closer look."""
    if any(isinstance(cell, bool | np.bool_) for cell in cells):
        return None
    blank = np.fromiter((cell is None for cell in cells), dtype=bool, count=len(cells))
    try:
        values = np.array([np.nan if cell is None else cell for cell in cells], dtype=float)
    except (ValueError, TypeError, OverflowError):
        return None
    if not np.isfinite(values[~blank]).all() or any(isinstance(cell, str) and "_" in cell for cell in cells):
        return None
    return values


def _number(cell: object) -> float | None:
    if isinstance(cell, bool | np.bool_):
        return None
    if isinstance(cell, int | float | np.integer | np.floating):
        return float(cell) if np.isfinite(float(cell)) else None
    if not isinstance(cell, str):
        return None
    if _THOUSANDS.fullmatch(cell):
        return float(cell.replace(",", ""))
    number = float(cell) if _NUMBER.fullmatch(cell) else np.nan
    return number if np.isfinite(number) else None


def _number_advice(cell: object) -> str:
    text = str(cell)
    if text in SHEET_ERRORS:
        return "is a spreadsheet error, not a number"
    if text.endswith("%"):
        return "must be a number; write fractions, 0.08 for 8 percent"
    if re.fullmatch(r"[+-]?[0-9.]*,[0-9]+", text):
        return "must be a number with '.' as decimal mark (',' only separates thousands)"
    return "must be a finite number; leave the cell blank when unknown"


def _integers(column: Column, cells: Sequence[object]) -> tuple[Values, Complaints]:
    values, complaints = _numbers(column, cells)
    broken = np.flatnonzero(~np.isnan(values) & (values != np.round(values)))
    for position in broken:
        complaints[int(position)] = "must be a whole number"
    values[broken] = np.nan
    return values, complaints


def _booleans(column: Column, cells: Sequence[object]) -> tuple[Values, Complaints]:
    complaints: Complaints = {}
    values = np.zeros(len(cells), dtype=bool)
    for position, cell in enumerate(cells):
        if cell is None:
            continue
        word = _text_of(cell).lower()
        values[position] = word in _TRUE
        if word not in _TRUE and word not in _FALSE:
            complaints[position] = "allowed: true, false, yes, no, 1, 0"
    return values, complaints


def _dates(column: Column, cells: Sequence[object]) -> tuple[Values, Complaints]:
    complaints: Complaints = {}
    values: list[np.datetime64] = []
    for position, cell in enumerate(cells):
        day = None if cell is None else _date(cell)
        if cell is not None and day is None:
            complaints[position] = "must be a date such as 2027-01-31"
        values.append(np.datetime64("NaT", "ns") if day is None else np.datetime64(day, "ns"))
    return np.array(values, dtype="datetime64[ns]"), complaints


def _date(cell: object) -> dt.date | None:
    if isinstance(cell, dt.datetime):
        day = cell.date() if cell.time() == dt.time() else None
    elif isinstance(cell, dt.date):
        day = cell
    elif isinstance(cell, np.datetime64):
        day = pd.Timestamp(cell).date()
    else:
        match = _DATE.fullmatch(cell) if isinstance(cell, str) else None
        try:
            day = dt.date(int(match[1]), int(match[2]), int(match[3])) if match else None
        except ValueError:
            day = None
    return day if day is not None and 1970 <= day.year <= 2200 else None


def _lists(column: Column, cells: Sequence[object]) -> tuple[Values, Complaints]:
    complaints: Complaints = {}
    values = np.empty(len(cells), dtype=object)
    for position, cell in enumerate(cells):
        parts = (
            cell if isinstance(cell, list | tuple) else ([] if cell is None else _text_of(cell).split(";"))
        )
        items = tuple(item for item in (str(part).strip() for part in parts) if item)
        if len(set(items)) < len(items):
            twice = next(item for item in items if items.count(item) > 1)
            complaints[position] = f"names {twice!r} twice"
        elif any(_CONTROL.search(item) or item in SHEET_ERRORS for item in items):
            complaints[position] = "holds a control character or a spreadsheet error"
            items = ()
        values[position] = items
    return values, complaints


_READERS: dict[str, Callable[[Column, Sequence[object]], tuple[Values, Complaints]]] = {
    "text": _texts,
    "key": _texts,
    "choice": _choices,
    "number": _numbers,
    "integer": _integers,
    "boolean": _booleans,
    "date": _dates,
    "list": _lists,
}
