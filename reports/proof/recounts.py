"""Kinds of recount: sums of a plan table by the labels a row shows, or the plan table's own row."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Literal, Protocol

import pandas as pd
from openpyxl.utils import get_column_letter

from reports.cells import plain
from reports.labels import words
from reports.layout import FIRST_PERIOD_COLUMN, TOTAL_COLUMN
from reports.proof.plan_tables import HEADLINE, PlanTables
from reports.proof.reading import Shown

Total = Literal["sum", "most", "last", "overall", "outside", "none"]
Labels = dict[str, Any]
Where = tuple[str, Literal["=", "<>", "in"], str]


@dataclass
class Here:
    """Where a block is computed again on the sheet Proof: same columns, other rows, labels to the right.

    Attributes
    ----------
    shift
        Row on the proof less row on the sheet.
    header
        Row of the repeated header.
    keys
        Row shown -> values of the plan's tables that its labels stand for.
    first_key
        First column of those values.
    """

    shift: int
    header: int
    first_key: int
    keys: dict[int, list[Any]] = field(default_factory=dict)

    def cell(self, row: int, column: int) -> str:
        """Return the proof's own cell of a cell that is shown."""
        return f"{get_column_letter(column)}{row + self.shift}"

    def key(self, row: int, value: Any) -> str:
        """Note a value a label stands for, and return its cell."""
        own = self.keys.setdefault(row, [])
        if value not in own:
            own.append(value)
        return f"${get_column_letter(self.first_key + own.index(value))}{row + self.shift}"


class Recount(Protocol):
    """Anything that gives formulas for cells of a block."""

    def formulas(self, shown: Shown, tables: PlanTables, here: Here) -> dict[tuple[int, int], str]:
        """Return formulas by (row, column) of the sheet; a cell without one keeps its value as planned."""


def is_number(value: object) -> bool:
    """Return whether a cell holds a number or a date (no truth value)."""
    return isinstance(value, int | float | datetime.date) and not isinstance(value, bool)


@dataclass(frozen=True)
class Sums:
    """Sums of one column (or of a product of columns) of a plan table, by label and period.

    Attributes
    ----------
    table, values
        Plan table, and the columns that are multiplied and added.
    by
        Header shown -> column of the table; without any, all rows are added.
    where
        Further conditions on rows of the table: column, comparison, value.
    total
        What column H holds: the sum, the most or the last of the periods, the same sum over all periods, the sum
        over what falls in none of them, something else, or sums of its own.
    over
        Sums to divide by.
    plus
        Sums to add.
    per
        Number to divide by (kWh of a MWh).
    running
        Whether a period holds what the periods before it hold besides.
    """

    table: str
    values: tuple[str, ...]
    by: Mapping[str, str] = field(default_factory=dict)
    where: tuple[Where, ...] = ()
    total: Total | Sums = "sum"
    over: Sums | None = None
    plus: Sums | None = None
    per: float = 1.0
    running: bool = False

    def there(self, tables: PlanTables) -> bool:
        """Return whether the plan's tables hold what is added."""
        needed = (*self.values, *self.by.values(), *(name for name, *_ in self.where))
        parts = [part for part in (self.over, self.plus, self.total) if isinstance(part, Sums)]
        return tables.has(self.table, *needed) and all(part.there(tables) for part in parts)

    def formulas(self, shown: Shown, tables: PlanTables, here: Here) -> dict[tuple[int, int], str]:
        """Return the sums of every row; a row whose label no table row has is the rest of all."""
        if not self.there(tables) or not set(self.by) <= set(shown.heads):
            return {}
        found: dict[tuple[int, int], str] = {}
        periods = range(FIRST_PERIOD_COLUMN, FIRST_PERIOD_COLUMN + len(tables.content.timeline.names))
        above: list[int] = []
        for row in range(shown.first, shown.last + 1):
            labels = None if shown.is_sum(row) else labels_of(self, shown, tables, row)
            for column in (TOTAL_COLUMN, *periods):
                if not is_number(shown.value(row, column)):
                    continue
                if shown.is_sum(row):
                    text = _added(here, shown.first, row - 1, column)
                elif column == TOTAL_COLUMN:
                    text = self._end(tables, here, row, labels, periods)
                else:
                    text = self.text(tables, here, row, labels, f"{get_column_letter(column)}${here.header}")
                    if self.running and column > periods[0]:
                        text = f"{here.cell(row, column - 1)}+{text}"
                if labels is None and not shown.is_sum(row) and above and text:
                    text += f"-{_added(here, above[0], above[-1], column)}"
                if text:
                    found[row, column] = text
            above.append(row)
        return found

    def _end(self, tables: PlanTables, here: Here, row: int, labels: Labels | None, periods: range) -> str:
        span = f"{here.cell(row, periods[0])}:{here.cell(row, periods[-1])}"
        if isinstance(self.total, Sums):
            return self.total.text(tables, here, row, labels)
        if self.total == "sum" and labels is None:
            return self.text(tables, here, row, None)
        return {
            "sum": f"SUM({span})",
            "most": f"MAX({span})",
            "last": here.cell(row, periods[-1]),
            "overall": self.text(tables, here, row, labels),
            "outside": f"{self.text(tables, here, row, labels)}-SUM({span})",
            "none": "",
        }[self.total]

    def text(
        self, tables: PlanTables, here: Here, row: int, labels: Labels | None = None, period: str = ""
    ) -> str:
        """Return the formula of one cell: rows with these labels, of one period (a cell with its name) or of all."""
        text = self._sum(tables, here, row, labels, period)
        if self.plus:
            text = f"({text}+{self.plus.text(tables, here, row, labels, period)})"
        if self.per != 1.0:
            text += f"/{here.key(row, self.per)}"
        return text if self.over is None else f"{text}/{self.over.text(tables, here, row, labels, period)}"

    def _sum(self, tables: PlanTables, here: Here, row: int, labels: Labels | None, period: str) -> str:
        known = set(self.by.values())
        tests = [
            f"({tables.column(self.table, column)}={here.key(row, value)})"
            for column, value in (labels or {}).items()
            if column in known
        ]
        tests += [_test(tables.column(self.table, name), sign, value) for name, sign, value in self.where]
        if period:
            tests.append(f"({tables.column(self.table, 'period')}={period})")
        amounts = [tables.column(self.table, name) for name in self.values]
        if not tests:
            return f"SUM({amounts[0]})" if len(amounts) == 1 else f"SUMPRODUCT({','.join(amounts)})"
        mask = "*".join(tests) if len(tests) > 1 else f"{tests[0]}*1"
        return f"SUMPRODUCT({mask},{','.join(amounts)})"


