"""One case solved: the same pure function in this process, in another one, or on another machine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.errors import InputError, PlannerError
from planner.inputs.overrides import Override
from planner.inputs.scenario import Scenario
from planner.performance import PointSet
from planner.pipeline.options import RunOptions
from planner.pipeline.run import planned
from planner.study.base import Base
from planner.study.outcome import Outcome, outcome_of, without_plan
from planner.study.points import KnownPoints

THREADS = 1
"""Threads of the solver in every case: results must not depend on how many processes run beside it."""


@dataclass(frozen=True)
class Shared:
    """What all cases of a study have in common, handed to each worker once.

    Attributes
    ----------
    base
        The scenario as read.
    options
        Objective, gap, relaxation and limits of every case.
    known
        Operating points of the unchanged scenario; None where it has none.
    """

    base: Base
    options: RunOptions
    known: KnownPoints | None

    @classmethod
    def of(cls, base: Base, unchanged: Scenario, options: RunOptions) -> Shared:
        """Return what the cases share, the operating points of the unchanged scenario computed."""
        wanted = replace(options, baselines=False, progress=None, threads=options.threads or THREADS)
        try:
            known = KnownPoints.of(unchanged)
        except PlannerError:
            # A case may mend what is wrong; one that does not says so itself.
            known = None
        return cls(base, wanted, known)

    def points_of(self, scenario: Scenario) -> PointSet | None:
        """Return the operating points of a changed scenario where they are those of the unchanged one."""
        return self.known.points if self.known is not None and self.known.fit(scenario) else None


def solve_case(shared: Shared, changes: Sequence[Override]) -> Outcome:
    """Return the outcome of the scenario with changes; whatever goes wrong is an outcome too."""
    began = time.perf_counter()
    try:
        found = _outcome(shared, changes)
    except InputError as error:
        found = without_plan("failed", f"bad input: {error}")
    except PlannerError as error:
        found = without_plan("failed", str(error))
    except Exception as error:
        found = without_plan("failed", f"{type(error).__name__}: {error}")
    return {**found, "seconds": time.perf_counter() - began}


def _outcome(shared: Shared, changes: Sequence[Override]) -> Outcome:
    scenario = shared.base.scenario(changes)
    found = planned(scenario, shared.options, shared.points_of(scenario))
    return outcome_of(found, replace(shared.options.solve_options(scenario.settings), progress=None))
