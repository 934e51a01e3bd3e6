"""Differences between plans add up, and name the decisions and the inputs behind them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pandas as pd
import pytest
from plan_cases import solved

from planner.analysis import compare_plans
from planner.analysis.compare import energy_frame
from planner.analysis.compare_inputs import bearing
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


def noted(plan, notes, keep=True):
    """Return the plan with a note in its supply, or without the row."""
    supply = plan.scenario.tables["supply"]
    assert len(supply) == 1
    other = supply.assign(period="2027-Q3", units=notes)
    both = pd.concat([supply, other], ignore_index=True) if keep else supply
    tables = {**plan.scenario.tables, "supply": both}
    return replace(plan, scenario=replace(plan.scenario, tables=tables))


def test_what_says_nothing_in_the_first_and_the_last_plan_is_no_change() -> None:
    # Only the plan between has a number; a row that is not there and a blank cell both say nothing.
    plan = solved("limited")
    three = {"a": noted(plan, 1.0, keep=False), "b": noted(plan, 7.0), "c": noted(plan, float("nan"))}
    found = compare_plans(three)
    assert found.inputs["b"].to_list() == ["7"]
    assert not [said for said in found.words if said.startswith("changed")]
    back = compare_plans({name: three[name] for name in ("a", "c", "b")})
    assert [said for said in back.words if said.startswith("changed")] == [
        "changed: supply box purchase|2027-Q3 units: nothing -> 7"
    ]


def test_a_setting_that_was_not_given_says_nothing() -> None:
    plan = solved("limited")
    settings = plan.scenario.settings.model_copy(update={"time_limit_s": 7.0})
    timed = replace(plan, scenario=replace(plan.scenario, settings=settings))
    changed = [said for said in compare_plans({"a": plan, "b": timed}).words if said.startswith("changed")]
    assert changed == ["changed: settings time_limit_s: nothing -> 7.0"]


def test_every_input_that_differs_is_named_by_table_key_and_column(found) -> None:
    tables = set(found.inputs["table"])
    assert tables
    one, two = solved("limited").scenario.tables["demand"], solved("bridged").scenario.tables["demand"]
    assert ("demand" in tables) == (not one.equals(two))
    assert not found.inputs.duplicated(["table", "key", "column"]).any()


def test_what_bears_most_on_cost_is_listed_first_and_names_and_sources_last() -> None:
    plan = solved("limited")
    paid = plan["costs"].groupby("offer")["discounted"].sum()
    changed = [
        ("settings", "", "name", "a", "b"),
        ("offers", paid.idxmax(), "source", "one", "two"),
        ("offers", paid.idxmax(), "price", "100", "99"),
        ("settings", "", "discount_rate_fraction", "0.08", "0.16"),
        ("offers", paid.idxmax(), "price", "100", "50"),
    ]
    inputs = pd.DataFrame(changed, columns=["table", "key", "column", "a", "b"])
    weight = bearing(inputs, {"a": plan, "b": plan})
    assert weight[:2].tolist() == [0.0, 0.0]
    assert weight[3] > weight[4] > weight[2] > 0.0
    assert weight[4] == pytest.approx(50 * weight[2])


def test_served_share_is_one_less_the_unserved_requests() -> None:
    plan = solved("optional")
    same = compare_plans({"a": plan, "b": plan}).service.set_index("workload")["a"]
    tokens = plan["tokens"]
    asked = pd.Series(1.0, index=same.index)
    assert same.le(asked).all()
    lost = plan["unserved"]["workload"].unique()
    assert all((same[name] < 1) == (name in lost) for name in same.index)
    assert set(same.index) == set(tokens["workload"])


class AtPue(NamedTuple):
    """What the comparison of energy reads of a plan: 100 and 60 kW of IT in two blocks, at one PUE and two prices."""

    frames: dict[str, pd.DataFrame]

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self.frames[name]

    @classmethod
    def of(cls, pue: float) -> AtPue:
        energy = pd.DataFrame(
            {"it_kw": [100.0, 60.0], "hours": [3_000.0, 5_760.0], "price_per_kwh": [0.12, 0.05]}
        )
        energy["kwh"] = energy["it_kw"] * pue * energy["hours"]
        bill = float((energy["kwh"] * energy["price_per_kwh"]).sum())
        return cls(
            {"energy": energy, "costs": pd.DataFrame({"line": ["energy", "staff"], "amount": [bill, 1.0]})}
        )


def test_a_pue_of_1_2_instead_of_1_5_saves_a_fifth_of_energy_and_bill_at_equal_it_load() -> None:
    rows = energy_frame({"before": AtPue.of(1.5), "after": AtPue.of(1.2)}).set_index("quantity")
    assert rows.loc["it kwh", "difference"] == pytest.approx(0)
    assert rows.loc["facility kwh", "relative"] == pytest.approx(-0.2)
    assert rows.loc["energy bill", "relative"] == pytest.approx(-0.2)
    assert rows.loc["kwh change by PUE at equal IT load", "after"] == pytest.approx(-0.2)
    by_pue = rows.loc["energy bill change by PUE at equal IT load", "after"]
    assert by_pue == pytest.approx(rows.loc["energy bill", "difference"])


def test_a_run_without_a_plan_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="has no plan to compare"):
        compare_plans({"base": solved("limited"), "other": solved("impossible")})
