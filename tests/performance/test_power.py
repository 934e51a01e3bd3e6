"""IT power of a unit at a point."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from serving_case import catalog_tables, neutral_constants, product

from planner.inputs import typed_frame
from planner.performance.power import measured_unit_kw, unit_kw
from planner.performance.statistics import attained_fraction, statistic_ratio

CONSTANTS = neutral_constants(prefill_power_ratio=1.2, decode_power_ratio=0.9)


def kw(share: float, measured: float = np.nan, **power: float | None) -> float:
    """Return kW of one unit of a product at a share of prefill time."""
    products = typed_frame("products", [product("box", "H100 SXM", **power)])
    points = pd.DataFrame({"product": ["box"], "prefill_time_fraction": [share], "measured_kw": [measured]})
    return float(unit_kw(points, products, CONSTANTS).iloc[0])


def test_prefill_draws_more_and_decode_less_than_the_busy_draw():
    # idle 2, busy 7: decode 2 + 5 x 0.9 = 6.5, prefill 2 + 5 x 1.2 = 8, half and half 2 + 5 x 1.05 = 7.25.
    assert kw(0.0) == pytest.approx(6.5)
    assert kw(1.0) == pytest.approx(8.0)
    assert kw(0.5) == pytest.approx(7.25)


def test_nothing_draws_more_than_the_nameplate():
    assert kw(1.0, busy_kw=9.5) == 10.0


def test_a_measured_draw_replaces_the_formula():
    assert kw(0.5, measured=6.6) == 6.6


def test_unknown_power_stays_unknown_and_a_nameplate_alone_is_taken_whole():
    assert np.isnan(kw(0.5, nameplate_kw=None, idle_kw=None, busy_kw=None))
    assert kw(0.5, idle_kw=None, busy_kw=None) == 10.0


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
