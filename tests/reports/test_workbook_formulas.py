from __future__ import annotations

import re

import pytest
from formula_evaluator import Evaluator
from openpyxl import load_workbook
from openpyxl.formula.translate import Translator
from openpyxl.utils import get_column_letter

from reports.layout import FIRST_PERIOD_COLUMN, STATUS_ROW

REFERENCE = re.compile(r"(?:'[^']+'|[A-Za-z_]+)?!?\$?[A-Z]{1,3}\$?\d+")
PERIODS = 2


def formulas(book):
    return [
        (sheet.title, cell)
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f"
    ]


def value_of(book, name, evaluator=None):
    (target,) = book.defined_names[name].destinations
    return (evaluator or Evaluator(book)).at(f"{target[0]}!{target[1]}")


def test_formulas_hold_no_number_but_zero_and_one(workbook):
    found = formulas(workbook)
    assert len(found) > 200
    for sheet, cell in found:
        bare = re.sub(r'"[^"]*"', "", cell.value)
        numbers = re.findall(r"\d+\.?\d*", REFERENCE.sub("", bare))
        assert set(numbers) <= {"0", "1"}, f"{sheet}!{cell.coordinate}: {cell.value}"


def test_formulas_stand_on_calc_checks_and_inputs_and_in_the_status_line_only(workbook):
    behind = ("Calc", "Calc as planned", "Checks", "Inputs", "Proof")
    for sheet, cell in formulas(workbook):
        assert sheet in behind or cell.coordinate == f"A{STATUS_ROW}"


def test_no_formula_leaves_the_workbook_or_uses_a_volatile_function(workbook):
    for _, cell in formulas(workbook):
        assert not re.search(r"\[|OFFSET|INDIRECT|NOW|TODAY|RAND|XLOOKUP|LET\(", cell.value)


def test_a_row_has_one_formula_along_the_time_line(workbook):
    sheet = workbook["Calc"]
    compared = 0
    for row in range(6, sheet.max_row + 1):
        first = sheet.cell(row, FIRST_PERIOD_COLUMN)
        if first.data_type != "f":
            continue
        for column in range(FIRST_PERIOD_COLUMN + 1, FIRST_PERIOD_COLUMN + PERIODS):
            moved = Translator(first.value, origin=first.coordinate).translate_formula(
                f"{get_column_letter(column)}{row}"
            )
            assert sheet.cell(row, column).value == moved
            compared += 1
    assert compared > 30


def test_every_input_a_reader_may_change_is_read_by_calc(workbook):
    text = "\n".join(cell.value for sheet, cell in formulas(workbook) if sheet == "Calc")
    inputs = workbook["Inputs"]
    rows = [row for row in range(6, inputs.max_row + 1) if inputs.cell(row, 7).data_type == "f"]
    assert len(rows) > 15
    for row in rows:
        assert re.search(rf"Inputs!\$E\${row}\b", text), inputs.cell(row, 1).value


def test_all_checks_pass_and_the_model_says_so(workbook):
    evaluator = Evaluator(workbook)
    assert value_of(workbook, "ModelOK", evaluator) is True
    assert value_of(workbook, "ModelStatus", evaluator) == "Model OK: all checks pass"
    sheet = workbook["Checks"]
    results = [evaluator.cell("Checks", row, 8) for row in range(12, sheet.max_row + 1)]
    assert results.count("PASS") >= 30
    assert "FAIL" not in results


def test_live_unit_cost_equals_the_plan(workbook, plan):
    evaluator = Evaluator(workbook)
    sheet = workbook["Calc"]
    row = next(
        row for row in range(6, sheet.max_row + 1) if str(sheet.cell(row, 1).value).startswith("Unit cost")
    )
    assert evaluator.cell("Calc", row, 8) == pytest.approx(
        plan.headline["cost_per_mtok_effective"], rel=1e-12
    )


def change(workbook_path, path, factor):
    book = load_workbook(workbook_path)
    sheet = book["Inputs"]
    row = next(row for row in range(6, sheet.max_row + 1) if sheet.cell(row, 1).value == path)
    sheet.cell(row, 5).value = sheet.cell(row, 5).value * factor if factor else 0.5
    return book


