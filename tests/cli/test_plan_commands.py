"""`planner solve`, `audit` and `report`: what lands on stdout, on disk and in the exit code.

The scenario: 30 requests/s; A serves 10 at 1 per hour, B serves 50 at 4 per hour. Three A cost 3, one B
costs 4, so three A are rented for the one hour.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import foreign_files
import openpyxl
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from planner.cli import main


def run(*arguments: str) -> Result:
    """Run a command line."""
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the scenario `mix`, its plan in `plan`, and what solving it printed in `printed`."""
    folder = tmp_path_factory.mktemp("plans")
    foreign_files.write_all(folder)
    scenario = str(folder / "mix")
    assert run("import", "gpu-mix", str(folder / "mix.json"), "--rate", "30", "-o", scenario).exit_code == 0
    solved = run("solve", scenario, "--out", str(folder / "plan"))
    assert solved.exit_code == 0
    (folder / "printed").write_text(solved.stdout, encoding="utf-8")
    return folder


@pytest.fixture
def copied(place: Path, tmp_path: Path) -> Path:
    """Return a copy of the solved plan."""
    return Path(shutil.copytree(place / "plan", tmp_path / "plan"))


def test_a_process_writes_plan_json_to_stdout_and_progress_to_stderr(place: Path, copied: Path) -> None:
    command = [sys.executable, "-c", "from planner.cli import main; main()", "solve", str(place / "mix")]
    command += ["--out", str(copied), "--json", "--no-report", "--no-baselines"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "planning" in shown.stderr
    document = json.loads(shown.stdout)
    saved = json.loads((copied / "plan.json").read_text(encoding="utf-8"))
    assert document == {key: value for key, value in saved.items() if key not in ("scenario", "tables")}
    # The workbook of the earlier run is gone, it would contradict the plan beside it.
    assert (place / "plan" / "report.xlsx").exists()
    assert not (copied / "report.xlsx").exists()


def test_plan_json_holds_the_hand_solved_cost(place: Path) -> None:
    document = json.loads((place / "plan" / "plan.json").read_text(encoding="utf-8"))
    assert (document["status"], document["gap"]) == ("optimal", 0.0)
    assert document["total_cost"] == pytest.approx(3.0, abs=1e-9)
    assert [(row["product"], row["units"]) for row in document["orders"]] == [("A", 3.0)]


def test_an_infeasible_plan_is_exit_code_3_with_a_document_that_says_what_is_short(place: Path) -> None:
    none_left = [
        word for unit in "AB" for word in ("--set", f"offers/{unit} on demand/supply_units_per_period=0")
    ]
    result = run("solve", str(place / "mix"), "--out", str(place / "short"), "--json", *none_left)
    document = json.loads(result.stdout)
    assert result.exit_code == 3
    assert document["status"] == "infeasible"
    assert pd.read_csv(place / "short" / "tables" / "shortages.csv")["message"].str.contains("short of").any()
    assert "Shortages" in openpyxl.load_workbook(place / "short" / "report.xlsx").sheetnames


def test_a_wrong_setting_is_exit_code_2_and_writes_nothing(place: Path) -> None:
    result = run(
        "solve", str(place / "mix"), "--out", str(place / "none"), "--json", "--set", "settings/gap=2"
    )
    document = json.loads(result.stdout)
    assert result.exit_code == 2
    assert document["status"] == "bad_input"
    assert document["faults"][0]["value"] == "2"
    assert not (place / "none").exists()


def test_the_text_names_status_unit_cost_orders_and_baselines(place: Path) -> None:
    text = (place / "printed").read_text(encoding="utf-8")
    assert "optimal" in text
    assert "27.78 USD per million requests" in text
    assert "A on demand" in text
    assert "rent everything" in text


def test_relax_allows_parts_of_units(place: Path) -> None:
    # Per request B is the cheaper one: 30 / 50 of a unit at 4 = 2.4.
    result = run(
        "solve",
        str(place / "mix"),
        "--out",
        str(place / "relaxed"),
        "--relax",
        "--json",
        "--no-report",
        "--no-baselines",
    )
    assert json.loads(result.stdout)["total_cost"] == pytest.approx(2.4, abs=1e-9)


def test_audit_passes_the_plan_as_saved(place: Path) -> None:
    document = json.loads(run("audit", str(place / "plan"), "--json").stdout)
    assert document["status"] == "ok"
    assert all(row["passed"] for row in document["checks"])


def test_audit_of_a_plan_with_a_changed_cost_fails_and_names_the_check(copied: Path) -> None:
    file = copied / "plan.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**document, "total_cost": 2.9}), encoding="utf-8")
    result = run("audit", str(copied))
    assert result.exit_code == 1
    assert "total_cost" in result.stdout


def test_report_writes_the_workbook_of_a_saved_plan(place: Path) -> None:
    assert run("report", str(place / "plan"), "-o", str(place / "copy.xlsx")).exit_code == 0
    assert openpyxl.load_workbook(place / "copy.xlsx").sheetnames[0] == "Cover"


@pytest.mark.parametrize("command", ["audit", "report"])
def test_a_folder_without_a_plan_is_bad_input(command: str, tmp_path: Path) -> None:
    result = run(command, str(tmp_path))
    assert result.exit_code == 2
    assert "not a saved plan" in result.stderr


def test_report_refuses_what_is_no_workbook(place: Path) -> None:
    assert run("report", str(place / "plan"), "-o", "plan.pdf").exit_code == 2


def test_every_key_table_and_column_of_a_plan_is_in_the_reference(place: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "plan_json.md").read_text(encoding="utf-8")
    keys = json.loads((place / "plan" / "plan.json").read_text(encoding="utf-8"))
    assert [key for key in keys if f"`{key}`" not in page] == []
    words = set(re.findall(r"\w+", page))
    for file in (place / "plan" / "tables").glob("*.csv"):
        assert f"`{file.stem}`" in page
        if file.stem not in ("points", "refused_points", "routes"):
            assert set(pd.read_csv(file, nrows=0).columns) <= words, file.stem
