"""Caps of pools: what a pool may carry of its points' rate by its size."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from planner.performance.clocks import NOMINAL, HeldClock
from planner.performance.pool_caps import LEAST_CAP, POOL, SIZES, cap_at, highest_share, of_phase, pool_caps
from planner.performance.queueing import Pool, latency_under_load
from planner.performance.roofline_constants import roofline_constants

FACTORS = pd.DataFrame(
    {
        "metric": ["ttft", "tpot"],
        "statistic": ["p95", "p95"],
        "ratio_to_median": [1.8, 1.3],
        "attained_fraction": [0.95, 0.95],
    }
)


@pytest.fixture(scope="module")
def constants():
    from planner.inputs.catalog import shipped_catalog

    return roofline_constants(shipped_catalog()["roofline_constants"].frame)


def one_point(**values) -> pd.DataFrame:
    """Return a point of 8 replicas of 5 requests/s each that spend half their time on prompts of 0.1 s."""
    point = {
        "point": "k",
        "workload": "chat",
        "shape": "whole",
        "ttft_class": "900 ms",
        "clock": NOMINAL.name,
        "clock_choice": 1.0,
        "product": "box",
        "model": "m",
        "engine": "e",
        "engine_option": "",
        "phase": "mixed",
        "replicas_per_unit": 8.0,
        "concurrency": 40.0,
        "prefill_time_fraction": 0.5,
        "requests_per_s": 40.0,
        "service_ttft_ms": 150.0,
        "step_ms": 20.0,
        "step_alone_ms": 20.0,
        "slots": 1000.0,
    }
    return pd.DataFrame([point | values])


def one_shape(**values) -> pd.DataFrame:
    shape = {
        "workload": "chat",
        "shape": "whole",
        "model": "m",
        "percentile": "p95",
        "ttft_ms": 1000.0,
        "tpot_ms": 60.0,
        "e2e_ms": np.nan,
        "share_fraction": 1.0,
        "uncached_tokens": 2048.0,
        "generated_tokens": 101.0,
        "queued": True,
        "prompt_scv": 1.0,
        "burst_dispersion": 1.0,
        "minute_cv": 0.0,
        "own_lines": False,
        "in_turn": False,
        "asked_requests_per_s": 5.0,
    }
    return pd.DataFrame([shape | values])


BUDGETS = pd.DataFrame(
    {"workload": ["chat"], "ttft_class": ["900 ms"], "ttft_budget_ms": [900.0], "e2e_budget_ms": [np.nan]}
)


def caps_of(constants, point=None, shape=None, clocks=(NOMINAL,), budgets=BUDGETS) -> pd.DataFrame:
    points = one_point() if point is None else point
    return pool_caps(points, one_shape() if shape is None else shape, budgets, FACTORS, clocks, constants)


def test_larger_pools_carry_more_of_the_same_rate(constants):
    caps = caps_of(constants, shape=one_shape(burst_dispersion=4.0))["utilisation_cap_fraction"]
    assert (np.diff(caps) >= 0).all()
    assert caps.iloc[-1] > 1.1 * caps.iloc[0]


def test_bursts_and_a_tighter_target_cost_load(constants):
    usual = caps_of(constants)["utilisation_cap_fraction"].to_numpy()
    bursty = caps_of(constants, shape=one_shape(burst_dispersion=20.0))["utilisation_cap_fraction"].to_numpy()
    tight = caps_of(constants, shape=one_shape(tpot_ms=35.0))["utilisation_cap_fraction"].to_numpy()
    near = caps_of(constants, budgets=BUDGETS.assign(ttft_budget_ms=300.0))[
        "utilisation_cap_fraction"
    ].to_numpy()
    for other in (bursty, tight, near):
        assert (other <= usual).all()
        assert other[0] < usual[0]


def test_cap_is_the_load_at_which_the_percentile_is_just_kept(constants):
    found = caps_of(constants, shape=one_shape(tpot_ms=35.0)).iloc[0]
    pool = Pool.of(
        step_alone_s=0.02,
        step_slope_s=0.0,
        prompt_s=0.1,
        prompt_scv=1.0,
        chunks=1.0,
        first_token_s=0.15,
        own_prompt_s=0.0,
        own_prompt_scv=0.0,
        generated_tokens=101.0,
        mix_generated_tokens=101.0,
        slots=1000.0,
        dispersion=1.0,
        replicas=1.0,
        uneven_fraction=constants.router_uneven_fraction,
    )
    at_cap = latency_under_load(pool, 5.0 * found["utilisation_cap_fraction"])
    assert float(at_cap.tpot.quantile(0.95)) == pytest.approx(0.035, rel=0.005)
    assert found["tpot_ms"] == pytest.approx(35.0, rel=0.005)
    assert found["latency_pass_fraction"] == pytest.approx(0.95, abs=0.002)
    assert found["requests_per_s"] == pytest.approx(5.0 * found["utilisation_cap_fraction"])


def test_a_slower_clock_carries_less(constants):
    slow = HeldClock(0.8, 0.8)
    point = pd.concat([one_point(), one_point(clock=slow.name)], ignore_index=True)
    caps = caps_of(constants, point, one_shape(tpot_ms=35.0), (NOMINAL, slow))
    first = caps[caps["replicas"].eq(1)].set_index("clock")
    assert first.loc[slow.name, "tpot_ms"] == pytest.approx(first.loc[NOMINAL.name, "tpot_ms"], rel=0.01)
    assert first.loc[slow.name, "requests_per_s"] < first.loc[NOMINAL.name, "requests_per_s"]


def test_a_target_no_load_keeps_leaves_almost_nothing(constants):
    caps = caps_of(constants, shape=one_shape(tpot_ms=19.0))
    assert (caps["utilisation_cap_fraction"] == LEAST_CAP).all()


def test_stated_waiting_has_no_caps(constants):
    assert caps_of(constants, shape=one_shape(queued=False)).empty


def test_highest_share_is_where_the_slack_ends_and_never_falls_with_size():
    ends = np.where(SIZES < 8, 0.3, 0.25)[None, :]
    found = highest_share(lambda share: ends - share, 1)
    assert found == pytest.approx(np.full((1, len(SIZES)), 0.3), rel=0.005)
    assert (highest_share(lambda share: 1.0 - share, 2) == 1.0).all()
    assert (highest_share(lambda share: -share, 1) == LEAST_CAP).all()


def test_the_swing_of_minutes_costs_load_in_pools_of_any_size(constants):
    usual, swinging = (
        caps_of(constants, shape=one_shape(minute_cv=value))["utilisation_cap_fraction"].to_numpy()
        for value in (0.0, 0.5)
    )
    assert (swinging < usual).all()
    assert swinging[-1] < 0.8 * usual[-1]


def test_bursts_matter_less_to_a_pool_that_sees_more_of_them(constants):
    usual, bursty = (
        caps_of(constants, shape=one_shape(burst_dispersion=value))["utilisation_cap_fraction"].to_numpy()
        for value in (1.0, 20.0)
    )
    assert bursty[0] < 0.5 * usual[0]
    assert bursty[-1] > 0.9 * usual[-1]


def test_cap_between_sizes_is_that_of_the_smaller_one(constants):
    caps = caps_of(constants, shape=one_shape(burst_dispersion=4.0))
    pools = caps[POOL].drop_duplicates().iloc[[0, 0, 0]].reset_index(drop=True)
    by_size = caps.set_index("replicas")["utilisation_cap_fraction"]
    assert cap_at(caps, pools, np.array([1.0, 5.9, 1e5])).tolist() == pytest.approx(
        [by_size[1], by_size[5], by_size[1024]]
    )
    assert cap_at(caps, pools.assign(workload="other"), np.ones(3)).tolist() == [1.0, 1.0, 1.0]


def test_pools_of_one_phase_have_caps_of_their_own(constants):
    # Prompts of 0.1 s at a load of 0.9, answers in batches of 40 at 20 ms a step.
    prompts = one_point(
        phase="prefill", requests_per_s=8 * 9.0, prefill_time_fraction=1.0, step_ms=100.0, step_alone_ms=100.0
    )
    answers = one_point(
        phase="decode", requests_per_s=8 * 20.0, prefill_time_fraction=0.0, step_ms=20.0, step_alone_ms=12.2
    )
    points = pd.concat([prompts, answers], ignore_index=True)
    usual, bursty = (
        caps_of(constants, points, one_shape(tpot_ms=22.0, burst_dispersion=value)).set_index("phase")
        for value in (1.0, 100.0)
    )
    for phase, metric, other in (("prefill", "ttft_ms", "tpot_ms"), ("decode", "tpot_ms", "ttft_ms")):
        caps = usual.loc[phase].set_index("replicas")
        assert (caps[metric] > 0).all()
        assert caps[[other, "e2e_ms"]].isna().all(axis=None)
        hit = bursty.loc[phase].set_index("replicas")
        assert hit.loc[1, "utilisation_cap_fraction"] < 0.7 * caps.loc[1, "utilisation_cap_fraction"]
        assert hit.loc[1024, "utilisation_cap_fraction"] > hit.loc[1, "utilisation_cap_fraction"]
    # One server, prompts of scv 1: those that wait do so exponentially, S (1 + 1) / 2 / (1 - rho) in the mean.
    load = usual.loc["prefill"].set_index("replicas").loc[1, "requests_per_s"]
    rho = 0.1 * load
    wait = 0.1 / (1 - rho)
    assert 1 - rho * np.exp(-(0.9 - 0.15) / wait) == pytest.approx(0.95, abs=0.01)


def test_where_phases_run_apart_the_end_to_end_budget_is_shared_out(constants):
    rows = pd.DataFrame(
        {
            "phase": ["mixed", "prefill", "decode", "prefill"],
            "ttft_budget_ms": [300.0, 300.0, 300.0, np.nan],
            "tpot_target_ms": [20.0] * 4,
            "e2e_budget_ms": [2000.0] * 4,
        }
    )
    found = of_phase(rows)
    assert found["ttft_budget_ms"].tolist()[:2] == [300.0, 300.0]
    assert found["ttft_budget_ms"].tolist()[3] == 2000.0
    assert found["e2e_budget_ms"].tolist()[0:3:2] == [2000.0, 1700.0]
    assert found["tpot_target_ms"].isna().tolist() == [False, True, False, True]
    assert np.isnan(found["ttft_budget_ms"][2])


def test_lines_of_their_own_cost_load_in_pools_of_several_replicas(constants):
    common, turn, chance = (
        caps_of(constants, shape=one_shape(own_lines=own, in_turn=turn))[
            "utilisation_cap_fraction"
        ].to_numpy()
        for own, turn in ((False, False), (True, True), (True, False))
    )
    assert common[0] == turn[0] == chance[0]
    assert (common >= turn).all()
    assert (turn >= chance).all()
    assert common[1] > turn[1] > chance[1]  # two replicas: the target binds below their full rate
