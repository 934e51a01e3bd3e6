"""HiGHS in memory: arrays in, arrays out, the solver object kept for the next costs or bounds."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import highspy
import numpy as np
from scipy import sparse

from planner.errors import SolverFailed
from planner.formulation.arrays import ModelArrays
from planner.solve.monitor import Monitor
from planner.solve.options import SolveOptions
from planner.solve.process import interrupt_flag, quiet_highs, scheduler
from planner.solve.result import Solution, Stop, Termination, relative_gap, status_of_plan

Model = highspy.HighsModelStatus
LIMITS: dict[Model, Stop] = {
    Model.kTimeLimit: "time_limit",
    Model.kInterrupt: "interrupt",
    Model.kIterationLimit: "other",
    Model.kSolutionLimit: "other",
    Model.kMemoryLimit: "other",
    Model.kObjectiveBound: "other",
    Model.kObjectiveTarget: "other",
    Model.kUnknown: "other",
}
STATUSES = {int(status): status for status in highspy.HighsBasisStatus.__members__.values()}
BASIC, AT_LOWER = int(highspy.HighsBasisStatus.kBasic), int(highspy.HighsBasisStatus.kLower)
FEASIBLE = 2
"""HiGHS's number for 'a feasible point is there' in ``primal_solution_status``."""
HEURISTICS = {"mip_heuristic_run_root_reduced_cost": False}
"""This heuristic of HiGHS 1.16 propagates the objective without looking at the clock: on a fleet model of 39 k
columns it ran minutes past the time limit in steps too small to matter."""
DUAL, PRIMAL = 1, 4
"""HiGHS's numbers for the serial dual and the primal simplex method."""
EXACT_TOLERANCE = 1e-9
ENDLESS = 2**31 - 1
"""HiGHS's own number for no limit, of nodes or of steps."""
FEWEST_STEPS, BORROWED_STEPS = 1000, 0.15
"""Steps of the simplex method that a basis of another model is worth, in all and per row; beginning anew takes one to
two per row (measured: ``bench/relaxation.py``)."""
CONTRADICTION = 1e-5
"""Relative difference between reported and recomputed objective that rounding cannot explain."""
LARGEST_COST, SMALLEST_COST = 1e5, 1.0
"""The greatest cost is scaled into this range, so that HiGHS's absolute tolerances (1e-7 on reduced costs,
1e-6 on the objective of a MILP) stay small beside the objective."""


@dataclass(frozen=True)
class Limits:
    """When one run may stop, and how closely limits must hold.

    Attributes
    ----------
    relative_gap, absolute_gap
        Gap relative to the objective, and in its units; either ends a MILP.
    seconds
        Wall seconds.
    stop_at_bound
        Proven bound that is good enough.
    feasibility
        Absolute tolerance of rows and bounds; None chooses by the gap.
    interior_point
        Solve an LP by interior point to 1e-8 without a basis: no duals to rely on.
    primal
        Solve an LP by the primal simplex method: from a basis that is feasible, as after new costs or columns.
    """

    relative_gap: float = 0.0
    absolute_gap: float = 0.0
    seconds: float | None = None
    stop_at_bound: float = np.inf
    feasibility: float | None = None
    interior_point: bool = False
    primal: bool = False


class Unbounded(SolverFailed):
    """The objective can fall without limit: the model misses a limit."""

    def __init__(self) -> None:
        super().__init__("the model is unbounded: some cost can fall without limit; a limit is missing")


