import numpy as np
import pytest
from scipy.optimize import linprog

from planner.errors import InputError
from planner.solve import Ratio, SolveOptions, monitor, solve, solve_ratio, solve_ratio_fixed
from planner.solve.highs import HighsSession

EXACT = SolveOptions(gap=0.0)


def fleet(make_problem, whole=True):
    """One machine costs 10 and serves at most 6; a request of kind 1, 2, 3 costs 1, 2, 5 and makes 1 token.

    At least 2 requests of the first kind are must-serve, the other kinds (4 and 3 at most) are optional.
    """
    rows = {"capacity": ([[-6, 1, 1, 1]], "<=", 0.0), "must_serve": ([[0, 1, 0, 0]], ">=", 2.0)}
    upper = [3.0, 4.0, 4.0, 3.0]
    problem = make_problem([10.0, 1.0, 2.0, 5.0], rows, 0.0, upper, [whole, False, False, False])
    return problem, np.array([0.0, 1.0, 1.0, 1.0])


def test_optional_demand_is_served_while_it_lowers_the_unit_cost(make_problem):
    """By hand: one machine full, 4 of kind 1 and 2 of kind 2: (10 + 4 + 4) / 6 = 3. A second machine for the
    rest: 4 + 4 + 3 = 11 tokens for 20 + 4 + 8 + 15 = 47, 4.27; for 8 tokens 32 / 8 = 4. So 3.
    """
    problem, tokens = fleet(make_problem)
    found = solve_ratio(problem, problem.cost, tokens, EXACT)
    assert found.objective == pytest.approx(3.0)
    assert found.values.tolist() == pytest.approx([1, 4, 2, 0])
    assert found.status == "optimal"
    assert found.termination.bound == pytest.approx(3.0, rel=1e-6)
    assert problem.var("x", 2).value() == pytest.approx(2.0)


def test_the_relaxation_of_a_ratio_is_below_it(make_problem):
    """A request costs 10/6 of a machine plus its own 1, 2 or 5: only kind 1 is served, 10/6 + 1."""
    problem, tokens = fleet(make_problem)
    relaxed = solve_ratio(problem, problem.cost, tokens, SolveOptions(gap=0.0, relax=True))
    assert relaxed.objective == pytest.approx(10 / 6 + 1)
    assert relaxed.termination.bound == pytest.approx(10 / 6 + 1)


def test_constants_belong_to_numerator_and_denominator(make_problem):
    """With 6 of cost sunk and 3 tokens made elsewhere one full machine gives (18 + 6) / (6 + 3)."""
    problem, tokens = fleet(make_problem)
    found = solve_ratio(problem, problem.cost, tokens, EXACT, numerator_offset=6.0, denominator_offset=3.0)
    assert found.objective == pytest.approx(24 / 9)


def test_an_lp_ratio_is_that_of_the_charnes_cooper_transformation(make_problem):
    """With s = 1 / D and y = x s the ratio is the LP: min N y + n s, A y >= b s, y <= u s, D y + d s = 1."""
    generator = np.random.default_rng(8)
    matrix, need = generator.uniform(0.1, 2.0, (4, 7)), generator.uniform(1.0, 4.0, 4)
    cost, tokens = generator.uniform(1.0, 6.0, 7), generator.uniform(0.0, 3.0, 7)
    problem = make_problem(cost, {"cover": (matrix, ">=", need)}, 0.0, 5.0)
    found = solve_ratio(problem, cost, tokens, EXACT, numerator_offset=20.0, denominator_offset=1.5)
    transformed = linprog(
        np.append(cost, 20.0),
        A_ub=np.block([[-matrix, need[:, None]], [np.eye(7), np.full((7, 1), -5.0)]]),
        b_ub=np.zeros(11),
        A_eq=np.append(tokens, 1.5)[None, :],
        b_eq=[1.0],
    )
    assert found.objective == pytest.approx(transformed.fun, rel=1e-8)
    assert found.termination.bound == pytest.approx(transformed.fun, rel=1e-8)
    assert found.status == "optimal"


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("gap", [0.0, 0.01, 0.2])
def test_the_certified_bound_never_passes_the_least_ratio_of_all_plans(make_covering, seed, gap):
    problem, plans = make_covering(seed)
    generator = np.random.default_rng(100 + seed)
    tokens = generator.uniform(0.0, 5.0, len(problem.cost))
    ratios = (plans @ problem.cost + 4.0) / (plans @ tokens + 0.5)
    found = solve_ratio(
        problem, problem.cost, tokens, SolveOptions(gap=gap), numerator_offset=4.0, denominator_offset=0.5
    )
    least = ratios.min()
    assert found.status == "optimal"
    assert found.termination.bound <= least * (1 + 1e-9)
    assert least * (1 - 1e-9) <= found.objective <= least / (1 - gap) * (1 + 1e-6)
    assert found.objective * (1 - max(gap, 1e-6)) <= found.termination.bound * (1 + 1e-9)
    assert found.objective == pytest.approx(
        (problem.cost @ found.values + 4.0) / (tokens @ found.values + 0.5), rel=1e-9
    )


