"""Calc: the arithmetic from decisions and inputs to cost, tokens and unit cost as live formulas."""

from __future__ import annotations

from dataclasses import replace

from openpyxl import Workbook
from openpyxl.utils import get_column_letter

from reports.blocks import time_header
from reports.calculation import Calculation
from reports.calculation.inputs import PLANNED_COLUMN, VALUE_COLUMN
from reports.calculation.inputs import SHEET as INPUTS
from reports.calculation.rows import COLUMN, Row
from reports.cells import put, put_formula
from reports.content import Content
from reports.labels import Label
from reports.layout import (
    FIRST_PERIOD_COLUMN,
    TOTAL_COLUMN,
    UNIT_COLUMN,
    Page,
    finish_page,
    start_page,
    widen,
)

PURPOSE = (
    "Change a price, a rate or a tariff on the sheet Inputs and cost follows here. Decisions (plan values) "
    "stay as planned: the plan is not re-optimised."
)
PLANNED_SHEET = "Calc as planned"
PLANNED_PURPOSE = (
    "The formulas of the sheet Calc over the inputs as they were planned: what the plan's ledger is checked against, "
    "whatever is changed on the sheet Inputs."
)
OWN_CONSTANT = "{H}"
HEADERS = {
    "label": Label("Row", width=38),
    "item": Label("Item", width=24),
    "place": Label("Place", width=16),
    "kind": Label("Kind", width=11),
    "basis": Label("How, or from which table", width=30),
    "note": Label("", width=2),
}


def fill(book: Workbook, content: Content, calculation: Calculation) -> None:
    """Write the rows."""
    page = start_page(book, content, "Calc", "calculation", PURPOSE)
    time_header(page, ["label", "item", "place", "kind", "basis"], "Total or constant", HEADERS)
    widen(page, TOTAL_COLUMN, 17)
    for row in calculation.rows:
        _write(page, row)
        page.row += 1
    finish_page(page, "I6")


def fill_as_planned(book: Workbook, content: Content, calculation: Calculation) -> None:
    """Write the same formulas over the inputs as they were planned; plan values are those of the sheet Calc.

    What the optimiser found is compared with this sheet, so a changed input never hides a wrong formula.
    """
    page = start_page(book, content, PLANNED_SHEET, "calculation", PLANNED_PURPOSE)
    time_header(page, ["label", "item", "place", "kind", "basis"], "Total or constant", HEADERS)
    widen(page, TOTAL_COLUMN, 17)
    for row in calculation.rows:
        _write(page, _as_planned(row, page.row))
        page.row += 1
    page.sheet.protection.sheet = True
    finish_page(page, "I6")


def _as_planned(row: Row, number: int) -> Row:
    """Return a row that reads the column of planned values, and takes what is no formula from Calc."""
    if row.kind == "plan value":
        kept = row.constant if isinstance(row.constant, str) else f"Calc!{OWN_CONSTANT}"
        return replace(row, kind="formula", formula=f"Calc!{COLUMN}{number}", constant=kept, values=())
    constant = row.constant if not isinstance(row.constant, str) else _planned(row.constant)
    return replace(row, formula=_planned(row.formula), constant=constant)


def _planned(formula: str) -> str:
    return formula.replace(f"{INPUTS}!${VALUE_COLUMN}$", f"{INPUTS}!${PLANNED_COLUMN}$")


def _write(page: Page, row: Row) -> None:
    sheet, number = page.sheet, page.row
    if row.kind == "section":
        for column in range(1, FIRST_PERIOD_COLUMN + len(page.content.timeline.names)):
            cell = put(sheet, number, column, row.label if column == 1 else " ", "section")
            if column > 1:
                cell.value = None
        return
    text = "total label" if row.kind == "total" else "text"
    for column, value in enumerate((row.label, row.item, row.place, row.kind, row.basis), start=1):
        cell = put(sheet, number, column, value or " ", text)
        if not value:
            cell.value = None
    put(sheet, number, UNIT_COLUMN, row.unit, text)
    style = {"plan value": "plan", "formula": "calculation", "total": "calculation total"}[row.kind]
    _constant(page, row, style)
    for offset in range(len(page.content.timeline.names)):
        column = FIRST_PERIOD_COLUMN + offset
        if row.kind == "plan value":
            put(sheet, number, column, row.values[offset], style, row.form)
        elif row.formula:
            put_formula(sheet, number, column, resolved(row.formula, number, column), style, row.form)


def _constant(page: Page, row: Row, style: str) -> None:
    number, form = page.row, row.constant_form or row.form
    if row.constant == "sum":
        first = get_column_letter(FIRST_PERIOD_COLUMN)
        last = get_column_letter(FIRST_PERIOD_COLUMN + len(page.content.timeline.names) - 1)
        shown = "calculation" if row.kind == "plan value" else style
        put_formula(page.sheet, number, TOTAL_COLUMN, f"SUM({first}{number}:{last}{number})", shown, form)
    elif isinstance(row.constant, str) and row.constant:
        put_formula(
            page.sheet, number, TOTAL_COLUMN, resolved(row.constant, number, TOTAL_COLUMN), style, form
        )
    elif not isinstance(row.constant, str):
        put(page.sheet, number, TOTAL_COLUMN, row.constant, "plan", form)


def resolved(formula: str, row: int, column: int) -> str:
    """Return a formula with the column letter and the row's own constant put in.

    >>> resolved("{col}7*{H}", 9, 10)
    'J7*$H9'
    """
    own = f"${get_column_letter(TOTAL_COLUMN)}{row}"
    return formula.replace(COLUMN, get_column_letter(column)).replace(OWN_CONSTANT, own)
