"""The checks of a written workbook, its formulas evaluated without a spreadsheet program."""

from __future__ import annotations

import sys
from pathlib import Path

from openpyxl import load_workbook

from planner.plan import Plan
from reports import write_workbook

sys.path.append(str(Path(__file__).parent / "reports"))
from formula_evaluator import Evaluator


def failed_checks(plan: Plan, folder: Path) -> list[list[object]]:
    """Return the rows of the sheet Checks that do not pass; at least 30 must be there."""
    book = load_workbook(write_workbook(plan, folder / "report.xlsx"))
    evaluator, last = Evaluator(book), book["Checks"].max_row
    rows = [[evaluator.cell("Checks", row, column) for column in range(1, 9)] for row in range(12, last + 1)]
    rows = [row for row in rows if isinstance(row[0], int)]
    assert len(rows) >= 30
    return [row for row in rows if row[7] != "PASS"]
