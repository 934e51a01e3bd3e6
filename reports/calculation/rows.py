"""What a row of the sheet Calc is: a value of the plan, a formula, or a title."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd
from openpyxl.utils import get_column_letter

from planner.tables.cost_lines import COST_LINE
from reports import styles
from reports.calculation.inputs import LiveInputs
from reports.content import Content
from reports.labels import words
from reports.layout import FIRST_PERIOD_COLUMN, HEADER_ROW, TOTAL_COLUMN

COLUMN = "{col}"
"""Stands in a formula for the letter of the period's own column."""

Kind = Literal["section", "plan value", "formula", "total"]
Timing = Literal["start", "mid", "end"]


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes
    ----------
    kind
        ``section`` is a title, ``plan value`` holds numbers of the plan, ``formula`` and ``total`` formulas.
    label, item, place, basis, unit
        Descriptors.
    form
        Number format.
    values
        Numbers per period (plan value only).
    formula
        Formula per period with ``{col}`` for the column; empty for none.
    constant
        Formula or number of column H; ``sum`` adds the periods, empty leaves the cell empty.
    constant_form
        Number format of column H where it differs.
    """

    kind: Kind
    label: str
    item: str = ""
    place: str = ""
    basis: str = ""
    unit: str = ""
    form: str = styles.MONEY_PLAIN
    values: tuple[float, ...] = ()
    formula: str = ""
    constant: str | float = ""
    constant_form: str = ""


@dataclass(frozen=True, slots=True)
class At:
    """Where a row stands, for formulas of other rows."""

    row: int
    periods: int

    @property
    def here(self) -> str:
        """Return the cell of the same period."""
        return f"{COLUMN}{self.row}"

    @property
    def constant(self) -> str:
        """Return the cell of column H."""
        return f"${get_column_letter(TOTAL_COLUMN)}${self.row}"

    @property
    def across(self) -> str:
        """Return the range of all periods."""
        last = FIRST_PERIOD_COLUMN + self.periods - 1
        return f"${get_column_letter(FIRST_PERIOD_COLUMN)}${self.row}:${get_column_letter(last)}${self.row}"


@dataclass
class Rows:
    """The rows of the sheet, collected from top to bottom.

    Attributes
    ----------
    lines
        Cost line -> rows that hold its amounts by period, with the timing of the payment.
    """

    content: Content
    inputs: LiveInputs
    found: list[Row] = field(default_factory=list)
    lines: dict[str, list[tuple[At, Timing]]] = field(default_factory=dict)

    @property
    def periods(self) -> int:
        """Return the number of periods."""
        return len(self.content.timeline.names)

    def add(self, row: Row) -> At:
        """Append a row and return where it stands."""
        self.found.append(row)
        return At(HEADER_ROW + len(self.found), self.periods)

    def title(self, text: str) -> None:
        """Append a section title."""
        self.add(Row("section", text))

    def plan_values(
        self,
        label: str,
        item: str,
        place: str,
        basis: str,
        unit: str,
        values: Sequence[float] | np.ndarray | pd.Series,
        form: str = styles.QUANTITY,
        total: bool = True,
    ) -> At:
        """Append numbers of the plan, one per period."""
        numbers = tuple(float(value) for value in values)
        return self.add(
            Row("plan value", label, item, place, basis, unit, form, numbers, constant="sum" if total else "")
        )

    def formula(
        self,
        label: str,
        item: str,
        place: str,
        basis: str,
        unit: str,
        formula: str,
        constant: str | float = "sum",
        form: str = styles.MONEY_PLAIN,
        constant_form: str = "",
    ) -> At:
        """Append a formula that is the same in every period."""
        return self.add(
            Row(
                "formula",
                label,
                item,
                place,
                basis,
                unit,
                form,
                formula=formula,
                constant=constant,
                constant_form=constant_form,
            )
        )

    def sum_of(
        self, label: str, parts: Sequence[At], unit: str, form: str = styles.MONEY_PLAIN, basis: str = ""
    ) -> At:
        """Append the sum of rows that stand below each other."""
        formula = f"SUM({COLUMN}{parts[0].row}:{COLUMN}{parts[-1].row})"
        return self.add(
            Row("total", label, basis=basis, unit=unit, form=form, formula=formula, constant="sum")
        )

    def _risen(self, line: str, today: At, label: str, unit: str) -> At:
        """Append a cost line at the prices of its periods where it rises by a setting; else return it as it is."""
        group = COST_LINE[line].escalates if line in COST_LINE else None
        settings = self.content.settings
        name = f"{group}_escalation_fraction_per_year"
        real = settings["money_terms"] == "real"
        rise = float(settings.get(name) or 0.0)
        inflation = float(settings["inflation_fraction_per_year"]) if real else 0.0
        if group is None or (not rise and not inflation):
            return today
        meaning = f"yearly rise: {words(group)}"
        level = f"(1+{self.inputs.setting(name, meaning, rise)})"
        if real:
            said = self.inputs.setting("inflation_fraction_per_year", "inflation per year", inflation)
            level = f"{level}*(1+{said})"
        years = self.plan_values(
            "Start of the period",
            "",
            "",
            "",
            "years",
            self.content.timeline.start_years,
            "0.0000",
            total=False,
        )
        return self.formula(
            f"{label}, at the prices of the period",
            "",
            "",
            "today x (1 + rise) ^ years",
            unit,
            f"{today.here}*({level})^{years.here}",
        )

    def line_total(
        self, line: str, label: str, parts: Sequence[At], timing: Timing, unit: str, at_today: bool = True
    ) -> At:
        """Append the sum of rows that stand below each other and book it as a cost line.

        ``at_today``: the rows are at the prices of the first day, and the line rises where a setting says so.
        """
        basis = {
            "start": "paid at the start",
            "mid": "paid over the period",
            "end": "at the end of the horizon",
        }[timing]
        at = self.sum_of(label, parts, unit, basis=basis)
        at = self._risen(line, at, label, unit) if at_today else at
        self.lines.setdefault(line, []).append((at, timing))
        return at
