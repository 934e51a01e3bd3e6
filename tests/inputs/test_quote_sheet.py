"""A quote sheet goes out with lists and limits and comes back as offers, or as a fault per bad cell."""

import datetime as dt
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from openpyxl import load_workbook

from planner.cli import main
from planner.errors import InputError
from planner.inputs import load_scenario, typed_frame
from planner.inputs.importers.quote_sheet import import_quotes
from planner.inputs.quotes import QUOTES_SHEET, header_name, quote_table, write_quotes

PURCHASE = {
    "offer": "Quote A", "vendor": "Acme", "product": "HGX H200 8x", "mode": "purchase", "includes": "hardware",
    "price": 390_000, "price_unit": "unit", "currency": "USD", "available_until": dt.datetime(2027, 3, 31),
    "lead_weeks_low": 10, "lead_weeks": 16, "lead_weeks_high": 26, "install_weeks": 2, "deposit_fraction": 0.3,
    "delivery_fraction": 0.6, "minimum_order_units": 4, "tier2_from_units": 10, "tier2_price": 380_000,
    "tier3_from_units": 50, "tier3_price": 360_000, "basis": "all_units", "counts": "order",
}  # fmt: skip


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    return write_quotes(load_scenario("small"), tmp_path_factory.mktemp("rfq") / "rfq.xlsx")


def filled(template: Path, folder: Path, *rows: dict[str, object]) -> Path:
    """Return the template with these rows instead of its own; a text beginning with ``=`` becomes a formula."""
    book = load_workbook(template)
    sheet = book[QUOTES_SHEET]
    letters = {header_name(cell.value): cell.column for cell in sheet[1]}
    for row in range(2, 12):
        for column in letters.values():
            sheet.cell(row, column).value = None
    for number, row in enumerate(rows, start=2):
        for name, value in row.items():
            sheet.cell(number, letters[name]).value = value
    file = folder / "back.xlsx"
    book.save(file)
    return file


def test_the_template_has_a_row_per_product_units_and_rules_on_the_cells(template):
    sheet = load_workbook(template)[QUOTES_SHEET]
    headers = [cell.value for cell in sheet[1]]
    assert [header_name(text) for text in headers] == quote_table().column_names
    assert "lead_weeks_low [weeks]" in headers
    assert "price [currency per price_unit]" in headers
    kinds = {rule.type for rule in sheet.data_validations.dataValidation}
    assert kinds == {"list", "decimal", "whole", "date"}
    offers = load_scenario("small").tables["offers"]
    quoted = {(row[2].value, row[3].value) for row in sheet.iter_rows(min_row=2) if row[0].value}
    assert quoted == set(zip(offers["product"], offers["mode"], strict=True))


def test_a_filled_in_sheet_becomes_offers_with_tiers(template, tmp_path):
    blank = {"offer": "Quote B", "product": "HGX H200 8x", "mode": "purchase"}
    result = import_quotes(filled(template, tmp_path, PURCHASE, blank), quote_date="2026-11-29")
    offers = typed_frame("offers", result.tables["offers"])
    assert len(offers) == 1
    offer = offers.iloc[0]
    stated = (offer["price"], offer["lead_weeks_low"], offer["lead_weeks"], offer["lead_weeks_high"])
    assert stated == (390_000, 10, 16, 26)
    assert (offer["deposit_fraction"], offer["minimum_order_units"], offer["confidence"]) == (
        0.3,
        4,
        "quoted",
    )
    assert str(offer["available_until"].date()) == "2027-03-31"
    tiers = typed_frame("offer_tiers", result.tables["offer_tiers"])
    assert tiers["from_units"].tolist() == [10, 50]
    assert tiers["price"].tolist() == [380_000, 360_000]
    assert result.tables["sources"]["source"].tolist() == [offer["source"]]
    assert result.rejected["rows"].tolist() == [1]


def test_every_bad_cell_is_a_fault_and_nothing_is_written(template, tmp_path):
    file = filled(
        template,
        tmp_path,
        {**PURCHASE, "price": "about 390k", "currency": "DOLLAR", "product": "HGX H200 9x"},
        {**PURCHASE, "offer": "Quote C", "mode": "buy", "deposit_fraction": 30, "available_until": None},
        {
            **PURCHASE,
            "offer": "Quote D",
            "lead_weeks_low": 20,
            "delivery_fraction": 0.8,
            "tier3_price": 385_000,
        },
        {**PURCHASE, "offer": "Quote E", "price": 39_000_000, "tier2_from_units": None, "counts": None},
        {**PURCHASE, "offer": "Quote D", "minimum_order_units": 2.5},
    )
    out = tmp_path / "out"
    answer = CliRunner().invoke(main, ["import", "quotes", str(file), "-o", str(out)])
    assert answer.exit_code == 2
    assert not out.exists()
    with pytest.raises(InputError) as raised:
        import_quotes(file)
    found = {(fault.row, str(fault.column).split("(")[-1].rstrip(")")) for fault in raised.value.faults}
    assert found >= {
        (2, "price"), (2, "currency"), (2, "product"), (3, "mode"), (3, "deposit_fraction"), (3, "available_until"),
        (4, "lead_weeks_low"), (4, "delivery_fraction"), (4, "tier3_price"), (5, "price"), (5, "tier2_from_units"),
        (5, "counts"), (6, "minimum_order_units"), (6, "offer"),
    }  # fmt: skip
    mode = next(fault for fault in raised.value.faults if str(fault.column).endswith("(mode)"))
    assert mode.where == "back.xlsx[quotes]"
    assert mode.column == "D3 (mode)"
    assert mode.value == "buy"
    assert "purchase" in mode.message


