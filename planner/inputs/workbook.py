"""Scenario workbooks: a sheet ``settings`` and one sheet per table, row 1 naming the columns.

Units and meanings stand in the comments of row 1, so every row below is an input. Sheets whose name
begins with ``_`` are helpers of the workbook (lists behind drop-downs) and are not read.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from planner.errors import Fault
from planner.inputs.cells import clean, nearest
from planner.inputs.folder import column_letter, raw_table
from planner.inputs.located import RawScenario, RawTable
from planner.tables import TABLES

SETTINGS_SHEET = "settings"
SETTINGS_HEADER = ("key", "value", "meaning")
HELPER_PREFIX = "_"
SUFFIXES = (".xlsx", ".xlsm")

_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")

Records = list[tuple[int, list[object]]]


def read_workbook(path: Path) -> RawScenario:
    """Return everything in a scenario workbook, with the faults of reading it."""
    from openpyxl.utils.exceptions import InvalidFileException

    settings_where = f"{path.name}[{SETTINGS_SHEET}]"
    pattern = f"{path.name.replace('{', '{{').replace('}', '}}')}[{{}}]"
    try:
        sheets, faults = read_sheets(path)
    except (zipfile.BadZipFile, InvalidFileException, KeyError, ValueError, OSError) as error:
        fault = Fault(path.name, f"cannot be read as an .xlsx workbook ({error})")
        return RawScenario(path.name, settings_where, {}, {}, {}, (fault,), pattern)
    settings: dict[str, object] = {}
    rows: dict[str, int] = {}
    letter = ""
    tables: dict[str, RawTable] = {}
    if SETTINGS_SHEET in sheets:
        settings, rows, letter, found = _settings(settings_where, sheets[SETTINGS_SHEET])
        faults += found
    else:
        faults.append(Fault(path.name, f"sheet {SETTINGS_SHEET!r} is missing"))
    for name, records in sheets.items():
        where = f"{path.name}[{name}]"
        if name == SETTINGS_SHEET or name.startswith(HELPER_PREFIX):
            continue
        if name not in TABLES:
            faults.append(Fault(where, f"unknown sheet{nearest(name, [SETTINGS_SHEET, *TABLES])}"))
            continue
        raw, found = raw_table(where, records, letters=True)
        faults += found
        if raw is not None:
            tables[name] = raw
    return RawScenario(path.name, settings_where, settings, rows, tables, tuple(faults), pattern, letter)


def read_sheets(path: Path) -> tuple[dict[str, Records], list[Fault]]:
    """Return the non-blank rows of every sheet by row number; formulas count with their stored value."""
    from openpyxl import (
        load_workbook,
    )  # only where there is a workbook: loading it takes longer than reading a folder

    faults: list[Fault] = []
    sheets: dict[str, Records] = {}
    with warnings.catch_warnings():
        # The reader warns about what it drops of a user's workbook (charts, extensions); no cell is lost.
        warnings.simplefilter("ignore", UserWarning)
        book = load_workbook(path, read_only=True, data_only=True)
        try:
            for sheet in book.worksheets:
                sheet.reset_dimensions()
                sheets[sheet.title] = _records(sheet.iter_rows(values_only=True))
        finally:
            book.close()
        if _has_formulas(path):
            faults = _formula_faults(path)
    return sheets, faults


def _records(rows: Iterable[Iterable[object]]) -> Records:
    records: Records = []
    for number, cells in enumerate(rows, start=1):
        cleaned = clean(cells)
        if number == 1 or any(cell is not None for cell in cleaned):
            records.append((number, cleaned))
    return records


def _has_formulas(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        return any(_FORMULA.search(archive.read(name)) for name in names if name.endswith(".xml"))


def _formula_faults(path: Path) -> list[Fault]:
    """Return a fault per formula that no program has computed yet: its cell has no stored value."""
    from openpyxl import load_workbook

    faults = []
    formulas = load_workbook(path, read_only=True, data_only=False)
    stored = load_workbook(path, read_only=True, data_only=True)
    try:
        for sheet in formulas.worksheets:
            if sheet.title.startswith(HELPER_PREFIX):
                continue
            values = stored[sheet.title]
            sheet.reset_dimensions()
            values.reset_dimensions()
            header: Sequence[object] = ()
            for number, (cells, seen) in enumerate(
                zip(sheet.iter_rows(), values.iter_rows(), strict=True), start=1
            ):
                header = [cell.value for cell in seen] if number == 1 else header
                for at, (cell, value) in enumerate(zip(cells, seen, strict=True)):
                    # A text formula that yields nothing is stored with type "str" and no value.
                    if cell.data_type == "f" and value.value is None and value.data_type != "str":
                        faults.append(_formula_fault(path, sheet.title, number, at, header))
    finally:
        formulas.close()
        stored.close()
    return faults


def _formula_fault(path: Path, sheet: str, row: int, position: int, header: Sequence[object]) -> Fault:
    name = header[position] if position < len(header) else None
    label = f"{column_letter(position)}{row}" + (f" ({name})" if name else "")
    message = "formula without a stored value; save the workbook in a spreadsheet program or type the value"
    return Fault(f"{path.name}[{sheet}]", message, row, label)


def _settings(where: str, records: Records) -> tuple[dict[str, object], dict[str, int], str, list[Fault]]:
    """Return the fields of the settings sheet, their rows, the letter of their column, and faults."""
    raw, faults = raw_table(where, records, letters=True)
    if raw is None:
        return {}, {}, "", faults
    for name in raw.columns:
        if name not in SETTINGS_HEADER:
            faults.append(Fault(where, f"unknown column{nearest(name, SETTINGS_HEADER)}", 1, name))
    missing = [name for name in SETTINGS_HEADER[:2] if name not in raw.columns]
    if missing:
        return (
            {},
            {},
            "",
            [*faults, *(Fault(where, "required column is missing", 1, name) for name in missing)],
        )
    values: dict[str, object] = {}
    rows: dict[str, int] = {}
    for row, key, setting in zip(raw.rows, raw.columns["key"], raw.columns["value"], strict=True):
        if key is None:
            if setting is not None:
                faults.append(Fault(where, "a value without a key", row, None, str(setting)))
        elif str(key) in rows:
            message = f"stated twice; first in row {rows[str(key)]}"
            faults.append(Fault(where, message, row, str(key)))
        else:
            values[str(key)], rows[str(key)] = setting, row
    return values, rows, raw.letters["value"], faults
