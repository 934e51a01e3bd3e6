"""Representative hours: what can bind is kept alone, the rest is averaged, and no hour and no request is lost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.coefficients.blocks import CELL, block_means, cell_features, choose_blocks

TOKENS = pd.DataFrame({"input_tokens": [1_000.0], "output_tokens": [100.0]}, index=pd.Index(["chat"]))
NOTHING = pd.DataFrame()


def hours_of(count: int, hours: float = 30.0, period: str = "t1") -> pd.DataFrame:
    """Return the first hours of a month, as many times each as there are days."""
    return pd.DataFrame(
        {"period": period, "month": 1, "day_type": "weekday", "hour_utc": range(count), "hours": hours}
    )


def load(cells: pd.DataFrame, rates, workload: str = "chat", region: str = "home") -> pd.DataFrame:
    return cells[CELL].assign(workload=workload, region=region, requests_per_s=np.asarray(rates, float))


def price(cells: pd.DataFrame, prices, site: str = "hall") -> pd.DataFrame:
    return cells[CELL].assign(site=site, price_per_kwh=np.asarray(prices, float))


def pue(cells: pd.DataFrame, values) -> pd.DataFrame:
    return cells[CELL].assign(site="hall", cooling="air", pue=np.asarray(values, float))


def labels(assigned: pd.DataFrame) -> dict[int, str]:
    """Return the reason each hour was kept alone, by hour."""
    alone = assigned[~assigned["label"].str.startswith("average")]
    return dict(zip(alone["hour_utc"], alone["label"], strict=True))


def test_hours_that_differ_in_nothing_are_one_block():
    cells = hours_of(24)
    features = cell_features(load(cells, np.full(24, 5.0)), TOKENS, price(cells, np.full(24, 0.1)), NOTHING)
    assigned = choose_blocks(cells, features, 6)
    assert set(assigned["block"]) == {"b00"}
    assert assigned["hours"].sum() == 24 * 30


def test_few_distinct_hours_are_all_kept():
    # Load and price make four kinds of hour: busy or not, dear or cheap.
    cells = hours_of(8)
    features = cell_features(
        load(cells, [1, 1, 2, 2, 1, 1, 2, 2]), TOKENS, price(cells, [1, 1, 1, 1, 3, 3, 3, 3]), NOTHING
    )
    assigned = choose_blocks(cells, features, 4)
    assert assigned.groupby("block")["hour_utc"].apply(list).to_list() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert set(assigned["label"]) == {"distinct hours"}


def test_zero_keeps_every_distinct_hour():
    cells = hours_of(24)
    features = cell_features(load(cells, range(1, 25)), TOKENS, NOTHING, NOTHING)
    assert choose_blocks(cells, features, 0)["block"].nunique() == 24


def test_the_peak_the_dearest_and_the_hottest_hour_stand_alone():
    cells = hours_of(24)
    rates = 10.0 + np.arange(24) / 100
    rates[13] = 40.0
    prices, facility = np.full(24, 0.1), np.full(24, 1.2)
    prices[19], facility[15] = 0.5, 1.6
    features = cell_features(load(cells, rates), TOKENS, price(cells, prices), pue(cells, facility))
    assigned = choose_blocks(cells, features, 6)
    # One workload: its prefill and decode peak in the same hour.
    assert labels(assigned) == {13: "peak decode load", 19: "highest energy price", 15: "highest PUE"}
    assert assigned["block"].nunique() == 6
    # The other 21 hours fall into three groups of equal length by load.
    averages = assigned[assigned["label"].str.startswith("average")]
    assert averages.groupby("block")["hours"].sum().to_list() == [7 * 30] * 3
    top = averages[averages["label"] == "average, load group 3 of 3"]
    assert top["hour_utc"].min() == averages["hour_utc"].nlargest(7).min()


def test_prompts_and_output_that_peak_apart_are_both_kept():
    # Chat writes as much as it reads, search only reads: at 3 search peaks, at 9 chat.
    cells = hours_of(24)
    tokens = pd.DataFrame(
        {"input_tokens": [100.0, 5_000.0], "output_tokens": [100.0, 1.0]}, index=pd.Index(["chat", "search"])
    )
    chat, search = np.linspace(1, 2, 24), np.linspace(1, 2, 24)
    chat[9], search[3] = 20.0, 20.0
    both = pd.concat([load(cells, chat), load(cells, search, "search")])
    kept = labels(choose_blocks(cells, cell_features(both, tokens, NOTHING, NOTHING), 5))
    assert kept == {9: "peak decode load", 3: "peak prefill load"}


def test_each_region_keeps_its_own_peak_where_there_is_room():
    cells = hours_of(24)
    east, west = np.linspace(1, 2, 24), np.linspace(1, 2, 24)
    east[2], west[17] = 30.0, 20.0
    both = pd.concat([load(cells, east, region="east"), load(cells, west, region="west")])
    features = cell_features(both, TOKENS, NOTHING, NOTHING)
    assert set(labels(choose_blocks(cells, features, 6))) == {2, 17}
    assert set(labels(choose_blocks(cells, features, 3))) == {2}


def test_every_period_is_divided_by_itself():
    cells = pd.concat([hours_of(24), hours_of(24, 31.0, "t2")], ignore_index=True)
    rates = np.concatenate([np.full(24, 3.0), np.arange(24.0)])
    assigned = choose_blocks(cells, cell_features(load(cells, rates), TOKENS, NOTHING, NOTHING), 4)
    assert assigned.groupby("period")["block"].nunique().to_dict() == {"t1": 1, "t2": 4}
    assert assigned.groupby("period")["hours"].sum().to_dict() == {"t1": 720.0, "t2": 744.0}


def test_a_block_has_the_mean_of_its_hours_weighted_by_how_many_they_are():
    cells = hours_of(3).assign(hours=[10.0, 30.0, 5.0])
    assigned = cells.assign(block=["a", "a", "b"], label="")
    means = block_means(assigned, load(cells, [1.0, 2.0, 7.0]), ["workload", "region"], "requests_per_s")
    assert means.set_index("block")["requests_per_s"].to_dict() == {
        "a": pytest.approx((10 * 1 + 30 * 2) / 40),
        "b": pytest.approx(7.0),
    }


@settings(max_examples=8, derandomize=True, deadline=None, database=None)
@given(
    st.lists(st.integers(1, 1_000), min_size=24, max_size=24),
    st.lists(st.integers(1, 31), min_size=24, max_size=24),
    st.integers(3, 8),
)
def test_blocks_are_few_and_keep_hours_requests_and_the_peak(rates, hours, most):
    cells = hours_of(24).assign(hours=np.asarray(hours, float))
    demand = load(cells, rates)
    assigned = choose_blocks(cells, cell_features(demand, TOKENS, NOTHING, NOTHING), most)
    means = block_means(assigned, demand, ["workload", "region"], "requests_per_s")
    length = assigned.groupby("block")["hours"].sum()
    assert len(length) <= most
    assert length.sum() == pytest.approx(sum(hours))
    rate = means.set_index("block")["requests_per_s"]
    assert (rate * length).sum() == pytest.approx(np.dot(rates, hours))
    assert rate.max() == pytest.approx(max(rates))


def test_cheap_and_dear_hours_are_averaged_apart_where_that_is_asked():
    # A valley of eight hours at night, load that jumps from hour to hour: averages by load mix the prices.
    cells = hours_of(24)
    rates = 10.0 + np.arange(24) * 7 % 24 / 10
    prices = np.where(np.arange(24) < 8, 0.03, 0.35)
    features = cell_features(load(cells, rates), TOKENS, price(cells, prices), NOTHING)
    assigned = choose_blocks(cells, features, 5, by_price=True)
    averaged = assigned[assigned["label"].str.startswith("average, price group")]
    spread = averaged.assign(price=prices[averaged["hour_utc"]]).groupby("block")["price"]
    assert list(spread.nunique()) == [1] * averaged["block"].nunique()
    assert {0.03, 0.35} == set(spread.first())
    assert assigned["hours"].sum() == 24 * 30
    mixed = choose_blocks(cells, features, 5)
    mixed = mixed[mixed["label"].str.startswith("average")]
    assert mixed.assign(price=prices[mixed["hour_utc"]]).groupby("block")["price"].nunique().max() == 2
