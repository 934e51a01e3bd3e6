"""Summary: headline numbers as values, baselines side by side, cost and units by period."""

from __future__ import annotations

import pandas as pd
from openpyxl import Workbook

from planner.plan.totals import ALL_SITES
from reports import styles
from reports.blocks import time_block, time_columns
from reports.cells import put
from reports.charts import ROWS, stacked_periods
from reports.content import Content, by_period, number_or_nan
from reports.costs import largest_lines
from reports.headline import shown_figures
from reports.labels import Label
from reports.layout import (
    Block,
    Page,
    finish_page,
    header_row,
    page_break,
    repeat_title_only,
    section,
    start_page,
    widen,
)
from reports.names import define
from reports.styles import PALETTE
from reports.totals import LABELS, signed_parts, totals

WIDTHS = (34, 27, 18, 15, 15, 13)


def fill(book: Workbook, content: Content) -> None:
    """Write the summary and name the headline cells."""
    page = start_page(
        book, content, "Summary", "output", "Headline numbers are values; the sheet Checks proves them."
    )
    for offset, width in enumerate(WIDTHS):
        widen(page, 1 + offset, width)
    _headline(book, page)
    _baselines(page)
    charts_row = page.row + 1
    page.row = charts_row + ROWS
    page_break(page)
    width = time_columns(content)
    section(page, "Cost by line and period, undiscounted", width)
    lines = largest_lines(content, len(PALETTE))
    label = {"label": Label("Cost line", width=34)}
    cost = time_block(
        page, lines, ["label", "kind"], content.currency, styles.MONEY, labels=label, sum_row="Total"
    )
    _totals(page, width)
    section(page, "Total cost by kind and period, undiscounted: residual credit taken off", width)
    parts = signed_parts(content)
    ends = {"label": Label("Total", width=34)}
    time_block(
        page,
        parts,
        ["label"],
        content.currency,
        styles.MONEY,
        labels=ends,
        sum_row=LABELS["total_cost_undiscounted"],
    )
    title = "Units in service by product and period"
    section(page, f"{title}: fractions, none to be ordered" if content.is_bound else title, width)
    units = _largest(by_period(content.frame("fleet"), ["product"], "units", content.timeline), content)
    fleet = time_block(
        page,
        units,
        ["product"],
        "units",
        styles.COUNT,
        "Most",
        list(units[list(content.timeline.names)].max(axis=1)),
    )
    _charts(page, cost, fleet, len(lines), len(units), charts_row)
    repeat_title_only(page)
    finish_page(page, "A4")


def _headline(book: Workbook, page: Page) -> None:
    labels = [
        Label("Headline", width=34),
        Label("Key in plan.json", width=27),
        Label("Value", width=18),
        Label("Unit", width=15),
        Label("Meaning", width=15),
    ]
    header_row(page, labels)
    for figure, value in shown_figures(page.content):
        put(page.sheet, page.row, 1, figure.label, "label")
        put(page.sheet, page.row, 2, figure.key, "text")
        put(page.sheet, page.row, 3, value, "number", figure.form)
        put(page.sheet, page.row, 4, figure.unit.replace("{currency}", page.content.currency), "text")
        put(page.sheet, page.row, 5, figure.meaning, "note")
        define(book, figure.name, f"{page.name}!$C${page.row}", figure.meaning)
        page.row += 1


def _totals(page: Page, width: int) -> None:
    """Write every total of money under its one name, with what it adds."""
    section(page, "Totals over the horizon, undiscounted: every sheet shows these under these names", width)
    header_row(page, [Label("Total", width=34), Label("Amount"), Label("Unit"), Label("Definition")])
    for row in totals(page.content).itertuples():
        if row.site != ALL_SITES:
            continue
        put(page.sheet, page.row, 1, row.label, "label")
        put(page.sheet, page.row, 2, row.amount, "number", styles.MONEY_PLAIN)
        put(page.sheet, page.row, 3, page.content.currency, "text")
        put(page.sheet, page.row, 4, row.definition, "note")
        page.row += 1


def _baselines(page: Page) -> None:
    content = page.content
    section(page, "Against the baselines", 6)
    total = content.number("total_cost")
    labels = [
        Label("Plan or baseline", width=34),
        Label("Status", width=27),
        Label("Total cost, present value", content.currency, width=18),
        Label("Dearer than the plan", content.currency, width=15),
        Label("Dearer than the plan", "%", width=15),
        Label("Demand served", "%", width=13),
    ]
    header_row(page, labels)
    served = 1.0 - content.number("unserved_fraction")
    this = "This bound, not a plan" if content.is_bound else "This plan"
    rows: list[tuple[object, ...]] = [(this, content.status, total, 0.0, 0.0, served)]
    for row in content.frame(
        "baselines", ["baseline", "status", "total_cost", "served_fraction"]
    ).itertuples():
        cost = number_or_nan(row.total_cost)
        relative = cost / total - 1.0 if total else float("nan")
        rows.append(
            (str(row.baseline).capitalize(), row.status, cost, cost - total, relative, row.served_fraction)
        )
    forms = ("", "", styles.MONEY_PLAIN, styles.MONEY_PLAIN, styles.PERCENT_PLAIN, styles.PERCENT_PLAIN)
    for values in rows:
        for offset, (value, form) in enumerate(zip(values, forms, strict=True)):
            style = "number" if form else "label" if offset == 0 else "text"
            put(page.sheet, page.row, 1 + offset, value, style, form)
        page.row += 1


def _largest(units: pd.DataFrame, content: Content) -> pd.DataFrame:
    """Return at most as many products as a chart has colours, the rest in one row."""
    names = list(content.timeline.names)
    most = len(PALETTE)
    if len(units) <= most:
        return units
    large = units[names].sum(axis=1).rank(method="first", ascending=False) < most
    rest = units.loc[~large, names].sum()
    other = pd.DataFrame([{"product": "all other products", **rest.to_dict()}])
    return pd.concat([units[large], other], ignore_index=True)


def _charts(page: Page, cost: Block, fleet: Block, lines: int, products: int, row: int) -> None:
    if lines:
        stacked_periods(
            page,
            cost,
            "Cost by line and period",
            f"{page.content.currency}, undiscounted",
            "label",
            f"A{row}",
            lines,
        )
    if products:
        stacked_periods(page, fleet, "Units in service", "units", "product", f"E{row}", products)
