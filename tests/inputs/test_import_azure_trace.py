"""Request traces: statistics by hand, streaming, and every way a row can be wrong."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from planner.errors import InputError
from planner.inputs import load_scenario
from planner.inputs.importers import IMPORTERS, write_import
from planner.inputs.importers.azure_trace import import_azure_trace, read_azure_trace
from planner.inputs.importers.importer import Rejections
from planner.inputs.importers.length_shapes import length_shapes
from planner.inputs.importers.request_trace import (
    GRID_CELLS,
    dispersion_in_minutes,
    grid_index,
    length_summary,
    minute_ratios,
)
from planner.inputs.importers.trace_scenario import nearest_cloud_sites, on_demand_offers

HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens"
REAL = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "azure_llm_2023"
CHOSEN = {"offers": ("OCI H100 8x on demand",), "sites": ("cloud_n_virginia",)}
SAMPLES = REAL.parent / "format_samples"


def trace_file(folder: Path, rows: list[str], name: str = "trace.csv", header: str = HEADER) -> Path:
    path = folder / name
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def at(second: float, before: int = 100, after: int = 10) -> str:
    minute, rest = divmod(second, 60)
    hour, minute = divmod(int(minute), 60)
    return f"2023-11-16 {18 + hour:02d}:{minute:02d}:{rest:010.7f},{before},{after}"


def summary_of(path: Path, chunk_rows: int = 1000):
    rejections = Rejections()
    return read_azure_trace(path, rejections, chunk_rows), rejections.frame()


def test_rate_lengths_and_failures_of_a_small_trace(tmp_path):
    rows = [at(0, 100, 10), at(30, 300, 30), at(60, 200, 0), at(120, 400, 60)]
    found, rejected = summary_of(trace_file(tmp_path, rows))
    assert found.requests == 4
    assert found.failed == 1
    assert found.span_s == pytest.approx(120.0)
    assert found.requests_per_s == pytest.approx(4 / 120)
    assert found.input_length.mean == pytest.approx((100 + 300 + 400) / 3)
    assert found.input_length.p50 == 300.0
    assert found.output_length.most == 60.0
    assert found.first_day == "2023-11-16"
    assert rejected.empty


def test_minutes_count_from_the_first_request_and_the_cut_off_one_is_left_out(tmp_path):
    # First minute: 3 requests, 300 input tokens, 30 output; second: 1 request, 100 in, 90 out; then one more
    # request 121 s after the first, in a third minute that is not complete.
    rows = [at(10), at(20), at(69.9), at(70, 100, 90), at(131, 9000, 900)]
    found, _ = summary_of(trace_file(tmp_path, rows))
    assert found.complete_minutes == 2
    assert found.peak_request_ratio == pytest.approx(3 / 2)
    assert found.peak_input_ratio == pytest.approx(300 / 200)
    assert found.peak_output_ratio == pytest.approx(90 / 60)
    assert found.arrival_cv == pytest.approx(0.5)


def test_the_peak_minute_is_compared_with_its_own_hour():
    # Two hours: one request a minute, then ten a minute with a busiest minute of 20.
    minutes = np.repeat([1.0, 10.0], 60)
    minutes[70] = 20.0
    peaks, cv = minute_ratios(np.stack([minutes] * 3, axis=1))
    assert peaks[0] == pytest.approx(20 / (610 / 60))
    relative = np.concatenate([np.ones(60), minutes[60:] / (610 / 60)])
    assert cv == pytest.approx(relative.std())


def test_bursts_are_counted_by_second_and_in_the_busy_minutes(tmp_path):
    # Four minutes of one request a second, a fifth with ten in each of its first seven seconds, and one that ends it.
    rows = [at(second) for second in range(240)]
    rows += [at(240 + second + k / 20) for second in range(7) for k in range(10)] + [at(301)]
    found, _ = summary_of(trace_file(tmp_path, rows))
    assert found.complete_minutes == 5
    counts = np.zeros((5, 60))
    counts[:4], counts[4, :7] = 1.0, 10.0
    windows = counts.reshape(5, 6, 10).sum(axis=2)
    for seen, table in ((found.arrival_dispersion_1s, counts), (found.arrival_dispersion, windows)):
        assert seen == pytest.approx(table.var(axis=1, ddof=1).sum() / table.mean(axis=1).sum())
    # At least three minutes count as busy; of equally busy ones the earlier.
    assert found.busy_dispersion == pytest.approx(dispersion_in_minutes(windows[[4, 0, 1]]))
    assert found.input_cv == pytest.approx(found.arrival_cv)


def test_percentiles_are_those_of_the_sorted_requests():
    lengths = np.array([5, 5, 7, 20, 1000, 30, 5, 12])
    found = length_summary(Counter(lengths.tolist()))
    assert found.p50 == pytest.approx(np.percentile(lengths, 50))
    assert found.p95 == pytest.approx(np.percentile(lengths, 95))
    assert found.mean == pytest.approx(lengths.mean())


def test_chunks_and_order_of_rows_do_not_change_the_statistics(tmp_path):
    generator = np.random.default_rng(7)
    seconds = np.sort(generator.uniform(0, 1800, 500))
    rows = [
        at(s, int(a), int(b))
        for s, a, b in zip(
            seconds, generator.integers(1, 5000, 500), generator.integers(0, 900, 500), strict=True
        )
    ]
    whole, _ = summary_of(trace_file(tmp_path, rows), 10_000)
    pieces, _ = summary_of(trace_file(tmp_path, rows), 37)
    shuffled = [rows[i] for i in generator.permutation(len(rows))]
    mixed, _ = summary_of(trace_file(tmp_path, shuffled, "shuffled.csv"), 37)
    for other in (pieces, mixed):
        assert other.requests == whole.requests
        assert other.failed == whole.failed
        assert other.input_length == whole.input_length
        assert other.peak_input_ratio == pytest.approx(whole.peak_input_ratio)
        assert other.peak_output_ratio == pytest.approx(whole.peak_output_ratio)
        assert other.arrival_cv == pytest.approx(whole.arrival_cv)
        assert np.array_equal(other.count, whole.count)


def test_shapes_keep_requests_and_both_token_totals():
    generator = np.random.default_rng(3)
    before = np.floor(generator.lognormal(6.5, 1.2, 4000)) + 1
    after = np.floor(generator.lognormal(4.5, 1.0, 4000)) + 1
    cell = grid_index(before) * GRID_CELLS + grid_index(after)
    size = GRID_CELLS * GRID_CELLS
    sums = [np.bincount(cell, w, minlength=size).reshape(GRID_CELLS, -1) for w in (None, before, after)]
    shapes = length_shapes(*sums, bins=(4, 3))
    assert 4 <= len(shapes) <= 12
    assert shapes["share_fraction"].sum() == pytest.approx(1.0, abs=1e-12)
    assert shapes["share_fraction"] @ shapes["input_tokens"] == pytest.approx(before.mean(), rel=1e-12)
    assert shapes["share_fraction"] @ shapes["output_tokens"] == pytest.approx(after.mean(), rel=1e-12)
    assert shapes["shape"].is_unique
    # Four bins of equal token mass: the longer two carry half the tokens with far fewer of the requests.
    long = shapes[shapes["input_tokens"] > shapes["input_tokens"].mean()]
    carried = long["share_fraction"] @ long["input_tokens"] / before.mean()
    assert 0.24 < carried < 0.51
    assert long["share_fraction"].sum() < carried / 2


def test_negligible_cells_are_pooled_without_losing_tokens():
    count = np.array([[5000.0, 1.0], [1.0, 5000.0]])
    before = np.array([[10.0], [20.0]]) * count
    after = np.array([[3.0, 4.0]]) * count
    shapes = length_shapes(count, before, after, bins=(2, 2))
    assert len(shapes) == 2
    assert shapes["share_fraction"] @ shapes["output_tokens"] * 10_002 == pytest.approx(after.sum())


def test_offsets_and_mixed_precision_of_the_2024_form_are_read(tmp_path):
    rows = [
        "2024-05-12 00:00:00+00:00,1200,4",
        "2024-05-12 02:00:30.5+02:00,600,4",
        "2024-05-12 00:01:00.001163+00:00,1,1",
    ]
    found, rejected = summary_of(trace_file(tmp_path, rows))
    assert found.requests == 3
    assert found.span_s == pytest.approx(60.001163)
    assert rejected.empty


def test_bad_rows_are_counted_with_reason_line_and_example(tmp_path):
    rows = [
        at(0),
        "yesterday,10,10",
        "2023-11-16 18:20:00.0000000,=1+1,10",
        "2023-11-16 18:20:00.0000000,10,NaN",
        "2023-11-16 18:20:00.0000000,inf,10",
        "2023-11-16 18:20:00.0000000,12.5,10",
        "2023-11-16 18:20:00.0000000,-5,10",
        "2023-11-16 18:20:00.0000000,0,10",
        "2023-11-16 18:20:00.0000000,99999999999,10",
        "2023-11-16 18:20:00.0000000,1,234,10",
        "2023-11-16 18:20:00.0000000,10",
        "",
        at(60),
    ]
    found, rejected = summary_of(trace_file(tmp_path, rows))
    assert found.requests == 2
    counts = dict(zip(rejected["reason"], rejected["rows"], strict=True))
    assert counts == {
        "more fields than the header": 1,
        "the timestamp is not a time": 1,
        "a token count is not a whole number": 5,
        "a token count is negative": 1,
        "the prompt has no tokens": 1,
        "more than 10,000,000 tokens": 1,
    }
    lines = dict(zip(rejected["reason"], rejected["first_row"], strict=True))
    assert lines["the timestamp is not a time"] == 3
    assert lines["a token count is not a whole number"] == 4
    assert lines["the prompt has no tokens"] == 9
    assert "=1+1" in rejected.set_index("reason").loc["a token count is not a whole number", "example"]


def test_equal_rows_are_two_requests_because_a_trace_has_no_identities(tmp_path):
    found, rejected = summary_of(trace_file(tmp_path, [at(0), at(0), at(90)]))
    assert rejected.empty
    assert found.requests == 3


def test_quoted_thousands_and_whole_floats_are_numbers(tmp_path):
    found, rejected = summary_of(trace_file(tmp_path, ['2023-11-16 18:20:00,"1,234",12.0', at(8000, 766, 8)]))
    assert rejected.empty
    assert found.input_length.mean == 1000.0
    assert found.output_length.mean == 10.0


def test_byte_order_mark_windows_lines_and_semicolons_are_accepted(tmp_path):
    plain, _ = summary_of(trace_file(tmp_path, [at(0, 100, 10), at(70, 300, 30)]))
    text = trace_file(tmp_path, [at(0, 100, 10), at(70, 300, 30)]).read_text()
    for name, content in (
        ("bom.csv", b"\xef\xbb\xbf" + text.encode()),
        ("crlf.csv", text.replace("\n", "\r\n").encode()),
        ("semicolon.csv", text.replace(",", ";").encode()),
        ("spaces.csv", text.replace(",", " , ").encode()),
    ):
        (tmp_path / name).write_bytes(content)
        found, rejected = summary_of(tmp_path / name)
        assert rejected.empty, name
        assert found.input_length == plain.input_length
        assert found.span_s == plain.span_s


def test_files_without_requests_are_refused_with_the_reason(tmp_path):
    for name, content, message in (
        ("empty.csv", b"", "empty"),
        ("header.csv", HEADER.encode() + b"\n", "no row in it is a request"),
        ("failed.csv", f"{HEADER}\n{at(0, 5, 0)}\n".encode(), "no request in it completed"),
        ("bad.csv", f"{HEADER}\nx,1,1\n".encode(), "1 x the timestamp is not a time"),
        ("other.csv", b"time,prompt\n1,2\n", "the header has time, prompt"),
        ("wide.csv", f"{HEADER}\n{at(0)}\n{','.join('1' * 40)}\n".encode(), "not a table"),
        ("utf16.csv", f"{HEADER}\n{at(0)}\n".encode("utf-16"), "UTF-8"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=message):
            summary_of(tmp_path / name)
    with pytest.raises(InputError, match="no such file"):
        summary_of(tmp_path / "absent.csv")


def test_rows_at_one_instant_need_a_rate_from_the_user(tmp_path):
    path = trace_file(tmp_path, [at(5), at(5)])
    options = CHOSEN
    with pytest.raises(InputError, match="there is no rate"):
        import_azure_trace(path, **options)
    assert import_azure_trace(path, rate=2.5, **options).tables["demand"]["requests_per_s"].tolist() == [2.5]


def test_the_scenario_holds_what_the_trace_shows(tmp_path):
    rows = [at(10), at(20), at(69.9, 100, 0), at(70, 100, 90), at(131, 9000, 900)]
    result = import_azure_trace(
        trace_file(tmp_path, rows),
        workload="chat",
        periods=2,
        start_date="2027-04-01",
        **CHOSEN,
    )
    workload = result.tables["workloads"].iloc[0]
    assert workload["success_fraction"] == pytest.approx(0.8)
    assert workload["minute_peak_output_ratio"] == pytest.approx(90 / 55)
    assert workload["arrival_cv"] == pytest.approx(0.5)
    assert workload["sizing_statistic"] == "attained"
    assert result.tables["periods"]["period"].tolist() == ["2027-Q2", "2027-Q3"]
    assert result.tables["periods"]["start_date"].tolist() == ["2027-04-01", "2027-07-01"]
    assert result.tables["demand"]["requests_per_s"].tolist() == pytest.approx([5 / 121] * 2)
    assert result.tables["shapes"]["share_fraction"].sum() == pytest.approx(1.0)
    assert result.settings["catalog_offers"] == list(CHOSEN["offers"])
    assert any("not in the trace" in note for note in result.notes)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("bins", "many", "such as 3x2"),
        ("bins", "0x2", "such as 3x2"),
        ("rate", -1.0, "above 0"),
        ("periods", 0, "1 to 40"),
        ("start_date", "1/4/2027", "such as 2027-01-01"),
        ("model", "Llama-3.1-71B", "Llama-3.1-70B"),
        ("profile", "servegen-m-larg", "servegen-m-large"),
        ("region", "atlantis", "not in the shipped catalogue"),
        ("service_class", "online", "not in the shipped catalogue"),
    ],
)
def test_bad_options_are_faults(tmp_path, option, value, message):
    path = trace_file(tmp_path, [at(0), at(70)])
    with pytest.raises(InputError, match=message):
        import_azure_trace(path, **{**CHOSEN, option: value})


def test_an_import_with_defaults_is_a_scenario_of_the_shipped_catalogue(tmp_path):
    path = trace_file(tmp_path, [at(10), at(20), at(69.9, 100, 0), at(70, 100, 90), at(131, 9000, 900)])
    result = IMPORTERS["azure-trace"].run([path], {"workload": "=chat"})
    target = write_import(result, tmp_path / "made")
    scenario = load_scenario(target)
    assert scenario.warnings == ()
    assert set(scenario.tables["sites"]["kind"]) == {"cloud"}
    assert set(scenario.tables["offers"]["mode"]) == {"on_demand"}
    assert scenario.tables["shapes"]["share_fraction"].sum() == pytest.approx(1.0, abs=1e-12)
    # A name that looks like a formula stays text, in the folder and in a workbook.
    book = write_import(result, tmp_path / "made.xlsx")
    again = load_scenario(book)
    assert again.tables["workloads"]["workload"].tolist() == ["=chat"]
    assert again.tables["demand"]["requests_per_s"][0] == scenario.tables["demand"]["requests_per_s"][0]


def test_sites_default_to_the_users_region_then_the_continent():
    assert nearest_cloud_sites("n_virginia") == ["cloud_n_virginia"]
    near = nearest_cloud_sites("hong_kong")
    assert "cloud_tokyo" in near
    assert "cloud_n_virginia" not in near
    assert "OCI H100 8x on demand" in on_demand_offers(["cloud_n_virginia"])
    assert on_demand_offers([]) == []


@pytest.mark.skipif(not REAL.is_dir(), reason="the real traces are not at hand")
@pytest.mark.parametrize(
    ("name", "requests", "rate", "before", "after", "peaks"),
    [
        ("conv", 19_366, 5.53, (1154.7, 1020, 4083, 14050), (211.1, 129, 451, 1000), (1.52, 1.90, 1.27)),
        ("code", 8_819, 2.57, (2047.8, 1469, 7303, 7437), (27.9, 13, 90, 1899), (4.18, 4.29, 3.97)),
    ],
)
def test_the_azure_2023_files_give_their_known_statistics(name, requests, rate, before, after, peaks):
    found, rejected = summary_of(REAL / f"AzureLLMInferenceTrace_{name}.csv", 5000)
    assert rejected.empty
    assert found.requests == requests
    assert found.requests_per_s == pytest.approx(rate, abs=0.005)
    for length, known in ((found.input_length, before), (found.output_length, after)):
        assert length.mean == pytest.approx(known[0], abs=0.05)
        assert (length.p50, round(length.p95), length.most) == known[1:]
    ratios = (found.peak_request_ratio, found.peak_input_ratio, found.peak_output_ratio)
    assert ratios == pytest.approx(peaks, abs=0.005)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples are not at hand")
def test_the_2024_sample_is_read_although_it_lasts_a_second():
    found, rejected = summary_of(SAMPLES / "azure_llm_2024.csv")
    assert rejected.empty
    assert found.requests == 3
    assert found.complete_minutes == 0
    assert np.isnan(found.arrival_cv)


def test_bursts_of_a_trace_size_what_must_run_before_they_arrive(tmp_path):
    rows, second = [], 0.0
    for rate in (15, 2, 10, 15, 5, 2):
        rows += [at(second + k / rate) for k in range(150 * rate)]
        second += 150.0
    found = (
        import_azure_trace(trace_file(tmp_path, rows), scale_up_delay=103.0, **CHOSEN)
        .tables["workloads"]
        .iloc[0]
    )
    mean = (150 * 49 - 120) / 840  # the last minute, of 2/s, is not complete
    assert found["minute_peak_output_ratio"] == pytest.approx(15 / mean)
    assert 1.0 <= found["minute_p99_output_ratio"] <= found["minute_peak_output_ratio"]
    assert found["scale_up_delay_s"] == 103.0
