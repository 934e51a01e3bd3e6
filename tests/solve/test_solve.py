from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from planner.errors import InputError, SolverFailed
from planner.solve import SolveOptions, solve, solve_fixed
from planner.solve.core import run_fixed
from planner.solve.highs import HighsSession, Limits, cost_scale
from planner.solve.mps import read_mps

EXACT = SolveOptions(gap=0.0)
GPU_MIX = Path(__file__).parents[3] / "shared" / "cases" / "gpu-mix" / "solver_check_c50_slice32.mps"


@pytest.mark.skipif(not GPU_MIX.exists(), reason="the case collection is not beside the project")
@pytest.mark.parametrize("gap", [0.0, 0.005])
def test_the_model_on_which_a_solver_reported_12_25_as_optimal_is_solved_to_11_94(gap):
    problem = read_mps(GPU_MIX)
    found = solve(problem, SolveOptions(gap=gap))
    assert found.status == "optimal"
    assert found.objective == pytest.approx(11.94, rel=1e-9)
    assert solve_fixed(problem, found).objective == pytest.approx(11.94, rel=1e-9)


def test_a_model_file_with_every_kind_of_row_and_bound_is_read(tmp_path):
    """Minimise 3x + 2y - z + 4: x + y >= 3.5, 1 <= y - z <= 2, x + z == 2, x whole to 5, y free, z <= 1.5.

    z = 2 - x <= 1.5 and x whole give x >= 1; y >= 3.5 - x and 1 + z <= y <= 2 + z. x = 1: z = 1, y from 2.5
    to 3, so y = 2.5: 3 + 5 - 1 + 4 = 11. x = 2: z = 0, y = 1.5: 6 + 3 + 4 = 13. So 11.
    """
    text = """NAME small
ROWS
 N COST
 G COVER
 G BAND
 E SUM
COLUMNS
 M1 'MARKER' 'INTORG'
 X COST 3 COVER 1
 X SUM 1
 M2 'MARKER' 'INTEND'
 Y COST 2 COVER 1
 Y BAND 1
 Z COST -1 BAND -1
 Z SUM 1
RHS
 RHS COST -4 COVER 3.5
 RHS BAND 1 SUM 2
RANGES
 RNG BAND 1
BOUNDS
 UP BND X 5
 FR BND Y
 UP BND Z 1.5
ENDATA
"""
    path = tmp_path / "small.mps"
    path.write_text(text)
    problem = read_mps(path)
    found = solve(problem, EXACT)
    assert found.objective == pytest.approx(11.0)
    assert [problem.var("x", name).value() for name in "XYZ"] == pytest.approx([1, 2.5, 1])
    assert {block.family: len(block) for block in problem.rows} == {"equal": 1, "at_most": 1, "at_least": 2}


def test_a_missing_model_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="not a readable MPS"):
        read_mps(tmp_path / "none.mps")


@pytest.mark.parametrize("seed", range(8))
def test_the_milp_optimum_is_that_of_all_plans_enumerated(make_covering, seed):
    problem, plans = make_covering(seed)
    best = (plans @ problem.cost).min()
    exact = solve(problem, EXACT)
    assert exact.objective == pytest.approx(best, rel=1e-9)
    assert exact.termination.bound == pytest.approx(best, rel=1e-6)
    rough = solve(problem, SolveOptions(gap=0.1))
    assert rough.status == "optimal"
    assert rough.termination.bound <= best + 1e-9
    assert best - 1e-9 <= rough.objective <= best / (1 - 0.1) + 1e-9


def test_a_stop_at_the_time_limit_keeps_the_plan_and_is_not_called_optimal(hard_knapsack):
    found = solve(hard_knapsack, SolveOptions(gap=0.0, time_limit_s=2.0))
    assert found.status == "feasible"
    assert found.termination.stop == "time_limit"
    assert found.termination.gap > 1e-3
    assert found.termination.bound < found.objective < 0
    assert found.termination.gap == pytest.approx(
        (found.objective - found.termination.bound) / -found.objective, rel=1e-9
    )
    assert hard_knapsack.arrays().violation_at(found.values) < 1e-6
    assert found.termination.seconds < 3


