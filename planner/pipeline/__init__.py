"""The only caller of all stages: from a scenario to a plan with its baselines and, if there is none, the reason."""

from planner.pipeline.options import RunOptions
from planner.pipeline.run import run_plan

__all__ = ["RunOptions", "run_plan"]
