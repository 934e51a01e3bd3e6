"""The comparison of sites as a workbook: a sheet with a table and a chart per question."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
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
    from planner.analysis.sites import SiteComparison
    from planner.plan import Plan

Chart = tuple[str, tuple[str, ...], str]
"""Column of the groups, columns of the series, title of the value axis ({currency} is filled in)."""

CHARTS: dict[str, Chart] = {
    "split": ("site", ("token_share",), "share of the tokens"),
    "plan_costs": ("line", ("total",), "{currency}, present value"),
    "unit_cost": ("site", ("unit_cost", "site_unit_cost"), "{currency}/Mtok"),
    "cost_lines": ("line", (), "{currency}/Mtok"),
    "relaxed": ("limit", (), "unit of the limit"),
    "usable_power": ("period", (), "MW at the meter"),
    "energisation_dates": ("from_date", ("usable_mw",), "MW at the meter"),
    "mw_value": ("period", (), "{currency} per MW"),
    "power_value": ("site", ("one_more_mw_saves", "earlier_saves", "later_costs"), "{currency}"),
    "break_even_tariff": ("site", ("price_now", "break_even_price"), "{currency}/kWh"),
    "cooling": ("site", ("annual_pue",), "PUE"),
    "environment": ("site", ("kwh_per_mtok", "carbon_kg_per_mtok", "water_l_per_mtok"), "per Mtok"),
    "latency": ("workload", (), "share of the tokens"),
    "delay": ("site", ("costs",), "{currency}"),
}
SPREAD = {
    "cost_lines": ("line", "per_mtok"),
    "usable_power": ("period", "usable_mw"),
    "mw_value": ("period", "value_per_mw"),
    "latency": ("workload", "share_fraction"),
    "relaxed": ("limit", "needed"),
}
"""Questions with several rows per site: charted from a second table, one column per site."""
WIDTH = 16.0
TEXT_WIDTH = 42.0
LONG_TEXT = 20


def write_sites_workbook(
    plan: Plan, found: SiteComparison, path: str | Path, written_on: datetime.date | None = None
) -> Path:
    """Write a comparison of sites as a workbook and return its path.

    Parameters
    ----------
    plan
        The plan that was compared.
    found
        The comparison.
    path
        File to write; an existing one is replaced.
    """
    content = content_of(plan, written_on)
    book = Workbook()
    book.remove(book.worksheets[0])
    styles.register(book)
    moment = datetime.datetime.combine(content.written_on, datetime.time())
    book.properties.created = book.properties.modified = moment
    for question in found.tables:
        book.create_sheet(question.replace("_", " ").capitalize())
    for question, table in found.tables.items():
        name = question.replace("_", " ").capitalize()
        page = start_page(book, content, name, "output", found.notes[question])
        if table.empty:
            note(page, "Nothing of this kind.")
            finish_page(page)
            continue
        block = _table(page, table)
        _chart(page, block, question, table, found.currency)
        finish_page(page, f"B{block.first}")
    return save_workbook(book, path)


def _table(page: Page, table: pd.DataFrame, form: str = styles.PRICE) -> Block:
    """Write a frame as a list and return where it stands."""
    names = [str(name) for name in table.columns]
    labels = [Label(words(name), width=_width(table[name])) for name in table.columns]
    header = header_row(page, labels)
    first = page.row
    for record in table.itertuples(index=False):
        for column, value in enumerate(record, start=1):
            numeric = isinstance(value, (int, float, np.number)) and not isinstance(value, bool | np.bool_)
            put(page.sheet, page.row, column, value, "number" if numeric else "text", form if numeric else "")
        page.row += 1
    return Block(page.name, header, first, page.row - 1, {name: at for at, name in enumerate(names, start=1)})


def _width(column: pd.Series) -> float:
    text = column[column.map(lambda cell: isinstance(cell, str))]
    return TEXT_WIDTH if len(text) and text.str.len().max() > LONG_TEXT else WIDTH


def _chart(page: Page, block: Block, question: str, table: pd.DataFrame, currency: str) -> None:
    category, values, axis = CHARTS[question]
    if question in SPREAD:
        page.row += 1
        wide = _wide(table, *SPREAD[question])
        block = _table(page, wide)
        values = tuple(str(name) for name in wide.columns[1:])
    elif question == "plan_costs":
        # The sum would dwarf its parts.
        block = Block(block.sheet, block.header, block.first, block.last - 1, block.columns)
    drawn = _with_numbers(table, values) if question not in SPREAD else values
    if drawn:
        title = page.sheet.title
        charts.bars(page, block, category, drawn, title, axis.format(currency=currency), f"A{page.row + 2}")


def _with_numbers(table: pd.DataFrame, values: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in values if name in table and table[name].notna().any())


def _wide(table: pd.DataFrame, rows: str, value: str) -> pd.DataFrame:
    """Return one row per label, one column per site, labels and sites in their order."""
    wide = table.pivot_table(index=rows, columns="site", values=value, aggfunc="sum", sort=False)
    return wide.reset_index().rename_axis(columns=None)
