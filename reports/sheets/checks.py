"""Checks: formula against plan, frames against each other, and the audit; one flag for all."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from openpyxl import Workbook
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Font, PatternFill

from planner.plan.audit.report import NOTHING
from reports import styles
from reports.blocks import list_block
from reports.calculation import Calculation
from reports.cells import put, put_formula
from reports.checks import ABSOLUTE, RELATIVE, Check, formula_checks, input_checks, proof_checks, row_checks
from reports.content import Content
from reports.costs import truth
from reports.date_checks import date_checks
from reports.labels import Label, words
from reports.layout import Block, Page, finish_page, header_row, section, start_page, widen
from reports.names import define
from reports.plan_checks import plan_checks
from reports.proof import PlanTables, Proved
from reports.sheets.calc import differ_range
from reports.sheets.inputs import changed_range, refused_range

OK_CELL, STATUS_CELL, FAILED_CELL, CHANGED_CELL = "C5", "C6", "C7", "C8"
RELATIVE_CELL, ABSOLUTE_CELL = "C9", "C10"
TOLERANCES = ("Checks!$C$9", "Checks!$C$10")
"""Relative and absolute tolerance, as other sheets refer to them."""
FIRST_HEADER = 12
LABELS = (
    Label("No.", width=6),
    Label("What must hold", width=58),
    Label("Scope", width=44),
    Label("Calculated, as planned", width=18),
    Label("Reported by the plan", width=18),
    Label("Difference", width=14),
    Label("Tolerance", width=14),
    Label("Result", width=12),
    Label("Now, with changed inputs", width=18),
    Label("Now less planned", width=18),
)
AUDIT = ["number", "check", "scope", "left", "right", "difference", "tolerance", "passed"]
EXACT = "#,##0.000000;[Red]-#,##0.000000"


def fill(
    book: Workbook, content: Content, calculation: Calculation, tables: PlanTables, proved: Sequence[Proved]
) -> None:
    """Write all checks and the overall flag."""
    purpose = "Each check compares two computations of the plan as planned; what changed inputs move stands beside it."
    page = start_page(book, content, "Checks", "control", purpose)
    page.row = FIRST_HEADER
    checks = [
        *formula_checks(content, calculation, tables),
        *input_checks(refused_range(calculation), calculation),
        *row_checks(differ_range(content, calculation), calculation),
        *proof_checks(proved),
        *date_checks(book, TOLERANCES[0]),
        *plan_checks(content),
    ]
    header_row(page, LABELS)
    first = page.row
    for number, check in enumerate(checks, start=1):
        _check(page, number, check)
    results = [f"$H${first}:$H${page.row - 1}"]
    audit = _audit(page, content)
    if audit.last >= audit.first:
        results.append(f"$H${audit.first}:$H${audit.last}")
    _flags(book, page, results, changed_range(calculation))
    _colour(page, results)
    finish_page(page, f"A{FIRST_HEADER + 1}")
    page.sheet.print_title_rows = f"1:{FIRST_HEADER}"


def _check(page: Page, number: int, check: Check) -> None:
    sheet, row = page.sheet, page.row
    put(sheet, row, 1, number, "text")
    put(sheet, row, 2, check.what, "wrapped")
    put(sheet, row, 3, check.scope, "wrapped")
    if isinstance(check.left, str):
        put_formula(sheet, row, 4, check.left, "calculation", EXACT)
    else:
        put(sheet, row, 4, check.left, "plan", EXACT)
    if isinstance(check.right, str):
        put_formula(sheet, row, 5, check.right, "calculation", EXACT)
    else:
        put(sheet, row, 5, check.right, "plan", EXACT)
    difference = f"MAX(0,D{row}-E{row})" if check.at_most else f"D{row}-E{row}"
    put_formula(sheet, row, 6, difference, "calculation", styles.DIFFERENCE)
    put_formula(
        sheet,
        row,
        7,
        f"${RELATIVE_CELL[0]}${RELATIVE_CELL[1:]}*MAX(1,ABS(E{row}))",
        "calculation",
        styles.DIFFERENCE,
    )
    put_formula(sheet, row, 8, f'IF(ABS(F{row})<=G{row},"PASS","FAIL")', "check")
    if check.now:
        put_formula(sheet, row, 9, check.now, "calculation", EXACT)
        put_formula(sheet, row, 10, f"I{row}-D{row}", "calculation", EXACT)
    lines = max(len(check.what) * 1.15 // LABELS[1].width, len(check.scope) * 1.15 // LABELS[2].width)
    sheet.row_dimensions[row].height = 3 + 13.0 * (1 + lines)
    page.row += 1


def _audit(page: Page, content: Content) -> Block:
    section(page, "Audit of the plan by arithmetic without the solver (values)", len(LABELS))
    audit = _met(content.frame("checks", AUDIT[1:]))
    passed = ["PASS" if truth(value) else "FAIL" for value in audit["passed"]]
    named = [words(str(name)) for name in audit["check"]]
    shown = audit.assign(
        number=range(1, len(audit) + 1),
        check=pd.Series(named, index=audit.index, dtype="object"),
        passed=pd.Series(passed, index=audit.index, dtype="object"),
    )
    labels = dict(zip(AUDIT, LABELS, strict=False))
    forms = {"left": Label("Calculated", "", EXACT, 18), "right": Label("Reported", "", EXACT, 18)}
    forms |= {
        name: Label(title, "", styles.DIFFERENCE, 14)
        for name, title in (("difference", "Difference"), ("tolerance", "Tolerance"))
    }
    block = list_block(page, shown, AUDIT, labels | forms, wrap=("check", "scope"))
    for row in range(block.first, block.last + 1):
        cell = page.sheet.cell(row, block.columns["passed"])
        difference, tolerance = (page.sheet.cell(row, block.columns[name]) for name in AUDIT[5:7])
        if cell.value == "PASS" and _within(difference.value, tolerance.value):
            # A difference that is changed by hand changes the result.
            result = f'IF(ABS({difference.coordinate})<={tolerance.coordinate},"PASS","FAIL")'
            put_formula(page.sheet, row, block.columns["passed"], result, "check")
        else:
            styles.apply(cell, "check")
    return block


def _within(difference: object, tolerance: object) -> bool:
    return (
        isinstance(difference, int | float)
        and isinstance(tolerance, int | float)
        and abs(difference) <= tolerance
    )


def _met(audit: pd.DataFrame) -> pd.DataFrame:
    """Return the checks that the plan has something for."""
    seen = audit["rows"].astype(float).gt(0) if "rows" in audit else audit["scope"].ne(NOTHING)
    return audit[seen].reset_index(drop=True)


def _flags(book: Workbook, page: Page, results: Sequence[str], changed: str) -> None:
    sheet = page.sheet
    failed = "+".join(f'ROWS({cells})-COUNTIF({cells},"PASS")' for cells in results)
    ok = f"{FAILED_CELL}=0"
    calm = f'IF({CHANGED_CELL}>0,"INPUTS CHANGED: plan not re-optimised","Model OK: all checks pass")'
    shown = f'IF({FAILED_CELL}>0,"CHECK FAILED: see the sheet Checks",{calm})'
    rows = (
        (OK_CELL, "Model OK", ok, "check", "", "no check fails"),
        (STATUS_CELL, "Status shown on every sheet", shown, "label", "", ""),
        (FAILED_CELL, "Checks that fail", failed, "calculation", styles.COUNT_PLAIN, ""),
        (
            CHANGED_CELL,
            "Inputs changed since planning",
            f"SUM({changed})",
            "calculation",
            styles.COUNT_PLAIN,
            "",
        ),
    )
    for cell, label, formula, style, form, meaning in rows:
        row = int(cell[1:])
        put(sheet, row, 2, label, "label")
        put_formula(sheet, row, 3, formula, style, form)
        if meaning:
            put(sheet, row, 4, meaning, "note")
    row = int(RELATIVE_CELL[1:])
    put(sheet, row, 2, "Tolerance, relative (absolute below 1)", "label")
    put(sheet, row, 3, RELATIVE, "plan", "0.0000000")
    put(sheet, row + 1, 2, "Tolerance of cells near zero, absolute", "label")
    put(sheet, row + 1, 3, ABSOLUTE, "plan", "0.0000000")
    widen(page, 3, 44)
    for name, cell, meaning in (
        ("ModelOK", OK_CELL, "TRUE when no check fails"),
        ("ModelStatus", STATUS_CELL, "the status shown on every sheet"),
        ("InputsChanged", CHANGED_CELL, "inputs changed since planning"),
    ):
        define(book, name, f"{page.name}!${cell[0]}${cell[1:]}", meaning)


def _colour(page: Page, results: Sequence[str]) -> None:
    bad = PatternFill("solid", start_color=styles.FAIL_FILL, end_color=styles.FAIL_FILL)
    for cells in results:
        plain = cells.replace("$", "")
        rule = CellIsRule(
            operator="equal", formula=['"FAIL"'], fill=bad, font=Font(bold=True, color="9C0006")
        )
        page.sheet.conditional_formatting.add(plain, rule)
