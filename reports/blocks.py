"""Blocks of rows: lists (a row per record) and time blocks (a column per period)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from openpyxl.utils import get_column_letter

from reports import styles
from reports.cells import put
from reports.content import Content
from reports.labels import Label, label_of
from reports.layout import (
    DATE_ROW,
    DESCRIPTORS,
    FIRST_PERIOD_COLUMN,
    HEADER_ROW,
    MOST_COLUMN_WIDTH,
    TOTAL_COLUMN,
    UNIT_COLUMN,
    Block,
    Page,
    header_row,
    number_width,
    widen,
    wrapped_lines,
)
from reports.styles import apply


def list_block(
    page: Page,
    frame: pd.DataFrame,
    columns: Sequence[str],
    labels: Mapping[str, Label] | None = None,
    style: str = "text",
    wrap: Sequence[str] = (),
    forms: Mapping[str, Sequence[str]] | None = None,
) -> Block:
    """Write a frame as a list, one row per record, and return where it stands.

    Parameters
    ----------
    columns
        Columns to show, in order.
    labels
        Labels that replace the general ones.
    style
        Cell style of the values.
    wrap
        Columns whose text wraps inside its cell.
    forms
        Column -> number format per row, where rows have different units.
    """
    chosen = [(labels or {}).get(name) or label_of(name) for name in columns]
    header = header_row(page, chosen)
    first = page.row
    per_row = forms or {}
    for offset, (name, label) in enumerate(zip(columns, chosen, strict=True)):
        column = 1 + offset
        cell_style = "wrapped" if name in wrap else "number" if label.form or name in per_row else style
        for index, value in enumerate(frame[name].tolist()):
            form = per_row[name][index] if name in per_row else label.form
            put(page.sheet, first + index, column, value, cell_style, form)
    page.row = first + len(frame)
    _row_heights(page, frame, columns, wrap, first)
    if frame.empty:
        put(page.sheet, page.row, 1, "none", "note")
        page.row += 1
    numbers = {name: 1 + offset for offset, name in enumerate(columns)}
    return Block(page.name, header, first, first + len(frame) - 1, numbers)


def _row_heights(
    page: Page, frame: pd.DataFrame, columns: Sequence[str], wrap: Sequence[str], first: int
) -> None:
    for index in range(len(frame)) if wrap else ():
        lines = 1
        for name in wrap:
            width = min(page.widths[1 + list(columns).index(name)], MOST_COLUMN_WIDTH)
            lines = max(lines, wrapped_lines(str(frame[name].iloc[index]), width))
        if lines > 1:
            page.sheet.row_dimensions[first + index].height = min(3 + 13.0 * lines, 400)


def filter_block(page: Page, block: Block) -> None:
    """Give a list the sheet's filter buttons."""
    if block.last >= block.first:
        right = get_column_letter(max(block.columns.values()))
        left = get_column_letter(min(block.columns.values()))
        page.sheet.auto_filter.ref = f"{left}{block.header}:{right}{block.last}"


def time_header(
    page: Page, descriptors: Sequence[str], total: str, labels: Mapping[str, Label] | None = None
) -> int:
    """Write the header of a block with one column per period, and the start dates above the first one."""
    timeline = page.content.timeline
    chosen = [(labels or {}).get(name) or label_of(name) for name in descriptors]
    chosen += [Label("", width=2)] * (DESCRIPTORS - len(descriptors))
    across = number_width(page.content)
    chosen += [Label("Unit", width=15), Label(total, width=max(across + 1, 15))]
    row = page.row
    if row == HEADER_ROW:
        _start_dates(page)
    for offset, label in enumerate(chosen):
        cell = put(page.sheet, row, 1 + offset, label.text or " ", "header")
        if not label.text:
            cell.value = None
        widen(page, 1 + offset, label.width)
    for offset, name in enumerate(timeline.names):
        put(page.sheet, row, FIRST_PERIOD_COLUMN + offset, name, "header")
        widen(page, FIRST_PERIOD_COLUMN + offset, across)
    page.periods_fixed = True
    page.sheet.row_dimensions[row].height = 30
    page.row += 1
    return row


def _start_dates(page: Page) -> None:
    put(page.sheet, DATE_ROW, TOTAL_COLUMN, "period starts", "note")
    for offset, day in enumerate(page.content.timeline.start_date):
        put(page.sheet, DATE_ROW, FIRST_PERIOD_COLUMN + offset, day, "note", styles.DATE)


def time_block(
    page: Page,
    frame: pd.DataFrame,
    descriptors: Sequence[str],
    unit: str | Sequence[str],
    form: str | Sequence[str],
    total: str = "Total",
    totals: Sequence[object] | None = None,
    labels: Mapping[str, Label] | None = None,
    sum_row: str = "",
    style: str = "number",
) -> Block:
    """Write rows with one value per period and return where they stand.

    Parameters
    ----------
    frame
        Descriptor columns and one column per period of the time line.
    descriptors
        At most six label columns, shown from column A on.
    unit, form
        Unit and number format, one for all rows or one per row.
    total
        Header of column H.
    totals
        Values of column H; the sum over the periods when not given.
    sum_row
        Label of a last row with the sums over all rows; none when empty.
    """
    names = list(page.content.timeline.names)
    header = time_header(page, descriptors, total, labels)
    first = page.row
    values = frame[names]
    rows = len(frame)
    units = [unit] * rows if isinstance(unit, str) else list(unit)
    forms = [form] * rows if isinstance(form, str) else list(form)
    ends: list[Any] = list(values.sum(axis=1)) if totals is None else list(totals)
    for offset, name in enumerate(descriptors):
        for index, value in enumerate(frame[name].tolist()):
            put(page.sheet, first + index, 1 + offset, value if value != "" else "–", "text")
    for column in range(1 + len(descriptors), UNIT_COLUMN):
        for index in range(rows):
            apply(page.sheet.cell(first + index, column), "text")
    for index, row in enumerate(values.to_numpy().tolist()):
        put(page.sheet, first + index, UNIT_COLUMN, units[index], "text")
        put(page.sheet, first + index, TOTAL_COLUMN, ends[index], style, forms[index])
        for offset, value in enumerate(row):
            put(page.sheet, first + index, FIRST_PERIOD_COLUMN + offset, value, style, forms[index])
    page.row = first + rows
    if rows == 0:
        put(page.sheet, page.row, 1, "none", "note")
        page.row += 1
    elif sum_row:
        _sum_row(page, sum_row, units[0], forms[0], [sum(ends), *values.sum(axis=0)])
    numbers = {name: 1 + offset for offset, name in enumerate(descriptors)}
    numbers |= {name: FIRST_PERIOD_COLUMN + offset for offset, name in enumerate(names)}
    numbers |= {"total": TOTAL_COLUMN}
    return Block(page.name, header, first, first + rows - 1, numbers)


def _sum_row(page: Page, label: str, unit: str, form: str, values: Sequence[float]) -> None:
    for column in range(1, UNIT_COLUMN):
        cell = put(page.sheet, page.row, column, label, "total label")
        if column > 1:
            cell.value = None
    put(page.sheet, page.row, UNIT_COLUMN, unit, "total label")
    for offset, value in enumerate(values):
        put(page.sheet, page.row, TOTAL_COLUMN + offset, value, "total", form)
    page.row += 1


def time_columns(content: Content) -> int:
    """Return the number of columns of a time sheet."""
    return FIRST_PERIOD_COLUMN + len(content.timeline.names) - 1
