"""IT power of a unit at a point."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from serving_case import catalog_tables, neutral_constants, product

from planner.inputs import typed_frame
from planner.performance.activity import ACTIVITY, with_activity, with_work
from planner.performance.power import measured_unit_kw, mixed_kw, phase_kw
from planner.performance.statistics import attained_fraction, statistic_ratio

CONSTANTS = neutral_constants(
    prefill_power_ratio=1.2,
    decode_power_ratio=0.9,
    power_static_fraction=0.2,
    power_memory_fraction=0.5,
    power_compute_fraction=1.0,
    power_busy_fraction=0.7,
    power_clock_exponent=1.0,
)


def kw(
    prefill=np.nan, compute=np.nan, memory=np.nan, measured=np.nan, clock=1.0, **power: float | None
) -> tuple[float, float]:
    """Return kW of one unit in prefill and in decode at an activity of its chips (idle 2, busy 7, nameplate 10)."""
    products = typed_frame("products", [product("box", "H100 SXM", **power)])
    points = pd.DataFrame(
        {
            "product": ["box"],
            "measured_kw": [measured],
            "clock_choice": [clock],
            "prefill_compute_fraction": [prefill],
            "decode_compute_fraction": [compute],
            "decode_memory_fraction": [memory],
        }
    )
    return tuple(phase_kw(points, products, CONSTANTS).iloc[0])


def test_each_phase_draws_by_how_hard_it_works_the_chips():
    # Level over the 0.5 of the reference run: prefill 0.4 / 0.5, decode (0.1 + 0.6 x 0.5) / 0.5.
    assert kw(prefill=0.4, compute=0.1, memory=0.6) == pytest.approx((2 + 5 * 0.8, 2 + 5 * 0.8))
    # Idle memory and little arithmetic: near idle. A chip never draws more than its limit: level 0.8 / 0.5.
    assert kw(prefill=0.95, compute=0.0, memory=0.1) == pytest.approx((2 + 5 * 1.6, 2 + 5 * 0.1))


def test_a_point_that_does_not_say_how_hard_it_works_takes_the_ratios_of_the_phases():
    assert kw() == pytest.approx((2 + 5 * 1.2, 2 + 5 * 0.9))


def test_nothing_draws_more_than_the_nameplate():
    assert kw(prefill=0.9, compute=0.0, memory=0.0, busy_kw=9.5) == pytest.approx((10.0, 2.0))


def test_a_measured_draw_stands_for_both_phases():
    assert kw(prefill=0.4, measured=6.6) == (6.6, 6.6)


def test_unknown_power_stays_unknown_and_a_nameplate_alone_is_taken_whole():
    assert np.isnan(kw(nameplate_kw=None, idle_kw=None, busy_kw=None)).all()
    assert kw(idle_kw=None, busy_kw=None) == (10.0, 10.0)


def test_a_unit_draws_each_phase_for_the_time_it_takes():
    points = pd.DataFrame({"prefill_time_fraction": [0.25], "prefill_kw": [8.0], "decode_kw": [4.0]})
    assert mixed_kw(points).item() == pytest.approx(5.0)


def test_activity_is_what_the_rate_implies():
    # Llama 3.1 8B in BF16 on one H100, 5 requests/s of 1,000 + 200 tokens at 50 in flight, a quarter of the time in
    # prefill: 5 x 2 x 7.505e9 FLOP per token; each of 5 x 200 / 50 = 20 steps a second reads 15.01 GB of weights and
    # 50 x 1,100 tokens of 131,072 bytes.
    tables = catalog_tables()
    tables["products"] = typed_frame("products", [product("box", "H100 SXM")])
    point = {
        "workload": "chat",
        "shape": "all",
        "product": "box",
        "model": "Llama-3.1-8B",
        "engine": "vllm-bf16",
    }
    point |= {"replica_chips": 1.0, "replicas_per_unit": 8.0, "concurrency": 50.0, "requests_per_s": 40.0}
    points = pd.DataFrame([point | {"prefill_time_fraction": 0.25, "cache_hit_fraction": np.nan}])
    lengths = {"workload": "chat", "shape": "all", "input_tokens": 1000.0, "generated_tokens": 200.0}
    shapes = pd.DataFrame([lengths | {"uncached_tokens": 1000.0}])
    engines = tables["engines"].assign(
        step_overhead_us=0.0, first_token_overhead_ms=0.0, layer_overhead_us=0.0, sequence_overhead_us=0.0
    )
    found = with_activity(with_work(points, tables, engines, shapes, neutral_constants())).iloc[0]
    flops = 5 * 2 * 7.505e9 / 989e12
    moved = 20 * (7.505e9 * 2 + 50 * 1_100 * 131_072) / 3.35e12
    assert found["prefill_compute_fraction"] == pytest.approx(flops * 1000 / 0.25)
    assert found["decode_compute_fraction"] == pytest.approx(flops * 200 / 0.75)
    assert found["decode_memory_fraction"] == pytest.approx(moved / 0.75, rel=1e-6)
    weights = 2e9 * tables["models"].set_index("model").loc["Llama-3.1-8B", "parameters_total_b"]
    assert found["memory_used_fraction"] == pytest.approx((weights + 50 * 1_100 * 131_072) / 80e9)
    stranger = points.assign(model="unheard of")
    nobody = with_activity(with_work(stranger, tables, engines, shapes, neutral_constants()))
    assert nobody[ACTIVITY].isna().all(axis=None)


def test_a_draw_per_accelerator_gets_the_hosts_share_on_top():
    rows = pd.DataFrame(
        {
            "product": ["box", "box", "box"],
            "power_w": [450.0, 6000.0, np.nan],
            "power_scope": ["average accelerator power", "whole server at the wall", None],
            "chips": [8.0, 4.0, 8.0],
            "chips_per_unit": 8.0,
            "tdp_w": 700.0,
        }
    )
    found = measured_unit_kw(rows, typed_frame("products", [product("box", "H100 SXM")]))
    # 10 kW nameplate less 8 x 0.7 kW is 4.4 kW of host; 8 x 0.45 kW of chips.
    assert found.iloc[0] == pytest.approx(4.4 + 3.6)
    assert found.iloc[1] == pytest.approx(12.0)
    assert np.isnan(found.iloc[2])


def test_statistics_convert_through_the_median():
    table = catalog_tables()["statistic_factors"]
    one = pd.Series(["p99", "median", "p95"])
    there = statistic_ratio(table, "ttft", one, pd.Series(["median", "p99", "p95"]))
    assert there[0] == pytest.approx(1 / 2.29)
    assert there[1] == pytest.approx(2.29)
    assert there[2] == 1.0


def test_the_attainment_of_a_target_is_its_percentile_and_one_without_a_target():
    workloads = pd.DataFrame(
        {
            "workload": ["a", "b", "c", "d"],
            "percentile": ["p99", "p95", None, "p90"],
            "ttft_ms": [100.0, 100.0, 100.0, np.nan],
            "tpot_ms": [np.nan, 20.0, np.nan, np.nan],
            "e2e_ms": np.nan,
        }
    )
    found = attained_fraction(catalog_tables()["statistic_factors"], workloads)
    assert found.to_list() == [0.99, 0.95, 1.0, 1.0]
