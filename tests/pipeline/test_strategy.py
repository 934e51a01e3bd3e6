"""However the whole numbers are found, the plan keeps every limit and its status says what is proven."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from small_scenarios import (
    SAID,
    cloud,
    demand,
    energy,
    hall,
    one_hour,
    purchase,
    region,
    rental,
    scenario,
    workload,
)
from tiny_coefficients import tiny

import planner.pipeline.strategy as strategy
from planner.coefficients import Coefficients
from planner.formulation.build import PlanModel, build_model
from planner.pipeline import RunOptions, run_plan
from planner.pipeline.rounding import rounded_plans
from planner.pipeline.run import build_scenario
from planner.pipeline.strategy import Goal, neighbourhood, solve_main
from planner.solve import Solution, SolveOptions, Termination

OBJECTIVES = ["cost", "unit-cost"]


@cache
def case() -> tuple[Coefficients, PlanModel]:
    """Return the hand-made case at three times its demand, so that orders are of some size."""
    plain = tiny()
    c = tiny(
        demand=plain.demand.assign(requests_per_s=3 * plain.demand["requests_per_s"]),
        supply=plain.supply.iloc[:0],
        budgets=plain.budgets.iloc[:0],
        site_limits=plain.site_limits.assign(usable_kw=600.0, it_limit_kw=np.nan, racks=np.nan),
        halls=plain.halls.assign(capacity_kw=np.nan),
    )
    return c, build_model(c)


@cache
def solved(objective: str, relax: bool) -> Solution:
    c, model = case()
    solution = Goal.of(objective, c).optimise(model, model.problem, SolveOptions(gap=0.0, relax=relax))
    assert solution.status == "optimal"
    return solution


def staged(objective: str, options: SolveOptions, monkeypatch: pytest.MonkeyPatch) -> Solution:
    """Return what the staged search finds, however small the model."""
    monkeypatch.setattr(strategy, "STAGED_FROM_COLUMNS", 0)
    c, model = case()
    return solve_main(c, model, Goal.of(objective, c), solved(objective, relax=True), options)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("gap", [0.2, 0.01, 1e-4])
def test_the_staged_search_ends_within_the_gap_of_the_direct_one(objective, gap, monkeypatch):
    exact = solved(objective, relax=False).objective
    found = staged(objective, SolveOptions(gap=gap), monkeypatch)
    assert found.status == "optimal"
    assert exact * (1 - 1e-6) <= found.objective <= exact * (1 + gap) * (1 + 1e-6)
    assert found.termination.bound <= exact * (1 + 1e-6)
    assert found.termination.gap <= gap + 1e-6
    assert case()[1].problem.arrays().violation_at(found.values) < 1e-6


def test_a_wide_gap_is_closed_by_rounding_and_a_narrow_one_by_the_whole_model(monkeypatch):
    wide = staged("cost", SolveOptions(gap=0.2), monkeypatch)
    assert "proven by the bound of the relaxation" in wide.termination.detail
    narrow = staged("cost", SolveOptions(gap=1e-4), monkeypatch)
    assert "relaxation" not in narrow.termination.detail


def test_no_gap_at_all_asks_for_the_whole_model_at_once(monkeypatch):
    monkeypatch.setattr(strategy, "rounded_plans", None)
    monkeypatch.setattr(strategy, "neighbourhood", None)
    found = staged("cost", SolveOptions(gap=0.0), monkeypatch)
    assert found.objective == pytest.approx(solved("cost", relax=False).objective, rel=1e-9)


def test_rounded_plans_are_plans_and_no_better_than_the_best():
    c, model = case()
    goal, relaxed = Goal.of("cost", c), solved("cost", relax=True)
    plans = list(rounded_plans(c, model, relaxed.values, SolveOptions(gap=0.01), goal.optimise))
    assert plans
    for plan in plans:
        assert model.problem.arrays().violation_at(plan.values) < 1e-6
        assert plan.objective >= solved("cost", relax=False).objective * (1 - 1e-6)


def test_the_neighbourhood_holds_whole_numbers_around_the_relaxation():
    _, model = case()
    relaxed = solved("cost", relax=True).values
    arrays = neighbourhood(model, relaxed).arrays()
    whole = arrays.integer
    assert (arrays.upper[whole] - arrays.lower[whole] <= 1).all()
    assert (arrays.lower[whole] <= relaxed[whole] + 1e-6).all()
    assert (relaxed[whole] <= arrays.upper[whole] + 1e-6).all()
    fractional = np.abs(relaxed - np.round(relaxed)) > 1e-6
    assert (whole & fractional).any()
    assert (arrays.lower < arrays.upper)[whole & fractional].all()
    assert np.array_equal(arrays.upper[~whole], model.problem.arrays().upper[~whole])


def rented():
    """Return 2.5 requests/s from two clouds at one price, 10 and 90 ms away."""
    trips = {"from_region": "home", "statistic": "p95", **SAID}
    return scenario(
        {
            "periods": one_hour(),
            "regions": [region(), region("near"), region("far")],
            "latency": [
                {**trips, "to_region": name, "rtt_ms": trip} for name, trip in (("near", 10), ("far", 90))
            ],
            "sites": [cloud("far", "far"), cloud("near", "near")],
            "offers": [rental(price=2.0)],
            "workloads": [workload()],
            "demand": demand(["hour"], 2.5),
        }
    )


def test_among_plans_of_equal_cost_requests_take_the_shortest_way_the_fleet_allows():
    plan = run_plan(rented(), RunOptions(baselines=False))
    assert plan.headline["total_cost"] == pytest.approx(3 * 2.0)
    here = plan["orders"].groupby("site")["units"].sum()
    placed = plan["placement"].set_index("site")["requests_per_s"]
    assert placed.get("near", 0.0) == pytest.approx(min(here.get("near", 0.0), 2.5))


def stopped(found: Solution, status: str) -> Solution:
    """Return a solution as a time limit would leave it: an unproven plan a tenth above its bound, or none."""
    if status == "no_solution":
        ended = Termination("no_solution", 1.0, np.inf, 1.0, "time limit", "time_limit")
        return replace(found, values=np.full_like(found.values, np.nan), objective=np.nan, termination=ended)
    bound = 0.9 * found.objective
    return replace(found, termination=Termination("feasible", bound, 0.1, 1.0, "time limit", "time_limit"))


@pytest.mark.parametrize("status", ["feasible", "no_solution"])
def test_a_search_stopped_by_time_is_never_called_optimal(status, monkeypatch):
    real = strategy.solve
    monkeypatch.setattr(
        strategy,
        "solve",
        lambda problem, options, start=None: (
            real(problem, options, start) if options.relax else stopped(real(problem, options, start), status)
        ),
    )
    plan = run_plan(rented(), RunOptions(baselines=False, time_limit_s=60))
    assert plan.status == status
    if status == "no_solution":
        assert "orders" not in plan.frames
        assert plan.headline["message"] == "time limit"
        return
    assert plan.headline["bound"] == pytest.approx(0.9 * plan.headline["objective"])
    assert plan.headline["gap"] == pytest.approx(0.1)
    assert plan.headline["requested_gap"] == 0.0
    assert "time limit" in plan.headline["solver_detail"]


def test_a_limit_too_short_for_anything_never_reads_as_infeasible():
    plan = run_plan(rented(), RunOptions(baselines=False, time_limit_s=1e-6))
    assert plan.status in ("optimal", "feasible", "no_solution")
    if plan.status == "optimal":
        assert plan.headline["gap"] <= 1e-6


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_cheaper_tier_left_shut_within_the_gap_is_billed_as_the_tariff_reads_it(objective):
    tier = {"tier_of": "use", "tier_unit": "kwh_per_kw"}
    built = build_scenario(
        scenario(
            {
                "periods": [{"period": "2027-01", "start_date": "2027-01-01", "months": 1}],
                "sites": [hall()],
                "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 100}],
                "tariffs": [
                    energy("use_1", 0.2, tier_from=0, **tier),
                    energy("use_2", 0.1, tier_from=300, **tier),
                ],
                "offers": [purchase(price=100)],
                "demand": demand(["2027-01"], 2),
            }
        )
    )
    c, model, goal = built.coefficients, built.model, Goal.of(objective, built.coefficients)
    best = goal.optimise(model, model.problem, SolveOptions(gap=0.0))
    shut = best.values.copy()
    binary = model.columns.position("bill_tier_reached")
    assert shut[binary].max() == 1
    shut[binary] = 0.0
    relaxed = goal.optimise(model, model.problem, SolveOptions(relax=True))
    read = goal.as_billed(c, model, relaxed, SolveOptions(relax=True))
    assert read.objective >= relaxed.objective - 1e-9
    assert read.termination.bound == pytest.approx(relaxed.objective)
    assert read.termination.gap == pytest.approx(1 - relaxed.objective / read.objective, abs=1e-6)
    fixed = goal.fix(c, model, replace(best, values=shut), SolveOptions())
    assert fixed.objective == pytest.approx(best.objective)
    tiers = model.columns.position("bill_tier")
    assert fixed.values[tiers] == pytest.approx(best.values[tiers])
