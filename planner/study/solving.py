"""One case solved: the same pure function in this process, in another one, or on another machine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from planner.coefficients.orders.purchase_policy import ORDER
from planner.errors import InfeasiblePlan, InputError, PlannerError
from planner.inputs.overrides import Override
from planner.inputs.scenario import Scenario
from planner.performance import PointSet, operating_points
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


@dataclass(frozen=True)
class Trial:
    """What one solve changes beside the base.

    Attributes
    ----------
    changes
        Of inputs.
    rates
        Chip family and what the rates of its operating points are multiplied by.
    held
        Orders that are decided (offer, site, cooling, period, units), no more and no fewer; None leaves all open.
    """

    changes: tuple[Override, ...] = ()
    rates: tuple[tuple[str, float], ...] = ()
    held: tuple[tuple[Any, ...], ...] | None = None


def solve_case(shared: Shared, changes: Sequence[Override]) -> Outcome:
    """Return the outcome of the scenario with changes; whatever goes wrong is an outcome too."""
    return solve_trial(shared, Trial(tuple(changes)))


def solve_trial(shared: Shared, trial: Trial) -> Outcome:
    """Return the outcome of a trial; whatever goes wrong is an outcome too."""
    began = time.perf_counter()
    try:
        found = _outcome(shared, trial)
    except InfeasiblePlan as error:
        found = without_plan("infeasible", str(error))
    except InputError as error:
        found = without_plan("failed", f"bad input: {error}")
    except PlannerError as error:
        found = without_plan("failed", str(error))
    except Exception as error:
        found = without_plan("failed", f"{type(error).__name__}: {error}")
    return {**found, "seconds": time.perf_counter() - began}


def _outcome(shared: Shared, trial: Trial) -> Outcome:
    scenario = shared.base.scenario(trial.changes)
    points = shared.points_of(scenario)
    if trial.rates:
        points = _with_rates(operating_points(scenario) if points is None else points, scenario, trial)
    held = None if trial.held is None else pd.DataFrame([*trial.held], columns=[*ORDER, "units"])
    found = planned(scenario, shared.options, points, held)
    return outcome_of(found, replace(shared.options.solve_options(scenario.settings), progress=None))


def _with_rates(points: PointSet, scenario: Scenario, trial: Trial) -> PointSet:
    """Return the points with the rates of some chip families multiplied."""
    chips = scenario.tables["products"].set_index("product")["chip"]
    families = scenario.tables["chips"].set_index("chip")["family"]
    taken = points.taken
    family = taken["product"].map(chips).map(families)
    factor = family.map(dict(trial.rates)).astype(float).fillna(1.0)
    return replace(points, taken=taken.assign(requests_per_s=taken["requests_per_s"] * factor))
