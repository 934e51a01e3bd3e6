"""Tables that remember where the user finds each of their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from planner.errors import Fault
from planner.tables import Table

ROW_NUMBER = "row"
"""Index name of raw frames: the number of the row in its file or sheet."""

NO_ROW = -1
"""Row number of a row that stands in no file, such as one changed on the command line."""


@dataclass(frozen=True)
class RawTable:
    """Cells of one file or sheet before anything is checked.

    Attributes
    ----------
    where
        File, or ``file.xlsx[sheet]``, as faults name it.
    columns
        Cells by column name, without surrounding blanks; None = blank.
    rows
        Row number of each row in the file or sheet.
    letters
        Spreadsheet letter of each column; empty for text files.
    """

    where: str
    columns: Mapping[str, list[object]]
    rows: Sequence[int]
    letters: Mapping[str, str] = field(default_factory=dict)

    @property
    def frame(self) -> pd.DataFrame:
        """Return the cells as a frame of objects whose index is the row number."""
        index = pd.Index(list(self.rows), dtype="int64", name=ROW_NUMBER)
        series = {name: pd.Series(cells, index=index, dtype=object) for name, cells in self.columns.items()}
        return pd.DataFrame(series, index=index)


@dataclass(frozen=True)
class RawScenario:
    """Everything read from one folder or workbook; ``faults`` are those of the reading itself.

    ``pattern`` is how the file or sheet of a table is named, such as ``{}.csv``; ``settings_letter`` is the
    column of a workbook in which the values of settings stand.
    """

    where: str
    settings_where: str
    settings: Mapping[str, object]
    settings_rows: Mapping[str, int]
    tables: Mapping[str, RawTable]
    faults: tuple[Fault, ...] = ()
    pattern: str = "{}"
    settings_letter: str = ""

    def place(self, table_name: str) -> str:
        """Return the file or sheet in which a table stands or would stand."""
        return self.pattern.format(table_name)


@dataclass(frozen=True)
class Located:
    """A typed table with the file and row of every row.

    Attributes
    ----------
    table
        The declaration.
    frame
        Typed frame (RangeIndex).
    where, row
        File and row number of each row, aligned with ``frame`` by position.
    own
        True where the row belongs to the scenario and not to the shipped catalogue.
    letters
        Spreadsheet letters of the scenario's own sheet.
    broken
        Columns in which a cell could not be read; rules about them would only repeat the fault.
    present
        False when the scenario has no such file or sheet.
    file
        What a fault of the whole table names.
    """

    table: Table
    frame: pd.DataFrame
    where: np.ndarray
    row: np.ndarray
    own: np.ndarray
    letters: Mapping[str, str] = field(default_factory=dict)
    broken: frozenset[str] = frozenset()
    present: bool = True
    file: str = ""

    @property
    def name(self) -> str:
        """Return the table's name."""
        return self.table.name

    def column_label(self, position: int | None, column: str | None) -> str | None:
        """Return ``price``, or ``F7 (price)`` for a row of a workbook."""
        if column is None or position is None or column not in self.letters:
            return column
        if not self.own[position] or self.row[position] == NO_ROW:
            return column
        return f"{self.letters[column]}{self.row[position]} ({column})"

    def fault(self, position: int, column: str | None, message: str, value: object = None) -> Fault:
        """Return a fault of one row; the value shown defaults to the cell's own."""
        if value is None and column is not None and column in self.frame:
            value = cell_text(self.frame[column].iloc[position])
        return Fault(
            str(self.where[position]),
            message,
            None if self.row[position] == NO_ROW else int(self.row[position]),
            self.column_label(position, column),
            None if value is None else str(value),
        )

    def table_fault(self, message: str, column: str | None = None) -> Fault:
        """Return a fault of the whole table."""
        return Fault(self.file or self.name, message, None, column)

    def key_text(self, position: int) -> str:
        """Return the key of a row as overrides write it: ``key1|key2``."""
        return "|".join(cell_text(self.frame[column].iloc[position]) or "" for column in self.table.key)

    def accept_name(self, position: int, column: str) -> str:
        """Return how ``settings.accept`` names this cell."""
        return f"{self.name}/{self.key_text(position)}/{column}"

    def take(self, positions: np.ndarray) -> Located:
        """Return the rows at these positions, in this order."""
        return replace(
            self,
            frame=self.frame.iloc[positions].reset_index(drop=True),
            where=self.where[positions],
            row=self.row[positions],
            own=self.own[positions],
        )


def cell_text(value: object) -> str | None:
    """Return a typed cell as a person writes it; None when blank.

    >>> cell_text(3.0), cell_text(0.25), cell_text(("a", "b")), cell_text(float("nan"))
    ('3', '0.25', 'a;b', None)
    """
    if type(value) is str:
        return value
    if value is None or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, tuple):
        return ";".join(value) if value else None
    if pd.isna(value):  # type: ignore[call-overload]
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, pd.Timestamp):
        return value.strftime("%Y-%m-%d")
    if isinstance(value, float | np.floating):
        return number_text(float(value))
    return str(value)


def number_text(value: float) -> str:
    """Return the shortest text that reads back as exactly this number, whole numbers without a point.

    >>> number_text(1234.0), number_text(0.1), number_text(1e300)
    ('1234', '0.1', '1e+300')
    """
    if value == int(value) and abs(value) < 1e15 if np.isfinite(value) else False:
        return repr(int(value)) if not (value == 0 and np.signbit(value)) else "-0.0"
    return repr(value)


def concatenate(parts: Sequence[Located]) -> Located:
    """Return the rows of several located tables in order; the rest is that of the first."""
    return replace(
        parts[0],
        frame=pd.concat([part.frame for part in parts], ignore_index=True),
        where=np.concatenate([part.where for part in parts]),
        row=np.concatenate([part.row for part in parts]),
        own=np.concatenate([part.own for part in parts]),
    )
