"""The audit carries a loss out on the plan itself: what would not survive is found, whatever the plan claims."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from plan_cases import solved

from planner.plan.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.service.failure_checks import greatest_share

PLACE = {"workload": "chat", "shape": "any", "ttft_class": "near"}


def checks_of(**frames):
    """Return which checks of losses a plan with other frames passes."""
    plan = solved("survives")
    return judged(replace(plan, frames={**plan.frames, **frames}))


def judged(plan):
    books = Accounts(plan, Facts(plan.scenario))
    names = [name for name in CHECKS if name.startswith("failure")]
    return {name: CHECKS[name](books).passed for name in [*names, "data_residency"]}


def test_a_site_short_of_units_does_not_survive_the_loss_of_the_other():
    fleet = solved("survives")["fleet"]
    thinner = fleet.assign(units=fleet["units"].where(fleet["site"] != "annex", fleet["units"] - 1))
    passed = checks_of(fleet=thinner)
    assert not passed["failure_simulation"]
    assert not passed["failure_capacity"]


def test_a_claim_to_serve_from_the_lost_site_is_found():
    flows = solved("survives")["failure_flows"]
    lost = flows["failure"].eq("any site: hall")
    passed = checks_of(failure_flows=flows.assign(site=flows["site"].where(~lost, "hall"), rtt_ms=0.0))
    assert not passed["failure_routes"]


def test_a_loss_left_out_is_found():
    assert not checks_of(failures=solved("survives")["failures"].iloc[1:])["failure_cases"]


def test_less_than_the_critical_share_is_found():
    flows = solved("survives")["failure_flows"]
    passed = checks_of(failure_flows=flows.assign(requests_per_s=0.9 * flows["requests_per_s"]))
    assert not passed["failure_service"]
    assert not passed["failure_decode"]


def test_data_that_leaves_its_countries_is_found():
    plan = solved("survives")
    workloads = plan.scenario.tables["workloads"].assign(residency_countries=[()])
    tables = {**plan.scenario.tables, "workloads": workloads}
    stricter = replace(plan, scenario=replace(plan.scenario, tables=tables))
    passed = judged(stricter)
    served_abroad = plan["flows"]["site"].ne("hall").any()
    assert passed["data_residency"] == (not served_abroad)
    assert served_abroad


def test_the_greatest_share_by_hand():
    """Two places of 3 and 2 units, half a request/s each, busiest minute twice the mean: 1.25 of 5 asked."""
    demand = pd.DataFrame([{**PLACE, "region": "home", "requests_per_s": 5.0}]).drop(columns="ttft_class")
    routes = pd.DataFrame(
        [{"workload": "chat", "region": "home", "site": site, "ttft_class": "near"} for site in "ab"]
    )
    held = {"product": "box", "cooling": "air", "phase": "mixed", "requests_per_s": 0.5, "peak_ratio": 2.0}
    points = pd.DataFrame([{**PLACE, **held, "point": "p", "site": site} for site in "ab"])
    index = pd.MultiIndex.from_tuples(
        [("box", "a", "air"), ("box", "b", "air")], names=["product", "site", "cooling"]
    )
    left = pd.Series([3.0, 2.0], index=index)
    assert greatest_share(demand, routes, points, left) == pytest.approx(0.25)
    assert greatest_share(demand, routes, points, left * 10) == pytest.approx(1.0)
    assert greatest_share(demand, routes[routes["site"] == "b"], points, left) == pytest.approx(0.1)
    assert greatest_share(demand, routes.iloc[:0], points, left) == 0.0


def test_phases_that_run_apart_need_both():
    """Prompts at 2 requests/s on one rack, answers at 1 request/s on each of 3 boxes: the rack is the limit."""
    demand = pd.DataFrame([{**PLACE, "region": "home", "requests_per_s": 4.0}]).drop(columns="ttft_class")
    routes = pd.DataFrame([{"workload": "chat", "region": "home", "site": "a", "ttft_class": "near"}])
    both = [("rack", "prefill", 2.0), ("box", "decode", 1.0)]
    points = pd.DataFrame(
        [
            {**PLACE, "point": phase, "site": "a", "cooling": "air", "product": product, "phase": phase}
            | {"requests_per_s": rate, "peak_ratio": 1.0}
            for product, phase, rate in both
        ]
    )
    index = pd.MultiIndex.from_tuples(
        [("rack", "a", "air"), ("box", "a", "air")], names=["product", "site", "cooling"]
    )
    assert greatest_share(demand, routes, points, pd.Series([1.0, 3.0], index=index)) == pytest.approx(0.5)
