"""One cell of what readers see is changed at a time: the workbook must say that it no longer holds."""

from __future__ import annotations

import datetime
import random

import pytest
from formula_evaluator import Evaluator
from openpyxl import load_workbook

from reports.layout import DATE_ROW
from reports.workbook import OUTPUT_SHEETS

READERS = ["Cover", *dict(OUTPUT_SHEETS)]


def stated_cells(book):
    """Return sheet, row, column of every number and date on the sheets that readers see, formulas included."""
    found = []
    for name in READERS:
        for row in book[name].iter_rows(min_row=DATE_ROW) if name in book.sheetnames else ():
            for cell in row:
                number = isinstance(cell.value, int | float | datetime.date)
                if cell.data_type == "f" or (number and not isinstance(cell.value, bool)):
                    found.append((name, cell.row, cell.column))
    return found


def changed(value):
    if isinstance(value, datetime.date):
        return value + datetime.timedelta(days=1)
    return value * 1.001 if isinstance(value, int | float) and abs(value) > 1e-3 else 1


def model_ok(evaluator):
    return evaluator.at("Checks!C5") is True


def missed(book, cells):
    """Return the cells whose change leaves the model OK."""
    evaluator, found = Evaluator(book), []
    assert model_ok(evaluator)
    for sheet, row, column in cells:
        cell = book[sheet].cell(row, column)
        before, kind = cell.value, cell.data_type
        cell.value = changed(evaluator.cell(sheet, row, column) if kind == "f" else before)
        evaluator.forget(sheet, row, column)
        if model_ok(evaluator):
            found.append(f"{sheet}!{cell.coordinate}: {before}")
        cell.value = before
        cell.data_type = kind
        evaluator.forget(sheet, row, column)
    assert model_ok(evaluator)
    return found


def test_forty_cells_changed_one_at_a_time_fail_forty_times(workbook):
    cells = stated_cells(workbook)
    assert len(cells) > 400
    assert {sheet for sheet, _, _ in cells} >= {"Summary", "Procurement", "Budget", "Sites", "Unit cost"}
    assert missed(workbook, random.Random(10).sample(cells, 40)) == []


@pytest.mark.slow
def test_every_cell_that_readers_see_is_proved(workbook):
    assert missed(workbook, stated_cells(workbook)) == []


def test_a_formula_broken_together_with_a_changed_input_fails(workbook):
    inputs, calc = workbook["Inputs"], workbook["Calc"]
    last = inputs.max_row + 1
    row = next(r for r in range(6, last) if inputs.cell(r, 1).value == "offers/buy server-a/price")
    inputs.cell(row, 5).value *= 1.1
    evaluator = Evaluator(workbook)
    assert model_ok(evaluator)
    # The last two columns are the second computation itself.
    cells = [cell for line in calc.iter_rows(6, None, 8, calc.max_column - 2) for cell in line]
    broken = [c for c in cells if c.data_type == "f" and evaluator.cell("Calc", c.row, c.column)]
    for cell in random.Random(10).sample(broken, 25):
        formula = cell.value
        cell.value = f"=({formula[1:]})*1.01"
        evaluator.forget("Calc", cell.row, cell.column)
        assert not model_ok(evaluator), f"{cell.coordinate}: {formula}"
        cell.value = formula
        evaluator.forget("Calc", cell.row, cell.column)


def test_words_of_a_row_are_proved_as_well(workbook):
    sheet = workbook["Procurement"]
    sheet.cell(6, 9).value = "another vendor"
    assert not model_ok(Evaluator(workbook))


def test_a_number_replaced_by_text_or_taken_away_fails(workbook_path):
    for value in ("about a thousand", None):
        book = load_workbook(workbook_path)
        book["Summary"].cell(8, 3).value = value
        assert not model_ok(Evaluator(book)), value


def test_most_numbers_are_computed_again_by_a_formula_over_the_plans_tables(workbook):
    scopes = [str(workbook["Checks"].cell(row, 3).value) for row in range(13, workbook["Checks"].max_row + 1)]
    computed = sum(int(text.split(" by formula")[0].split()[-1]) for text in scopes if " by formula" in text)
    pasted = sum(int(text.split(" as planned")[0].split()[-1]) for text in scopes if " as planned" in text)
    assert computed > 1.5 * pasted > 0