def test_a_limit_of_nodes_ends_every_search_at_the_same_place(hard_knapsack):
    once, again = (solve(hard_knapsack, SolveOptions(gap=0.0, node_limit=20)) for _ in range(2))
    assert once.status == "feasible"
    assert once.termination.stop == "other"
    assert once.values.tolist() == again.values.tolist()
    assert once.termination.bound == again.termination.bound


def test_a_plan_within_the_requested_gap_is_optimal_although_the_search_could_go_on(hard_knapsack):
    found = solve(hard_knapsack, SolveOptions(gap=0.2, time_limit_s=20))
    assert found.status == "optimal"
    assert 1e-3 < found.termination.gap <= 0.2


def test_a_limit_before_any_plan_gives_no_solution_and_no_numbers(make_problem):
    """A market split: equality rows that a MILP search satisfies only after long enumeration."""
    generator = np.random.default_rng(1)
    matrix = generator.integers(0, 100, (5, 40)).astype(float)
    problem = make_problem(np.ones(40), {"split": (matrix, "==", matrix.sum(axis=1) // 2)}, 0.0, 1.0, True)
    found = solve(problem, SolveOptions(time_limit_s=0.2))
    assert found.status == "no_solution"
    assert np.isnan(found.values).all()
    assert np.isnan(found.objective)
    assert problem.var("x", 0).varValue is None


def test_a_model_without_a_plan_is_infeasible_and_has_no_numbers(make_problem):
    rows = {"need": ([[1, 1]], ">=", 5.0), "most": (np.eye(2), "<=", 2.0)}
    for integer in (False, True):
        found = solve(make_problem([1, 1], rows, integer=integer), EXACT)
        assert found.status == "infeasible"
        assert np.isnan(found.values).all()


@pytest.mark.parametrize("integer", [False, True])
def test_a_model_without_a_limit_on_gain_is_called_unbounded(make_problem, integer):
    problem = make_problem(
        [-1, 1], {"balance": ([[1, -1]], "<=", 2.5), "need": ([[0, 1]], ">=", 1.0)}, integer=integer
    )
    problem.set_cost(np.array([-2.0, 1.0]))
    with pytest.raises(SolverFailed, match="unbounded"):
        solve(problem, EXACT)


def test_a_free_ride_without_any_row_is_called_unbounded(make_problem):
    with pytest.raises(SolverFailed, match="unbounded"):
        solve(make_problem([-1.0], {"need": ([[1.0]], ">=", 0.0)}), EXACT)


def test_a_column_in_no_row_stands_at_its_cheaper_bound(make_problem):
    found = solve(
        make_problem([2.0, -1.0, 1.0], {"need": ([[0, 0, 1]], ">=", 3)}, -1.0, 4.0, offset=10.0), EXACT
    )
    assert found.values.tolist() == [-1.0, 4.0, 3.0]
    assert found.objective == -2 - 4 + 3 + 10


def test_duals_of_an_lp_are_the_change_of_the_optimum_per_unit_of_right_hand_side(make_problem):
    generator = np.random.default_rng(4)
    matrix, cost = generator.uniform(0.2, 3.0, (5, 8)), generator.uniform(1.0, 5.0, 8)
    cap, need = generator.uniform(1.0, 2.0, (2, 8)), generator.uniform(4.0, 9.0, 5)

    def solved(demand, limit):
        rows = {"cover": (matrix, ">=", demand), "cap": (cap, "<=", limit)}
        return solve(make_problem(cost, rows), EXACT)

    limit = 0.99 * cap @ solved(need, np.full(2, 1e6)).values
    base = solved(need, limit)
    step = 1e-4
    for row in range(7):
        change = np.zeros(7)
        change[row] = step
        up = solved(need + change[:5], limit + change[5:]).objective
        down = solved(need - change[:5], limit - change[5:]).objective
        assert base.row_duals[row] == pytest.approx((up - down) / (2 * step), abs=1e-6)
    assert (np.abs(base.row_duals[5:]) > 1e-3).any()
    assert (base.row_duals[:5] >= 0).all()
    assert (base.row_duals[5:] <= 0).all()
    activity = np.concatenate([need, limit])
    assert base.row_duals @ activity == pytest.approx(base.objective)


def test_a_milp_has_no_duals_until_its_whole_numbers_are_held(make_problem):
    """One machine of capacity 10 costs 100; work costs 3 inside, 8 outside. For a need of 14: one machine,
    10 inside, 4 outside, 100 + 30 + 32 = 162 (none: 112; two: 242), so none is best at 112; at a need of 25
    two machines cost 200 + 60 + 40 = 300, three 375, one 100 + 30 + 120 = 250, none 200. Held at one machine,
    another unit of work is done outside: 8; another unit of capacity saves 8 - 3 = 5.
    """
    rows = {"need": ([[0, 1, 1]], "==", 25.0), "capacity": ([[-10, 1, 0]], "<=", 0.0)}
    problem = make_problem([100.0, 3.0, 8.0], rows, 0.0, [5.0, np.inf, np.inf], [True, False, False])
    found = solve(problem, EXACT)
    assert found.objective == pytest.approx(200.0)
    assert found.row_duals is None
    held = replace(found, values=np.array([1.0, 10.0, 15.0]))
    fixed = solve_fixed(problem, held, EXACT)
    assert fixed.objective == pytest.approx(250.0)
    assert fixed.row_duals.tolist() == pytest.approx([8.0, -5.0])
    assert fixed.status == "feasible"
    assert fixed.termination.gap == pytest.approx(50 / 250)


def test_whole_numbers_a_hair_off_are_rounded_and_the_rest_recomputed(make_problem):
    problem = make_problem([5.0, 1.0], {"need": ([[4, 1]], ">=", 9.5)}, 0.0, [9.0, np.inf], [True, False])
    found = solve(problem, EXACT)
    hair = replace(found, values=found.values + np.array([1e-7, -4e-7]))
    fixed = solve_fixed(problem, hair, EXACT)
    assert fixed.values.tolist() == [0.0, 9.5]
    assert fixed.objective == pytest.approx(9.5, rel=1e-12)
    assert fixed.status == "optimal"


def test_whole_numbers_that_rounding_would_break_are_held_as_found_and_it_is_said(make_problem):
    """x = 2.99997 fills exactly 2.99997; rounded to 3 it is over by 3e-5, more than any tolerance."""
    problem = make_problem([-1.0], {"most": ([[1.0]], "<=", 2.99997)}, 0.0, 9.0, True)
    found = replace(solve(problem, EXACT), values=np.array([2.99997]))
    fixed = solve_fixed(problem, found, EXACT)
    assert fixed.values[0] == pytest.approx(2.99997)
    assert "whole numbers hold to solver tolerance only" in fixed.termination.detail


def test_nothing_can_be_held_without_a_plan(make_problem):
    problem = make_problem([1.0], {"need": ([[1.0]], ">=", 5.0), "most": ([[1.0]], "<=", 1.0)}, integer=True)
    found = solve(problem, EXACT)
    with pytest.raises(SolverFailed, match="no plan"):
        run_fixed(problem.arrays(), found, EXACT, lambda session, limits: session.run(limits))


def test_the_relaxation_is_below_the_milp_and_has_duals(make_covering):
    problem, _ = make_covering(1)
    arrays = problem.arrays()
    relaxed = solve(problem, SolveOptions(gap=0.0, relax=True))
    reference = linprog(arrays.cost, A_ub=-arrays.matrix, b_ub=-arrays.row_lower, bounds=(0, 3))
    assert relaxed.objective == pytest.approx(reference.fun, rel=1e-9)
    assert relaxed.objective < solve(problem, EXACT).objective
    assert relaxed.row_duals is not None


def test_new_costs_in_a_kept_solver_give_what_a_fresh_one_gives(make_covering):
    problem, plans = make_covering(2)
    session = HighsSession(problem.arrays(), EXACT)
    generator = np.random.default_rng(0)
    first = session.run()
    for _ in range(4):
        cost = problem.cost * generator.uniform(0.2, 3.0, len(problem.cost))
        session.set_cost(cost, 7.0)
        again = session.run(start=first.values)
        assert again.objective == pytest.approx((plans @ cost).min() + 7.0, rel=1e-9)


def test_a_search_begins_from_the_start_it_is_given(hard_knapsack):
    good = solve(hard_knapsack, SolveOptions(gap=0.0, time_limit_s=1.0))
    brief = Limits(seconds=0.02)
    alone = HighsSession(hard_knapsack.arrays(), EXACT).run(brief)
    assert not alone.objective <= good.objective
    begun = HighsSession(hard_knapsack.arrays(), EXACT).run(brief, start=good.values)
    assert begun.objective <= good.objective + 1e-9


def test_a_start_that_knows_some_columns_is_completed(hard_knapsack):
    good = solve(hard_knapsack, SolveOptions(gap=0.0, time_limit_s=2.0))
    partial = np.where(np.arange(len(good.values)) < 140, good.values, np.nan)
    begun = HighsSession(hard_knapsack.arrays(), EXACT).run(Limits(seconds=0.2), start=partial)
    known = hard_knapsack.cost[:140] @ good.values[:140]
    assert begun.objective <= known + 1e-9


@pytest.mark.parametrize("factor", [1e-9, 1e-4, 1.0, 1e7, 1e12])
def test_the_unit_of_money_does_not_change_the_plan_the_bound_or_the_duals(make_covering, factor):
    problem, plans = make_covering(5)
    best = (plans @ problem.cost).min()
    problem.set_cost(problem.cost * factor, 3.0 * factor)
    found = solve(problem, EXACT)
    assert found.objective == pytest.approx((best + 3.0) * factor, rel=1e-9)
    assert found.termination.bound == pytest.approx((best + 3.0) * factor, rel=1e-6)
    relaxed = solve(problem, replace(EXACT, relax=True))
    dual_objective = (
        relaxed.row_duals @ problem.arrays().row_lower + np.minimum(relaxed.reduced_costs, 0).sum() * 3
    )
    assert dual_objective == pytest.approx(relaxed.objective - 3.0 * factor, rel=1e-6)


def test_costs_are_scaled_by_powers_of_two_into_the_range_of_the_tolerances():
    for greatest in (1e-9, 0.3, 1.0, 50.0, 1e5, 3e11):
        scale = cost_scale(np.array([0.0, -greatest, greatest / 7]))
        assert 0.7 <= greatest * scale <= 1.5e5
        assert np.log2(scale) == round(np.log2(scale))
    assert cost_scale(np.zeros(3)) == 1.0


def test_the_same_input_and_seed_give_the_same_plan(hard_knapsack):
    options = SolveOptions(gap=0.15, seed=7)
    first, second = solve(hard_knapsack, options), solve(hard_knapsack, options)
    assert first.values.tolist() == second.values.tolist()
    assert first.termination.bound == second.termination.bound


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"gap": -0.1}, "gap"),
        ({"gap": float("nan")}, "gap"),
        ({"time_limit_s": 0}, "time_limit_s"),
        ({"threads": 0}, "threads"),
        ({"seed": -1}, "seed"),
    ],
)
def test_an_impossible_option_is_an_input_error(arguments, word):
    with pytest.raises(InputError, match=f"column {word}"):
        SolveOptions(**arguments)


def test_a_start_never_makes_the_solver_return_it_as_the_optimum(make_covering):
    """HiGHS 1.16.0 returns the start and a wrong bound on some of these models; our adapter must not."""
    for seed in range(120):
        problem, plans = make_covering(seed, count=5)
        generator = np.random.default_rng(seed)
        cost = generator.uniform(-3.0, 9.0, 5)
        session = HighsSession(problem.arrays(), EXACT)
        session.set_cost(cost)
        found = session.run(start=plans[generator.integers(len(plans))])
        assert found.objective == pytest.approx((plans @ cost).min(), abs=1e-6)
        assert found.termination.bound == pytest.approx(found.objective, abs=1e-6)