def test_bounds_hold_where_a_plan_with_a_tiny_denominator_exists(make_covering):
    """The least denominator is far below that of the best plan, where ``b / D_low`` alone proves nothing."""
    problem, plans = make_covering(6)
    tokens = np.array([0.001, 0.0, 0.0, 0.0, 4.0, 0.0])
    ratios = (plans @ problem.cost) / (plans @ tokens + 0.01)
    found = solve_ratio(problem, problem.cost, tokens, SolveOptions(gap=0.02), denominator_offset=0.01)
    assert (plans @ tokens).min() < 0.01 * tokens @ found.values
    assert found.status == "optimal"
    assert found.termination.bound <= ratios.min() <= found.objective * (1 + 1e-9)
    assert found.objective <= ratios.min() / 0.98


def test_a_negative_ratio_is_certified_too(make_covering):
    problem, plans = make_covering(7)
    tokens = np.linspace(1.0, 2.0, 6)
    worth = problem.cost - 12.0
    ratios = (plans @ worth) / (plans @ tokens)
    for gap in (0.0, 0.05):
        found = solve_ratio(problem, worth, tokens, SolveOptions(gap=gap))
        assert found.status == "optimal"
        assert found.termination.bound <= ratios.min() + 1e-9
        assert ratios.min() - 1e-9 <= found.objective <= ratios.min() * (1 - gap) / 1 + 1e-9


@pytest.fixture
def milp_runs(monkeypatch):
    """Record for every run of the solver whether it was a MILP."""
    runs = []
    run = HighsSession.run

    def counted(session, *arguments, **named):
        runs.append(session.is_milp)
        return run(session, *arguments, **named)

    monkeypatch.setattr(HighsSession, "run", counted)
    return runs


@pytest.mark.parametrize("gap", [0.0, 0.01])
def test_where_every_plan_makes_the_same_tokens_one_milp_is_enough(make_problem, milp_runs, gap):
    rows = {"serve": ([[0, 1, 1]], "==", 7.0), "capacity": ([[-3, 1, 0]], "<=", 0.0)}
    problem = make_problem([4.0, 0.0, 3.0], rows, 0.0, [5.0, np.inf, np.inf], [True, False, False])
    found = solve_ratio(problem, problem.cost, np.array([0.0, 2.0, 2.0]), SolveOptions(gap=gap))
    assert milp_runs.count(True) == 1
    assert found.objective == pytest.approx(solve(problem, EXACT).objective / 14)
    assert found.termination.bound == pytest.approx(found.objective, rel=max(gap, 1e-6))


def test_a_solved_relaxation_saves_its_lps(make_problem, milp_runs):
    problem, tokens = fleet(make_problem)
    relaxed = solve_ratio(problem, problem.cost, tokens, SolveOptions(gap=0.0, relax=True))
    lps = milp_runs.count(False)
    assert relaxed.denominator_range[0] == pytest.approx(2.0, rel=1e-6)
    found = solve_ratio(problem, problem.cost, tokens, EXACT, relaxation=relaxed)
    assert found.objective == pytest.approx(3.0)
    assert milp_runs.count(False) == lps + 1


def test_a_known_range_of_the_denominator_saves_the_lps_that_find_it(make_problem, milp_runs):
    problem, tokens = fleet(make_problem)
    found = solve_ratio(problem, problem.cost, tokens, EXACT)
    searched = milp_runs.count(False)
    known = solve_ratio(problem, problem.cost, tokens, EXACT, denominator_range=(1.5, 12.0))
    assert milp_runs.count(False) - searched == searched - 2
    assert known.objective == pytest.approx(found.objective)
    assert known.termination.bound == pytest.approx(3.0, rel=1e-6)
    open_below = solve_ratio(problem, problem.cost, tokens, EXACT, denominator_range=(0.0, 12.0))
    assert open_below.objective == pytest.approx(3.0)


