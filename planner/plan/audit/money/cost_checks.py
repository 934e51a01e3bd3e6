"""Every cost line recomputed and laid beside the plan's ledger; budgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pandas as pd

from planner.plan.audit.facts import at
from planner.plan.audit.money.accounts import SOURCES, Accounts, counts_in_objective
from planner.plan.audit.money.hardware_costs import payments_by_order
from planner.plan.audit.once import once
from planner.plan.audit.report import Check, breaches, compare


def cost_line(line: str, books: Accounts) -> Check:
    """Return the check that a cost line, by kind, period, site, offer and workload, is what the inputs give.

    Both the amount paid and its present value are compared, the latter under the quantity ``discounted``.
    """
    rows = books.lines[books.lines["line"].eq(line)].drop(columns="line")
    return compare(f"cost {line}", line, rows, "==")


LINE_CHECKS: Mapping[str, Callable[[Accounts], Check]] = {
    f"cost {line}": partial(cost_line, line) for line in SOURCES
}
"""One check per cost line."""


def known_lines(books: Accounts) -> Check:
    """Return the check that the ledger has no line that nobody can recompute."""
    costs = books["costs"]
    return breaches("known_lines", "costs", costs, ~costs["line"].isin(list(SOURCES)), ["line", "period"])


def counted_lines(books: Accounts) -> Check:
    """Return the check that just those ledger rows count in the objective which belong there."""
    costs = books["costs"]
    belongs = counts_in_objective(costs["kind"], books.plan.headline.get("minimised"))
    return breaches(
        "counted_lines", "objective", costs, belongs != costs["in_objective"].astype(bool), ["line", "period"]
    )


def order_payments(books: Accounts) -> Check:
    """Return the check that ``orders.cost`` is what each order pays over the horizon, residual not
    deducted.
    """
    labels = books["orders"][["offer", "site", "cooling", "period"]]
    rows = labels.assign(left=books["orders"]["cost"], right=payments_by_order(books))
    return compare("order_payments", "orders", rows, "==")


def order_prices(books: Accounts) -> Check:
    """Return the check that ``orders.unit_price`` is the offer's price with its trend, in the plan's
    currency.
    """
    labels = books["orders"][["offer", "site", "period"]]
    rows = labels.assign(left=books["orders"]["unit_price"], right=books.orders["paid_price"])
    return compare("order_prices", "orders", rows, "==", floor=1e-3)


def forecast_part(books: Accounts, business: str, period: pd.Series) -> pd.Series:
    """Return the part of each period's forecast, in effective tokens at reference yield, of one business line."""
    shapes = books.facts.scenario.tables["shapes"]
    made = shapes["share_fraction"] * at(books.tokens["reference_mtok"], shapes, ["workload", "shape"])
    per_request = made.groupby(shapes["workload"]).sum()
    asked = books.block_demand.rename("requests_per_s").reset_index()
    mtok = asked["requests_per_s"] * books.hours_of(asked) * asked["workload"].map(per_request)
    own = asked["workload"].map(books.facts.table("workloads", "workload")["business"]) == business
    whole = mtok.groupby(asked["period"]).sum()
    return period.map(mtok.where(own, 0.0).groupby(asked["period"]).sum() / whole).fillna(0.0).astype(float)


def budget_payments(books: Accounts) -> pd.DataFrame:
    """Return the rows of ``budgets`` with what is really paid under each limit, undiscounted: ``paid``.

    Residuals, the value of demand and sunk book value are no payments, and what comes in (resale, grants) makes no
    room. A business line pays its part of the forecast of every cost.
    """
    ledger, limits = books.ledger, books.facts.scenario.tables["budgets"]
    rows = ledger[
        ledger["kind"].isin(("capex", "opex"))
        & ledger["timing"].ne("end")
        & ~ledger["line"].isin(("resale", "incentive"))
    ]
    spent = []
    for limit in limits.to_dict("records"):
        counts = pd.Series(True, index=rows.index)
        if limit["kind"] != "total":
            counts &= rows["kind"].eq(limit["kind"])
        for name in ("period", "site", "line"):
            if isinstance(limit[name], str):
                counts &= rows[name].eq(limit[name])
        under = rows[counts]
        business = limit["business"]
        part = forecast_part(books, business, under["period"]) if isinstance(business, str) else 1.0
        spent.append(float((under["amount"] * part).sum()))
    return limits.assign(paid=pd.Series(spent, index=limits.index, dtype=float))


@once
def budget(books: Accounts) -> Check:
    """Return the check of every budget: what is paid under it is not above the limit."""
    rows = budget_payments(books)
    labelled = rows[["budget"]].assign(left=rows["paid"], right=rows["limit"].astype(float))
    return compare("budget", "budget", labelled, "<=")
