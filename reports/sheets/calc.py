"""Calc: the arithmetic from decisions and inputs to cost, tokens and unit cost as live formulas."""

from __future__ import annotations

import re
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
    HEADER_ROW,
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
TOLERANCE, ABSOLUTE = "Checks!$C$9", "Checks!$C$10"
HERE = re.compile(re.escape(COLUMN) + r"(\d+)")
"""A cell of the period's own column in a formula."""
LONGEST_FORMULA = 8_000
"""Excel takes formulas of at most 8,192 characters."""
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
    _check_heads(page)
    for row in calculation.rows:
        _write(page, row)
        _whole_row(page, row)
        page.row += 1
    finish_page(page, "I6")


def differ_range(content: Content, calculation: Calculation) -> str:
    """Return the flags of rows whose cells differ from the row computed as a whole."""
    column = get_column_letter(_check_column(content) + 1)
    return f"Calc!${column}${HEADER_ROW + 1}:${column}${HEADER_ROW + len(calculation.rows)}"


def _check_column(content: Content) -> int:
    return FIRST_PERIOD_COLUMN + len(content.timeline.names) + 1


def _check_heads(page: Page) -> None:
    first = _check_column(page.content)
    for offset, head in enumerate(("Row as a whole", "Cells differ")):
        put(page.sheet, HEADER_ROW, first + offset, head, "header")
        page.sheet.column_dimensions[get_column_letter(first + offset)].width = 15


def _whole_row(page: Page, row: Row) -> None:
    """Write the sum of a row computed in one formula, from the inputs as they are now, and whether its cells differ."""
    text = whole_formula(row, page.row, len(page.content.timeline.names))
    if not text or len(text) > LONGEST_FORMULA:
        return
    column, number = _check_column(page.content), page.row
    whole = put_formula(page.sheet, number, column, text, "calculation", row.form).coordinate
    first, last = _span(len(page.content.timeline.names))
    cells = f"SUM({first}{number}:{last}{number})"
    differ = f"(ABS({cells}-{whole})>{TOLERANCE}*ABS({whole})+{ABSOLUTE})"
    if row.constant == "sum":
        total = f"{get_column_letter(TOTAL_COLUMN)}{number}"
        differ = f"{differ}+(ABS({total}-{whole})>{TOLERANCE}*ABS({whole})+{ABSOLUTE})"
    put_formula(page.sheet, number, column + 1, f"({differ})*1", "calculation", "0")


def whole_formula(row: Row, number: int, periods: int) -> str:
    """Return one formula for the sum of a row over all periods, its constant computed anew; empty for values.

    Products are summed over whole rows at once; where a period's formula chooses (IF, MIN, MAX), period by period.
    """
    if row.kind not in ("formula", "total") or not row.formula:
        return ""
    own = f"${get_column_letter(TOTAL_COLUMN)}{number}"
    constant = f"({row.constant})" if isinstance(row.constant, str) and row.constant != "sum" else own
    text = row.formula.replace(OWN_CONSTANT, constant)
    first, last = _span(periods)
    if text.startswith(f"SUM({COLUMN}"):
        return HERE.sub(rf"${last}\1", HERE.sub(rf"${first}\1", text, count=1))
    if not re.search(r"\b(IF|MIN|MAX|AVERAGE)\(", text):
        across = HERE.sub(rf"${first}\1:${last}\1", text)
        return f"SUMPRODUCT(({across})*1)"
    columns = (get_column_letter(FIRST_PERIOD_COLUMN + offset) for offset in range(periods))
    return "+".join(f"({text.replace(COLUMN, column)})" for column in columns)


def _span(periods: int) -> tuple[str, str]:
    return get_column_letter(FIRST_PERIOD_COLUMN), get_column_letter(FIRST_PERIOD_COLUMN + periods - 1)


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
