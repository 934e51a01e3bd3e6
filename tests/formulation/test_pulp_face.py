import pickle
import re

import numpy as np
import pandas as pd
import pulp
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from planner.errors import InputError
from planner.formulation.blocks import ColumnBlock, RowBlock
from planner.formulation.pulp_face import PlanProblem
from planner.formulation.pulp_objects import check_pulp_version, row_duals
from planner.solve import SolveOptions, solve, solve_fixed

SITES = ["A", "B", "C"]
PERIODS = ["Q1", "Q2", "Q3", "Q4"]
POWER_MW = {"A": 4.0, "B": 6.0, "C": 9.0}
OPEN_COST = {"A": 10.0, "B": 13.0, "C": 17.5}
SERVE_COST = {"A": 1.0, "B": 0.5, "C": 0.75}
DEMAND = {"Q1": 3.0, "Q2": 5.0, "Q3": 7.5, "Q4": 9.25}
OPTIONS = SolveOptions(gap=0.0)


def sites_problem(whole=True):
    """Open sites (binary), serve demand from what is open."""
    places = pd.DataFrame({"site": SITES})
    pairs = places.merge(pd.DataFrame({"period": PERIODS}), how="cross")
    columns = [ColumnBlock("open", places, 0, 1, whole), ColumnBlock("serve", pairs)]
    cost = np.concatenate([places["site"].map(OPEN_COST), pairs["site"].map(SERVE_COST)])
    every = np.arange(12)
    demand = [(pairs["period"].map(PERIODS.index), 3 + every, 1.0)]
    site = pairs["site"].map(SITES.index)
    power = [(every, 3 + every, 1.0), (every, site, -pairs["site"].map(POWER_MW))]
    rows = [
        RowBlock.from_terms("demand", pd.DataFrame({"period": PERIODS}), ">=", list(DEMAND.values()), demand),
        RowBlock.from_terms("power", pairs, "<=", 0.0, power),
    ]
    return PlanProblem("sites", columns, rows, cost, offset=2.0)


def plain_pulp(whole=True):
    """The same model written as anyone would write it in PuLP."""
    problem = pulp.LpProblem("plain", pulp.LpMinimize)
    category = "Integer" if whole else "Continuous"
    opened = {s: problem.add_variable(f"open_{s}", 0, 1, category) for s in SITES}
    serve = {(s, t): problem.add_variable(f"serve_{s}_{t}", 0) for s in SITES for t in PERIODS}
    problem.setObjective(
        pulp.lpSum(OPEN_COST[s] * opened[s] for s in SITES)
        + pulp.lpSum(SERVE_COST[s] * serve[s, t] for s in SITES for t in PERIODS)
        + 2.0
    )
    for t in PERIODS:
        problem += pulp.lpSum(serve[s, t] for s in SITES) >= DEMAND[t]
    for s in SITES:
        for t in PERIODS:
            problem += serve[s, t] <= POWER_MW[s] * opened[s]
    return problem, opened, serve


def raw_optimum(problem):
    matrix, row_lower, row_upper, cost, lower, upper, integer = problem.arrays()
    found = milp(
        cost,
        constraints=LinearConstraint(matrix, row_lower, row_upper),
        bounds=Bounds(lower, upper),
        integrality=integer,
    )
    return found.fun + problem.offset


def pulp_optimum(problem):
    problem.solve(pulp.HiGHS(msg=False, gapRel=0))
    assert problem.sol_status == pulp.LpSolutionOptimal
    return pulp.value(problem.objective)


@pytest.mark.parametrize("whole", [True, False])
def test_raw_arrays_blocks_materialised_and_plain_pulp_have_one_optimum(whole):
    """By hand: the peak of 9.25 needs two sites.

    A and B, 23 to open: B serves 3 + 5 + 6 + 6 = 20 at 0.5, A the other 1.5 + 3.25 = 4.75 at 1, so with the
    constant 2 in all 23 + 10 + 4.75 + 2 = 39.75. B and C: 30.5 + 10 + 4.75 * 0.75 + 2 = 46.06. A and C:
    27.5 + 24.5 * 0.75 + 0.25 + 2 = 48.1.
    """
    problem = sites_problem(whole)
    blocks = solve(problem, OPTIONS).objective
    assert raw_optimum(problem) == pytest.approx(blocks, rel=1e-9)
    assert pulp_optimum(problem.materialize()) == pytest.approx(blocks, rel=1e-9)
    assert pulp_optimum(plain_pulp(whole)[0]) == pytest.approx(blocks, rel=1e-9)
    if whole:
        assert blocks == pytest.approx(39.75, rel=1e-9)


