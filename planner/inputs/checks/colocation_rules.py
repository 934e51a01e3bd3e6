"""Rules about colocation contracts: what they bind, and the order of their ramp."""

from __future__ import annotations

from collections.abc import Iterator

from planner.inputs.checks.period_rules import horizon
from planner.inputs.checks.view import Finding, Notice, Rule, View, rows_where


def contract_is_of_a_colo_site(view: View) -> Iterator[Finding]:
    """Yield contracts of sites that are not rented, and contracts of a site without a rent."""
    contracts = view["colo_contracts"]
    kind = view.lookup(contracts.frame["site"], "sites", "kind")
    for at in rows_where(contracts, kind.isin(["owned", "cloud"])):
        yield contracts.fault(at, "site", f"a site of kind {kind.iloc[at]} pays no rent per kW; colo only")
    rent = view.lookup(contracts.frame["site"], "sites", "rent_per_kw_month")
    for at in rows_where(contracts, kind.eq("colo") & rent.isna()):
        message = "the site states no rent_per_kw_month: its least rent is 0"
        yield Notice(contracts.fault(at, "site", message))


def contract_has_a_ramp(view: View) -> Iterator[Finding]:
    """Yield contracts whose terms need contracted kW that no row of the ramp states."""
    contracts, ramp = view["colo_contracts"], view.frame("colo_ramp")
    frame = contracts.frame
    bare = ~frame["site"].isin(ramp["site"])
    for column in ("start_date", "term_months", "take_fraction"):
        for at in rows_where(contracts, bare & frame[column].notna()):
            yield contracts.fault(at, column, "needs rows of the site in colo_ramp: what is contracted")
    for at in rows_where(contracts, bare & frame["beyond"].eq("refused")):
        yield contracts.fault(at, "beyond", "needs rows of the site in colo_ramp: what is contracted")
    first = ramp.groupby("site")["from_month"].min()
    late = frame["site"].map(first)
    for at in rows_where(contracts, late > 0):
        message = f"colo_ramp of the site starts in month {late.iloc[at]:g}: nothing is contracted before it"
        yield Notice(contracts.fault(at, "site", message))


def ramp_rises(view: View) -> Iterator[Finding]:
    """Yield steps of a ramp below the step before: allowed, but seldom meant."""
    ramp = view["colo_ramp"]
    order = ramp.frame.sort_values(["site", "from_month"])
    before = order.groupby("site")["contracted_kw"].shift(1).reindex(ramp.frame.index)
    for at in rows_where(ramp, ramp.frame["contracted_kw"] < before):
        message = f"less than the {before.iloc[at]:.6g} kW of the step before"
        yield Notice(ramp.fault(at, "contracted_kw", message))


def escalator_has_a_base(view: View) -> Iterator[Finding]:
    """Yield base days without a rise, and contracts that start after the horizon."""
    contracts = view["colo_contracts"]
    frame = contracts.frame
    flat = frame["escalator_fraction_per_year"].isna()
    for at in rows_where(contracts, flat & frame["escalator_date"].notna()):
        yield contracts.fault(at, "escalator_fraction_per_year", "needed, because escalator_date is given")
    end = horizon(view)[1]
    for at in rows_where(contracts, frame["start_date"] >= end):
        yield contracts.fault(at, "start_date", f"after the horizon, which ends {end:%Y-%m-%d}")


RULES = (
    Rule(contract_is_of_a_colo_site, ("colo_contracts.site", "sites.kind", "sites.rent_per_kw_month")),
    Rule(
        contract_has_a_ramp,
        (
            "colo_contracts.site",
            "colo_contracts.start_date",
            "colo_contracts.term_months",
            "colo_contracts.take_fraction",
            "colo_contracts.beyond",
            "colo_ramp.site",
            "colo_ramp.from_month",
        ),
    ),
    Rule(ramp_rises, ("colo_ramp.site", "colo_ramp.from_month", "colo_ramp.contracted_kw")),
    Rule(
        escalator_has_a_base,
        (
            "colo_contracts.escalator_fraction_per_year",
            "colo_contracts.escalator_date",
            "colo_contracts.start_date",
            "periods.start_date",
            "periods.months",
            "periods.hours",
        ),
    ),
)
