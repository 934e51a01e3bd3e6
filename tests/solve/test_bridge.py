import time

import numpy as np
import pytest

import planner.solve.bridge as bridge
from planner.errors import InputError, SolverFailed
from planner.solve import SolveOptions, available_solvers, elastic, solve, solve_fixed, solve_ratio

EXTERNAL = [name for name in ("cbc", "scip") if name in available_solvers()]
needs_cbc = pytest.mark.skipif("cbc" not in EXTERNAL, reason="cbc is not installed")


def exact(solver):
    return SolveOptions(gap=0.0, solver=solver)


@pytest.mark.parametrize("solver", EXTERNAL)
@pytest.mark.parametrize("seed", range(3))
def test_another_solver_finds_the_same_cost(make_covering, solver, seed):
    problem, plans = make_covering(seed)
    problem.set_cost(problem.cost, 5.0)
    found = solve(problem, exact(solver))
    assert found.status == "optimal"
    assert found.objective == pytest.approx((plans @ problem.cost).min() + 5.0, rel=1e-6)
    assert "as claimed" in found.termination.detail
    fixed = solve_fixed(problem, found)
    assert fixed.objective == pytest.approx(found.objective, rel=1e-6)


@needs_cbc
def test_an_lp_comes_back_with_duals(make_covering):
    problem, _ = make_covering(0)
    ours = solve(problem, SolveOptions(gap=0.0, relax=True))
    theirs = solve(problem, SolveOptions(gap=0.0, relax=True, solver="cbc"))
    need = problem.arrays().row_lower
    assert theirs.objective == pytest.approx(ours.objective, rel=1e-6)
    assert theirs.row_duals @ need == pytest.approx(ours.row_duals @ need, rel=1e-5)


@needs_cbc
def test_infeasible_is_infeasible_and_has_no_numbers(make_problem):
    problem = make_problem(
        [1, 1], {"need": ([[1, 1]], ">=", 5.0), "most": (np.eye(2), "<=", 2.0)}, integer=True
    )
    found = solve(problem, exact("cbc"))
    assert found.status == "infeasible"
    assert np.isnan(found.values).all()


@needs_cbc
def test_a_stop_at_the_time_limit_is_not_called_optimal(hard_knapsack):
    found = solve(hard_knapsack, SolveOptions(gap=0.0, solver="cbc", time_limit_s=1.0))
    assert found.status == "feasible"
    assert found.termination.bound == -np.inf
    assert found.termination.gap == np.inf


@needs_cbc
def test_a_ratio_and_a_smallest_relief_can_be_found_by_another_solver(make_covering, make_problem):
    problem, plans = make_covering(1)
    tokens = np.linspace(1.0, 3.0, 6)
    found = solve_ratio(problem, problem.cost, tokens, exact("cbc"))
    assert found.objective == pytest.approx(((plans @ problem.cost) / (plans @ tokens)).min(), rel=1e-6)
    clash = make_problem([1.0], {"need": ([[1.0]], ">=", 5.0), "most": ([[1.0]], "<=", 2.0)}, integer=True)
    assert elastic(clash, {"most": 1.0}, exact("cbc"))["shortfall"].tolist() == pytest.approx([3.0])


@needs_cbc
def test_a_solver_that_overruns_is_killed(hard_knapsack, monkeypatch):
    monkeypatch.setattr(bridge, "KILL_GRACE_S", -98.5)
    began = time.perf_counter()
    found = solve(hard_knapsack, SolveOptions(gap=0.0, solver="cbc", time_limit_s=100.0))
    assert time.perf_counter() - began < 60  # of 100: a busy machine starts the worker late
    assert found.status == "no_solution"
    assert found.termination.stop == "time_limit"


@needs_cbc
def test_a_plan_that_breaks_a_limit_is_not_accepted(make_problem, monkeypatch):
    wrong = {"outcome": "optimal", "words": "Optimal", "values": np.array([1.0]), "row_duals": None}
    monkeypatch.setattr(bridge, "_in_worker", lambda request, seconds: wrong)
    problem = make_problem([1.0], {"need": ([[1.0]], ">=", 5.0)})
    with pytest.raises(SolverFailed, match=r"breaks a limit by 0\.8"):
        solve(problem, exact("cbc"))


def test_a_worker_that_breaks_down_is_a_solver_failure(make_problem, monkeypatch):
    monkeypatch.setattr(bridge, "pulp_solver_name", lambda name: "NO_SUCH_SOLVER")
    with pytest.raises(SolverFailed, match="NO_SUCH_SOLVER does not exist"):
        solve(make_problem([1.0], {"need": ([[1.0]], ">=", 5.0)}), exact("none"))


@pytest.mark.parametrize(
    ("name", "words"), [("gurobi", "is not installed"), ("no-such", "is not a solver the planner knows")]
)
def test_a_solver_that_is_not_there_is_an_input_error_naming_those_that_are(name, words):
    if name in available_solvers():
        pytest.skip(f"{name} is installed")
    with pytest.raises(InputError, match=words) as raised:
        bridge.pulp_solver_name(name)
    assert "available here: highs" in str(raised.value)


@needs_cbc
def test_pulps_own_names_are_accepted_too():
    assert bridge.pulp_solver_name("PULP_CBC_CMD") == "PULP_CBC_CMD"
