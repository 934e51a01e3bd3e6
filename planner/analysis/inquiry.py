"""What analyses of a solved plan share: the scenario under study, the journal of finished pieces, the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from planner.analysis.answer import Answer, answer, answer_from
from planner.analysis.journal import Journal
from planner.analysis.sites_study import Study
from planner.errors import InfeasiblePlan
from planner.inputs import Scenario
from planner.pipeline.options import RunOptions
from planner.pipeline.strategy import STAGED_FROM_COLUMNS
from planner.plan import Plan
from planner.plan.bound import BOUND_LABEL, is_bound, with_units
from planner.solve import Solution


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
    def planned_study(self) -> Study:
        """Return the scenario and its model under the caps of the plan, so that its bound is that of the plan."""
        tightened = int(self.plan.headline.get("cap_passes") or 1) > 1
        caps = self.plan.frames.get("pools") if tightened else None
        return Study.of(self.plan.scenario, self.options, caps=caps)

    @cached_property
    def whole(self) -> bool:
        """Return whether cases are planned again in whole units: models that are not too large for it."""
        study = self.planned_study
        return not (study.model.columns.count >= STAGED_FROM_COLUMNS or study.options.relax)

    @cached_property
    def base(self) -> Solution:
        """Return the plan as it stands, planned again: what every case is a difference to."""
        found = self.planned_study.solved(self.planned_study.model, self.whole)
        if not found.termination.has_values:
            raise InfeasiblePlan("the scenario has no plan to decide on")
        return found

    @cached_property
    def planned(self) -> Answer:
        """Return what the plan as it stands costs and orders."""
        return answer_from(self.planned_study, self.planned_study.built, self.base)

    def case(self, scenario: Scenario) -> Answer:
        """Return what a changed scenario costs and orders, planned again as the plan was."""
        return answer(self.planned_study, scenario, self.whole)

    @cached_property
    def journal(self) -> Journal:
        """Return the finished pieces of this question about these inputs."""
        scenario = self.plan.scenario
        wanted = self.options.solve_options(scenario.settings)
        objective = self.options.objective_of(scenario.settings)
        parts = (scenario.input_hash, objective, wanted.gap, wanted.relax, *self.about)
        return Journal(self.keep, "|".join(map(str, parts)), self.tell)
