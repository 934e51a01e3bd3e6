"""Latency targets hold at the clock a cooling option holds, not at the nominal one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from planner.inputs import load_scenario
from planner.performance import operating_points
from planner.performance.clocks import NOMINAL, HeldClock
from planner.performance.select import best_within, classes, fastest_first

TARGET_MS = 50.0
SHAPES = pd.DataFrame({"workload": ["chat"], "shape": ["mean"], "share_fraction": [1.0], "queued": [False]})


def sweep() -> pd.DataFrame:
    """Return three batches of one configuration: the faster the rate, the slower each token."""
    rows = pd.DataFrame(
        {
            "requests_per_s": [10.0, 20.0, 30.0],
            "tpot_ms": [30.0, 45.0, 50.0],
            "ttft_ms": [100.0, 180.0, 190.0],
        }
    )
    fixed = {
        "workload": "chat",
        "shape": "mean",
        "product": "box",
        "model": "m",
        "engine": "e",
        "engine_option": "",
        "clock_choice": 1.0,
        "phase": "mixed",
        "decoding": "plain",
        "layout": "tensor parallel over 1 chips",
        "replica_chips": 1.0,
        "laid_chips": 1.0,
        "step_ms": np.nan,
        "service_ttft_ms": np.nan,
    }
    return rows.assign(
        **fixed, e2e_ms=np.nan, candidate=range(3), provider="roofline", tpot_target_ms=TARGET_MS
    )


def test_a_slower_clock_leaves_a_smaller_batch() -> None:
    # 50 ms per token at nominal clock takes 54 ms at 0.92; 45 ms takes 49 ms and still fits.
    points = fastest_first(sweep(), SHAPES)
    assert best_within(points, 200.0, np.nan)["requests_per_s"].tolist() == [30.0]
    assert best_within(points, 200.0, np.nan, HeldClock(1.0, 0.92))["requests_per_s"].tolist() == [20.0]
    # 180 ms to the first token takes 200 ms at 0.9, exactly the budget; at 0.8 it takes 225 ms.
    assert best_within(points, 200.0, np.nan, HeldClock(0.9, 0.92))["requests_per_s"].tolist() == [20.0]
    assert best_within(points, 200.0, np.nan, HeldClock(0.8, 0.92))["requests_per_s"].tolist() == [10.0]


def test_every_class_has_points_for_every_clock() -> None:
    routes = pd.DataFrame(
        {"workload": ["chat"], "ttft_budget_ms": [200.0], "e2e_budget_ms": [np.nan], "admissible": [True]}
    )
    slow = HeldClock(0.92, 0.92)
    chosen, _, _ = classes(sweep(), routes, SHAPES, pd.DataFrame(), None, clocks=[NOMINAL, slow])
    rates = chosen.set_index("clock")["requests_per_s"]
    assert rates.to_dict() == {NOMINAL.name: 30.0, slow.name: 20.0}


@pytest.mark.parametrize("name", ["small", pytest.param("flagship", marks=pytest.mark.slow)])
def test_no_point_of_a_shipped_scenario_misses_its_target_at_its_clock(name: str) -> None:
    scenario = load_scenario(name)
    taken = operating_points(scenario).taken
    clock = taken["clock"].str.split("/", expand=True).astype(float)
    classes_of = scenario.tables["service_classes"].set_index("service_class")["tpot_ms"]
    workloads = scenario.tables["workloads"].set_index("workload")
    target = workloads["tpot_ms"].fillna(workloads["service_class"].map(classes_of))
    limit = taken["workload"].map(target)
    held = taken["tpot_ms"] / clock[1]
    bound = limit.notna()
    assert bound.any()
    assert (held[bound] <= limit[bound] * (1 + 1e-9)).all()
