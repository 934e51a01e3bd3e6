"""The differences between two plans in sentences: what was changed, and what it did to orders, cost and service."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from planner.plan.bound import BOUND_LABEL

MOST = 6
"""Sentences of one kind; the rest is counted."""
SMALLEST_SHARE = 1e-6
"""Part of the requests below which nothing is said to be unserved."""


def bound_words(bounds: Sequence[str]) -> list[str]:
    """Return that some of what is compared is no plan.

    >>> bound_words(["out/relaxed"])
    ['out/relaxed: bound, not a plan; it orders nothing, and orders and vendors are not compared']
    """
    text = "it orders nothing, and orders and vendors are not compared"
    return [f"{name}: {BOUND_LABEL}; {text}" for name in bounds]


def input_words(inputs: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return what differs in the inputs: ``changed: budgets capex limit 1000000 -> 800000``.

    A cell that is blank and one of a row that is not there both say nothing: from one to the other nothing changed.
    """
    rows = []
    for row in inputs.to_dict("records"):
        before, after = _said(row[names[0]]), _said(row[names[-1]])
        if before != after:
            place = " ".join(str(row[part]) for part in ("table", "key", "column") if row[part] != "")
            rows.append(f"changed: {place}: {before} -> {after}")
    return _first(rows, "changed: {} more inputs")


def _said(cell: object) -> str:
    return "nothing" if pd.isna(cell) or cell == "" else str(cell)  # type: ignore[call-overload]


def headline_words(headline: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the change of total cost, unit cost and unserved demand."""
    table = headline.set_index("metric")
    sentences = []
    for metric, text in (
        ("total_cost", "total cost"),
        ("cost_per_mtok_effective", "cost per effective Mtok"),
        ("cost_per_million_requests", "cost per million requests"),
    ):
        if metric not in table.index:
            continue
        row = table.loc[metric]
        if np.isfinite(row["difference"]) and abs(row["difference"]) > 0:
            share = f" ({row['relative']:+.1%})" if np.isfinite(row["relative"]) else ""
            sentences.append(f"{text}: {_amount(row[names[0]])} -> {_amount(row[names[-1]])}{share}")
    return sentences or ["total cost: no difference"]


def _amount(value: float) -> str:
    """Return an amount of money a reader can say.

    >>> _amount(2_215_914.6), _amount(1.72642)
    ('2,215,915', '1.726')
    """
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"


def order_words(orders: pd.DataFrame) -> list[str]:
    """Return more and fewer units by offer, site and period, the largest first."""
    ranked = orders.reindex(orders["difference"].abs().sort_values(ascending=False, kind="stable").index)
    rows = [
        f"orders: {abs(row['difference']):,.6g} {'more' if row['difference'] > 0 else 'fewer'} of {row['offer']} "
        f"at {row['site']} in {row['period']}"
        for row in ranked.to_dict("records")
    ]
    return _first(rows, "orders: {} more differences")


def cost_words(costs: pd.DataFrame, currency: str) -> list[str]:
    """Return the cost lines that changed, largest first, present value; together they are the whole difference."""
    changed = costs[costs["difference"].abs() > max(costs["difference"].abs().max(), 1.0) * 1e-6]
    ranked = changed.reindex(changed["difference"].abs().sort_values(ascending=False, kind="stable").index)
    rows = [
        f"cost: {row['line'].replace('_', ' ')} {row['difference']:+,.0f} {currency}"
        for row in ranked.to_dict("records")
    ]
    return _first(rows, "cost: {} more lines")


def unserved_words(unserved: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return where more or less of the requests goes unserved, or that the same is served."""
    changed = unserved[unserved["difference"].abs() > SMALLEST_SHARE]
    ranked = changed.reindex(changed["difference"].abs().sort_values(ascending=False, kind="stable").index)
    rows = [
        f"unserved: {row['workload']} in {row['period']}: {row[names[0]]:.2%} -> {row[names[-1]]:.2%} of its requests"
        for row in ranked.to_dict("records")
    ]
    return _first(rows, "unserved: {} more workloads and periods") or ["unserved: no difference"]


def _first(rows: list[str], more: str) -> list[str]:
    left = len(rows) - MOST
    return rows[:MOST] + ([more.format(left)] if left > 0 else [])
