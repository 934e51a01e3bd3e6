"""Speculative decoding wins at small batches, loses at large ones, and is taken only where it wins."""

from __future__ import annotations

import numpy as np
import pytest
from serving_case import (
    MEASURED,
    STATED,
    deployment,
    neutral_constants,
    product,
    serving_scenario,
    shape,
    workload,
)

from planner.performance import operating_points
from planner.performance.roofline import decode_step_s
from planner.performance.speculation import Draft, speculative_step_s, with_draft

ALONE = np.array([[1.0]])


def proposed(tokens: float, acceptance: float, cost: float = 0.0, memory: float = 0.0) -> Draft:
    return Draft(*(value * ALONE for value in (tokens, acceptance, cost, 1.0, memory)))


@pytest.mark.parametrize(
    ("tokens", "acceptance", "expected"), [(0, 0.7, 1.0), (1, 0.5, 1.5), (3, 0.5, 1.875), (4, 1.0, 5.0)]
)
def test_a_step_yields_the_tokens_accepted_in_a_row_and_one_more(tokens, acceptance, expected):
    assert proposed(tokens, acceptance).tokens_per_step.item() == pytest.approx(expected)


def test_a_step_reads_weights_and_cache_once_and_multiplies_for_every_token():
    # Neutral constants add the times: 15.01 GB / 3.35 TB/s = 4.481 ms of weights whatever is checked; the products of
    # 64 x 5 tokens are 5 times 64 x 2 x 7.505e9 / 989 TFLOP/s = 0.971 ms.
    card, constants = deployment("H100 SXM", "Llama-3.1-8B"), neutral_constants()
    plain = decode_step_s(card, 64 * ALONE, 0.0, constants).item()
    checked = speculative_step_s(card, 64 * ALONE, 0.0, proposed(4, 0.5), constants).item()
    products = 64 * 2 * 7.505e9 / 989e12
    assert checked - plain == pytest.approx(4 * products, rel=0.05)
    # A draft pass costs its share of a plain step, four times.
    drafted = speculative_step_s(card, 64 * ALONE, 0.0, proposed(4, 0.5, cost=0.1), constants).item()
    assert drafted - checked == pytest.approx(4 * 0.1 * plain)


def test_the_gain_falls_with_the_batch_and_turns_into_a_loss():
    card, constants = deployment("H100 SXM", "Llama-3.1-8B"), neutral_constants()
    batch, draft = np.array([[1.0, 8.0, 64.0, 512.0]]), proposed(4, 0.4, cost=0.05)
    plain = decode_step_s(card, batch, 200.0, constants)
    token = speculative_step_s(card, batch, 200.0, draft, constants) / draft.tokens_per_step
    gain = (plain / token)[0]
    assert (np.diff(gain) < 0).all()
    assert gain[0] > 1.3
    assert gain[-1] < 1.0


def test_the_draft_takes_its_weights_from_the_cache():
    card = deployment("H100 SXM", "Llama-3.1-8B")
    assert with_draft(card, proposed(4, 0.5, memory=0.1)).total.item() == pytest.approx(
        1.1 * card.total.item()
    )


def option(name: str, acceptance: float) -> dict:
    return {
        "option": name,
        "draft_tokens": 4,
        "acceptance_fraction": acceptance,
        "draft_cost_fraction": 0.05,
        "draft_layers": 1,
        "draft_memory_fraction": 0.05,
        **STATED,
    }


def chosen(acceptance: float, points=(), **targets):
    scenario = serving_scenario(
        [
            workload(
                model="Llama-3.1-8B",
                engines="vllm-bf16",
                engine_options="draft",
                percentile="median",
                **targets,
            )
        ],
        [shape()],
        [product("card", "H100 SXM", 1)],
        points=list(points),
        engine_options=[option("draft", acceptance)],
    )
    return operating_points(scenario)


def test_a_draft_that_is_believed_serves_a_tight_target_and_one_that_is_not_is_refused():
    good = chosen(0.7, tpot_ms=8).taken
    assert good["engine_option"].tolist() == ["draft"]
    assert "2.77 tokens a step" in good["basis"].item()
    bad = chosen(0.05, tpot_ms=12)
    assert bad.taken["engine_option"].tolist() == [""]
    assert bad.refused["reason"].str.contains("dominated by vllm-bf16 on this product").any()


def test_a_measured_speculative_series_outweighs_what_an_option_promises():
    row = {"chip": "H100 SXM", "chips": 1, "model": "Llama-3.1-8B", "engine": "vllm-bf16", "phase": "mixed"}
    row |= {"input_tokens": 1000, "output_tokens": 200, "load_kind": "closed_loop", **MEASURED}
    row |= {"ttft_statistic": "median", "tpot_statistic": "median"}
    plain = row | {"point": "plain", "speculative": "no", "concurrency": 64, "ttft_ms": 300, "tpot_ms": 10}
    slower = row | {"point": "slower", "speculative": "yes", "concurrency": 64, "ttft_ms": 300, "tpot_ms": 15}
    found = chosen(0.9, [plain, slower], tpot_ms=20)
    assert found.taken["engine_option"].tolist() == [""]
    assert found.taken["basis"].str.contains("point plain").all()
    assert found.refused["reason"].str.contains("the measurement stands, not the estimate").any()
