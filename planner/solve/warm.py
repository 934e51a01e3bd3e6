"""The relaxation of a model and of others like it, each begun from where the first one ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from planner.formulation.arrays import ModelArrays
from planner.formulation.blocks import ColumnBlock, RowBlock
from planner.formulation.pulp_face import PlanProblem
from planner.solve.clock import Clock
from planner.solve.highs import AT_LOWER, BASIC, HighsSession, Limits
from planner.solve.options import SolveOptions
from planner.solve.ratio_lp import Ratio, lp_least_ratio
from planner.solve.result import Solution
from planner.solve.sifting import SIFTED_FROM_COLUMNS, SiftedSession, worth_keeping


@dataclass
class WarmRelaxation:
    """Relaxations of models that differ in costs, limits, rates or dates; always by HiGHS.

    The first one leaves its basis. Each later model takes it over by the labels of its variables and constraints: a few
    hundred steps of the simplex method instead of thousands. As all begin from the same basis, the plan found does not
    depend on the order in which cases are solved.

    Attributes
    ----------
    options
        Limits and seed; ``relax`` is taken as set.
    follows
        Each relaxation is begun from the last one instead: for a series of models in steps, see :meth:`series`.
    periods
        Names of the periods in the order of time: very many columns are sifted by them (``sifting``).
    """

    options: SolveOptions
    follows: bool = False
    periods: Sequence[str] = ()
    _first: PlanProblem | None = None
    _columns: np.ndarray = field(default_factory=lambda: np.empty(0, np.int8))
    _rows: np.ndarray = field(default_factory=lambda: np.empty(0, np.int8))
    _kept: np.ndarray = field(default_factory=lambda: np.empty(0, np.int8))
    _level: float = 0.0

    def solve(
        self,
        problem: PlanProblem,
        goal: Ratio | tuple[np.ndarray, float],
        time_limit_s: float | None = None,
        afresh: bool = False,
    ) -> Solution:
        """Return the optimum of the relaxation of a problem: least ratio, or least cost (vector and constant).

        The limit of time is that of the options unless given. A model far from the last one is solved ``afresh``: its
        columns are sifted from those that mattered before, but not from their basis. So is every sifted model of a
        series in steps: the caps of very many pools at once leave too little of a basis (``bench/relaxation.py``).
        """
        # Cost alone is the easier objective where nothing is known: a basis for it is near that of the ratio.
        afresh = afresh or (self.follows and problem.columns.count >= SIFTED_FROM_COLUMNS)
        level = 0.0 if afresh else self._level
        cost, offset = goal.cost_at(level) if isinstance(goal, Ratio) else goal
        clock = Clock(time_limit_s or self.options.time_limit_s)
        session = self._session(problem, replace(problem.arrays(), cost=cost, offset=offset), afresh, clock)
        limits = Limits(seconds=clock.left)
        if isinstance(goal, Ratio):
            found = lp_least_ratio(session, goal, limits, level)
        else:
            found = session.run(limits)
        if (self._first is None or self.follows) and found.termination.has_values:
            self._first, (self._columns, self._rows) = problem, session.basis()
            if isinstance(session, SiftedSession):
                self._kept = session.kept.astype(np.int8)
            self._level = found.objective
        return found

    def _session(
        self, problem: PlanProblem, arrays: ModelArrays, afresh: bool, clock: Clock
    ) -> HighsSession | SiftedSession:
        """Return a session that begins where the relaxation before ended, or with the columns worth it."""
        options = replace(self.options, solver="highs", relax=True, progress=None)
        sifted = len(arrays.cost) >= SIFTED_FROM_COLUMNS and len(self.periods) > 0
        if self._first is None:
            if not sifted:
                return HighsSession(arrays, options)
            kept = worth_keeping(problem, arrays, options, self.periods, clock.left)
            return SiftedSession(arrays, options, kept)
        columns, rows = self._taken_over(self._first, problem)
        if not sifted:
            session: HighsSession | SiftedSession = HighsSession(arrays, options)
        else:
            kept = statuses(self._first.columns.blocks, self._kept, problem.columns.blocks, 0) > 0
            session = SiftedSession(arrays, options, kept | (columns == BASIC))
        if not afresh:
            session.set_basis(columns, rows)
        return session

    def series(self) -> WarmRelaxation:
        """Return one for a series of models, each begun from the last, the first of them from the first of all."""
        return replace(self, follows=True)

    def _taken_over(self, first: PlanProblem, problem: PlanProblem) -> tuple[np.ndarray, np.ndarray]:
        return (
            statuses(first.columns.blocks, self._columns, problem.columns.blocks, AT_LOWER),
            statuses(first.rows, self._rows, problem.rows, BASIC),
        )


def statuses(
    before: Sequence[ColumnBlock | RowBlock],
    status: np.ndarray,
    after: Sequence[ColumnBlock | RowBlock],
    new: int,
) -> np.ndarray:
    """Return the status of every column (row) of the blocks after, taken from those before by family and labels.

    What was not there before gets the status ``new``. Custom rows of a problem are not among its blocks.
    """
    ends = np.cumsum([len(block) for block in before])
    known = {
        block.family: (block.labels, status[end - len(block) : end])
        for block, end in zip(before, ends, strict=True)
    }
    parts = [np.full(0, new, np.int8)]
    for block in after:
        labels, kept = known.get(block.family, (block.labels.iloc[:0], status[:0]))
        if labels is block.labels or labels.equals(block.labels):
            parts.append(kept)
        elif not len(labels):
            parts.append(np.full(len(block), new, np.int8))
        else:
            parts.append(_by_label(labels, kept, block.labels, new))
    return np.concatenate(parts)


def _by_label(before: pd.DataFrame, status: np.ndarray, after: pd.DataFrame, new: int) -> np.ndarray:
    table = before.assign(status=status).drop_duplicates(list(before.columns))
    joined = after.merge(table, on=list(after.columns), how="left", validate="many_to_one")
    return joined["status"].fillna(new).to_numpy(np.int8)
