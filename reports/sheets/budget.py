"""Budget: what is paid when, against the limits; depreciation and book value; what is left at the end."""

from __future__ import annotations

import pandas as pd
from openpyxl import Workbook

from reports import styles
from reports.blocks import list_block, time_block, time_columns
from reports.cells import put
from reports.content import Content, by_period
from reports.costs import budget_use, depreciation, ledger, line_rank, payments
from reports.labels import Label, words
from reports.layout import Page, finish_page, repeat_title_only, section, start_page
from reports.totals import LABELS as TOTAL
from reports.totals import signed_parts, total_of

PURPOSE = (
    "Payments in the period in which they fall due, undiscounted. Residual value is kept apart: it is no "
    "payment. Depreciation is that of the accounting ledger: by the method of each class, from the first day in "
    "service."
)
USE = ["budget", "kind", "period", "site", "limit", "paid", "left", "used_fraction", "line", "business"]
INCENTIVES = ["incentive", "basis", "received_date", "site", "asset_class", "earned_amount", "amount"]
LABELS = {
    "incentive": Label("Grant or credit", width=30),
    "received_date": Label("Received on", form=styles.DATE, width=16),
    "earned_amount": Label("Earned", "{currency}", styles.MONEY_PLAIN, 16),
    "amount": Label("Received", "{currency}", styles.MONEY_PLAIN, 16),
    "kind": Label("Kind", width=30),
    "line": Label("Cost line", width=30),
    "site": Label("Site", width=18),
    "product": Label("Product", width=30),
    "budget": Label("Budget", width=30),
    "business": Label("Business line", width=16),
    "period": Label("Period", width=16),
    "limit": Label("Limit", "{currency}", styles.MONEY_PLAIN, 16),
    "asset_class": Label("Asset class"),
    "paid": Label("Paid", "{currency}", styles.MONEY_PLAIN, 16),
    "left": Label("Left", "{currency}", styles.MONEY_PLAIN, 15),
    "used_fraction": Label("Used", "%", styles.PERCENT_PLAIN, 15),
}


def fill(book: Workbook, content: Content) -> None:
    """Write payments, limits, depreciation and what is left at the end of the horizon."""
    page = start_page(book, content, "Budget", "output", PURPOSE)
    spent, currency = payments(content), content.currency
    kinds = signed_parts(content, ("gross_capex", "opex_paid"))
    named = LABELS | {"label": Label("Kind", width=30)}
    time_block(page, kinds, ["label"], currency, styles.MONEY, labels=named, sum_row=TOTAL["payments"])
    _cumulative(page, kinds)
    section(page, "Limits", time_columns(content))
    list_block(page, budget_use(content), USE, LABELS)
    section(page, "Payments by line", time_columns(content))
    lines = by_period(spent, ["line", "kind"], "amount", content.timeline)
    order = sorted(range(len(lines)), key=lambda index: line_rank(lines["line"].iloc[index]))
    lines = lines.iloc[order].assign(line=[words(lines["line"].iloc[index]) for index in order])
    time_block(
        page,
        lines,
        ["line", "kind"],
        currency,
        styles.MONEY,
        labels=LABELS | {"kind": Label("Kind")},
        sum_row="Total",
    )
    section(page, "Payments by site", time_columns(content))
    placed = spent.assign(site=spent["site"].astype(object).where(spent["site"].notna(), "no site"))
    sites = by_period(placed, ["site"], "amount", content.timeline)
    time_block(page, sites, ["site"], currency, styles.MONEY, labels=LABELS, sum_row="Total")
    _incentives(page)
    _depreciation(page)
    _after(page)
    repeat_title_only(page)
    finish_page(page, "A6" if len(content.timeline.names) < 3 else "I6")


def _cumulative(page: Page, kinds: pd.DataFrame) -> None:
    """Write all payments from the start of the horizon to the end of each period."""
    names = list(page.content.timeline.names)
    total = kinds[names].sum(axis=0).astype(float).cumsum()
    section(page, "Paid so far", time_columns(page.content))
    row = pd.DataFrame([{"kind": "all payments", **total.to_dict()}])
    last = [float(total.iloc[-1])] if len(total) else [0.0]
    time_block(page, row, ["kind"], page.content.currency, styles.MONEY, "At the end", last, LABELS)


def _incentives(page: Page) -> None:
    """Write the grants and tax credits of the plan: what earns them and when they are received."""
    rows = page.content.frame("incentives", INCENTIVES)
    if len(rows):
        section(page, "Grants and tax credits", len(INCENTIVES))
        list_block(page, rows.reset_index(drop=True), INCENTIVES, LABELS)


def _depreciation(page: Page) -> None:
    """Write what the accounting ledger writes off of hardware, and the book value of every class of asset."""
    content = page.content
    section(page, "Depreciation of hardware, freight, duty and installation included", time_columns(content))
    written = by_period(depreciation(content), ["product"], "amount", content.timeline)
    time_block(page, written, ["product"], content.currency, styles.MONEY, labels=LABELS, sum_row="Total")
    section(page, "Book value, end of period", time_columns(content))
    value = content.frame("book_value", ["asset_class", "period", "closing"])
    book = by_period(value, ["asset_class"], "closing", content.timeline)
    ends = list(book[content.timeline.names[-1]]) if len(book) else []
    time_block(
        page,
        book,
        ["asset_class"],
        content.currency,
        styles.MONEY,
        "At the end",
        ends,
        LABELS,
        "Total",
    )


def _after(page: Page) -> None:
    content = page.content
    section(page, "At the end of the horizon", time_columns(content))
    rows = ledger(content)
    sunk = float(rows.loc[rows["kind"] == "sunk", "amount"].sum())
    for label, value, meaning in (
        *(
            (TOTAL[name], total_of(content, name), meaning)
            for name, meaning in (
                ("gross_capex", "everything bought and built, as paid in the horizon"),
                ("residual_credit", "credited to the plan, discounted from the end of the horizon"),
                ("net_capex", "gross capex - residual credit"),
                ("commitments_at_end", "charged to the plan for what outlives the horizon"),
            )
        ),
        (
            "Payments still owed",
            content.number("liability_after_horizon"),
            "terms, and coincident peaks billed the year after, undiscounted",
        ),
        ("Book value of the existing fleet", sunk, "sunk: shown, in no total"),
    ):
        put(page.sheet, page.row, 1, label, "label")
        put(page.sheet, page.row, 2, value, "number", styles.MONEY_PLAIN)
        put(page.sheet, page.row, 3, content.currency, "text")
        put(page.sheet, page.row, 4, meaning, "note")
        page.row += 1
