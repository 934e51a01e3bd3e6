"""Plan tables: the rows of the plan that the proof adds up, as values."""

from __future__ import annotations

from openpyxl import Workbook

from reports.cells import put
from reports.content import Content
from reports.layout import finish_page, start_page
from reports.proof import PlanTables
from reports.proof.plan_tables import SHEET

PURPOSE = "The plan's own tables as the optimiser wrote them, the columns that the sheet Proof adds up."


def fill(book: Workbook, content: Content, tables: PlanTables) -> None:
    """Write every table where its formulas expect it."""
    page = start_page(book, content, SHEET, "calculation", PURPOSE)
    for name, place in tables.placed.items():
        put(page.sheet, place.header - 1, 1, f"Table {name}", "section")
        for offset, name_of_column in enumerate(place.columns):
            put(page.sheet, place.header, 1 + offset, name_of_column, "header")
            for index, value in enumerate(place.frame[name_of_column].tolist()):
                put(page.sheet, place.first + index, 1 + offset, value, "plan")
            page.widths[1 + offset] = 18.0
    page.sheet.protection.sheet = True
    finish_page(page, "A5")
