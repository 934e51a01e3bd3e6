"""What every importer takes and gives: options in, tables, notes and rejected rows out."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from planner.errors import Fault, InputError

REJECTED_COLUMNS = ("where", "reason", "rows", "first_row", "example")


@dataclass(frozen=True, slots=True)
class Option:
    """One choice the user has when importing.

    Attributes
    ----------
    name
        Name in Python; the command line writes it with hyphens.
    meaning
        One sentence for the help text.
    kind
        What the text on the command line is read as; ``list`` is semicolon- or comma-separated.
    default
        Value when the option is not given; None when there is none.
    """

    name: str
    meaning: str
    kind: Literal["text", "number", "integer", "list"] = "text"
    default: Any = None


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an importer made of its files.

    Attributes
    ----------
    settings
        Fields of ``scenario.yaml``; empty when the tables are rows to add to a scenario.
    tables
        Tables by name, ready for ``planner.inputs.write_tables``.
    notes
        Statistics and assumptions, one sentence each, for the person who ran the import.
    rejected
        One row per file and reason: where, reason, rows (how many), first_row (line number), example.
    reports
        Frames for a reader, no tables of a scenario, by ``folder/name``; written as CSV below the target.
    """

    settings: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame]
    notes: tuple[str, ...] = ()
    rejected: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(REJECTED_COLUMNS)))
    reports: Mapping[str, pd.DataFrame] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Importer:
    """A foreign format: its name on the command line, its options, and the function that reads it."""

    name: str
    help: str
    function: Callable[[Sequence[Path], Mapping[str, Any]], ImportResult]
    options: tuple[Option, ...] = ()
    several_files: bool = False

    def run(self, paths: Sequence[str | Path], options: Mapping[str, Any] | None = None) -> ImportResult:
        """Check the number of files and the options, then import."""
        files = [Path(path) for path in paths]
        if not files or (len(files) > 1 and not self.several_files):
            allowed = "one or more files" if self.several_files else "exactly one file"
            raise InputError([Fault(f"import {self.name}", f"needs {allowed}, {len(files)} given")])
        return self.function(files, read_options(self, options or {}))


class Rejections:
    """Counts of the rows an importer did not take, by file and reason, in bounded memory."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[Any]] = {}

    def add(self, where: str, reason: str, rows: int, first_row: int, example: str) -> None:
        """Count ``rows`` more rows; the first line number and example of a reason are kept."""
        if rows:
            entry = self._found.setdefault((where, reason), [0, first_row, example])
            entry[0] += rows

    @property
    def total(self) -> int:
        """Return how many rows were rejected."""
        return sum(entry[0] for entry in self._found.values())

    def frame(self) -> pd.DataFrame:
        """Return the counts as a table with the columns of ``REJECTED_COLUMNS``."""
        rows = [(where, reason, *entry) for (where, reason), entry in self._found.items()]
        return pd.DataFrame(rows, columns=list(REJECTED_COLUMNS))


def read_options(importer: Importer, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return every option of the importer with its value; all faults are raised together."""
    known = {option.name: option for option in importer.options}
    faults = []
    values = {option.name: option.default for option in importer.options}
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            message = f"unknown option, known are {', '.join(known) or 'none'}{hint}"
            faults.append(Fault(f"import {importer.name}", message, column=name, value=str(value)))
        elif value is not None:
            try:
                values[name] = _parsed(known[name].kind, value)
            except ValueError as error:
                faults.append(Fault(f"import {importer.name}", str(error), column=name, value=str(value)))
    if faults:
        raise InputError(faults)
    return values


def _parsed(kind: str, value: Any) -> Any:
    """Return an option's value as its kind; ValueError says what is allowed."""
    if kind == "list":
        items = value.replace(",", ";").split(";") if isinstance(value, str) else list(value)
        return tuple(str(item).strip() for item in items if str(item).strip())
    if kind == "text":
        return str(value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError("must be a number") from None
    if not math.isfinite(number):
        raise ValueError("must be a finite number")
    if kind == "integer" and not number.is_integer():
        raise ValueError("must be a whole number")
    return int(number) if kind == "integer" else number


def readable_file(path: Path) -> Path:
    """Return the path of an existing file with something in it, else raise."""
    if not path.is_file():
        raise InputError([Fault(str(path), "no such file")])
    if path.stat().st_size == 0:
        raise InputError([Fault(path.name, "the file is empty")])
    return path


def option_fault(where: str, name: str, message: str, value: str | None = None) -> Fault:
    """Return a fault of what an option says, named as the command line writes it.

    >>> str(option_fault("prices.csv", "utc_offset_h", "the file is in UTC: give the area's offset"))
    "prices.csv, option --utc-offset-h: the file is in UTC: give the area's offset"
    """
    return Fault(f"{where}, option --{name.replace('_', '-')}", message, value=value)
