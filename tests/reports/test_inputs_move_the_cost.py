"""Changed inputs of the workbook against plans of changed scenarios in which every decision stays what it was.

Two halls serve users of their own on the one product each may have, so no changed price moves an order or a flow:
what the planner finds is the cost of the fixed decisions.
"""

from __future__ import annotations

from functools import cache

import pytest
from formula_evaluator import Evaluator
from openpyxl import load_workbook
from small_scenarios import (
    SAID,
    box,
    cooling,
    demand,
    demand_charge,
    energy,
    hall,
    point,
    purchase,
    scenario,
    shape,
    solved,
    workload,
)

from reports import write_workbook

PLAIN = {
    "buy": 100_000.0,
    "lease": 3.0,
    "loss": 0.1,
    "hotter": 0.2,
    "energy": 0.08,
    "night": 0.05,
    "demand_price": 12.0,
    "left": 0.5,
    "chat": 3.4,
    "batch": 1.7,
    "opening": 90_000.0,
    "freight": 0.02,
    "maintenance": 0.04,
}


def planned(**changed: float):
    at = PLAIN | changed
    return scenario(
        {
            "periods": [
                {"period": "first", "start_date": "2027-01-01", "months": 12},
                {"period": "second", "start_date": "2028-01-01", "months": 6},
            ],
            "cooling": [
                cooling("air", loss_fraction=at["loss"]),
                cooling("liquid", loss_fraction=at["hotter"]),
                {"cooling": "hosted", "medium": "hosted", **SAID},
            ],
            "sites": [hall("north", opening_cost=at["opening"]), hall("south", tariff="other")],
            "facility_options": [
                {"site": "north", "cooling": "air"},
                {"site": "south", "cooling": "liquid"},
            ],
            "tariffs": [
                energy(price=at["energy"]),
                demand_charge("peak", at["demand_price"]),
                energy(tariff="other", price=0.06),
                energy("night", at["night"], tariff="other", hours="22-06"),
            ],
            "products": [
                box("own", idle_kw=2, asset_class="gpu", coolings=("air",))
                | {"maintenance_fraction_per_year": at["maintenance"]},
                box("leased", idle_kw=1, coolings=("liquid",)),
            ],
            "residuals": [
                {"asset_class": "gpu", "age_years": age, "residual_fraction": left, **SAID}
                for age, left in ((0.0, 1.0), (2.0, at["left"]), (4.0, 0.1))
            ],
            "offers": [
                purchase("buy", "own", at["buy"], freight_fraction=at["freight"], deposit_fraction=0.3),
                purchase(
                    "lease", "leased", at["lease"], mode="lease", price_unit="unit_hour", term_months=24
                ),
            ],
            "workloads": [workload("chat"), workload("batch")],
            "shapes": [shape(name, input_tokens=100, output_tokens=100) for name in ("chat", "batch")],
            "operating_points": [point("own", name="chat"), point("leased", name="batch")],
            "demand": [
                *demand(("first", "second"), at["chat"], "chat"),
                *demand(("first", "second"), at["batch"], "batch"),
            ],
        },
        residual_method="market",
        discount_rate_fraction=0.08,
    )


@cache
def plan_of(**changed: float):
    return solved(planned(**changed))


def decisions(plan):
    orders = plan["orders"][["offer", "site", "period", "units"]]
    return sorted(tuple(str(value) for value in row) for row in orders.to_numpy().tolist())


@pytest.fixture(scope="module")
def workbook_file(tmp_path_factory):
    return write_workbook(plan_of(), tmp_path_factory.mktemp("report") / "report.xlsx")


CHANGES = {
    "purchase price": ({"buy": 120_000.0}, {"offers/buy/price": 120_000.0}),
    "lease price": ({"lease": 3.3}, {"offers/lease/price": 3.3}),
    "freight": ({"freight": 0.05}, {"offers/buy/freight_fraction": 0.05}),
    "upkeep": ({"maintenance": 0.05}, {"products/own/maintenance_fraction_per_year": 0.05}),
    "PUE of one site": ({"loss": 0.15}, {"PUE of north": 1.15}),
    "PUE of the other": ({"hotter": 0.35}, {"PUE of south": 1.35}),
    "tariff of one site": ({"energy": 0.11}, {"tariffs/grid|energy/price": 0.11}),
    "demand charge": ({"demand_price": 20.0}, {"tariffs/grid|peak/price": 20.0}),
    "residual": ({"left": 0.3}, {"residuals/gpu|2.0/residual_fraction": 0.3}),
    "demand of one workload": ({"chat": 3.4 * 0.95}, {"demand change of chat": -0.05}),
    "demand of the other": ({"batch": 1.7 * 1.1}, {"demand change of batch": 0.1}),
    "opening": ({"opening": 50_000.0}, {"sites/north/opening_cost": 50_000.0}),
    "PUE and demand together": (
        {"loss": 0.15, "chat": 3.4 * 0.95, "energy": 0.11},
        {"PUE of north": 1.15, "demand change of chat": -0.05, "tariffs/grid|energy/price": 0.11},
    ),
}
QUICK = ("PUE of one site", "tariff of one site", "residual", "demand of one workload", "lease price")


def with_inputs(path, values):
    book = load_workbook(path)
    sheet = book["Inputs"]
    rows = {sheet.cell(row, 1).value: row for row in range(6, sheet.max_row + 1)}
    for name, value in values.items():
        sheet.cell(rows[name], 5).value = value
    return book


def present_value(book, sheet="Calc"):
    evaluator = Evaluator(book)
    row = next(
        row
        for row in range(6, book[sheet].max_row + 1)
        if book[sheet].cell(row, 1).value == "Total cost, present value"
    )
    return evaluator.cell(sheet, row, 8), evaluator


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CHANGES]
)
def test_the_sheets_total_moves_as_the_plan_with_fixed_decisions_does(name, workbook_file):
    changed, cells = CHANGES[name]
    new = plan_of(**changed)
    assert decisions(new) == decisions(plan_of())
    total, evaluator = present_value(with_inputs(workbook_file, cells))
    assert total == pytest.approx(new.headline["total_cost"], rel=1e-6)
    assert abs(total / plan_of().headline["total_cost"] - 1) > 1e-4
    assert evaluator.at("Checks!C5") is True
    assert present_value(with_inputs(workbook_file, cells), "Calc as planned")[0] == pytest.approx(
        plan_of().headline["total_cost"]
    )
