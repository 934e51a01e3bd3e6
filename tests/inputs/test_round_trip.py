"""Folder and workbook hold the same scenario: nothing is lost on the way there and back."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scenario_rows import SETTINGS, tables

from planner.errors import InputError
from planner.inputs import convert_scenario, load_scenario, read_tables, typed_frame, write_tables
from planner.inputs.cells import SHEET_ERRORS
from planner.inputs.located import number_text
from planner.inputs.read import read_source
from planner.tables import TABLES

NASTY_TEXT = st.one_of(
    st.sampled_from(
        [
            "=cmd|' /C calc'!A0",
            "+1",
            "-1",
            "@x",
            "007",
            "1e5",
            "nan",
            "None",
            "TRUE",
            "2027-01-01",
            "N/A",
            "#REFERENCE",
            "'quoted'",
            '"x"',
            "a,b;c|d",
            "line\nbreak",
            "tab\tstop",
            "名前",
            "é",
            "_x000D_",
            "{}",
            "%s",
        ]
    ),
    st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"), max_size=20),
).filter(lambda text: text not in SHEET_ERRORS)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53) | st.none()
DATES = st.dates(dt.date(1970, 1, 1), dt.date(2200, 12, 31)) | st.none()
ROW = st.fixed_dictionaries(
    {
        "vendor": NASTY_TEXT,
        "price": NUMBERS,
        "term_months": NUMBERS,
        "available_from": DATES,
        "notes": NASTY_TEXT | st.none(),
        "sites": st.lists(st.sampled_from(["a", "=b", "0", "é f"]), unique=True).map(tuple),
    }
)


def offers(rows):
    return typed_frame("offers", [{"offer": f"o{at}", **row} for at, row in enumerate(rows)])


def same(left, right):
    pd.testing.assert_frame_equal(left, right, check_exact=True)


@pytest.mark.parametrize("name", ["case", "case.xlsx"])
@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows=st.lists(ROW, min_size=4, max_size=30), text=NASTY_TEXT)
def test_nasty_text_and_every_digit_survive_writing_and_reading(tmp_path, name, rows, text):
    frame = offers(rows)
    target = write_tables(tmp_path / name, SETTINGS | {"description": text}, {"offers": frame}, force=True)
    source = read_source(target)
    assert source.faults == ()
    same(typed_frame("offers", source.tables["offers"].frame), frame)
    assert (source.settings["description"] or "") == text.strip().replace("\r", "\n")


@pytest.mark.parametrize(
    "value", [0.1, 0.1 + 0.2, 1 / 3, 5e-324, 1.7976931348623157e308, 123456789012345680.0, -0.0]
)
def test_a_number_keeps_its_seventeen_digits(tmp_path, value):
    assert float(number_text(value)) == value
    frame = typed_frame("conflicts", [])
    assert frame.empty
    rows = {"roofline_constants": [{"constant": "c", "value": value, "unit": "u", "meaning": "m"}]}
    for name in ("case", "case.xlsx"):
        _, read = read_tables(write_tables(tmp_path / name, SETTINGS, rows))
        back = typed_frame("roofline_constants", read["roofline_constants"])["value"].iloc[0]
        assert np.float64(back).tobytes() == np.float64(value).tobytes() or back == value


def test_folder_to_workbook_and_back_is_the_same_scenario(tmp_path):
    folder = write_tables(tmp_path / "a", SETTINGS | {"accept": ["offers/buy box/price"]}, tables())
    book = convert_scenario(folder, tmp_path / "b.xlsx")
    again = convert_scenario(book, tmp_path / "c")
    first = load_scenario(folder)
    for path in (book, again):
        loaded = load_scenario(path)
        assert loaded.settings == first.settings
        assert loaded.input_hash == first.input_hash
        for name in TABLES:
            same(loaded.tables[name], first.tables[name])


def test_an_empty_optional_column_reads_back_empty(tmp_path):
    folder = write_tables(tmp_path / "a", SETTINGS, tables())
    convert_scenario(folder, tmp_path / "b")
    header = (tmp_path / "b" / "offers.csv").read_text().splitlines()[0].split(",")
    assert header == TABLES["offers"].column_names
    assert load_scenario(tmp_path / "b").tables["offers"]["regions"].tolist() == [(), (), ()]


def test_a_scenario_with_faults_between_tables_can_be_converted(tmp_path):
    rows = tables()
    rows["shapes"][0]["share_fraction"] = 0.1
    folder = write_tables(tmp_path / "a", SETTINGS, rows)
    assert convert_scenario(folder, tmp_path / "b.xlsx").is_file()


def test_a_cell_that_cannot_be_read_stops_the_conversion_and_leaves_nothing(tmp_path):
    folder = write_tables(tmp_path / "a", SETTINGS, tables())
    path = folder / "shapes.csv"
    path.write_text(path.read_text().replace("0.75", "most"))
    with pytest.raises(InputError, match=r"shapes\.csv row 2, column share_fraction: 'most'"):
        convert_scenario(folder, tmp_path / "b.xlsx")
    assert not (tmp_path / "b.xlsx").exists()


@pytest.mark.parametrize("name", ["case", "case.xlsx"])
def test_an_existing_target_is_kept_unless_forced(tmp_path, name):
    target = write_tables(tmp_path / name, SETTINGS, tables())
    with pytest.raises(InputError, match="exists already"):
        write_tables(target, SETTINGS | {"seed": 7}, tables())
    assert "seed" not in read_tables(target)[0]
    write_tables(target, SETTINGS | {"seed": 7}, tables(), force=True)
    assert read_tables(target)[0]["seed"] == 7
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_force_replaces_tables_and_keeps_what_is_no_part_of_a_scenario(tmp_path):
    target = write_tables(tmp_path / "case", SETTINGS, tables())
    (target / "README.md").write_text("mine")
    (target / "old").mkdir()
    rows = {name: part for name, part in tables().items() if name != "supply"}
    write_tables(target, SETTINGS, rows, force=True)
    assert not (target / "supply.csv").exists()
    assert (target / "README.md").read_text() == "mine"
    assert (target / "old").is_dir()


def test_an_empty_folder_is_a_free_place(tmp_path):
    (tmp_path / "case").mkdir()
    assert load_scenario(write_tables(tmp_path / "case", SETTINGS, tables())).name == "case"


@pytest.mark.parametrize("name", ["case", "case.xlsx"])
def test_nothing_is_left_when_writing_breaks_half_way(tmp_path, name, monkeypatch):
    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr("planner.inputs.write.settings_text", broken)
    monkeypatch.setattr("planner.inputs.template.build_workbook", broken)
    with pytest.raises(OSError, match="disk full"):
        write_tables(tmp_path / name, SETTINGS, tables())
    assert list(tmp_path.iterdir()) == []


def test_a_value_of_the_wrong_type_is_not_written(tmp_path):
    with pytest.raises(InputError, match="offers row 2, column price"):
        write_tables(tmp_path / "case", SETTINGS, {"offers": [{"offer": "x", "price": "cheap"}]})
    assert list(tmp_path.iterdir()) == []
