"""Raw cells of one table to a typed, located table, with every fault of form on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeAlias

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.cells import (
    Complaints,
    Values,
    blank_values,
    clean,
    nearest,
    separator_complaints,
    shown,
    typed_column,
)
from planner.inputs.located import ROW_NUMBER, Located, RawTable
from planner.tables import TABLES, Column, Table

Rows: TypeAlias = pd.DataFrame | Sequence[Mapping[str, object]]


def parse_table(table: Table, raw: RawTable, own: bool, complete: bool = True) -> tuple[Located, list[Fault]]:
    """Return the typed table and its faults of form: columns, types, required cells.

    Parameters
    ----------
    table
        Declaration.
    raw
        Cells as read.
    own
        The rows are the scenario's own, not the shipped catalogue's.
    complete
        Columns and cells that are required must be there.
    """
    rows = np.array(raw.rows, dtype=int)
    typed: dict[str, Values] = {}
    broken = {column.name for column in table.columns if column.required and column.name not in raw.columns}
    located_faults: list[tuple[int, int, Fault]] = []
    for order, column in enumerate(table.columns):
        if column.name not in raw.columns:
            typed[column.name] = blank_values(column, len(rows))
            continue
        cells = raw.columns[column.name]
        typed[column.name], complaints = _read_column(table, column, cells, complete)
        broken |= {column.name} if complaints else set()
        for position, message in complaints.items():
            value = None if cells[position] is None else shown(cells[position])
            label = _label(raw, column.name, int(rows[position]))
            located_faults.append(
                (position, order, Fault(raw.where, message, int(rows[position]), label, value))
            )
    by_row = [fault for _, _, fault in sorted(located_faults, key=lambda item: item[:2])]
    where = np.full(len(rows), raw.where, dtype=object)
    located = Located(
        table, pd.DataFrame(typed), where, rows, np.full(len(rows), own), dict(raw.letters), frozenset(broken)
    )
    return replace(located, file=raw.where), _column_faults(table, raw, complete) + by_row


def _read_column(
    table: Table, column: Column, cells: list[object], complete: bool
) -> tuple[Values, Complaints]:
    """Return the typed values of a column and what is wrong with its cells, required and key cells included."""
    values, complaints = typed_column(column, cells)
    if column.kind == "key" and column.name in table.key:
        complaints |= separator_complaints(cells)
    if column.required and complete:
        complaints |= {at: f"required: {column.meaning}" for at, cell in enumerate(cells) if cell is None}
    return values, complaints


def _label(raw: RawTable, column: str, row: int) -> str:
    return f"{raw.letters[column]}{row} ({column})" if column in raw.letters else column


def _column_faults(table: Table, raw: RawTable, complete: bool) -> list[Fault]:
    """Return faults of the header: unknown and missing columns."""
    faults = []
    for name in raw.columns:
        if name not in table.by_column:
            label = f"{raw.letters[name]}1 ({name})" if name in raw.letters else str(name)
            message = f"unknown column of {table.name}{nearest(str(name), table.column_names)}"
            faults.append(Fault(raw.where, message, 1, label))
    for column in table.columns:
        if complete and column.required and column.name not in raw.columns:
            faults.append(Fault(raw.where, f"required column is missing: {column.meaning}", 1, column.name))
    return faults


def empty_table(table: Table, file: str = "") -> Located:
    """Return a table without rows that no file or sheet has."""
    none = np.empty(0, dtype=object)
    frame = _empty_frame(table.name)
    return Located(
        table, frame, none, none.astype(int), none.astype(bool), present=False, file=file or table.name
    )


@cache
def _empty_frame(table_name: str) -> pd.DataFrame:
    return pd.DataFrame({column.name: blank_values(column, 0) for column in TABLES[table_name].columns})


def raw_from_rows(where: str, rows: Rows) -> RawTable:
    """Return rows given in memory as a raw table.

    The first row is number 2, as under a header; a raw frame keeps the row numbers of its file.
    """
    if isinstance(rows, pd.DataFrame):
        columns = {str(name): clean(rows[name].tolist()) for name in rows}
        if rows.index.name == ROW_NUMBER:
            return RawTable(where, columns, rows.index.tolist())
    else:
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = {name: clean(row.get(name) for row in rows) for name in names}
    return RawTable(where, columns, range(2, len(rows) + 2))


def typed_frame(table_name: str, rows: Rows) -> pd.DataFrame:
    """Return rows given as Python values as a typed frame of a declared table.

    Columns that are not given are blank, required or not; a value of the wrong type or an unknown column
    raises ``InputError``.

    >>> typed_frame("fx", [{"currency": "EUR", "usd_per_unit": "1.08"}])["usd_per_unit"].tolist()
    [1.08]
    """
    if table_name not in TABLES:
        raise InputError([Fault(table_name, f"unknown table{nearest(table_name, TABLES)}")])
    raw = raw_from_rows(table_name, rows)
    located, faults = parse_table(TABLES[table_name], raw, own=True, complete=False)
    if faults:
        raise InputError(faults)
    return located.frame