def labels_of(sums: Sums, shown: Shown, tables: PlanTables, row: int) -> Labels | None:
    """Return the table's values that a row's labels stand for; None where a label stands for the rest."""
    labels = {}
    for head, column in sums.by.items():
        value = meant(tables, sums.table, column, shown.value(row, shown.heads[head]))
        if value is None:
            return None
        labels[column] = value[0]
    return labels


def _added(here: Here, first: int, last: int, column: int) -> str:
    return f"SUM({here.cell(first, column)}:{here.cell(last, column)})"


def _test(cells: str, sign: str, value: str) -> str:
    """Return the test of a column against a word, or against any of several words."""
    if sign != "in":
        return f'({cells}{sign}"{value}")'
    return "(" + "+".join(f'({cells}="{word}")' for word in value.split(";")) + ")"


def meant(tables: PlanTables, table: str, column: str, text: object) -> tuple[Any] | None:
    """Return the value of a table's column that a label shows (in words, or as it is), None without one."""
    for value in tables.frame(table)[column].drop_duplicates():
        shown = plain(value)
        if text in (shown, words(str(value))) or (pd.isna(value) and text in ("–", f"no {column}")):
            return (shown,)
    return None


@dataclass(frozen=True)
class Listed:
    """Rows of a plan table, in whatever order: every number is the table's own cell.

    Attributes
    ----------
    table
        Plan table. Its columns are found by the header that the sheets give a column, then by their values.
    """

    table: str

    def formulas(self, shown: Shown, tables: PlanTables, here: Here) -> dict[tuple[int, int], str]:
        """Return the cell of the table row that a shown row stands for."""
        if not tables.has(self.table):
            return {}
        columns = _columns_shown(shown, tables.frame(self.table))
        if not columns:
            return {}
        places: dict[tuple[object, ...], list[int]] = {}
        rows = tables.frame(self.table)[list(columns.values())].itertuples(index=False)
        for index, values in enumerate(rows):
            places.setdefault(tuple(_word(plain(value)) for value in values), []).append(index)
        found = {}
        for row in range(shown.first, shown.last + 1):
            own = places.get(tuple(_word(shown.value(row, column)) for column in columns))
            if not own:
                continue
            index = own.pop(0) if len(own) > 1 else own[0]
            for column, name in columns.items():
                if is_number(shown.value(row, column)):
                    found[row, column] = tables.cell(self.table, index, name)
        return found


