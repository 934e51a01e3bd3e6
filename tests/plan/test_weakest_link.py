"""The chain of limits and shares: the example of the source documents, and what holds of any chain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.plan.weakest_link import TIE, WeakestLink

ENGINE, CLUSTER = 0, 1


def of_limits(*limits: float) -> WeakestLink:
    return WeakestLink(np.array([limits]), np.ones((1, len(limits))))


def test_forty_per_cent_of_engine_give_fifteen_where_the_cluster_binds_and_the_cluster_gives_the_rest():
    """The documents' observation: +40 % on a card, +15 % on the cluster, because cards throttle and balance is poor."""
    before = of_limits(100.0, 115.0)
    assert before.binding.item() == ENGINE
    assert before.loosened(ENGINE, 0.40).item() == pytest.approx(115.0)
    assert before.worth[0] == pytest.approx([1.0, 0.0])
    assert before.next_binding[0].tolist() == [CLUSTER, -1]
    assert before.most_per_cent[0] == pytest.approx([15.0, 0.0])
    after = of_limits(140.0, 115.0)
    assert after.binding.item() == CLUSTER
    assert after.worth[0] == pytest.approx([0.0, 1.15])
    assert after.loosened(CLUSTER, 0.10).item() == pytest.approx(126.5)
    assert after.loosened(CLUSTER, 0.40).item() == pytest.approx(140.0)
    assert after.next_binding[0].tolist() == [-1, ENGINE]
    assert after.most_per_cent[0, CLUSTER] == pytest.approx(100 * (140 / 115 - 1))


def test_a_share_takes_its_part_of_whatever_reaches_it():
    """Engine 100, power 115, of which the cluster uses 0.8: 40 % of engine give 15 %; the cluster whole gives 25 %."""
    chain = WeakestLink(np.array([[100.0, 115.0, np.inf]]), np.array([[1.0, 1.0, 0.8]]))
    assert chain.output.item() == pytest.approx(80.0)
    assert chain.loosened(0, 0.40).item() == pytest.approx(92.0)
    assert chain.loosened(2, 0.40).item() == pytest.approx(100.0)
    assert chain.worth[0] == pytest.approx([0.8, 0.0, 0.8])
    assert chain.most_per_cent[0] == pytest.approx([15.0, 0.0, 25.0])


def test_where_two_let_through_the_same_the_later_binds_and_neither_is_worth_anything_alone():
    chain = of_limits(10.0, 10.0)
    assert chain.binding.item() == 1
    assert not chain.worth.any()
    assert chain.next_binding[0].tolist() == [-1, 0]
    assert chain.most_per_cent[0].tolist() == [0.0, 0.0]


def test_nothing_asked_gives_nothing():
    chain = WeakestLink(np.array([[np.inf, 10.0, 0.0, np.inf]]), np.array([[1.0, 0.5, 1.0, 0.0]]))
    assert chain.output.item() == 0.0
    assert chain.values[0, :2].tolist() == [np.inf, 10.0]
    assert not chain.worth.any()


@pytest.mark.parametrize(
    ("limits", "shares"),
    [([[1.0, np.nan]], [[1.0, 1.0]]), ([[-1.0]], [[1.0]]), ([[1.0]], [[1.1]]), ([[1.0]], [1.0])],
)
def test_what_is_no_chain_is_refused(limits, shares):
    with pytest.raises(ValueError, match="chain"):
        WeakestLink(np.array(limits), np.array(shares))


@st.composite
def chains(draw: st.DrawFn) -> WeakestLink:
    """Two to seven links: limits or none, shares or none; the first has a limit."""
    count = draw(st.integers(2, 7))
    limits = draw(st.lists(st.floats(1e-3, 1e6) | st.just(np.inf), min_size=count, max_size=count))
    shares = draw(st.lists(st.floats(0.01, 1.0) | st.just(1.0), min_size=count, max_size=count))
    limits[0] = draw(st.floats(1e-3, 1e6))
    return WeakestLink(np.array([limits]), np.array([shares]))


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(chains(), st.floats(0.0, 3.0))
def test_of_any_chain(chain, by):
    values = chain.values[0]
    factors = values[1:] / values[:-1]
    assert (factors <= 1.0).all()
    assert values[0] * np.prod(factors) == pytest.approx(chain.output.item())
    binds = chain.binding.item()
    whole = chain.shares[0] < 1.0
    for link in range(len(values)):
        gained = chain.loosened(link, by).item() - chain.output.item()
        most = chain.most[0, link]
        # A limit is worth something only where it binds; a share wherever it is not whole.
        assert chain.worth[0, link] == 0.0 or link == binds or whole[link]
        assert gained == pytest.approx(
            min(by * chain.output.item(), most), rel=1e-6, abs=1e-8 * values[0]
        ) or (whole[link] and np.isfinite(chain.limits[0, link]))
        if chain.worth[0, link] > 0.0 and chain.next_binding[0, link] >= 0:
            freed = chain.loosened(link, chain.most_per_cent[0, link] / 100.0).item()
            assert freed == pytest.approx(chain.output.item() + most, rel=1e-6)
    if np.isfinite(chain.limits[0, binds]) and chain.most[0, binds] > 0.0:
        assert chain.worth[0, binds] > 0.0


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.lists(st.floats(1.0, 1e6), min_size=2, max_size=7, unique=True), st.floats(0.001, 3.0))
def test_of_limits_alone_the_smallest_binds_and_gives_what_the_second_allows(limits, by):
    chain = of_limits(*limits)
    first, second = sorted(limits)[:2]
    binds = chain.binding.item()
    if second > first * (1.0 + 10 * TIE):
        assert limits[binds] == first
        assert [link for link in range(len(limits)) if chain.worth[0, link] > 0] == [binds]
    assert chain.loosened(binds, by).item() == pytest.approx(min(first * (1.0 + by), second))
    others = [chain.loosened(link, by).item() for link in range(len(limits)) if link != binds]
    assert others == pytest.approx([first] * len(others), rel=1e-8)
