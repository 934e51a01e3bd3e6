"""Rules about grants and tax credits."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from planner.inputs.checks.period_rules import horizon
from planner.inputs.checks.view import Finding, Notice, Rule, View, rows_where
from planner.tables.cost_lines import DECLARED

OF_SITES = tuple(dict.fromkeys(line.asset_class for line in DECLARED if line.asset_class))
"""Classes of asset that are no product's."""


def an_incentive_says_what_earns_it(view: View) -> Iterator[Finding]:
    """Yield incentives without what their basis needs, or with what it does not read."""
    table = view["incentives"]
    frame = table.frame
    flat, per_kw = frame["basis"].eq("flat"), frame["basis"].eq("per_kw")
    for column in ("site", "least_capex"):
        for at in rows_where(table, flat & frame[column].isna()):
            yield table.fault(at, column, "needed for a flat amount")
    for at in rows_where(table, ~flat & frame["least_capex"].notna()):
        yield table.fault(at, "least_capex", "must be blank: only a flat amount asks for it")
    for at in rows_where(table, flat & frame["most_amount"].notna()):
        yield table.fault(at, "most_amount", "must be blank: a flat amount is its own most")
    for at in rows_where(table, per_kw & frame["asset_class"].isna()):
        yield table.fault(at, "asset_class", "needed for an amount per kW")
    for at in rows_where(table, per_kw & frame["asset_class"].eq("site_opening")):
        yield table.fault(at, "asset_class", "an opening has no kW")
    for at in rows_where(table, frame["basis"].eq("capex_fraction") & frame["amount"].gt(1.0)):
        yield table.fault(at, "amount", "must not be above 1: it is a share of the capex")
    for at in rows_where(table, frame["basis"].eq("capex_fraction") & frame["currency"].notna()):
        if pd.isna(frame["most_amount"].iloc[at]):
            yield table.fault(at, "currency", "must be blank: a share of the capex has none")


def an_incentive_is_of_something(view: View) -> Iterator[Finding]:
    """Yield classes that no asset has, and cloud regions, where the plan has no capex but an opening."""
    table = view["incentives"]
    frame = table.frame
    known = sorted({*view.frame("products")["asset_class"].dropna(), *OF_SITES})
    for at in rows_where(table, frame["asset_class"].notna() & ~frame["asset_class"].isin(known)):
        yield table.fault(at, "asset_class", f"no asset is of this class; known: {', '.join(known)}")
    cloud = view.lookup(frame["site"], "sites", "kind").eq("cloud")
    for at in rows_where(
        table, cloud & ~frame["asset_class"].isin(["site_opening"]) & frame["basis"].ne("flat")
    ):
        yield table.fault(
            at, "site", "a cloud region has no capex but its opening: state asset_class site_opening"
        )


def an_incentive_is_received_in_the_horizon(view: View) -> Iterator[Finding]:
    """Yield incentives received before the horizon, which is a fault, or after it, which gives nothing."""
    table = view["incentives"]
    when, starts = table.frame["received_date"], view.frame("periods")["start_date"]
    for at in rows_where(table, when < starts.min()):
        yield table.fault(at, "received_date", "must not be before the horizon")
    for at in rows_where(table, when >= horizon(view)[1]):
        yield Notice(table.fault(at, "received_date", "after the horizon: it gives nothing"))


RULES = (
    Rule(
        an_incentive_says_what_earns_it,
        tuple(
            f"incentives.{name}"
            for name in ("basis", "site", "asset_class", "amount", "most_amount", "least_capex", "currency")
        ),
    ),
    Rule(
        an_incentive_is_of_something,
        (
            "incentives.asset_class",
            "incentives.site",
            "incentives.basis",
            "products.asset_class",
            "sites.kind",
        ),
    ),
    Rule(
        an_incentive_is_received_in_the_horizon,
        ("incentives.received_date", "periods.start_date", "periods.months", "periods.hours"),
    ),
)
