"""What a buyer asks before signing, as a workbook: a sheet with a table per question, charts where one helps."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from openpyxl import Workbook

from reports import charts, styles
from reports.cells import put
from reports.content import content_of
from reports.labels import Label, words
from reports.layout import Block, Page, finish_page, header_row, note, start_page
from reports.workbook import save_workbook

if TYPE_CHECKING:
    from planner.analysis.decisions import Decisions
    from planner.plan import Plan

CHARTS = {
    "break_even": ("offer", ("change_fraction",), "change of the price"),
    "cases": ("case", ("change",), "{currency}, present value"),
    "cost_of_delay": ("no_order_before", ("costs",), "{currency}, present value"),
    "supply_cut": ("vendor", ("costs",), "{currency}, present value"),
}
"""Question -> column of the groups, columns of the series, title of the value axis."""
MONEY = {"cost", "change", "costs", "commitment_after_horizon", "waiting_costs"}
WIDTH, TEXT_WIDTH, LONG_TEXT = 15.0, 40.0, 18


def write_decisions_workbook(
    plan: Plan, found: Decisions, path: str | Path, written_on: datetime.date | None = None
) -> Path:
    """Write the decisions of a plan as a workbook and return its path.

    Parameters
    ----------
    plan
        The plan that was asked about.
    found
        Its decisions.
    path
        File to write; an existing one is replaced.
    """
    content = content_of(plan, written_on)
    book = Workbook()
    book.remove(book.worksheets[0])
    styles.register(book)
    moment = datetime.datetime.combine(content.written_on, datetime.time())
    book.properties.created = book.properties.modified = moment
    names = {question: question.replace("_", " ").capitalize() for question in found.tables}
    for name in names.values():
        book.create_sheet(name)
    for question, table in found.tables.items():
        page = start_page(book, content, names[question], "output", found.notes[question])
        if table.empty:
            note(page, "Nothing of this kind.")
            finish_page(page)
            continue
        block = _table(page, table)
        if question in CHARTS:
            category, values, axis = CHARTS[question]
            drawn = tuple(name for name in values if table[name].notna().any())
            if drawn:
                title = axis.format(currency=found.currency)
                charts.bars(page, block, category, drawn, names[question], title, f"A{page.row + 2}")
        finish_page(page, f"B{block.first}")
    return save_workbook(book, path)


def _table(page: Page, table: pd.DataFrame) -> Block:
    """Write a frame as a list and return where it stands."""
    names = [str(name) for name in table.columns]
    header = header_row(page, [Label(words(name), width=_width(table[name])) for name in table.columns])
    first = page.row
    for record in table.itertuples(index=False):
        for column, (name, value) in enumerate(zip(names, record, strict=True), start=1):
            put(page.sheet, page.row, column, value, *_style(name, value))
        page.row += 1
    return Block(page.name, header, first, page.row - 1, {name: at for at, name in enumerate(names, start=1)})


def _style(name: str, value: object) -> tuple[str, str]:
    if isinstance(value, pd.Timestamp):
        return "number", styles.DATE
    if not isinstance(value, (int, float, np.number)) or isinstance(value, bool | np.bool_):
        return "text", ""
    if name.endswith("_fraction"):
        return "number", styles.PERCENT_PLAIN
    return "number", styles.MONEY_PLAIN if name in MONEY else styles.PRICE


def _width(column: pd.Series) -> float:
    text = column[column.map(lambda cell: isinstance(cell, str))]
    return TEXT_WIDTH if len(text) and text.str.len().max() > LONG_TEXT else WIDTH
