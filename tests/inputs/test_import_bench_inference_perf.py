"""inference-perf: served rate as axis, seconds, refused files, token times by the clock, knees kept and flagged."""

from __future__ import annotations

import json
import shutil

import pytest
from bench_files import REAL, SAMPLES, imported, json_file, points, reasons, sample

from planner.errors import InputError

RESULTS = SAMPLES / "inference_perf"
STAGE = "inference_perf/stage_0_lifecycle_metrics.json"
KUBECON = REAL / "inference_perf" / "kubecon-na-2025"


def changed(**values):
    """Return stage 0 with values changed by their path, ``successes__count=0``."""
    document = json.loads(json.dumps(sample(STAGE)))
    for path, value in values.items():
        *outer, name = path.split("__")
        place = document
        for step in outer:
            place = place[step]
        place[name] = value
    return document


def test_a_folder_of_stages_is_one_curve_over_the_served_rate():
    result = imported("inference-perf", RESULTS)
    rows = points(result)
    assert rows["requests_per_s"].tolist() == [9.9, 19.5, 22.0]
    assert rows["output_tok_per_s"].tolist() == pytest.approx([9.9 * 101, 19.5 * 101, 22.0 * 101])
    assert rows["curve"].nunique() == 1
    assert set(rows["load_kind"]) == {"offered"}
    # Seconds become milliseconds.
    assert rows["ttft_ms"].tolist() == pytest.approx([50.0, 80.0, 2000.0])
    assert rows["ttft_p99_ms"].tolist() == pytest.approx([80.0, 300.0, 3000.0])
    assert rows["tpot_ms"].tolist() == pytest.approx([10.0, 15.0, 20.0])
    # In flight: 9.9 x 1.05 s, 19.5 x 1.59 s, 22 x 4.1 s.
    assert rows["concurrency"].tolist() == pytest.approx([10.395, 31.005, 90.2])
    assert "requested 20, served 19.5 requests/s" in rows["notes"].iloc[1]
    assert "sent 20 requests/s" in rows["notes"].iloc[1]
    # 1,194 of 1,200.
    assert "success 99.5000% (1194 of 1200 requests)" in rows["notes"].iloc[1]


def test_summary_and_monitoring_files_are_refused():
    result = imported("inference-perf", RESULTS)
    assert reasons(result) == {
        "mixes all stages, so it is no operating point": 1,
        "counts of the server's monitoring, not of this load": 1,
    }
    with pytest.raises(InputError, match="mixes all stages"):
        imported("inference-perf", RESULTS / "summary_lifecycle_metrics.json")


def test_a_summary_under_another_name_is_refused_too(tmp_path):
    path = tmp_path / "stage_7_lifecycle_metrics.json"
    shutil.copyfile(RESULTS / "summary_lifecycle_metrics.json", path)
    with pytest.raises(InputError, match="names no load"):
        imported("inference-perf", path)


def test_points_past_the_knee_are_kept_and_flagged():
    result = imported("inference-perf", RESULTS)
    flagged = points(result)["notes"].str.startswith("past the knee")
    # 22 of 40 requested and 2,000 ms against 50; the others keep up.
    assert flagged.tolist() == [False, False, True]
    assert any(note.startswith("past the knee, kept") and "22 rps" in note for note in result.notes)


def test_token_times_counted_in_chunks_are_scaled_to_the_clock(tmp_path):
    half = dict.fromkeys(("mean", "median", "p90", "p95", "p99"), 0.005)
    path = json_file(
        tmp_path / "stage_0_lifecycle_metrics.json",
        changed(successes__latency__time_per_output_token=half | {"p99": 0.008}),
    )
    result = imported("inference-perf", path)
    row = points(result).iloc[0]
    # (1.05 s - 0.05 s) / 100 = 10 ms per token where the file says 5: all statistics double.
    assert (row["tpot_ms"], row["tpot_p99_ms"]) == pytest.approx((10.0, 16.0))
    assert "TPOT scaled: x 2" in row["notes"]
    assert any("file 5 ms, by the clock 10 ms" in note for note in result.notes)


