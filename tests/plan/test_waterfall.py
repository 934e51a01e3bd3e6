"""The token waterfall against arithmetic done by hand on the case ``by_hand`` (see its docstring)."""

from __future__ import annotations

import numpy as np
import pytest
from plan_cases import CASES, solved

LINKS = [
    "nameplate compute",
    "effective compute",
    "engine throughput at the SLA",
    "held frequency",
    "cluster utilisation",
    "effective tokens",
]


def chain(name, scope="all"):
    frame = solved(name)["waterfall"]
    return frame[frame["scope"] == scope].set_index("link")


def test_each_link_by_hand():
    """2 boxes for 100 h are 200 box-hours; an output token is a thousandth of a request.

    compute   8 x 100 TFLOPS / (2 x 8e9 parameters x (500 + 2 x 1,000) tokens) = 20 requests/s a box, half reached
    engine    6.25 attempts/s; the clock holds 0.8; 1.5 of 2 boxes are busy; 0.9 x 0.8 of 1 / 1.25 attempts counts
    """
    per_rate = 200 * 3_600 * 1_000 / 1e6  # Mtok per request/s and box
    expected = [20 * per_rate, 10 * per_rate, 6.25 * per_rate, 5 * per_rate, 5 * 0.75 * per_rate, 1_555.2]
    table = chain("by_hand")
    assert list(table.index) == LINKS
    assert table["value"].to_list() == pytest.approx(expected)
    assert table["factor"].to_list()[1:] == pytest.approx([0.5, 0.625, 0.8, 0.75, 0.9 * 0.8 / 1.25])
    assert table["loss_fraction"].to_list()[1:] == pytest.approx([0.5, 0.375, 0.2, 0.25, 0.424])


def test_the_link_that_loses_most_is_named():
    table = chain("by_hand")
    assert list(table.index[table["binding"]]) == ["effective compute"]


def test_the_chain_of_one_workload_is_the_chain_of_all():
    assert chain("by_hand", "chat")["value"].to_list() == chain("by_hand")["value"].to_list()


def test_stated_rates_without_a_chip_begin_at_the_engine():
    assert list(chain("limited").index) == LINKS[2:]


def test_the_chain_of_all_is_the_sum_of_its_workloads():
    parts = chain("far_apart", "chat")["value"] + chain("far_apart", "batch")["value"]
    assert chain("far_apart")["value"].to_list() == pytest.approx(parts.to_list())


@pytest.mark.parametrize("name", [name for name in CASES if name != "impossible"])
def test_the_chain_ends_at_the_effective_tokens_and_its_factors_multiply_to_it(name):
    table, plan = chain(name), solved(name)
    assert table["value"].iloc[-1] == pytest.approx(plan.headline["effective_mtok"])
    assert table["value"].iloc[0] * np.prod(table["factor"].iloc[1:]) == pytest.approx(
        table["value"].iloc[-1]
    )
    assert (table["factor"].iloc[1:] <= 1.0 + 1e-9).all()
    assert table["binding"].sum() == 1
