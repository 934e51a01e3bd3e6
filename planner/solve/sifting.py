"""A linear programme of very many columns, solved over those that can matter (sifting).

Most columns of a fleet model run an operating point nobody chooses. A coarse model, whose periods are merged a few at a
time, is solved first. Its duals price every column of the full model: those far from paying are left out. What is left
is solved; its duals price the rest again, and whatever would lower the cost comes in, until nothing would. The optimum
and its duals are then those of the full model: the coarse one decides only where the search begins.

References
----------
R. E. Bixby, J. W. Gregory, I. J. Lustig, R. E. Marsten, D. F. Shanno, "Very large-scale linear programming: a case
study in combining interior point and simplex methods", Operations Research 40(5), 1992.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from planner.formulation.arrays import ModelArrays
from planner.formulation.blocks import ColumnBlock, RowBlock
from planner.formulation.pulp_face import PlanProblem
from planner.solve.highs import AT_LOWER, BASIC, HighsSession, Limits
from planner.solve.options import SolveOptions
from planner.solve.result import Solution, Termination

SIFTED_FROM_COLUMNS = 120_000
"""Below this the simplex method takes all columns at once (measured: ``bench/relaxation.py``)."""
COARSE_COLUMNS = 110_000
"""Most columns of the coarse model."""
LEAST_MERGED = 4
"""Fewest periods merged into one: fewer leave a coarse model nearly as slow as the full one."""
NEAR = 0.015
"""Reduced cost of a column, as a share of the worth of all it uses and gives at the coarse prices, up to which it is
kept."""
DUAL_TOLERANCE = 1e-7
"""HiGHS's own tolerance on reduced costs, in its scaled units."""


class SiftedSession:
    """The face of a :class:`HighsSession` for a relaxation of which only some columns are in the solver.

    Parameters
    ----------
    arrays
        The model.
    options
        Solver options; whole numbers are left out.
    kept
        Flag per column: in the solver from the start. Columns that are not must have a lower bound of 0.
    """

    is_milp = False

    def __init__(self, arrays: ModelArrays, options: SolveOptions, kept: np.ndarray):
        self.arrays, self.options = arrays, replace(options, solver="highs", relax=True)
        self._columns = arrays.matrix.tocsc()
        self._inside = np.flatnonzero(kept | (arrays.lower != 0.0))
        self._session = HighsSession(self._part(), self.options)

    def set_cost(self, cost: np.ndarray, offset: float = 0.0) -> None:
        """Replace the objective by ``cost @ x + offset``."""
        self.arrays = replace(self.arrays, cost=cost, offset=offset)
        self._session.set_cost(cost[self._inside], offset)

    def basis(self) -> tuple[np.ndarray, np.ndarray]:
        """Return a status per column and per row; columns that stayed out are at their lower bound."""
        inside, rows = self._session.basis()
        columns = np.full(len(self.arrays.cost), AT_LOWER, np.int8)
        columns[self._inside] = inside
        return columns, rows

    def set_basis(self, columns: np.ndarray, rows: np.ndarray) -> None:
        """Begin the next run from these statuses; basic columns that are outside come in."""
        self._let_in(self._outside() & (columns == BASIC))
        self._session.set_basis(columns[self._inside], rows)

    def run(self, limits: Limits | None = None) -> Solution:
        """Solve; the optimum is that of all columns."""
        limits = limits or Limits(seconds=self.options.time_limit_s)
        began, primal = time.perf_counter(), False
        while True:
            spent = time.perf_counter() - began
            left = None if limits.seconds is None else limits.seconds - spent
            found = self._session.run(replace(limits, seconds=left, primal=primal))
            outside = self._outside()
            if found.status == "infeasible" and outside.any():
                self._let_in(outside)
                continue
            ended = replace(found.termination, seconds=time.perf_counter() - began)
            if not ended.has_values or ended.stop != "proof" or found.row_duals is None:
                return self._unproven(found, ended)
            reduced = self.arrays.cost - self._columns.T @ found.row_duals
            missed = outside & (reduced < -DUAL_TOLERANCE / self._session.scale)
            if not missed.any():
                return replace(
                    found, termination=ended, values=self._widened(found.values), reduced_costs=reduced
                )
            self._let_in(missed)
            primal = True

    def _unproven(self, found: Solution, ended: Termination) -> Solution:
        """Return what a stopped run found: a bound of part of the columns is none of all."""
        if ended.status != "infeasible":
            ended = replace(ended, bound=-np.inf, gap=np.inf)
        return Solution(ended, self._widened(found.values), found.objective)

    def _widened(self, values: np.ndarray) -> np.ndarray:
        every = np.full(len(self.arrays.cost), np.nan if np.isnan(values).any() else 0.0)
        every[self._inside] = values
        return every

    @property
    def kept(self) -> np.ndarray:
        """Return a flag per column: in the solver."""
        return ~self._outside()

    def _outside(self) -> np.ndarray:
        flags = np.ones(len(self.arrays.cost), bool)
        flags[self._inside] = False
        return flags

    def _let_in(self, columns: np.ndarray) -> None:
        more = np.flatnonzero(columns)
        if not len(more):
            return
        self._inside = np.concatenate([self._inside, more])
        part = self._columns[:, more]
        whole = self.arrays
        self._session.add_columns(whole.cost[more], whole.lower[more], whole.upper[more], part)

    def _part(self) -> ModelArrays:
        whole, inside = self.arrays, self._inside
        return replace(
            whole,
            matrix=self._columns[:, inside].tocsr(),
            cost=whole.cost[inside],
            lower=whole.lower[inside],
            upper=whole.upper[inside],
            integer=np.zeros(len(inside), bool),
        )


