"""Rules about generation rented on site."""

from __future__ import annotations

from collections.abc import Iterator

from planner.inputs.checks.period_rules import horizon
from planner.inputs.checks.view import Finding, Notice, Rule, View, rows_where


def generator_stands_at_a_hall(view: View) -> Iterator[Finding]:
    """Yield generators at a site whose power is not ours."""
    table = view["bridging_power"]
    kind = view.lookup(table.frame["site"], "sites", "kind")
    for at in rows_where(table, kind == "cloud"):
        yield table.fault(at, "site", "a cloud site has no power of its own; owned or colo only")


def generator_cases_enclose_the_base(view: View) -> Iterator[Finding]:
    """Yield lead times of the short case above the base, or of the long case below it."""
    table = view["bridging_power"]
    frame = table.frame
    for case, wrong in (
        ("low", frame["lead_weeks_low"] > frame["lead_weeks"]),
        ("high", frame["lead_weeks_high"] < frame["lead_weeks"]),
    ):
        for at in rows_where(table, wrong):
            side = "above" if case == "low" else "below"
            message = f"must not be {side} lead_weeks {frame['lead_weeks'].iloc[at]:g}"
            yield table.fault(at, f"lead_weeks_{case}", message)


def generator_can_stand_in_the_horizon(view: View) -> Iterator[Finding]:
    """Yield generators that have to be gone before the horizon begins."""
    table = view["bridging_power"]
    first = horizon(view)[0]
    for at in rows_where(table, table.frame["until_date"] < first):
        message = f"before the horizon, which starts {first:%Y-%m-%d}: it can never be rented"
        yield Notice(table.fault(at, "until_date", message))


def generator_states_its_carbon(view: View) -> Iterator[Finding]:
    """Yield generators without carbon: a fault where carbon has a price or a limit, a warning elsewhere."""
    limits = view.frame("resource_limits")
    counted = view.settings.carbon_price_per_t > 0 or limits["kind"].eq("carbon_t").any()
    table = view["bridging_power"]
    for at in rows_where(table, table.frame["gco2_per_kwh"].isna()):
        if counted:
            yield table.fault(at, "gco2_per_kwh", "needed, because carbon has a price or a limit")
        else:
            yield Notice(table.fault(at, "gco2_per_kwh", "blank counts as 0: the reported carbon is too low"))


RULES = (
    Rule(generator_stands_at_a_hall, ("bridging_power.site", "sites.kind")),
    Rule(
        generator_cases_enclose_the_base,
        tuple(f"bridging_power.lead_weeks{case}" for case in ("", "_low", "_high")),
    ),
    Rule(
        generator_can_stand_in_the_horizon,
        ("bridging_power.until_date", "periods.start_date", "periods.months", "periods.hours"),
    ),
    Rule(generator_states_its_carbon, ("bridging_power.gco2_per_kwh", "resource_limits.kind")),
)
