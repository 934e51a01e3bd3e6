"""A plan's hand-over to operators as a workbook: a sheet per table."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from planner.analysis.inquiry import Answers
from planner.plan.operations.handover import NOTES
from reports import styles
from reports.answers_workbook import write_answers
from reports.layout import Block, Page

if TYPE_CHECKING:
    from planner.plan.operations import Handover

RATES = ("_per_s", "_per_minute", "needed_replicas", "short_replicas", "threshold", "_kw")
"""Ends of columns whose numbers have decimals."""


def write_operations_workbook(
    handover: Handover, path: str | Path, written_on: datetime.date | None = None
) -> Path:
    """Write the tables of a hand-over as a workbook and return its path; an existing file is replaced."""
    plan = handover.plan
    found = Answers(str(plan.headline["currency"]), 0.0, handover.tables, NOTES)
    return write_answers(plan, found, path, _no_chart, _number_format, written_on)


def _no_chart(page: Page, block: Block, question: str, table: pd.DataFrame) -> None:
    """Draw nothing: these tables are looked up, not compared."""


def _number_format(name: str, value: object) -> str:
    if name.endswith("_fraction"):
        return styles.PERCENT_PLAIN
    return styles.PRICE if name.endswith(RATES) else "#,##0"
