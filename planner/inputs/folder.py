"""Scenario folders: ``scenario.yaml`` and one CSV file per table."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import yaml

from planner.errors import Fault
from planner.inputs.cells import clean, nearest
from planner.inputs.located import RawScenario, RawTable
from planner.tables import TABLES

SETTINGS_FILE = "scenario.yaml"


def read_folder(folder: Path) -> RawScenario:
    """Return everything in a scenario folder, with the faults of reading it."""
    faults: list[Fault] = []
    settings: dict[str, object] = {}
    lines: dict[str, int] = {}
    tables: dict[str, RawTable] = {}
    if (folder / SETTINGS_FILE).is_file():
        settings, lines, faults = read_settings(folder / SETTINGS_FILE)
    else:
        faults.append(Fault(SETTINGS_FILE, f"missing: a scenario folder holds its settings here ({folder})"))
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.is_dir() or path.name == SETTINGS_FILE:
            continue
        if path.suffix == ".csv" and path.stem in TABLES:
            raw, reading = read_csv(path, path.name)
            faults += reading
            if raw is not None:
                tables[path.stem] = raw
        elif path.suffix.lower() not in (".md", ".txt"):
            known = [SETTINGS_FILE, *(f"{name}.csv" for name in TABLES)]
            faults.append(Fault(path.name, f"unknown file in a scenario folder{nearest(path.name, known)}"))
    return RawScenario(str(folder), SETTINGS_FILE, settings, lines, tables, tuple(faults), "{}.csv")


def read_settings(path: Path) -> tuple[dict[str, object], dict[str, int], list[Fault]]:
    """Return the fields of a settings file, the line of each, and the faults of reading it."""
    where = path.name
    text, faults = _decoded(path, where)
    if faults:
        return {}, {}, faults
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "cannot be read"
        return {}, {}, [Fault(where, f"not valid YAML: {problem}", mark.line + 1 if mark else None)]
    if not isinstance(values, dict) or not isinstance(node, yaml.MappingNode):
        return {}, {}, [Fault(where, "must hold lines of the form 'field: value'")]
    lines: dict[str, int] = {}
    for key, _ in node.value:
        if str(key.value) in lines:
            message = f"stated twice; first on line {lines[str(key.value)]}"
            faults.append(Fault(where, message, key.start_mark.line + 1, str(key.value)))
        lines.setdefault(str(key.value), key.start_mark.line + 1)
    return {str(name): value for name, value in values.items()}, lines, faults


def _decoded(path: Path, where: str) -> tuple[str, list[Fault]]:
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        return "", [Fault(where, "not UTF-8 text; save it as 'CSV UTF-8'", line)]


def read_csv(path: Path, where: str) -> tuple[RawTable | None, list[Fault]]:
    """Return the cells of one CSV file (UTF-8, comma, header in line 1) and the faults of reading it.

    A byte order mark, either line end, blanks around cells, wholly blank rows and trailing empty columns
    are taken without complaint. Row numbers are those of the lines in the file.
    """
    text, faults = _decoded(path, where)
    if faults:
        return None, faults
    records: list[tuple[int, list[object]]] = []
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for record in reader:
            records.append((line, clean(record)))
            line = reader.line_num + 1
    except csv.Error as error:
        return None, [Fault(where, f"not valid CSV: {error}", line)]
    return raw_table(where, records, letters=False)


def raw_table(
    where: str, records: list[tuple[int, list[object]]], letters: bool
) -> tuple[RawTable | None, list[Fault]]:
    """Return numbered records as a raw table; the first record is the header and stands in row 1."""
    if not records or records[0][0] != 1 or all(cell is None for cell in records[0][1]):
        return None, [Fault(where, "no header: row 1 must name the columns", None if not records else 1)]
    header = records[0][1]
    names = [None if name is None else str(name) for name in header]
    faults = _header_faults(where, names)
    keep = [at for at, name in enumerate(names) if name is not None and names.index(name) == at]
    width = max(len(cells) for _, cells in records)
    unnamed = [at for at in range(width) if at >= len(names) or names[at] is None]
    body = [(number, cells) for number, cells in records[1:] if any(cell is not None for cell in cells)]
    for number, cells in body:
        for at in unnamed:
            if at < len(cells) and cells[at] is not None:
                message = f"no column name above this cell (cell {at + 1})"
                faults.append(Fault(where, message, number, None, str(cells[at])))
    padded = [[*cells, *[None] * (width - len(cells))] for _, cells in body]
    columns = {str(names[at]): [cells[at] for cells in padded] for at in keep}
    marks = {str(names[at]): column_letter(at) for at in keep} if letters else {}
    return RawTable(where, columns, [number for number, _ in body], marks), faults


def _header_faults(where: str, names: list[str | None]) -> list[Fault]:
    faults = []
    for at, name in enumerate(names):
        if name is not None and names.index(name) < at:
            first = names.index(name) + 1
            faults.append(Fault(where, f"column named twice (cells {first} and {at + 1})", 1, name))
    filled = [name for name in names if name is not None]
    if len(filled) == 1 and any(mark in filled[0] for mark in ";\t"):
        faults.append(Fault(where, "columns must be separated by commas", 1, None, filled[0][:60]))
    return faults


def column_letter(position: int) -> str:
    """Return the spreadsheet letter of a column counted from 0.

    >>> column_letter(0), column_letter(25), column_letter(26)
    ('A', 'Z', 'AA')
    """
    letters = ""
    number = position + 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
