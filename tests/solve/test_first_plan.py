import os
import signal

import numpy as np
import pandas as pd
import pytest

from planner.formulation.blocks import ColumnBlock, RowBlock
from planner.formulation.pulp_face import PlanProblem
from planner.solve import SolveOptions, first_plan, large, solve, solve_ratio
from planner.solve.first_plan import Interrupted
from planner.solve.highs import HighsSession, Limits

EXACT = SolveOptions(gap=0.0)


@pytest.fixture
def every_model_is_large(monkeypatch):
    monkeypatch.setattr(first_plan, "FEWEST_COLUMNS", 0)


def rental_fleet(seed=0, sites=4, periods=3, blocks=4):
    """Order whole servers (cheap, capped by site power, open sites cost), rent whole servers per block (dear)."""
    generator = np.random.default_rng(seed)
    site = pd.DataFrame({"site": [f"s{k}" for k in range(sites)]})
    order = site.merge(pd.DataFrame({"period": range(periods)}), how="cross")
    hours = pd.DataFrame({"period": range(periods)}).merge(
        pd.DataFrame({"block": range(blocks)}), how="cross"
    )
    columns = [
        ColumnBlock("open", site, 0, 1, True),
        ColumnBlock("order", order, 0, 12, True),
        ColumnBlock("rent", hours, 0, 60, True),
    ]
    at_open, at_order, at_rent = 0, sites, sites + len(order)
    demand = generator.uniform(20.0, 45.0, len(hours)) * (1 + 0.2 * hours["period"])
    rate = generator.uniform(0.9, 1.7, sites)
    row, column = np.nonzero(order["period"].to_numpy()[None, :] <= hours["period"].to_numpy()[:, None])
    serve = [
        (row, at_order + column, rate[order["site"].str[1:].astype(int).to_numpy()[column]]),
        (np.arange(len(hours)), at_rent + np.arange(len(hours)), 1.1),
    ]
    power = [
        (order.index // periods, at_order + order.index, 1.0),
        (np.arange(sites), at_open + np.arange(sites), -17.3),
    ]
    rows = [
        RowBlock.from_terms("demand", hours, ">=", demand, serve),
        RowBlock.from_terms("power", site, "<=", 0.0, power),
    ]
    cost = np.concatenate(
        [generator.uniform(8, 20, sites), generator.uniform(9, 11, len(order)), np.full(len(hours), 4.0)]
    )
    return PlanProblem("rental", columns, rows, cost)


@pytest.mark.parametrize("seed", range(6))
def test_a_first_plan_is_whole_keeps_every_limit_and_is_near_the_relaxation(seed):
    problem = rental_fleet(seed)
    arrays = problem.arrays()
    relaxed = solve(problem, SolveOptions(relax=True))
    plan = first_plan.first_plan(arrays, relaxed.values, problem.recourse(), SolveOptions(gap=0.01), 20.0)
    assert arrays.violation_at(plan) < 1e-6
    best = solve(problem, EXACT).objective
    assert relaxed.objective < best <= arrays.objective_at(plan) + 1e-9
    assert arrays.objective_at(plan) <= 1.12 * best


def test_recourse_is_what_differs_by_block():
    problem = rental_fleet()
    assert problem.recourse()[problem.position("rent")].all()
    assert not problem.recourse()[problem.position("order")].any()
    assert not problem.recourse()[problem.position("open")].any()


@pytest.mark.usefixtures("every_model_is_large")
@pytest.mark.parametrize("gap", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_a_model_solved_as_a_large_one_is_certified_against_all_plans(make_covering, seed, gap):
    problem, plans = make_covering(seed)
    best = (plans @ problem.cost).min()
    found = solve(problem, SolveOptions(gap=gap))
    assert found.status == "optimal"
    assert found.termination.bound <= best * (1 + 1e-9)
    assert best * (1 - 1e-9) <= found.objective <= best / (1 - gap) * (1 + 1e-6)
    tokens = np.linspace(1.0, 4.0, 6)
    least = ((plans @ problem.cost) / (plans @ tokens)).min()
    ratio = solve_ratio(problem, problem.cost, tokens, SolveOptions(gap=gap))
    assert ratio.status == "optimal"
    assert ratio.termination.bound <= least * (1 + 1e-9)
    assert least * (1 - 1e-9) <= ratio.objective <= least / (1 - gap) * (1 + 1e-6)


@pytest.mark.usefixtures("every_model_is_large")
def test_a_plan_that_the_relaxation_proves_needs_no_search(monkeypatch):
    searched = []
    monkeypatch.setattr(large, "HighsSession", lambda *given: searched.append(given) or HighsSession(*given))
    problem = rental_fleet(1)
    easy = solve(problem, SolveOptions(gap=0.5))
    assert len(searched) == 1
    assert easy.status == "optimal"
    assert "near it" in easy.termination.detail
    hard = solve(problem, SolveOptions(gap=1e-4))
    assert len(searched) == 3
    assert hard.status == "optimal"
    assert hard.objective <= easy.objective + 1e-9


@pytest.mark.usefixtures("every_model_is_large")
def test_no_plan_stays_no_plan(make_problem):
    clash = {"need": ([[1, 1]], ">=", 5.0), "most": ([[1, 1]], "<=", 4.0)}
    assert solve(make_problem([1, 1], clash, integer=True), EXACT).status == "infeasible"
    odd = {"odd": ([[2, 2]], "==", 5.0)}
    assert solve(make_problem([1, 1], odd, 0.0, 3.0, integer=True), EXACT).status == "infeasible"
    assert (
        solve_ratio(
            make_problem([1, 1], odd, 0.0, 3.0, integer=True), np.ones(2), np.array([1, 1.1]), EXACT
        ).status
        == "infeasible"
    )


def test_time_that_is_over_gives_no_first_plan():
    problem = rental_fleet()
    relaxed = solve(problem, SolveOptions(relax=True)).values
    assert first_plan.first_plan(problem.arrays(), relaxed, problem.recourse(), EXACT, 0.0) is None


@pytest.mark.usefixtures("every_model_is_large")
def test_ctrl_c_before_any_plan_ends_the_solve_without_one(hard_knapsack, monkeypatch):
    def interrupted(*given):
        raise Interrupted(None)

    monkeypatch.setattr(large, "first_plan", interrupted)
    found = solve(hard_knapsack, SolveOptions(gap=0.0))
    assert (found.status, found.termination.stop) == ("no_solution", "interrupt")
    tokens = np.linspace(1, 2, len(hard_knapsack.cost))
    ratio = solve_ratio(hard_knapsack, hard_knapsack.cost, tokens, EXACT, denominator_offset=50.0)
    assert (ratio.status, ratio.termination.stop) == ("no_solution", "interrupt")


@pytest.mark.usefixtures("every_model_is_large")
def test_ctrl_c_keeps_a_plan_that_was_whole_already(hard_knapsack, monkeypatch):
    """With everything recourse the interrupted run is the last stage, whose plans are whole."""
    arrays = hard_knapsack.arrays()
    everything = np.ones(len(arrays.cost), bool)
    relaxed = HighsSession(arrays, SolveOptions(relax=True)).run(Limits()).values
    options = SolveOptions(gap=0.0, progress=lambda state: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(Interrupted) as raised:
        first_plan.first_plan(arrays, relaxed, everything, options, 30.0)
    assert arrays.violation_at(raised.value.plan) < 1e-6
    monkeypatch.setattr(type(hard_knapsack), "recourse", lambda problem: everything)
    found = solve(hard_knapsack, options)
    assert found.status == "feasible"
    assert found.termination.stop == "interrupt"
    assert found.termination.bound < found.objective < 0
