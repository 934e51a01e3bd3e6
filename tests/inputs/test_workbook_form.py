"""Scenario workbooks: reading what spreadsheet programs write, writing what people can fill in."""

from __future__ import annotations

import datetime as dt
import zipfile

import openpyxl
import pytest
from scenario_rows import SETTINGS, tables

from planner.errors import InputError
from planner.inputs import load_scenario, make_scenario, write_tables
from planner.inputs.template import column_note
from planner.tables import TABLES


def letter(name: str) -> str:
    """Return the column of the sheet offers."""
    return openpyxl.utils.get_column_letter(TABLES["offers"].column_names.index(name) + 1)


PRICE = letter("price")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return write_tables(tmp_path_factory.mktemp("book") / "case.xlsx", SETTINGS, tables())


@pytest.fixture
def edited(original, tmp_path):
    """Return a function that applies an edit to a copy of the workbook and returns its path."""

    def edit(change):
        book = openpyxl.load_workbook(original)
        change(book)
        book.save(tmp_path / "plan.xlsx")
        return tmp_path / "plan.xlsx"

    return edit


def cell(book, sheet, column, row):
    names = [head.value for head in book[sheet][1]]
    return book[sheet].cell(row, names.index(column) + 1)


def refused(path):
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    return [(fault.where, fault.row, fault.column, fault.value) for fault in caught.value.faults]


def test_a_workbook_holds_the_same_scenario_as_the_values_it_was_made_of(original):
    from_file, in_memory = load_scenario(original), make_scenario(SETTINGS, tables())
    assert from_file.input_hash == in_memory.input_hash
    assert from_file.warnings == in_memory.warnings


def test_every_fault_names_sheet_row_and_cell(edited):
    def change(book):
        for row, value in zip((2, 3, 4), ("cheap", True, "#REF!"), strict=True):
            cell(book, "offers", "price", row).value = value
        cell(book, "tariffs", "price", 2).value = dt.datetime(2027, 1, 1)
        cell(book, "tariffs", "price", 3).value = "n/a"
        cell(book, "tariffs", "start_date", 2).value = dt.datetime(2027, 1, 1, 12, 30)
        cell(book, "tariffs", "start_date", 3).value = "next spring"
        cell(book, "tariffs", "start_date", 4).value = dt.time(12, 0)
        book["settings"]["B3"].value = 8

    places = refused(edited(change))
    starts = openpyxl.utils.get_column_letter(TABLES["tariffs"].column_names.index("start_date") + 1)
    assert places == [
        ("plan.xlsx[settings]", 3, "B3 (discount_rate_fraction)", "8"),
        ("plan.xlsx[offers]", 2, f"{PRICE}2 (price)", "cheap"),
        ("plan.xlsx[offers]", 3, f"{PRICE}3 (price)", "True"),
        ("plan.xlsx[offers]", 4, f"{PRICE}4 (price)", "#REF!"),
        ("plan.xlsx[tariffs]", 2, "D2 (price)", "2027-01-01T00:00:00"),
        ("plan.xlsx[tariffs]", 2, f"{starts}2 (start_date)", "2027-01-01T12:30:00"),
        ("plan.xlsx[tariffs]", 3, "D3 (price)", "n/a"),
        ("plan.xlsx[tariffs]", 3, f"{starts}3 (start_date)", "next spring"),
        ("plan.xlsx[tariffs]", 4, f"{starts}4 (start_date)", "12:00:00"),
    ]


def test_dates_numbers_and_booleans_of_a_spreadsheet_are_taken(edited):
    def change(book):
        cell(book, "offers", "available_from", 2).value = dt.datetime(2027, 1, 31)
        cell(book, "offers", "available_until", 2).value = "2027-02-28"
        cell(book, "offers", "price", 2).value = "250,000"
        cell(book, "products", "rack_scale", 2).value = True
        cell(book, "regions", "source_date", 2).value = dt.datetime(2026, 11, 1)
        cell(book, "regions", "country", 2).value = 7

    loaded = load_scenario(edited(change))
    offer = loaded.tables["offers"].iloc[0]
    assert (str(offer["available_from"].date()), str(offer["available_until"].date())) == (
        "2027-01-31",
        "2027-02-28",
    )
    assert offer["price"] == 250_000
    assert loaded.tables["products"].set_index("product")["rack_scale"]["box"]
    region = loaded.tables["regions"].set_index("region").loc["north"]
    assert (region["source_date"], region["country"]) == ("2026-11-01", "7")


def test_a_formula_without_a_stored_value_is_refused(edited):
    path = edited(lambda book: setattr(cell(book, "offers", "price", 2), "value", "=200000+50000"))
    places = refused(path)
    assert ("plan.xlsx[offers]", 2, f"{PRICE}2 (price)", None) in places


