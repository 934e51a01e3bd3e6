"""A relaxation of which only some columns are in the solver ends at the optimum of all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from planner.formulation.blocks import ColumnBlock, RowBlock
from planner.formulation.pulp_face import PlanProblem
from planner.solve import Ratio, SolveOptions, warm
from planner.solve.highs import HighsSession
from planner.solve.sifting import SiftedSession, coarse_model, merged, worth_keeping
from planner.solve.warm import WarmRelaxation

PERIODS, BLOCKS, POINTS = 8, 3, 12
OPTIONS = SolveOptions(gap=0.0, relax=True)
TIMES = [f"p{ordinal}" for ordinal in range(PERIODS)]


def fleet(seed: int, growth: float = 0.1, limit: float = 60.0) -> PlanProblem:
    """Units bought once serve a growing demand, hour by hour, at one of several points each dearer or slower.

    installed[t] = installed[t-1] + order[t];  sum_k run[k,t,b] <= installed[t];  sum_k rate[k] run[k,t,b] >= demand
    """
    generator = np.random.default_rng(seed)
    rate, price = generator.uniform(0.5, 2.0, POINTS), generator.uniform(0.1, 3.0, POINTS)
    times = pd.DataFrame({"period": TIMES})
    hours = times.merge(pd.DataFrame({"block": range(BLOCKS)}), how="cross")
    runs = pd.DataFrame({"point": range(POINTS)}).merge(hours, how="cross")
    columns = [
        ColumnBlock("order", times, 0.0, limit),
        ColumnBlock("installed", times),
        ColumnBlock("run", runs),
    ]
    order, installed = np.arange(PERIODS), PERIODS + np.arange(PERIODS)
    run = 2 * PERIODS + np.arange(len(runs))
    hour = np.tile(np.arange(len(hours)), POINTS)
    when = np.repeat(np.arange(PERIODS), BLOCKS)
    need = 10.0 * (1 + growth) ** when * generator.uniform(0.4, 1.0, len(hours))
    rows = [
        RowBlock.from_terms(
            "fleet",
            times,
            "==",
            0.0,
            [(order, installed, 1.0), (order, order, -1.0), (order[1:], installed[:-1], -1.0)],
        ),
        RowBlock.from_terms(
            "capacity", hours, "<=", 0.0, [(hour, run, 1.0), (np.arange(len(hours)), installed[when], -1.0)]
        ),
        RowBlock.from_terms("demand", hours, ">=", need, [(hour, run, rate[runs["point"]])]),
    ]
    drift = 1.0 + 0.02 * generator.random(len(runs))
    cost = np.concatenate([np.full(PERIODS, 20.0), np.ones(PERIODS), price[runs["point"]] * drift])
    return PlanProblem("fleet", columns, rows, cost, 5.0)


def optimum(problem: PlanProblem):
    return HighsSession(problem.arrays(), OPTIONS).run()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("first", ["none", "coarse"])
def test_the_optimum_of_part_of_the_columns_priced_over_all_is_that_of_all(seed, first):
    """Values, objective, duals and reduced costs prove themselves: feasible, dual feasible, no gap."""
    problem = fleet(seed)
    arrays = problem.arrays()
    kept = {
        "none": ~problem.recourse(),
        "coarse": worth_keeping(problem, arrays, OPTIONS, TIMES),
    }[first]
    assert kept.sum() < len(kept), "something is left out"
    found = SiftedSession(arrays, OPTIONS, kept).run()
    assert found.status == "optimal"
    assert found.objective == pytest.approx(optimum(problem).objective, rel=1e-9)
    assert arrays.violation_at(found.values) <= 1e-6
    assert arrays.objective_at(found.values) == pytest.approx(found.objective, rel=1e-12)
    reduced = arrays.cost - arrays.matrix.T @ found.row_duals
    assert found.reduced_costs == pytest.approx(reduced, abs=1e-9)
    assert reduced[np.isinf(arrays.upper)].min() >= -1e-6
    limits = np.where(found.row_duals > 0, arrays.row_lower, arrays.row_upper)
    held = np.where(
        np.abs(found.row_duals) > 1e-9, found.row_duals * np.where(np.isfinite(limits), limits, 0), 0
    )
    bounds = np.where(reduced < 0, reduced * np.where(np.isfinite(arrays.upper), arrays.upper, 0.0), 0.0)
    assert held.sum() + bounds.sum() + arrays.offset == pytest.approx(found.objective, rel=1e-7)


def test_a_model_without_a_plan_is_infeasible_only_with_all_columns_in():
    possible, impossible = fleet(1), fleet(1, limit=0.5)
    for problem, status in ((possible, "optimal"), (impossible, "infeasible")):
        assert SiftedSession(problem.arrays(), OPTIONS, ~problem.recourse()).run().status == status


def test_new_costs_price_what_was_left_out_again():
    problem = fleet(2)
    arrays = problem.arrays()
    session = SiftedSession(arrays, OPTIONS, ~problem.recourse())
    session.run()
    turned = arrays.cost.copy()
    turned[problem.recourse()] = turned[problem.recourse()][::-1]
    session.set_cost(turned, 1.0)
    whole = HighsSession(replace(arrays, cost=turned, offset=1.0), OPTIONS).run()
    assert session.run().objective == pytest.approx(whole.objective, rel=1e-9)


def test_a_series_of_models_is_sifted_from_one_to_the_next(monkeypatch):
    """Cost and ratio, demand growing from model to model: each optimum is that of the plain solver."""
    monkeypatch.setattr(warm, "SIFTED_FROM_COLUMNS", 1)
    series = WarmRelaxation(OPTIONS, follows=True, periods=TIMES)
    for growth in (0.1, 0.12, 0.2):
        problem = fleet(3, growth)
        found = series.solve(problem, (problem.cost, problem.offset))
        assert found.objective == pytest.approx(optimum(problem).objective, rel=1e-9)
    ratios = WarmRelaxation(OPTIONS, follows=True, periods=TIMES)
    plain = WarmRelaxation(OPTIONS)
    for growth in (0.1, 0.15):
        problem = fleet(4, growth)
        served = np.where(problem.recourse(), 1.0, 0.0)
        ratio = Ratio(problem.cost, served, 5.0)
        assert ratios.solve(problem, ratio).objective == pytest.approx(
            plain.solve(problem, ratio).objective, rel=1e-7
        )


def test_a_stopped_run_of_part_of_the_columns_claims_no_bound():
    problem = fleet(5)
    session = SiftedSession(problem.arrays(), OPTIONS, ~problem.recourse())
    found = session.run()
    stopped = session._unproven(found, replace(found.termination, stop="time_limit", status="feasible"))
    assert stopped.termination.bound == -np.inf
    assert stopped.termination.gap == np.inf


def test_the_coarse_model_has_one_column_and_one_row_for_merged_periods():
    """Eight periods by four: two orders, two stocks, 12 points x 2 x 3 hours; costs and limits are added up."""
    problem = fleet(6)
    ordinal = {name: place for place, name in enumerate(TIMES)}
    columns, rows = (merged(blocks, ordinal, 4) for blocks in (problem.columns.blocks, problem.rows))
    arrays = problem.arrays()
    coarse = coarse_model(arrays, columns, rows)
    assert coarse.matrix.shape == (2 + 2 * 2 * BLOCKS, 2 + 2 + POINTS * 2 * BLOCKS)
    assert coarse.cost[:2].tolist() == [80.0, 80.0]
    demand = coarse.row_lower[-2 * BLOCKS :]
    assert demand.sum() == pytest.approx(arrays.row_lower[-PERIODS * BLOCKS :].sum())


def test_too_few_periods_leave_every_column_in():
    problem = fleet(7)
    assert worth_keeping(problem, problem.arrays(), OPTIONS, TIMES[:4]).all()
