"""InferenceMAX / InferenceX rows: per-GPU rates back to cluster totals, seconds, keys found or refused."""

from __future__ import annotations

from typing import Any

import pytest
from bench_files import json_file, points, reasons, sample

from planner.errors import InputError
from planner.inputs.importers import IMPORTERS
from planner.inputs.importers.benchmark_checks import cost_per_mtok_output

R1 = "deepseek-ai/DeepSeek-R1"


def inferencex(folder, *rows: dict[str, Any], **options: Any):
    """Import rows as one aggregate file."""
    return IMPORTERS["inferencex"].run([json_file(folder / "agg_x.json", list(rows))], options)


def ordinary(**changed: Any) -> dict[str, Any]:
    """Return the row of an ordinary node of the sample, of a known model."""
    return sample("inferencemax_agg.json")[0] | {"model": R1} | changed


def disaggregated(**changed: Any) -> dict[str, Any]:
    """Return the row of a prefill/decode split of the sample, of a known model."""
    return sample("inferencemax_agg.json")[1] | {"model": R1} | changed


def test_an_ordinary_row_is_multiplied_by_its_gpus(tmp_path):
    row = points(inferencex(tmp_path, ordinary())).iloc[0]
    assert (row["chip"], row["chips"], row["model"], row["engine"]) == ("H200", 8, "DeepSeek-R1", "vllm-fp8")
    assert (row["output_tok_per_s"], row["input_tok_per_s"]) == (4800.0, 4800.0)
    assert (row["tensor_parallel"], row["expert_parallel"], row["attention_dp"]) == (8, 1, False)
    # Seconds become milliseconds.
    assert (row["ttft_ms"], row["ttft_p99_ms"]) == pytest.approx((318.0, 1480.0))
    assert (row["tpot_ms"], row["tpot_p99_ms"]) == pytest.approx((12.7, 16.2))
    assert (row["load_kind"], row["concurrency"], row["speculative"]) == ("closed_loop", 64, "no")
    assert "nominal lengths" in row["notes"]


def test_a_disaggregated_row_stands_for_the_whole_cluster(tmp_path):
    result = inferencex(tmp_path, disaggregated(), price=2.21)
    row = points(result).iloc[0]
    # 20 prefill GPUs x 700 in, 8 decode GPUs x 1,750 out.
    assert (row["chips"], row["input_tok_per_s"], row["output_tok_per_s"]) == (28, 14_000.0, 14_000.0)
    # 28 x 2.21 / (14,000 x 0.0036) = 1.228 per million; by the published rate per GPU it would be 0.351.
    cost = cost_per_mtok_output(2.21, row["chips"], row["output_tok_per_s"])
    assert cost == pytest.approx(28 * 2.21 / (14_000 * 0.0036))
    assert round(cost, 3) == 1.228
    assert any("1.228 per million output tokens" in note for note in result.notes)
    assert "20 prefill and 8 decode GPUs" in row["notes"]


@pytest.mark.parametrize("absent", ["num_prefill_gpu", "num_decode_gpu"])
def test_a_disaggregated_row_without_its_gpu_counts_is_refused(tmp_path, absent):
    for value in (None, 0):
        result = inferencex(tmp_path, disaggregated(**{absent: value}), ordinary())
        assert len(points(result)) == 1
        assert list(reasons(result)) == [
            "disaggregated without num_prefill_gpu and num_decode_gpu: its rates per GPU mean nothing"
        ]


def test_a_split_cluster_is_planned_with_only_under_a_named_engine(tmp_path):
    assert points(inferencex(tmp_path, disaggregated()))["engine"].isna().all()
    assert points(inferencex(tmp_path, disaggregated(), engine="trtllm-fp4"))["engine"].tolist() == [
        "trtllm-fp4"
    ]
    mixed = disaggregated(prefill_hw="b200", decode_hw="h100")
    with pytest.raises(InputError, match="different hardware"):
        inferencex(tmp_path, mixed)


def test_rates_that_do_not_add_up_are_noted(tmp_path):
    result = inferencex(tmp_path, ordinary(tput_per_gpu=2000.0))
    assert any(
        "input + output rate is not tput_per_gpu x GPUs: 9600, but 16000" in note for note in result.notes
    )


