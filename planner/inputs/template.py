"""A scenario workbook to fill in: header comments, drop-downs, input colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from openpyxl import Workbook
from openpyxl.cell.cell import Cell, MergedCell
from openpyxl.comments import Comment
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from planner.errors import Fault, InputError
from planner.inputs.catalog import known_keys
from planner.inputs.cells import clean
from planner.inputs.checks.columns import limits_text
from planner.inputs.located import cell_text, number_text
from planner.inputs.parse import empty_table
from planner.inputs.scenario import Settings
from planner.inputs.workbook import HELPER_PREFIX, SETTINGS_HEADER, SETTINGS_SHEET
from planner.tables import TABLES, Column, Table

LIST_ROWS = 1_000
"""Rows a drop-down looks at in another sheet of the workbook."""
LONGEST_TEXT = 32_767
LONGEST_LIST = 255
KEYS_SHEET = f"{HELPER_PREFIX}keys"

HEADER_FONT = Font(bold=True, color="FFFFFF")
REQUIRED_FILL = PatternFill("solid", fgColor="1F4E78")
OPTIONAL_FILL = PatternFill("solid", fgColor="7F7F7F")
INPUT_FONT = Font(color="0000FF")
INPUT_FILL = PatternFill("solid", fgColor="FFFFE5")


def build_workbook(settings: Mapping[str, object], frames: Mapping[str, pd.DataFrame]) -> Workbook:
    """Return the workbook of a scenario.

    It has a sheet for every table a scenario can hold, filled or only with its header, one for
    ``service_classes``, and one for every other table given. Text is stored as text whatever it begins with.
    """
    book = Workbook()
    book.remove(book.worksheets[0])
    _fill_settings(book.create_sheet(SETTINGS_SHEET), settings)
    names = [
        name
        for name, table in TABLES.items()
        if table.scope != "library" or name == "service_classes" or name in frames
    ]
    lists = _key_lists(book, names, frames)
    for name in names:
        _fill_table(
            book.create_sheet(name), TABLES[name], frames.get(name, empty_table(TABLES[name]).frame), lists
        )
    book.move_sheet(KEYS_SHEET, len(book.sheetnames))
    return book


def _fill_settings(sheet: Worksheet, settings: Mapping[str, object]) -> None:
    _header(sheet, SETTINGS_HEADER, required=SETTINGS_HEADER)
    for row, (name, value) in enumerate(settings.items(), start=2):
        field = Settings.model_fields[name]
        put(sheet.cell(row, 1), name)
        cell = sheet.cell(row, 2)
        put(cell, ";".join(value) if isinstance(value, list | tuple) else value)
        cell.font, cell.fill = INPUT_FONT, INPUT_FILL
        cell.alignment = Alignment(horizontal="left", wrap_text=True)
        put(sheet.cell(row, 3), field.description)
        words = [word for word in getattr(field.annotation, "__args__", ()) if isinstance(word, str)]
        if words or field.annotation is bool:
            add_choices(sheet, cell.coordinate, words or ["true", "false"])
    for letter, width in zip("ABC", (24, 50, 90), strict=True):
        sheet.column_dimensions[letter].width = width


def _fill_table(sheet: Worksheet, table: Table, frame: pd.DataFrame, lists: Mapping[str, str]) -> None:
    required = [column.name for column in table.columns if column.required]
    _header(sheet, table.column_names, required)
    for position, column in enumerate(table.columns, start=1):
        values = frame[column.name].tolist() if column.name in frame else [None] * len(frame)
        letter = get_column_letter(position)
        # The style of the whole column is that of rows yet to be filled in; cells in use need their own.
        whole = sheet.column_dimensions[letter]
        styled: list[Any] = [whole]
        for row, value in enumerate(values, start=2):
            cell = sheet.cell(row, position)
            put(cell, _cell_value(column, value), f"{table.name} row {row}", column.name)
            styled.append(cell)
        for place in styled:
            place.font, place.fill = INPUT_FONT, INPUT_FILL
            place.number_format = "yyyy-mm-dd" if column.kind == "date" else "General"
        sheet.cell(1, position).comment = Comment(column_note(column), "planner", height=140, width=320)
        longest = max([len(column.name) + 2, *(len(cell_text(value) or "") for value in values[:200])])
        whole.width = min(longest + 2, 50)
        cells = f"{letter}2:{letter}{LIST_ROWS}"
        if column.kind in ("choice", "boolean"):
            add_choices(sheet, cells, column.choices or ("true", "false"))
        elif column.kind == "key" and column.refers_to in lists:
            add_list(sheet, cells, lists[str(column.refers_to)])
    keys = [at for at, column in enumerate(table.columns, start=1) if column.name in table.key]
    sheet.freeze_panes = f"{get_column_letter(min(max(keys) + 1, 4))}2"


def column_note(column: Column) -> str:
    """Return what a person filling in the column should know: meaning, unit, limits, words, reference."""
    lines = [column.meaning[:1].upper() + column.meaning[1:]]
    if column.unit:
        lines.append(f"Unit: {column.unit}")
    limits = limits_text(column).split(" (")[0] if column.kind in ("number", "integer") else ""
    if limits:
        lines.append(f"Allowed: {limits}")
    if column.choices:
        lines.append(f"One of: {', '.join(column.choices)}")
    if column.kind == "boolean":
        lines.append("true or false; blank = false")
    if column.kind == "list":
        lines.append("Several: separated by semicolons")
    if column.refers_to:
        lines.append(f"A key of {column.refers_to.split('.')[0]}")
    lines.append("Required" if column.required else "May be blank")
    return "\n".join(lines)


def _header(sheet: Worksheet, names: Sequence[str], required: Sequence[str]) -> None:
    for position, name in enumerate(names, start=1):
        cell = sheet.cell(1, position, name)
        cell.font = HEADER_FONT
        cell.fill = REQUIRED_FILL if name in required else OPTIONAL_FILL
    sheet.freeze_panes = "A2"


def _cell_value(column: Column, value: Any) -> object:
    """Return a typed cell as a spreadsheet holds it: number, date or boolean, the rest as text."""
    if column.kind in ("number", "integer"):
        return None if value is None or np.isnan(value) else float(value)
    if column.kind == "date":
        return None if pd.isna(value) else value.to_pydatetime()
    if column.kind == "boolean":
        return bool(value)
    return cell_text(value)


def put(
    cell: Cell | MergedCell, value: object, where: str = SETTINGS_SHEET, column: str | None = None
) -> None:
    """Write one value so that it reads back the same: text stays text, numbers keep every digit."""
    value = clean([value])[0]
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            message = f"longer than the {LONGEST_TEXT} characters a cell holds"
            raise InputError([Fault(where, message, None, column, value[:40])])
        cell.value = value
        cell.data_type = "s"
    elif isinstance(value, float) and float(f"{value:.16g}") != value:
        # The writer keeps 16 digits; a number handed over as text with numeric type keeps all 17.
        cell.value = number_text(value)
        cell.data_type = "n"
    elif isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        cell.value = int(value)
    else:
        cell.value = value  # type: ignore[assignment]


def add_choices(sheet: Worksheet, cells: str, words: Sequence[str]) -> None:
    """Let cells take one of a few words; without effect where the list is too long for a rule."""
    formula = f'"{",".join(words)}"'
    if len(formula) > LONGEST_LIST:
        return
    rule = DataValidation(type="list", formula1=formula, allow_blank=True, showErrorMessage=True)
    rule.error = f"One of: {', '.join(words)}"[:250]
    sheet.add_data_validation(rule)
    rule.add(cells)


def add_list(sheet: Worksheet, cells: str, formula: str) -> None:
    """Let cells take the keys a range holds, with a warning for others."""
    rule = DataValidation(type="list", formula1=formula, allow_blank=True, showErrorMessage=True)
    # A warning, because a key may be added to its table after the workbook was written.
    rule.errorStyle = "warning"
    rule.error = "Not among the keys known when this workbook was written; the check knows all of them."
    sheet.add_data_validation(rule)
    rule.add(cells)


def _key_lists(book: Workbook, names: Sequence[str], frames: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Return ``table.column`` to the range a drop-down takes its keys from, and write the helper sheet.

    Tables that only the scenario fills are looked up in their own sheet; the others in a hidden sheet
    with the keys of the shipped catalogue and of the scenario.
    """
    sheet = book.create_sheet(KEYS_SHEET)
    sheet.sheet_state = "hidden"
    targets = sorted(
        {str(column.refers_to) for name in names for column in TABLES[name].columns if column.refers_to}
    )
    ranges: dict[str, str] = {}
    for target in targets:
        name, column = target.split(".")
        if TABLES[name].scope == "scenario":
            letter = get_column_letter(TABLES[name].column_names.index(column) + 1)
            ranges[target] = f"{name}!${letter}$2:${letter}${LIST_ROWS}"
            continue
        mine = frames[name][column].dropna().tolist() if name in frames else []
        keys = list(dict.fromkeys([*mine, *known_keys(name, column)]))
        position = len(ranges) + 1
        put(sheet.cell(1, position), target)
        for row, key in enumerate(keys, start=2):
            put(sheet.cell(row, position), key)
        letter = get_column_letter(position)
        ranges[target] = f"{KEYS_SHEET}!${letter}$2:${letter}${max(len(keys) + 1, 2)}"
    return ranges
