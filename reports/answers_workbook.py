"""Answers to questions about a plan, as a workbook: a sheet with a table per question, charts where one helps."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from openpyxl import Workbook

from reports import styles
from reports.cells import put
from reports.content import content_of
from reports.labels import Label, words
from reports.layout import Block, Page, finish_page, header_row, note, start_page
from reports.workbook import save_workbook

if TYPE_CHECKING:
    from planner.analysis.inquiry import Answers
    from planner.plan import Plan

Draw = Callable[[Page, Block, str, pd.DataFrame], None]
"""Draws what helps beside the table of a question: page, where the table stands, question, table."""
NumberFormat = Callable[[str, object], str]
"""Number format of a column's cell with a number in it."""
Naming = Callable[[str, str], Label]
"""Label of a column of a question: header, unit, number format, least width."""

TITLES = {"mw_value": "MW value"}
"""Questions whose title is not their words."""
ONE_PAGE = 45
"""Rows that still print legibly on one page with their chart."""
WIDTH, TEXT_WIDTH, LONG_TEXT = 16.0, 42.0, 20


def title_of(question: str) -> str:
    """Return the sheet and title of a question.

    >>> title_of("mw_value"), title_of("plan_costs")
    ('MW value', 'Plan costs')
    """
    return TITLES.get(question, words(question))


def write_answers(
    plan: Plan,
    found: Answers,
    path: str | Path,
    draw: Draw,
    number_format: NumberFormat,
    written_on: datetime.date | None = None,
    naming: Naming | None = None,
) -> Path:
    """Write one sheet per question and return the path of the workbook.

    Parameters
    ----------
    plan
        The plan that was asked about.
    found
        The answers.
    path
        File to write; an existing one is replaced.
    draw, number_format
        What is drawn beside a table; how its numbers are shown.
    naming
        Labels of the columns; without it, a column's own name in words.
    """
    content = content_of(plan, written_on)
    book = Workbook()
    book.remove(book.worksheets[0])
    styles.register(book)
    moment = datetime.datetime.combine(content.written_on, datetime.time())
    book.properties.created = book.properties.modified = moment
    names = {question: title_of(question) for question in found.tables}
    for name in names.values():
        book.create_sheet(name)
    for question, table in found.tables.items():
        page = start_page(book, content, names[question], "output", found.notes[question])
        if table.empty:
            note(page, "Nothing of this kind.")
            finish_page(page)
            continue
        block = table_block(page, table, number_format, question, naming)
        draw(page, block, question, table)
        if len(table) <= ONE_PAGE:
            page.sheet.page_setup.fitToHeight = 1
        finish_page(page, f"B{block.first}")
    return save_workbook(book, path)


def table_block(
    page: Page,
    table: pd.DataFrame,
    number_format: NumberFormat,
    question: str = "",
    naming: Naming | None = None,
) -> Block:
    """Write a frame as a list and return where it stands."""
    names = [str(name) for name in table.columns]
    labels = [naming(question, name) if naming else Label(words(name), width=0.0) for name in names]
    labels = [
        replace(label, width=max(label.width, _width(table[name])))
        for label, name in zip(labels, table.columns, strict=True)
    ]
    forms = {name: label.form for name, label in zip(names, labels, strict=True)}
    header = header_row(page, labels)
    first = page.row
    for record in table.itertuples(index=False):
        for column, (name, value) in enumerate(zip(names, record, strict=True), start=1):
            style, form = _style(name, value, number_format)
            put(page.sheet, page.row, column, value, style, (style == "number" and forms[name]) or form)
        page.row += 1
    return Block(page.name, header, first, page.row - 1, {name: at for at, name in enumerate(names, start=1)})


def with_numbers(table: pd.DataFrame, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns that are there and hold anything."""
    return tuple(name for name in columns if name in table and table[name].notna().any())


def _style(name: str, value: object, number_format: NumberFormat) -> tuple[str, str]:
    if isinstance(value, pd.Timestamp):
        return "number", styles.DATE
    if not isinstance(value, (int, float, np.number)) or isinstance(value, bool | np.bool_):
        return "text", ""
    return "number", number_format(name, value)


def _width(column: pd.Series) -> float:
    text = column[column.map(lambda cell: isinstance(cell, str))]
    return TEXT_WIDTH if len(text) and text.str.len().max() > LONG_TEXT else WIDTH