def test_rows_of_the_first_writer_have_no_input_rate(tmp_path):
    early = {
        key: value for key, value in ordinary().items() if key not in ("input_tput_per_gpu", "pp", "disagg")
    }
    row = points(inferencex(tmp_path, early)).iloc[0]
    # (1,200 - 600) x 8.
    assert row["input_tok_per_s"] == 4800.0


@pytest.mark.parametrize(
    ("changed", "engine"),
    [
        ({"framework": "sglang"}, "sglang-fp8"),
        ({"framework": "trt", "precision": "fp4", "hw": "b200"}, "trtllm-fp4"),
        ({"framework": "vllm", "hw": "mi300x"}, "vllm-rocm-fp8"),
        ({"framework": "vllm", "model": "openai/gpt-oss-120b", "precision": "fp4"}, "vllm-mxfp4"),
        ({"framework": "in-house"}, None),
        ({"framework": "sglang", "hw": "mi300x"}, "sglang-rocm-fp8"),
        ({"framework": "vllm", "hw": "mi355x", "precision": "fp4"}, "vllm-rocm-fp4"),
        ({"framework": "trt", "hw": "mi300x"}, None),
    ],
)
def test_the_engine_follows_from_framework_precision_and_chip(tmp_path, changed, engine):
    rows = points(inferencex(tmp_path, ordinary(**changed)))
    assert rows["engine"].tolist() == [engine] if engine else rows["engine"].isna().all()


def test_data_parallel_attention_and_speculation_are_read(tmp_path):
    row = points(inferencex(tmp_path, ordinary(dp_attention="true", ep=8, spec_decoding="mtp"))).iloc[0]
    assert (row["attention_dp"], row["tensor_parallel"], row["expert_parallel"]) == (True, 1, 8)
    assert row["speculative"] == "yes"


def test_unknown_names_are_answered_with_the_nearest(tmp_path):
    result = inferencex(
        tmp_path, ordinary(), ordinary(model="deepseek-ai/DeepSeek-R1-0528-x"), ordinary(hw="h900")
    )
    assert len(points(result)) == 1
    first, second = reasons(result)
    assert first.startswith("unknown model; nearest known: 'DeepSeek-R1")
    assert second.startswith("unknown chip")
    named = inferencex(tmp_path, ordinary(model="ours"), model="DeepSeek-R1", chip="H200")
    assert points(named)["model"].tolist() == ["DeepSeek-R1"]
    for option in ("chip", "model", "engine"):
        with pytest.raises(InputError, match=f"unknown {option}"):
            inferencex(tmp_path, ordinary(), **{option: "nothing like it"})


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"conc": 0}, "conc is not above 0"),
        ({"output_tput_per_gpu": float("nan")}, "output_tput_per_gpu is not a finite number"),
        ({"isl": "N/A"}, "isl is not a number"),
        ({"p99_ttft": float("inf")}, "p99_ttft is not a finite number"),
        ({"disagg": "perhaps"}, "disagg is neither true nor false"),
        ({"tp": None}, "tp is missing"),
    ],
)
def test_rows_without_usable_numbers_are_rejected(tmp_path, changed, reason):
    with pytest.raises(InputError, match=reason):
        inferencex(tmp_path, ordinary(**changed))


def test_a_wrong_unit_is_noticed(tmp_path):
    # Milliseconds in a file of seconds: 318 "s" of waiting, 12.7 "s" per token.
    result = inferencex(
        tmp_path, ordinary(median_ttft=318.0, p99_ttft=1480.0, median_tpot=12.7, p99_tpot=16.2)
    )
    assert any("TPOT 12700 ms is longer than any user waits" in note for note in result.notes)


def test_single_rows_duplicates_and_broken_files(tmp_path):
    importer = IMPORTERS["inferencex"]
    single = json_file(tmp_path / "one.json", ordinary())
    assert len(points(importer.run([single], {}))) == 1
    assert reasons(inferencex(tmp_path, ordinary(), ordinary())) == {"the same run occurs twice": 1}
    path = tmp_path / "agg.json"
    for content, message in ((b"", "empty"), (b"[]", "no run in the files"), (b"[3]", "is not a row")):
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            importer.run([path], {})
    path.write_bytes(b"\xef\xbb\xbf" + single.read_text().replace(",", ",\r\n").encode())
    assert len(points(importer.run([path], {}))) == 1
