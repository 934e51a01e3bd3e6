"""All tables of a hand-over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from planner.errors import Fault, InputError
from planner.plan.bound import is_bound
from planner.plan.operations.alarms import alarm_table
from planner.plan.operations.limits import batch_caps, power_caps, priority_table, rate_limits
from planner.plan.operations.pools import pool_table, replica_table
from planner.plan.operations.windows import windows_of
from planner.plan.plan import Plan

NEEDED = (
    *("serving", "points", "blocks", "block_cells", "fleet", "hourly_rent", "demand", "unserved"),
    *("site_power", "spares"),
)
"""Frames a hand-over is made of."""
NOTES = {
    "pools": "Replicas of one size, product and engine that serve one workload at one place; pool names the objects.",
    "replicas": "Whole replicas by block of hours: the floor covers the block's busiest minute, the ceiling the "
    "period's busiest block and every loss the plan is to survive.",
    "windows": "Floors by the clock, UTC, in standard time all year; every hour of a day is in one window.",
    "batch_caps": "Requests in flight per replica that the plan's rates and latencies hold for.",
    "priorities": "Rank 1 is first; pods of a higher class_value are scheduled first and may push out others.",
    "rate_limits": "Requests the plan is sized on, by region; rows with a quota are its caps.",
    "power_caps": "kW by site and level, and what a unit is provisioned for.",
    "alarms": "Where the fleet leaves what the plan promised or was sized on.",
}
"""Table -> what it is."""


@dataclass(frozen=True)
class Handover:
    """What a plan tells those who run it.

    Attributes
    ----------
    tables
        Name (of NOTES) -> table.
    plan
        The plan it is of.
    """

    tables: Mapping[str, pd.DataFrame]
    plan: Plan


def handover_of(plan: Plan, where: str) -> Handover:
    """Return the tables of a plan's hand-over.

    Parameters
    ----------
    where
        What the plan is called in a fault.

    Raises
    ------
    InputError
        It is a bound or no plan at all, or was saved before a frame was kept that is needed.
    """
    if is_bound(plan.headline) or "serving" not in plan.frames:
        status = plan.headline.get("label", plan.status)
        raise InputError([Fault(where, f"{status}: nothing runs that could be handed over")])
    missing = [name for name in NEEDED if name not in plan.frames]
    if missing:
        message = f"was saved without {', '.join(missing)}; solve the scenario again"
        raise InputError([Fault(where, message)])
    replicas = replica_table(plan)
    tables = {
        "pools": pool_table(plan),
        "replicas": replicas,
        "windows": windows_of(replicas, plan["block_cells"]),
        "batch_caps": batch_caps(plan),
        "priorities": priority_table(plan),
        "rate_limits": rate_limits(plan),
        "power_caps": power_caps(plan),
    }
    return Handover({**tables, "alarms": alarm_table(plan, tables)}, plan)
