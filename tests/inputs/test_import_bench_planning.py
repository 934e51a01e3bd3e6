"""Imported benchmark rows in the planning stage: the knee, the SLA, speculative series, predictions."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pytest
from bench_files import REAL, SAMPLES, imported, points

from planner.inputs import Scenario, make_scenario
from planner.inputs.importers import IMPORTERS, ImportResult
from planner.performance import operating_points

KUBECON = REAL / "inference_perf" / "kubecon-na-2025"
STATED = {"source": "planner_estimate", "source_date": "2026-11", "confidence": "estimate"}
published = pytest.mark.skipif(not KUBECON.is_dir(), reason="the published runs are not at hand")


def serving(
    imports: Sequence[ImportResult],
    lengths: tuple[float, float],
    ttft_ms: float,
    chip: str = "H100 SXM",
    chips: int = 1,
    model: str = "Llama-3.1-8B",
    engine: str = "vllm-bf16",
) -> Scenario:
    """Return a scenario with one workload (p99 TTFT), one product and the imported rows."""
    workload = dict.fromkeys(
        ("success_fraction", "quality_pass_fraction", "reasoning_ratio", "minute_peak_input_ratio",
         "minute_peak_output_ratio", "priority", "must_serve_fraction"), 1,
    )  # fmt: skip
    workload |= dict.fromkeys(("waiting_ms", "retry_fraction", "cached_input_fraction"), 0)
    workload |= {"workload": "chat", "business": "all", "model": model, "engines": (engine,)}
    workload |= {"ttft_ms": ttft_ms, "percentile": "p99"}
    place = {"country": "A", "continent": "Europe", "utc_offset_h": 0, **STATED}
    unit = {"product": "unit", "vendor": "maker"}
    rate = {
        "mode": "on_demand",
        "includes": "hosted",
        "price": 3 * chips,
        "price_unit": "unit_hour",
        "rent_step": "hour",
    }
    tables = {
        "periods": [{"period": "one", "start_date": "2027-01-01", "months": 1}],
        "regions": [{"region": name, **place} for name in ("users", "hall")],
        "latency": [
            {"from_region": "users", "to_region": "hall", "rtt_ms": 1, "statistic": "average", **STATED}
        ],
        "sites": [{"site": "site", "region": "hall", "kind": "cloud", **STATED}],
        "workloads": [workload],
        "shapes": [
            {"workload": "chat", "shape": "all", "share_fraction": 1,
             "input_tokens": lengths[0], "output_tokens": lengths[1]}
        ],
        "demand": [{"workload": "chat", "region": "users", "period": "one", "requests_per_s": 1.0}],
        "products": [
            {**unit, "chip": chip, "chips_per_unit": chips, "nameplate_kw": 1.3 * chips,
             "idle_kw": 0.3 * chips, "busy_kw": 0.9 * chips, **STATED}
        ],
        "offers": [{"offer": "rent", **unit, **rate, "lead_weeks": 0, "install_weeks": 0, **STATED}],
        "operating_points": pd.concat([points(result) for result in imports]),
        "sources": pd.concat([result.tables["sources"] for result in imports]),
    }  # fmt: skip
    return make_scenario({"name": "case", "discount_rate_fraction": 0.0}, tables)


@published
def test_the_measured_point_before_the_knee_is_the_capacity_under_the_target():
    plain = imported("inference-perf", KUBECON / "vllm", speculative="no")
    lengths = tuple(points(plain)[["input_tokens", "output_tokens"]].iloc[0])
    result = operating_points(serving([plain], lengths, ttft_ms=1001.0))
    row = result.taken.iloc[0]
    assert len(result.taken) == 1
    assert (row["provider"], row["engine"]) == ("measured", "vllm-bf16")
    assert row["requests_per_s"] == pytest.approx(91.36, abs=0.01)
    assert row["requests_per_s"] * lengths[1] == pytest.approx(5694, rel=0.002)
    assert row["ttft_ms"] == pytest.approx(182, abs=1)
    # The three loads past the knee are refused by the target, not by the importer.
    refused = result.refused["reason"][result.refused["reason"].str.contains("above the target of 1001 ms")]
    assert len(refused) == 3


@published
def test_a_target_past_the_knee_admits_the_rates_past_it():
    plain = imported("inference-perf", KUBECON / "vllm", speculative="no")
    lengths = tuple(points(plain)[["input_tokens", "output_tokens"]].iloc[0])
    row = operating_points(serving([plain], lengths, ttft_ms=3500.0)).taken.iloc[0]
    assert row["requests_per_s"] == pytest.approx(103.1, abs=0.1)


@published
def test_nearby_lengths_are_anchored_below_the_knee():
    plain = imported("inference-perf", KUBECON / "vllm", speculative="no")
    row = operating_points(serving([plain], (200.0, 63.0), ttft_ms=1001.0)).taken.iloc[0]
    assert row["provider"] == "anchored"
    # No load between the last one before the knee (93 in flight) and the first after it (389).
    assert row["concurrency"] <= 93.31
    assert row["requests_per_s"] == pytest.approx(91.4, rel=0.03)


@published
@pytest.mark.parametrize("lengths", [(204.1, 62.37), (200.0, 63.0)])
def test_the_slower_speculative_series_is_not_chosen(lengths):
    plain = imported("inference-perf", KUBECON / "vllm", speculative="no")
    eagle = imported("inference-perf", KUBECON / "vllm+eagle", speculative="yes")
    taken = operating_points(serving([plain, eagle], lengths, ttft_ms=1001.0)).taken
    assert len(taken) == 1
    assert taken["requests_per_s"].iloc[0] == pytest.approx(91.4, rel=0.03)
    assert "speculative" not in taken["basis"].iloc[0]


def test_invented_stages_obey_the_target_too():
    result = imported("inference-perf", SAMPLES / "inference_perf", speculative="no")
    # TTFT p99 80, 300 and 3,000 ms at 9.9, 19.5 and 22 requests/s.
    for target_ms, rate in ((200.0, 9.9), (1000.0, 19.5), (5000.0, 22.0)):
        taken = operating_points(serving([result], (500.0, 101.0), target_ms)).taken
        assert taken["provider"].tolist() == ["measured"]
        assert taken["requests_per_s"].tolist() == [rate]


def test_a_prediction_is_used_at_its_own_shape_and_says_so():
    result = IMPORTERS["aiconfigurator"].run([SAMPLES / "aiconfigurator_pareto.csv"], {})
    taken = operating_points(
        serving([result], (4000.0, 500.0), 20_000.0, "H200", 4, "Qwen3-32B", "vllm-fp8")
    ).taken
    # 5 requests/s at 64 in flight; the row with half of the prompt cached is for other prompts.
    assert taken["provider"].tolist() == ["modelled"]
    assert taken["requests_per_s"].tolist() == [5.0]
    assert taken["confidence"].tolist() == ["derived"]
