"""What the modelling layer costs beside the solver: blocks against raw arrays and against plain PuLP.

    python bench/modelling_layer.py --size M      # 75 k columns; L: 1.03 M columns, some minutes

Each layer builds the same generated model, hands it to HiGHS and takes values back, in a process of its own.
The last lines are ratios of one run. At size S all layers are also solved as LP and must agree.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import highspy
import numpy as np
import pulp
from generated_fleet import SIZES, Family, Limit, generate
from scipy import sparse

from planner.formulation.arrays import ModelArrays
from planner.formulation.blocks import ColumnBlock, RowBlock
from planner.formulation.pulp_face import PlanProblem
from planner.solve import SolveOptions
from planner.solve.highs import HighsSession
from planner.solve.process import quiet_highs

RELAXED = SolveOptions(gap=0.0, relax=True)
Model = tuple[list[Family], list[Limit]]


def raw(model: Model) -> dict[str, float]:
    """Return seconds of bare arrays: one CSR from coordinates, passModel, nothing else. The floor."""
    families, limits = model
    began = time.perf_counter()
    offsets = np.cumsum([0] + [len(limit.rhs) for limit in limits])
    row = np.concatenate([limit.row + offset for limit, offset in zip(limits, offsets, strict=False)])
    column = np.concatenate([limit.column for limit in limits])
    value = np.concatenate([limit.value for limit in limits])
    cost = np.concatenate([family.cost for family in families])
    matrix = sparse.csr_array((value, (row, column)), shape=(offsets[-1], len(cost)))
    rhs = np.concatenate([limit.rhs for limit in limits])
    low = np.concatenate([np.full(len(x.rhs), -np.inf) if x.sense == "<=" else x.rhs for x in limits])
    upper = np.concatenate([family.upper for family in families])
    whole = np.concatenate([np.full(len(family.cost), family.integer) for family in families])
    built = time.perf_counter()
    highs = quiet_highs()
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, np.zeros(len(cost)), upper
    lp.row_lower_, lp.row_upper_ = low, rhs
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.num_row_, lp.a_matrix_.num_col_ = matrix.shape
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
    kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
    lp.integrality_ = [kinds[flag] for flag in whole.tolist()]
    highs.passModel(lp)
    handed = time.perf_counter()
    values = np.array(np.random.default_rng(0).random(len(cost)).tolist())
    back = time.perf_counter()
    del values
    arrays = ModelArrays(matrix, low, rhs, cost, np.zeros(len(cost)), upper, whole)
    return _seconds(began, built, handed, back) | _optimum(
        lambda: HighsSession(arrays, RELAXED).run().objective
    )


def blocks(model: Model) -> dict[str, float]:
    """Return seconds of the planner's own layer: blocks, PlanProblem, session, labelled frames of values."""
    families, limits = model
    began = time.perf_counter()
    columns = [ColumnBlock(x.name, x.labels, 0.0, x.upper, x.integer) for x in families]
    rows = [RowBlock(x.name, x.labels, x.sense, x.rhs, x.row, x.column, x.value) for x in limits]
    cost = np.concatenate([family.cost for family in families])
    problem = PlanProblem("fleet", columns, rows, cost)
    built = time.perf_counter()
    HighsSession(problem.arrays(), SolveOptions())
    handed = time.perf_counter()
    problem.assign_values(np.array(np.random.default_rng(0).random(len(cost)).tolist()))
    frames = [problem.frame(block.family) for block in columns]
    back = time.perf_counter()
    del frames
    return _seconds(began, built, handed, back) | _optimum(
        lambda: HighsSession(problem.arrays(), RELAXED).run().objective
    )


def materialised(model: Model) -> dict[str, float]:
    """Return seconds of genuine PuLP objects made in bulk, handed over by PuLP's own HiGHS interface."""
    families, limits = model
    began = time.perf_counter()
    columns = [ColumnBlock(x.name, x.labels, 0.0, x.upper, x.integer) for x in families]
    rows = [RowBlock(x.name, x.labels, x.sense, x.rhs, x.row, x.column, x.value) for x in limits]
    cost = np.concatenate([family.cost for family in families])
    genuine = PlanProblem("fleet", columns, rows, cost).materialize()
    built = time.perf_counter()
    return _through_pulp(genuine, began, built)


