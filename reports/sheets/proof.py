"""Proof: each number of the sheets that readers see, computed again from the plan's tables."""

from __future__ import annotations

from collections.abc import Sequence

from openpyxl import Workbook
from openpyxl.formula.translate import Translator
from openpyxl.utils import get_column_letter

from reports.cells import put, put_formula
from reports.content import Content
from reports.layout import Page, finish_page, section, start_page
from reports.proof import Here, PlanTables, Proved, Shown, recount_of, shown_blocks
from reports.proof.recounts import is_number

SHEET = "Proof"
PURPOSE = (
    "Each block of the sheets that readers see stands here again: black by a formula over the sheet Plan tables, "
    "green as the plan wrote it. The cells that differ are counted beside each row; sheet Checks adds them."
)
DIFFER = "Cells that differ"


def fill(
    book: Workbook, content: Content, names: Sequence[str], tables: PlanTables, tolerances: tuple[str, str]
) -> list[Proved]:
    """Write the proof of the named sheets, and return what the sheet Checks states of each block.

    Parameters
    ----------
    tolerances
        Cells of the relative and the absolute tolerance.
    """
    page = start_page(book, content, SHEET, "control", PURPOSE)
    proved = []
    for name in names:
        for shown in shown_blocks(book[name]):
            proved.append(_block(page, shown, tables, tolerances))
    page.sheet.protection.sheet = True
    for column in range(1, page.sheet.max_column + 1):
        page.widths[column] = 16
    finish_page(page, "A5")
    return proved


def _block(page: Page, shown: Shown, tables: PlanTables, tolerances: tuple[str, str]) -> Proved:
    name = f"{shown.sheet.title}: {shown.title or 'first block'}"
    cells = f"A{shown.first}:{get_column_letter(shown.width)}{shown.last}"
    section(page, f"{name} ({cells})", shown.width + 1)
    header = page.row
    differ = max(shown.width, *shown.heads.values(), 1) + 1
    for head, column in shown.heads.items():
        put(page.sheet, header, column, head, "header")
    put(page.sheet, header, differ, DIFFER, "header")
    page.row += 1
    here = Here(page.row - shown.first, header, differ + 1)
    recount = recount_of(shown)
    formulas = recount.formulas(shown, tables, here) if recount else {}
    computed = pasted = 0
    for row in range(shown.first, shown.last + 1):
        for column in range(1, shown.width + 1):
            computed += (row, column) in formulas
            pasted += _cell(page, shown, row, column, formulas.get((row, column), ""))
        _keys(page, here, row)
        put_formula(page.sheet, page.row, differ, _differ(shown, row, here, tolerances), "calculation", "0")
        page.row += 1
    letter = get_column_letter(differ)
    spread = f"{SHEET}!${letter}${here.shift + shown.first}:${letter}${page.row - 1}"
    by = f"{computed} by formula, {pasted} as planned" if computed else f"{pasted} as planned"
    return Proved(f"{name}: cells that differ", f"{cells}: {by}", spread, computed, pasted)


def _cell(page: Page, shown: Shown, row: int, column: int, formula: str) -> int:
    """Write one expected value; return 1 for a number that is pasted."""
    value = shown.value(row, column)
    if value is None:
        return 0
    form = shown.sheet.cell(row, column).number_format
    if formula:
        put_formula(page.sheet, page.row, column, formula, "calculation", form)
        return 0
    if shown.sheet.cell(row, column).data_type == "f":
        put_formula(page.sheet, page.row, column, _moved(shown, row, column, page.row), "calculation", form)
        return 0
    put(page.sheet, page.row, column, value, "plan", form)
    return int(is_number(value))


def _moved(shown: Shown, row: int, column: int, to: int) -> str:
    """Return a formula of the sheet (sums and differences inside its block) as it reads on the proof."""
    name = get_column_letter(column)
    return str(Translator(shown.value(row, column), origin=f"{name}{row}").translate_formula(f"{name}{to}"))


def _keys(page: Page, here: Here, row: int) -> None:
    for offset, value in enumerate(here.keys.get(row, ())):
        put(page.sheet, page.row, here.first_key + offset, value, "plan")


def _differ(shown: Shown, row: int, here: Here, tolerances: tuple[str, str]) -> str:
    """Return the count of cells of a row that differ: numbers beyond the tolerance, texts at all."""
    relative, absolute = tolerances
    name = shown.sheet.title
    quoted = f"'{name}'" if " " in name else name
    terms = []
    for first, last, numbers in _runs(shown, row):
        left, right = get_column_letter(first), get_column_letter(last)
        seen = f"{quoted}!{left}{row}:{right}{row}"
        own = f"{here.cell(row, first)}:{here.cell(row, last)}"
        if numbers:
            terms.append(f"SUMPRODUCT((ABS({seen}-{own})>{relative}*ABS({own})+{absolute})*1)")
        else:
            terms.append(f"SUMPRODUCT(({seen}<>{own})*1)")
    return "+".join(terms) or "0"


def _runs(shown: Shown, row: int) -> list[tuple[int, int, bool]]:
    """Return (first column, last column, numbers or not) of the cells of a row that hold something."""
    runs: list[tuple[int, int, bool]] = []
    for column in range(1, shown.width + 1):
        cell = shown.sheet.cell(row, column)
        if cell.value is None:
            continue
        numbers = cell.data_type == "f" or is_number(cell.value)
        if runs and runs[-1][1] == column - 1 and runs[-1][2] == numbers:
            runs[-1] = (runs[-1][0], column, numbers)
        else:
            runs.append((column, column, numbers))
    return runs
