from __future__ import annotations

import pandas as pd
import pytest
from openpyxl import load_workbook

from reports.headline import FIGURES as ALL_FIGURES
from reports.layout import HEADER_ROW

FIGURES = [figure for figure in ALL_FIGURES if figure.basis != "requests"]
"""The plan of these tests counts its output in tokens."""


def test_pandas_reads_every_headline_without_recalculation(workbook_path, plan):
    table = pd.read_excel(
        workbook_path, sheet_name="Summary", header=HEADER_ROW - 1, nrows=len(FIGURES), usecols="A:D"
    )
    values = table.set_index("Key in plan.json")["Value"]
    assert list(values.index) == [figure.key for figure in FIGURES]
    for key, value in values.items():
        assert float(value) == pytest.approx(plan.headline[key]), key


def test_headline_names_find_the_same_values(workbook_path, plan):
    book = load_workbook(workbook_path, data_only=True)
    for figure in FIGURES:
        ((sheet, cell),) = book.defined_names[figure.name].destinations
        assert book[sheet][cell.replace("$", "")].value == pytest.approx(plan.headline[figure.key])


def test_pandas_reads_the_orders_with_dates_and_numbers(workbook_path, plan):
    orders = pd.read_excel(
        workbook_path, sheet_name="Procurement", header=HEADER_ROW - 1, nrows=len(plan.frames["orders"])
    )
    assert orders["Units [units]"].sum() == plan.frames["orders"]["units"].sum()
    assert orders["Cost, undiscounted [USD]"].sum() == pytest.approx(plan.frames["orders"]["cost"].sum())
    assert pd.to_datetime(orders["Order by [date]"]).min() == pd.Timestamp("2027-01-01")


def test_baselines_stand_beside_the_plan_as_differences(workbook_path, plan):
    sheet = load_workbook(workbook_path)["Summary"]
    rows = {row[0]: row for row in sheet.iter_rows(values_only=True)}
    total = plan.headline["total_cost"]
    assert rows["This plan"][2:6] == (pytest.approx(total), 0, 0, 1)
    assert rows["Rent everything"][1:5] == (
        "optimal",
        pytest.approx(1.4 * total),
        pytest.approx(0.4 * total),
        pytest.approx(0.4),
    )
    assert rows["Do nothing"][1:6] == ("infeasible", "n/a", "n/a", "n/a", 0)