def test_a_custom_row_counts_the_same_in_every_layer():
    problem = sites_problem()
    problem += problem.var("serve", "B", "Q4") <= 0.5 * problem.var("serve", "A", "Q4") + 1.0, "share"
    plain, _, serve = plain_pulp()
    plain += serve["B", "Q4"] <= 0.5 * serve["A", "Q4"] + 1.0
    blocks = solve(problem, OPTIONS).objective
    assert blocks > 39.75 + 1e-6
    assert raw_optimum(problem) == pytest.approx(blocks, rel=1e-9)
    assert pulp_optimum(problem.materialize()) == pytest.approx(blocks, rel=1e-9)
    assert pulp_optimum(plain) == pytest.approx(blocks, rel=1e-9)


def test_custom_rows_of_each_sense_stand_after_the_families():
    problem = sites_problem()
    a, b = problem.var("open", "A"), problem.var("open", "B")
    problem += a + b <= 2
    problem += a - b >= -1
    problem += 2 * a + 1 == 2 * b + 1
    arrays = problem.arrays()
    assert arrays.matrix[-3:, :2].toarray().tolist() == [[1, 1], [1, -1], [2, -2]]
    assert arrays.row_lower[-3:].tolist() == [-np.inf, -1, 0]
    assert arrays.row_upper[-3:].tolist() == [2, np.inf, 0]
    assert len(arrays.row_lower) == 4 + 12 + 3
    assert problem.row_position("power") == slice(4, 16)


def test_a_variable_is_an_ordinary_pulp_variable_that_shows_the_last_solve():
    problem = sites_problem()
    before = problem.var("serve", "B", "Q3")
    assert isinstance(before, pulp.LpVariable)
    assert before.varValue is None
    solve(problem, OPTIONS)
    assert before.varValue == pytest.approx(6.0)
    assert problem.var("open", "B").value() == pytest.approx(1.0)
    assert pulp.value(before + 2 * problem.var("serve", "A", "Q3")) == pytest.approx(9.0)
    assert problem.var("serve", "B", "Q3") is before


def test_a_bound_changed_on_a_variable_counts_in_the_next_solve_and_its_materialised_form():
    problem = sites_problem()
    problem.var("open", "A").upBound = 0
    forbidden = solve(problem, OPTIONS)
    assert forbidden.values[0] == 0
    assert pulp_optimum(problem.materialize()) == pytest.approx(forbidden.objective, rel=1e-9)
    problem.var("open", "A").upBound = 1
    assert solve(problem, OPTIONS).objective == pytest.approx(39.75)


def test_pulp_solves_the_problem_itself_and_the_values_come_back():
    problem = sites_problem()
    assert problem.solve(pulp.HiGHS(msg=False, gapRel=0)) == pulp.LpStatusOptimal
    assert problem.sol_status == pulp.LpSolutionOptimal
    assert problem.frame("open")["value"].tolist() == pytest.approx([1, 1, 0])
    assert pulp.value(problem.objective) == pytest.approx(39.75)


def test_values_and_duals_come_back_with_their_labels():
    problem = sites_problem()
    fixed = solve_fixed(problem, solve(problem, OPTIONS), OPTIONS)
    serve = problem.frame("serve").set_index(["site", "period"])["value"]
    assert serve["A", "Q4"] == pytest.approx(3.25)
    duals = problem.row_frame("demand", fixed.row_duals).set_index("period")["value"]
    assert duals.to_dict() == pytest.approx({"Q1": 0.5, "Q2": 0.5, "Q3": 1.0, "Q4": 1.0})


def test_duals_of_a_pulp_solver_come_in_row_order():
    problem = sites_problem(whole=False)
    ours = solve(problem, OPTIONS)
    genuine = problem.materialize()
    genuine.solve(pulp.HiGHS(msg=False))
    assert (row_duals(genuine) @ problem.arrays().row_lower.clip(0)) == pytest.approx(
        ours.row_duals @ problem.arrays().row_lower.clip(0)
    )


