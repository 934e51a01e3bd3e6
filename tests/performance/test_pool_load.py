"""Share of a pool's requests inside a target: over the mix of shapes, and over the rates bursts bring."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import gamma

from planner.inputs.catalog import shipped_catalog
from planner.performance.pool_load import NODE_WEIGHTS, met_rates, pool_mix, tail_of
from planner.performance.roofline_constants import roofline_constants


@pytest.fixture(scope="module")
def constants():
    return roofline_constants(shipped_catalog()["roofline_constants"].frame)


def facts(**values) -> dict[str, np.ndarray]:
    """Return two shapes of one pool: many short answers, few long prompts."""
    two = {
        "rate": [5.0, 1.0],
        "prompt_s": [0.02, 0.3],
        "first_s": [0.05, 1.5],
        "empty_s": [0.02, 0.02],
        "slope_s": [0.0, 0.0],
        "slots": [1e6, 1e6],
        "share_fraction": [0.97, 0.03],
        "generated_tokens": [100.0, 100.0],
        "uncached_tokens": [200.0, 3000.0],
        "prompt_scv": [0.0, 0.0],
        "burst_dispersion": [1.0, 1.0],
        "minute_cv": [0.0, 0.0],
        "own_lines": [0.0, 0.0],
        "in_turn": [0.0, 0.0],
    }
    return {name: np.asarray(values.get(name, own), dtype=float)[:, None] for name, own in two.items()}


@pytest.mark.parametrize("cv2", [0.02, 0.4, 3.9])
def test_requests_meet_rates_of_a_gamma_in_proportion_to_them(cv2):
    rates = met_rates(np.array([cv2]))[0]
    assert (np.diff(rates) > 0).all()
    # Of all rates r, requests see r * density: a gamma one shape higher. Its median halves of 0.9 to 0.95.
    assert rates[3] == pytest.approx(gamma.ppf(0.925, 1.0 + 1.0 / cv2, scale=cv2), rel=0.01)
    # Steps are taken at their middle share: the mean they keep, 1 + cv2, but for the last few of the long tail.
    assert rates @ NODE_WEIGHTS == pytest.approx(1.0 + cv2, rel=0.06)
    assert met_rates(np.zeros(1)).tolist() == [[1.0] * len(NODE_WEIGHTS)]


def test_a_pool_serves_its_mix_at_the_time_weighted_rate(constants):
    mix = pool_mix(facts(), np.array([0, 0]), constants)
    assert mix.rate[0, 0] == pytest.approx(1.0 / (0.97 / 5.0 + 0.03 / 1.0))
    assert mix.pool.prompt_s[0, 0] == pytest.approx(0.97 * 0.02 + 0.03 * 0.3)


def test_a_target_holds_over_the_mix_though_one_shape_always_misses_it(constants):
    mix = pool_mix(facts(), np.array([0, 0]), constants)
    found, shares = mix.latency(np.array([[0.5]]), 4.0)
    limit = np.full((2, 1), 1.0)
    alone = found.ttft.share_below(limit[..., None])[:, 0, 0]
    assert alone[1] == 0.0
    inside = mix.inside(tail_of(found, "ttft"), shares, limit)[0, 0]
    assert inside == pytest.approx(0.97 * alone[0])
    assert inside > 0.95


def test_independent_streams_even_each_other_out_and_common_minutes_do_not(constants):
    limit = np.full((2, 1), 0.03)

    def missed(replicas: float, **values: list[float]) -> float:
        mix = pool_mix(facts(**values), np.array([0, 0]), constants)
        found, shares = mix.latency(np.array([[6.0]]), replicas)
        return 1.0 - float(mix.inside(tail_of(found, "tpot"), shares, limit)[0, 0])

    bursts, minutes = {"burst_dispersion": [30.0, 30.0]}, {"minute_cv": [0.8, 0.8]}
    assert missed(2.0, **bursts) > missed(2.0) + 0.1
    assert missed(2e4, **bursts) == pytest.approx(missed(2e4), abs=0.01)
    assert missed(2.0, **minutes) > missed(2.0) + 0.1
    assert missed(2e4, **minutes) > missed(2e4) + 0.1


def test_quantile_is_where_the_share_is_reached(constants):
    mix = pool_mix(facts(minute_cv=[0.3, 0.3]), np.array([0, 0]), constants)
    found, shares = mix.latency(np.array([[2.0]]), 3.0)
    value = mix.quantile(tail_of(found, "tpot"), shares, 0.95)
    inside = mix.inside(tail_of(found, "tpot"), shares, np.repeat(value, 2, axis=0))
    assert inside[0, 0] == pytest.approx(0.95, abs=0.01)