def test_runs_without_streaming_have_no_token_times(tmp_path):
    document = changed(
        successes__latency__time_per_output_token=None, successes__latency__time_to_first_token=None
    )
    row = points(imported("inference-perf", json_file(tmp_path / "stage_0_lifecycle_metrics.json", document)))
    assert row[["ttft_ms", "tpot_ms", "ttft_statistic"]].isna().all(axis=None)
    assert row["concurrency"].tolist() == pytest.approx([10.395])


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"successes__count": 0}, "count is not above 0"),
        ({"successes": None}, "successes is missing"),
        (
            {"successes__throughput__requests_per_sec": float("nan")},
            "requests_per_sec is not a finite number",
        ),
        ({"successes__latency__time_to_first_token__p99": float("inf")}, "p99 is not a finite number"),
        ({"successes__prompt_len__mean": "500"}, "mean is not a number"),
        ({"load_summary": {}}, "load_summary names no load"),
    ],
)
def test_stages_without_usable_numbers_are_rejected(tmp_path, values, reason):
    path = json_file(tmp_path / "stage_0_lifecycle_metrics.json", changed(**values))
    with pytest.raises(InputError, match=reason):
        imported("inference-perf", path)


def test_folders_of_several_configurations_are_refused(tmp_path):
    for name in ("plain", "eagle"):
        shutil.copytree(RESULTS, tmp_path / name / "results")
    with pytest.raises(InputError, match=r"one configuration at a time, found eagle/results, plain/results"):
        imported("inference-perf", tmp_path)
    assert len(points(imported("inference-perf", tmp_path / "plain"))) == 3
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no \*_lifecycle_metrics.json"):
        imported("inference-perf", tmp_path / "empty")


def test_broken_files_are_refused(tmp_path):
    path = tmp_path / "stage_0_lifecycle_metrics.json"
    for content, message in ((b"", "empty"), (b"{}", "load_summary is missing"), (b"[]", "one JSON object")):
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            imported("inference-perf", path)
    text = (SAMPLES / STAGE).read_text().replace("\n", "\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert len(points(imported("inference-perf", path))) == 1


@pytest.mark.skipif(not KUBECON.is_dir(), reason="the published runs are not at hand")
def test_the_published_plain_series_keeps_its_knee():
    result = imported("inference-perf", KUBECON / "vllm", date="2025-11-10")
    rows = points(result).set_index(points(result)["requests_per_s"].round(1))
    assert rows.loc[91.4, "output_tok_per_s"] == pytest.approx(5694, abs=1)
    assert rows.loc[91.4, "ttft_p99_ms"] == pytest.approx(182, abs=1)
    assert not rows.loc[91.4, "notes"].startswith("past the knee")
    assert rows.index[rows["notes"].str.startswith("past the knee")].tolist() == [101.2, 101.5, 103.1]
    assert rows["curve"].nunique() == 1
    # The server's own monitoring of stage 2 gives 10.68 ms per output token; the stage file says 4.99.
    assert rows.loc[61.2, "tpot_ms"] == pytest.approx(10.3, abs=0.1)


@pytest.mark.skipif(not KUBECON.is_dir(), reason="the published runs are not at hand")
def test_no_published_series_looks_cached_by_its_ttft():
    knees = {}
    for folder in sorted(path for path in KUBECON.glob("vllm*") if path.is_dir()):
        result = imported("inference-perf", folder)
        rows = points(result)
        assert not rows["notes"].str.contains("prefix cache suspected").any()
        kept = rows[~rows["notes"].str.startswith("past the knee")]
        knees[folder.name] = round(kept["requests_per_s"].max(), 1)
    assert knees == {
        "vllm": 91.4,
        "vllm+batch_size": 110.8,
        "vllm+chunking_and_prefix_caching": 167.8,
        "vllm+eagle": 51.6,
        "vllm+quantization": 168.2,
        "vllm+v0_engine": 39.8,
    }