def _columns_shown(shown: Shown, frame: pd.DataFrame) -> dict[int, str]:
    """Return column shown -> column of the table: of those that hold every value shown, the likest by name."""
    held = {str(name): {_word(plain(value)) for value in frame[name]} for name in frame.columns}
    found: dict[int, str] = {}
    for head, column in shown.heads.items():
        rows = [row for row in range(shown.first, shown.last + 1) if not shown.is_sum(row)]
        values = [_word(shown.value(row, column)) for row in rows]
        fit = [name for name, values_held in held.items() if set(values) <= values_held]
        fit = [name for name in fit if name not in found.values()]
        if fit:
            found[column] = max(fit, key=lambda name: _likeness(head, name))
    return found


def _likeness(head: str, name: str) -> float:
    text = head.split("[")[0].strip().lower()
    return SequenceMatcher(None, text, words(name).lower()).ratio()


@dataclass(frozen=True)
class Measures:
    """Measures in rows, places or views in columns: each row has sums of its own, the column's header is a label.

    Attributes
    ----------
    column
        Column of the tables that the headers stand for.
    first
        First column with numbers.
    sums
        Text of the first column -> its sums.
    other
        Sums of any other row, whose first column is a label by the first of its ``by``.
    """

    column: str
    first: int
    sums: Mapping[str, Sums]
    other: Sums | None = None

    def formulas(self, shown: Shown, tables: PlanTables, here: Here) -> dict[tuple[int, int], str]:
        """Return the formula of every cell whose row and column are known."""
        found = {}
        heads = {column: head for head, column in shown.heads.items() if column >= self.first}
        for row in range(shown.first, shown.last + 1):
            text = str(shown.value(row, 1)).strip()
            sums = self.sums.get(text, self.other)
            if sums is None or shown.is_sum(row) or not sums.there(tables):
                continue
            labels: Labels = {}
            own = next((name for name in sums.by.values() if name != self.column), None)
            value = meant(tables, sums.table, own, text) if own else None
            if own and value is None:
                continue
            for column, head in heads.items():
                place = meant(tables, sums.table, self.column, head.split(" [")[0])
                if place and is_number(shown.value(row, column)):
                    labels = {self.column: place[0]} | ({own: value[0]} if own and value else {})
                    found[row, column] = sums.text(tables, here, row, labels)
        return found


@dataclass(frozen=True)
class Headline:
    """Headline numbers by their key: from the ledger and the tokens where they are sums of it, else as in plan.json."""

    sums: Mapping[str, Sums]
    ratios: Mapping[str, tuple[str, str]]
    parts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Unit cost -> the part of the cost that is for its output (``cost_by_workload``), and that output.

    Where tokens and requests without lengths are both served; where one is, all of the cost is for it."""

    def formulas(self, shown: Shown, tables: PlanTables, here: Here) -> dict[tuple[int, int], str]:
        """Return the formula of column C of every row."""
        rows = {str(shown.value(row, 2)): row for row in range(shown.first, shown.last + 1)}
        stated = {str(key): place for place, key in enumerate(tables.frame(HEADLINE)["key"])}
        found = {}
        for key, row in rows.items():
            if not is_number(shown.value(row, 3)):
                continue
            if key in self.parts and set(self.parts) <= set(rows):
                basis, output = self.parts[key]
                own = Sums("cost_by_workload", ("discounted",), where=(("basis", "=", basis),))
                found[row, 3] = f"({own.text(tables, here, row)})/{here.cell(rows[output], 3)}"
            elif key in self.ratios and set(self.ratios[key]) <= set(rows):
                above, below = (here.cell(rows[name], 3) for name in self.ratios[key])
                found[row, 3] = f"IF({below}=0,0,{above}/{below})"
            elif key in self.sums and self.sums[key].there(tables):
                found[row, 3] = self.sums[key].text(tables, here, row)
            elif key in stated:
                found[row, 3] = tables.cell(HEADLINE, stated[key], "value")
        return found


def _word(value: object) -> object:
    if isinstance(value, datetime.datetime):
        return value.date() if value.time() == datetime.time(0) else value
    return words(value) if isinstance(value, str) else value
