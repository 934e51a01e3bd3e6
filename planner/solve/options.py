"""What a solve is asked for, and what it reports on its way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from planner.errors import Fault, InputError


@dataclass(frozen=True)
class Progress:
    """State of a running solve.

    Attributes
    ----------
    elapsed_s
        Wall seconds since the solve began.
    incumbent, bound
        Objective of the best plan so far (infinite when there is none) and proven bound, in objective units.
    gap
        ``|incumbent - bound| / |incumbent|``; infinite while there is no incumbent.
    step
        Which of several solves this is, in words; empty for a single solve.
    """

    elapsed_s: float
    incumbent: float
    bound: float
    gap: float
    step: str = ""


ProgressCallback = Callable[[Progress], None]


@dataclass(frozen=True)
class SolveOptions:
    """How to solve.

    Attributes
    ----------
    solver
        ``highs`` (in memory, default) or a solver PuLP can call: ``cbc``, ``gurobi``, ``scip``, ...
    gap
        Relative gap at which a plan counts as proven, ``|objective - bound| / |objective|``; 0 asks for an
        exact optimum.
    time_limit_s
        Wall seconds over all steps of one call; None means no limit.
    node_limit
        Nodes of one branch-and-bound search; unlike seconds it ends at the same place on every machine. None means no
        limit; HiGHS only.
    threads
        Threads of the solver; None keeps what this process uses already (one at first).
    seed
        Random seed of the solver; the same seed and input give the same plan.
    relax
        Solve the linear relaxation: whole numbers may be fractions.
    progress
        Called about twice a second with a :class:`Progress`.
    """

    solver: str = "highs"
    gap: float = 0.005
    time_limit_s: float | None = None
    node_limit: int | None = None
    threads: int | None = None
    seed: int = 0
    relax: bool = False
    progress: ProgressCallback | None = None

    def __post_init__(self) -> None:
        checks = [
            ("gap", 0 <= self.gap < 1, "a fraction from 0 to below 1, for example 0.005"),
            (
                "time_limit_s",
                self.time_limit_s is None or self.time_limit_s > 0,
                "seconds above 0, or nothing",
            ),
            (
                "node_limit",
                self.node_limit is None or self.node_limit >= 0,
                "a whole number from 0, or nothing",
            ),
            ("threads", self.threads is None or self.threads >= 1, "a whole number from 1, or nothing"),
            ("seed", 0 <= self.seed < 2**31, "a whole number from 0 to 2147483647"),
        ]
        faults = [
            Fault("solve options", f"allowed: {allowed}", column=name, value=str(getattr(self, name)))
            for name, good, allowed in checks
            if not good
        ]
        if faults:
            raise InputError(faults)