def test_an_expression_replaces_the_objective():
    problem = sites_problem()
    problem += pulp.lpSum(problem.var("open", site) for site in SITES) + 5
    assert problem.cost.tolist() == [1.0] * 3 + [0.0] * 12
    assert solve(problem, OPTIONS).objective == pytest.approx(2 + 5)


def test_a_model_without_custom_rows_or_objective_still_is_one():
    problem = PlanProblem("plain", sites_problem().columns, sites_problem().rows)
    assert solve(problem, OPTIONS).objective == 0.0
    assert PlanProblem("bare", [], []).arrays().matrix.shape == (0, 0)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda p: p.var("open", "Z"), "no variable has the labels ('Z',); the levels are site"),
        (lambda p: p.var("serve", "A"), "the levels are site, period"),
        (lambda p: p.var("shut", "A"), "no such variable family"),
        (lambda p: p.row_position("none"), "no such constraint family; there are demand, power"),
        (lambda p: p.frame("open"), "no solution yet"),
        (lambda p: p.set_cost(np.zeros(3)), "costs of shape (3,) for 15 columns"),
        (lambda p: p.set_cost(np.full(15, np.nan)), "a cost is not finite"),
        (lambda p: p.__iadd__(sites_problem().var("open", "A") >= 1), "not from this problem"),
        (lambda p: p.__iadd__(pulp.lpSum([]) >= 4), "no variable in the row"),
    ],
)
def test_a_mistake_is_answered_with_what_there_is(action, words):
    with pytest.raises(InputError) as raised:
        action(sites_problem())
    assert words in str(raised.value)


def test_labels_that_two_variables_share_name_no_variable():
    columns = [ColumnBlock("x", pd.DataFrame({"site": ["A", "A"], "period": ["Q1", "Q1"]}))]
    with pytest.raises(InputError, match="several variables have"):
        PlanProblem("twice", columns, []).var("x", "A", "Q1")


def test_a_row_beyond_the_columns_is_refused_with_its_family():
    block = RowBlock.from_terms("power", pd.DataFrame({"site": ["A"]}), "<=", 1.0, [(0, 15, 1.0)])
    with pytest.raises(InputError, match="power: an entry is beyond the 15 columns"):
        PlanProblem("far", sites_problem().columns, [block])


def test_the_materialised_problem_is_pulps_own(tmp_path):
    genuine = sites_problem().materialize()
    assert type(genuine) is pulp.LpProblem
    assert genuine.numVariables() == 15
    assert genuine.numConstraints() == 16
    assert str(genuine.get_constraint_by_name("power_0")) == "-4.0*open_0 + serve_0 <= 0.0"
    sites_problem().writeLP(str(tmp_path / "model.lp"))
    sites_problem().writeMPS(str(tmp_path / "model.mps"))
    _, read = pulp.LpProblem.fromMPS(str(tmp_path / "model.mps"))
    assert pulp_optimum(read) == pytest.approx(37.75)  # MPS of PuLP drops the constant 2


def test_what_pulp_counts_copies_exports_and_checks_is_the_whole_model():
    problem = sites_problem()
    problem += problem.var("open", "A") >= 1
    assert (problem.numVariables(), problem.numConstraints(), problem.isMIP()) == (15, 17, 1)
    assert not problem.valid()
    solve(problem, OPTIONS)
    assert problem.valid(1e-6)
    problem.values[0] = 0.0
    assert not problem.valid(1e-6)
    for copied in (problem.copy(), problem.deepcopy(), pulp.LpProblem.fromDict(problem.toDict())[1]):
        assert len(copied.constraints()) == 17


def test_a_problem_survives_pickling():
    problem = sites_problem()
    problem += problem.var("serve", "B", "Q4") <= 1.0
    again = pickle.loads(pickle.dumps(problem))
    assert solve(again, OPTIONS).objective == pytest.approx(solve(problem, OPTIONS).objective)
    assert again.var("serve", "B", "Q4").value() <= 1.0 + 1e-9


def test_a_pulp_release_with_other_private_names_is_refused():
    check_pulp_version("3.3.2")
    for version in ("3.2.0", "4.0.0a12", "2.9"):
        with pytest.raises(ImportError, match=re.escape("pulp>=3.3,<4")):
            check_pulp_version(version)
