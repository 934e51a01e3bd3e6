"""The array model behind an ordinary PuLP face: a PuLP object exists only for what someone touches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pulp
from pulp import constants
from scipy import sparse

from planner.formulation.arrays import ModelArrays, stack_rows
from planner.formulation.blocks import ColumnBlock, ColumnIndex, RowBlock, fault
from planner.formulation.lp_text import column_names, lp_text, row_names
from planner.formulation.pulp_objects import (
    PlanVariable,
    custom_rows,
    expression,
    genuine_problem,
    values_by_column,
)

RECOURSE_LEVEL = "block"
"""Label level of a variable that can differ from hour to hour; orders and openings do not have it."""


class PlanProblem(pulp.LpProblem):
    """A minimisation problem made of column and row blocks.

    Parameters
    ----------
    name
        Name without spaces.
    columns
        Column blocks in order (or a :class:`ColumnIndex`).
    rows
        Row blocks; their column positions are global.
    objective
        Cost of each column in the currency unit of the model; None means zero.
    offset
        Constant added to the objective.

    Examples
    --------
    >>> columns = [ColumnBlock("order", pd.DataFrame({"offer": ["buy", "lease"]}), upper=9.0)]
    >>> need = RowBlock.from_terms("need", pd.DataFrame({"period": ["Q1"]}), ">=", 3.0, [(0, [0, 1], 1.0)])
    >>> problem = PlanProblem("toy", columns, [need], np.array([5.0, 4.0]))
    >>> problem += problem.var("order", "lease") <= 2
    >>> problem.arrays().matrix.shape
    (2, 2)
    """

    def __init__(
        self,
        name: str,
        columns: ColumnIndex | Sequence[ColumnBlock],
        rows: Sequence[RowBlock],
        objective: np.ndarray | None = None,
        offset: float = 0.0,
    ):
        self.columns = columns if isinstance(columns, ColumnIndex) else ColumnIndex(columns)
        self.rows = tuple(rows)
        self.values: np.ndarray | None = None
        self._touched: dict[int, PlanVariable] = {}
        self._lookup: dict[str, pd.Index] = {}
        self._row_start = _checked_row_starts(self.rows, self.columns.count)
        super().__init__(name, constants.LpMinimize)
        self.set_cost(np.zeros(self.columns.count) if objective is None else objective, offset)

    def set_cost(self, cost: np.ndarray, offset: float = 0.0) -> None:
        """Replace the objective by ``cost @ x + offset``."""
        cost = np.array(cost, float)
        if cost.shape != (self.columns.count,):
            raise fault("objective", f"costs of shape {cost.shape} for {self.columns.count} columns")
        if not (np.isfinite(cost).all() and np.isfinite(offset)):
            raise fault("objective", "a cost is not finite")
        cost.flags.writeable = False
        self.cost, self.offset = cost, float(offset)

    def position(self, family: str) -> slice:
        """Return the global column positions of a variable family."""
        return self.columns.position(family)

    def row_block(self, family: str) -> RowBlock:
        """Return the row block of a constraint family."""
        for block in self.rows:
            if block.family == family:
                return block
        raise fault(family, f"no such constraint family; there are {', '.join(b.family for b in self.rows)}")

    def row_position(self, family: str) -> slice:
        """Return the global row positions of a constraint family; custom rows follow the last family."""
        block = self.row_block(family)
        start = self._row_start[self.rows.index(block)]
        return slice(start, start + len(block))

    def recourse(self) -> np.ndarray:
        """Return a flag per column: decided block by block, as its label level ``block`` says."""
        flags = np.zeros(self.columns.count, bool)
        for block in self.columns.blocks:
            flags[self.position(block.family)] = RECOURSE_LEVEL in block.labels.columns
        return flags

    def var(self, family: str, *labels: object) -> PlanVariable:
        """Return the variable of a family with these labels as an ordinary LpVariable.

        A bound changed on it counts in every later solve; its ``varValue`` is that of the last solve.
        """
        return self._variable_at(self.position(family).start + self._ordinal(family, labels))

    def frame(self, family: str, values: np.ndarray | None = None) -> pd.DataFrame:
        """Return labels and ``value`` of a variable family, by default those of the last solve."""
        chosen = self.values if values is None else values
        if chosen is None:
            raise fault(family, "the problem has no solution yet")
        return self.columns.block(family).labels.assign(value=chosen[self.position(family)])

    def row_frame(self, family: str, values: np.ndarray) -> pd.DataFrame:
        """Return labels and ``value`` of a constraint family from an array over all rows, e.g. duals."""
        return self.row_block(family).labels.assign(value=values[self.row_position(family)])

    def assign_values(self, values: np.ndarray | None) -> None:
        """Take the values of a solve (None: forget them), so that PuLP variables show them."""
        self.values = values
        for column, variable in self._touched.items():
            variable.varValue = None if values is None else float(values[column])

    def arrays(self) -> ModelArrays:
        """Return the model as arrays, with custom rows after the families and changed bounds applied."""
        count, custom = self.columns.count, list(custom_rows(self).values())
        matrix = stack_rows(self.rows, count)
        row_lower = np.concatenate([*(block.lower for block in self.rows), [_low(row) for row in custom]])
        row_upper = np.concatenate([*(block.upper for block in self.rows), [_high(row) for row in custom]])
        if custom:
            matrix = sparse.csr_array(sparse.vstack([matrix, self._custom_matrix(custom)], format="csr"))
        limits = self._column_limits()
        return ModelArrays(matrix, row_lower, row_upper, self.cost, *limits, offset=self.offset)

    def lp_text(self, *, comments: bool = True) -> str:
        """Return the families of the model as deterministic text (custom rows are not part of it)."""
        return lp_text(self.columns, self.rows, self.cost, comments=comments)

    def write_lp(self, path: str | Path) -> None:
        """Write :meth:`lp_text` to a file."""
        Path(path).write_text(self.lp_text(), encoding="utf-8")

    def materialize(self) -> pulp.LpProblem:
        """Return a genuine LpProblem with one object per variable and row, for any PuLP solver."""
        names = row_names(self.rows) + list(custom_rows(self))
        return genuine_problem(self.name, self.arrays(), column_names(self.columns), names)

    def solve(self, solver: pulp.LpSolver | None = None, **options: Any) -> int:
        """Solve with a PuLP solver through :meth:`materialize`, as one would any PuLP problem."""
        genuine = self.materialize()
        genuine.solve(solver or pulp.HiGHS(msg=False), **options)
        self.assignStatus(genuine.status, genuine.sol_status)
        found = genuine.sol_status in (constants.LpSolutionOptimal, constants.LpSolutionIntegerFeasible)
        self.assign_values(values_by_column(genuine, self.arrays()) if found else None)
        return int(self.status)

    @property
    def objective(self) -> pulp.LpAffineExpression:
        """The objective as a PuLP expression; setting one replaces all costs."""
        nonzero = np.flatnonzero(self.cost).tolist()
        variables = [self._variable_at(column) for column in nonzero]
        return expression(zip(variables, self.cost[nonzero].tolist(), strict=True), self.offset)

    @objective.setter
    def objective(self, new: pulp.LpAffineExpression | None) -> None:
        if new is None:  # PuLP's own constructor does this
            self.cost, self.offset = np.zeros(self.columns.count), 0.0
            return
        cost = np.zeros(self.columns.count)
        for variable, value in new.items():
            cost[self._own_column(variable)] = value
        self.set_cost(cost, new.constant)

    def __iadd__(self, other: Any) -> PlanProblem:
        """Add a custom row, or replace the objective by an expression."""
        if isinstance(other, pulp.LpAffineExpression | pulp.LpVariable):
            self.objective = other + 0.0
            return self
        super().__iadd__(other)
        return self

    def addConstraint(self, constraint: pulp.LpConstraint, name: str | None = None) -> None:  # noqa: N802
        """Add a custom row; ``problem += expression <= right_hand_side`` comes here."""
        if isinstance(constraint, pulp.LpConstraint):
            if not constraint.expr:
                raise fault("custom", f"no variable in the row {name or constraint}")
            for variable in constraint.expr:
                self._own_column(variable)
        super().addConstraint(constraint, name)

    def variables(self) -> list[PlanVariable]:
        """Return every variable in column order."""
        return [self._variable_at(column) for column in range(self.columns.count)]

    def valid(self, eps: float = 0.0) -> bool:
        """Return whether the values of the last solve keep every limit to `eps`, relative to its size."""
        return self.values is not None and self.arrays().violation_at(self.values) <= eps

    def numVariables(self) -> int:  # noqa: N802
        """Return the number of columns."""
        return self.columns.count

    def numConstraints(self) -> int:  # noqa: N802
        """Return the number of rows, custom rows included."""
        return sum(len(block) for block in self.rows) + len(custom_rows(self))

    def copy(self) -> pulp.LpProblem:
        """Return a genuine LpProblem with the same model."""
        return self.materialize()

    deepcopy = copy

    def toDataclass(self) -> Any:  # noqa: N802
        """Return PuLP's export form of the materialised problem."""
        return self.materialize().toDataclass()

    def writeLP(self, filename: str, *arguments: Any, **options: Any) -> Any:  # noqa: N802
        """Write the materialised problem in PuLP's LP form."""
        return self.materialize().writeLP(filename, *arguments, **options)

    def writeMPS(self, filename: str, *arguments: Any, **options: Any) -> Any:  # noqa: N802
        """Write the materialised problem in MPS form."""
        return self.materialize().writeMPS(filename, *arguments, **options)

    def _ordinal(self, family: str, labels: tuple[object, ...]) -> int:
        frame = self.columns.block(family).labels
        if family not in self._lookup:
            many = frame.shape[1] > 1
            self._lookup[family] = pd.MultiIndex.from_frame(frame) if many else pd.Index(frame.iloc[:, 0])
        found = np.array([], int)
        if len(labels) == frame.shape[1]:
            wanted = labels if len(labels) > 1 else labels[0]
            found = self._lookup[family].get_indexer_for([wanted])  # type: ignore[arg-type]
        if len(found) != 1 or found[0] < 0:
            how = "several variables have" if len(found) > 1 else "no variable has"
            raise fault(family, f"{how} the labels {labels}; the levels are {', '.join(frame.columns)}")
        return int(found[0])

    def _variable_at(self, column: int) -> PlanVariable:
        if column not in self._touched:
            block, k = self.columns.at(column)
            low, high, integer = float(block.lower[k]), float(block.upper[k]), bool(block.integer[k])
            made = PlanVariable.made(f"{block.family}_{k}", column, low, high, integer)
            made.varValue = None if self.values is None else float(self.values[column])
            self._touched[column] = made
        return self._touched[column]

    def _own_column(self, variable: object) -> int:
        column = getattr(variable, "column", -1)
        if self._touched.get(column) is not variable:
            raise fault("custom", "a variable is not from this problem; take it from problem.var", variable)
        return int(column)

    def _custom_matrix(self, rows: Sequence[pulp.LpConstraint]) -> sparse.csr_array:
        start = np.cumsum([0] + [len(row.expr) for row in rows])
        column = [self._own_column(variable) for row in rows for variable in row.expr]
        value = [float(value) for row in rows for value in row.expr.values()]
        return sparse.csr_array((value, column, start), shape=(len(rows), self.columns.count))

    def _column_limits(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return bounds and whole-number flags with the changes made on PuLP variables."""
        empty = [np.empty(0)]
        blocks = self.columns.blocks
        lower = np.concatenate([block.lower for block in blocks] or empty)
        upper = np.concatenate([block.upper for block in blocks] or empty)
        integer = np.concatenate([block.integer for block in blocks] or [np.empty(0, bool)])
        for column, variable in self._touched.items():
            lower[column] = -np.inf if variable.lowBound is None else variable.lowBound
            upper[column] = np.inf if variable.upBound is None else variable.upBound
            integer[column] = variable.cat == constants.LpInteger
        return lower, upper, integer


def _checked_row_starts(rows: Sequence[RowBlock], count: int) -> list[int]:
    families = [block.family for block in rows]
    if len(set(families)) < len(families):
        raise fault(", ".join(families), "two row blocks share a family name")
    for block in rows:
        if len(block.column) and block.column.max() >= count:
            raise fault(block.family, f"an entry is beyond the {count} columns of the model")
    return np.cumsum([0] + [len(block) for block in rows]).tolist()


def _low(row: pulp.LpConstraint) -> float:
    bound = row.getLb()
    return -np.inf if bound is None else float(bound)


def _high(row: pulp.LpConstraint) -> float:
    bound = row.getUb()
    return np.inf if bound is None else float(bound)
