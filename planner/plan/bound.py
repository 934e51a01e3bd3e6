"""What a relaxation leaves: a bound on every plan, and no plan. Nothing can be ordered, asked for or paid from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.plan.plan import Plan

BOUND = "bound"
"""Status of a relaxation: units are divisible, so no plan in whole units costs less."""
BOUND_LABEL = "bound, not a plan"
UNITS = "bound_units"
"""Frame of the fractions of units a bound stands on, in the columns of ``orders``."""
ACTED_ON = ("orders", "rfq", "payments", "purchases")
"""Frames a buyer acts on: a bound has them without a row."""


def as_bound(plan: Plan) -> Plan:
    """Return the relaxation as the bound it is: its fractions of units are no orders."""
    emptied = {name: plan[name].iloc[:0] for name in ACTED_ON if name in plan.frames}
    frames = {**plan.frames, UNITS: plan["orders"], **emptied}
    headline = {**plan.headline, "status": BOUND, "label": BOUND_LABEL, "orders": []}
    return Plan(headline, frames, plan.scenario)


def is_bound(headline: Mapping[str, Any]) -> bool:
    """Return whether these headline numbers are of a relaxation."""
    return bool(headline.get("relaxed"))


def with_units(plan: Plan) -> Plan:
    """Return a bound with its fractions of units where its books look for orders; a plan as it is.

    For arithmetic about the relaxation only (the audit, cases in divisible units): none of it may reach a buyer.
    """
    if UNITS not in plan.frames:
        return plan
    units = plan[UNITS]
    columns = ["offer", "mode", "product", "site", "cooling", "period", "units"]
    headline = {**plan.headline, "orders": units[columns].to_dict("records")}
    return Plan(headline, {**plan.frames, "orders": units}, plan.scenario)
