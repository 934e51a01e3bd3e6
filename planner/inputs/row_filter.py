"""Rows of a table named by what stands in them: ``vendor=NVIDIA&mode=purchase``, ``lead_weeks>=20``.

Conditions are joined by ``&``; ``=`` and ``!=`` take several values separated by ``|``, ``*`` in one stands for any
text, nothing after the sign means blank; ``<``, ``<=``, ``>`` and ``>=`` compare numbers and dates. A filter without
conditions names every row.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from planner.errors import Fault
from planner.inputs.cells import clean, nearest, typed_column
from planner.inputs.located import Located, cell_text
from planner.inputs.names import Names
from planner.tables import Column

_CONDITION = re.compile(r"\s*(?P<column>[A-Za-z0-9_]+)\s*(?P<sign><=|>=|!=|=|<|>)(?P<value>.*)", re.DOTALL)
_ORDERED: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ORDERED_KINDS = ("number", "integer", "date")


def filtered_rows(
    located: Located, text: str, names_of_column: Callable[[Column], Names | None], where: str
) -> tuple[np.ndarray, list[Fault]]:
    """Return the positions of the rows that fit every condition, or a fault for each condition that cannot be met.

    Parameters
    ----------
    text
        Conditions joined by ``&``; empty names every row.
    names_of_column
        The names that cells of a column may be spelt by; None for columns that name no chip, model or engine.
    where
        How faults name the filter.
    """
    fits, faults = np.ones(len(located.frame), bool), list[Fault]()
    conditions = [part for part in text.split("&") if part.strip()]
    for condition in conditions:
        found, fault = _fitting(located, condition, names_of_column, where)
        fits &= found
        faults += [fault] if fault else []
    if not faults and not fits.any():
        every = f"has {text}" if conditions else "is there"
        faults.append(Fault(where, f"no row of {located.name} {every}"))
    return np.flatnonzero(fits), faults


def _fitting(
    located: Located, condition: str, names_of_column: Callable[[Column], Names | None], where: str
) -> tuple[np.ndarray, Fault | None]:
    none = np.zeros(len(located.frame), bool)
    match = _CONDITION.fullmatch(condition)
    if match is None:
        return none, Fault(where, "a condition has the form column=value", value=condition)
    name, sign, value = match.group("column", "sign", "value")
    if name not in located.table.by_column:
        advice = nearest(name, located.table.column_names)
        return none, Fault(where, f"unknown column of {located.name}{advice}", value=name)
    column, cells = located.table[name], located.frame[name]
    if sign in _ORDERED:
        return _compared(column, cells, sign, value, where)
    found, unmet = none, list[str]()
    for one in value.split("|"):
        rows = _equal(column, cells, one.strip(), names_of_column(column))
        found |= rows
        unmet += [] if rows.any() else [one.strip()]
    if unmet:
        known = dict.fromkeys(text for text in map(cell_text, cells.drop_duplicates()) if text)
        message = f"no row of {located.name} has that {name}{nearest(unmet[0], known)}"
        return none, Fault(where, message, value=unmet[0])
    return (~found if sign == "!=" else found), None


def _compared(
    column: Column, cells: pd.Series, sign: str, value: str, where: str
) -> tuple[np.ndarray, Fault | None]:
    typed, complaints = typed_column(column, clean([value]))
    if column.kind not in ORDERED_KINDS or complaints or pd.isna(typed[0]):
        what = complaints.get(0) or f"{sign} compares numbers and dates, and {column.name} needs one"
        return np.zeros(len(cells), bool), Fault(where, what, value=value)
    return np.asarray(_ORDERED[sign](cells, typed[0]), bool), None


def _equal(column: Column, cells: pd.Series, value: str, names: Names | None) -> np.ndarray:
    """Return the rows whose cell is the value: of a list column, those that list it."""
    if column.kind in ORDERED_KINDS or column.kind == "boolean":
        typed, complaints = typed_column(column, clean([value]))
        if complaints:
            return np.zeros(len(cells), bool)
        return (cells.isna() if not value else cells.eq(typed[0])).to_numpy(bool)
    spelt = (names.find(value) if names else None) or value
    pattern = re.compile(".*".join(re.escape(part) for part in spelt.split("*")), re.DOTALL)

    def fits(cell: object) -> bool:
        listed = cell if isinstance(cell, tuple) and cell else (cell_text(cell) or "",)
        return any(pattern.fullmatch(str(item)) for item in listed)

    return np.array([fits(cell) for cell in cells.tolist()], bool)