def plain_pulp(model: Model) -> dict[str, float]:
    """Return seconds of PuLP as its manual shows it: a variable per label, an expression per row."""
    families, limits = model
    began = time.perf_counter()
    problem = pulp.LpProblem("fleet", pulp.LpMinimize)
    variables: list[pulp.LpVariable] = []
    for family in families:
        category = pulp.LpInteger if family.integer else pulp.LpContinuous
        for k, upper in enumerate(family.upper.tolist()):
            bound = None if upper == np.inf else upper
            variables.append(problem.add_variable(f"{family.name}_{k}", 0, bound, category))
    cost = np.concatenate([family.cost for family in families]).tolist()
    problem.setObjective(
        pulp.lpSum(price * variable for price, variable in zip(cost, variables, strict=True))
    )
    for limit in limits:
        terms: list[list[Any]] = [[] for _ in limit.rhs]
        for row, column, value in zip(
            limit.row.tolist(), limit.column.tolist(), limit.value.tolist(), strict=True
        ):
            terms[row].append(value * variables[column])
        for k, (parts, rhs) in enumerate(zip(terms, limit.rhs.tolist(), strict=True)):
            total = pulp.lpSum(parts)
            problem += (total <= rhs if limit.sense == "<=" else total == rhs), f"{limit.name}_{k}"
    built = time.perf_counter()
    return _through_pulp(problem, began, built)


def _through_pulp(problem: pulp.LpProblem, began: float, built: float) -> dict[str, float]:
    solver = pulp.HiGHS(msg=False, mip=True)
    solver.createAndConfigureSolver(problem)
    solver.buildSolverModel(problem)
    handed = time.perf_counter()
    values = np.random.default_rng(0).random(problem.numVariables()).tolist()
    for variable, value in zip(problem.variables(), values, strict=True):
        variable.varValue = value
    back = time.perf_counter()

    def optimum() -> float:
        problem.solve(pulp.HiGHS(msg=False, mip=False))
        return float(pulp.value(problem.objective))

    return _seconds(began, built, handed, back) | _optimum(optimum)


LAYERS: dict[str, Callable[[Model], dict[str, float]]] = {
    "raw": raw,
    "blocks": blocks,
    "materialised": materialised,
    "plain_pulp": plain_pulp,
}
SOLVE = False


def _seconds(began: float, built: float, handed: float, back: float) -> dict[str, float]:
    """Return build, hand-over, read-back and total seconds, and peak memory in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "build": built - began,
        "in": handed - built,
        "out": back - handed,
        "total": back - began,
        "mb": peak,
    }


def _optimum(solve: Callable[[], float]) -> dict[str, float]:
    return {"optimum": solve()} if SOLVE else {}


def measured(layer: str, size: str) -> dict[str, float]:
    """Return the figures of one layer, from a process of its own."""
    command = [sys.executable, __file__, "--size", size, "--layer", layer]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Print figures of all layers and their ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=SIZES, default="M")
    parser.add_argument("--layer", choices=LAYERS, help="measure one layer and print JSON")
    chosen = parser.parse_args()
    if chosen.layer:
        global SOLVE
        SOLVE = chosen.size == "S"
        model = generate(chosen.size)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        figures = LAYERS[chosen.layer](model)
        figures["mb"] -= before
        print(json.dumps(figures))
        return
    report(chosen.size)


def report(size: str) -> None:
    """Print the figures of every layer at a size, and their ratios."""
    families, limits = generate(size)
    sizes = (x.cost for x in families), (x.rhs for x in limits), (x.value for x in limits)
    counts = [sum(map(len, part)) for part in sizes]
    print(f"size {size}: {counts[0]} columns, {counts[1]} rows, {counts[2]} coefficients")
    print(f"{'layer':14}{'build s':>9}{'in s':>9}{'out s':>9}{'total s':>9}{'peak MB':>9}")
    found = {}
    for layer in LAYERS:
        found[layer] = figures = measured(layer, size)
        seconds = "".join(f"{figures[name]:9.3f}" for name in ("build", "in", "out", "total"))
        print(f"{layer:14}{seconds}{figures['mb']:9.0f}", flush=True)
    ours, floor, plain = found["blocks"], found["raw"], found["plain_pulp"]
    print(
        f"blocks / raw: time {ours['total'] / floor['total']:.2f} x, memory {ours['mb'] / floor['mb']:.2f} x"
    )
    print(f"plain PuLP / blocks: time {plain['total'] / ours['total']:.1f} x")
    print(f"plain PuLP / materialised: time {plain['total'] / found['materialised']['total']:.1f} x")
    if "optimum" in ours:
        spread = np.ptp([figures["optimum"] for figures in found.values()]) / abs(ours["optimum"])
        print(f"LP optimum {ours['optimum']:.6f}, the layers differ by {spread:.1e} relative")


if __name__ == "__main__":
    main()
