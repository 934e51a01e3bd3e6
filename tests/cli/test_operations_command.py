"""planner export operations writes the folder of a saved plan, or says in one line each what is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner, Result
from openpyxl import load_workbook
from plan_cases import solved

from planner.cli import main
from planner.plan import save_plan
from planner.plan.bound import as_bound
from planner.plan.operations.handover import NOTES


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["export", "operations", *map(str, arguments)])


@pytest.fixture(scope="module")
def plan_of(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_plan(solved("bridged"), tmp_path_factory.mktemp("plans") / "bridged")


def test_the_folder_has_tables_workbook_and_manifests(plan_of: Path) -> None:
    result = run(plan_of)
    assert result.exit_code == 0, result.stderr
    folder = plan_of / "operations"
    assert f"wrote {folder}: 2 pools in 4 periods" in result.stdout
    assert {path.stem for path in (folder / "tables").glob("*.csv")} == set(NOTES)
    sheets = load_workbook(folder / "operations.xlsx", read_only=True).sheetnames
    assert len(sheets) == len(NOTES)
    kinds = {
        document["kind"]
        for path in folder.rglob("*.yaml")
        for document in yaml.safe_load_all(path.read_text("utf-8"))
    }
    assert {"ScaledObject", "PriorityClass"} <= kinds
    # A saved plan says the same as the one in hand, and can be handed over again.
    again = run(plan_of / "plan.json", "--force")
    assert again.exit_code == 0, again.stderr
    assert run(plan_of).exit_code == 2


def test_saving_loses_nothing_of_the_hand_over(plan_of: Path, tmp_path: Path) -> None:
    from planner.plan.operations import handover_of

    assert run(plan_of, "-o", tmp_path / "out").exit_code == 0
    table = pd.read_csv(tmp_path / "out" / "tables" / "replicas.csv")
    own = handover_of(solved("bridged"), "here").tables["replicas"]
    assert table["floor_replicas"].to_list() == own["floor_replicas"].to_list()
    assert table["pool"].to_list() == own["pool"].to_list()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model-url", "Llama"], "give MODEL=URL"),
        (["--model-url", "nothing=x"], "no pool of this plan runs it"),
        (["--image", "no tag"], "give REPOSITORY:TAG"),
        (["--release", "Vllm_1"], "lower-case letters"),
        (["--autoscaler", "vpa"], "'vpa' is not one of"),
    ],
)
def test_a_wrong_option_is_one_line_and_writes_nothing(
    plan_of: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    result = run(plan_of, "-o", tmp_path / "out", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not (tmp_path / "out").exists()


def test_all_wrong_options_are_told_at_once(plan_of: Path, tmp_path: Path) -> None:
    result = run(plan_of, "-o", tmp_path / "out", "--image", "x", "--release", "A", "--model-url", "=")
    assert result.exit_code == 2
    assert result.stderr.count("error: ") == 3


def test_what_is_no_plan_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    result = run(empty)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "is not a saved plan" in result.stderr
    bridged = solved("bridged")
    bound = as_bound(replace(bridged, headline={**bridged.headline, "relaxed": True}))
    relaxed = save_plan(bound, tmp_path / "bound")
    result = run(relaxed)
    assert result.exit_code == 2
    assert "bound, not a plan: nothing runs that could be handed over" in result.stderr
    none = save_plan(solved("impossible"), tmp_path / "impossible")
    result = run(none)
    assert result.exit_code == 2
    assert "infeasible: nothing runs that could be handed over" in result.stderr
    assert not (none / "operations").exists()