def worth_keeping(
    problem: PlanProblem,
    arrays: ModelArrays,
    options: SolveOptions,
    periods: Sequence[str],
    seconds: float | None = None,
) -> np.ndarray:
    """Return a flag per column: it may matter at the prices of the model with periods merged.

    Parameters
    ----------
    problem
        Its blocks' labels say what is the same but for the period.
    arrays
        Its arrays with the costs to be minimised.
    periods
        Names of the periods in the order of time.
    seconds
        Wall seconds the coarse model may take; all columns are kept where that is not enough.
    """
    every = np.ones(len(arrays.cost), bool)
    by = max(LEAST_MERGED, -(-len(arrays.cost) // COARSE_COLUMNS))
    has_custom_rows = arrays.matrix.shape[0] != sum(len(block) for block in problem.rows)
    if len(periods) < 2 * by or has_custom_rows:
        return every
    ordinal = {name: place for place, name in enumerate(periods)}
    columns, rows = (merged(blocks, ordinal, by) for blocks in (problem.columns.blocks, problem.rows))
    coarse = HighsSession(coarse_model(arrays, columns, rows), replace(options, solver="highs", relax=True))
    found = coarse.run(Limits(seconds=seconds))
    if found.row_duals is None:
        return every
    duals = found.row_duals[rows]
    moved = np.abs(arrays.cost) + abs(arrays.matrix).T @ np.abs(duals)
    reduced = arrays.cost - arrays.matrix.T @ duals
    score = reduced / np.maximum(moved, np.finfo(float).tiny)
    return ~problem.recourse() | (score <= NEAR) | best_of_rows(arrays, score)


def best_of_rows(arrays: ModelArrays, score: np.ndarray) -> np.ndarray:
    """Return a flag per column: the least score among those that raise, or that lower, the left side of some row.

    Without them a row could be left that nothing meets.
    """
    entries = arrays.matrix.tocoo()
    side = 2 * entries.row.astype(np.int64) + (entries.data > 0.0)
    order = np.lexsort((score[entries.col], side))
    first = np.flatnonzero(np.diff(side[order], prepend=-1))
    flags = np.zeros(len(score), bool)
    flags[entries.col[order[first]]] = True
    return flags


def merged(blocks: Sequence[ColumnBlock | RowBlock], ordinal: Mapping[str, int], by: int) -> np.ndarray:
    """Return the group of every column (row): the same labels in the same ``by`` consecutive periods."""
    parts, count = [np.empty(0, np.int64)], 0
    for block in blocks:
        labels = block.labels
        if "period" in labels:
            labels = labels.assign(period=labels["period"].map(ordinal) // by)
        names = list(labels.columns)
        code = labels.groupby(names, dropna=False, sort=False).ngroup().to_numpy() if names else 0
        parts.append(np.broadcast_to(np.asarray(code, np.int64), len(labels)) + count)
        count = int(parts[-1].max(initial=count - 1)) + 1
    return np.concatenate(parts)


def coarse_model(arrays: ModelArrays, columns: np.ndarray, rows: np.ndarray) -> ModelArrays:
    """Return the model in which columns of one group have one value and rows of one group are added up."""
    count, total = int(columns.max()) + 1, int(rows.max()) + 1
    spread = sparse.csr_array(
        (np.ones(len(columns)), (np.arange(len(columns)), columns)), (len(columns), count)
    )
    adding = sparse.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), (total, len(rows)))
    lower = np.full(count, -np.inf)
    np.maximum.at(lower, columns, arrays.lower)
    upper = np.full(count, -np.inf)
    np.maximum.at(upper, columns, arrays.upper)
    return ModelArrays(
        matrix=sparse.csr_array(adding @ arrays.matrix @ spread),
        cost=arrays.cost @ spread,
        offset=arrays.offset,
        lower=lower,
        upper=upper,
        row_lower=adding @ arrays.row_lower,
        row_upper=adding @ arrays.row_upper,
        integer=np.zeros(count, bool),
    )
