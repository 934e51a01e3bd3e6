"""One sheet per input table, as values; large library tables show the rows this plan can use."""

from __future__ import annotations

import pandas as pd
from openpyxl import Workbook

from planner.tables import TABLES
from reports.blocks import filter_block, list_block
from reports.content import Content
from reports.labels import declared_label
from reports.layout import finish_page, note, start_page


def sheet_name(table: str) -> str:
    """Return the name of a table's sheet."""
    return f"Input {table}"


def fill(book: Workbook, content: Content, name: str, rows: pd.DataFrame) -> None:
    """Write rows of one table: the columns that hold something, with their declared units."""
    table = TABLES[name]
    left_out = len(content.table(name)) - len(rows)
    meaning = f"{table.meaning[:1].upper()}{table.meaning[1:]}"
    purpose = f"{meaning}. A record of what was planned with: change values on the sheet Inputs."
    page = start_page(book, content, sheet_name(name), "input", purpose, title=f"Input table {name}")
    columns = [
        column.name
        for column in table.columns
        if column.name in table.key or (column.name in rows and not _blank(rows[column.name]))
    ]
    labels = {column: declared_label(table[column]) for column in columns}
    filter_block(page, list_block(page, rows, columns, labels))
    page.row += 1
    if left_out:
        note(page, f"{left_out} rows of the catalogue that this plan does not use are left out.")
    unused = [column.name for column in table.columns if column.name not in columns]
    if unused:
        note(page, f"Columns without any value: {', '.join(unused)}.")
    finish_page(page, "B6")


def _blank(values: pd.Series) -> bool:
    if values.dtype == bool:
        return not values.any()
    return all(
        value is None or value == () or value == "" or (not isinstance(value, tuple) and pd.isna(value))
        for value in values
    )
