"""Unit cost: every cost line per unit of output, unit costs by business line, model and site, the token waterfall."""

from __future__ import annotations

from collections.abc import Sequence

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
from reports.output import TOKENS, Output, made_by_period, outputs_of
from reports.waterfall import LABELS, WATERFALL, waterfall_rows

PURPOSE = (
    "Periods: amounts of the period over its output, undiscounted, so capex weighs on the period in which it is paid. "
    "Horizon: present value over discounted output. Output is effective tokens, or effective requests where requests "
    "have no stated lengths; where both are served each pays its own part."
)
SCOPED = ["scope", "name", "cost", "output", "unit_cost", "unit"]
SCOPES = {
    "scope": Label("Scope", width=30),
    "name": Label("Of", width=24),
    "cost": Label("Cost, present value", "{currency}", styles.MONEY, 16),
    "output": Label("Output, discounted (millions)", "", styles.QUANTITY, 16),
    "unit_cost": Label("Unit cost", "", styles.PER_MTOK, 14),
    "unit": Label("Unit", width=24),
}
LINE = {"label": Label("Cost line", width=30), "workload": Label("Workload", width=30)}


def fill(book: Workbook, content: Content) -> None:
    """Write unit cost by line, tokens, both unit costs, the waterfall with its chart, marginal costs."""
    page = start_page(book, content, "Unit cost", "output", PURPOSE)
    outputs = outputs_of(content)
    for output in outputs:
        if outputs != (TOKENS,):
            section(page, f"Cost by line per {output.words}", time_columns(content))
        _by_line(page, output, len(outputs) > 1)
    _made(page, outputs)
    _two_costs(page, outputs)
    _by_scope(page)
    page_break(page)
    _waterfall(page)
    more = {"Mtok": "million tokens"}
    section(
        page,
        f"Cost of one more {' or '.join(more.get(one.unit, one.unit) for one in outputs)}",
        len(WATERFALL),
    )
    marginal = content.frame(
        "marginal_costs", ["kind", "phase", "workload", "region", "period", "value", "unit"]
    )
    shown = {"value": Label("Value", "", styles.PER_MTOK, 15), "kind": Label("Kind", width=30)}
    list_block(page, marginal, ["kind", "phase", "workload", "region", "period", "value", "unit"], shown)
    repeat_title_only(page)
    finish_page(page, "A6" if len(content.timeline.names) < 3 else "I6")


def _by_line(page: Page, output: Output, mixed: bool) -> None:
    content = page.content
    names = list(content.timeline.names)
    basis = output.basis if mixed else None
    amounts = lines_by_period(content, basis=basis)
    discounted = lines_by_period(content, "discounted", basis)
    made = made_by_period(content, output.column)
    per_period = amounts.assign(**{name: amounts[name] / made[name] for name in names})
    whole = made_by_period(content, f"{output.column}_discounted").sum()
    ends = list(discounted[names].sum(axis=1) / whole) if whole else [float("nan")] * len(amounts)
    unit = f"{content.currency}/{output.unit}"
    time_block(
        page, per_period, ["label", "kind"], unit, styles.PER_MTOK, "Horizon", ends, LINE, sum_row="Total"
    )


def _made(page: Page, outputs: Sequence[Output]) -> None:
    content = page.content
    amounts = [(one.title, one.column, one.unit) for one in outputs]
    if TOKENS in outputs:
        amounts += [
            ("Generated tokens, reasoning and every attempt included", "generated_mtok", "Mtok"),
            ("Prompt tokens", "input_mtok", "Mtok"),
        ]
    for title, column, unit in amounts:
        section(page, title, time_columns(content))
        made = content.frame("tokens", ["workload", "period", column])
        if len(outputs) > 1:
            made = made[made[column].groupby(made["workload"]).transform("sum") > 0]
        wide = made.pivot_table(index="workload", columns="period", values=column, aggfunc="sum")
        wide = wide.reindex(columns=list(content.timeline.names)).reset_index()
        form = styles.MONEY if unit == "Mtok" else styles.QUANTITY
        time_block(page, wide, ["workload"], unit, form, labels=LINE, sum_row="All workloads")


def _by_scope(page: Page) -> None:
    """Write unit costs of all, of each business line, workload, model and site: cost and output of one scope."""
    title = "Unit cost by scope: lines pay for units held for their busiest minute, sites for what they cause"
    section(page, title, len(WATERFALL))
    table = page.content.frame("unit_costs", SCOPED)[SCOPED]
    list_block(page, table, SCOPED, SCOPES)


def _two_costs(page: Page, outputs: Sequence[Output]) -> None:
    section(page, "Two unit costs, two questions", len(WATERFALL))
    for output in outputs:
        _costs_of(page, output)


def _costs_of(page: Page, output: Output) -> None:
    content = page.content
    unit = f"{content.currency}/{output.unit}"
    rows = [
        (
            "Economic",
            output.cost,
            "all cost, residual and timing included; what the plan minimises",
        ),
        (
            "Accounting",
            output.accounting,
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
    gap = content.number(output.cost) - content.number(output.accounting)
    put(page.sheet, page.row, 2, gap, "number", styles.PER_MTOK)
    put(page.sheet, page.row, 3, unit, "text")
    page.row += 1


def _waterfall(page: Page) -> None:
    section(page, "Token waterfall: where capacity goes on its way to an effective token", len(WATERFALL))
    steps = waterfall_rows(page.content)
    block = list_block(page, steps, WATERFALL, LABELS)
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
