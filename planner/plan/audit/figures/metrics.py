"""The metrics of the report, each made once more from the frames it is defined on."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.figures.engine_metrics import engine_metrics
from planner.plan.audit.figures.fleet_metrics import resource_metrics, site_metrics, unit_metrics
from planner.plan.audit.figures.metric_rows import EVERY, KEY, PER, WITHOUT_LENGTHS, Metric, whole
from planner.plan.audit.figures.service_metrics import (
    availability_metrics,
    band_metrics,
    output_rates,
    priority_metrics,
    workload_metrics,
)
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.shares import REQUESTS, TOKENS
from planner.plan.audit.report import NOTHING, Check, alike
from planner.tables.cost_lines import DECLARED

MADE = {TOKENS: "effective_mtok", REQUESTS: "effective_mrequests"}
"""How output is counted -> its column in ``tokens``, undiscounted."""
RATES = {
    TOKENS: ("cost_per_mtok_effective", "accounting_cost_per_mtok"),
    REQUESTS: ("cost_per_million_requests", "accounting_cost_per_million_requests"),
}
"""How output is counted -> its unit costs in the headline."""


def output_kinds(books: Accounts) -> tuple[str, ...]:
    """Return how the output of a plan is counted; where nothing is served, how that of its shapes would be."""
    found = tuple(kind for kind, column in MADE.items() if float(books["tokens"][column].sum()) > 0.0)
    return found or ((REQUESTS,) if bool(books.tokens["opaque"].all()) else (TOKENS,))


def unit_costs(books: Accounts, counted: tuple[str, ...]) -> list[Metric]:
    """Return the unit costs of the headline and the parts of the accounting one, currency per million.

    part / output, undiscounted: depreciation of the price of bought units inside the horizon, and every cost line by
    the part it is declared to be; where tokens and requests are both served, of the rows that are for each.
    """
    rows: list[Metric] = []
    for kind in counted:
        made, unit = float(books["tokens"][MADE[kind]].sum()), f"currency/{PER[kind]}"
        if not made:
            continue
        for part, amount in _accounting_parts(books, kind if len(counted) > 1 else None).items():
            if kind == TOKENS or part != "API tokens":
                rows.append(whole(f"accounting cost: {part}", WITHOUT_LENGTHS[kind], amount / made, unit))
        rows += [whole(name, EVERY, books.headline(name) or np.nan, unit) for name in RATES[kind]]
    return rows


def _accounting_parts(books: Accounts, kind: str | None) -> dict[str, float]:
    """Return the accounting cost by part, of everything or of what is counted in one way."""
    ledger = books["accounting"]
    price = ledger["category"].eq("depreciation") & ledger["line"].eq("hardware_purchase")
    share, costs = 1.0, books["costs"]
    if kind is not None:
        spread = books["cost_by_workload"]
        bought = spread[spread["line"].eq("hardware_purchase")].groupby("basis")["amount"].sum()
        share = float(bought.get(kind, 0.0)) / float(bought.sum()) if bought.sum() else 0.0
        costs = spread[spread["basis"].eq(kind)]
    part = costs["line"].map({line.name: line.unit_cost_part for line in DECLARED})
    paid = costs["amount"].groupby(part).sum()
    names = dict.fromkeys(line.unit_cost_part for line in DECLARED if line.unit_cost_part != "elsewhere")
    depreciation = float(ledger.loc[price & ledger["use"].ne("after"), "amount"].sum())
    return {
        "accelerator depreciation": share * depreciation,
        **{str(name): float(paid.get(name, 0.0)) for name in names},
    }


def metric_table(books: Accounts) -> pd.DataFrame:
    """Return metric, scope, period, value, unit of every metric of the plan."""
    counted = output_kinds(books)
    rows = [
        *output_rates(books, counted),
        *workload_metrics(books),
        *availability_metrics(books),
        *engine_metrics(books),
        *band_metrics(books),
        *priority_metrics(books),
        *unit_metrics(books),
        *site_metrics(books),
        *resource_metrics(books),
        *unit_costs(books, counted),
    ]
    return pd.DataFrame(rows, columns=[*KEY, "value", "unit"])


def metrics(books: Accounts) -> Check:
    """Return the check of every metric: that it is there, its value and its unit.

    The frames they are made of are checked where they belong. A plan that does not have the frame states nothing.
    Tolerance 1e-6 relative, 1e-9 in the unit of the metric.
    """
    stated = books.plan.frames.get("metrics")
    if stated is None:
        return Check("metrics", "metrics", NOTHING, 0.0, 0.0, 0.0, 0.0, True, 0)
    return alike("metrics", "metrics", stated, metric_table(books), KEY)


CHECKS = (metrics,)
