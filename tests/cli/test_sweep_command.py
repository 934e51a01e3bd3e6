"""``planner sweep``: faults before anything is solved or written, lines that fit, and what a stop leaves."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import foreign_files
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from planner.cli import main
from planner.cli.console import frame_text
from planner.cli.sweep_command import WIDTH, printed
from planner.study.outcome import NAMES, without_plan

SWEEP = [sys.executable, "-c", "from planner.cli import main; main()", "sweep", "mix", "--processes", "2"]
VARY = ["--vary", "offers.price*=0.5,0.6,0.7,0.8,0.9,1,1.1,1.2,1.3,1.4,1.5,1.6"]


def run(*arguments: str) -> Result:
    """Run a command line."""
    return CliRunner().invoke(main, list(arguments))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--vary", "offers[vendor=Nobdy].price*=1,2"], "no row of offers has that vendor"),
        (["--vary", "ofers.price*=1,2"], "unknown table; nearest known: 'offers'"),
        (["--vary", "offers.price=-1"], "allowed: at least 0"),
        (["--vary", "offers.price"], "must have the form"),
        (["--cases", "none.csv"], "cannot be read"),
        ([], "nothing to vary"),
        (["--vary", "settings.seed=1", "--processes", "2", "--cluster", "tcp://x:1"], "give one of them"),
    ],
)
def test_bad_input_ends_with_2_and_leaves_nothing(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("sweep", "small", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_printed_lines_fit_whatever_varies() -> None:
    big = {**dict.fromkeys(NAMES, 123_456_789.123), "status": "optimal", "reason": ""}
    rows = [{"case": "c" * 90 + str(number), **big} for number in range(2)]
    rows.append({"case": "short of it", **without_plan("infeasible", "short of power")})
    frame = pd.DataFrame(rows, columns=["case", *NAMES])
    lines = frame_text(printed(frame), indent="  ").splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert "cost" in lines[0]
    assert "infeasible" in lines[-1]
    varied = frame.assign(**{"offers[a=b].price*": [0.9, 1.0, 1.1]})[["case", "offers[a=b].price*", *NAMES]]
    assert frame_text(printed(varied)).splitlines()[0].split()[:2] == ["price*", "status"]


def finished(store: Path) -> dict[str, str]:
    """Return when each result of a store was made, by key."""
    if not store.is_file():
        return {}
    with sqlite3.connect(store) as database:
        try:
            return dict(database.execute("SELECT key, total_cost || finished FROM results"))
        except sqlite3.OperationalError:
            return {}


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_sweep_goes_on_where_it_was(stop: signal.Signals, tmp_path: Path) -> None:
    foreign_files.write_all(tmp_path)
    made = run("import", "gpu-mix", str(tmp_path / "mix.json"), "--rate", "30", "-o", str(tmp_path / "mix"))
    assert made.exit_code == 0
    command = [*SWEEP, *VARY, "--out", "studies"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    store = tmp_path / "studies" / "sweep.sqlite"
    while len(finished(store)) < 2 and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, stop)
    _, said = process.communicate()
    before = finished(store)
    assert 2 <= len(before) < 12
    if stop == signal.SIGINT:
        assert process.returncode == 130
        assert "are finished and kept" in said
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    after = finished(store)
    assert len(after) == 12
    assert before.items() <= after.items()
    assert f"{len(before)} of them taken from the store" in again.stdout
    results = pd.read_csv(tmp_path / "studies" / "sweep" / "results.csv")
    assert results["total_cost"].is_monotonic_increasing
    assert len(results) == 12
