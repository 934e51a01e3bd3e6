"""Finance: the investment case, the reconciliation of the ledgers, commitments, and what businesses are charged."""

from __future__ import annotations

import pandas as pd
from openpyxl import Workbook
from openpyxl.utils import get_column_letter

from planner.plan.finance.chargeback import RECOMMENDED
from planner.plan.finance.chargeback import VIEWS as VIEW_DEFINITIONS
from reports import styles
from reports.blocks import list_block
from reports.cells import put, put_formula
from reports.content import Content
from reports.costs import line_rank
from reports.labels import Label, words
from reports.layout import Page, finish_page, section, start_page
from reports.output import outputs_of

PURPOSE = (
    "The plan as an investment against each baseline; the three ledgers side by side; terms that outlive the horizon; "
    "cost handed on to business lines in three views, defined there. Differences are live formulas and must be zero."
)
SUMS = (
    "present_value",
    "discounting",
    "economic",
    "value_at_horizon_end",
    "paid_before",
    "paid_in_horizon",
    "paid_after",
    "expensed_in_horizon",
    "expensed_after",
)
MONEY = ("{currency}", styles.MONEY, 16)
LABELS = {
    "baseline": Label("Baseline", width=30),
    "measure": Label("Measure", width=32),
    "value": Label("Value", "", "#,##0.000", 16),
    "unit": Label("Unit", width=16),
    "definition": Label("Definition", width=50),
    "reason": Label("Why there is none, or by what", width=50),
    "convention": Label("Discounting", width=50),
    "line": Label("Cost line", width=30),
    "present_value": Label("Present value", *MONEY),
    "discounting": Label("Discounting", *MONEY),
    "economic": Label("Economic", *MONEY),
    "value_at_horizon_end": Label("of which value at horizon end", *MONEY),
    "paid_before": Label("Paid before", *MONEY),
    "paid_in_horizon": Label("Paid in horizon", *MONEY),
    "paid_after": Label("Paid after", *MONEY),
    "expensed_in_horizon": Label("Expensed in horizon", *MONEY),
    "expensed_after": Label("Expensed after", *MONEY),
    "offer": Label("Offer", width=30),
    "site": Label("Site", width=22),
    "period": Label("Ordered", width=16),
    "mode": Label("Mode", width=16),
    "units": Label("Units", "units", styles.COUNT, 16),
    "term_end_date": Label("Term ends", "date", styles.DATE, 16),
    "owed_after_horizon": Label("Owed after horizon", *MONEY),
    "service_value_fraction": Label("Service left is worth", "%", styles.PERCENT_PLAIN, 16),
    "charge_at_horizon_end": Label("Charged", *MONEY),
    "capitalised": Label("On balance sheet", width=16),
    "business": Label("Business line", width=30),
    "by use": Label("By use", *MONEY),
    "by allocation": Label("By allocation", *MONEY),
    "fully loaded": Label("Fully loaded", *MONEY),
    "life_years": Label("Depreciation life [years]", "", "0", 30),
    "depreciation_per_year": Label("Depreciation per year", *MONEY),
    "per_busy_unit_hour": Label("Per busy unit-hour", "{currency}", "#,##0.00", 16),
    "expense_per_mtok": Label("Expense per Mtok", "{currency}", styles.PER_MTOK, 16),
    "expense_per_million_requests": Label("Expense per million requests", "{currency}", styles.PER_MTOK, 16),
}
COMMITMENT = [
    "offer",
    "site",
    "period",
    "mode",
    "units",
    "term_end_date",
    "paid_in_horizon",
    "owed_after_horizon",
    "service_value_fraction",
    "charge_at_horizon_end",
    "capitalised",
]
CASE = ["baseline", "measure", "value", "unit", "definition", "reason", "convention"]
LIVES = ["life_years", "depreciation_per_year", "per_busy_unit_hour", "expense_per_mtok"]
VIEWS = ["by use", "by allocation", "fully loaded"]


def fill(book: Workbook, content: Content) -> None:
    """Write the sheet."""
    page = start_page(book, content, "Finance", "output", PURPOSE)
    case = content.frame("investment", CASE).reindex(columns=CASE)
    forms = [
        styles.PERCENT_PLAIN if unit.startswith("fraction") else "0.00" if unit == "years" else styles.MONEY
        for unit in case["unit"]
    ]
    shown = case.assign(unit=[unit.replace("fraction", "%") for unit in case["unit"]])
    list_block(page, shown, CASE, LABELS, forms={"value": forms})
    _reconciliation(page)
    section(page, "Leases and reservations", 12)
    list_block(page, content.frame("commitments", COMMITMENT), COMMITMENT, LABELS)
    _chargeback(page)
    section(page, "What the depreciation life of bought hardware changes", 12)
    lives = [*LIVES[:-1], *(f"expense_per_{one.rate}" for one in outputs_of(content))]
    list_block(page, content.frame("depreciation_lives", lives), lives, LABELS)
    finish_page(page, "A6")


