"""Rules about the path to usable power: modules of a site and the order they can be had in."""

from __future__ import annotations

from collections.abc import Iterator

from planner.inputs.checks.period_rules import horizon
from planner.inputs.checks.view import Finding, Notice, Rule, View, rows_where
from planner.tables.energisation import REDUNDANCY


def module_stands_at_a_hall(view: View) -> Iterator[Finding]:
    """Yield modules of a site whose power is not ours."""
    modules = view["site_modules"]
    kind = view.lookup(modules.frame["site"], "sites", "kind")
    for at in rows_where(modules, kind == "cloud"):
        yield modules.fault(at, "site", "a cloud site has no path to power of its own; owned or colo only")


def module_has_a_date_or_a_lead_time(view: View) -> Iterator[Finding]:
    """Yield modules without lead time that are not energised by a date, and cases that do not enclose the base."""
    modules = view["site_modules"]
    frame = modules.frame
    for at in rows_where(modules, frame["lead_weeks"].isna() & frame["energised_date"].isna()):
        yield modules.fault(at, "lead_weeks", "needed, unless the module has an energised_date")
    for column, wrong in (
        ("lead_weeks_low", frame["lead_weeks_low"] > frame["lead_weeks"]),
        ("lead_weeks_high", frame["lead_weeks_high"] < frame["lead_weeks"]),
    ):
        for at in rows_where(modules, wrong):
            side = "above" if column.endswith("low") else "below"
            yield modules.fault(at, column, f"must not be {side} lead_weeks {frame['lead_weeks'].iloc[at]:g}")


def module_to_order_has_a_price(view: View) -> Iterator[Finding]:
    """Yield modules that are a decision and state no cost."""
    modules = view["site_modules"]
    frame = modules.frame
    decision = frame["ordered_date"].isna() & frame["energised_date"].isna()
    for at in rows_where(modules, decision & frame["cost"].isna()):
        yield modules.fault(at, "cost", "needed, because ordering it is a decision; 0 if it is free")
    for at in rows_where(modules, ~decision & frame["earliest_order_date"].notna()):
        yield modules.fault(at, "earliest_order_date", "only for modules that are still to be ordered")
    for at in rows_where(modules, ~decision & frame["max_modules"].notna()):
        yield modules.fault(at, "max_modules", "only for modules that are still to be ordered")


def module_dates_follow(view: View) -> Iterator[Finding]:
    """Yield modules that are energised before they were ordered, or ordered ahead of the horizon's start."""
    modules = view["site_modules"]
    frame = modules.frame
    for at in rows_where(modules, frame["energised_date"] < frame["ordered_date"]):
        yield modules.fault(
            at, "energised_date", f"must not be before ordered_date {frame['ordered_date'].iloc[at]:%Y-%m-%d}"
        )
    first, end = horizon(view)
    for at in rows_where(modules, frame["ordered_date"] > first):
        yield modules.fault(
            at,
            "ordered_date",
            f"an order after the start of the horizon, {first:%Y-%m-%d}, is a decision: leave it blank",
        )
    for at in rows_where(modules, frame["earliest_order_date"] >= end):
        yield Notice(
            modules.fault(at, "earliest_order_date", f"after the horizon, which ends {end:%Y-%m-%d}")
        )


def module_redundancy_leaves_some_to_carry(view: View) -> Iterator[Finding]:
    """Yield modules of which so few can be in place that all of them would stand by."""
    modules = view["site_modules"]
    frame = modules.frame
    given = frame["ordered_date"].notna() | frame["energised_date"].notna()
    there = frame["existing_modules"].astype(float).fillna(given.astype(float))
    most = there + frame["max_modules"].astype(float).fillna(1.0).where(~given, 0.0)
    needed = frame["redundancy"].map(lambda name: sum(REDUNDANCY.get(name, (1, 0)))).astype(float)
    for at in rows_where(modules, (most > 0) & (most < needed)):
        column = "existing_modules" if given.iloc[at] else "max_modules"
        yield modules.fault(
            at,
            "redundancy",
            f"needs {needed.iloc[at]:g} modules in place before one carries, {most.iloc[at]:g} can be: raise {column}",
        )


RULES = (
    Rule(module_stands_at_a_hall, ("site_modules.site", "sites.kind")),
    Rule(
        module_has_a_date_or_a_lead_time,
        (
            "site_modules.lead_weeks",
            "site_modules.lead_weeks_low",
            "site_modules.lead_weeks_high",
            "site_modules.energised_date",
        ),
    ),
    Rule(
        module_to_order_has_a_price,
        (
            "site_modules.cost",
            "site_modules.ordered_date",
            "site_modules.energised_date",
            "site_modules.earliest_order_date",
            "site_modules.max_modules",
        ),
    ),
    Rule(
        module_dates_follow,
        (
            "site_modules.energised_date",
            "site_modules.ordered_date",
            "site_modules.earliest_order_date",
            "periods.start_date",
            "periods.months",
            "periods.hours",
        ),
    ),
    Rule(
        module_redundancy_leaves_some_to_carry,
        (
            "site_modules.redundancy",
            "site_modules.existing_modules",
            "site_modules.max_modules",
            "site_modules.ordered_date",
            "site_modules.energised_date",
        ),
    ),
)
