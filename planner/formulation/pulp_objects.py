"""PuLP objects made in bulk: the only module that uses private names of PuLP (3.3.x).

``tests/formulation/test_pulp_face.py`` proves that arrays, bulk objects and plain PuLP have one optimum, so a
PuLP release that moves these names is noticed there.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pulp
from pulp import constants

from planner.formulation.arrays import ModelArrays

OLDEST_PULP, FIRST_UNSUPPORTED_PULP = (3, 3), (4, 0)


def check_pulp_version(version: str = pulp.__version__) -> None:
    """Raise ImportError unless this PuLP has the private names used here."""
    parts = tuple(int(part) for part in version.split(".")[:2])
    if not OLDEST_PULP <= parts < FIRST_UNSUPPORTED_PULP:
        raise ImportError(f"PuLP {version} is installed; the planner works with pulp>=3.3,<4")


check_pulp_version()


class PlanVariable(pulp.LpVariable):
    """An ordinary LpVariable that knows its column; made without per-object name and bound checks."""

    __hash__ = object.__hash__

    column: int

    @classmethod
    def made(cls, name: str, column: int, low: float, high: float, integer: bool) -> PlanVariable:
        """Return one variable; an infinite bound becomes PuLP's None."""
        variable = cls.__new__(cls)
        variable._LpElement__name = name
        variable.hash = id(variable)
        variable.modified = True
        variable._lowbound_original = variable.lowBound = None if low == -np.inf else low
        variable._upbound_original = variable.upBound = None if high == np.inf else high
        variable.cat = constants.LpInteger if integer else constants.LpContinuous
        variable.varValue = variable.dj = None
        variable.column = column
        return variable


def expression(
    pairs: Iterable[tuple[pulp.LpVariable, float]], constant: float = 0.0
) -> pulp.LpAffineExpression:
    """Return an affine expression of distinct variables without adding them one by one."""
    made = pulp.LpAffineExpression.__new__(pulp.LpAffineExpression)
    dict.__init__(made, pairs)
    made._LpAffineExpression__name = None
    made.constant = constant
    return made


def genuine_problem(
    name: str, arrays: ModelArrays, column_names: Sequence[str], row_names: Sequence[str]
) -> pulp.LpProblem:
    """Return an LpProblem of PuLP's own objects, one per column and row, rows in the order given."""
    with _collector_paused():
        parts = (column_names, range(len(column_names)), arrays.lower.tolist(), arrays.upper.tolist())
        variables = list(map(PlanVariable.made, *parts, arrays.integer.tolist()))
        problem = pulp.LpProblem(name, constants.LpMinimize)
        problem._variables = list(variables)
        problem._variable_ids = {variable.hash: variable for variable in variables}
        nonzero = np.flatnonzero(arrays.cost)
        chosen = map(variables.__getitem__, nonzero.tolist())
        problem.objective = expression(zip(chosen, arrays.cost[nonzero].tolist(), strict=True), arrays.offset)
        problem._constraints = dict(_constraints(arrays, variables, row_names))
    return problem


def values_by_column(solved: pulp.LpProblem, arrays: ModelArrays) -> np.ndarray:
    """Return the values of a solved :func:`genuine_problem` in column order.

    A solver leaves out a column that stands in no row; it stays at its bound nearest to zero.
    """
    values = np.clip(0.0, arrays.lower, arrays.upper)
    for variable in solved._variables:
        if variable.varValue is not None:
            values[variable.column] = variable.varValue
    return values


def row_duals(solved: pulp.LpProblem) -> np.ndarray | None:
    """Return the duals a solver left on the rows, in row order; None where it gave none."""
    duals = [row.pi for row in solved._constraints.values()]
    return None if any(dual is None for dual in duals) else np.array(duals, float)


def custom_rows(problem: pulp.LpProblem) -> dict[str, pulp.LpConstraint]:
    """Return the rows added the PuLP way by name, without the deprecation warning of ``constraints``."""
    return dict(problem._constraints)


def _constraints(
    arrays: ModelArrays, variables: Sequence[PlanVariable], names: Sequence[str]
) -> Iterator[tuple[str, pulp.LpConstraint]]:
    """Yield one constraint per row; a row has one finite side or two equal ones."""
    matrix = arrays.matrix
    start, column, value = matrix.indptr.tolist(), matrix.indices.tolist(), matrix.data.tolist()
    limits = zip(names, arrays.row_lower.tolist(), arrays.row_upper.tolist(), strict=True)
    for k, (name, low, high) in enumerate(limits):
        first, last = start[k], start[k + 1]
        chosen = map(variables.__getitem__, column[first:last])
        row = pulp.LpConstraint.__new__(pulp.LpConstraint)
        row.expr = expression(zip(chosen, value[first:last], strict=True))
        row._LpConstraint__name = name
        row.sense, row.constant = _sense(low, high)
        row.pi = row.slack = None
        row.modified = True
        yield name, row


def _sense(low: float, high: float) -> tuple[int, float]:
    if low == high:
        return constants.LpConstraintEQ, -low
    if low == -np.inf:
        return constants.LpConstraintLE, -high
    if high == np.inf:
        return constants.LpConstraintGE, -low
    raise ValueError(f"a PuLP row has one side, not the range {low} to {high}")


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the cyclic garbage collector, which otherwise walks a million new objects again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