def total_of(book, label):
    evaluator, sheet = Evaluator(book), book["Calc"]
    row = next(row for row in range(6, sheet.max_row + 1) if sheet.cell(row, 1).value == label)
    return evaluator.cell("Calc", row, 8)


def test_a_dearer_offer_costs_what_its_units_its_installation_and_its_residual_add(workbook_path, workbook):
    # 4 units at 250,000 become 10 % dearer: +100,000, installation 5 % of it, 40 % left at the end;
    # maintenance of the 4 units is 4 % a year of the price over half a year.
    before = total_of(workbook, "Total cost, undiscounted")
    after = total_of(change(workbook_path, "offers/buy server-a/price", 1.1), "Total cost, undiscounted")
    assert after - before == pytest.approx(100_000 * (1 + 0.05 - 0.4) + 4 * 25_000 * 0.04 * 0.5)


def test_a_changed_input_is_flagged_and_is_no_failure(workbook_path):
    book = change(workbook_path, "offers/buy server-a/price", 1.1)
    evaluator = Evaluator(book)
    assert value_of(book, "InputsChanged", evaluator) == 1
    assert value_of(book, "ModelOK", evaluator) is True
    assert value_of(book, "ModelStatus", evaluator) == "INPUTS CHANGED: plan not re-optimised"


def test_a_wrong_plan_value_fails_the_model(workbook_path):
    book = load_workbook(workbook_path)
    sheet = book["Calc"]
    row = next(row for row in range(6, sheet.max_row + 1) if sheet.cell(row, 1).value == "Units ordered")
    sheet.cell(row, FIRST_PERIOD_COLUMN).value += 1
    evaluator = Evaluator(book)
    assert value_of(book, "ModelOK", evaluator) is False
    assert value_of(book, "ModelStatus", evaluator).startswith("CHECK FAILED")


def test_energy_price_and_discount_rate_move_the_cost(workbook_path, workbook, plan):
    costs = plan.frames["costs"]
    energy = costs.loc[costs["line"] == "energy", "amount"].sum()
    before = total_of(workbook, "Total cost, undiscounted")
    dearer = total_of(change(workbook_path, "energy price change", None), "Total cost, undiscounted")
    assert dearer - before == pytest.approx(0.5 * energy)
    patient = total_of(
        change(workbook_path, "settings/discount_rate_fraction", 0.0001), "Total cost, present value"
    )
    assert patient == pytest.approx(before, rel=1e-4)


def test_inputs_outside_their_limits_are_refused_flagged_and_fail(workbook_path):
    for path, value in (
        ("settings/discount_rate_fraction", 8),
        ("offers/buy server-a/price", None),
        ("offers/buy server-a/price", -1),
        ("offers/buy server-a/installation_fraction", "five percent"),
    ):
        book = load_workbook(workbook_path)
        sheet = book["Inputs"]
        row = next(row for row in range(6, sheet.max_row + 1) if sheet.cell(row, 1).value == path)
        sheet.cell(row, 5).value = value
        evaluator = Evaluator(book)
        assert evaluator.cell("Inputs", row, 14) == 1, (path, value)
        assert value_of(book, "ModelOK", evaluator) is False, (path, value)


def test_every_input_is_validated_and_only_its_value_can_be_changed(workbook):
    sheet = workbook["Inputs"]
    rows = [row for row in range(6, sheet.max_row + 1) if sheet.cell(row, 14).data_type == "f"]
    assert len(rows) > 15
    assert sheet.protection.sheet
    validated = {str(cells) for rule in sheet.data_validations.dataValidation for cells in rule.sqref.ranges}
    for row in rows:
        assert f"E{row}" in validated
        assert not sheet.cell(row, 5).protection.locked
        assert sheet.cell(row, 6).protection.locked
    for rule in sheet.data_validations.dataValidation:
        assert (rule.type, rule.errorStyle, rule.allow_blank) == ("custom", "stop", False)
