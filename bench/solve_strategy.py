"""What a first plan near the relaxation saves: the same model solved directly and in steps, to the same gap.

    python bench/solve_strategy.py                     # the shipped flagship
    python bench/solve_strategy.py --size M            # a generated model of 78 k columns
    python bench/solve_strategy.py --set settings/integer_hourly_rent=true --gap 0.002

The last lines are ratios of one run; processor seconds are those of this process, so other work on the machine
counts less than it does in wall seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from unittest import mock

import numpy as np
from generated_fleet import SIZES, generate

from planner.coefficients import build_coefficients
from planner.formulation.blocks import ColumnBlock, RowBlock
from planner.formulation.build import build_model
from planner.formulation.pulp_face import PlanProblem
from planner.inputs import load_scenario
from planner.performance import operating_points
from planner.solve import Solution, SolveOptions, first_plan, solve, solve_ratio

NEVER = 10**12


def example_problem(name: str, changes: list[str]) -> tuple[PlanProblem, np.ndarray]:
    """Return a scenario's model, its cost as objective, and its token vector."""
    scenario = load_scenario(name, changes)
    model = build_model(build_coefficients(scenario, operating_points(scenario)))
    model.problem.set_cost(model.numerator, model.numerator_constant)
    return model.problem, model.denominator


def generated_problem(size: str) -> tuple[PlanProblem, np.ndarray]:
    """Return a generated model and the load it serves."""
    families, limits = generate(size)
    columns = [ColumnBlock(x.name, x.labels, 0.0, x.upper, x.integer) for x in families]
    rows = [RowBlock(x.name, x.labels, x.sense, x.rhs, x.row, x.column, x.value) for x in limits]
    problem = PlanProblem("fleet", columns, rows, np.concatenate([family.cost for family in families]))
    served = np.zeros(problem.columns.count)
    served[problem.position("serve")] = 1.0
    return problem, served


def timed(action: Callable[[], Solution]) -> tuple[Solution, float, float]:
    """Return the solution with wall and processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    solution = action()
    return solution, time.perf_counter() - wall, time.process_time() - processor


def compare(name: str, action: Callable[[], Solution]) -> None:
    """Print both ways to solve and their ratio."""
    results = {"in steps": timed(action)}
    with mock.patch.object(first_plan, "FEWEST_COLUMNS", NEVER):
        results["directly"] = timed(action)
    for way, (solution, wall, processor) in results.items():
        ended = solution.termination
        print(
            f"{name:10} {way:9} {ended.status:11} objective {solution.objective:14.6g}  bound {ended.bound:14.6g}  "
            f"gap {100 * ended.gap:7.3f} %  {wall:7.1f} s wall  {processor:7.1f} s processor"
        )
    steps, direct = results["in steps"], results["directly"]
    print(f"{name:10} in steps / directly: {steps[2] / direct[2]:.2f} x the processor time")


def main() -> None:
    """Solve for least cost and for least unit cost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--example", default="flagship")
    parser.add_argument("--size", choices=SIZES, help="a generated model instead of an example")
    parser.add_argument(
        "--set", action="append", default=[], help="settings/<field>=value or table/key/column=value"
    )
    parser.add_argument("--gap", type=float, default=0.005)
    parser.add_argument("--time-limit", type=float, default=300.0)
    chosen = parser.parse_args()
    problem, tokens = (
        generated_problem(chosen.size) if chosen.size else example_problem(chosen.example, chosen.set)
    )
    cost, constant = problem.cost, problem.offset
    arrays = problem.arrays()
    rows, columns = arrays.matrix.shape
    print(f"{columns} columns ({int(arrays.integer.sum())} whole), {rows} rows; gap {chosen.gap}")
    options = SolveOptions(gap=chosen.gap, time_limit_s=chosen.time_limit)
    compare("cost", lambda: solve(problem, options))
    compare("unit cost", lambda: solve_ratio(problem, cost, tokens, options, numerator_offset=constant))


if __name__ == "__main__":
    main()
