"""Orders and contracts in one schedule: amounts and dates, held against each other by audit and workbook."""

from __future__ import annotations

import datetime
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from openpyxl import load_workbook
from small_scenarios import solved
from test_commissioning import BUILT, owned_hall, rent

from planner.plan import Plan, audit_plan
from planner.plan.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.orders.purchases import PAIRS
from planner.plan.purchases import AMOUNTS, DATES
from reports import write_workbook
from reports.date_checks import CONTRACT_PAIRS, ORDER_PAIRS, SHEET
from reports.proof import shown_blocks

sys.path.append(str(Path(__file__).parents[1] / "reports"))


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Return two boxes in a hall of our own that takes 20 weeks, rented until July."""
    return solved(owned_hall(20))


@pytest.fixture(scope="module")
def book(plan, tmp_path_factory):
    return load_workbook(write_workbook(plan, tmp_path_factory.mktemp("dates") / "report.xlsx"))


def fails(plan: Plan, check: str, frame: str, changed: pd.DataFrame) -> bool:
    wrong = replace(plan, frames={**plan.frames, frame: changed})
    return not CHECKS[check](Accounts(wrong, Facts(plan.scenario))).passed


def test_halls_and_hardware_stand_in_one_schedule_with_dates_and_values(plan):
    assert audit_plan(plan).passed
    rows = plan["purchases"].set_index("kind")
    assert rows["contract_value"].sum() == pytest.approx(plan.headline["total_cost"]) == rent(2, 2) + BUILT
    built = rows.loc["hall"]
    assert (built["quantity"], built["quantity_unit"], built["contract_value"]) == (20, "kW IT", 10_000)
    days = [built[name].date().isoformat() for name in DATES]
    assert days == ["2027-01-01", "2027-01-01", "2027-05-21", "2027-05-21", "2027-07-01"]
    bought = rows.loc["hardware"]
    days = [bought[name].date().isoformat() for name in DATES]
    assert days == ["2027-04-01", "2027-04-01", "2027-06-03", "2027-06-03", "2027-07-01"]
    assert bought["deposit_amount"] == bought["contract_value"] == 20_000


def test_days_of_installation_say_what_is_needed_and_there(plan):
    days = plan["commissioning"].set_index("limit")
    assert set(days["day"]) == {pd.Timestamp("2027-06-03")}
    assert days.loc["hall", ["serving", "tested", "needed", "available"]].tolist() == [0, 20, 20, 20]
    assert days.loc["energised power", ["needed", "available"]].tolist() == [20, 100]


@pytest.mark.parametrize("name", [*AMOUNTS[1:], *DATES])
def test_the_audit_sees_one_cell_of_the_schedule_changed(plan, name):
    table = plan["purchases"]
    check = "purchase_dates" if name in DATES else "purchase_amounts"
    assert not fails(plan, check, "purchases", table)
    for row in table.index[table["kind"].isin(("hall", "hardware"))]:
        changed = table.copy()
        value = table.loc[row, name]
        changed.loc[row, name] = value + pd.Timedelta(days=300) if name in DATES else value + 10.0
        assert fails(plan, check, "purchases", changed)
    assert fails(plan, "purchase_amounts", "purchases", table[table["kind"] != "hall"])


@pytest.mark.parametrize(("early", "late"), PAIRS)
def test_the_audit_sees_two_dates_of_the_schedule_that_contradict_each_other(plan, early, late):
    table = plan["purchases"]
    assert fails(
        plan, "purchase_dates", "purchases", table.assign(**{early: table[late] + pd.Timedelta(days=1)})
    )


@pytest.mark.parametrize("name", ["serving", "tested", "needed", "available"])
def test_the_audit_sees_another_day_of_installation(plan, name):
    days = plan["commissioning"]
    assert not fails(plan, "installation_days", "commissioning", days)
    assert fails(plan, "installation_days", "commissioning", days.assign(**{name: days[name] + 1.0}))
    assert fails(plan, "installation_days", "commissioning", days.iloc[:0])


def date_rows(book) -> list[int]:
    sheet = book["Checks"]
    return [
        row
        for row in range(1, sheet.max_row + 1)
        if str(sheet.cell(row, 4).value).startswith("=SUMPRODUCT(")
        and "Procurement!" in sheet.cell(row, 4).value
    ]


def results(book) -> list[str]:
    from formula_evaluator import Evaluator

    evaluator = Evaluator(book)
    return [evaluator.at(f"Checks!H{row}") for row in date_rows(book)]


def test_every_pair_of_dates_is_a_check_of_the_workbook(book):
    assert len(date_rows(book)) == len(ORDER_PAIRS) + len(CONTRACT_PAIRS) + 2
    assert set(results(book)) == {"PASS"}


@pytest.mark.parametrize(
    ("title", "head", "days"),
    [
        ("", "Deposit due", 1),
        ("", "Deposit due", -1),
        ("", "Order from", 400),
        ("", "Deliver by", -100),
        ("", "Deliver by", 100),
        ("", "Hall ready by", -1),
        ("", "Power ready by", 100),
        ("", "In service", -200),
        ("Orders and contracts", "Hall and power ready", 400),
        ("Orders and contracts", "Deposit due", -1),
        ("Orders and contracts", "Delivery", -300),
    ],
)
def test_a_date_moved_on_the_sheet_fails_there(book, title, head, days):
    shown = next(block for block in shown_blocks(book[SHEET]) if block.title.startswith(title))
    column = next(column for name, column in shown.heads.items() if name.split(" [")[0] == head)
    cell = next(
        book[SHEET].cell(row, column)
        for row in range(shown.first, shown.last + 1)
        if isinstance(book[SHEET].cell(row, column).value, datetime.datetime)
    )
    before = cell.value
    cell.value = before + datetime.timedelta(days=days)
    assert "FAIL" in results(book)
    cell.value = before
    assert "FAIL" not in results(book)


def test_more_under_test_than_the_hall_takes_fails_there(book):
    shown = next(
        block for block in shown_blocks(book[SHEET]) if block.title.startswith("Days of installation")
    )
    column = next(column for name, column in shown.heads.items() if name.startswith("Available"))
    cell = book[SHEET].cell(shown.first, column)
    cell.value, before = 1.0, cell.value
    assert "FAIL" in results(book)
    cell.value = before
