"""A scenario folder on disk that tests break in one place."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from planner.inputs import Scenario
from planner.inputs.located import cell_text
from planner.tables import TABLES

Row = dict[str, str]
Place = tuple[str, int | None, str | None]
"""File, row, column that a fault must name."""


class Editor:
    """The tables of a folder as text, read and written whole.

    ``adopt`` writes rows that the folder takes from the catalogue into the folder: they are then the user's.
    """

    def __init__(self, folder: Path, scenario: Scenario):
        self.folder = folder
        self.scenario = scenario

    def path(self, table: str) -> Path:
        return self.folder / f"{table}.csv"

    def adopt(self, table: str, keep: Callable[[Row], bool] = lambda row: True, least: int = 1) -> None:
        frame = self.scenario.tables[table]
        rows = [
            {name: cell_text(value) or "" for name, value in zip(frame.columns, values, strict=True)}
            for values in zip(*(frame[name] for name in frame.columns), strict=True)
        ]
        kept = [row for row in rows if keep(row)]
        assert len(kept) >= least, f"the example has no such row in {table}"
        self.write(table, kept)

    def rows(self, table: str) -> list[Row]:
        if not self.path(table).is_file():
            self.adopt(table)
        with self.path(table).open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))

    def write(self, table: str, rows: list[Row]) -> None:
        names = list(rows[0]) if rows else TABLES[table].column_names
        with self.path(table).open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, names, lineterminator="\n", restval="")
            writer.writeheader()
            writer.writerows(rows)

    def set(self, table: str, at: int, **values: str) -> Place:
        """Change cells of one row, counted from 0; return the place of the first of them."""
        rows = self.rows(table)
        names = list(dict.fromkeys([*rows[0], *values]))
        rows = [{name: row.get(name, "") for name in names} for row in rows]
        rows[at] |= values
        self.write(table, rows)
        return f"{table}.csv", at + 2, next(iter(values))

    def scale(self, table: str, at: int, column: str, factor: float) -> Place:
        """Multiply one number; return its place."""
        return self.set(table, at, **{column: repr(float(self.rows(table)[at][column]) * factor)})

    def find(self, table: str, wanted: Callable[[Row], bool]) -> int:
        """Return the first row, counted from 0, for which something holds."""
        return next(at for at, row in enumerate(self.rows(table)) if wanted(row))

    def largest(self, table: str, column: str, wanted: Callable[[Row], bool] = lambda row: True) -> int:
        """Return the row with the largest number in a column."""
        rows = self.rows(table)
        chosen = [at for at, row in enumerate(rows) if row[column] and wanted(row)]
        return max(chosen, key=lambda at: float(rows[at][column]))

    def drop(self, table: str, at: int) -> Row:
        """Remove one row and return it."""
        rows = self.rows(table)
        gone = rows.pop(at)
        self.write(table, rows)
        return gone
