"""Many solves: cases of one scenario, solved by local processes or a cluster, each result stored as it finishes.

Reading order: ``base`` (a scenario before it is changed), ``cases`` (changes of it), ``vary`` and ``case_file`` (how
cases are stated), ``points`` (operating points computed once), ``outcome`` and ``solving`` (one case, the same function
everywhere), ``executors`` and ``cluster`` (where it runs), ``store`` (what is finished), ``run``.
"""

from __future__ import annotations

from planner.study.base import Base
from planner.study.case_file import read_case_file
from planner.study.cases import Case
from planner.study.cluster import ClusterProcesses
from planner.study.executors import Executor, LocalProcesses, ThisProcess
from planner.study.run import StudyRun, run_cases
from planner.study.store import Store
from planner.study.vary import grid

__all__ = [
    "Base",
    "Case",
    "ClusterProcesses",
    "Executor",
    "LocalProcesses",
    "Store",
    "StudyRun",
    "ThisProcess",
    "grid",
    "read_case_file",
    "run_cases",
]
