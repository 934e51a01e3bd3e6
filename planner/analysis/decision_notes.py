"""What was solved for each question before signing, and how exactly, in words."""

from __future__ import annotations

from planner.analysis import decision_cases as cases
from planner.analysis.sites_study import Study


def planned_again(study: Study, whole: bool) -> str:
    """Return how the cases of a plan are planned again."""
    gap = study.options.gap
    how = f"planned again in whole units, within a gap of {gap:g}"
    if not whole:
        how = "planned again in the relaxation: units are divisible"
    if study.caps is not None:
        how += "; pools carry the load that holds at their sizes in the plan, others that of a single replica"
    return how


def notes(study: Study, whole: bool) -> dict[str, str]:
    """Return question -> note."""
    gap, shift = study.options.gap, f"{cases.PRICE_SHIFT:.0%}"
    how = planned_again(study, whole)
    workloads = study.scenario.tables["workloads"]
    valued = workloads["must_serve_fraction"].lt(1.0) & workloads["value_per_mtok"].gt(0.0)
    # Unserved optional demand loses its value: plans are ranked by cost less value, the objective.
    by_value = valued.any() and study.goal.objective == "cost"
    worth = "; costs are less the value of the optional demand served" if by_value else ""
    return {
        "sign_now": f"committed orders of the first period with any, by offer; {how}; an order stays in a case in "
        f"which at least one unit of its offer is ordered by then{worth}",
        "break_even": f"price at which the quantity in the plan changes, by Newton's method; {how}; a tolerance is by "
        f"how much the price may be off as plans are known to cost within a gap of {gap:g} only",
        "cases": f"prices moved by {shift}, forecasts and lead times as the inputs give them, {cases.SUPPLY_CUT:.0%} "
        "of the units on demand and spot that the inputs give, of the most the plan takes in a period where they give "
        f"none; each with the cost of its own tokens; {how}",
        "case_units": "units ordered in each case",
        "cost_of_delay": "nothing ordered before the period named, rent allowed, for every period of the first year; "
        f"per month: what the last period of waiting adds; {how}{worth}",
        "supply_cut": f"each vendor in the plan confirms {cases.SUPPLY_CUT:.0%} of the units it states per period, of "
        f"the most the plan takes in one where it states none; {how}{worth}",
        "acquisition": "one unit at its first possible order: payments, upkeep and residual inside the horizon; "
        "discounted unless named otherwise",
    }
