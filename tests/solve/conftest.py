import itertools

import numpy as np
import pandas as pd
import pytest

from planner.formulation.blocks import ColumnBlock, RowBlock
from planner.formulation.pulp_face import PlanProblem


def problem_of(cost, rows, lower=0.0, upper=np.inf, integer=False, offset=0.0):
    """Return a problem with the columns x and the rows {family: (matrix, sense, right-hand side)}."""
    cost = np.asarray(cost, float)
    columns = [ColumnBlock("x", pd.DataFrame({"k": range(len(cost))}), lower, upper, integer)]
    blocks = []
    for family, (matrix, sense, rhs) in rows.items():
        matrix = np.atleast_2d(np.asarray(matrix, float))
        row, column = np.nonzero(matrix)
        labels = pd.DataFrame({"row": range(len(matrix))})
        blocks.append(RowBlock(family, labels, sense, rhs, row, column, matrix[row, column]))
    return PlanProblem("test", columns, blocks, cost, offset)


@pytest.fixture
def make_problem():
    return problem_of


ITEMS = 150


@pytest.fixture
def hard_knapsack():
    """A packing MILP that no solver closes in seconds; a plan is found at once."""
    generator = np.random.default_rng(0)
    weights = generator.integers(0, 30, (60, ITEMS)).astype(float)
    value = generator.integers(5, 40, ITEMS).astype(float)
    return problem_of(-value, {"pack": (weights, "<=", weights.sum(axis=1) // 3)}, 0.0, 3.0, True)


def covering(seed, count=6, rows=3, most=3):
    """Return a small pure-integer covering problem and every plan that meets it, one per line."""
    generator = np.random.default_rng(seed)
    cost = generator.uniform(1.0, 9.0, count)
    matrix = generator.uniform(0.5, 4.0, (rows, count)) * (generator.random((rows, count)) < 0.7)
    matrix[:, 0] = generator.uniform(0.5, 2.0, rows)
    need = matrix.sum(axis=1) * generator.uniform(0.4, 1.6)
    problem = problem_of(cost, {"cover": (matrix, ">=", need)}, 0.0, float(most), True)
    points = np.array(list(itertools.product(range(most + 1), repeat=count)), float)
    return problem, points[(points @ matrix.T >= need - 1e-12).all(axis=1)]


@pytest.fixture
def make_covering():
    return covering
