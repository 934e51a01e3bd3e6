"""Economic, accounting and cash ledger beside each other, by cost line."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from planner.plan.finance.lots import SUNK_LINE

RECONCILIATION = [
    "line",
    "present_value",
    "discounting",
    "economic",
    "value_at_horizon_end",
    "paid_before",
    "paid_in_horizon",
    "paid_after",
    "paid_over_life",
    "expensed_in_horizon",
    "expensed_after",
    "expensed_over_life",
]


def reconciliation_frame(frames: Mapping[str, pd.DataFrame], calendar: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cost line in which the three ledgers meet.

    present_value + discounting                  = economic            undiscounted, as the objective counts it
    economic - value_at_horizon_end              = paid_in_horizon     market value kept, commitments charged
    paid_before + paid_in_horizon + paid_after   = paid_over_life      cash
    expensed_in_horizon + expensed_after         = expensed_over_life  accounting
    paid_over_life                               = expensed_over_life  every line, over the lives of what it bought

    ``paid_before`` is the book value of the existing fleet; the value of demand is no cost and in no column.
    """
    costs = frames["costs"][frames["costs"]["kind"].isin(("capex", "opex"))]
    ended = costs[costs["timing"] == "end"]
    cash, books = frames["cash"], frames["accounting"]
    inside = calendar.set_index("period")["inside"]
    lots = frames["assets"][frames["assets"]["line"] == SUNK_LINE]
    sums = {
        "present_value": costs.groupby("line", sort=False)["discounted"].sum(),
        "economic": costs.groupby("line", sort=False)["amount"].sum(),
        "value_at_horizon_end": ended.groupby("line", sort=False)["amount"].sum(),
        "paid_before": lots.groupby("line")["cost"].sum(),
        "paid_in_horizon": _when(cash, inside, True),
        "paid_after": _when(cash, inside, False),
        "expensed_in_horizon": _when(books, inside, True),
        "expensed_after": _when(books, inside, False),
    }
    lines = pd.unique(pd.Series([name for column in sums.values() for name in column.index], dtype="str"))
    table = pd.DataFrame(
        {name: column.reindex(lines).fillna(0.0) for name, column in sums.items()}, index=lines
    )
    table = table.assign(
        discounting=table["economic"] - table["present_value"],
        paid_over_life=table["paid_before"] + table["paid_in_horizon"] + table["paid_after"],
        expensed_over_life=table["expensed_in_horizon"] + table["expensed_after"],
    )
    table.index = table.index.astype("str")
    return table.rename_axis("line").reset_index()[RECONCILIATION]


def _when(rows: pd.DataFrame, inside: pd.Series, wanted: bool) -> pd.Series:
    fits = rows["period"].map(inside).astype(bool) == wanted
    return rows[fits].groupby("line", sort=False)["amount"].sum()
