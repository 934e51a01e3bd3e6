"""What analyses of a solved plan share: the scenario under study, the journal of finished pieces, the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from planner.analysis.journal import Journal
from planner.analysis.sites_study import Study
from planner.errors import InfeasiblePlan
from planner.pipeline.options import RunOptions
from planner.plan import Plan
from planner.plan.bound import BOUND_LABEL, is_bound, with_units


@dataclass(frozen=True)
class Answers:
    """One table per question about a plan.

    Attributes
    ----------
    currency, gap
        Currency of the amounts; requested gap of whole-unit plans.
    tables
        Question -> its table.
    notes
        Question -> what was solved for it, and how exactly.
    """

    currency: str
    gap: float
    tables: Mapping[str, pd.DataFrame]
    notes: Mapping[str, str]


@dataclass
class Inquiry:
    """A solved plan that is asked about.

    Attributes
    ----------
    plan
        The plan; its scenario is what is asked about.
    options
        Objective, gap, solver and limits of the cases.
    keep
        File in which finished pieces are kept; None keeps nothing.
    tell
        Called with one line before each piece.

    Raises
    ------
    InfeasiblePlan
        The scenario has no plan.
    """

    plan: Plan
    options: RunOptions
    keep: Path | None
    tell: Callable[[str], None]

    def __post_init__(self) -> None:
        if "orders" not in self.plan.frames:
            raise InfeasiblePlan(
                f"the scenario has no plan to ask about: {self.plan.headline.get('message')}"
            )
        # What a bound stands on is asked about in fractions of units; no order is due from it.
        self.bound = is_bound(self.plan.headline)
        self.plan = with_units(self.plan)

    def labelled(self, notes: Mapping[str, str]) -> dict[str, str]:
        """Return the notes, each saying that no plan stands behind it where none does."""
        if not self.bound:
            return dict(notes)
        return {
            name: f"{BOUND_LABEL}: units are fractions and no order is due; {note}"
            for name, note in notes.items()
        }

    @property
    def about(self) -> tuple[object, ...]:
        """Return what a finished piece depends on besides the inputs, the objective and the gap."""
        return ()

    @cached_property
    def study(self) -> Study:
        """Return the scenario, its model and the optimum of its relaxation."""
        return Study.of(self.plan.scenario, self.options)

    @cached_property
    def journal(self) -> Journal:
        """Return the finished pieces of this question about these inputs."""
        scenario = self.plan.scenario
        wanted = self.options.solve_options(scenario.settings)
        objective = self.options.objective_of(scenario.settings)
        parts = (scenario.input_hash, objective, wanted.gap, wanted.relax, *self.about)
        return Journal(self.keep, "|".join(map(str, parts)), self.tell)
