"""Worker process of ``bridge``: pickled model in on standard input, pickled answer out on standard output."""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from typing import Any

import pulp
from pulp import constants

from planner.formulation.pulp_objects import genuine_problem, row_duals, values_by_column

OUTCOMES = {
    constants.LpSolutionOptimal: "optimal",
    constants.LpSolutionIntegerFeasible: "feasible",
    constants.LpSolutionInfeasible: "infeasible",
    constants.LpSolutionUnbounded: "unbounded",
    constants.LpSolutionNoSolutionFound: "none",
}


def make_solver(name: str, settings: dict[str, Any]) -> pulp.LpSolver:
    """Return PuLP's solver object, silent; settings it does not know are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept = dict(settings)
        while True:
            try:
                return pulp.getSolver(name, msg=False, **kept)
            except TypeError as refused:
                unknown = [key for key in kept if f"'{key}'" in str(refused)]
                if not unknown:
                    raise
                del kept[unknown[0]]


def answer_to(request: dict[str, Any]) -> dict[str, Any]:
    """Return outcome, words, values and row duals of a request with arrays, solver and settings.

    ``sol_status`` decides: after a time limit PuLP's ``status`` says Optimal whatever was proven.
    """
    arrays = request["arrays"]
    count = arrays.matrix.shape
    columns, rows = [f"x_{k}" for k in range(count[1])], [f"r_{k}" for k in range(count[0])]
    problem = genuine_problem("plan", arrays, columns, rows)
    problem.solve(make_solver(request["solver"], request["settings"]))
    outcome = OUTCOMES[problem.sol_status]
    answer: dict[str, Any] = {"outcome": outcome, "words": constants.LpSolution[problem.sol_status]}
    if outcome in ("optimal", "feasible"):
        answer["values"] = values_by_column(problem, arrays)
        answer["row_duals"] = row_duals(problem)
    return answer


def main() -> None:
    """Answer one request; whatever the solver prints goes to standard error."""
    warnings.simplefilter("ignore")
    request = pickle.load(sys.stdin.buffer)
    reply = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        answer = answer_to(request)
    except Exception as failure:
        answer = {"failure": f"{type(failure).__name__}: {failure}"}
    with reply:
        pickle.dump(answer, reply)


if __name__ == "__main__":
    main()
