"""Capacity and TCO planning for LLM inference fleets.

    >>> import planner
    >>> scenario = planner.load_scenario("small")             # doctest: +SKIP
    >>> plan = planner.run_plan(scenario, planner.RunOptions())  # doctest: +SKIP
    >>> planner.save_plan(plan, "out/small")                   # doctest: +SKIP

What is named in ``__all__`` is kept; everything else may change. To read the code, follow the data:
``tables`` (what an input may hold), ``inputs``, ``performance`` (operating points that meet the targets),
``coefficients`` (tokens, kW and money per unit), ``formulation`` (the model), ``solve``, ``plan`` (labelled
frames and the audit), ``pipeline`` (the only caller of all stages), ``study`` (many solves of changed scenarios),
``analysis``, ``cli``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from planner.errors import (
    Fault,
    InfeasiblePlan,
    InputError,
    NoSolutionFound,
    PlannerError,
    SolverFailed,
)

if TYPE_CHECKING:
    from planner.analysis import Comparison, compare_plans
    from planner.inputs import Scenario, load_scenario
    from planner.pipeline import RunOptions, run_plan
    from planner.plan import Plan, audit_plan, load_plan, save_plan

_HOMES = {
    "Comparison": "planner.analysis",
    "Plan": "planner.plan",
    "RunOptions": "planner.pipeline",
    "Scenario": "planner.inputs",
    "audit_plan": "planner.plan",
    "compare_plans": "planner.analysis",
    "load_plan": "planner.plan",
    "load_scenario": "planner.inputs",
    "run_plan": "planner.pipeline",
    "save_plan": "planner.plan",
}
"""Where the names below live; imported at first use, so that ``import planner`` is quick."""

__all__ = [
    "Comparison",
    "Fault",
    "InfeasiblePlan",
    "InputError",
    "NoSolutionFound",
    "Plan",
    "PlannerError",
    "RunOptions",
    "Scenario",
    "SolverFailed",
    "audit_plan",
    "compare_plans",
    "load_plan",
    "load_scenario",
    "run_plan",
    "save_plan",
]


def __getattr__(name: str) -> Any:
    """Return a public name from its stage, or the installed version."""
    if name == "__version__":
        from importlib.metadata import version

        return version("token-fleet-planner")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'planner' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted([*__all__, "__version__"])
