"""Queue model: known limits, direction, and agreement with an independent simulation."""

from __future__ import annotations

import numpy as np
import pytest

from planner.performance.queueing import Pool, erlang_c, latency_under_load, over_minutes


def pool(**values: float) -> Pool:
    """Return a pool of one replica whose prompts take 0.1 s and whose steps take 20 ms."""
    usual = {
        "step_alone_s": 0.02,
        "step_slope_s": 0.0,
        "prompt_s": 0.1,
        "prompt_scv": 0.0,
        "chunks": 0.0,
        "first_token_s": 0.1,
        "own_prompt_s": 0.0,
        "own_prompt_scv": 0.0,
        "generated_tokens": 101.0,
        "mix_generated_tokens": 101.0,
        "slots": 1e6,
        "dispersion": 1.0,
        "replicas": 1.0,
        "uneven_fraction": 0.0,
    }
    return Pool.of(**{**usual, **values})


def test_waiting_is_that_of_the_single_server_queue():
    exponential = latency_under_load(pool(prompt_scv=1.0), 5.0)
    constant = latency_under_load(pool(), 5.0)
    assert float(exponential.waiting_s) == pytest.approx(0.5 * 0.1 / (1 - 0.5))  # M/M/1
    assert float(constant.waiting_s) == pytest.approx(0.5 * 0.1 / (2 * (1 - 0.5)))  # M/D/1


def test_erlang_c_of_two_servers():
    # a = 1, N = 2: B = (1/2) / (1 + 1 + 1/2) = 1/5, C = B / (1 - (1/2)(4/5)) = 1/3
    assert float(erlang_c(np.array(2.0), np.array(1.0))) == pytest.approx(1 / 3)


def test_token_waits_for_the_prompts_that_arrive_while_it_is_made():
    found = latency_under_load(pool(), 5.0).tpot
    assert float(found.floor + found.mean) == pytest.approx(0.02 / (1 - 0.5))
    # Delay busy period of x = 100 steps x 20 ms: variance x r S^2 / (1 - rho)^3, over 100^2 tokens.
    assert float(found.variance) == pytest.approx(2.0 * 5.0 * 0.1**2 / 0.5**3 / 100**2)


def test_short_answers_have_the_longer_tail_at_the_same_mean():
    long, short = (latency_under_load(pool(generated_tokens=tokens), 5.0).tpot for tokens in (501.0, 21.0))
    assert float(short.mean) == pytest.approx(float(long.mean))
    assert float(short.quantile(0.95)) > float(long.quantile(0.95)) > float(long.floor + long.mean)


def test_latency_rises_with_load_and_burstiness_and_falls_with_pool_size():
    loads = np.linspace(0.5, 9.5, 19)
    found = latency_under_load(pool(prompt_scv=0.5, chunks=0.5), loads)
    for tail in (found.ttft, found.tpot, found.e2e):
        assert (np.diff(tail.quantile(0.95)[np.isfinite(tail.mean)]) > 0).all()
    sizes = latency_under_load(pool(prompt_scv=0.5, replicas=np.array([1.0, 2.0, 8.0, 64.0])), 6.0)
    assert (np.diff(sizes.ttft.quantile(0.95)) < 0).all()
    assert (np.diff(sizes.tpot.quantile(0.95)) < 0).all()
    bursty = latency_under_load(pool(dispersion=np.array([1.0, 4.0, 50.0])), 6.0)
    assert (np.diff(bursty.ttft.quantile(0.95)) > 0).all()


def test_a_queue_that_never_ends_is_never_on_time():
    found = latency_under_load(pool(), np.array([9.0, 10.0, 11.0]))
    assert np.isfinite(found.ttft.quantile(0.95)).tolist() == [True, False, False]
    assert found.ttft.share_below(1e6).tolist()[1:] == [0.0, 0.0]
    full = latency_under_load(pool(slots=4.0), 3.0)  # 3/s x 2.9 s a request > 4 places
    assert np.isinf(full.ttft.quantile(0.5))


def test_share_below_a_quantile_is_its_share():
    found = latency_under_load(pool(prompt_scv=1.0, own_prompt_s=0.05, own_prompt_scv=1.0), 6.0)
    for tail in (found.ttft, found.tpot, found.e2e):
        assert float(tail.share_below(tail.quantile(0.95))) == pytest.approx(0.95)


