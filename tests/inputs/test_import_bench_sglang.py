"""SGLang results: appended runs, the bare Infinity, lengths from totals, broken lines, long files."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from bench_files import SAMPLES, imported, points, reasons

from planner.errors import InputError

# 200 requests of 900 prompt and 500 output tokens in 100 s; TTFT 100 ms and 499 x 15.8 ms: 7,984 ms a turn,
# at 2 requests/s 15.97 in flight.
RUN: dict[str, Any] = {
    "backend": "sglang",
    "dataset_name": "random",
    "request_rate": float("inf"),
    "max_concurrency": 16,
    "random_input_len": 1024,
    "random_output_len": 1024,
    "random_range_ratio": 0.5,
    "duration": 100.0,
    "completed": 200,
    "total_input_tokens": 180_000,
    "total_output_tokens": 100_000,
    "request_throughput": 2.0,
    "input_throughput": 1800.0,
    "output_throughput": 1000.0,
    "mean_e2e_latency_ms": 7984.2,
    "median_e2e_latency_ms": 7900.0,
    "p99_e2e_latency_ms": 9000.0,
    "mean_ttft_ms": 100.0,
    "median_ttft_ms": 90.0,
    "p99_ttft_ms": 300.0,
    "mean_tpot_ms": 15.8,
    "median_tpot_ms": 15.5,
    "p99_tpot_ms": 20.0,
    "accept_length": None,
}


def jsonl(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def sglang(*paths: Path, **options: Any):
    return imported("sglang-bench", *paths, engine="sglang-bf16", **options)


def test_every_appended_run_is_a_point_of_one_curve():
    result = sglang(SAMPLES / "sglang_bench.jsonl")
    rows = points(result)
    assert rows["concurrency"].tolist() == [16, 64]
    assert rows["curve"].nunique() == 1
    assert rows["input_tokens"].tolist() == [1024.0, 1024.0]
    assert rows["output_tok_per_s"].tolist() == [1024.0, 3200.0]
    assert rows["ttft_p99_ms"].tolist() == [220.0, 350.0]
    assert set(rows["source_date"]) == {"unstated"}
    # The invented second line repeats the totals of the first: 102,400 tokens in 100 s are no 3,200 tok/s.
    assert any(
        "output_throughput is not output tokens / duration: 3200, but 1024" in note for note in result.notes
    )


def test_lengths_are_totals_over_completed_requests_not_the_nominal_ones(tmp_path):
    result = sglang(jsonl(tmp_path / "runs.jsonl", RUN))
    row = points(result).iloc[0]
    assert (row["input_tokens"], row["output_tokens"]) == (900.0, 500.0)
    assert (row["load_kind"], row["concurrency"]) == ("closed_loop", 16)
    assert (row["ttft_ms"], row["tpot_ms"]) == (90.0, 15.5)
    assert "failures not counted by the file" in row["notes"]
    assert not any(note.startswith("warning") for note in result.notes)


def test_the_date_comes_from_the_option(tmp_path):
    rows = points(sglang(jsonl(tmp_path / "runs.jsonl", RUN), date="2026-03-01"))
    assert rows["source_date"].tolist() == ["2026-03-01"]


def test_accepted_drafts_mean_speculative_decoding(tmp_path):
    plain, drafted = RUN, RUN | {"accept_length": 2.7, "max_concurrency": 17}
    rows = points(sglang(jsonl(tmp_path / "runs.jsonl", plain, drafted), speculative="no"))
    assert rows["speculative"].tolist() == ["no", "yes"]
    assert rows["curve"].nunique() == 2


def test_broken_lines_are_counted_and_the_others_taken(tmp_path):
    path = jsonl(tmp_path / "runs.jsonl", RUN, RUN | {"mean_ttft_ms": float("nan")}, RUN)
    path.write_text(path.read_text() + "\n[1, 2]\n{broken\nNULL\n")
    result = sglang(path)
    assert len(points(result)) == 1
    assert reasons(result) == {
        "mean_ttft_ms is not a finite number": 1,
        "the same run occurs twice": 1,
        "the line is not a JSON object": 1,
        "the line is not JSON": 2,
    }
    assert result.rejected["first_row"].tolist() == [2, 5, 6, 3]


def test_files_without_a_run_are_refused(tmp_path):
    path = tmp_path / "runs.jsonl"
    for content, message in (
        (b"", "the file is empty"),
        (b"\n \n", "no run in the files"),
        (b'{"backend": "sglang"}\n', "completed is missing"),
        (b"\xff\xfe\n", "not UTF-8"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            sglang(path)


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + (json.dumps(RUN) + "\r\n").encode())
    assert len(points(sglang(path))) == 1


def test_a_long_file_is_read_line_by_line(tmp_path):
    path = tmp_path / "runs.jsonl"
    bulk = [0.015] * 10_000
    with path.open("w") as lines:
        for load in range(1, 41):
            lines.write(json.dumps(RUN | {"max_concurrency": load, "itls": bulk}) + "\n")
    size = path.stat().st_size
    sglang(path)
    tracemalloc.start()
    assert len(points(sglang(path))) == 40
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 2.5e6
    assert peak < size / 2
