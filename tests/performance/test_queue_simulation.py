"""The replay the queue model is compared with, against queues and runs that can be worked out by hand."""

from __future__ import annotations

import sys
from importlib import util
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench" / "queue_simulation.py"
if not BENCH.is_file():
    pytest.skip("the benchmarks are not part of an installed package", allow_module_level=True)


def loaded():
    spec = util.spec_from_file_location("queue_simulation", BENCH)
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


SIM = loaded()


def requests(times, prompts, answers, pace=1e-4):
    arrays = (np.asarray(values, dtype=float) for values in (times, prompts, answers))
    return SIM.Requests.at_pace(*arrays, pace)


def test_one_request_takes_its_prompt_in_chunks_and_a_step_a_token():
    seen = SIM.simulate(requests([1.0], [3000.0], [11.0]), 1, SIM.Engine.linear(0.02, 0.001, 2000.0, 8))
    assert seen.ttft_s[0] == pytest.approx(0.2 + 0.1)
    assert seen.tpot_s[0] == pytest.approx(0.021)


def test_a_prompt_stretches_the_step_of_the_answers_beside_it():
    # The second request arrives in the first one's third step, 0.05 s of it left: one step takes 0.02 + 0.1 s.
    seen = SIM.simulate(
        requests([0.0, 0.1 + 0.05], [1000.0, 1000.0], [11.0, 1.0]), 1, SIM.Engine.linear(0.02, 0.0, 2000.0, 8)
    )
    assert seen.whole_s[0] == pytest.approx(0.1 + 10 * 0.02 + 0.1)
    assert seen.ttft_s[1] == pytest.approx(0.01 + 0.02 + 0.1)
    assert np.isnan(seen.tpot_s[1])


def test_the_step_grows_with_the_tokens_in_the_cache():
    engine = SIM.Engine((0.01, 0.01), (1e-5, 1e-5), 4000.0)
    seen = SIM.simulate(requests([0.0], [1000.0], [4.0]), 1, engine)
    assert seen.whole_s[0] - seen.ttft_s[0] == pytest.approx(3 * 0.01 + 1e-5 * (1000 + 1001 + 1002))


def test_a_full_cache_and_full_slots_make_requests_wait():
    times, prompts, answers = [0.0, 0.0], [1000.0, 1000.0], [101.0, 101.0]
    for engine in (
        SIM.Engine((0.02, 0.02, 0.02), (0.0, 0.0, 0.0), 4000.0, cache_tokens=2000.0),
        SIM.Engine.linear(0.02, 0.0, 4000.0, 1),
    ):
        seen = SIM.simulate(requests(times, prompts, answers), 1, engine)
        assert seen.ttft_s[1] == pytest.approx(0.1 + 100 * 0.02 + 0.1)
    free = SIM.simulate(requests(times, prompts, answers), 2, SIM.Engine.linear(0.02, 0.0, 4000.0, 1))
    assert free.ttft_s.tolist() == pytest.approx([0.1, 0.1])


def test_prompts_alone_wait_as_at_a_single_server():
    generator = np.random.default_rng(3)
    count = 60_000
    times = np.cumsum(generator.exponential(1 / 6.0, count))
    # Chunks of a whole prompt and answers of one token: Poisson arrivals at one server of 0.1 s, load 0.6.
    seen = SIM.simulate(
        requests(times, np.full(count, 1000.0), np.ones(count)), 1, SIM.Engine.linear(1e-9, 0.0, 1000.0, 8)
    )
    assert (seen.ttft_s - 0.1).mean() == pytest.approx(0.6 * 0.1 / (2 * 0.4), rel=0.05)
    assert np.isfinite(seen.whole_s).all()
