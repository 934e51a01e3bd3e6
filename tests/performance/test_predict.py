"""Predictions of measured-point files: coverage, honesty, accuracy on the calibration rows."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from planner.errors import InputError
from planner.performance import predict_points

ROOT = Path(__file__).parents[2]
CALIBRATION = ROOT.parent / "shared" / "perf" / "points_calibration.csv"
MEASURED_COLUMNS = [
    "throughput_in_tok_s",
    "throughput_out_tok_s",
    "throughput_total_tok_s",
    "ttft_ms",
    "ttft_p99_ms",
    "tpot_ms",
    "tpot_p99_ms",
    "e2e_latency_s",
    "power_w",
]


def row(**changed: object) -> dict[str, object]:
    """Return one row of a measured-point file without measured values."""
    return {
        "row_id": "a",
        "chip": "H100-SXM-80GB",
        "chips_used": 4,
        "tp": 4,
        "model": "Llama-3.1-70B",
        "engine": "vLLM",
        "engine_version": "0.11",
        "weight_precision": "fp8",
        "input_len": 1024,
        "output_len": 1024,
        "concurrency_or_batch": 32,
        "conc_kind": "client concurrency (closed loop)",
    } | changed


def predicted(*rows: dict[str, object]) -> pd.DataFrame:
    """Return predictions indexed by row id."""
    return predict_points(pd.DataFrame(rows)).set_index("row_id")


def test_a_closed_loop_row_gets_latencies_and_a_rate_that_obey_littles_law():
    found = predicted(row()).loc["a"]
    assert found["provider"] == "roofline"
    assert found["reason"] == ""
    turn_s = (found["predicted_ttft_ms"] + 1023 * found["predicted_tpot_ms"]) / 1000
    assert found["predicted_throughput_out_tok_s"] == pytest.approx(32 * 1024 / turn_s)
    assert 0 < found["band_low_ratio"] < 1 < found["band_high_ratio"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"chip": "Mystery X1"}, "chip Mystery X1 is not in the catalogue"),
        ({"model": "Mystery-70B"}, "model Mystery-70B is unknown"),
        ({"chip": "A100-SXM-80GB"}, "has no fp8 path"),
        ({"model": "DeepSeek-R1"}, "the weights do not fit"),
        ({"weight_precision": "int3"}, "weight precision is not known"),
        ({"output_len": np.nan}, "output length is missing"),
    ],
)
def test_a_row_that_cannot_be_computed_says_why_and_has_no_numbers(changed, words):
    found = predicted(row(**changed)).loc["a"]
    assert words in found["reason"]
    assert found["provider"] == ""
    assert np.isnan(found["predicted_tpot_ms"])


def test_a_missing_column_is_an_input_fault():
    with pytest.raises(InputError, match="input_len"):
        predict_points(pd.DataFrame([row()]).drop(columns=["input_len"]))


def test_an_engine_of_the_catalogue_needs_no_precision():
    stated, blank = row(row_id="a", engine="vllm-fp8"), row(row_id="b", engine="vllm-fp8")
    blank = {name: value for name, value in blank.items() if name != "weight_precision"}
    found = predicted(stated, blank)
    assert found["predicted_tpot_ms"].nunique() == 1
    other = predict_points(pd.DataFrame([row(engine="vllm")]).drop(columns=["weight_precision"]))
    assert other["reason"].str.contains("weight precision is not known").all()


def test_rows_keep_their_order_and_measured_values_are_not_looked_at():
    rows = [row(row_id="b"), row(row_id="a", chip="nothing"), row(row_id="c", concurrency_or_batch=64)]
    plain = predict_points(pd.DataFrame(rows))
    spoiled = predict_points(pd.DataFrame([item | {"tpot_ms": 1.0, "ttft_ms": 1.0} for item in rows]))
    assert plain["row_id"].to_list() == ["b", "a", "c"]
    pd.testing.assert_frame_equal(plain, spoiled)


def test_an_offered_rate_is_completed_until_the_replica_is_full():
    low = predicted(row(conc_kind="offered requests/s (open loop)", concurrency_or_batch=1)).loc["a"]
    flood = predicted(row(conc_kind="offered requests/s (open loop)", concurrency_or_batch=1000)).loc["a"]
    assert low["predicted_throughput_out_tok_s"] == pytest.approx(1024, rel=1e-3)
    assert flood["predicted_throughput_out_tok_s"] < 100_000


def test_foreign_spellings_of_chip_and_precision_are_understood():
    spelled = predicted(row(chip="H100_SXM", model="llama-3.1-70b", weight_precision="FP8 (W8A8)")).loc["a"]
    assert spelled["predicted_tpot_ms"] == predicted(row()).loc["a", "predicted_tpot_ms"]


def test_software_is_dated_and_unknown_software_is_an_assumption_not_an_error():
    rows = predicted(
        row(row_id="new"), row(row_id="old", engine_version="2024-10"), row(row_id="other", engine="mystery")
    )
    assert rows.loc["old", "predicted_tpot_ms"] > rows.loc["new", "predicted_tpot_ms"]
    assert rows.loc["other", "predicted_tpot_ms"] == rows.loc["new", "predicted_tpot_ms"]


@pytest.fixture(scope="module")
def accuracy():
    """Return the accuracy bench as a module, the calibration rows, and these with predictions."""
    if not CALIBRATION.is_file():
        pytest.skip("the measured points are not at hand")
    folder = str(ROOT / "bench")
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location("accuracy", ROOT / "bench" / "accuracy.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    data = module.measurements(CALIBRATION)
    return module, data, module.predictions(data)


def test_time_per_token_and_rate_are_within_twelve_percent_at_the_median(accuracy):
    module, _, rows = accuracy
    size = module.long_errors(rows)["error"].abs()
    assert len(size) >= 0.9 * 3213
    assert size.median() <= 0.12
    assert size.mean() <= 0.18


def test_the_time_to_first_token_is_within_35_percent_at_the_median(accuracy):
    _, _, rows = accuracy
    error = (rows["predicted_ttft_ms"] / rows["ttft_ms"] - 1.0).dropna().abs()
    assert len(error) > 1000
    assert error.median() <= 0.35


def test_chips_come_in_the_measured_order_in_nine_of_ten_pairs(accuracy):
    module, _, rows = accuracy
    right, counted = module.chip_order(rows)
    assert counted > 500
    assert right >= 0.9 * counted


def test_anchoring_is_within_six_percent_and_its_bands_hold_nine_rows_of_ten(accuracy):
    module, data, rows = accuracy
    frame, found = module.evidence_frame(data), module.anchored(data, module.SHAPE)
    known = found["covered"] & ~frame["source"].isin(module.EXPERIMENTAL)
    size = found.loc[known, "error"].abs()
    assert len(size) > 0.95 * len(rows)
    assert size.median() <= 0.06
    assert size.mean() <= 0.10
    left = module.left_out(frame, data.constants, "speed_log", module.SHAPE)[known]
    gap = (left["mean"] - frame["speed_log"]) / left["sd"]
    held = gap.dropna().abs().le(data.constants.rate_band_deviations)
    assert 0.85 <= held.mean() <= 0.95


def test_predicting_the_file_through_the_public_function_gives_the_same_numbers(accuracy):
    _, _, rows = accuracy
    hidden = pd.read_csv(CALIBRATION, low_memory=False).drop(columns=MEASURED_COLUMNS)
    sample = hidden[hidden["row_id"].isin(rows["row_id"].iloc[::200])]
    found = predict_points(sample).set_index("row_id")["predicted_tpot_ms"]
    expected = rows.set_index("row_id").loc[found.index, "predicted_tpot_ms"]
    assert found.to_numpy() == pytest.approx(expected.to_numpy())


def test_prompts_on_chips_of_their_own_do_not_delay_decoding_and_speculation_shortens_steps():
    rows = predicted(
        row(row_id="plain", input_len=8192),
        row(row_id="apart", input_len=8192, disaggregated="y"),
        row(row_id="draft", input_len=8192, disaggregated="y", spec_decode="y"),
    )
    tpot = rows["predicted_tpot_ms"]
    assert tpot["apart"] < tpot["plain"]
    assert tpot["draft"] == pytest.approx(0.61 * tpot["apart"])
    assert rows.loc[["apart", "draft"], "band_low_ratio"].eq(0.5).all()


def test_a_chip_without_measured_rows_of_its_own_carries_at_least_half_to_twice():
    chips = ["H100 SXM", "MI300X", "MI325X", "MI355X", "H20", "Ascend 910B"]
    rows = [
        row(row_id=name, chip=name, chips_used=1, tp=1, model="Llama-3.1-8B", weight_precision="bf16")
        for name in chips
    ]
    found = predicted(*rows)
    assert found["reason"].eq("").all()
    wide = found["band_low_ratio"].le(0.5) & found["band_high_ratio"].ge(2.0)
    assert wide.to_dict() == {name: name not in ("H100 SXM", "MI300X") for name in chips}
