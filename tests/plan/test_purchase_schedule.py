"""Orders and contracts in one schedule: amounts and dates, held against each other by audit and workbook."""

from __future__ import annotations

import datetime
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from openpyxl import load_workbook
from small_scenarios import (
    SAID,
    cloud,
    demand,
    demand_charge,
    energy,
    hall,
    one_year,
    point,
    purchase,
    rental,
    scenario,
    shape,
    solved,
    workload,
)
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
MODEL = {
    "model": "dense-8b",
    "parameters_total_b": 8,
    "parameters_active_b": 8,
    "context_tokens": 131_072,
    **SAID,
}
SERVICE = {
    "api_offer": "tokens",
    "model": "dense-8b",
    "vendor": "Somebody",
    "price_input_per_mtok": 1.0,
    "price_output_per_mtok": 4.0,
    **SAID,
}


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
    assert pd.isna(built["vendor_delivery_date"])
    days = [built[name].date().isoformat() for name in DATES if name != "vendor_delivery_date"]
    assert days == ["2027-01-01", "2027-01-01", "2027-05-21", "2027-05-21", "2027-07-01"]
    bought = rows.loc["hardware"]
    assert bought["vendor_delivery_date"] <= bought["delivery_date"]
    assert bought["stored_units"] == 0
    days = [bought[name].date().isoformat() for name in DATES if name != "vendor_delivery_date"]
    assert days == ["2027-04-01", "2027-04-01", "2027-06-03", "2027-06-03", "2027-07-01"]
    assert bought["deposit_amount"] == bought["contract_value"] == 20_000


def test_days_of_installation_say_what_is_needed_and_there(plan):
    days = plan["commissioning"].set_index("limit")
    assert set(days["day"]) == {pd.Timestamp("2027-06-03")}
    assert days.loc["hall", ["serving", "tested", "needed", "available"]].tolist() == [0, 20, 20, 20]
    assert days.loc["energised power", ["needed", "available"]].tolist() == [20, 100]


@pytest.mark.parametrize("name", [*AMOUNTS, *DATES])
def test_the_audit_sees_one_cell_of_the_schedule_changed(plan, name):
    table = plan["purchases"]
    check = "purchase_dates" if name in DATES else "purchase_amounts"
    assert not fails(plan, check, "purchases", table)
    for row in table.index[table["kind"].isin(("hall", "hardware"))]:
        changed = table.copy()
        value = table.loc[row, name]
        if pd.isna(value):
            continue
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


def test_a_token_service_and_an_energy_contract_are_rows_of_the_schedule():
    """Nothing else may serve 10 requests/s of 1,000 + 500 tokens; 8 kW of wind begin in July, on half of the year."""
    tables = {
        "periods": one_year(),
        "sites": [hall(), cloud()],
        "models": [MODEL],
        "workloads": [workload(model="dense-8b")],
        "shapes": [shape(input_tokens=1_000, output_tokens=500)],
        "operating_points": [point(model="dense-8b")],
        "offers": [purchase(supply_units_per_period=0)],
        "api_offers": [SERVICE],
        "demand": demand(["2027"], 10.0),
        "ppas": [{"ppa": "wind", "site": "hall", "kw": 8, "price_per_kwh": 0.05, "currency": "USD"}],
    }
    tables["ppas"][0] |= {"start_date": "2027-07-01", **SAID}
    plan = solved(scenario(tables))
    assert audit_plan(plan).passed
    rows = plan["purchases"].set_index("kind")
    tokens = rows.loc["token service"]
    mtok = 10 * 8_760 * 3_600 / 1e6
    assert (tokens["item"], tokens["vendor"], tokens["quantity_unit"]) == ("tokens", "Somebody", "Mtok")
    assert tokens["quantity"] == pytest.approx(mtok * 1_500)
    assert tokens["contract_value"] == pytest.approx(mtok * (1_000 * 1.0 + 500 * 4.0))
    assert (tokens["deposit_amount"], tokens["owed_after_horizon"]) == (0, 0)
    assert str(tokens["in_service_date"].date()) == "2027-01-01"
    assert rows.loc["energy contract", "quantity"] == 8
    table = plan["purchases"]
    for name in ("quantity", "paid_in_horizon", "contract_value"):
        for row in table.index:
            changed = table.copy()
            changed.loc[row, name] *= 1.1
            assert fails(plan, "purchase_amounts", "purchases", changed)
    late = table.assign(in_service_date=table["in_service_date"] + pd.Timedelta(days=31))
    assert fails(plan, "purchase_dates", "purchases", late)
    assert fails(plan, "purchase_amounts", "purchases", table[table["kind"] != "token service"])


def test_a_hall_is_rented_from_the_first_delivery_where_its_contract_begins_later():
    tables = {
        "periods": one_year(),
        "sites": [hall(rent_per_kw_month=100, fixed_cost_per_year=10)],
        "offers": [purchase()],
        "demand": demand(["2027"], 1.0),
        "colo_contracts": [{"site": "hall", "start_date": "2027-06-01"}],
        "colo_ramp": [{"site": "hall", "from_month": 0, "contracted_kw": 10}],
    }
    plan = solved(scenario(tables))
    assert audit_plan(plan).passed
    table = plan["purchases"]
    rows = table.set_index("kind")
    assert str(rows.loc["colocation", "in_service_date"].date()) == "2027-01-01"
    assert str(rows.loc["hardware", "delivery_date"].date()) == "2027-01-01"
    for kind in ("colocation", "site opening"):
        late = table.copy()
        dates = ["order_by_date", "delivery_date", "ready_date", "in_service_date"]
        late.loc[late["kind"] == kind, dates] = pd.Timestamp("2027-06-01")
        assert fails(plan, "purchase_dates", "purchases", late)


def test_a_site_opens_for_a_delivery_before_its_first_period_with_power():
    """Power comes in June, inside a half-year: boxes are tested in June and serve, with the site open, from July."""
    halves = [
        {"period": name, "start_date": day, "months": 6}
        for name, day in (("h1", "2027-01-01"), ("h2", "2027-07-01"))
    ]
    least = demand_charge("at least", 2.0, minimum_kw=30)
    tables = {
        "periods": halves,
        "sites": [hall(fixed_cost_per_year=10), cloud()],
        "site_power": [{"site": "hall", "from_date": "2027-05-20", "usable_kw": 100}],
        "tariffs": [energy(), least],
        "offers": [purchase(install_weeks=4, price=9_000), rental(price=5.0)],
        "demand": demand(["h1", "h2"], 2.0),
    }
    plan = solved(scenario(tables))
    assert audit_plan(plan).passed
    rows = plan["purchases"].set_index("kind")
    delivered = rows.loc["hardware", "delivery_date"]
    assert str(delivered.date()) == "2027-06-03"
    assert rows.loc["site opening", "in_service_date"] == delivered
    bills = plan["costs"].query("line == 'demand_charge'").set_index("period")["amount"]
    assert bills.to_dict() == {"h2": pytest.approx(6 * 30 * 2.0)}
