"""The sheet vendors fill in: one row per offer, units in the headers, lists and limits on the cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
from openpyxl import Workbook
from openpyxl.comments import Comment
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from planner.errors import Fault, InputError
from planner.inputs.checks.columns import limits_text
from planner.inputs.quotes_asked import ASKED, ASKED_GUIDE, QUOTED_BY, asked_frame, lines
from planner.inputs.scenario import Scenario
from planner.inputs.template import (
    HEADER_FONT,
    INPUT_FILL,
    INPUT_FONT,
    KEYS_SHEET,
    OPTIONAL_FILL,
    REQUIRED_FILL,
    add_choices,
    add_list,
    column_note,
    put,
)
from planner.tables import TABLES, Column, Table
from planner.tables.schema import integer, positive

QUOTES_SHEET = "quotes"
GUIDE_SHEET = "how to fill in"
FILLABLE_ROWS = 200
TIERS = (2, 3, 4)
"""Prices of a quote that fall with the quantity; the first is the price itself."""

REQUIRED = ("vendor", "currency", "available_until", "lead_weeks_low", "lead_weeks_high")
"""Columns a quote must state although an offer may leave them blank."""

FROM_OFFERS = (
    "offer", "vendor", "product", "mode", "includes", "price", "price_unit", "currency", "available_from",
    "available_until", "term_months", "rent_step", "lead_weeks_low", "lead_weeks", "lead_weeks_high", "install_weeks",
    "installation_fraction", "freight_fraction", "duty_fraction", "tax_fraction", "deposit_fraction",
    "delivery_fraction", "payment_term_days", "upfront_fraction", "warranty_years", "minimum_order_units",
    "order_multiple_units", "supply_units_per_period", "interruption_fraction", "origin_country",
)  # fmt: skip
FROM_TIERS = ("basis", "counts")
GUIDE = (
    "One row per offer. Dark headers must be filled in, grey ones may stay blank; the unit stands in brackets.",
    "Fractions are 0 to 1, never percent. Dates are calendar dates. The offer holds until available_until.",
    "price is for one unit of the product, in the unit of measure of price_unit, before the charges named apart.",
    "Lead times are weeks from order to delivery: at best, expected, at worst.",
    "deposit_fraction is due with the order, delivery_fraction on delivery, the rest on acceptance.",
    "tierN_from_units, tierN_price: from which unit on which lower price holds; basis and counts say of which units.",
    "A row whose vendor and price are both blank is not a quote and is left out. Type values, not formulas.",
)


def quote_table() -> Table:
    """Return the declaration of a quote: the columns of an offer that a vendor states, and its tiers."""
    offers, tiers = TABLES["offers"], TABLES["offer_tiers"]
    columns = [
        replace(offers[name], required=offers[name].required or name in REQUIRED) for name in FROM_OFFERS
    ]
    for tier in TIERS:
        columns += [
            integer(f"tier{tier}_from_units", "units", f"first unit of price {tier}", low=2),
            positive(f"tier{tier}_price", "currency per price_unit", "price from that unit on"),
        ]
    columns += [replace(tiers[name], required=False) for name in FROM_TIERS]
    return Table(QUOTES_SHEET, "offers as vendors quote them", ("offer",), (*columns, offers["notes"]))


def header_text(column: Column) -> str:
    """Return a header with its unit.

    >>> header_text(TABLES["offers"]["lead_weeks"])
    'lead_weeks [weeks]'
    """
    return f"{column.name} [{column.unit}]" if column.unit else column.name


def header_name(text: str) -> str:
    """Return the column a header names.

    >>> header_name("lead_weeks [weeks]")
    'lead_weeks'
    """
    return text.split("[")[0].strip()


def write_quotes(
    scenario: Scenario, target: str | Path, force: bool = False, rfq: pd.DataFrame | None = None
) -> Path:
    """Write the sheet for vendors: a row to fill in per product and contract mode of the scenario's offers.

    With the requests for quotation of a plan (``rfq``), each row says what is asked for and by when.
    """
    path = Path(target)
    if path.suffix.lower() != ".xlsx":
        raise InputError([Fault(str(path), "must end in .xlsx")])
    if path.exists() and not force:
        raise InputError([Fault(str(path), "exists already; allow overwriting (force)")])
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = QUOTES_SHEET
    guide = book.create_sheet(GUIDE_SHEET)
    told = GUIDE if rfq is None else (*GUIDE, ASKED_GUIDE)
    for row, line in enumerate(told, start=1):
        put(guide.cell(row, 1), line)
    guide.column_dimensions["A"].width = 120
    table = quote_table()
    lists = _key_lists(book, table, scenario)
    for position, column in enumerate(table.columns, start=1):
        _fill_column(sheet, position, column, lists)
    rows = asked_for(scenario)
    _prefill(sheet, table.column_names, rows)
    if rfq is not None:
        _tell(sheet, len(table.columns), rows.merge(asked_frame(scenario, rfq), on=QUOTED_BY, how="left"))
    sheet.freeze_panes = "B2"
    path.parent.mkdir(parents=True, exist_ok=True)
    book.save(path)
    return path


def asked_for(scenario: Scenario) -> pd.DataFrame:
    """Return the rows to quote: what the scenario's offers are for, without their prices and times."""
    rows = lines(scenario)
    names = [f"Quote {at} {row.product} {row.mode}" for at, row in enumerate(rows.itertuples(), start=1)]
    return rows.assign(offer=names)


