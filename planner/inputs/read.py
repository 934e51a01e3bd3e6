"""Either form of a scenario to its raw tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.folder import read_folder
from planner.inputs.located import RawScenario
from planner.inputs.workbook import SUFFIXES, read_workbook


def read_source(path: Path) -> RawScenario:
    """Return everything read from a folder or a workbook, with the faults of reading it."""
    if path.is_dir():
        return read_folder(path)
    if path.suffix.lower() in SUFFIXES and path.is_file():
        return read_workbook(path)
    message = "a scenario is a folder or an .xlsx workbook"
    raise InputError([Fault(str(path), message if path.exists() else f"no such file; {message}")])


def read_tables(path: str | Path) -> tuple[Mapping[str, object], dict[str, pd.DataFrame]]:
    """Return the settings as typed by the user and the raw frame of every table present.

    Raw frames hold the cells as read (text from CSV; text, numbers and dates from a workbook; None = blank),
    with the row number in the file as index. Raises ``InputError`` when a file cannot be read as a table.
    """
    source = read_source(Path(path))
    if source.faults:
        raise InputError(source.faults)
    return source.settings, {name: raw.frame for name, raw in source.tables.items()}
