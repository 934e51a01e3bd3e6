"""The plan's own tables on one sheet, as values: what the formulas of the proof add up."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd
from openpyxl.utils import get_column_letter

from reports.content import Content
from reports.layout import HEADER_ROW

SHEET = "Plan tables"
QUOTED = f"'{SHEET}'"
HEADLINE = "headline"
"""Name under which the headline numbers of ``plan.json`` stand as a table."""


@dataclass
class Placed:
    """A table on the sheet: its rows, the row of its header, and its columns in the order in which they were asked."""

    frame: pd.DataFrame
    header: int
    columns: list[str] = field(default_factory=list)

    @property
    def first(self) -> int:
        """Return the first row of values."""
        return self.header + 1

    @property
    def last(self) -> int:
        """Return the last row of values."""
        return self.header + max(len(self.frame), 1)


@dataclass
class PlanTables:
    """Tables placed one below the other when a formula first asks for them."""

    content: Content
    placed: dict[str, Placed] = field(default_factory=dict)
    next_row: int = HEADER_ROW

    def frame(self, name: str) -> pd.DataFrame:
        """Return the rows of a table as they stand on the sheet."""
        return self._place(name).frame

    def has(self, name: str, *columns: str) -> bool:
        """Return whether the plan has rows of a table, with these columns."""
        found = _rows(self.content, name)
        return found is not None and len(found) > 0 and set(columns) <= set(found.columns)

    def column(self, name: str, column: str) -> str:
        """Return the range of one column."""
        place = self._place(name)
        letter = self._letter(place, column)
        return f"{QUOTED}!${letter}${place.first}:${letter}${place.last}"

    def cell(self, name: str, row: int, column: str) -> str:
        """Return the cell of one row (counted from 0) and column."""
        place = self._place(name)
        return f"{QUOTED}!${self._letter(place, column)}${place.first + row}"

    def _place(self, name: str) -> Placed:
        if name not in self.placed:
            found = _rows(self.content, name)
            frame = pd.DataFrame() if found is None else _typed(found)
            place = Placed(frame, self.next_row + 1)
            self.placed[name] = place
            self.next_row = place.last + 2
        return self.placed[name]

    def _letter(self, place: Placed, column: str) -> str:
        if column not in place.columns:
            place.columns.append(column)
        return str(get_column_letter(1 + place.columns.index(column)))


def _rows(content: Content, name: str) -> pd.DataFrame | None:
    if name == HEADLINE:
        numbers = {
            key: value
            for key, value in content.headline.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
        finance = content.headline.get("finance") or {}
        numbers |= {key: value for key, value in finance.items() if isinstance(value, int | float)}
        return pd.DataFrame({"key": list(numbers), "value": list(numbers.values())})
    found = content.frames.get(name)
    return content.tables.get(name.removeprefix("input ")) if found is None else found


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows from 0, truth values read from a file as text made true or false again."""
    fresh = frame.reset_index(drop=True)
    for name in fresh.columns:
        texts = set(fresh[name].astype(str)) if fresh[name].dtype == object else set()
        if texts and texts <= {"True", "False"}:
            fresh[name] = fresh[name].astype(str).eq("True")
    return fresh
