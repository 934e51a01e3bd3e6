"""One scenario under study: its model, the relaxation of it, and the same with a limit or a date changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from planner.analysis.energisation import earlier_power
from planner.coefficients import Coefficients
from planner.formulation.blocks import ColumnBlock, ColumnIndex, RowBlock
from planner.formulation.build import PlanModel
from planner.formulation.joining import EmptyRow
from planner.formulation.pulp_face import PlanProblem
from planner.inputs import Scenario
from planner.performance import PointSet
from planner.pipeline.options import RunOptions
from planner.pipeline.run import Built, build_scenario
from planner.pipeline.strategy import Goal, solve_main, warm_relaxation
from planner.solve import Solution, SolveOptions
from planner.solve.warm import WarmRelaxation

ACQUIRED = ("order", "rent", "rent_hour", "build_kw", "retrofit_kw", "module", "bridge_kw", "open", "flow")
"""Variable families that put something new, or some load, at a site."""


@dataclass(frozen=True)
class Study:
    """A scenario, its model and the optimum of the relaxation.

    Attributes
    ----------
    scenario, built, goal
        What is planned, its model, what is minimised.
    options
        Solver options of whole-unit cases.
    relaxed
        Optimum of the relaxation: its duals are the long-run values.
    lost
        Requests/s of optional demand the relaxation leaves unserved, per column of ``unserved``.
    tokens
        Discounted effective Mtok of the relaxation.
    caps
        Pools of a plan (its frame ``pools``) whose caps every model keeps; None for caps of expected sizes.
    warm
        Relaxations of changed models, begun from the first one.
    """

    scenario: Scenario
    built: Built
    goal: Goal
    options: SolveOptions
    relaxed: Solution
    lost: np.ndarray
    tokens: float
    caps: pd.DataFrame | None = None
    warm: WarmRelaxation | None = None

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        options: RunOptions,
        points: PointSet | None = None,
        caps: pd.DataFrame | None = None,
    ) -> Study:
        """Return the study of a scenario; its relaxation may turn out infeasible (see ``relaxed.status``).

        Raises
        ------
        EmptyRow
            Some demand has nothing that could serve it.
        """
        built = build_scenario(scenario, points, caps)
        goal = Goal.of(options.objective_of(scenario.settings), built.coefficients)
        wanted = options.solve_options(scenario.settings)
        warm = warm_relaxation(built.coefficients, wanted)
        model = built.model
        relaxed = goal.relax(model, wanted, warm)
        lost = np.maximum(np.nan_to_num(relaxed.values[model.columns.position("unserved")]), 0.0)
        tokens = float(model.denominator @ relaxed.values)
        return cls(scenario, built, goal, wanted, relaxed, lost, tokens, caps, warm)

    @property
    def coefficients(self) -> Coefficients:
        """Return what the model is made of."""
        return self.built.coefficients

    @property
    def model(self) -> PlanModel:
        """Return the model."""
        return self.built.model

    def level(self, solution: Solution) -> float:
        """Return what a solution costs, in currency: its objective, a unit cost at the relaxation's tokens."""
        return float(solution.objective) * (self.tokens if self.goal.is_ratio else 1.0)

    def rebuilt(self, scenario: Scenario, points: PointSet | None = None) -> Built:
        """Return the model of a changed scenario, operating points and caps those of the study unless given."""
        return build_scenario(scenario, self.built.points if points is None else points, self.caps)

    def solved(self, model: PlanModel, whole: bool = False) -> Solution:
        """Return the optimum of a changed model: of its relaxation, or in whole units within the gap."""
        relaxed = self.goal.relax(model, self.options, self.warm)
        if not whole or self.options.relax or not relaxed.termination.has_values:
            return relaxed
        return solve_main(self.coefficients, model, self.goal, relaxed, self.options)


def with_bounds(
    model: PlanModel, bounds: Mapping[str, tuple[np.ndarray | None, np.ndarray | None]]
) -> PlanModel:
    """Return the model with other lower and upper bounds of some families; None leaves them as they are."""
    blocks = []
    for block in model.columns.blocks:
        low, high = bounds.get(block.family, (None, None))
        lower, upper = block.lower if low is None else low, block.upper if high is None else high
        blocks.append(ColumnBlock(block.family, block.labels, lower, upper, block.integer))
    return with_rows(replace(model, columns=ColumnIndex(blocks)), model.problem.rows)


def with_rows(model: PlanModel, rows: tuple[RowBlock, ...] | list[RowBlock]) -> PlanModel:
    """Return the model with other constraint rows."""
    problem = PlanProblem("case", model.columns, list(rows), model.numerator, model.numerator_constant)
    return replace(model, problem=problem)


def kept_rows(block: RowBlock, kept: np.ndarray) -> RowBlock:
    """Return the rows of a block for which ``kept`` holds."""
    entries = kept[block.row]
    position = np.cumsum(kept) - 1
    return RowBlock(
        block.family,
        block.labels[kept].reset_index(drop=True),
        block.sense,
        block.rhs[kept],
        position[block.row[entries]],
        block.column[entries],
        block.value[entries],
    )


def raised(block: RowBlock, by: np.ndarray) -> RowBlock:
    """Return the block with its right-hand side moved by so much per row."""
    return RowBlock(
        block.family, block.labels, block.sense, block.rhs + by, block.row, block.column, block.value
    )


def without_site(model: PlanModel, site: str) -> PlanModel:
    """Return the model with nothing new and no load at a site; what stands there already stays and idles."""
    bounds: dict[str, tuple[np.ndarray | None, np.ndarray | None]] = {}
    for family in ACQUIRED:
        block = model.columns.block(family)
        bounds[family] = (None, np.where(block.labels["site"] == site, 0.0, block.upper))
    return with_bounds(model, bounds)


def shifted(scenario: Scenario, site: str, quarters: int) -> Scenario:
    """Return the scenario with all power of a site so many quarters later (earlier: negative), its path included."""
    return earlier_power(scenario, site, -quarters)


def more_power(scenario: Scenario, site: str, kw: float) -> Scenario:
    """Return the scenario with so many more usable kW at a site from its first energisation on.

    Where modules decide what a site can use, the first module of every item on its path carries as much more.
    """
    power, modules = scenario.tables["site_power"], scenario.tables["site_modules"]
    usable = power["usable_kw"] + np.where(power["site"] == site, kw, 0.0)
    first = modules["site"].eq(site) & ~modules.duplicated(["site", "item"])
    tables = {
        "site_power": power.assign(usable_kw=usable),
        "site_modules": modules.assign(kw=modules["kw"] + np.where(first, kw, 0.0)),
    }
    return replace(scenario, tables={**scenario.tables, **tables})


def late_deliveries(scenario: Scenario) -> Scenario:
    """Return the scenario with every offer at its high lead time."""
    settings = scenario.settings.model_copy(update={"lead_case": "high"})
    return replace(scenario, settings=settings)


def changed(study: Study, scenario: Scenario, whole: bool = False) -> tuple[str, float]:
    """Return status and cost of the scenario with an input changed; the operating points stay what they are."""
    try:
        built = study.rebuilt(scenario)
    except EmptyRow:
        return "infeasible", float("nan")
    other = replace(study, built=built, goal=Goal.of(study.goal.objective, built.coefficients))
    found = other.solved(built.model, whole)
    return found.status, study.level(found) if found.termination.has_values else float("nan")
