"""Settings: fields, limits, lists, and the line of every fault."""

from __future__ import annotations

import pytest
from scenario_rows import SETTINGS, scenario, tables

from planner.errors import InputError
from planner.inputs import Settings, load_scenario, make_scenario, write_tables
from planner.inputs.folder import read_settings
from planner.inputs.policies import parse_settings
from planner.inputs.write import settings_text


@pytest.mark.parametrize(
    ("text", "row", "column", "message"),
    [
        ("name: a\ndiscount_rate_fraction: 8\n", 2, "discount_rate_fraction", "less than or equal to 1"),
        ("name: a\n", None, "discount_rate_fraction", "required"),
        ("name: a\ndiscount_rate_fraction: 8%\n", 2, "discount_rate_fraction", "valid number"),
        ("name: a\ndiscount_rate_fraction: .nan\n", 2, "discount_rate_fraction", "finite number"),
        ("name: a\ndiscount_rate_fraction: 0\ngapp: 0\n", 3, "gapp", "nearest known: 'gap'"),
        ("name: a\ndiscount_rate_fraction: 0\nobjective: least\n", 3, "objective", "'unit-cost' or 'cost'"),
        ("name: a\ndiscount_rate_fraction: 0\ngap:\n", 3, "gap", "delete the line"),
        ("name: a\ndiscount_rate_fraction: 0\nseed: 1.5\n", 3, "seed", "valid integer"),
        ("name: a\nname: b\ndiscount_rate_fraction: 0\n", 2, "name", "stated twice; first on line 1"),
        ("name: a\ndiscount_rate_fraction: [\n", 3, None, "not valid YAML"),
        ("- name\n", None, None, "must hold lines"),
        ("", None, None, "must hold lines"),
        (
            "name: a\ndiscount_rate_fraction: 0\ncatalog_offers: [nothing]\n",
            None,
            "catalog_offers",
            "catalogue",
        ),
        ("name: a\ndiscount_rate_fraction: 0\ncurrency: EURO\n", None, "currency", "nearest known: 'EUR'"),
    ],
)
def test_a_wrong_setting_is_named_with_its_line(tmp_path, text, row, column, message):
    folder = write_tables(tmp_path / "case", SETTINGS, tables())
    (folder / "scenario.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        load_scenario(folder)
    found = [fault for fault in caught.value.faults if message in fault.message]
    assert [(fault.where, fault.row, fault.column) for fault in found] == [("scenario.yaml", row, column)]


def test_lists_are_taken_as_yaml_or_separated_by_semicolons():
    settings = Settings(name="a", discount_rate_fraction=0, accept="a/b/c; d/e/f", catalog_sites="all")
    assert settings.accept == ("a/b/c", "d/e/f")
    assert settings.catalog_sites == "all"
    assert Settings(name="a", discount_rate_fraction=0, catalog_offers=["x"]).catalog_offers == ("x",)


def test_every_setting_says_what_it_means():
    assert all(field.description for field in Settings.model_fields.values())


def test_settings_cannot_be_edited():
    with pytest.raises(ValueError, match="frozen"):
        scenario().settings.gap = 0.1


def test_settings_written_read_back_the_same(tmp_path):
    settings = Settings(
        name="a: b #c",
        description="line one\nline two: =x",
        discount_rate_fraction=1e-05,
        time_limit_s=None,
        catalog_offers=("x | y", "007"),
        accept=("offers/a|b/price",),
    )
    path = tmp_path / "scenario.yaml"
    path.write_text(settings_text(settings.model_dump(mode="json")), encoding="utf-8")
    values, lines, faults = read_settings(path)
    assert faults == []
    assert Settings(**values) == settings
    assert lines["name"] == 2


def test_a_part_of_a_scenario_can_be_made_to_try_one_stage():
    rows = {name: tables()[name] for name in ("periods", "fx", "sources")}
    assert make_scenario(SETTINGS, rows, catalog=False).tables["periods"].shape[0] == 2


def test_an_unknown_table_is_refused():
    with pytest.raises(InputError, match="unknown table; nearest known: 'offers'"):
        make_scenario(SETTINGS, {"offer": [{"offer": "x"}]}, catalog=False)


def test_a_wrong_setting_blames_no_row_that_names_a_shipped_offer(tmp_path):
    folder = write_tables(tmp_path / "case", SETTINGS, tables())
    (folder / "scenario.yaml").write_text("name: a\ndiscount_rate_fraction: 8\n")
    (folder / "supply.csv").write_text("offer,period,units\nHGX H100 8x purchase,P1,3\nno such offer,P1,3\n")
    with pytest.raises(InputError) as caught:
        load_scenario(folder)
    named = [fault.value for fault in caught.value.faults if fault.column == "offer"]
    assert named == ["no such offer"]


def test_a_blank_setting_whose_default_is_nothing_stays_blank():
    settings = {"name": "a", "discount_rate_fraction": 0.1, "loan_rate_fraction": None, "description": None}
    read, faults = parse_settings("here", settings, {})
    assert faults == []
    assert read is not None
    assert read.loan_rate_fraction is None
    assert parse_settings("here", settings | {"gap": None}, {})[1]
