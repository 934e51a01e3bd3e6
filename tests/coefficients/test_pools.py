"""Pools: the size a pool is first taken to have, and caps that only tighten."""

from __future__ import annotations

import pandas as pd
import pytest

from planner.coefficients.service.pools import POOL_PLACE, first_pools, tightened
from planner.performance.frame import PointSet

KEY = {
    "workload": "chat",
    "ttft_class": "near",
    "clock": "1/1",
    "clock_choice": 1.0,
    "product": "box",
    "engine": "e",
    "engine_option": "",
    "phase": "mixed",
}
PLACE = {"site": "hall", "cooling": "air", "period": "t1", "block": "day"}


def curves() -> pd.DataFrame:
    sizes = [1.0, 4.0, 16.0]
    frame = pd.DataFrame(
        {"replicas": sizes, "utilisation_cap_fraction": [0.4, 0.8, 0.9], "requests_per_s": 2.0}
    )
    return frame.assign(**KEY)


def point_set() -> PointSet:
    empty = pd.DataFrame()
    return PointSet(empty, empty, empty, curves())


def test_first_size_is_a_quarter_of_the_demand_in_reach():
    runs = pd.DataFrame([KEY | {"site": "hall", "cooling": "air", "peak_ratio": 1.5}])
    routes = pd.DataFrame(
        {"workload": "chat", "region": ["east", "west"], "site": "hall", "ttft_class": ["near", "far"]}
    )
    demand = pd.DataFrame(
        {
            "workload": "chat",
            "region": ["east", "west"],
            "period": "t1",
            "block": "day",
            "requests_per_s": [20.0, 99.0],
        }
    )
    workloads = pd.DataFrame({"retry_fraction": [0.1]}, index=pd.Index(["chat"], name="workload"))
    (pool,) = first_pools(point_set(), runs, routes, demand, workloads).to_dict("records")
    assert pool["replicas"] == pytest.approx(
        0.25 * 20.0 * 1.1 * 1.5 / 2.0
    )  # 4.1: the west is in another class
    assert pool["utilisation_cap_fraction"] == 0.8


def pools(*sized: tuple[str, float, float]) -> pd.DataFrame:
    rows = [
        KEY | PLACE | {"block": name, "replicas": size, "utilisation_cap_fraction": cap}
        for name, size, cap in sized
    ]
    return pd.DataFrame(rows)


def test_caps_tighten_to_the_sizes_seen_and_never_rise():
    held = pools(("day", 16.0, 0.9), ("night", 4.0, 0.8), ("dawn", 16.0, 0.8))
    seen = pools(("day", 6.0, 0.9), ("night", 99.0, 0.8))[[*POOL_PLACE, "replicas"]]
    after = tightened(held, curves(), seen).set_index("block")
    # 0.75 x 6 replicas stand in the row of 4; a night of 99 keeps what it had; the dawn is not used.
    assert after["utilisation_cap_fraction"].to_dict() == {"day": 0.8, "night": 0.8, "dawn": 0.4}
    assert after["replicas"].to_dict() == {"day": 4.5, "night": 4.0, "dawn": 1.0}


def test_pool_that_shrank_in_an_hour_given_up_gets_the_cap_no_size_breaks():
    held = pools(("day", 16.0, 0.9), ("night", 16.0, 0.9), ("dawn", 4.0, 0.8))
    seen = pools(("day", 12.0, 0.9), ("night", 12.0, 0.9), ("dawn", 6.0, 0.8))[[*POOL_PLACE, "replicas"]]
    hours = pd.DataFrame({"workload": "chat", "period": "t1", "block": ["day", "dawn"]})
    after = tightened(held, curves(), seen, given_up=hours).set_index("block")
    # 0.75 x 12 = 9 replicas: row of 4 at night; the day is given up; the dawn is too, but its pool grew.
    assert after["utilisation_cap_fraction"].to_dict() == {"day": 0.4, "night": 0.8, "dawn": 0.8}
