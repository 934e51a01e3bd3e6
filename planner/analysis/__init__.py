"""What plans say beside each other."""

from planner.analysis.compare import Comparison, compare_plans

__all__ = ["Comparison", "compare_plans"]
