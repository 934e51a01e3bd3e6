"""A scenario of one's own, copied from a shipped example in either form."""

from __future__ import annotations

import openpyxl
import pytest

from planner.errors import InputError
from planner.inputs import Settings, example_names, load_scenario, new_scenario, read_tables
from planner.tables import TABLES

EXAMPLE = "small"


@pytest.mark.parametrize("name", ["mine", "mine.xlsx"])
def test_a_new_scenario_is_the_example_under_a_new_name(tmp_path, name):
    target = new_scenario(tmp_path / name, EXAMPLE)
    mine, example = load_scenario(target), load_scenario(EXAMPLE)
    assert mine.name == "mine"
    assert mine.settings.model_copy(update={"name": example.name}) == example.settings
    for table in TABLES:
        assert mine.tables[table].equals(example.tables[table]), table


@pytest.mark.parametrize("name", ["mine", "mine.xlsx"])
def test_every_setting_and_the_service_classes_are_there_to_edit(tmp_path, name):
    settings, tables = read_tables(new_scenario(tmp_path / name, EXAMPLE))
    assert list(settings) == list(Settings.model_fields)
    assert len(tables["service_classes"]) == len(load_scenario(EXAMPLE).tables["service_classes"])


def test_the_workbook_has_a_sheet_for_every_table_a_scenario_can_hold(tmp_path):
    book = openpyxl.load_workbook(new_scenario(tmp_path / "mine.xlsx", EXAMPLE), read_only=True)
    try:
        assert {name for name, table in TABLES.items() if table.scope != "library"} <= set(book.sheetnames)
    finally:
        book.close()


def test_an_unknown_example_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(InputError, match="nearest known: 'small'"):
        new_scenario(tmp_path / "mine", "smal")
    assert example_names() == sorted(example_names())


def test_what_is_there_is_kept_unless_forced(tmp_path):
    new_scenario(tmp_path / "mine", EXAMPLE)
    with pytest.raises(InputError, match="exists already"):
        new_scenario(tmp_path / "mine", EXAMPLE)
    new_scenario(tmp_path / "mine", EXAMPLE, force=True)
