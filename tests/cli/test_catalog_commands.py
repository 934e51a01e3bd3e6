"""The catalogue can be listed, read and searched for old numbers."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from planner.cli import catalog_commands, main

CATALOGS = Path(__file__).parents[2] / "catalogs"


def run(*arguments: str) -> Result:
    """Run a command line."""
    return CliRunner().invoke(main, list(arguments))


def regions() -> list[dict[str, str]]:
    """Return the shipped regions as the CSV file has them."""
    with (CATALOGS / "regions.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_list_counts_the_rows_of_every_shipped_table() -> None:
    tables = {row["table"]: row for row in json.loads(run("catalog", "list", "--json").stdout)["tables"]}
    assert set(tables) == {path.stem for path in CATALOGS.glob("*.csv")}
    assert tables["regions"]["rows"] == len(regions())


def test_show_prints_every_row_as_it_is_shipped() -> None:
    assert json.loads(run("catalog", "show", "regions", "--json").stdout)["rows"] == regions()


def test_show_of_an_unknown_table_names_the_shipped_ones_and_exits_2() -> None:
    result = run("catalog", "show", "region")
    assert result.exit_code == 2
    assert "regions" in result.stderr


def test_stale_lists_exactly_the_rows_dated_before_the_day(monkeypatch: pytest.MonkeyPatch) -> None:
    dates = {"old": "2025-06-30", "same day": "2025-07-01", "only a year": "2025b", "no date": "n/a"}
    fx = pd.DataFrame(
        {"currency": dates.keys(), "usd_per_unit": "1", "source": "s", "source_date": dates.values()}
    )
    monkeypatch.setattr(catalog_commands, "shipped", lambda name: fx if name == "fx" else None)
    rows = json.loads(run("catalog", "stale", "--before", "2025-07-01", "--json").stdout)["rows"]
    # A date without a month counts from January, and a row without a date cannot be called fresh.
    assert [(row["table"], row["key"]) for row in rows] == [
        ("fx", "old"),
        ("fx", "only a year"),
        ("fx", "no date"),
    ]


def test_a_table_for_people_has_one_line_per_row_and_a_header() -> None:
    assert len(run("catalog", "show", "regions").stdout.splitlines()) == len(regions()) + 1
