"""Inputs: the cells the sheet Calc reads, and a list of all input tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from openpyxl import Workbook

from planner.tables import TABLES
from reports.calculation import Calculation
from reports.calculation.inputs import FIRST_ROW, LiveInput
from reports.cells import put, put_formula
from reports.content import Content
from reports.labels import Label, words
from reports.layout import Page, finish_page, header_row, link, section, start_page
from reports.names import define
from reports.sheets.input_tables import sheet_name

PURPOSE = (
    "Change a yellow cell: Calc and Checks follow, the plan does not. To plan again with the new value give "
    "column A to the option --set of `planner solve`."
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
)
CHANGED_COLUMN = 7
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
        if live.name:
            define(book, live.name, f"{page.name}!$E${page.row}", live.meaning)
        page.row += 1


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
