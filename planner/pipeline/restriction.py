"""What a limit on the configurations of a workload costs: the plan beside the best one without that limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from planner.formulation.build import PlanModel
from planner.formulation.pulp_face import PlanProblem
from planner.pipeline.baselines import BASELINE_SECONDS
from planner.pipeline.strategy import Goal
from planner.solve import Solution, SolveOptions

LIMIT = "configuration_limit"


def configuration_limit_cost(
    model: PlanModel, goal: Goal, fixed: Solution, options: SolveOptions, scale: float
) -> dict[str, Any]:
    """Return ``configuration_limit_cost``: objective of the plan less that of the best found without the limit.

    Both stand at the caps of pools of the plan; the plan itself is one without the limit, so the cost is never below 0.
    A search that ends at its limit of time finds less than there is. Nothing where no limit binds a workload.

    Parameters
    ----------
    fixed
        The plan.
    scale
        Currency per unit of what is minimised.
    """
    rows = [block for block in model.problem.rows if block.family != LIMIT]
    if len(rows) == len(model.problem.rows) or not any(
        len(b) for b in model.problem.rows if b.family == LIMIT
    ):
        return {}
    free = PlanProblem("without_the_limit", model.columns, rows, model.numerator, model.numerator_constant)
    seconds = min(BASELINE_SECONDS, options.time_limit_s or BASELINE_SECONDS)
    quick = replace(options, time_limit_s=seconds, progress=None)
    found = goal.optimise(model, free, quick, fixed.values)
    best = found.objective if found.termination.has_values else np.inf
    return {"configuration_limit_cost": max(fixed.objective - best, 0.0) * scale}


def restriction_warnings(headline: dict[str, Any], currency: str) -> list[str]:
    """Return a sentence on what the limit costs; none without it."""
    cost = headline.get("configuration_limit_cost")
    if cost is None:
        return []
    return [
        f"max_configurations_per_workload costs {cost:,.0f} {currency} of the objective: so much less is the best "
        "plan found without it"
    ]
