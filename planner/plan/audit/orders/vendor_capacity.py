"""What is taken of several offers together, against what their vendor gives in a period."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.once import once
from planner.plan.audit.report import Check, compare

LABELS = ["limit", "period", "block", "left", "right"]


@once
def vendor_supply(books: Books) -> Check:
    """Return the check that each limit of ``vendor_capacity`` holds in its periods, in every hour of them.

    Counted order by order: all of what is ordered or rented for the period, and the most of what is rented by the hour.
    """
    rows = [row for limit in _limits(books) for row in _taken(books, limit)]
    return compare("vendor_supply", "vendor_supply", pd.DataFrame(rows, columns=LABELS), "<=")


def _limits(books: Books) -> list[dict[str, Any]]:
    stated = books.facts.scenario.tables["vendor_capacity"].to_dict("records")
    periods = [str(period) for period in books.facts.periods.index]
    return [
        {**row, "period": period}
        for row in stated
        for period in (periods if pd.isna(row["period"]) else [row["period"]])
    ]


def _taken(books: Books, limit: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    """Yield what is taken under one limit in one period, by block where units are rented by the hour."""
    offers, products = books.facts.offers, books.facts.table("products", "product")
    size: dict[str, float] = {}
    for offer, row in offers.iterrows():
        if pd.notna(limit["vendor"]) and row["vendor"] != limit["vendor"]:
            continue
        if limit["offers"] and offer not in limit["offers"]:
            continue
        each = {"units": 1.0, "chips": products["chips_per_unit"].get(row["product"])}
        each["kw"] = products["nameplate_kw"].get(row["product"])
        size[str(offer)] = float(each[limit["measure"]])
    orders, rented = books.orders, books.hourly
    whole = sum(
        row["units"] * size.get(row["offer"], 0.0)
        for row in orders[~orders["hourly"] & orders["period"].eq(limit["period"])].to_dict("records")
    )
    by_block: dict[object, float] = {}
    for row in rented[rented["period"].eq(limit["period"])].to_dict("records"):
        by_block[row["block"]] = by_block.get(row["block"], 0.0) + row["units"] * size.get(row["offer"], 0.0)
    for block, hourly in (by_block or {"": 0.0}).items():
        yield limit["limit"], limit["period"], block, whole + hourly, float(limit["amount"])
