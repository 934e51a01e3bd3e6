"""Any solver PuLP can call, in a process of its own that is killed when its time is over.

External solvers overrun their limits, print on standard output and bring libraries that do not mix; a worker
process keeps all that out of the planner. Their word on optimality is taken as claimed, their plan is checked
against every limit of the model.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pulp

from planner.errors import Fault, InputError, SolverFailed
from planner.formulation.arrays import ModelArrays
from planner.solve.highs import Limits, Unbounded
from planner.solve.options import SolveOptions
from planner.solve.result import Solution, Termination, relative_gap, status_of_plan

PULP_NAMES: dict[str, tuple[str, ...]] = {
    "cbc": ("COIN_CMD", "PULP_CBC_CMD"),
    "scip": ("SCIP_PY", "SCIP_CMD", "FSCIP_CMD"),
    "gurobi": ("GUROBI", "GUROBI_CMD"),
    "cplex": ("CPLEX_PY", "CPLEX_CMD"),
    "xpress": ("XPRESS_PY", "XPRESS"),
    "copt": ("COPT", "COPT_DLL", "COPT_CMD"),
    "glpk": ("GLPK_CMD", "PYGLPK"),
    "mosek": ("MOSEK",),
}
"""Our name of a solver -> PuLP's names for it, in order of preference."""
KILL_GRACE_S = 5.0
"""Seconds beyond its own limit that a solver gets to hand over what it found (unsourced estimate)."""
ACCEPTED_VIOLATION = 1e-5
"""Greatest relative violation of a limit in a plan that is still accepted as one."""


def available_solvers() -> list[str]:
    """Return the names that work here: ``highs`` and each external solver PuLP finds."""
    return ["highs", *(name for name, candidates in PULP_NAMES.items() if _first_available(candidates))]


def pulp_solver_name(name: str) -> str:
    """Return PuLP's name of an installed solver.

    Raises
    ------
    InputError
        The name is unknown or nothing of that name is installed; the message lists what is.
    """
    known = pulp.listSolvers()
    candidates = PULP_NAMES.get(name.lower(), (name,) if name in known else ())
    found = _first_available(candidates)
    if found is not None:
        return found
    problem = "is not installed" if candidates else "is not a solver the planner knows"
    message = f"{problem}; available here: {', '.join(available_solvers())}"
    raise InputError([Fault("solve options", message, column="solver", value=name)])


def _first_available(candidates: tuple[str, ...]) -> str | None:
    from planner.solve.bridge_worker import make_solver

    for candidate in candidates:
        if make_solver(candidate, {}).available():
            return candidate
    return None


class PulpSession:
    """A model for an external solver; each run is a new worker process.

    Parameters
    ----------
    arrays
        The model.
    options
        Options; ``solver`` names the solver.
    """

    def __init__(self, arrays: ModelArrays, options: SolveOptions):
        self.arrays, self.options = arrays, options
        self.is_milp = bool(arrays.integer.any()) and not options.relax
        self._name = pulp_solver_name(options.solver)

    def set_cost(self, cost: np.ndarray, offset: float = 0.0) -> None:
        """Replace the objective."""
        self.arrays = replace(self.arrays, cost=cost, offset=offset)

    def run(self, limits: Limits | None = None, start: np.ndarray | None = None, step: str = "") -> Solution:
        """Solve; a start is not passed on, because few of these solvers take one in the same way."""
        options = self.options
        limits = limits or Limits(options.gap, 0.0, options.time_limit_s)
        arrays = (
            self.arrays if self.is_milp else replace(self.arrays, integer=np.zeros_like(self.arrays.integer))
        )
        wanted = {"timeLimit": limits.seconds, "gapRel": limits.relative_gap, "gapAbs": limits.absolute_gap}
        settings = {name: value for name, value in wanted.items() if value is not None}
        if options.threads is not None:
            settings["threads"] = options.threads
        began = time.perf_counter()
        answer = _in_worker({"arrays": arrays, "solver": self._name, "settings": settings}, limits.seconds)
        return self._solution(answer, limits, time.perf_counter() - began)

    def _solution(self, answer: dict | None, limits: Limits, seconds: float) -> Solution:
        nothing = np.full(len(self.arrays.cost), np.nan)
        if answer is None:
            words = f"{self._name}: stopped by the planner, its time was over"
            ended = Termination("no_solution", -np.inf, np.inf, seconds, words, "time_limit")
            return Solution(ended, nothing, np.nan)
        if "failure" in answer:
            raise SolverFailed(f"{self._name} failed: {answer['failure']}")
        words, outcome = f"{self._name}: {answer['words']}", answer["outcome"]
        if outcome in ("infeasible", "unbounded"):
            if outcome == "unbounded":
                raise Unbounded
            return Solution(Termination("infeasible", np.inf, np.inf, seconds, words), nothing, np.nan)
        if outcome == "none":
            ended = Termination("no_solution", -np.inf, np.inf, seconds, words, "time_limit")
            return Solution(ended, nothing, np.nan)
        return self._with_values(answer, limits, seconds, words)

    def _with_values(self, answer: dict, limits: Limits, seconds: float, words: str) -> Solution:
        values = answer["values"]
        checked = (
            self.arrays if self.is_milp else replace(self.arrays, integer=np.zeros_like(self.arrays.integer))
        )
        violation = checked.violation_at(values)
        if violation > ACCEPTED_VIOLATION:
            raise SolverFailed(f"{self._name} returned a plan that breaks a limit by {violation:.2g}")
        objective = self.arrays.objective_at(values)
        claimed = answer["outcome"] == "optimal"
        allowed = max(limits.absolute_gap, limits.relative_gap * abs(objective)) if self.is_milp else 0.0
        bound = objective - allowed if claimed else -np.inf
        gap = relative_gap(objective, bound)
        status = status_of_plan(gap, max(limits.relative_gap, gap if claimed else 0.0))
        detail = f"{words}; bound as claimed by the solver" if claimed else words
        ended = Termination(status, bound, gap, seconds, detail, "proof" if claimed else "time_limit")
        duals = None if self.is_milp else answer["row_duals"]
        return Solution(ended, values, objective, duals)


def _in_worker(request: dict, seconds: float | None) -> dict | None:
    """Return the worker's answer, or None when it had to be killed."""
    command = [sys.executable, "-m", "planner.solve.bridge_worker"]
    own_group = os.name == "posix"
    worker = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=own_group,
    )
    try:
        timeout = None if seconds is None else seconds + KILL_GRACE_S
        output, errors = worker.communicate(pickle.dumps(request), timeout=timeout)
    except subprocess.TimeoutExpired:
        _kill(worker, own_group)
        return None
    except BaseException:
        _kill(worker, own_group)
        raise
    if worker.returncode != 0:
        raise SolverFailed(f"{request['solver']} failed: {errors.decode(errors='replace').strip()[-500:]}")
    return pickle.loads(output)


def _kill(worker: subprocess.Popen, own_group: bool) -> None:
    """End the worker and the solver it started."""
    if own_group:
        os.killpg(worker.pid, signal.SIGKILL)
    else:
        worker.kill()
    worker.wait()
    for pipe in (worker.stdin, worker.stdout, worker.stderr):
        # A worker killed before it read its whole request leaves a broken pipe behind.
        with suppress(BrokenPipeError):
            if pipe is not None:
                pipe.close()
