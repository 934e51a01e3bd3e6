"""Prompts and answers on replicas of their own: rates, first tokens, the network between them."""

from __future__ import annotations

import pytest
from serving_case import STATED, product, serving_scenario, shape, workload

from planner.errors import InputError
from planner.inputs import load_scenario
from planner.performance import operating_points

APART = {"option": "apart", "disaggregated": True, **STATED}


def points(products, more=None, **targets):
    scenario = serving_scenario(
        [
            workload(
                model="Llama-3.1-8B",
                engines="vllm-bf16",
                engine_options="apart",
                percentile="median",
                **targets,
            )
        ],
        [shape(**(more or {}))],
        products,
        engine_options=[APART],
    )
    return operating_points(scenario)


def card(network=50.0, name="card", chip="H100 SXM", **more):
    return product(name, chip, 1, scale_out_gb_per_s=network, **more)


def phase(found, name):
    row = found.taken[found.taken["phase"].eq(name)]
    assert len(row) == 1
    return row.iloc[0]


def test_apart_each_phase_has_its_own_rate_and_latency():
    found = points([card()], ttft_ms=400, tpot_ms=15)
    prompts, answers = phase(found, "prefill"), phase(found, "decode")
    assert prompts["engine_option"] == answers["engine_option"] == "apart"
    assert (prompts["prefill_time_fraction"], answers["prefill_time_fraction"]) == (1.0, 0.0)
    assert prompts["ttft_ms"] <= 400
    assert answers["tpot_ms"] <= 15
    # Little's law of the answers: 199 tokens after the first, B in flight.
    assert answers["requests_per_s"] == pytest.approx(answers["concurrency"] / (0.199 * answers["tpot_ms"]))


def test_a_tighter_first_token_leaves_the_prompt_pool_idler():
    # TTFT = prompt + wait: the wait of M/D/1 is u / (2 (1 - u)) prompts.
    loose, tight = (phase(points([card()], ttft_ms=ms, tpot_ms=15), "prefill") for ms in (400, 60))
    assert tight["requests_per_s"] < loose["requests_per_s"]
    assert tight["ttft_ms"] <= 60


@pytest.mark.slow
def test_the_transfer_counts_in_the_first_token_and_bounds_the_rate():
    # 1,000 tokens x 131,072 bytes are 131 MB: over 0.85 x 1 GB/s 154 ms and no more than 6.5 prompts/s.
    fast, slow = (
        phase(points([card(network)], ttft_ms=400, tpot_ms=15), "prefill") for network in (400.0, 1.0)
    )
    assert slow["requests_per_s"] == pytest.approx(0.85e9 / 131.072e6, rel=1e-6)
    assert fast["requests_per_s"] > 2 * slow["requests_per_s"]
    quick = points([card(400.0)], ttft_ms=100, tpot_ms=15).taken
    late = points([card(1.0)], ttft_ms=100, tpot_ms=15)
    assert "prefill" in set(quick["phase"])
    assert "prefill" not in set(late.taken["phase"])
    assert "prompts miss the TTFT target at every load" in set(late.refused["reason"])


def test_an_oversubscribed_fabric_leaves_a_part_of_the_network():
    # Four to one, 4 GB/s of ports are 1 GB/s of fabric: 131 MB a prompt, 0.85 x 1 GB/s, 6.5 prompts/s.
    cards = (
        card(4.0, fabric_oversubscription_ratio=4.0),
        card(1.0),
        card(4.0),
        card(4.0, fabric_oversubscription_ratio=1.0),
    )
    shared, single, free, blank = (phase(points([one], ttft_ms=400, tpot_ms=15), "prefill") for one in cards)
    assert shared["requests_per_s"] == pytest.approx(0.85e9 / 131.072e6, rel=1e-6)
    names = ["requests_per_s", "ttft_ms", "basis"]
    assert shared[names].tolist() == single[names].tolist()
    assert free[names].tolist() == blank[names].tolist()
    assert free["requests_per_s"] > shared["requests_per_s"]


def test_a_fabric_is_never_wider_than_its_ports():
    with pytest.raises(InputError, match="fabric_oversubscription_ratio"):
        load_scenario("small", ["products/HGX H200 8x/fabric_oversubscription_ratio=0.5"])


def test_an_unknown_network_refuses_the_option_by_name():
    found = points([card(None)], ttft_ms=400, tpot_ms=15)
    assert set(found.taken["phase"]) == {"mixed"}
    refused = found.refused[found.refused["engine"].eq("vllm-bf16 + apart")]
    assert set(refused["reason"]) == {
        "the network between units (scale_out_gb_per_s) is not in the catalogue"
    }


def test_a_card_too_small_for_both_phases_says_so():
    found = points([card(chip="L4", name="small")], {"input_tokens": 100_000}, ttft_ms=60_000)
    assert found.taken.empty
    reasons = found.refused.loc[found.refused["engine"].eq("vllm-bf16 + apart"), ["phase", "reason"]]
    assert set(reasons["phase"]) == {"prefill", "decode"}
    assert reasons["reason"].str.contains("do not fit into a replica").all()