def _key_lists(book: Workbook, table: Table, scenario: Scenario) -> dict[str, str]:
    """Return column name to the range of the keys it may hold, and write the hidden sheet with them."""
    sheet = book.create_sheet(KEYS_SHEET)
    sheet.sheet_state = "hidden"
    ranges = {}
    for position, column in enumerate((c for c in table.columns if c.refers_to), start=1):
        name, target = str(column.refers_to).split(".")
        keys = scenario.tables[name][target].dropna().drop_duplicates().tolist()
        put(sheet.cell(1, position), column.name)
        for row, key in enumerate(keys, start=2):
            put(sheet.cell(row, position), key)
        letter = get_column_letter(position)
        ranges[column.name] = f"{KEYS_SHEET}!${letter}$2:${letter}${max(len(keys) + 1, 2)}"
    return ranges


def _fill_column(sheet: Worksheet, position: int, column: Column, lists: dict[str, str]) -> None:
    """Write header and comment of a column, and what its cells may hold."""
    letter = get_column_letter(position)
    head = sheet.cell(1, position)
    put(head, header_text(column))
    head.font, head.fill = HEADER_FONT, REQUIRED_FILL if column.required else OPTIONAL_FILL
    head.alignment = Alignment(wrap_text=True, vertical="top")
    head.comment = Comment(column_note(column), "planner", height=140, width=320)
    sheet.column_dimensions[letter].width = 32 if column.name in ("offer", "product", "notes") else 16
    cells = f"{letter}2:{letter}{FILLABLE_ROWS}"
    for row in range(2, FILLABLE_ROWS + 1):
        cell = sheet.cell(row, position)
        cell.font, cell.fill = INPUT_FONT, INPUT_FILL
        cell.number_format = "yyyy-mm-dd" if column.kind == "date" else "General"
    if column.choices:
        add_choices(sheet, cells, column.choices)
    elif column.name in lists:
        add_list(sheet, cells, lists[column.name])
    elif column.kind in ("number", "integer", "date"):
        _add_limits(sheet, cells, column)


def _add_limits(sheet: Worksheet, cells: str, column: Column) -> None:
    """Let cells take only numbers within the column's limits, or dates."""
    if column.kind == "date":
        rule = DataValidation(type="date", operator="greaterThan", formula1="36526", allow_blank=True)
        rule.error = "A calendar date"
    else:
        low = column.low if column.low is not None else -1e15
        high = column.high if column.high is not None else 1e15
        rule = DataValidation(
            type="whole" if column.kind == "integer" else "decimal",
            operator="between",
            formula1=f"{low:.15g}",
            formula2=f"{high:.15g}",
        )
        rule.allow_blank = True
        rule.error = f"Allowed: {limits_text(column)}"[:250]
    rule.showErrorMessage = True
    sheet.add_data_validation(rule)
    rule.add(cells)


def _prefill(sheet: Worksheet, columns: Sequence[str], rows: pd.DataFrame) -> None:
    """Write the rows to quote; text stays text whatever it begins with."""
    positions = {name: at for at, name in enumerate(columns, start=1)}
    names = [name for name in rows.columns if name in positions]
    for row, values in enumerate(rows[names].itertuples(index=False), start=2):
        for name, value in zip(names, values, strict=True):
            put(sheet.cell(row, positions[name]), value)


def _tell(sheet: Worksheet, after: int, rows: pd.DataFrame) -> None:
    """Write what is asked for beside each row: information without lists, limits or the colour of inputs."""
    for position, column in enumerate(ASKED, start=after + 1):
        head = sheet.cell(1, position)
        put(head, header_text(column))
        head.font, head.alignment = Font(bold=True), Alignment(wrap_text=True, vertical="top")
        head.comment = Comment(
            f"{column.meaning}. For information, not read back.", "planner", height=100, width=320
        )
        sheet.column_dimensions[get_column_letter(position)].width = 16 if column.kind != "text" else 48
        for row, value in enumerate(rows[column.name], start=2):
            cell = sheet.cell(row, position)
            put(cell, value)
            if column.kind == "date":
                cell.number_format = "yyyy-mm-dd"
