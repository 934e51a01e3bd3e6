"""Whatever is drawn ends as a plan that passes its audit, an input fault, or a proof that there is no plan."""

from __future__ import annotations

from pathlib import Path

import pytest
from plan_cases import SAID, base_tables, scenario_of, workload
from random_scenarios import draw, outcome

from planner.errors import InputError
from planner.inputs import load_scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan import Plan, audit_plan

FOUND = (2, 11, 123, 8076)
"""Seeds that once ended otherwise, and a plain one."""
STORED = Path(__file__).resolve().parents[3] / "shared" / "cases" / "reports"


def audited_plan(scenario) -> Plan:
    plan = run_plan(scenario, RunOptions(baselines=False))
    assert plan.status == "optimal"
    failures = audit_plan(plan).failures
    assert failures.empty, failures.to_string()
    return plan


@pytest.mark.parametrize("seed", FOUND)
def test_a_drawn_scenario_ends_well(seed):
    assert outcome(draw(seed)).kind in ("plan", "fault", "no_plan")


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000, 1_100, 10))
def test_many_drawn_scenarios_end_well(first):
    ended = {seed: outcome(draw(seed)) for seed in range(first, first + 10)}
    assert not {seed: end.said for seed, end in ended.items() if end.kind == "defect"}


def test_the_same_seed_draws_the_same_scenario():
    assert draw(7) == draw(7) != draw(8)


def test_an_energy_contract_on_a_profile_counts_in_a_budget():
    """The contract costs the same whatever is decided: it leaves less of the budget for the rest."""
    tables = base_tables()
    tables["periods"] = tables["periods"][:1]
    tables["demand"] = tables["demand"][:1]
    tables["ppas"] = [
        {"ppa": "river", "site": "hall", "kw": 10, "price_per_kwh": 0.5, "currency": "USD", **SAID},
    ]
    free = audited_plan(scenario_of(tables, objective="cost"))
    costs = free["costs"]
    paid = costs[costs["kind"].eq("opex") & costs["timing"].ne("end")]["amount"].sum()
    contract = costs[costs["line"] == "ppa"]["amount"].sum()
    assert contract > 0
    tables["budgets"] = [{"budget": "running", "kind": "opex", "limit": paid + 1.0}]
    assert audited_plan(scenario_of(tables, objective="cost")).status == "optimal"
    tables["budgets"][0]["limit"] = paid - 0.5 * contract
    assert run_plan(scenario_of(tables, objective="cost"), RunOptions(baselines=False)).status == "infeasible"


@pytest.mark.parametrize("method", ["none", "sinking_fund"])
def test_a_lease_that_outlives_the_horizon_is_free_beyond_it_without_a_market(method):
    tables = base_tables()
    tables["offers"] = [
        tables["offers"][0]
        | {"offer": "lease", "mode": "lease", "price": 5_000, "price_unit": "unit_month", "term_months": 24}
    ]
    settings = {"residual_method": method, "commitment_horizon_years": 0.25, "objective": "cost"}
    plan = audited_plan(scenario_of(tables, **settings))
    assert "commitment_after_horizon" not in set(plan["costs"]["line"])


def test_a_loss_is_audited_in_periods_in_which_nothing_stands():
    """The lot leaves after the first quarter and demand ends with it."""
    tables = base_tables()
    tables["fleet"] = [
        {"fleet": "old", "product": "box", "site": "hall", "cooling": "air", "units": 12}
        | {"in_service_date": "2025-01-01", "retire_date": "2027-04-01"}
    ]
    tables["workloads"] = [workload("chat", critical_fraction=0.5)]
    tables["failure_cases"] = [{"failure_case": "one", "loss": "units", "units": 1}]
    for row in tables["demand"]:
        row["requests_per_s"] = 10 if row["period"] == "2027-Q1" else 0
    audited_plan(scenario_of(tables, objective="cost"))


def test_a_unit_cost_of_a_plan_that_may_serve_nothing_is_refused():
    tables = base_tables()
    tables["workloads"] = [workload("chat", must_serve_fraction=0, value_per_mtok=40)]
    with pytest.raises(InputError, match="may serve nothing at all"):
        run_plan(scenario_of(tables, objective="unit-cost"), RunOptions(baselines=False))


@pytest.mark.skipif(not STORED.is_dir(), reason="the stored cases are not beside this checkout")
@pytest.mark.parametrize("name", ["audit_commitment", "audit_budget", "keyerror_period"])
def test_stored_scenarios_have_a_plan(name):
    audited_plan(load_scenario(STORED / name))
