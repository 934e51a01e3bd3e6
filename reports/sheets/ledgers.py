"""Ledgers: the plan in three ledgers by period, and what they leave behind when the horizon ends."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from openpyxl import Workbook

from planner.tables.cost_lines import KEPT_LINES, OWED_LINES
from reports import styles
from reports.blocks import time_block, time_columns
from reports.content import Content, by_period
from reports.costs import counted, line_rank
from reports.labels import Label, words
from reports.layout import Page, finish_page, repeat_title_only, section, start_page
from reports.output import Output, outputs_of

PURPOSE = (
    "Economic, first: what the objective counts, by line, undiscounted. Accounting: expense of the period, idle "
    "capacity apart. Cash: what is paid. "
    "Column H holds what falls after the horizon; sheet Finance reconciles all three line by line."
)
AFTER = "After the horizon"
LABELS = {
    "line": Label("Cost line", width=30),
    "category": Label("Category", width=24),
    "use": Label("Use", width=12),
    "asset_class": Label("Asset class", width=30),
    "measure": Label("Measure", width=30),
}


def fill(book: Workbook, content: Content) -> None:
    """Write the economic, the accounting and the cash ledger, book values and the trend of unit cost."""
    page = start_page(book, content, "Ledgers", "output", PURPOSE)
    costs = counted(content)
    ended = costs["line"].isin((*KEPT_LINES, *OWED_LINES))
    _block(page, costs[~ended], ["line"], "All cost in the horizon", after=costs[ended])
    books = _dated(content, "accounting", ["category", "line", "use", "period", "amount"])
    section(page, "Accounting ledger: expense by category and use", time_columns(content))
    _block(page, books, ["category", "use"], "All expense")
    section(page, "Accounting ledger: expense by line", time_columns(content))
    _block(page, books, ["line"], "All expense")
    cash = _dated(content, "cash", ["category", "line", "period", "amount"])
    section(page, "Cash ledger: payments by category", time_columns(content))
    _block(page, cash, ["category"], "All payments")
    section(page, "Cash ledger: payments by line", time_columns(content))
    _block(page, cash, ["line"], "All payments")
    _book_value(page)
    _trend(page)
    repeat_title_only(page)
    finish_page(page, "A6" if len(content.timeline.names) < 3 else "I6")


def _dated(content: Content, name: str, columns: Sequence[str]) -> pd.DataFrame:
    return content.frame(name, columns)


def _block(
    page: Page, rows: pd.DataFrame, labels: list[str], sum_row: str, after: pd.DataFrame | None = None
) -> None:
    """Write amounts by period; what falls in no period of the horizon stands in column H."""
    content = page.content
    inside = rows["period"].isin(list(content.timeline.names))
    wide = by_period(rows[inside], labels, "amount", content.timeline)
    later = rows[~inside] if after is None else after
    ends = later.astype({"amount": float}).groupby(labels, sort=False)["amount"].sum()
    missing = [key for key in ends.index if key not in set(_keys(wide, labels))]
    if missing:
        parts = [key if isinstance(key, tuple) else (key,) for key in missing]
        extra = pd.DataFrame(parts, columns=labels).assign(**dict.fromkeys(content.timeline.names, 0.0))
        wide = pd.concat([wide, extra], ignore_index=True) if len(wide) else extra
    if labels == ["line"]:
        order = sorted(range(len(wide)), key=lambda index: line_rank(str(wide["line"].iloc[index])))
        wide = wide.iloc[order].reset_index(drop=True)
    totals = [float(ends.get(key, 0.0)) for key in _keys(wide, labels)]
    if "line" in wide:
        wide = wide.assign(line=[words(str(line)) for line in wide["line"]])
    time_block(page, wide, labels, content.currency, styles.MONEY, AFTER, totals, LABELS, sum_row)


def _keys(wide: pd.DataFrame, labels: list[str]) -> list[object]:
    return (
        list(wide[labels[0]]) if len(labels) == 1 else list(wide[labels].itertuples(index=False, name=None))
    )


def _book_value(page: Page) -> None:
    content = page.content
    value = content.frame("book_value", ["asset_class", "period", "closing"])
    section(page, "Book value at the end of each period", time_columns(content))
    wide = by_period(value, ["asset_class"], "closing", content.timeline)
    last = value.groupby("asset_class")["closing"].last()
    totals = [float(last.get(name, 0.0)) for name in wide["asset_class"]]
    time_block(
        page,
        wide,
        ["asset_class"],
        content.currency,
        styles.MONEY,
        "At the very end",
        totals,
        LABELS,
        "Total",
    )


def _trend(page: Page) -> None:
    for output in outputs_of(page.content):
        _trend_of(page, output)


def _trend_of(page: Page, output: Output) -> None:
    content = page.content
    names = {
        f"expense_per_{output.rate}": "Expense",
        f"idle_expense_per_{output.rate}": "of which idle capacity",
        f"paid_per_{output.rate}": "Paid",
    }
    trend = content.frame("unit_cost_trend", ["period", *names])
    section(page, f"Cost per {output.words} by period", time_columns(content))
    if trend.empty:
        rows = pd.DataFrame(columns=["measure", *content.timeline.names])
    else:
        rows = trend.set_index("period")[list(names)].T.reindex(columns=list(content.timeline.names))
        rows.insert(0, "measure", list(names.values()))
    means = [float("nan")] * len(rows)
    if len(trend) and output.column in trend and trend[output.column].sum() > 0:
        made = float(trend[output.column].sum())
        means = [float((trend[name] * trend[output.column]).sum()) / made for name in names]
    unit = f"{content.currency}/{output.unit}"
    time_block(page, rows, ["measure"], unit, styles.PER_MTOK, "Horizon", means, LABELS)
