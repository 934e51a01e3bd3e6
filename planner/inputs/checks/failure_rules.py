"""Rules about the losses a plan must survive."""

from __future__ import annotations

from collections.abc import Iterator

from planner.inputs.checks.view import Finding, Notice, Rule, View, rows_where

NEEDED = {"site": ("site",), "units": ("units",), "each_site": ()}
UNUSED = {"site": ("product", "units"), "units": (), "each_site": ("site", "product", "units")}


def loss_says_what_is_lost(view: View) -> Iterator[Finding]:
    """Yield cases without what their kind of loss needs, or with what it does not read."""
    cases = view["failure_cases"]
    for loss in NEEDED:
        chosen = cases.frame["loss"] == loss
        for column in NEEDED[loss]:
            for at in rows_where(cases, chosen & cases.frame[column].isna()):
                yield cases.fault(at, column, f"needed, because the loss is {loss}")
        for column in UNUSED[loss]:
            for at in rows_where(cases, chosen & cases.frame[column].notna()):
                yield cases.fault(at, column, f"must be blank, because the loss is {loss}")


def units_are_lost_where_they_can_stand(view: View) -> Iterator[Finding]:
    """Yield losses of units of a product that no offer and no existing lot brings."""
    cases = view["failure_cases"]
    there = set(view.frame("offers")["product"].dropna()) | set(view.frame("fleet")["product"].dropna())
    named = (cases.frame["loss"] == "units") & cases.frame["product"].notna()
    for at in rows_where(cases, named & ~cases.frame["product"].isin(there)):
        yield cases.fault(at, "product", "no offer and no existing lot has this product")


def a_loss_has_something_critical(view: View) -> Iterator[Finding]:
    """Yield the first loss when no workload is critical: it does nothing."""
    cases = view["failure_cases"]
    if not (view.frame("workloads")["critical_fraction"].fillna(0.0) > 0).any():
        yield Notice(cases.fault(0, "failure_case", "no workload has a critical_fraction: it does nothing"))


def something_critical_has_a_loss(view: View) -> Iterator[Finding]:
    """Yield critical workloads when no loss is planned for: the share does nothing."""
    workloads = view["workloads"]
    if view.frame("failure_cases").empty:
        for at in rows_where(workloads, workloads.frame["critical_fraction"].fillna(0.0) > 0):
            yield Notice(workloads.fault(at, "critical_fraction", "without failure_cases it does nothing"))


def spares_know_how_often_a_unit_fails(view: View) -> Iterator[Finding]:
    """Yield products with no failure rate or repair time while spares are held by probability."""
    products = view["products"]
    if view.settings.spare_confidence_fraction is None:
        return
    hourly = view.frame("offers")["rent_step"].eq("hour")
    held = {*view.frame("offers").loc[~hourly, "product"], *view.frame("fleet")["product"]}
    for column in ("failures_per_year", "repair_days"):
        for at in rows_where(products, products.frame["product"].isin(held) & products.frame[column].isna()):
            yield products.fault(at, column, "needed, because settings state spare_confidence_fraction")


def a_unit_is_up_more_than_down(view: View) -> Iterator[Finding]:
    """Yield products that fail for longer than there are days in a year."""
    products = view["products"]
    down = products.frame["failures_per_year"] * products.frame["repair_days"]
    for at in rows_where(products, down >= 365):
        days = (
            f"{products.frame['failures_per_year'].iloc[at]:g} failures a year, {down.iloc[at]:g} days in all"
        )
        yield products.fault(at, "repair_days", f"a unit would be down all year: {days}")


CASE = ("failure_cases.loss", "failure_cases.site", "failure_cases.product", "failure_cases.units")

RULES = (
    Rule(loss_says_what_is_lost, CASE),
    Rule(units_are_lost_where_they_can_stand, (*CASE, "offers.product", "fleet.product")),
    Rule(a_loss_has_something_critical, ("failure_cases.failure_case", "workloads.critical_fraction")),
    Rule(
        spares_know_how_often_a_unit_fails,
        (
            "products.failures_per_year",
            "products.repair_days",
            "offers.product",
            "offers.rent_step",
            "fleet.product",
        ),
    ),
    Rule(a_unit_is_up_more_than_down, ("products.failures_per_year", "products.repair_days")),
    Rule(something_critical_has_a_loss, ("workloads.critical_fraction",)),
)
