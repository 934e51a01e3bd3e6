"""Plans on disk: what comes back, what is kept beside them, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plan_cases import solved

from planner.errors import InputError
from planner.plan import Plan, load_plan, save_plan
from planner.plan.storage import json_ready


@pytest.mark.parametrize("name", ["bridged", "impossible"])
def test_every_frame_comes_back_to_the_last_digit(name, tmp_path):
    plan = solved(name)
    loaded = load_plan(save_plan(plan, tmp_path / "plan"))
    assert loaded.frames.keys() == plan.frames.keys()
    for frame_name, frame in plan.frames.items():
        pd.testing.assert_frame_equal(
            loaded[frame_name], frame.reset_index(drop=True), check_exact=True, check_dtype=False
        )


@pytest.mark.parametrize("name", ["bridged", "impossible"])
def test_saving_a_loaded_plan_writes_the_same_bytes(name, tmp_path):
    first = save_plan(solved(name), tmp_path / "first")
    second = save_plan(load_plan(first), tmp_path / "second")
    files = sorted(file.relative_to(first) for file in first.rglob("*.*"))
    assert files == sorted(file.relative_to(second) for file in second.rglob("*.*"))
    for file in files:
        assert (second / file).read_bytes() == (first / file).read_bytes(), file


def test_scenario_and_headline_come_back(tmp_path):
    plan = solved("bridged")
    loaded = load_plan(save_plan(plan, tmp_path / "plan"))
    assert loaded.headline == json_ready(plan.headline)
    assert loaded.scenario.settings == plan.scenario.settings
    assert (loaded.scenario.name, loaded.scenario.input_hash) == (
        plan.scenario.name,
        plan.scenario.input_hash,
    )
    for name, table in plan.scenario.tables.items():
        pd.testing.assert_frame_equal(loaded.scenario.tables[name], table)


def odd_plan() -> Plan:
    """Return a plan with the cells that a spreadsheet program or a careless reader would lose."""
    odd = pd.DataFrame(
        {
            "site": pd.Series(["007", "1e5", np.nan], dtype="str"),
            "note": pd.Series(["", "a,b", 'say "no"\nlater'], dtype="str"),
            "word": pd.Series(["NA", "nan", "null"], dtype="str"),
            "value": [0.1 + 0.2, np.nan, -np.inf],
            "count": [1, -2, 3],
            "open": [True, False, True],
            "moment": pd.to_datetime(["2027-01-01 12:30", None, "2027-02-01 00:00"]).astype("datetime64[ns]"),
        }
    )
    plan = solved("impossible")
    return replace(plan, frames={**plan.frames, "odd": odd, "empty": odd.iloc[:0], "nothing": pd.DataFrame()})


def test_names_that_look_like_numbers_blanks_words_and_times_come_back(tmp_path):
    plan = odd_plan()
    loaded = load_plan(save_plan(plan, tmp_path / "plan"))
    pd.testing.assert_frame_equal(loaded["odd"], plan["odd"], check_exact=True)
    # Text without a row has no type to come back: a sum over it is 0, not a blank word.
    pd.testing.assert_frame_equal(loaded["empty"], plan["empty"].reset_index(drop=True), check_dtype=False)
    assert loaded["nothing"].shape == (0, 0)


def test_a_frame_that_a_csv_cannot_hold_is_refused_and_nothing_is_written(tmp_path):
    plan = solved("impossible")
    pairs = replace(plan, frames={**plan.frames, "pairs": pd.DataFrame({"ends": [(1, 2)]})})
    with pytest.raises(TypeError, match=r"pairs\.ends holds tuple values"):
        save_plan(pairs, tmp_path / "plan")
    assert list(tmp_path.iterdir()) == []


def test_other_files_of_the_folder_are_kept_and_old_tables_go(tmp_path):
    folder = save_plan(odd_plan(), tmp_path / "plan")
    (folder / "report.xlsx").write_bytes(b"report")
    (folder / "notes").mkdir()
    save_plan(solved("impossible"), folder)
    assert (folder / "report.xlsx").read_bytes() == b"report"
    assert (folder / "notes").is_dir()
    assert not (folder / "tables" / "odd.csv").exists()
    assert "odd" not in load_plan(folder).frames
    assert sorted(path.name for path in folder.iterdir()) == [
        "inputs",
        "notes",
        "plan.json",
        "report.xlsx",
        "tables",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["plan"]


def test_a_failed_replacement_puts_the_old_plan_back(tmp_path, monkeypatch):
    """Each of the six moves in turn fails: the plan of before is there, whole, and nothing is left beside it."""
    folder = save_plan(odd_plan(), tmp_path / "plan")
    before = {file: file.read_bytes() for file in folder.rglob("*.*")}
    move = Path.rename
    for failing in range(6):
        moves = iter(range(100))

        def breaking(self, target, failing=failing, moves=moves):
            if next(moves) == failing:
                raise OSError("disk full")
            return move(self, target)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "rename", breaking)
            with pytest.raises(OSError, match="disk full"):
                save_plan(solved("impossible"), folder)
        assert {file: file.read_bytes() for file in folder.rglob("*.*")} == before
        assert [path.name for path in tmp_path.iterdir()] == ["plan"]


def test_a_reader_in_between_finds_the_old_plan_or_none_never_a_mixture(tmp_path, monkeypatch):
    folder = save_plan(odd_plan(), tmp_path / "plan")
    move, seen = Path.rename, []

    def look(self, target):
        moved = move(self, target)
        try:
            seen.append(sorted(load_plan(folder).frames))
        except InputError as error:
            seen.append(str(error))
        return moved

    monkeypatch.setattr(Path, "rename", look)
    save_plan(solved("impossible"), folder)
    assert all("no plan here" in found for found in seen[:-1])
    assert seen[-1] == sorted(solved("impossible").frames)


def test_a_reader_overtaken_by_a_new_plan_reads_again(tmp_path, monkeypatch):
    folder = save_plan(odd_plan(), tmp_path / "plan")
    import planner.plan.storage as storage

    read, overtaken = storage.read_frame, []

    def slow(path, kinds):
        frame = read(path, kinds)
        if not overtaken:
            overtaken.append(True)
            document = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
            (folder / "plan.json").write_text(json.dumps(document | {"message": "newer"}), encoding="utf-8")
        return frame

    monkeypatch.setattr(storage, "read_frame", slow)
    assert load_plan(folder).headline["message"] == "newer"


def refusal(path) -> str:
    with pytest.raises(InputError) as caught:
        load_plan(path)
    return str(caught.value)


def test_a_folder_without_a_plan_is_named(tmp_path):
    assert "no plan here" in refusal(tmp_path)
    assert str(tmp_path / "gone") in refusal(tmp_path / "gone")


def test_another_schema_version_is_refused(tmp_path):
    folder = save_plan(solved("impossible"), tmp_path / "plan")
    document = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    (folder / "plan.json").write_text(json.dumps(document | {"schema_version": 99}), encoding="utf-8")
    assert "schema version 99; this program reads version 1" in refusal(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"schema_version": 1}'])
def test_a_file_that_is_no_plan_is_refused(text, tmp_path):
    (tmp_path / "plan.json").write_text(text, encoding="utf-8")
    assert "plan.json" in refusal(tmp_path)


def test_a_missing_table_is_named(tmp_path):
    folder = save_plan(solved("impossible"), tmp_path / "plan")
    (folder / "tables" / "shortages.csv").unlink()
    assert "shortages.csv: table is missing" in refusal(folder)


def test_a_plan_is_found_by_its_folder_or_its_file(tmp_path):
    folder = save_plan(solved("impossible"), tmp_path / "plan")
    assert load_plan(folder / "plan.json").headline == load_plan(str(folder)).headline
