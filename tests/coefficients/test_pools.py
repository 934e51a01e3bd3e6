"""Pools: the largest size a plan could use a pool at, and caps that only tighten, where they must."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from planner.coefficients.service.pools import POOL_PLACE, first_pools, least_size, tightened
from planner.performance.frame import PointSet
from planner.performance.pool_caps import cap_at

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


def test_first_size_carries_all_of_the_demand_in_reach():
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
    # 20 x 1.1 x 1.5 requests/s at 2.0 / 0.9 of a full replica: 14.85 busy ones, 18.6 at 0.8, so 16.5 at 0.9.
    assert pool["replicas"] == pytest.approx(20.0 * 1.1 * 1.5 * 0.9 / 2.0 / 0.9)
    assert pool["utilisation_cap_fraction"] == 0.9  # the west is in another class


def test_least_size_is_the_first_step_that_carries_the_load():
    busy = np.array([0.3, 1.0, 3.0, 12.0, 15.0, 90.0])
    places = pd.DataFrame([KEY] * len(busy))
    # At 0.4: 1 and 2.5; 7.5 is past 4, where 0.8 holds: 4; 15 at 0.8; 18.75 is past 16: 16.67 and 100 at 0.9.
    assert least_size(curves(), places, busy) == pytest.approx([1.0, 2.5, 4.0, 15.0, 15.0 / 0.9, 100.0])


def test_no_pool_of_any_size_needs_a_higher_cap_than_that_of_the_least_size():
    sizes = np.geomspace(1.0, 200.0, 400)
    place = pd.DataFrame([KEY])
    own = cap_at(curves(), pd.DataFrame([KEY] * len(sizes)), sizes)
    for most in (0.2, 0.4, 1.7, 3.2, 3.3, 13.0, 14.4, 40.0):
        cap = cap_at(curves(), place, least_size(curves(), place, np.array([most])))
        carried = np.minimum(sizes * own, most)
        assert (carried <= sizes * cap * (1.0 + 1e-9)).all()


def pools(*sized: tuple[str, float, float]) -> pd.DataFrame:
    rows = [
        KEY | PLACE | {"block": name, "replicas": size, "utilisation_cap_fraction": cap}
        for name, size, cap in sized
    ]
    return pd.DataFrame(rows)


def hours(*blocks: str) -> pd.DataFrame:
    return pd.DataFrame({"workload": "chat", "period": "t1", "block": list(blocks)})


def test_caps_of_short_hours_fall_to_the_sizes_seen_and_those_of_others_stay():
    held = pools(("day", 16.0, 0.9), ("night", 4.0, 0.8), ("dawn", 16.0, 0.8), ("noon", 16.0, 0.9))
    seen = pools(("day", 6.0, 0.9), ("night", 99.0, 0.8), ("noon", 6.0, 0.9))[[*POOL_PLACE, "replicas"]]
    after = tightened(held, curves(), seen, hours("day", "night", "dawn")).set_index("block")
    # 6 replicas stand in the row of 4; a night of 99 keeps what it had; the dawn is not used; noon is not short.
    caps = {"day": 0.8, "night": 0.8, "dawn": 0.4, "noon": 0.9}
    assert after["utilisation_cap_fraction"].to_dict() == caps
    assert after["replicas"].to_dict() == {"day": 6.0, "night": 4.0, "dawn": 1.0, "noon": 16.0}


def test_pool_that_shrank_in_an_hour_given_up_gets_the_cap_no_size_breaks():
    held = pools(("day", 16.0, 0.9), ("night", 16.0, 0.9), ("dawn", 4.0, 0.8))
    seen = pools(("day", 12.0, 0.9), ("night", 12.0, 0.9), ("dawn", 6.0, 0.8))[[*POOL_PLACE, "replicas"]]
    after = tightened(held, curves(), seen, hours("day", "dawn"), given_up=True).set_index("block")
    # The day is given up; the night is not short; the dawn is, but its pool grew.
    assert after["utilisation_cap_fraction"].to_dict() == {"day": 0.4, "night": 0.9, "dawn": 0.8}
