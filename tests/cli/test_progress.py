"""Progress says where a solve stands, and is silent between its sparse lines when nobody watches."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from planner.cli import progress


def report(elapsed_s: float, incumbent: float, bound: float, gap: float, step: str = "") -> SimpleNamespace:
    return SimpleNamespace(elapsed_s=elapsed_s, incumbent=incumbent, bound=bound, gap=gap, step=step)


def test_a_line_has_time_incumbent_bound_and_gap() -> None:
    line = progress.progress_text(report(61.2, 1234567.0, 1230000.0, 0.0037, "ratio step 1"))
    assert line == "ratio step 1: 61 s, best 1,234,567, bound 1,230,000, gap 0.37 %"


def test_what_is_not_known_yet_is_said_so() -> None:
    assert (
        progress.progress_text(report(3.0, math.inf, -math.inf, math.inf))
        == "3 s, best none yet, bound none yet"
    )


def test_without_a_terminal_lines_are_sparse(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 1.0, 20.0, 20.0, 21.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.shown_progress("planning") as show:
        for elapsed in (1.0, 20.0, 21.0):
            show(report(elapsed, 5.0, 4.0, 0.2))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert [line.split(",")[0] for line in captured.err.splitlines()] == ["planning", "20 s"]
