"""Cover: what was asked, the answer in five lines, how far it is proven, and what it stands on."""

from __future__ import annotations

from collections.abc import Sequence

from openpyxl import Workbook

from planner.plan.bound import BOUND_LABEL
from reports import styles
from reports.answer import answer_lines, asked_rows, estimated_prices, proof_rows, source_rows
from reports.blocks import list_block
from reports.cells import put
from reports.content import Content
from reports.layout import Page, finish_page, link, repeat_title_only, section, start_page, widen

COLUMNS = 5

LEGEND = (
    ("input", "1,234", "input: change it on the sheet Inputs and the sheet Calc follows"),
    ("plan", "1,234", "value of the plan, written by the optimiser: not recomputed when an input changes"),
    ("calculation", "1,234", "formula"),
    ("total", "1,234", "sum of the rows above"),
    ("check", "PASS", "result of a check: PASS or FAIL"),
)

CONTENTS = {
    "Summary": "headline numbers, baselines, cost and units by period",
    "Shortages": "what is missing, where, when and by how much",
    "Procurement": "what to order from whom, by when, at which price",
    "Budget": "what is paid when, against the limits; depreciation; what is left at the end",
    "Ledgers": "economic, accounting and cash ledger by period; book value; unit cost trend",
    "Finance": "NPV, IRR, payback; ledgers reconciled by line; commitments; chargeback",
    "Fleet": "units in service by place, product and period",
    "Placement": "which site serves which workload and region",
    "Sites": "sites side by side",
    "Power": "power peaks against limits, energy, demand charges",
    "Unit cost": "cost lines per million effective tokens; where tokens are lost",
    "Metrics": "every metric with its definition",
    "Assumptions": "sources, estimates, conflicting values, settings",
    "Calc": "live arithmetic from decisions and inputs to cost per million tokens",
    "Checks": "formula against plan, limits against use: PASS or FAIL",
    "Inputs": "the prices and rates to change, and a list of all input tables",
}


def fill(book: Workbook, content: Content) -> None:
    """Write the cover."""
    purpose = content.description or "Capacity and cost plan for an LLM inference fleet"
    page = start_page(
        book, content, "Cover", "control", purpose, title=f"{subject(content)}: {content.scenario_name}"
    )
    widen(page, 1, 30)
    for column, width in ((2, 26), (3, 26), (4, 22), (5, 34)):
        widen(page, column, width)
    _answer(page)
    parts = [("What was asked", asked_rows(content)), ("How far it is proven", proof_rows(content))]
    if content.has_plan:
        parts.append(("What it stands on", source_rows(content)))
    for title, rows in parts:
        section(page, title, COLUMNS)
        _pairs(page, rows)
    if content.has_plan:
        _estimates(page)
    _warnings(page)
    _legend(page)
    _contents(page, [name for name in book.sheetnames if name != "Cover"])
    repeat_title_only(page)
    finish_page(page)


def subject(content: Content) -> str:
    """Return what the workbook is."""
    return BOUND_LABEL.capitalize() if content.is_bound else "Fleet plan"


def _answer(page: Page) -> None:
    title = "The answer" if page.content.has_plan else "There is no plan"
    title = BOUND_LABEL.capitalize() if page.content.is_bound else title
    section(page, title, COLUMNS)
    for line in answer_lines(page.content):
        _wide(page, line, "answer")


def _wide(page: Page, text: str, style: str) -> None:
    """Write a sentence over all columns, high enough for its length."""
    sheet = page.sheet
    sheet.merge_cells(start_row=page.row, start_column=1, end_row=page.row, end_column=COLUMNS)
    put(sheet, page.row, 1, text, style)
    width = sum(page.widths[column] for column in range(1, COLUMNS + 1))
    sheet.row_dimensions[page.row].height = 5 + 15.0 * (1 + int(len(text) * 1.02 // width))
    page.row += 1


def _pairs(page: Page, rows: Sequence[tuple[str, object]]) -> None:
    for label, value in rows:
        sheet = page.sheet
        put(sheet, page.row, 1, label, "label")
        sheet.merge_cells(start_row=page.row, start_column=2, end_row=page.row, end_column=COLUMNS)
        cell = put(sheet, page.row, 2, value, "wrapped", _form(label))
        width = sum(page.widths[column] for column in range(2, COLUMNS + 1))
        if isinstance(value, str):
            sheet.row_dimensions[page.row].height = 3 + 13.0 * (1 + int(len(value) * 1.02 // width))
        styles.align(cell, horizontal="left")
        page.row += 1


def _form(label: str) -> str:
    if "gap" in label.lower() or "rate" in label.lower() or "share" in label.lower():
        return styles.PERCENT_FINE
    if "date" in label.lower():
        return styles.DATE
    return "#,##0.##"


def _estimates(page: Page) -> None:
    section(page, "Prices that only an estimate supports", COLUMNS)
    estimates = estimated_prices(page.content)
    if estimates.empty:
        put(
            page.sheet,
            page.row,
            1,
            "none: every price has a measured, published, quoted or derived source",
            "note",
        )
        page.row += 1
        return
    shown = estimates.head(20)
    list_block(page, shown, ["table", "key", "confidence", "source", "notes"], wrap=("key", "notes"))
    left = len(estimates) - len(shown)
    if left > 0:
        put(page.sheet, page.row, 1, f"and {left} more on the sheet Assumptions", "note")
        page.row += 1


def _warnings(page: Page) -> None:
    if page.content.warnings:
        section(page, "Warnings", COLUMNS)
        for warning in page.content.warnings:
            _wide(page, warning, "wrapped")


def _legend(page: Page) -> None:
    section(page, "How to read the cells", COLUMNS)
    for style, sample, meaning in LEGEND:
        put(page.sheet, page.row, 1, sample, style)
        put(page.sheet, page.row, 2, f"{style}: {meaning}" if style not in meaning else meaning, "text")
        page.row += 1


def _contents(page: Page, names: Sequence[str]) -> None:
    section(page, "Sheets", COLUMNS)
    for name in names:
        if name in CONTENTS:
            link(page, name)
            put(page.sheet, page.row, 2, CONTENTS[name], "text")
            page.row += 1
    extra = sum(name not in CONTENTS for name in names)
    put(page.sheet, page.row, 1, f"{extra} input tables", "text")
    put(page.sheet, page.row, 2, "one sheet each, listed on the sheet Inputs", "text")
    page.row += 1
