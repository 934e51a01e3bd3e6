"""What a planning run is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from planner.inputs import Settings
from planner.solve import SolveOptions
from planner.solve.options import ProgressCallback


@dataclass(frozen=True)
class RunOptions:
    """Options of one run; None takes the scenario's own setting.

    Attributes
    ----------
    objective
        ``unit-cost`` or ``cost``.
    gap
        Relative gap at which a plan counts as proven.
    time_limit_s
        Limit of the main plan, over all its solves.
    relax
        Whole units may be fractions (the LP).
    solver, threads
        As in :class:`planner.solve.SolveOptions`.
    baselines
        Solve do-nothing, rent-everything and cheapest-single-type beside the plan.
    audit
        Recompute every limit and cost of the plan without the solver, keep the result as the frame ``checks``, and
        refuse a plan that fails. ``planner solve`` always does.
    progress
        Called now and then while the solver works.
    """

    objective: str | None = None
    gap: float | None = None
    time_limit_s: float | None = None
    relax: bool = False
    solver: str = "highs"
    threads: int | None = None
    baselines: bool = True
    audit: bool = False
    progress: ProgressCallback | None = None

    def objective_of(self, settings: Settings) -> str:
        """Return the objective asked for, else the scenario's."""
        return self.objective or settings.objective

    def solve_options(self, settings: Settings) -> SolveOptions:
        """Return the options of the main solve."""
        return SolveOptions(
            solver=self.solver,
            gap=settings.gap if self.gap is None else self.gap,
            time_limit_s=settings.time_limit_s if self.time_limit_s is None else self.time_limit_s,
            threads=self.threads,
            seed=settings.seed,
            relax=self.relax,
            progress=self.progress,
        )