class HighsSession:
    """One HiGHS object with a model in it; costs and bounds may change between runs.

    Parameters
    ----------
    arrays
        The model; its objective is used until :meth:`set_cost`.
    options
        Solver options; ``relax`` leaves whole numbers out.
    """

    def __init__(self, arrays: ModelArrays, options: SolveOptions):
        self.arrays, self.options = arrays, options
        self.is_milp = bool(arrays.integer.any()) and not options.relax
        self._highs = quiet_highs()
        self._begins_elsewhere = False
        self._scale = cost_scale(arrays.cost)
        self._require(self._highs.passModel(_highs_lp(arrays, self._scale, self.is_milp)), "the model")
        self._set(random_seed=options.seed, **HEURISTICS)

    @property
    def scale(self) -> float:
        """Return by what costs are multiplied on their way into the solver."""
        return self._scale

    def set_cost(self, cost: np.ndarray, offset: float = 0.0) -> None:
        """Replace the objective by ``cost @ x + offset``; basis and incumbent stay for a warm start."""
        self.arrays = replace(self.arrays, cost=cost, offset=offset)
        self._scale = cost_scale(cost)
        count = len(cost)
        every = np.arange(count, dtype=np.int32)
        self._require(self._highs.changeColsCost(count, every, cost * self._scale), "the costs")
        self._require(self._highs.changeObjectiveOffset(offset * self._scale), "the objective constant")

    def set_bounds(self, lower: np.ndarray, upper: np.ndarray) -> None:
        """Replace the bounds of every column."""
        self.arrays = replace(self.arrays, lower=lower, upper=upper)
        every = np.arange(len(lower), dtype=np.int32)
        self._require(self._highs.changeColsBounds(len(lower), every, lower, upper), "the bounds")

    def add_columns(
        self, cost: np.ndarray, lower: np.ndarray, upper: np.ndarray, matrix: sparse.csc_array
    ) -> None:
        """Add continuous columns at the end; the basis stays, the new ones at a bound."""
        whole = self.arrays
        self.arrays = replace(
            whole,
            matrix=sparse.hstack([whole.matrix, matrix], format="csr"),
            cost=np.concatenate([whole.cost, cost]),
            lower=np.concatenate([whole.lower, lower]),
            upper=np.concatenate([whole.upper, upper]),
            integer=np.concatenate([whole.integer, np.zeros(len(cost), bool)]),
        )
        start, index = matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32)
        added = self._highs.addCols(
            len(cost), cost * self._scale, lower, upper, matrix.nnz, start, index, matrix.data
        )
        self._require(added, "more columns")

    def basis(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the basis of the last LP: a status (of ``highspy.HighsBasisStatus``) per column and per row."""
        basis = self._highs.getBasis()
        columns, rows = (
            np.array([int(status) for status in part], np.int8)
            for part in (basis.col_status, basis.row_status)
        )
        return columns, rows

    def set_basis(self, columns: np.ndarray, rows: np.ndarray) -> None:
        """Begin the next LP from these statuses; a basis of too few or too many columns is mended by HiGHS."""
        basis = highspy.HighsBasis()
        basis.col_status = [STATUSES[status] for status in columns.tolist()]
        basis.row_status = [STATUSES[status] for status in rows.tolist()]
        basis.valid, basis.alien = True, True
        self._require(self._highs.setBasis(basis), "the basis")
        self._begins_elsewhere = True

    def run(self, limits: Limits | None = None, start: np.ndarray | None = None, step: str = "") -> Solution:
        """Solve and return what was proven and found.

        Parameters
        ----------
        limits
            Gaps and seconds; by default those of the options.
        start
            Known values per column for a MILP, NaN where unknown.
        step
            Name of this run for the progress report.
        """
        options = self.options
        limits = limits or Limits(options.gap, 0.0, options.time_limit_s)
        began = time.perf_counter()
        self._set_limits(limits)
        if start is not None and self.is_milp:
            self._set_start(start)
        with scheduler(options.threads) as threads, interrupt_flag() as interrupted:
            self._set(threads=threads)
            monitor = Monitor(self._scale, limits.stop_at_bound, interrupted, options.progress, step)
            with monitor.watching(self._highs):
                status = self._run_once()
                if self._contradicts_itself():
                    self._require(self._highs.clearSolver(), "to start afresh")
                    status = self._run_once()
        if self._contradicts_itself():
            raise SolverFailed("HiGHS reports an objective that its own plan does not have")
        return self._solution(status, limits.relative_gap, time.perf_counter() - began, monitor.stopped)

    def _run_once(self) -> Model:
        """Run; where presolve cannot tell infeasible from unbounded, run again without it.

        A given basis may be so far from the optimum that to begin anew, with presolve, is quicker: it has a share of
        the steps that usually takes.
        """
        if self._begins_elsewhere:
            self._begins_elsewhere = False
            steps = FEWEST_STEPS + int(BORROWED_STEPS * len(self.arrays.row_lower))
            self._set(simplex_iteration_limit=steps)
            status = self._run()
            self._set(simplex_iteration_limit=ENDLESS)
            if status == Model.kIterationLimit:
                self._require(self._highs.clearSolver(), "to start afresh")
                status = self._run()
        else:
            status = self._run()
        if status == Model.kUnboundedOrInfeasible:
            self._set(presolve="off")
            status = self._run()
            self._set(presolve="choose")
        return status

    def _contradicts_itself(self) -> bool:
        """Return whether the objective HiGHS reports is not that of the values it returns.

        HiGHS 1.16.0 can return the start it was given, with an objective and a bound of nothing, when
        presolve alone solves a MILP with a start (35 of 2400 small covering models; 1.15.1: none). Without a
        start the same model is solved rightly.
        """
        information = self._highs.getInfo()
        if not self.is_milp or information.primal_solution_status != FEASIBLE:
            return False
        reported = information.objective_function_value / self._scale
        found = self.arrays.objective_at(np.array(self._highs.getSolution().col_value, float))
        size = max(abs(reported), abs(found), float(np.abs(self.arrays.cost).max(initial=0.0)))
        return abs(reported - found) > CONTRADICTION * size

    def _run(self) -> Model:
        if self._highs.run() == highspy.HighsStatus.kError:
            raise SolverFailed(f"HiGHS stopped with an error: {self._words(self._highs.getModelStatus())}")
        return self._highs.getModelStatus()

    def _solution(self, status: Model, requested: float, seconds: float, stopped: Stop | None) -> Solution:
        information = self._highs.getInfo()
        words = f"HiGHS: {self._words(status)}"
        if status in (Model.kInfeasible, Model.kUnboundedOrInfeasible):
            ended = Termination("infeasible", np.inf, np.inf, seconds, words)
            return self._without_values(ended)
        if status == Model.kUnbounded:
            raise Unbounded
        if status not in LIMITS and status not in (Model.kOptimal, Model.kModelEmpty):
            raise SolverFailed(f"HiGHS could not solve the model: {self._words(status)}")
        stop: Stop = stopped or LIMITS.get(status, "proof")
        if status != Model.kModelEmpty and information.primal_solution_status != FEASIBLE:
            bound = information.mip_dual_bound / self._scale if self.is_milp else -np.inf
            return self._without_values(Termination("no_solution", bound, np.inf, seconds, words, stop))
        return self._with_values(status, requested, seconds, words, stop)

    def _with_values(
        self, status: Model, requested: float, seconds: float, words: str, stop: Stop
    ) -> Solution:
        solution = self._highs.getSolution()
        values = np.array(solution.col_value, float) + 0.0  # no minus zero
        objective = self.arrays.objective_at(values)
        proven = status in (Model.kOptimal, Model.kModelEmpty)
        if self.is_milp and status != Model.kModelEmpty:
            bound = min(self._highs.getInfo().mip_dual_bound / self._scale, objective)
        else:
            bound = objective if proven else -np.inf
        gap = relative_gap(objective, bound)
        ended = Termination(status_of_plan(gap, requested), bound, gap, seconds, words, stop)
        if self.is_milp or not proven:
            return Solution(ended, values, objective)
        duals = np.array(solution.row_dual, float) / self._scale
        return Solution(ended, values, objective, duals, np.array(solution.col_dual, float) / self._scale)

    def _without_values(self, ended: Termination) -> Solution:
        return Solution(ended, np.full(len(self.arrays.cost), np.nan), np.nan)

    def _set_limits(self, limits: Limits) -> None:
        exact = limits.relative_gap == 0 and limits.absolute_gap == 0
        usual, whole = (EXACT_TOLERANCE, EXACT_TOLERANCE) if exact else (1e-7, 1e-6)
        self._set(
            mip_rel_gap=limits.relative_gap,
            mip_abs_gap=limits.absolute_gap * self._scale,
            mip_max_nodes=ENDLESS if self.options.node_limit is None else self.options.node_limit,
            time_limit=np.inf if limits.seconds is None else max(limits.seconds, 0.01),
            mip_feasibility_tolerance=limits.feasibility or whole,
            primal_feasibility_tolerance=limits.feasibility or usual,
            dual_feasibility_tolerance=usual,
            solver="ipm" if limits.interior_point else "choose",
            simplex_strategy=PRIMAL if limits.primal else DUAL,
            run_crossover="off" if limits.interior_point else "on",
        )

    def _set_start(self, start: np.ndarray) -> None:
        known = np.flatnonzero(np.isfinite(start)).astype(np.int32)
        self._highs.setSolution(len(known), known, start[known])

    def _set(self, **values: bool | float | str) -> None:
        for name, value in values.items():
            self._require(self._highs.setOptionValue(name, value), f"option {name}={value}")

    def _words(self, status: Model) -> str:
        return str(self._highs.modelStatusToString(status))

    def _require(self, status: highspy.HighsStatus, what: str) -> None:
        if status == highspy.HighsStatus.kError:
            raise SolverFailed(f"HiGHS refused {what}")


def cost_scale(cost: np.ndarray) -> float:
    """Return the power of two that brings the greatest cost into the range HiGHS's tolerances suit."""
    greatest = float(np.abs(cost).max(initial=0.0))
    if greatest == 0 or SMALLEST_COST <= greatest <= LARGEST_COST:
        return 1.0
    target = SMALLEST_COST if greatest < SMALLEST_COST else LARGEST_COST
    return float(2.0 ** np.round(np.log2(target / greatest)))


def _highs_lp(arrays: ModelArrays, scale: float, is_milp: bool) -> highspy.HighsLp:
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = arrays.matrix.shape
    lp.col_cost_, lp.offset_ = arrays.cost * scale, arrays.offset * scale
    lp.col_lower_, lp.col_upper_ = arrays.lower, arrays.upper
    lp.row_lower_, lp.row_upper_ = arrays.row_lower, arrays.row_upper
    inner = lp.a_matrix_
    inner.format_ = highspy.MatrixFormat.kRowwise
    inner.num_row_, inner.num_col_ = arrays.matrix.shape
    inner.start_, inner.index_ = arrays.matrix.indptr, arrays.matrix.indices
    inner.value_ = arrays.matrix.data
    if is_milp:
        kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
        lp.integrality_ = [kinds[flag] for flag in arrays.integer.tolist()]
    return lp
