"""The token waterfall by hand on the case ``by_hand`` (see its docstring), and what holds on every case."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from plan_cases import CASES, solved

from planner.plan.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts
from planner.plan.waterfall import LINKS as DECLARED
from planner.plan.waterfall import chain_of, waterfall_frame

LINKS = [link.name for link in DECLARED]
PLANNED = [name for name in CASES if name != "impossible"]


def chain(name, scope="all"):
    frame = solved(name)["waterfall"]
    return frame[frame["scope"] == scope].set_index("link")


def test_each_link_by_hand():
    """2 boxes for 100 h are 200 box-hours; an output token is a thousandth of a request.

    compute   8 x 100 TFLOPS / (2 x 8e9 parameters x (500 + 2 x 1,000) tokens) = 20 requests/s a box, half reached
    memory    what the roofline estimates of the box, between that and the engine
    engine    6.25 attempts/s stated; the clock holds 0.8
    demand    1.5 of 2 boxes are busy; 0.9 x 0.8 of 1 / 1.25 attempts counts
    """
    per_rate = 200 * 3_600 * 1_000 / 1e6  # Mtok per request/s and box
    memory = solved("by_hand")["points"]["memory_bound_requests_per_s"].iloc[0]
    assert 6.25 < memory < 10
    rates = [20, 10, memory, 6.25, 5, 5, 5, 5, 5 * 0.75]
    table = chain("by_hand")
    assert list(table.index) == LINKS
    assert table["value"].to_list() == pytest.approx([rate * per_rate for rate in rates] + [1_555.2])
    factors = [0.5, memory / 10, 6.25 / memory, 0.8, 1, 1, 1, 0.75, 0.9 * 0.8 / 1.25]
    assert table["factor"].to_list()[1:] == pytest.approx(factors)
    assert table["loss_fraction"].to_list()[1:] == pytest.approx([1 - factor for factor in factors])


def test_demand_binds_where_boxes_stand_idle_and_the_engine_is_next():
    """1.5 of 2 boxes are busy: a third more may be asked before the boxes are full."""
    table = chain("by_hand")
    assert list(table.index[table["binding"]]) == ["demand"]
    asked = table.loc["demand"]
    assert asked["binding_fraction"] == 1.0
    assert asked["worth_per_cent"] == pytest.approx(15.552)
    assert asked["most_worth"] == pytest.approx(1_555.2 / 3)
    assert (asked["next_link"], asked["next_per_cent"]) == (
        "engine throughput at the SLA",
        pytest.approx(100 / 3),
    )
    others = table.drop(index=["demand", "effective tokens"])
    assert (others[["worth_per_cent", "most_worth", "next_per_cent"]] == 0.0).all(axis=None)
    assert table.loc["effective tokens", "worth_per_cent"] == pytest.approx(15.552)


def test_without_enough_demand_to_bind_the_engine_and_every_share_after_it_are_worth_something():
    """Twice as much asked: 6.25 x 0.8 bind. One per cent more engine or clock is one per cent more tokens."""
    hours = solved("by_hand")["waterfall_hours"]
    full = waterfall_frame(hours.assign(demand=2.0 * hours["demand"]), solved("by_hand")["api"])
    table = full[full["scope"] == "all"].set_index("link")
    made = table["value"].iloc[-1]
    worth = table["worth_per_cent"] / made
    assert list(table.index[table["binding"]]) == ["engine throughput at the SLA"]
    assert (
        worth["engine throughput at the SLA"] == pytest.approx(0.01) == pytest.approx(worth["held frequency"])
    )
    assert worth.drop(["engine throughput at the SLA", "held frequency", "effective tokens"]).eq(0).all()
    assert table.loc["held frequency", "next_per_cent"] == pytest.approx(
        25.0
    )  # the clock is whole at 1 / 0.8
    assert table.loc["engine throughput at the SLA", "next_link"] == "memory and bandwidth"


def test_the_chain_of_one_workload_is_the_chain_of_all():
    assert chain("by_hand", "chat")["value"].to_list() == chain("by_hand")["value"].to_list()


def test_stated_rates_without_a_chip_begin_at_the_engine():
    assert list(chain("limited").index) == LINKS[LINKS.index("engine throughput at the SLA") :]


def test_the_chain_of_all_is_the_sum_of_its_workloads():
    parts = chain("far_apart", "chat")["value"] + chain("far_apart", "batch")["value"]
    assert chain("far_apart")["value"].to_list() == pytest.approx(parts.to_list())


@pytest.mark.parametrize("name", PLANNED)
def test_the_chain_ends_at_the_effective_tokens_and_its_factors_multiply_to_it(name):
    table, plan = chain(name), solved(name)
    assert table["value"].iloc[-1] == pytest.approx(plan.headline["effective_mtok"])
    assert table["value"].iloc[0] * np.prod(table["factor"].iloc[1:]) == pytest.approx(
        table["value"].iloc[-1]
    )
    assert (table["factor"].iloc[1:] <= 1.0).all()
    assert table["binding"].sum() == 1


@pytest.mark.parametrize("name", PLANNED)
def test_every_hour_lets_through_what_is_served_and_held_hours_are_those_of_the_fleet(name):
    plan, hours = solved(name), solved(name)["waterfall_hours"]
    assert chain_of(hours).output == pytest.approx(hours["effective"].to_numpy(), rel=1e-6)
    assert (hours["next_per_cent"] >= 0).all()
    binds = hours["worth_per_cent"] > 0
    assert (hours["next_link"][binds] != hours["binding"][binds]).all()
    if (plan["serving"]["phase"] == "mixed").all():
        fleet = plan["fleet"].merge(plan["periods"][["period", "hours"]], on="period")
        ran = pd.MultiIndex.from_frame(plan["serving"][["product", "site", "cooling", "period"]])
        used = pd.MultiIndex.from_frame(fleet[["product", "site", "cooling", "period"]]).isin(ran)
        whole = (fleet["units"] * fleet["hours"])[used].sum()
        if plan["hourly_rent"].empty:
            assert hours["unit_hours"].sum() == pytest.approx(whole)


@pytest.mark.parametrize(
    ("frame", "column"),
    [
        ("waterfall_hours", "engine"),
        ("waterfall_hours", "hours"),
        ("waterfall_hours", "demand"),
        ("waterfall_hours", "cluster_fraction"),
        ("waterfall_hours", "nameplate_compute"),
        ("waterfall_hours", "worth_per_cent"),
        ("waterfall", "value"),
        ("waterfall", "factor"),
        ("waterfall", "worth_per_cent"),
        ("waterfall", "binding_fraction"),
        ("waterfall", "next_per_cent"),
    ],
)
def test_the_audit_makes_the_chain_once_more(frame, column):
    plan = solved("by_hand")
    assert holds(plan, frame)
    assert not holds(plan, frame, **{column: plan[frame][column] * 1.001})


@pytest.mark.parametrize("column", ["next_link", "binding"])
def test_the_audit_names_the_binding_link_itself(column):
    assert not holds(solved("by_hand"), "waterfall_hours", **{column: "unit power"})


def holds(plan, frame, **changed):
    """Return what the audit's check of a frame says with some of its columns changed."""
    frames = dict(plan.frames) | {frame: plan[frame].assign(**changed)}
    return CHECKS[frame](Accounts(replace(plan, frames=frames), Facts(plan.scenario))).passed
