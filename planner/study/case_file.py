"""Cases from a CSV file: ``case,table,filter,column,change,value``, several rows to a case."""

from __future__ import annotations

import csv
from pathlib import Path

from planner.errors import Fault, InputError
from planner.inputs.cells import nearest
from planner.inputs.overrides import Override
from planner.study.cases import Case

COLUMNS = ("case", "table", "filter", "column", "change", "value")
CHANGES = {"set": "", "multiply": "*", "add": "+", "": ""}
"""Word of the column ``change`` to the sign of an override; blank sets."""


def read_case_file(path: Path | str) -> list[Case]:
    """Return the cases of a file in the order of their first rows; ``settings`` is a table too, without filter.

    Raises
    ------
    InputError
        With every fault of the file: columns, words, blank cells.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            [Fault(str(path), f"cannot be read: {getattr(error, 'strerror', error)}")]
        ) from error
    lines = list(csv.reader(text.splitlines()))
    header = [name.strip() for name in lines[0]] if lines else []
    faults = [
        Fault(file.name, f"unknown column{nearest(name, COLUMNS)}", 1, name)
        for name in header
        if name not in COLUMNS
    ]
    needed = [name for name in COLUMNS if name not in ("filter", "change")]
    faults += [Fault(file.name, "column is missing", 1, name) for name in needed if name not in header]
    if faults:
        raise InputError(faults)
    changes: dict[str, list[Override]] = {}
    for number, cells in enumerate(lines[1:], start=2):
        if not any(cell.strip() for cell in cells):
            continue
        row = {name: cell.strip() for name, cell in zip(header, cells, strict=False)}
        found = _row_faults(file.name, number, row, len(cells) - len(header))
        faults += found
        if not found:
            changes.setdefault(row["case"], []).append(_override(file.name, number, row))
    if not changes and not faults:
        faults = [Fault(file.name, "states no case")]
    if faults:
        raise InputError(faults)
    return [Case(name, tuple(made), {}) for name, made in changes.items()]


def _row_faults(name: str, number: int, row: dict[str, str], surplus: int) -> list[Fault]:
    blank = [column for column in ("case", "table", "column") if not row.get(column)]
    faults = [Fault(name, "is blank", number, column) for column in blank]
    change = row.get("change", "").lower()
    if change not in CHANGES:
        allowed = "allowed: set, multiply, add"
        faults.append(Fault(name, allowed, number, "change", row["change"]))
    if row.get("table") == "settings" and row.get("filter"):
        faults.append(Fault(name, "settings have no rows: leave blank", number, "filter", row["filter"]))
    if surplus > 0:
        faults.append(Fault(name, f"{surplus} more cells than columns", number))
    return faults


def _override(name: str, number: int, row: dict[str, str]) -> Override:
    how = CHANGES[row.get("change", "").lower()]
    return Override(
        f"{name} row {number}",
        row["table"],
        "",
        row["column"],
        row.get("value", ""),
        how,
        rows=row.get("filter", ""),
    )