def test_minutes_keep_mean_and_spread():
    minutes = over_minutes(0.3, 200)
    assert minutes.mean() == pytest.approx(1.0)
    assert minutes.std() == pytest.approx(0.3, rel=0.02)


def single_server(generator: np.random.Generator, rate: float, service_s: float, count: int) -> np.ndarray:
    """Return waits of Poisson arrivals at one server with exponential service (Lindley's recursion)."""
    gaps = generator.exponential(1.0 / rate, count)
    served = generator.exponential(service_s, count)
    waits = np.zeros(count)
    for index in range(1, count):
        waits[index] = max(waits[index - 1] + served[index - 1] - gaps[index], 0.0)
    return waits


def test_percentile_of_the_wait_agrees_with_a_simulated_queue():
    waits = single_server(np.random.default_rng(7), 6.0, 0.1, 60_000)[2_000:]
    found = latency_under_load(pool(prompt_scv=1.0, first_token_s=0.0), 6.0)
    assert float(found.ttft.quantile(0.95)) == pytest.approx(np.quantile(waits, 0.95), rel=0.1)


def test_a_router_that_counts_keeps_prompts_from_answers_while_replicas_are_idle():
    light = latency_under_load(pool(replicas=np.array([1.0, 64.0])), 0.1)
    # Of 0.1/s x 2.1 s = 0.21 requests a replica, 64 replicas always have an idle one: nothing is met.
    assert float((light.tpot.floor + light.tpot.mean)[1]) == pytest.approx(0.02)
    assert float((light.tpot.floor + light.tpot.mean)[0]) == pytest.approx(0.02 / (1 - 0.01))
    heavy = latency_under_load(pool(replicas=np.array([1.0, 64.0])), 5.0)
    assert np.ptp(heavy.tpot.mean) == pytest.approx(0.0, abs=1e-6)


def test_replicas_with_lines_of_their_own_wait_as_single_servers():
    common = latency_under_load(pool(prompt_scv=1.0, replicas=4.0), 5.0)
    chance = latency_under_load(pool(prompt_scv=1.0, replicas=4.0, own_lines=1.0), 5.0)
    in_turn = latency_under_load(pool(prompt_scv=1.0, replicas=4.0, own_lines=1.0, in_turn=1.0), 5.0)
    assert float(chance.waiting_s) == pytest.approx(0.5 * 0.1 / (1 - 0.5))  # four M/M/1
    # Every fourth Poisson arrival: Erlang-4 gaps, ca^2 = 1/4; wait x s (1/4 + 1) / (2 (1 - x)) exp(-0.3).
    assert float(in_turn.waiting_s) == pytest.approx(0.5 * 0.1 * 1.25 / (2 * 0.5) * np.exp(-0.3))
    assert float(common.waiting_s) == pytest.approx(
        float(in_turn.waiting_s)
    )  # no batch slots, always a prompt in front
    assert float(common.tpot.variance) < float(in_turn.tpot.variance) < float(chance.tpot.variance)


def test_batch_slots_behind_one_line_against_as_many_behind_two():
    # Two replicas of one slot, answers of 0.9 s in front of M/M/2 (one line) or of two M/M/1.
    facts = {"prompt_s": 1e-9, "first_token_s": 0.9, "generated_tokens": 1.0, "mix_generated_tokens": 1.0}
    facts |= {"slots": 1.0, "replicas": 2.0}
    load = 0.5 / 0.9
    common, apart = (latency_under_load(pool(**facts, own_lines=own), load) for own in (0.0, 1.0))
    assert float(common.waiting_s) == pytest.approx(1 / 3 * 0.9 / (2 * 0.5), rel=1e-6)
    assert float(apart.waiting_s) == pytest.approx(0.5 * 0.9 / 0.5, rel=1e-6)


def test_one_replica_waits_the_same_behind_any_router():
    routers = ({}, {"own_lines": 1.0}, {"own_lines": 1.0, "in_turn": 1.0})
    waits = [float(latency_under_load(pool(prompt_scv=0.7, **router), 6.0).waiting_s) for router in routers]
    assert waits == [pytest.approx(waits[0])] * 3
