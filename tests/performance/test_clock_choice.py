"""A chosen clock is one more point: slower where arithmetic binds, of less power, never added to a held clock."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from serving_case import product, serving_scenario, shape, workload

from planner.errors import InputError
from planner.inputs import make_scenario
from planner.performance import operating_points
from planner.performance.clock_choice import with_clock_choices


def point(**changed: object) -> pd.DataFrame:
    """Return one candidate: half its busy time in prefill, decode at 0.8 of the memory bandwidth."""
    row = {"phase": "mixed", "requests_per_s": 10.0, "prefill_time_fraction": 0.5, "measured_kw": np.nan}
    row |= {
        "ttft_ms": 100.0,
        "service_ttft_ms": 100.0,
        "step_ms": 20.0,
        "step_alone_ms": 15.0,
        "tpot_ms": 20.0,
        "e2e_ms": 2100.0,
        "basis": "roofline",
    }
    row |= {"prefill_compute_fraction": 0.4, "decode_compute_fraction": 0.1, "decode_memory_fraction": 0.8}
    return pd.DataFrame([row | changed])


def test_arithmetic_slows_with_the_clock_and_memory_does_not():
    # At half clock prefill takes 2 times, decode 0.8 + 0.2 / 0.5 = 1.2 times: 0.5 x 2 + 0.5 x 1.2 = 1.6 times in all.
    half = with_clock_choices(point(), (0.5,)).iloc[1]
    assert half["clock_choice"] == 0.5
    assert half["requests_per_s"] == pytest.approx(10 / 1.6)
    assert half["prefill_time_fraction"] == pytest.approx(1.0 / 1.6)
    assert (half["ttft_ms"], half["tpot_ms"]) == pytest.approx((200.0, 32.0))
    assert half["e2e_ms"] == pytest.approx(200 + 2000 * 1.6)
    assert half["prefill_compute_fraction"] == pytest.approx(0.2)
    assert half["decode_memory_fraction"] == pytest.approx(0.8 / 1.2)


def test_decode_that_waits_for_memory_loses_nothing():
    apart = point(phase="decode", prefill_time_fraction=0.0, decode_memory_fraction=1.0)
    rates = with_clock_choices(apart, (0.6, 0.8))["requests_per_s"]
    assert rates.to_list() == [10.0, 10.0, 10.0]


def test_without_choices_or_without_known_activity_there_is_only_the_nominal_point():
    assert len(with_clock_choices(point(), ())) == 1
    assert len(with_clock_choices(point(decode_memory_fraction=np.nan), (0.6,))) == 1
    assert len(with_clock_choices(point(measured_kw=6.0), (0.6,))) == 1


def hall(choices: tuple[float, ...]):
    """Return a scenario whose server stands in a hall that holds 0.8 of the clock."""
    base = serving_scenario(
        workloads=[workload(model="Llama-3.1-70B", percentile="median", tpot_ms=60.0)],
        shapes=[shape()],
        products=[product("box", "H100 SXM", coolings=("air",))],
        settings={"clock_choices": choices},
    )
    return base


def test_locked_points_are_slower_draw_less_per_request_and_keep_the_target():
    taken = operating_points(hall((0.6, 0.8))).taken
    assert set(taken["clock_choice"]) > {1.0}
    locked = taken[taken["clock_choice"].lt(1)]
    assert locked["point"].str.contains("/locked at 0.").all()
    assert (taken["tpot_ms"] <= 60.0).all()
    fast = taken[taken["clock_choice"].eq(1)].set_index("engine")
    kw = (fast["unit_kw"] - 2.0) / fast["requests_per_s"]
    own = locked["engine"].map(kw)
    assert own.notna().any()
    cheaper = ((locked["unit_kw"] - 2.0) / locked["requests_per_s"]) < own
    assert (cheaper | own.isna()).all()


def test_a_choice_is_off_by_default_and_a_clock_above_nominal_is_refused():
    assert set(operating_points(hall(())).taken["clock_choice"]) == {1.0}
    with pytest.raises(InputError, match="clock_choices"):
        make_scenario({"name": "n", "discount_rate_fraction": 0.0, "clock_choices": "0.8;1.2"}, {})
    made = make_scenario({"name": "n", "discount_rate_fraction": 0.0, "clock_choices": "0.6; 0.8"}, {})
    assert made.settings.clock_choices == (0.6, 0.8)
    one = make_scenario({"name": "n", "discount_rate_fraction": 0.0, "clock_choices": 0.7}, {})
    assert one.settings.clock_choices == (0.7,)
