"""Anchoring: weights of measured rows, what they leave of the error, and the bands that follow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from serving_case import catalog_tables, product, serving_scenario, shape, workload

from planner.performance import operating_points, rows_behind
from planner.performance.anchoring import ANCHORED_WEIGHT, Anchoring
from planner.performance.ceiling import LEAST_ROWS, beyond_ceiling, cut_text, with_ceiling
from planner.performance.corrected import band_log_sd, deviations
from planner.performance.errors import with_errors
from planner.performance.evidence import EVIDENCE_COLUMNS
from planner.performance.roofline_constants import roofline_constants

CONSTANTS = roofline_constants(catalog_tables()["roofline_constants"])
PRIOR = 0.18


def measured(**changed: object) -> dict[str, object]:
    return {
        "point": "row",
        "chip": "H200",
        "model": "M",
        "software": "vLLM",
        "weight_precision": "fp8",
        "family": "hopper",
        "chips": 4.0,
        "attention_dp": False,
        "batch": False,
        "input_tokens": 1024.0,
        "output_tokens": 1024.0,
        "load": 32.0,
        "speed_log": 0.2,
        "first_token_log": -0.4,
        "own": False,
        "age_years": 0.0,
        "source": "bench",
        "source_date": "2026-01",
    } | changed


def replica(**changed: object) -> pd.DataFrame:
    row = measured() | {"generated_tokens": 1024.0, "either": False, "rate_log_sd": PRIOR} | changed
    return pd.DataFrame([row])


def corrected(rows: list[dict[str, object]], at: pd.DataFrame, load: float = 32.0):
    evidence = pd.DataFrame(rows, columns=EVIDENCE_COLUMNS)
    return Anchoring(evidence, CONSTANTS).correction(at, np.array([[load]]))


def value(array: np.ndarray) -> float:
    return float(array[0, 0])


def test_without_rows_the_roofline_stands_with_its_whole_error():
    found = corrected([measured(model="other")], replica())
    assert value(found.speed_log) == 0.0
    assert value(found.weight) == 0.0
    whole = np.sqrt(PRIOR**2 + CONSTANTS.anchor_source_log**2 + CONSTANTS.anchor_noise_log**2)
    assert value(found.speed_sd) == pytest.approx(whole)


def test_one_row_at_the_place_itself_is_believed_by_the_share_of_its_noise():
    found = corrected([measured()], replica())
    error, source, noise = PRIOR**2, CONSTANTS.anchor_source_log**2, CONSTANTS.anchor_noise_log**2
    share = error / (error + source + noise)
    assert value(found.speed_log) == pytest.approx(0.2 * share, rel=1e-6)
    left = error + source - error * share
    assert value(found.speed_sd) == pytest.approx(np.sqrt(left + noise), rel=1e-6)
    assert value(found.weight) == pytest.approx(error * share / (error + source), rel=1e-6)


@pytest.mark.parametrize(
    "far",
    [
        {"input_tokens": 16_384.0},
        {"output_tokens": 128.0},
        {"load": 1.0},
        {"chips": 1.0},
        {"attention_dp": True},
        {"batch": True},
        {"chip": "H100 SXM"},
        {"chip": "B200", "family": "blackwell"},
        {"weight_precision": "bf16"},
        {"age_years": 3.0},
    ],
)
def test_whatever_is_farther_away_says_less(far: dict[str, object]):
    near = corrected([measured()], replica())
    away = corrected([measured(**far)], replica())
    assert 0.0 < value(away.speed_log) < value(near.speed_log)
    assert value(away.speed_sd) > value(near.speed_sd)


def test_ten_twins_say_little_more_than_one_and_two_kinds_of_rows_share_the_weight():
    one = corrected([measured()], replica())
    twins = corrected([measured(point=str(number)) for number in range(10)], replica())
    assert value(one.speed_log) < value(twins.speed_log) < 0.2
    assert value(twins.speed_sd) < value(one.speed_sd)
    # What all rows of one source have in common stays unknown however many there are.
    assert value(twins.speed_sd) > CONSTANTS.anchor_source_log
    both = corrected([measured(), measured(point="b", source="other", speed_log=-0.2)], replica())
    assert value(both.speed_log) == pytest.approx(0.0, abs=1e-6)


def test_own_rows_outweigh_public_ones_of_the_same_place():
    rows = [measured(), measured(point="mine", source="mine", own=True, speed_log=-0.2)]
    assert value(corrected(rows, replica()).speed_log) < -0.02
    assert value(corrected(rows[1:], replica()).weight) > value(corrected(rows[:1], replica()).weight)


def test_a_load_beyond_the_last_measured_one_is_not_called_anchored():
    inside, beyond = (corrected([measured()], replica(), load) for load in (32.0, 33.0))
    assert value(inside.weight) >= ANCHORED_WEIGHT
    assert value(beyond.weight) == 0.0
    # The number of chips was not measured: loads in proportion to the chips.
    wide = corrected([measured()], replica(chips=8.0), 64.0)
    assert value(wide.weight) > 0.0


def test_a_replica_without_targets_takes_loops_and_batches_alike():
    batch = [measured(batch=True)]
    assert value(corrected(batch, replica(either=True)).speed_log) > value(
        corrected(batch, replica()).speed_log
    )


def test_the_band_is_of_the_rate_and_of_no_time():
    """True rates 10 % below to 60 % above the predicted: so does the band, not its inverse."""
    low, high = pd.Series([0.9]), pd.Series([1.6])
    assert band_log_sd(low, high, CONSTANTS)[0] == pytest.approx(
        np.log(1.6 / 0.9) / (2 * CONSTANTS.rate_band_deviations)
    )
    columns = ["engine_option", "rate_log_correction", "first_token_log_sd", "evidence"]
    columns += ["tuning_low_ratio", "tuning_high_ratio"]
    point = {"product": "box", "engine": "vllm-fp8", "model": "M", "provider": "roofline"}
    point |= {"band_low_ratio": 0.9, "band_high_ratio": 1.6, "rate_log_sd": 0.1, "evidence_fraction": 0.0}
    frame = pd.DataFrame([point | dict.fromkeys(columns)])
    tables = catalog_tables() | {"products": pd.DataFrame([{"product": "box", "chip": "H200"}])}
    lowered = with_errors(frame, tables, pd.DataFrame(columns=EVIDENCE_COLUMNS), 0.5, CONSTANTS).iloc[0]
    # Planned half a deviation below the expected rate: the truth lies higher than planned more often than lower.
    wide = CONSTANTS.rate_band_deviations
    assert lowered["band_low_ratio"] == pytest.approx(np.exp(0.1 * (0.5 - wide)))
    assert lowered["band_high_ratio"] == pytest.approx(np.exp(0.1 * (0.5 + wide)))


def test_the_confidence_asked_for_lowers_every_estimated_rate_by_its_own_error():
    def taken(confidence: float) -> pd.DataFrame:
        scenario = serving_scenario(
            [workload(model="Llama-3.1-70B", engines="vllm-fp8")],
            [shape()],
            [product("box", "H200")],
            settings={"rate_confidence": confidence},
        )
        points = operating_points(scenario).taken
        return points.sort_values("requests_per_s").iloc[-1]

    expected, sure = taken(0.5), taken(0.8)
    ratio = np.exp(-deviations(0.8) * expected["rate_log_sd"])
    assert sure["requests_per_s"] / expected["requests_per_s"] == pytest.approx(ratio, rel=0.03)
    assert sure["band_low_ratio"] > expected["band_low_ratio"]


def test_the_rows_behind_a_point_are_named_with_distance_and_weight():
    scenario = serving_scenario(
        [workload(model="Llama-3.1-70B", engines="vllm-fp8", ttft_ms=4000, tpot_ms=60, percentile="p95")],
        [shape()],
        [product("box", "H200")],
    )
    point = operating_points(scenario).taken.iloc[:1]
    assert point["provider"].iloc[0] == "anchored"
    rows = rows_behind(scenario, point, most=200)
    assert rows["weight"].abs().is_monotonic_decreasing
    assert rows["chip"].iloc[0] == "H200"
    log = float((rows["weight"] * np.log(rows["rate_ratio"])).sum())
    assert log == pytest.approx(point["rate_log_correction"].iloc[0], abs=0.01)


def best_rows(count: int, **changed: object) -> pd.DataFrame:
    row = {"chip": "H200", "model": "N", "experts": False, "active_b": 60.0, "work": 6e5, "work_per_w": 600.0}
    return pd.DataFrame([row | changed] * count)


@pytest.mark.parametrize(
    ("best", "ceiling"),
    [
        # 6e5 billions of parameters x tokens/s on this chip, of a model of 80: 7,500 tokens/s.
        (best_rows(LEAST_ROWS), 7_500.0),
        # Too few rows of the chip: per watt, 600 x 700 W over 80.
        (best_rows(LEAST_ROWS - 1), 5_250.0),
        (best_rows(LEAST_ROWS, active_b=20.0), np.inf),
        (best_rows(LEAST_ROWS, experts=True), np.inf),
    ],
)
def test_the_ceiling_is_the_best_of_the_class_on_the_chip_else_per_watt(best: pd.DataFrame, ceiling: float):
    rows = replica(experts=np.nan, parameters_active_b=80.0, tdp_w=700.0)
    assert with_ceiling(rows, best)["ceiling_tok_per_s"].tolist() == [ceiling]


def test_a_rate_beyond_the_ceiling_is_cut_unless_rows_stand_behind_it_and_says_so():
    rows = replica(ceiling_tok_per_s=1000.0, ceiling_origin="of N on this chip")
    # 5 requests/s of 1,600 tokens on four chips are 2,000 tokens/s per chip.
    rate, tokens = np.array([[5.0, 2.0]]), np.array([[1600.0]])
    unknown, known = np.zeros((1, 2), dtype=bool), np.ones((1, 2), dtype=bool)
    assert beyond_ceiling(rows, rate, tokens, unknown).tolist() == [[2.0, 1.0]]
    assert beyond_ceiling(rows, rate, tokens, known).tolist() == [[1.0, 1.0]]
    assert "cut to 50 % of the estimate: 1000 tokens/s per chip" in cut_text(rows, np.array([2.0]))[0]
    assert cut_text(rows, np.array([1.0]))[0] == ""


def test_no_estimate_of_a_chip_nobody_measured_beats_the_best_per_watt_of_any():
    scenario = serving_scenario(
        [workload(model="gpt-oss-120b", engines="trtllm-mxfp4")], [shape()], [product("box", "B300")]
    )
    taken = operating_points(scenario).taken
    cut = taken[taken["basis"].str.contains("cut to")]
    assert len(cut)
    per_chip = cut["requests_per_s"] * 1200.0 / 8.0
    assert per_chip.nunique() == 1 or per_chip.max() / per_chip.min() < 1.001
