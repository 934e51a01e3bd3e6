"""What plans say beside each other."""

from planner.analysis.compare import Comparison, compare_plans
from planner.analysis.cooling import CoolingChoice, break_even_cooling
from planner.analysis.deferral import DeferralValue, deferral_value
from planner.analysis.energisation import earlier_power, value_of_earlier_power

__all__ = [
    "Comparison",
    "CoolingChoice",
    "DeferralValue",
    "break_even_cooling",
    "compare_plans",
    "deferral_value",
    "earlier_power",
    "value_of_earlier_power",
]