def test_a_formula_counts_with_its_stored_value(edited, tmp_path):
    path = edited(lambda book: setattr(cell(book, "offers", "price", 2), "value", "=200000+60000"))
    computed = tmp_path / "computed.xlsx"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(computed, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if b"<f>200000+60000</f>" in content:
                content = content.replace(b"<f>200000+60000</f><v />", b"<f>200000+60000</f><v>260000</v>")
                content = content.replace(b"<f>200000+60000</f><v/>", b"<f>200000+60000</f><v>260000</v>")
                assert b"<v>260000</v>" in content
            target.writestr(name, content)
    assert load_scenario(computed).tables["offers"]["price"].iloc[0] == 260_000


def test_text_that_looks_like_a_formula_is_stored_as_text(tmp_path):
    rows = tables()
    rows["workloads"][0]["business"] = '=HYPERLINK("http://x","y")'
    path = write_tables(tmp_path / "case.xlsx", SETTINGS | {"description": "=1+1"}, rows)
    with zipfile.ZipFile(path) as archive:
        sheets = [archive.read(name) for name in archive.namelist() if name.startswith("xl/worksheets/sheet")]
    assert not any(b"<f>" in sheet or b"<f " in sheet for sheet in sheets)
    loaded = load_scenario(path)
    assert loaded.tables["workloads"]["business"].iloc[0] == '=HYPERLINK("http://x","y")'
    assert loaded.settings.description == "=1+1"


def test_an_unknown_sheet_and_a_missing_one_are_named(edited):
    def change(book):
        book["demand"].title = "demands"

    places = refused(edited(change))
    assert ("plan.xlsx[demands]", None, None, None) in places
    assert ("plan.xlsx[demand]", None, None, None) in places


def test_a_sheet_without_header_is_refused(edited):
    def change(book):
        book["supply"].delete_rows(1, book["supply"].max_row)

    assert refused(edited(change)) == [("plan.xlsx[supply]", None, None, None)]


def test_a_file_that_is_no_workbook_is_refused(tmp_path):
    path = tmp_path / "plan.xlsx"
    path.write_text("offer,price\n")
    with pytest.raises(InputError, match=r"cannot be read as an \.xlsx workbook"):
        load_scenario(path)


def test_a_missing_workbook_and_another_format_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such folder or workbook"):
        load_scenario(tmp_path / "none.xlsx")
    (tmp_path / "plan.ods").write_text("")
    with pytest.raises(InputError, match=r"a scenario is a folder or an \.xlsx workbook"):
        load_scenario(tmp_path / "plan.ods")


def test_the_settings_sheet_must_have_key_and_value(edited):
    assert ("plan.xlsx[settings]", 1, "key", None) in refused(
        edited(lambda book: setattr(book["settings"]["A1"], "value", "field"))
    )


def test_a_new_workbook_has_a_sheet_for_every_table_a_scenario_can_hold(original):
    book = openpyxl.load_workbook(original)
    expected = {name for name, table in TABLES.items() if table.scope != "library"}
    assert expected | {"settings", "service_classes"} <= set(book.sheetnames)
    assert [cell.value for cell in book["supply"][1]] == TABLES["supply"].column_names
    assert book["_keys"].sheet_state == "hidden"


def test_the_workbook_explains_and_offers_choices(original):
    book = openpyxl.load_workbook(original)
    offers = book["offers"]
    price = offers[f"{PRICE}1"]
    assert price.value == "price"
    assert "currency per price_unit" in price.comment.text
    assert offers.freeze_panes == "B2"
    assert offers[f"{PRICE}2"].font.color.rgb.endswith("0000FF")
    assert offers[f"{PRICE}2"].fill.fgColor.rgb.endswith("FFFFE5")
    lists = {str(rule.sqref): rule.formula1 for rule in offers.data_validations.dataValidation}
    assert lists[f"{letter('mode')}2:{letter('mode')}1000"] == '"purchase,lease,reserved,on_demand,spot"'
    assert lists["B2:B1000"].startswith("_keys!$")
    demand = {str(rule.sqref): rule.formula1 for rule in book["demand"].data_validations.dataValidation}
    assert demand["C2:C1000"] == "periods!$A$2:$A$1000"


def test_the_note_of_a_column_states_unit_limits_and_reference():
    assert column_note(TABLES["offers"]["product"]).splitlines() == [
        "What is offered",
        "A key of products",
        "Required",
    ]
    assert "Unit: fraction" in column_note(TABLES["workloads"]["success_fraction"])
    assert "Allowed: at least 0 and at most 1" in column_note(TABLES["workloads"]["success_fraction"])


def test_text_longer_than_a_cell_holds_is_refused(tmp_path):
    rows = tables()
    rows["workloads"][0]["notes"] = "x" * 32_768
    with pytest.raises(InputError, match="longer than the 32767 characters"):
        write_tables(tmp_path / "case.xlsx", SETTINGS, rows)
    assert list(tmp_path.iterdir()) == []
