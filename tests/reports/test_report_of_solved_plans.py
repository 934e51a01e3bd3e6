"""The live arithmetic of the workbook against solved plans: it must find every cost line by itself."""

from __future__ import annotations

import random
import re

import pytest
from formula_evaluator import Evaluator
from openpyxl import Workbook, load_workbook
from plan_cases import solved
from test_workbook_tampering import missed, stated_cells

from reports import write_workbook

CHOSEN = (
    "bridged",
    "optional",
    "far_apart",
    "owned",
    "unpowered",
    pytest.param("metered", marks=pytest.mark.slow),
)
"""Cases that together have every contract mode, currency, charge, bill, hall, residual, opening and module."""


@pytest.fixture(scope="module", params=CHOSEN)
def report(request, tmp_path_factory) -> Workbook:
    path = write_workbook(solved(request.param), tmp_path_factory.mktemp("report") / "report.xlsx")
    return load_workbook(path)


def check_rows(book: Workbook) -> list[list[object]]:
    evaluator, last = Evaluator(book), book["Checks"].max_row
    rows = [[evaluator.cell("Checks", row, column) for column in range(1, 9)] for row in range(12, last + 1)]
    return [row for row in rows if isinstance(row[0], int)]


def test_formulas_and_frames_agree_with_the_ledger(report):
    rows = check_rows(report)
    assert len(rows) > 80
    assert [row for row in rows if row[7] != "PASS"] == []


def test_every_cost_line_has_a_formula(report):
    titles = [cell.value for cell in report["Calc"]["A"]]
    assert not any("carried" in str(title) for title in titles)


def test_every_input_shown_for_change_is_read(report):
    text = "\n".join(
        cell.value for row in report["Calc"].iter_rows() for cell in row if cell.data_type == "f"
    )
    inputs = report["Inputs"]
    for row in range(6, inputs.max_row + 1):
        if inputs.cell(row, 7).data_type == "f":
            assert re.search(rf"Inputs!\$E\${row}\b", text), inputs.cell(row, 1).value


def test_a_plan_that_cannot_be_says_so(tmp_path):
    book = load_workbook(write_workbook(solved("impossible"), tmp_path / "none.xlsx"))
    assert book.sheetnames[:2] == ["Cover", "Shortages"]
    assert book["Shortages"].cell(6, 4).value > 0


def test_the_ledgers_differ_by_nothing_in_any_line(report):
    sheet, evaluator = report["Finance"], Evaluator(report)
    heads = {cell.value: cell for row in sheet.iter_rows() for cell in row if isinstance(cell.value, str)}
    for head in ("Economic - cash", "Cash - accounting"):
        at = heads[head]
        column = [evaluator.cell("Finance", row, at.column) for row in range(at.row + 1, sheet.max_row + 1)]
        lines = column[: column.index(None)]
        assert len(lines) > 4
        assert lines == pytest.approx([0.0] * len(lines), abs=0.01)


def test_cells_that_readers_see_fail_when_they_are_changed(report):
    assert missed(report, random.Random(10).sample(stated_cells(report), 40)) == []


@pytest.mark.slow
def test_every_cell_that_readers_see_is_proved(report):
    assert missed(report, stated_cells(report)) == []