def test_formulas_without_a_value_are_refused_and_text_stays_text(template, tmp_path):
    file = filled(template, tmp_path, {**PURCHASE, "price": "=390000*1"})
    with pytest.raises(InputError, match="formula without a stored value"):
        import_quotes(file)
    scenario = load_scenario("small")
    offers = scenario.tables["offers"].assign(product="=cmd")
    odd = type(scenario)(**{**vars(scenario), "tables": {**scenario.tables, "offers": offers}})
    cell = load_workbook(write_quotes(odd, tmp_path / "odd.xlsx"))[QUOTES_SHEET]["C2"]
    assert (cell.value, cell.data_type) == ("=cmd", "s")


def test_other_workbooks_and_empty_sheets_are_refused(template, tmp_path):
    with pytest.raises(InputError, match="holds no quote"):
        import_quotes(template)
    text = tmp_path / "text.xlsx"
    text.write_text("no workbook")
    with pytest.raises(InputError, match="cannot be read"):
        import_quotes(text)
    with pytest.raises(InputError, match="exists already"):
        write_quotes(load_scenario("small"), template)


def test_a_quote_for_one_chip_and_a_formula_are_told_once_each(template, tmp_path):
    formula = PURCHASE | {"offer": "Quote C", "price": "=2*195000"}
    with pytest.raises(InputError) as caught:
        import_quotes(filled(template, tmp_path, PURCHASE | {"price": 40_000}, formula))
    prices = [str(fault) for fault in caught.value.faults if str(fault.column).endswith("price)")]
    assert sum("price of one chip?" in text for text in prices) == 1
    cells = [
        fault for fault in caught.value.faults if "formula" in fault.message or "required" in fault.message
    ]
    assert len(cells) == 1


def asked(offer: str) -> pd.DataFrame:
    """Return two requests for quotation of one offer, in two quarters."""
    day = pd.Timestamp
    return pd.DataFrame(
        {
            "offer": [offer, offer],
            "quarter": ["2027-Q1", "2027-Q3"],
            "units": [8.0, 4.0],
            "first_order_by": [day("2027-02-10"), day("2027-08-01")],
            "first_delivery_by": [day("2027-05-31"), day("2027-11-15")],
            "sites": ["Ashburn;Dallas", "Dallas"],
        }
    )


def test_a_plan_states_quantities_and_dates_beside_each_line_and_the_reader_leaves_them_out(tmp_path):
    scenario = load_scenario("small")
    offers = scenario.tables["offers"]
    bought = offers[offers["mode"] == "purchase"].iloc[0]
    file = write_quotes(scenario, tmp_path / "asked.xlsx", rfq=asked(bought["offer"]))
    sheet = load_workbook(file)[QUOTES_SHEET]
    headers = [header_name(cell.value) for cell in sheet[1]]
    rows = [
        dict(zip(headers, row, strict=True)) for row in sheet.iter_rows(min_row=2, values_only=True) if row[0]
    ]
    told = [row for row in rows if row["asked_units"] is not None]
    assert [(row["product"], row["mode"]) for row in told] == [(bought["product"], "purchase")]
    assert told[0]["asked_units"] == 12
    assert told[0]["asked_order_by"] == dt.datetime(2027, 2, 10)
    assert told[0]["asked_delivery_by"] == dt.datetime(2027, 5, 31)
    assert (
        told[0]["asked_schedule"]
        == "2027-Q1: 8, delivered by 2027-05-31; 2027-Q3: 4, delivered by 2027-11-15"
    )
    assert told[0]["asked_sites"] == "Ashburn; Dallas"
    line = {name: value for name, value in told[0].items() if name.startswith("asked_")}
    plain = write_quotes(scenario, tmp_path / "plain.xlsx")
    # Whatever is typed over the information is not read: neither a fault nor another offer.
    (tmp_path / "back").mkdir()
    with_them = filled(file, tmp_path / "back", PURCHASE | line | {"asked_units": "about a dozen"})
    without = filled(plain, tmp_path, PURCHASE)
    read, expected = (import_quotes(path, quote_date="2026-11-29") for path in (with_them, without))
    pd.testing.assert_frame_equal(read.tables["offers"], expected.tables["offers"])


def test_a_plan_of_another_scenario_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such offer"):
        write_quotes(load_scenario("small"), tmp_path / "asked.xlsx", rfq=asked("nobody's"))
    assert not (tmp_path / "asked.xlsx").exists()