def test_a_good_start_is_used_and_one_that_breaks_a_limit_is_not(make_problem):
    problem, tokens = fleet(make_problem)
    good = solve_ratio(problem, problem.cost, tokens, EXACT, start=np.array([1.0, 4.0, 2.0, 0.0]))
    assert good.objective == pytest.approx(3.0)
    bad = solve_ratio(problem, problem.cost, tokens, EXACT, start=np.array([0.0, 4.0, 2.0, 0.0]))
    assert bad.objective == pytest.approx(3.0)
    partial = solve_ratio(problem, problem.cost, tokens, EXACT, start=np.array([1.0, np.nan, 2.0, 0.0]))
    assert partial.objective == pytest.approx(3.0)


def test_a_ratio_that_may_be_zero_over_zero_is_refused_in_business_words(make_problem):
    problem = make_problem([1.0, 2.0], {"most": ([[1, 1]], "<=", 4.0)})
    with pytest.raises(InputError, match="must-serve share"):
        solve_ratio(problem, problem.cost, np.array([1.0, 1.0]), EXACT)


@pytest.mark.parametrize("whole", [False, True])
def test_a_model_without_a_plan_is_infeasible_for_a_ratio_too(make_problem, whole):
    rows = {"need": ([[2, 2]], ">=", 5.0), "most": ([[2, 2]], "<=", 4.0)}
    problem = make_problem([1.0, 2.0], rows, integer=whole)
    found = solve_ratio(problem, problem.cost, np.array([1.0, 1.0]), EXACT)
    assert found.status == "infeasible"
    assert np.isnan(found.values).all()


def test_no_whole_plan_inside_a_relaxation_that_has_one_is_infeasible(make_problem):
    problem = make_problem([1.0, 2.0], {"odd": ([[2, 2]], "==", 5.0)}, integer=True)
    assert solve_ratio(problem, problem.cost, np.array([1.0, 1.1]), EXACT).status == "infeasible"


def test_the_time_limit_counts_over_all_steps_and_keeps_plan_and_bound(hard_knapsack):
    tokens = np.linspace(1.0, 2.0, len(hard_knapsack.cost))
    # A busy machine may need longer for a first plan; a longer limit could prove the best one.
    for seconds in (0.3, 1.0, 3.0):
        options = SolveOptions(gap=0.0, time_limit_s=seconds)
        found = solve_ratio(hard_knapsack, hard_knapsack.cost, tokens, options, denominator_offset=50.0)
        if found.termination.has_values:
            break
    assert found.status == "feasible"
    assert found.termination.stop == "time_limit"
    assert found.termination.bound < found.objective < 0
    assert found.termination.seconds < 30
    assert found.objective == pytest.approx(
        (hard_knapsack.cost @ found.values) / (tokens @ found.values + 50.0), rel=1e-9
    )


def test_progress_of_a_ratio_is_told_in_units_of_the_ratio(hard_knapsack, monkeypatch):
    # On a quick machine the steps end within the half second between two reports.
    monkeypatch.setattr(monitor, "SECONDS_BETWEEN_REPORTS", 0.0)
    told = []
    tokens = np.linspace(1.0, 2.0, len(hard_knapsack.cost))
    options = SolveOptions(gap=0.0, time_limit_s=2.0, progress=told.append)
    found = solve_ratio(hard_knapsack, hard_knapsack.cost, tokens, options, denominator_offset=50.0)
    assert told
    assert told[-1].step.startswith("ratio step")
    assert told[-1].bound <= found.termination.bound + 1e-9
    assert told[-1].bound == pytest.approx(found.termination.bound, rel=0.2)


def test_held_whole_numbers_give_the_duals_of_the_ratio(make_problem):
    """At one machine and 4 + 2 served the ratio is 3; one more unit of capacity serves kind 2 at a cost of 2,
    and a token is worth 3 at that level: it saves 1. The ratio (18 + 2e) / (6 + e) has the slope (2 - 3) / 6.
    """
    problem, tokens = fleet(make_problem)
    ratio = Ratio(problem.cost, tokens)
    found = solve_ratio(problem, problem.cost, tokens, EXACT)
    fixed = solve_ratio_fixed(problem, found, ratio, EXACT)
    assert fixed.objective == pytest.approx(3.0, rel=1e-9)
    assert fixed.status == "optimal"
    assert fixed.row_duals.tolist() == pytest.approx([-1.0, 0.0])
    more = make_problem(
        problem.cost,
        {"capacity": ([[-6, 1, 1, 1]], "<=", 0.01), "must_serve": ([[0, 1, 0, 0]], ">=", 2.0)},
        [1.0, 0, 0, 0],
        [1.0, 4.0, 4.0, 3.0],
    )
    moved = solve_ratio(more, problem.cost, tokens, EXACT).objective
    assert (moved - 3.0) / 0.01 == pytest.approx(-1.0 / 6, rel=0.01)
