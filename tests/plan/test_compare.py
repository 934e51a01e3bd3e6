"""Differences between plans add up, and name the decisions and the inputs behind them."""

from __future__ import annotations

import pandas as pd
import pytest
from plan_cases import solved

from planner.analysis import compare_plans
from planner.errors import InputError


@pytest.fixture(scope="module")
def found():
    """Return the comparison of a plan that is short of power with one that bridges a lead time."""
    return compare_plans({"base": solved("limited"), "other": solved("bridged")})


def test_cost_lines_sum_to_the_difference_in_total_cost(found) -> None:
    total = found.headline.set_index("metric").loc["total_cost"]
    assert found.costs["difference"].sum() == pytest.approx(total["difference"], rel=1e-9)
    assert found.costs["base"].sum() == pytest.approx(total["base"], rel=1e-9)


def test_only_orders_that_differ_are_listed(found) -> None:
    assert (found.orders["difference"].abs() > 0).all()
    units = solved("bridged")["orders"].groupby(["offer", "site", "cooling", "period"])["units"].sum()
    listed = found.orders.set_index(["offer", "site", "cooling", "period"])["other"]
    assert listed[listed > 0].to_dict() == pytest.approx(units.reindex(listed[listed > 0].index).to_dict())


def test_a_plan_compared_with_itself_differs_in_nothing() -> None:
    same = compare_plans({"a": solved("limited"), "b": solved("limited")})
    assert same.orders.empty
    assert same.inputs.empty
    assert (same.headline["difference"].dropna() == 0).all()
    assert (same.costs["difference"] == 0).all()


def test_every_input_that_differs_is_named_by_table_key_and_column(found) -> None:
    tables = set(found.inputs["table"])
    assert tables
    one, two = solved("limited").scenario.tables["demand"], solved("bridged").scenario.tables["demand"]
    assert ("demand" in tables) == (not one.equals(two))
    assert not found.inputs.duplicated(["table", "key", "column"]).any()


def test_served_share_is_one_less_the_unserved_requests() -> None:
    plan = solved("optional")
    same = compare_plans({"a": plan, "b": plan}).service.set_index("workload")["a"]
    tokens = plan["tokens"]
    asked = pd.Series(1.0, index=same.index)
    assert same.le(asked).all()
    lost = plan["unserved"]["workload"].unique()
    assert all((same[name] < 1) == (name in lost) for name in same.index)
    assert set(same.index) == set(tokens["workload"])


def test_a_run_without_a_plan_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="has no plan to compare"):
        compare_plans({"base": solved("limited"), "other": solved("impossible")})
