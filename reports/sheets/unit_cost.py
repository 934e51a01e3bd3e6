"""Unit cost: every cost line per million effective tokens, both unit costs, and the token waterfall."""

from __future__ import annotations

import numpy as np
import pandas as pd
from openpyxl import Workbook

from reports import styles
from reports.blocks import list_block, time_block, time_columns
from reports.cells import put
from reports.charts import kept_and_lost
from reports.content import Content
from reports.costs import lines_by_period
from reports.labels import Label
from reports.layout import Block, Page, finish_page, page_break, repeat_title_only, section, start_page

PURPOSE = (
    "Periods: amounts of the period over its effective tokens, undiscounted, so capex weighs on the period "
    "in which it is paid. Horizon: present value over discounted tokens."
)
WATERFALL = ["scope", "link", "value", "lost", "unit", "factor", "loss_fraction", "binding", "basis"]
LINE = {"label": Label("Cost line", width=30), "workload": Label("Workload", width=30)}


def fill(book: Workbook, content: Content) -> None:
    """Write unit cost by line, tokens, both unit costs, the waterfall with its chart, marginal costs."""
    page = start_page(book, content, "Unit cost", "output", PURPOSE)
    _by_line(page)
    _tokens(page)
    _two_costs(page)
    page_break(page)
    _waterfall(page)
    section(page, "Cost of one more million tokens", len(WATERFALL))
    marginal = content.frame(
        "marginal_costs", ["kind", "phase", "workload", "region", "period", "value", "unit"]
    )
    shown = {"value": Label("Value", "", styles.PER_MTOK, 15), "kind": Label("Kind", width=30)}
    list_block(page, marginal, ["kind", "phase", "workload", "region", "period", "value", "unit"], shown)
    repeat_title_only(page)
    finish_page(page, "A6" if len(content.timeline.names) < 3 else "I6")


def _by_line(page: Page) -> None:
    content = page.content
    names = list(content.timeline.names)
    amounts, discounted = lines_by_period(content), lines_by_period(content, "discounted")
    made = _tokens_by_period(content, "effective_mtok")
    per_period = amounts.assign(**{name: amounts[name] / made[name] for name in names})
    whole = _tokens_by_period(content, "effective_mtok_discounted").sum()
    ends = list(discounted[names].sum(axis=1) / whole) if whole else [float("nan")] * len(amounts)
    unit = f"{content.currency}/Mtok"
    time_block(
        page, per_period, ["label", "kind"], unit, styles.PER_MTOK, "Horizon", ends, LINE, sum_row="Total"
    )


def _tokens_by_period(content: Content, column: str) -> pd.Series:
    tokens = content.frame("tokens", ["period", column])
    made = tokens.groupby("period")[column].sum().reindex(list(content.timeline.names)).astype(float)
    return made.where(made > 0)


def _tokens(page: Page) -> None:
    content = page.content
    for title, column in (
        ("Effective tokens", "effective_mtok"),
        ("Generated tokens, reasoning and every attempt included", "generated_mtok"),
        ("Prompt tokens", "input_mtok"),
    ):
        section(page, title, time_columns(content))
        tokens = content.frame("tokens", ["workload", "period", column])
        wide = tokens.pivot_table(index="workload", columns="period", values=column, aggfunc="sum")
        wide = wide.reindex(columns=list(content.timeline.names)).reset_index()
        time_block(page, wide, ["workload"], "Mtok", styles.MONEY, labels=LINE, sum_row="All workloads")


def _two_costs(page: Page) -> None:
    content = page.content
    section(page, "Two unit costs, two questions", len(WATERFALL))
    unit = f"{content.currency}/Mtok"
    rows = [
        (
            "Economic",
            "cost_per_mtok_effective",
            "all cost, residual and timing included; what the plan minimises",
        ),
        (
            "Accounting",
            "accounting_cost_per_mtok",
            "depreciation and rent of accelerators + API tokens - resale + electricity + staff + network; no space, "
            "upkeep or residual",
        ),
    ]
    for label, key, meaning in rows:
        put(page.sheet, page.row, 1, f"{label} unit cost", "label")
        put(page.sheet, page.row, 2, content.number(key), "number", styles.PER_MTOK)
        put(page.sheet, page.row, 3, unit, "text")
        put(page.sheet, page.row, 4, meaning, "note")
        page.row += 1
    put(page.sheet, page.row, 1, "Economic less accounting", "label")
    gap = content.number("cost_per_mtok_effective") - content.number("accounting_cost_per_mtok")
    put(page.sheet, page.row, 2, gap, "number", styles.PER_MTOK)
    put(page.sheet, page.row, 3, unit, "text")
    page.row += 1


def _waterfall(page: Page) -> None:
    content = page.content
    section(page, "Token waterfall: where capacity goes on its way to an effective token", len(WATERFALL))
    steps = content.frame("waterfall", [name for name in WATERFALL if name != "lost"])
    before = steps.groupby(["scope", "unit"], sort=False)["value"].shift(1) if len(steps) else steps["value"]
    steps = steps.assign(lost=(before - steps["value"]).fillna(0.0).clip(lower=0.0))
    labels = {
        "scope": Label("Scope", width=30),
        "value": Label("Left after the link", "", styles.QUANTITY, 14),
        "lost": Label("Lost in the link", "", styles.QUANTITY, 14),
    }
    block = list_block(page, steps, WATERFALL, labels)
    if len(steps):
        _waterfall_chart(page, block, steps)


def _waterfall_chart(page: Page, block: Block, steps: pd.DataFrame) -> None:
    """Draw the last run of links of the first scope that share one unit: they form one fall."""
    scope = steps["scope"].iloc[0]
    same = (steps["scope"] == scope).to_numpy()
    last = int(np.flatnonzero(same)[-1])
    first = last
    while first > 0 and same[first - 1] and steps["unit"].iloc[first - 1] == steps["unit"].iloc[last]:
        first -= 1
    anchor = page.row + 1
    unit = steps["unit"].iloc[last]
    title = f"Token waterfall: {scope}"
    page.row = anchor + kept_and_lost(
        page, block, block.first + first, block.first + last, title, unit, f"A{anchor}"
    )
