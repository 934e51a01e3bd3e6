"""What plans say beside each other."""

from planner.analysis.compare import Comparison, compare_plans
from planner.analysis.energisation import earlier_power, value_of_earlier_power

__all__ = ["Comparison", "compare_plans", "earlier_power", "value_of_earlier_power"]
