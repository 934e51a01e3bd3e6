"""Inputs: the cells the sheet Calc reads, and a list of all input tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from openpyxl import Workbook
from openpyxl.formatting.rule import FormulaRule
from openpyxl.styles import Font, PatternFill, Protection
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation

from planner.tables import TABLES
from reports.calculation import Calculation
from reports.calculation.inputs import FIRST_ROW, LiveInput
from reports.cells import put, put_formula
from reports.content import Content
from reports.labels import Label, words
from reports.layout import Page, finish_page, header_row, link, section, start_page
from reports.names import define
from reports.sheets.input_tables import sheet_name
from reports.styles import FAIL_FILL

PURPOSE = (
    "Change a yellow cell: Calc and Checks follow, the plan does not. To plan again with the new value give "
    "column A to the option --set of `planner solve`. A value that is not allowed is refused, or shown in red."
)
LABELS = (
    Label("Path", width=40),
    Label("Item", width=26),
    Label("What it is", width=46),
    Label("Unit", width=22),
    Label("Value", width=16),
    Label("Value as planned", width=16),
    Label("Changed", width=9),
    Label("Currency", width=10),
    Label("Source", width=26),
    Label("Source date", width=13),
    Label("Confidence", width=12),
    Label("Least allowed", width=13),
    Label("Most allowed", width=13),
    Label("Not allowed", width=11),
)
VALUE_COLUMN, CHANGED_COLUMN, LEAST_COLUMN, MOST_COLUMN, REFUSED_COLUMN = 5, 7, 12, 13, 14
NO_LIMIT = "none"
FINE = "#,##0.########"


def fill(
    book: Workbook, content: Content, calculation: Calculation | None, tables: Mapping[str, pd.DataFrame]
) -> None:
    """Write the live inputs (when there is a plan) and the list of tables.

    Parameters
    ----------
    tables
        Rows shown of each input table that has a sheet.
    """
    page = start_page(book, content, "Inputs", "input", PURPOSE if calculation else "All input tables.")
    if calculation:
        header_row(page, LABELS)
        _live_inputs(book, page, calculation.inputs)
        _flags(page, FIRST_ROW, page.row - 1)
        page.sheet.protection.sheet = True
        page.sheet.protection.formatColumns = False
    _tables(page, tables)
    finish_page(page, "A6")


def _live_inputs(book: Workbook, page: Page, inputs: Sequence[LiveInput]) -> None:
    for live in inputs:
        texts = (live.path, live.item, live.meaning, live.unit)
        for column, text in enumerate(texts, start=1):
            put(page.sheet, page.row, column, text or "–", "text")
        # A unit factor is no input: changing it would be an error, so it does not look like a cell to change.
        put(page.sheet, page.row, 5, live.value, "plan" if live.constant else "input", FINE)
        put(page.sheet, page.row, 6, live.value, "plan", FINE)
        put_formula(
            page.sheet, page.row, CHANGED_COLUMN, f"IF(E{page.row}=F{page.row},0,1)", "calculation", "0"
        )
        for column, text in enumerate(
            (live.currency, live.source, live.source_date, live.confidence), start=8
        ):
            put(page.sheet, page.row, column, text or "–", "text")
        if not live.constant:
            _limits(page, live)
        if live.name:
            define(book, live.name, f"{page.name}!$E${page.row}", live.meaning)
        page.row += 1


def _limits(page: Page, live: LiveInput) -> None:
    """Write the limits of an input, refuse what lies outside them, and flag what gets in all the same."""
    sheet, row = page.sheet, page.row
    cell = sheet.cell(row, VALUE_COLUMN)
    tests = []
    for column, limit, sign in (
        (LEAST_COLUMN, live.low, ">" if live.above_low else ">="),
        (MOST_COLUMN, live.high, "<="),
    ):
        put(sheet, row, column, NO_LIMIT if limit is None else limit, "plan", FINE)
        if limit is not None:
            edge = f"${get_column_letter(column)}${row}"
            tests.append(f"{cell.coordinate}{sign}{edge}")
    inside = f"IF({tests[0]},0,1)" if len(tests) == 1 else f"IF(AND({','.join(tests)}),0,1)" if tests else "0"
    put_formula(sheet, row, REFUSED_COLUMN, f"IF(ISNUMBER({cell.coordinate}),{inside},1)", "calculation", "0")
    rule = DataValidation(type="custom", allow_blank=False, showErrorMessage=True, errorStyle="stop")
    rule.formula1 = f"AND({','.join([f'ISNUMBER({cell.coordinate})', *tests])})"
    rule.errorTitle = "Not allowed"
    rule.error = _said(live)[:225]
    sheet.add_data_validation(rule)
    rule.add(cell)
    cell.protection = Protection(locked=False)


def _said(live: LiveInput) -> str:
    """Return what may be entered, in words."""
    sides = [f"{'above' if live.above_low else 'from'} {live.low:g}"] if live.low is not None else []
    sides += [f"to {live.high:g}"] if live.high is not None else []
    unit = f" ({live.unit})" if live.unit else ""
    return f"A number {' '.join(sides)}{unit}, not blank.".replace("number  (", "number (")


def _flags(page: Page, first: int, last: int) -> None:
    """Show a refused value in red, and its flag."""
    bad = PatternFill("solid", start_color=FAIL_FILL, end_color=FAIL_FILL)
    refused = get_column_letter(REFUSED_COLUMN)
    for column in (VALUE_COLUMN, REFUSED_COLUMN):
        letter = get_column_letter(column)
        page.sheet.conditional_formatting.add(
            f"{letter}{first}:{letter}{last}",
            FormulaRule(formula=[f"${refused}{first}=1"], fill=bad, font=Font(bold=True, color="9C0006")),
        )


def refused_range(calculation: Calculation) -> str:
    """Return the range of flags of values that may not stand."""
    last, column = FIRST_ROW + len(calculation.inputs) - 1, get_column_letter(REFUSED_COLUMN)
    return f"Inputs!${column}${FIRST_ROW}:${column}${last}"


def changed_range(calculation: Calculation) -> str:
    """Return the range of change flags."""
    last = FIRST_ROW + len(calculation.inputs) - 1
    return f"Inputs!$G${FIRST_ROW}:$G${last}"


def _tables(page: Page, tables: Mapping[str, pd.DataFrame]) -> None:
    section(page, "Input tables of the scenario, one sheet each", len(LABELS))
    titles = ("Sheet", "Rows shown", "Rows of the table", "What the table holds")
    header_row(page, [Label(text) for text in titles])
    for name, rows in tables.items():
        link(page, sheet_name(name))
        put(page.sheet, page.row, 2, len(rows), "text")
        put(page.sheet, page.row, 3, len(page.content.table(name)), "text")
        put(page.sheet, page.row, 4, words(TABLES[name].meaning), "note")
        page.row += 1
