"""Reading a scenario folder: what is taken without complaint and what is refused, with its line."""

from __future__ import annotations

import pytest
from scenario_rows import SETTINGS, tables

from planner.errors import InputError
from planner.inputs import load_scenario, read_tables, write_tables
from planner.inputs.folder import column_letter, read_csv


@pytest.fixture
def folder(tmp_path):
    return write_tables(tmp_path / "case", SETTINGS, tables())


def refused(folder):
    with pytest.raises(InputError) as caught:
        load_scenario(folder)
    return caught.value.faults


def edit(path, old, new, encoding="utf-8"):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding=encoding, newline="")


def test_a_byte_order_mark_windows_line_ends_and_blanks_are_taken(folder):
    before = load_scenario(folder)
    for path in folder.glob("*.csv"):
        lines = path.read_text(encoding="utf-8").splitlines()
        padded = [f"{line},," for line in lines] + ["," * lines[0].count(",") + ",,", "  ,", ""]
        path.write_text("\r\n".join(padded), encoding="utf-8-sig", newline="")
    edit(folder / "regions.csv", "north", "  north ")
    assert load_scenario(folder).input_hash == before.input_hash


def test_thousands_separators_in_quoted_numbers_are_taken(folder):
    edit(folder / "offers.csv", ",250000,", ',"250,000.0",')
    assert load_scenario(folder).tables["offers"]["price"].iloc[0] == 250_000


def test_columns_may_stand_in_any_order(folder):
    before = load_scenario(folder).input_hash
    lines = [line.split(",") for line in (folder / "periods.csv").read_text().splitlines()]
    (folder / "periods.csv").write_text("\n".join(",".join(reversed(line)) for line in lines))
    assert load_scenario(folder).input_hash == before


def test_text_that_begins_with_an_equals_sign_is_text(folder):
    edit(folder / "workloads.csv", "assistant", "=2+3")
    assert load_scenario(folder).tables["workloads"]["business"].iloc[0] == "=2+3"


def test_a_row_number_is_the_line_in_the_file(folder):
    path = folder / "fx.csv"
    header, *rows = path.read_text().splitlines()
    rows[0] += '"two\nlines"' if rows[0].endswith(",") else ""
    path.write_text("\n".join([header, rows[0], "", ",,,", rows[1].replace("1.1", "-1.1")]))
    (fault,) = [fault for fault in refused(folder) if fault.column == "usd_per_unit"]
    assert (fault.where, fault.row, fault.value) == ("fx.csv", 5, "-1.1")


def test_a_row_number_counts_lines_inside_a_cell(tmp_path):
    path = tmp_path / "fx.csv"
    path.write_text('currency,notes\nUSD,"one\ntwo\nthree"\nEUR,x\n')
    raw, faults = read_csv(path, "fx.csv")
    assert faults == []
    assert list(raw.rows) == [2, 5]
    assert raw.columns["notes"] == ["one\ntwo\nthree", "x"]


@pytest.mark.parametrize(
    ("name", "content", "row", "column", "message"),
    [
        ("fx.csv", "", None, None, "no header"),
        ("fx.csv", "\n\n", 1, None, "no header"),
        ("fx.csv", "currency;usd_per_unit\nUSD;1\n", 1, None, "separated by commas"),
        ("fx.csv", "currency,currency\nUSD,1\n", 1, "currency", "named twice (cells 1 and 2)"),
        ("fx.csv", "currency,usd_per_units\n", 1, "usd_per_units", "nearest known: 'usd_per_unit'"),
        ("fx.csv", "currency,source\n", 1, "usd_per_unit", "required column is missing"),
        ("fx.csv", "currency,usd_per_unit\nUSD,1,7\n", 2, None, "no column name above this cell (cell 3)"),
        ("fx.csv", 'currency\n"USD\n', 2, None, "not valid CSV"),
        ("demand.csv", "workload,region,period\n", None, None, "has no rows"),
    ],
)
def test_a_file_that_is_no_table_is_refused(folder, name, content, row, column, message):
    (folder / name).write_text(content)
    found = [fault for fault in refused(folder) if message in fault.message]
    assert (name, row, column) in [(fault.where, fault.row, fault.column) for fault in found]


def test_a_file_that_is_not_utf8_is_refused_with_its_line(folder):
    edit(folder / "regions.csv", "north", "nørth", encoding="latin-1")
    found = [fault for fault in refused(folder) if "not UTF-8" in fault.message]
    assert [(fault.where, fault.row) for fault in found] == [("regions.csv", 2)]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("offer.csv", "nearest known: 'offers.csv'"),
        ("scenario.yml", "nearest known: 'scenario.yaml'"),
        ("old demand.xlsx", "unknown file"),
    ],
)
def test_an_unknown_file_is_refused(folder, name, message):
    (folder / name).write_text("x")
    (fault,) = [fault for fault in refused(folder) if fault.where == name]
    assert message in fault.message


def test_notes_and_hidden_files_are_left_alone(folder):
    (folder / "README.md").write_text("mine")
    (folder / ".DS_Store").write_bytes(b"\x00")
    (folder / "old").mkdir()
    assert load_scenario(folder).name == "case"


@pytest.mark.parametrize("name", ["periods", "workloads", "shapes", "demand", "sites"])
def test_a_missing_table_that_every_plan_needs_is_named(folder, name):
    (folder / f"{name}.csv").unlink()
    assert any(
        (fault.where, fault.row) == (f"{name}.csv", None) and fault.message.startswith("missing: ")
        for fault in refused(folder)
    )


def test_a_folder_without_settings_is_refused(folder):
    (folder / "scenario.yaml").unlink()
    assert refused(folder)[0].where == "scenario.yaml"


def test_neither_path_nor_example_is_refused_with_the_examples():
    with pytest.raises(InputError, match="no such folder or workbook, and no shipped example") as caught:
        load_scenario("no-such-thing")
    assert caught.value.faults[0].value == "no-such-thing"


def test_raw_frames_hold_cells_as_read_by_line(folder):
    settings, frames = read_tables(folder)
    assert settings == SETTINGS
    assert frames["periods"].loc[2, "start_date"] == "2027-01-01"
    assert frames["periods"].index.tolist() == [2, 3]


def test_letters_of_columns():
    assert [column_letter(at) for at in (0, 25, 26, 51, 52, 701, 702)] == [
        "A",
        "Z",
        "AA",
        "AZ",
        "BA",
        "ZZ",
        "AAA",
    ]
