"""AIPerf and GenAI-Perf exports: stated units, omitted statistics, the load wherever a version keeps it."""

from __future__ import annotations

import json

import pytest
from bench_files import SAMPLES, imported, json_file, points, reasons, sample

from planner.errors import InputError

EXPORT = SAMPLES / "aiperf_profile_export.json"


def export(folder, name: str = "profile_export_aiperf.json", **changed):
    """Write an export with metrics changed; None takes one out."""
    document = sample("aiperf_profile_export.json") | changed
    return json_file(folder / name, {key: value for key, value in document.items() if value is not None})


def test_an_export_becomes_one_point():
    row = points(imported("aiperf", EXPORT)).iloc[0]
    assert (row["load_kind"], row["concurrency"]) == ("closed_loop", 64)
    assert (row["requests_per_s"], row["output_tok_per_s"]) == (4.8, 4824.5)
    assert (row["input_tokens"], row["output_tokens"]) == (1024.0, 1002.0)
    assert (row["ttft_ms"], row["ttft_statistic"], row["ttft_p99_ms"]) == (313.6, "median", 640.0)
    assert (row["tpot_ms"], row["tpot_p99_ms"]) == (12.446, 25.4)
    assert row["source_date"] == "2026-01-05"
    assert "success 98.7500% (632 of 640 requests)" in row["notes"]
    assert "goodput 3.9 of 4.8 requests/s" in row["notes"]


def test_the_stated_unit_is_honoured(tmp_path):
    seconds = {"unit": "sec", "avg": 0.32, "p50": 0.3, "p99": 0.64}
    row = points(imported("aiperf", export(tmp_path, time_to_first_token=seconds))).iloc[0]
    assert (row["ttft_ms"], row["ttft_p99_ms"]) == pytest.approx((300.0, 640.0))
    minutes = {"unit": "requests/min", "avg": 288.0}
    row = points(imported("aiperf", export(tmp_path, request_throughput=minutes))).iloc[0]
    assert row["requests_per_s"] == pytest.approx(4.8)
    for unit, shown in (("fortnights", "fortnights"), (None, "none")):
        with pytest.raises(InputError, match=f"time_to_first_token has the unit {shown}"):
            imported("aiperf", export(tmp_path, time_to_first_token={"unit": unit, "avg": 1.0}))


def test_a_wrong_unit_is_noticed(tmp_path):
    wrong = {"unit": "ms", "avg": 0.15, "p50": 0.12, "p99": 0.3}
    notes = imported("aiperf", export(tmp_path, time_to_first_token=wrong)).notes
    assert any("TTFT 0.3 ms is shorter than any engine's" in note for note in notes)


def test_omitted_statistics_are_left_blank(tmp_path):
    result = imported("aiperf", export(tmp_path, time_to_first_token={"unit": "ms", "avg": 320.0}))
    row = points(result).iloc[0]
    assert (row["ttft_statistic"], row["ttft_ms"]) == ("mean", 320.0)
    assert row[["ttft_p99_ms"]].isna().all()
    row = points(imported("aiperf", export(tmp_path, time_to_first_token=None))).iloc[0]
    assert row[["ttft_ms", "ttft_statistic", "ttft_p99_ms"]].isna().all()
    row = points(imported("aiperf", export(tmp_path, error_request_count=None, goodput=None))).iloc[0]
    assert "success 100.0000% (632 of 632 requests)" in row["notes"]


@pytest.mark.parametrize(
    ("config", "kind", "concurrency"),
    [
        ({"loadgen": {"concurrency": 64}}, "closed_loop", 64.0),
        ({"phases": [{"name": "warmup", "concurrency": 2}, {"name": "profiling", "concurrency": 64}]},
         "closed_loop", 64.0),
        ({"phases": {"profiling": {"concurrency": 64}}}, "closed_loop", 64.0),
        ({"perf_analyzer": {"stimulus": {"concurrency": 64}}}, "closed_loop", 64.0),
        ({"concurrency": [64]}, "closed_loop", 64.0),
        # 4.8/s at 12.8 s a request.
        ({"loadgen": {"concurrency": 64, "request_rate": 5.0}}, "offered", 61.44),
    ],
)  # fmt: skip
def test_the_load_is_found_wherever_a_version_keeps_it(tmp_path, config, kind, concurrency):
    row = points(imported("aiperf", export(tmp_path, input_config=config))).iloc[0]
    assert (row["load_kind"], row["concurrency"]) == (kind, pytest.approx(concurrency))


def test_a_load_that_is_not_stated_stays_blank(tmp_path):
    row = points(imported("aiperf", export(tmp_path, input_config=None))).iloc[0]
    assert row["load_kind"] == "unstated"
    assert row[["concurrency"]].isna().all()


def test_models_are_named_in_the_configuration(tmp_path):
    for config in (
        {"endpoint": {"model_names": ["Qwen/Qwen3-32B"]}},
        {"model_names": ["Qwen/Qwen3-32B"]},
        {"models": {"items": [{"name": "Qwen/Qwen3-32B"}]}},
        {"model": "Qwen/Qwen3-32B"},
    ):
        path = export(tmp_path, input_config=config)
        assert points(imported("aiperf", path, model=None))["model"].tolist() == ["Qwen3-32B"]
    with pytest.raises(InputError, match="the file names an unknown model"):
        imported("aiperf", EXPORT, model=None)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"was_cancelled": True}, "the run was cancelled"),
        ({"request_throughput": None}, "request_throughput is missing"),
        ({"request_throughput": {"unit": "requests/sec"}}, "request_throughput: avg is missing"),
        (
            {"request_throughput": {"unit": "requests/sec", "avg": 0}},
            "request_throughput: avg is not above 0",
        ),
        ({"output_sequence_length": {"unit": "tokens", "avg": float("nan")}}, "avg is not a finite number"),
        ({"inter_token_latency": {"unit": "ms", "avg": "N/A"}}, "inter_token_latency: avg is not a number"),
        ({"inter_token_latency": 12.7}, "inter_token_latency is not an object"),
    ],
)
def test_exports_without_usable_numbers_are_rejected(tmp_path, changed, reason):
    bad = export(tmp_path, "bad.json", **changed)
    result = imported("aiperf", bad, EXPORT)
    assert len(points(result)) == 1
    assert [text for text in reasons(result) if reason in text]


def test_exports_of_single_requests_are_refused():
    with pytest.raises(InputError, match=r"import the profile_export_\*\.json beside it"):
        imported("aiperf", SAMPLES / "aiperf_profile_export.jsonl")


def test_broken_files_are_refused_and_windows_files_read(tmp_path):
    path = tmp_path / "profile_export_aiperf.json"
    for content, message in (
        (b"", "empty"),
        (b"{}", "request_throughput is missing"),
        (b"[]", "one JSON object"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            imported("aiperf", path)
    path.write_bytes(b"\xef\xbb\xbf" + EXPORT.read_text().replace("\n", "\r\n").encode())
    assert len(points(imported("aiperf", path))) == 1
    assert json.loads(EXPORT.read_text())["was_cancelled"] is False
