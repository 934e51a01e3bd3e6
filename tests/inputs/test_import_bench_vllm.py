"""vLLM results: rates and lengths by hand, both writers, load kinds, wrong units, hostile and broken files."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from bench_files import SAMPLES, imported, points, reasons, sample, vllm_file

from planner.errors import InputError
from planner.inputs import read_tables, typed_frame
from planner.inputs.importers import IMPORTERS, write_import
from planner.inputs.importers.json_document import load_json


def test_a_result_becomes_one_measured_point_of_the_named_configuration():
    row = points(imported("vllm-bench", SAMPLES / "vllm_bench_serve.json", tensor_parallel=1)).iloc[0]
    assert (row["chip"], row["model"], row["engine"]) == ("H100 SXM", "Llama-3.1-8B", "vllm-bf16")
    assert (row["weight_precision"], row["kv_precision"], row["phase"]) == ("bf16", "bf16", "mixed")
    assert (row["load_kind"], row["concurrency"]) == ("closed_loop", 64)
    # Lengths are totals over completed requests: 647,168 / 632 and 633,216 / 632.
    assert row["input_tokens"] == pytest.approx(1024.0)
    assert row["output_tokens"] == pytest.approx(1001.924, abs=1e-3)
    assert (row["requests_per_s"], row["output_tok_per_s"]) == (4.815, 4824.5)
    assert row["input_tok_per_s"] == pytest.approx(647_168 / 131.25)
    assert (row["ttft_ms"], row["ttft_statistic"], row["ttft_p99_ms"]) == (318.0, "median", 1480.0)
    assert (row["tpot_ms"], row["tpot_statistic"], row["tpot_p99_ms"]) == (12.7, "median", 16.2)
    assert (row["source_date"], row["confidence"]) == ("2026-01-05", "measured")
    assert "file vllm_bench_serve.json" in row["notes"]
    # 632 of 640 completed: 98.75 %.
    assert "success 98.7500% (632 of 640 requests)" in row["notes"]


def test_both_writers_state_goodput_and_failures():
    new, old = SAMPLES / "vllm_bench_serve.json", SAMPLES / "vllm_benchmark_serving_old_key.json"
    notes = [points(imported("vllm-bench", path))["notes"].iloc[0] for path in (new, old)]
    for text in notes:
        assert "goodput 3.912 of 4.815 requests/s" in text
        assert "success 98.7500%" in text


def test_the_same_run_is_taken_once(tmp_path):
    files = [vllm_file(tmp_path, "a.json"), vllm_file(tmp_path, "b.json")]
    result = imported("vllm-bench", *files)
    assert len(points(result)) == 1
    assert reasons(result) == {"the same run occurs twice": 1}


def test_a_finite_rate_is_an_offered_load_and_no_limit_is_a_burst(tmp_path):
    offered = points(imported("vllm-bench", vllm_file(tmp_path, request_rate=5.0))).iloc[0]
    # Mean turn: 412 ms + (1,001.924 - 1) x 12.9 ms = 13,323.9 ms; 4.815/s of those are 64.15 in flight.
    assert offered["load_kind"] == "offered"
    assert offered["concurrency"] == pytest.approx(64.155, abs=1e-3)
    assert "requested 5, served 4.815 requests/s" in offered["notes"]
    burst = points(imported("vllm-bench", vllm_file(tmp_path, max_concurrency=None))).iloc[0]
    assert burst["load_kind"] == "open_loop"
    assert pd.isna(burst["concurrency"])


def test_another_statistic_can_be_kept(tmp_path):
    file = vllm_file(tmp_path, p95_ttft_ms=900.0)
    result = imported("vllm-bench", file, statistic="p95")
    row = points(result).iloc[0]
    assert (row["ttft_statistic"], row["ttft_ms"]) == ("p95", 900.0)
    assert (row["tpot_statistic"], row["tpot_ms"]) == ("median", 12.7)
    assert any("TPOT: no p95 in 1 rows, kept median" in note for note in result.notes)


@pytest.mark.parametrize("option", ["chip", "chips", "tensor_parallel", "engine", "model"])
def test_what_the_file_does_not_say_is_asked_for(option):
    with pytest.raises(InputError) as caught:
        imported("vllm-bench", SAMPLES / "vllm_bench_serve.json", **{option: None})
    assert [fault.column for fault in caught.value.faults] == [option]


def test_all_missing_options_are_reported_together():
    nothing = dict.fromkeys(("chip", "chips", "tensor_parallel", "engine", "model"))
    with pytest.raises(InputError) as caught:
        imported("vllm-bench", SAMPLES / "vllm_bench_serve.json", **nothing)
    columns = [fault.column for fault in caught.value.faults]
    assert columns == ["chip", "chips", "tensor_parallel", "engine", "model"]
    assert "--tensor-parallel" in str(caught.value)


def test_names_are_known_spellings_or_answered_with_the_nearest(tmp_path):
    known = vllm_file(tmp_path, model_id="meta-llama/Meta-Llama-3.1-8B-Instruct")
    assert points(imported("vllm-bench", known, model=None))["model"].tolist() == ["Llama-3.1-8B"]
    near = vllm_file(tmp_path, model_id="someone/Llama-3.1-8b-instruct-v2")
    with pytest.raises(InputError, match=r"unknown model; nearest known: 'Llama-3.1-8B'"):
        imported("vllm-bench", near, model=None)
    with pytest.raises(InputError, match=r"unknown engine; nearest known: 'vllm-bf16'"):
        imported("vllm-bench", known, engine="vlm-bf16")
    with pytest.raises(InputError, match=r"unknown chip; nearest known"):
        imported("vllm-bench", known, chip="H1000")


def test_configurations_that_cannot_be_are_refused():
    file = SAMPLES / "vllm_bench_serve.json"
    for options, message in (
        ({"precision": "fp8"}, "engine vllm-bf16 has weights in bf16"),
        ({"precision": "fp7"}, "must be one of bf16"),
        ({"chip": "MI300X"}, "does not run on MI300X"),
        ({"engine": "vllm-mxfp4"}, "is made for gpt-oss-120b, gpt-oss-20b, not for Llama-3.1-8B"),
        ({"chips": 6, "tensor_parallel": 4}, "multiple of tensor x pipeline parallel size, 4"),
        ({"product": "HGX H100 8x"}, "either chip or product"),
        ({"cache_hit_fraction": 1.5}, "below 1"),
        ({"statistic": "p42"}, "must be one of mean"),
        ({"date": "soon"}, "ISO date"),
        ({"speculative": "maybe"}, "yes, no or unknown"),
        ({"attention_dp": "maybe"}, "yes or no"),
        ({"price": 0}, "above 0"),
        ({"curve": "a|b"}, "may not hold"),
    ):
        with pytest.raises(InputError, match=message):
            imported("vllm-bench", file, **options)


def test_a_product_brings_its_chips():
    result = imported(
        "vllm-bench", SAMPLES / "vllm_bench_serve.json", chip=None, chips=None, product="HGX H100 8x",
        tensor_parallel=8,
    )  # fmt: skip
    row = points(result).iloc[0]
    assert (row["product"], row["chips"]) == ("HGX H100 8x", 8)
    assert "chip" not in points(result)


def test_keys_of_the_users_own_scenario_count(tmp_path):
    own = tmp_path / "mine"
    own.mkdir()
    (own / "scenario.yaml").write_text("name: mine\ndiscount_rate_fraction: 0.1\n")
    (own / "engines.csv").write_text(
        "engine,software,quality_pass_fraction,source,source_date,confidence\n"
        "vllm-eagle,vLLM,1,mine,2026-01,estimate\n"
    )
    file = SAMPLES / "vllm_bench_serve.json"
    with pytest.raises(InputError, match="--precision"):
        imported("vllm-bench", file, engine="vllm-eagle", scenario=str(own))
    row = points(imported("vllm-bench", file, engine="vllm-eagle", scenario=str(own), precision="fp8")).iloc[
        0
    ]
    assert (row["engine"], row["weight_precision"]) == ("vllm-eagle", "fp8")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"completed": 0}, "completed is not above 0"),
        ({"duration": 0.0}, "duration is not above 0"),
        ({"request_throughput": float("nan")}, "request_throughput is not a finite number"),
        ({"p99_ttft_ms": float("inf")}, "p99_ttft_ms is not a finite number"),
        ({"mean_tpot_ms": "N/A"}, "mean_tpot_ms is not a number"),
        ({"output_throughput": "4,824.5"}, "output_throughput is not a number"),
        ({"total_input_tokens": -1}, "total_input_tokens is negative"),
        ({"request_rate": 0.0}, "request_rate is not above 0"),
        ({"request_rate": "fast"}, "request_rate is not a number"),
        ({"p99_ttft_ms": 100.0}, "p99_ttft_ms is below median_ttft_ms"),
        ({"total_output_tokens": None}, "total_output_tokens is missing"),
        ({"max_concurrency": True}, "max_concurrency is not a number"),
    ],
)
def test_a_run_without_usable_numbers_is_rejected_with_the_reason(tmp_path, changed, reason):
    good = vllm_file(tmp_path, "good.json", max_concurrency=32)
    result = imported("vllm-bench", vllm_file(tmp_path, **changed), good)
    assert reasons(result) == {reason: 1}
    assert len(points(result)) == 1
    with pytest.raises(InputError, match=reason):
        imported("vllm-bench", vllm_file(tmp_path, **changed))


def test_seconds_declared_as_milliseconds_are_noticed(tmp_path):
    small = {"mean_ttft_ms": 0.15, "median_ttft_ms": 0.1, "p99_ttft_ms": 0.3}
    result = imported("vllm-bench", vllm_file(tmp_path, **small))
    assert any("TTFT 0.3 ms is shorter than any engine's" in note for note in result.notes)
    assert "unit suspected" in points(result)["notes"].iloc[0]
    # All latencies in seconds: 4.815/s x 13.3 ms are 0.064 requests in flight, not 64.
    seconds = {f"{s}_{m}_ms": 0.0129 for s in ("mean", "median", "p99") for m in ("tpot", "ttft")}
    result = imported("vllm-bench", vllm_file(tmp_path, **seconds))
    assert any("the client kept 64" in note for note in result.notes)
    assert not any("warning" in note for note in imported("vllm-bench", vllm_file(tmp_path)).notes)


def test_figures_that_contradict_each_other_are_noted(tmp_path):
    result = imported("vllm-bench", vllm_file(tmp_path, output_throughput=9649.0))
    # 633,216 tokens in 131.25 s are 4,824.5 tok/s.
    assert any(
        "output_throughput is not output tokens / duration: 9649, but 4824.5" in note for note in result.notes
    )


def test_a_warm_prefix_cache_shows_in_ttft_that_falls_while_load_rises(tmp_path):
    ladder = ((16, 300.0), (32, 320.0), (64, 60.0), (128, 310.0))
    files = [
        vllm_file(tmp_path, f"c{load}.json", max_concurrency=load, median_ttft_ms=ttft, p99_ttft_ms=2 * ttft,
                  duration=131.25 * 64 / load, request_throughput=4.815 * load / 64,
                  output_throughput=4824.5 * load / 64)
        for load, ttft in ladder
    ]  # fmt: skip
    result = imported("vllm-bench", *files)
    suspected = points(result)["notes"].str.startswith("prefix cache suspected")
    assert suspected.tolist() == [False, False, True, False]
    assert points(result)["curve"].nunique() == 1
    assert any(note.startswith("warning: prefix cache suspected") and "c64" in note for note in result.notes)


def test_a_closed_loop_past_its_knee_waits_longer_for_nothing(tmp_path):
    ladder = ((16, 100.0, 4.0), (64, 300.0, 9.0), (256, 900.0, 8.9), (512, 450.0, 8.8))
    files = [
        vllm_file(tmp_path, f"c{load}.json", max_concurrency=load, median_ttft_ms=ttft, p99_ttft_ms=2 * ttft,
                  duration=632 / rate, request_throughput=rate, output_throughput=633_216 / 632 * rate)
        for load, ttft, rate in ladder
    ]  # fmt: skip
    notes = points(imported("vllm-bench", *files))["notes"]
    # Only the third: nine times the lowest TTFT at no more requests than 64 in flight give. The fourth is
    # below five times the lowest and half of the third.
    assert notes.str.startswith("past the knee").tolist() == [False, False, True, False]
    assert notes.str.startswith("prefix cache suspected").tolist() == [False, False, False, True]


def test_other_shapes_are_other_curves(tmp_path):
    long = vllm_file(tmp_path, "long.json", total_input_tokens=6_471_680)
    result = imported("vllm-bench", vllm_file(tmp_path), long, curve="ours")
    assert points(result)["curve"].tolist() == ["ours 1024+1002", "ours 10240+1002"]
    assert points(result)["point"].is_unique


def test_lengths_of_one_curve_are_pooled_over_its_completed_requests(tmp_path):
    # 100 requests of 1,000 tokens and 300 of 1,040: (100,000 + 312,000) / 400 = 1,030.
    short = {"completed": 100, "total_input_tokens": 100_000, "total_output_tokens": 100_000}
    other = {"completed": 300, "total_input_tokens": 312_000, "total_output_tokens": 300_000}
    files = [
        vllm_file(tmp_path, "a.json", **short),
        vllm_file(tmp_path, "b.json", max_concurrency=9, **other),
    ]
    assert points(imported("vllm-bench", *files))["input_tokens"].tolist() == pytest.approx([1030.0, 1030.0])


def test_a_price_shows_what_output_costs(tmp_path):
    # 1 chip at 2.21 an hour and 4,824.5 tok/s: 2.21 / (4,824.5 x 0.0036) = 0.127.
    notes = imported("vllm-bench", vllm_file(tmp_path), price=2.21).notes
    assert any("0.127 per million output tokens at 2.21 per chip-hour" in note for note in notes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"{}", "completed is missing"),
        (b"[]", "no run in the files"),
        (b"[1]", "is not a result of one run"),
        (b"{", "is not JSON"),
        (b"\xff\xfe{", "is not JSON"),
        (b'{"a": 1, "a": 2}', "occurs twice"),
        (b"null", "is not a result of one run"),
    ],
)
def test_files_without_a_run_are_refused(tmp_path, content, message):
    path = tmp_path / "run.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        imported("vllm-bench", path)


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path):
    path = tmp_path / "run.json"
    text = (SAMPLES / "vllm_bench_serve.json").read_text().replace("\n", "\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert len(points(imported("vllm-bench", path))) == 1


def test_text_of_the_file_never_begins_like_a_formula(tmp_path):
    name = "=HYPERLINK(1)|x\n"
    row = points(imported("vllm-bench", vllm_file(tmp_path, "=1+1.json", backend=name))).iloc[0]
    assert row["software"] == "HYPERLINK(1) x"
    assert row["notes"].startswith("file 1+1.json")


def test_arrays_of_single_requests_are_passed_over(tmp_path):
    bulk = {"itls": [[0.01] * 50] * 400, "generated_texts": ['say "itls": [', "}]"], "ttfts": [0.3] * 400}
    path = vllm_file(tmp_path, **bulk)
    document = load_json(path, ("itls", "generated_texts", "ttfts"))
    assert document == sample("vllm_bench_serve.json") | dict.fromkeys(bulk)
    assert json.loads(path.read_text())["itls"]
    assert len(points(imported("vllm-bench", path))) == 1


def test_the_rows_are_written_as_tables_that_a_scenario_reads(tmp_path):
    result = imported("vllm-bench", SAMPLES / "vllm_bench_serve.json", cache_hit_fraction=0)
    assert result.settings == {}
    target = write_import(result, tmp_path / "rows")
    assert sorted(path.name for path in target.iterdir()) == ["operating_points.csv", "sources.csv"]
    (target / "scenario.yaml").write_text("name: mine\ndiscount_rate_fraction: 0.1\n")
    _, tables = read_tables(target)
    rows = typed_frame("operating_points", tables["operating_points"])
    assert rows["source"].tolist() == typed_frame("sources", tables["sources"])["source"].tolist()
    assert rows["cache_hit_fraction"].tolist() == [0.0]
    assert "cache cold" in rows["notes"].iloc[0]


def test_several_files_and_unknown_options_are_checked():
    importer = IMPORTERS["vllm-bench"]
    with pytest.raises(InputError, match="one or more files"):
        importer.run([], {})
    with pytest.raises(InputError, match="did you mean model"):
        importer.run([SAMPLES / "vllm_bench_serve.json"], {"modle": "x"})
    with pytest.raises(InputError, match="no such file"):
        imported("vllm-bench", Path("nowhere.json"))
