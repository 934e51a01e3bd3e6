"""What a buyer asks before signing, as a workbook: how its numbers look and which tables are charted."""

from __future__ import annotations

import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from reports import charts, styles
from reports.answers_workbook import with_numbers, write_answers
from reports.layout import Block, Page

if TYPE_CHECKING:
    from planner.analysis.inquiry import Answers
    from planner.plan import Plan

CHARTS = {
    "break_even": ("offer", ("change_fraction",), "change of the price"),
    "cases": ("case", ("change",), "{currency}, present value"),
    "cost_of_delay": ("no_order_before", ("costs",), "{currency}, present value"),
    "supply_cut": ("vendor", ("costs",), "{currency}, present value"),
}
"""Question -> column of the groups, columns of the series, title of the value axis."""
MONEY = {"cost", "change", "costs", "commitment_after_horizon", "waiting_costs"}


def write_decisions_workbook(
    plan: Plan, found: Answers, path: str | Path, written_on: datetime.date | None = None
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
    draw = partial(_chart, currency=found.currency)
    return write_answers(plan, found, path, draw, _number_format, written_on)


def _chart(page: Page, block: Block, question: str, table: pd.DataFrame, currency: str) -> None:
    if question not in CHARTS:
        return
    category, values, axis = CHARTS[question]
    drawn = with_numbers(table, values)
    if drawn:
        title = axis.format(currency=currency)
        charts.bars(page, block, category, drawn, page.sheet.title, title, f"A{page.row + 2}")


def _number_format(name: str, value: object) -> str:
    if name.endswith("_fraction"):
        return styles.PERCENT_PLAIN
    return styles.MONEY_PLAIN if name in MONEY else styles.PRICE
