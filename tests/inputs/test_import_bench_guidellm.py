"""guidellm reports: successful requests, token times without the first token, bulk passed over in bounded memory."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from bench_files import REAL, SAMPLES, imported, json_file, points, reasons, sample

from planner.errors import InputError

REPORT = SAMPLES / "guidellm_benchmarks.json"
REAL_REPORT = REAL / "guidellm" / "guidellm_report_v2.json"


def test_every_benchmark_is_a_point_with_its_own_kind_of_load():
    rows = points(imported("guidellm", REPORT, model=None))
    assert set(rows["model"]) == {"Llama-3.1-8B"}
    assert rows["load_kind"].tolist() == ["offered", "closed_loop", "open_loop"]
    assert rows["requests_per_s"].tolist() == [9.9, 20.0, 22.0]
    assert rows["output_tok_per_s"].tolist() == pytest.approx([9.9 * 101, 20 * 101, 22 * 101])
    # In flight at the offered rate: 9.9/s x mean request latency 1.05 x 1.05 s.
    assert rows["concurrency"].tolist() == pytest.approx([9.9 * 1.1025, 32.0, float("nan")], nan_ok=True)
    assert rows["ttft_ms"].tolist() == pytest.approx([50.0, 100.0, 2000.0])
    assert rows["ttft_p99_ms"].tolist() == pytest.approx([80.0, 160.0, 3200.0])
    assert rows["source_date"].tolist() == ["2026-01-05"] * 3


def test_time_per_output_token_leaves_the_first_token_out():
    rows = points(imported("guidellm", REPORT))
    assert rows["tpot_ms"].tolist() == pytest.approx([10.0, 15.0, 20.0])


def test_success_counts_errors_and_not_what_the_end_cut_off():
    notes = points(imported("guidellm", REPORT))["notes"].iloc[0]
    # 594 of 600; 3 more were in flight when the benchmark ended.
    assert "success 99.0000% (594 of 600 requests)" in notes
    assert "3 requests cut off at the end are not counted" in notes


def test_reports_of_version_1_are_read(tmp_path):
    document = sample("guidellm_benchmarks.json")
    for benchmark in document["benchmarks"]:
        benchmark["args"] = {"strategy": benchmark["config"]["strategy"], "backend": "openai_http"}
        benchmark["request_totals"] = benchmark["metrics"].pop("request_totals")
        del benchmark["config"]
    rows = points(imported("guidellm", json_file(tmp_path / "benchmarks.json", document)))
    assert rows["load_kind"].tolist() == ["offered", "closed_loop", "open_loop"]


def test_benchmarks_without_usable_numbers_are_rejected(tmp_path):
    document = sample("guidellm_benchmarks.json")
    first, second, third = document["benchmarks"]
    first["metrics"]["request_totals"]["successful"] = 0
    second["config"]["strategy"] = {"type_": "replay"}
    third["metrics"]["time_to_first_token_ms"]["successful"]["percentiles"]["p99"] = float("inf")
    document["benchmarks"] += [7, {"metrics": {}}]
    path = json_file(tmp_path / "benchmarks.json", document)
    with pytest.raises(InputError) as caught:
        imported("guidellm", path)
    assert [fault.message for fault in caught.value.faults] == [
        "successful is not above 0",
        "strategy replay is not known",
        "p99 is not a finite number",
        "is not a benchmark (a JSON object)",
        "request_totals is missing",
    ]
    result = imported("guidellm", path, REPORT)
    assert len(points(result)) == 3
    assert sum(reasons(result).values()) == 5


def test_files_without_benchmarks_are_refused(tmp_path):
    path = tmp_path / "benchmarks.json"
    for content, message in (
        (b"", "empty"),
        (b"{}", "no list of benchmarks"),
        (b'{"benchmarks": []}', "no list of benchmarks"),
        (b'{"benchmarks": [', "is not JSON"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            imported("guidellm", path)


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path):
    path = tmp_path / "benchmarks.json"
    text = json.dumps(sample("guidellm_benchmarks.json"), indent=1).replace("\n", "\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert len(points(imported("guidellm", path))) == 3


def test_embedded_requests_cost_no_memory(tmp_path):
    document = sample("guidellm_benchmarks.json")
    request = {"output": 'a "quoted" ]}[{ text \\', "times": [0.1] * 200}
    document["benchmarks"][0]["requests"] = {"successful": [request] * 12_000}
    path = json_file(tmp_path / "benchmarks.json", document)
    imported("guidellm", REPORT)
    tracemalloc.start()
    assert len(points(imported("guidellm", path))) == 3
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > 12e6
    assert peak < 3e6


@pytest.mark.skipif(not REAL_REPORT.is_file(), reason="the published report is not at hand")
def test_the_published_report_is_read():
    rows = points(imported("guidellm", REAL_REPORT))
    assert rows["requests_per_s"].tolist() == pytest.approx([0.3984, 0.7941], abs=1e-4)
    # Two requests of 19.79 ms each, first token after 11.48 ms, 8 tokens: (19.79 - 11.48) / 7 = 1.19 ms.
    assert rows["tpot_ms"].iloc[0] == pytest.approx(1.19, abs=0.15)
    assert rows["source_date"].tolist() == ["2026-08-14"] * 2
