"""The economic ledger: every cost row of the plan, summing to the objective."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.orders.instalments import owed_units
from planner.formulation.blocks import ColumnIndex
from planner.formulation.objective import cost_terms
from planner.inputs import Scenario
from planner.tables.cost_lines import check_line

LEDGER = [
    "line",
    "kind",
    "period",
    "site",
    "offer",
    "workload",
    "amount",
    "discount_factor",
    "discounted",
    "in_objective",
    "timing",
    "cooling",
    "decided_period",
]


def cost_ledger(
    scenario: Scenario, c: Coefficients, columns: ColumnIndex, values: np.ndarray, objective: str
) -> pd.DataFrame:
    """Return cost rows by line, period of payment, site, offer and workload.

    Parameters
    ----------
    values
        Plan values of all columns.
    objective
        ``unit-cost`` or ``cost``: only the latter has the value of optional demand served in it.

    Returns
    -------
    DataFrame with LEDGER columns: amount undiscounted, ``discounted`` = amount x discount_factor, ``in_objective``;
    ``decided_period`` is the period of the decision that causes the row, ``timing`` start or mid of the period of
    payment, or end of the horizon (a value, not a payment).
    """
    terms = cost_terms(c, columns)
    column = terms["column"].to_numpy(int)
    level = np.where(column >= 0, values[np.maximum(column, 0)], 1.0)
    amount = terms["amount"].to_numpy(float) * level
    for line, kind in terms[["line", "kind"]].drop_duplicates().itertuples(index=False):
        check_line(line, kind)
    rows = terms.assign(
        amount=amount,
        discounted=amount * terms["discount_factor"],
        decided_period=terms.get("period", np.nan),
        period=terms["paid_period"],
    )
    for name in ("site", "offer", "workload", "cooling", "decided_period"):
        if name not in rows:
            rows[name] = np.nan
        rows[name] = rows[name].astype("str")
    rows["in_objective"] = (rows["kind"] != "value") | (objective == "cost")
    key = [name for name in LEDGER if name not in ("amount", "discounted")]
    summed = rows.groupby(key, dropna=False, sort=False, as_index=False)[["amount", "discounted"]].sum()
    summed = summed[summed["amount"].abs() > 1e-12]
    return pd.concat([summed, _sunk(scenario, c)], ignore_index=True)[LEDGER]


def _sunk(scenario: Scenario, c: Coefficients) -> pd.DataFrame:
    """Return the book value of the existing fleet: shown, never part of the objective."""
    fleet = scenario.tables["fleet"]
    booked = fleet[fleet["book_value"].fillna(0.0) > 0]
    return pd.DataFrame(
        {
            "line": "sunk_book_value",
            "kind": "sunk",
            "period": c.periods.index[0],
            "site": booked["site"].to_numpy(),
            "offer": ("fleet:" + booked["fleet"]).to_numpy(),
            "workload": np.nan,
            "amount": booked["book_value"].to_numpy(float),
            "discount_factor": 1.0,
            "discounted": booked["book_value"].to_numpy(float),
            "in_objective": False,
            "timing": "start",
            "cooling": booked["cooling"].to_numpy(),
            "decided_period": np.nan,
        }
    ).astype({"workload": "str", "decided_period": "str"})


def peaks_after_horizon(billed_peaks: pd.DataFrame) -> float:
    """Return what coincident peaks and ratchets of the horizon are billed after it, undiscounted."""
    return float(billed_peaks["owed_after_horizon"].sum())


def liability_after_horizon(c: Coefficients, orders: pd.DataFrame) -> float:
    """Return undiscounted term payments that fall after the horizon (leases and reservations still running).

    What was paid up front is paid.
    """
    held = orders[orders["mode"].isin(["lease", "reserved"])]
    if held.empty:
        return 0.0
    key = ["offer", "site", "cooling", "period"]
    table = held.merge(c.orders[[*key, "in_service_ordinal"]], on=key)
    terms = c.stands.drop_duplicates("offer").set_index("offer")
    table = table.assign(term_months=table["offer"].map(terms["term_months"]).astype(float))
    paid = table["offer"].map(terms["upfront_fraction"]).astype(float).fillna(0.0)
    table = table.assign(
        payment_every_months=table["offer"].map(terms["payment_every_months"]).astype(float),
        payment_in=table["offer"].map(terms["payment_in"]),
    )
    left = owed_units(table, c.alive, c.periods)
    return float((table["units"] * table["unit_price"] * left * (1.0 - paid)).sum())
