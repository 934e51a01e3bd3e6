import os
import signal
import subprocess
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest

from planner.solve import SolveOptions, available_solvers, monitor, solve, solve_ratio
from planner.solve.process import quiet_highs, stdout_silenced

SOLVE_AND_ANSWER = """
import numpy as np, pandas as pd
from planner.formulation.blocks import ColumnBlock, RowBlock
from planner.formulation.pulp_face import PlanProblem
from planner.solve import SolveOptions, solve, solve_fixed, solve_ratio
print("before")
columns = [ColumnBlock("x", pd.DataFrame({"k": range(4)}), 0, 3, True)]
rows = [RowBlock.from_terms("need", pd.DataFrame({"r": [0]}), ">=", 5.5, [(0, range(4), [1, 2, 1, 3])])]
problem = PlanProblem("p", columns, rows, np.array([2.0, 3.0, 1.5, 7.0]))
options = SolveOptions(gap=0.0, solver="SOLVER")
solve_fixed(problem, solve(problem, options))
solve_ratio(problem, problem.cost, np.array([1.0, 2.0, 1.0, 3.0]), options)
print("after")
"""


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_standard_output_carries_only_what_the_caller_prints(solver):
    if solver not in available_solvers():
        pytest.skip(f"{solver} is not installed")
    script = SOLVE_AND_ANSWER.replace("SOLVER", solver)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "before\nafter\n"
    assert done.stderr == ""


def test_text_written_before_and_after_the_silence_arrives(capfd):
    print("before")
    with stdout_silenced():
        os.write(1, b"from a library\n")
    print("after")
    assert capfd.readouterr().out == "before\nafter\n"


def test_a_second_solve_with_another_thread_count_still_solves(make_covering):
    problem, plans = make_covering(3)
    best = (plans @ problem.cost).min()
    for threads in (1, 2, None, 1):
        found = solve(problem, SolveOptions(gap=0.0, threads=threads))
        assert found.status == "optimal"
        assert found.objective == pytest.approx(best)


def test_ctrl_c_ends_the_search_and_keeps_the_plan(hard_knapsack):
    def press(state):
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    found = solve(hard_knapsack, SolveOptions(gap=0.0, time_limit_s=30, progress=press))
    assert found.status == "feasible"
    assert found.termination.stop == "interrupt"
    assert found.objective < 0
    assert found.termination.seconds < 10
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_ends_every_step_of_a_ratio(hard_knapsack, monkeypatch):
    # On a quick machine the steps end within the half second between two reports.
    monkeypatch.setattr(monitor, "SECONDS_BETWEEN_REPORTS", 0.0)
    presses = []

    def press(state):
        if np.isfinite(state.incumbent) and not presses:
            presses.append(state)
            os.kill(os.getpid(), signal.SIGINT)

    tokens = np.linspace(1.0, 2.0, len(hard_knapsack.cost))
    options = SolveOptions(gap=0.0, time_limit_s=30, progress=press)
    found = solve_ratio(hard_knapsack, hard_knapsack.cost, tokens, options, denominator_offset=50.0)
    assert len(presses) == 1
    assert found.status == "feasible"
    assert found.termination.stop == "interrupt"
    assert found.termination.bound < found.objective


def test_outside_the_main_thread_a_solve_needs_no_signals(make_covering):
    problem, plans = make_covering(4)
    results = []
    worker = threading.Thread(target=lambda: results.append(solve(problem, SolveOptions(gap=0.0))))
    worker.start()
    worker.join(30)
    assert results[0].objective == pytest.approx((plans @ problem.cost).min())


def test_progress_tells_time_incumbent_bound_and_gap_at_a_bearable_rate(hard_knapsack):
    told = []
    solve(hard_knapsack, SolveOptions(gap=0.0, time_limit_s=2.2, progress=told.append))
    assert 2 <= len(told) <= 5
    assert all(later.elapsed_s - earlier.elapsed_s >= 0.45 for earlier, later in pairwise(told))
    last = told[-1]
    assert last.bound <= last.incumbent < 0
    assert last.gap == pytest.approx((last.incumbent - last.bound) / -last.incumbent)


def test_a_failing_progress_report_is_not_swallowed(hard_knapsack):
    def broken(state):
        raise RuntimeError("the terminal is gone")

    with pytest.raises(RuntimeError, match="the terminal is gone"):
        solve(hard_knapsack, SolveOptions(gap=0.0, time_limit_s=30, progress=broken))


def test_a_solver_object_is_silent_from_the_start(capfd):
    highs = quiet_highs()
    highs.run()
    assert capfd.readouterr().out == ""
