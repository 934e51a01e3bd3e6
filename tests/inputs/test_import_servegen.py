"""ServeGen traces: hourly profiles by hand, pools added, literals only, bad rows told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from planner.errors import InputError
from planner.inputs.catalog import catalog_root
from planner.inputs.importers import IMPORTERS, write_import
from planner.inputs.importers.servegen import import_servegen
from planner.inputs.importers.servegen_lengths import literal_shares
from planner.tables import HOURS

REAL = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "servegen"


def trace_file(
    folder: Path, rates: list[float], name: str = "chunk-1-trace.csv", window_s: int = 3600
) -> Path:
    folder.mkdir(exist_ok=True)
    rows = [f"{n * window_s},{rate},1.2,Gamma,0.7,3.1" for n, rate in enumerate(rates)]
    (folder / name).write_text("\n".join(rows) + "\n")
    return folder / name


def hours(result, day_type: str = "all") -> np.ndarray:
    profiles = result.tables["profiles"]
    return profiles.loc[profiles["day_type"] == day_type, list(HOURS)].to_numpy(dtype=float)[0]


def test_a_day_becomes_its_index_with_mean_one(tmp_path):
    result = import_servegen([trace_file(tmp_path / "pool", [1.0] * 12 + [3.0] * 12)])
    assert result.tables["profiles"]["profile"].tolist() == ["servegen-pool"]
    assert hours(result) == pytest.approx([0.5] * 12 + [1.5] * 12)
    assert result.settings == {}


def test_clients_of_one_folder_are_added_and_folders_kept_apart(tmp_path):
    files = [
        trace_file(tmp_path / "a", [1.0] * 24),
        trace_file(tmp_path / "a", [0.0] * 23 + [24.0], "chunk-2-trace.csv"),
        trace_file(tmp_path / "b", [5.0] * 24),
    ]
    result = import_servegen(files)
    assert result.tables["profiles"]["profile"].tolist() == ["servegen-a", "servegen-b"]
    # Pool a: 23 hours of 1 and one of 25, mean 2.
    assert hours(result) == pytest.approx([0.5] * 23 + [12.5])
    with pytest.raises(InputError, match="twice"):
        import_servegen([files[0], files[0]])
    with pytest.raises(InputError, match="names one profile"):
        import_servegen(files, profile="mine")


def test_weekdays_and_weekends_average_to_one_over_the_week(tmp_path):
    # Monday to Friday 2 requests/s, Saturday and Sunday 1: the week's mean is 12/7.
    path = trace_file(tmp_path / "pool", [2.0] * 120 + [1.0] * 48)
    result = import_servegen([path], first_weekday="Monday")
    assert hours(result, "weekday") == pytest.approx([2 / (12 / 7)] * 24)
    assert hours(result, "weekend") == pytest.approx([1 / (12 / 7)] * 24)
    assert result.tables["profiles"]["day_type"].tolist() == ["weekday", "weekend"]
    assert import_servegen([path]).tables["profiles"]["day_type"].tolist() == ["all"]
    short = trace_file(tmp_path / "short", [2.0] * 48)
    assert import_servegen([short], first_weekday="friday").tables["profiles"]["day_type"].tolist() == ["all"]
    with pytest.raises(InputError, match="monday"):
        import_servegen([path], first_weekday="Mon")


def test_gaps_unsorted_rows_and_duplicates_are_told(tmp_path):
    rows = [f"{n * 3600},2,,,0,0" for n in reversed(range(48)) if n != 30]
    path = tmp_path / "pool.csv"
    path.write_text(
        "\n".join([*rows, "3600,9,,,0,0", "x,1,,,0,0", "0,-1,,,0,0", "=A1,1,,,0,0", "", "7200,1,,,0,0,extra"])
    )
    result = import_servegen([path])
    assert hours(result) == pytest.approx([1.0] * 24)
    counts = dict(zip(result.rejected["reason"], result.rejected["rows"], strict=True))
    assert counts == {
        "the window occurs twice": 1,
        "window start or rate is not a number": 2,
        "window start or rate is negative": 1,
        "more fields than the layout has": 1,
    }
    assert any("1 windows are missing" in note for note in result.notes)


def test_derived_files_with_a_header_bom_and_windows_lines_are_read(tmp_path):
    rows = ["window_start_s,requests_per_s,active_clients,rate_weighted_cv"]
    rows += [f"{n * 3600},{1 + n % 2},3,1.0" for n in range(24)]
    path = tmp_path / "derived_rate_language_m-tiny.csv"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(rows).encode())
    result = import_servegen([path])
    assert result.tables["profiles"]["profile"].tolist() == ["servegen-m-tiny"]
    assert hours(result)[:2] == pytest.approx([2 / 3, 4 / 3])


def test_files_without_a_profile_are_refused(tmp_path):
    for content, message in (
        ("", "empty"),
        ("window_start_s,requests_per_s\n", "no rows"),
        ("window_start_s,active_clients\n0,1\n", "requests_per_s"),
        ("a,b\nc,d\n", "no row has a window start"),
        ("0,1\n3600,2\n", "no data for the hours 02, 03"),
        ("\n".join(f"{n * 3600},0" for n in range(24)), "every rate is 0"),
    ):
        path = tmp_path / "pool.csv"
        path.write_text(content)
        with pytest.raises(InputError, match=message):
            import_servegen([path])


def dataset(folder: Path, windows: dict, name: str = "chunk-1-dataset.json") -> Path:
    (folder / name).write_text(json.dumps(windows))
    return folder / name


def test_lengths_weigh_by_the_requests_of_their_window(tmp_path):
    # 1 request/s in the first six hours (mean 100 tokens), 3 requests/s later (mean 500): mean 400 if 18 of
    # 24 hours were later, with 6 x 1 and 18 x 3 requests: (6 x 100 + 54 x 500) / 60 = 460.
    trace = trace_file(tmp_path / "pool", [1.0] * 6 + [3.0] * 18)
    lengths = dataset(
        tmp_path / "pool",
        {
            "0": {"input_tokens": "{50: 0.5, 150: 0.5}", "output_tokens": "{10: 1.0}"},
            "21600": {"input_tokens": "{500: 1.0}", "output_tokens": "{}"},
        },
    )
    notes = import_servegen([trace, lengths]).notes
    assert any("input tokens mean 460, p50 500, p95 500" in note for note in notes)
    assert any("output tokens mean 10, p50 10, p95 10" in note for note in notes)
    stray = dataset(tmp_path / "pool", {"0": {"input_tokens": "{5: 1.0}"}}, "chunk-9-dataset.json")
    assert any("chunk-9 left out" in note for note in import_servegen([trace, stray]).notes)
    with pytest.raises(InputError, match="have no rates"):
        import_servegen([lengths])


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('echo hacked')",
        "{1: open('/etc/passwd')}",
        "{'a': 1.0}",
        "{1: -0.5, 2: 1.5}",
        "{1: 0.5}",
        "{1: True}",
        "[1, 2]",
        "{1: 1e400}",
        "{1: 1.0",
        "(" * 200_000,
        7,
    ],
)
def test_distributions_are_literal_dicts_of_numbers_and_nothing_else(text):
    with pytest.raises(ValueError, match="must"):
        literal_shares(text)


def test_a_hostile_dataset_is_a_fault_with_its_place(tmp_path):
    trace = trace_file(tmp_path / "pool", [1.0] * 24)
    path = dataset(tmp_path / "pool", {"0": {"input_tokens": "__import__('os')"}, "soon": {}})
    with pytest.raises(InputError) as caught:
        import_servegen([trace, path])
    assert [fault.column for fault in caught.value.faults] == ["0.input_tokens", "soon"]


def test_rows_without_settings_are_written_as_table_files(tmp_path):
    result = IMPORTERS["servegen"].run([trace_file(tmp_path / "pool", [1.0] * 24)], {"profile": "mine"})
    target = write_import(result, tmp_path / "made")
    assert sorted(path.name for path in target.iterdir()) == ["profiles.csv", "sources.csv"]
    assert pd.read_csv(target / "profiles.csv")["profile"].tolist() == ["mine"]
    with pytest.raises(InputError, match="exists already"):
        write_import(result, target)
    write_import(result, target, force=True)
    with pytest.raises(InputError, match="name a folder"):
        write_import(result, tmp_path / "made.xlsx")


@pytest.mark.skipif(not REAL.is_dir(), reason="the derived rates are not at hand")
def test_the_shipped_profiles_are_what_the_public_rates_give():
    shipped = pd.read_csv(catalog_root() / "profiles.csv").set_index("profile")
    for path in sorted(REAL.glob("derived_rate_*.csv")):
        result = import_servegen([path])
        name = result.tables["profiles"]["profile"].iloc[0]
        assert shipped.loc[name, list(HOURS)].to_numpy(dtype=float) == pytest.approx(hours(result), abs=1e-6)


def test_every_shipped_profile_averages_to_one():
    shipped = pd.read_csv(catalog_root() / "profiles.csv")
    assert set(shipped["day_type"]) == {"all"}
    assert shipped[list(HOURS)].mean(axis=1).to_numpy() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.skipif(not REAL.is_dir(), reason="the raw clients are not at hand")
def test_raw_clients_are_read_with_their_lengths():
    result = import_servegen(sorted((REAL / "raw" / "reason" / "deepseek-r1").glob("chunk-1-*")))
    assert result.tables["profiles"]["profile"].tolist() == ["servegen-deepseek-r1"]
    assert result.rejected.empty
    assert any("output tokens mean" in note for note in result.notes)
