"""Rules about quotas: whom a cap holds for, in which unit, and what happens beyond it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.inputs.checks.view import Finding, Rule, View, rows_where

CAPS = ("cap_requests_per_s", "cap_mtok", "cap_currency")
NEEDED = {"degrade": "fallback_workload", "queue": "queue_h"}


def quota_names_who_and_how_much(view: View) -> Iterator[Finding]:
    """Yield quotas that name both or none of business and workload, not exactly one cap, or money without a price."""
    quotas = view["quotas"]
    frame = quotas.frame
    for at in rows_where(quotas, frame["business"].notna() == frame["workload"].notna()):
        yield quotas.fault(at, "business", "give exactly one of business and workload")
    given = frame[list(CAPS)].notna()
    for at in rows_where(quotas, given.sum(axis=1) != 1):
        yield quotas.fault(at, CAPS[0], f"give exactly one of {', '.join(CAPS)}")
    for at in rows_where(quotas, given["cap_currency"] & frame["price_per_mtok"].isna()):
        yield quotas.fault(at, "price_per_mtok", "needed with cap_currency")
    for at in rows_where(quotas, ~given["cap_currency"] & frame["price_per_mtok"].notna()):
        yield quotas.fault(at, "price_per_mtok", "must be blank without cap_currency")


def quota_says_what_is_beyond(view: View) -> Iterator[Finding]:
    """Yield quotas without what their rule needs, or with what it does not read."""
    quotas = view["quotas"]
    for rule, column in NEEDED.items():
        chosen, given = quotas.frame["beyond"].eq(rule), quotas.frame[column].notna()
        for at in rows_where(quotas, chosen & ~given):
            yield quotas.fault(at, column, f"needed, because beyond is {rule}")
        for at in rows_where(quotas, ~chosen & given):
            yield quotas.fault(at, column, f"must be blank, because beyond is not {rule}")
    waits = quotas.frame["beyond"].eq("queue")
    for at in rows_where(quotas, waits & quotas.frame["cap_requests_per_s"].isna()):
        yield quotas.fault(at, "cap_requests_per_s", "needed, because a queue waits for room in an hour")
    hours = quotas.frame["queue_h"]
    for at in rows_where(quotas, hours.notna() & (hours != np.floor(hours))):
        yield quotas.fault(at, "queue_h", "must be whole hours")


def fallback_can_take_over(view: View) -> Iterator[Finding]:
    """Yield fallbacks that are under a quota themselves, or have no forecast where their requests come from."""
    quotas, workloads = view["quotas"], view.frame("workloads")
    business = workloads.set_index("workload")["business"]
    capped = set(quotas.frame["workload"].dropna())
    capped |= set(business.index[business.isin(quotas.frame["business"].dropna())])
    forecast = view.frame("demand")[["workload", "region"]].drop_duplicates()
    places = {name: set(rows["region"]) for name, rows in forecast.groupby("workload")}
    for at in rows_where(quotas, quotas.frame["fallback_workload"].notna()):
        row = quotas.frame.iloc[at]
        if row["fallback_workload"] in capped:
            message = "is under a quota itself: requests beyond a quota go to a workload without one"
            yield quotas.fault(at, "fallback_workload", message)
        own = (
            [row["workload"]]
            if isinstance(row["workload"], str)
            else business.index[business.eq(row["business"])]
        )
        there = set().union(*(places.get(name, set()) for name in own))
        missing = sorted(there - places.get(row["fallback_workload"], set()))
        if missing:
            message = f"has no forecast in {', '.join(missing)}; write 0 if it has no demand of its own there"
            yield quotas.fault(at, "fallback_workload", message)


def capped_demand_is_not_optional(view: View) -> Iterator[Finding]:
    """Yield quotas over workloads of which a part is optional: inside its cap demand is served."""
    quotas, workloads = view["quotas"], view.frame("workloads")
    optional = workloads[workloads["must_serve_fraction"] < 1]
    for at in rows_where(quotas, np.ones(len(quotas.frame), dtype=bool)):
        row = quotas.frame.iloc[at]
        chosen = optional["workload"].eq(row["workload"]) | optional["business"].eq(row["business"])
        if chosen.any():
            names = ", ".join(optional.loc[chosen, "workload"])
            column = "workload" if isinstance(row["workload"], str) else "business"
            yield quotas.fault(
                at, column, f"needs must_serve_fraction 1 of {names}: demand inside a cap is served"
            )


WHO = ("quotas.business", "quotas.workload")
RULE = ("quotas.beyond", "quotas.fallback_workload", "quotas.queue_h")

RULES = (
    Rule(quota_names_who_and_how_much, (*WHO, *(f"quotas.{name}" for name in CAPS), "quotas.price_per_mtok")),
    Rule(quota_says_what_is_beyond, (*RULE, "quotas.cap_requests_per_s")),
    Rule(
        fallback_can_take_over, (*RULE, *WHO, "workloads.workload", "workloads.business", "demand.workload")
    ),
    Rule(capped_demand_is_not_optional, (*WHO, "workloads.must_serve_fraction")),
)