def _reconciliation(page: Page) -> None:
    """Write the ledgers by line with live differences: economic to cash, cash to accounting."""
    section(page, "Economic, cash and accounting ledger by line, undiscounted", 12)
    table = page.content.frame("reconciliation", ["line", *SUMS])
    order = sorted(range(len(table)), key=lambda index: line_rank(str(table["line"].iloc[index])))
    table = table.iloc[order].assign(line=[words(str(table["line"].iloc[index])) for index in order])
    block = list_block(page, table, ["line", *SUMS], LABELS)
    letter = {name: get_column_letter(number) for name, number in block.columns.items()}
    first = len(SUMS) + 2
    heads = ("Economic - cash", "Cash - accounting")
    for offset, head in enumerate(heads):
        put(page.sheet, block.header, first + offset, head, "header")
    financing = {words("loans"), words("income_tax")}
    for row in range(block.first, block.last + 1):
        at = {name: f"{column}{row}" for name, column in letter.items()}
        to_cash = f"{at['economic']}-{at['value_at_horizon_end']}-{at['paid_in_horizon']}"
        to_books = (
            f"{at['paid_before']}+{at['paid_in_horizon']}+{at['paid_after']}"
            f"-{at['expensed_in_horizon']}-{at['expensed_after']}"
        )
        if page.sheet.cell(row, 1).value in financing:
            put(page.sheet, row, first, 0, "number", styles.DIFFERENCE)
        else:
            put_formula(page.sheet, row, first, to_cash, form=styles.DIFFERENCE)
        put_formula(page.sheet, row, first + 1, to_books, form=styles.DIFFERENCE)
    if block.last >= block.first:
        put(page.sheet, page.row, 1, "Total", "total label")
        for name in SUMS:
            span = f"{letter[name]}{block.first}:{letter[name]}{block.last}"
            put_formula(page.sheet, page.row, block.columns[name], f"SUM({span})", "total", styles.MONEY)
        page.row += 1


def _by_business(content: Content, rates: list[str]) -> pd.DataFrame:
    """Return business, unit, amount and unit cost in each view; of an older plan its amounts alone."""
    frame = content.frame("chargeback_rates", ["view", "business", "basis", "amount", "unit_cost", "unit"])
    if frame.empty:
        older = content.frame("chargeback", ["view", "business", "period", "amount"])
        frame = older.groupby(["view", "business"], as_index=False)["amount"].sum()
        frame = frame.assign(basis="", unit_cost=float("nan"), unit="")
    if frame.empty:
        return pd.DataFrame(columns=["business", *VIEWS, *rates, "unit"])
    line = ["business", "basis", "unit"]
    amounts = frame.pivot_table(index=line, columns="view", values="amount", aggfunc="sum", fill_value=0.0)
    each = frame.groupby([*line, "view"])["unit_cost"].first()
    for view, name in zip(VIEWS, rates, strict=True):
        amounts[name] = each.xs(view, level="view").reindex(amounts.index) if len(each) else float("nan")
    return amounts.reindex(columns=[*VIEWS, *rates]).fillna(dict.fromkeys(VIEWS, 0.0)).reset_index()


def _chargeback(page: Page) -> None:
    section(page, "Operating expense of the horizon handed on to business lines", 12)
    for view, definition in VIEW_DEFINITIONS.items():
        told = f"{words(view)} (recommended)" if view == RECOMMENDED else words(view)
        put(page.sheet, page.row, 1, told, "label")
        put(page.sheet, page.row, 2, definition, "note")
        page.row += 1
    rates = [f"{view}, unit cost" for view in VIEWS]
    wide = _by_business(page.content, rates)
    per = {name: Label(words(name), "", styles.PER_MTOK, 16) for name in rates}
    labels = LABELS | per | {"unit": Label("Unit cost is per", width=16)}
    block = list_block(page, wide, ["business", *VIEWS, *rates, "unit"], labels)
    if block.last >= block.first:
        put(page.sheet, page.row, 1, "Total", "total label")
        for name in VIEWS:
            letter = get_column_letter(block.columns[name])
            span = f"{letter}{block.first}:{letter}{block.last}"
            put_formula(page.sheet, page.row, block.columns[name], f"SUM({span})", "total", styles.MONEY)
        page.row += 1
