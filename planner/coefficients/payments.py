"""How a decision's money is written down: one row per label, cost line and period of payment.

Every function of coefficients that returns costs returns rows with the label columns of one variable family and

``line``         name of the ledger row
``kind``         capex, opex, value (of optional demand) or sunk
``paid_period``  period in which it is paid
``timing``       start, mid (in the course of the period) or end (of the horizon)
``amount``       currency per unit of the column, undiscounted
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs import Settings
from planner.tables.cost_lines import COST_LINE, INCOME_LINES, check_line

PAYMENT = ["line", "kind", "paid_period", "timing", "amount"]
INCOME = INCOME_LINES
"""Lines of money that comes in: no payments, and no room in a budget."""


def escalated(costs: pd.DataFrame, settings: Settings, periods: pd.DataFrame) -> pd.DataFrame:
    """Return cost rows with the amounts of lines that rise at what they are in their period of payment.

    amount x (1 + g) ^ start of the period in years, with g the escalation of the line's group
    """
    rises = {line.name: settings.escalation(line.escalates) for line in COST_LINE.values() if line.escalates}
    if costs.empty or not any(rises.values()):
        return costs
    rise = costs["line"].map(rises).astype(float).fillna(0.0)
    years = costs["paid_period"].map(periods["start_years"]).astype(float)
    return costs.assign(amount=costs["amount"] * (1.0 + rise) ** years)


def yearly_rows(
    frame: pd.DataFrame, labels: list[str], line: str, yearly: pd.Series | np.ndarray, periods: pd.DataFrame
) -> pd.DataFrame:
    """Return opex by period of what has ``in_service_ordinal`` from then on: a yearly amount x years of the period."""
    ordered = frame.assign(yearly_amount=np.asarray(yearly, dtype=float))
    later = ordered.merge(
        periods.reset_index()[["period", "ordinal", "years"]].rename(
            columns={"period": "kept_period", "ordinal": "kept_ordinal"}
        ),
        how="cross",
    )
    later = later[later["kept_ordinal"] >= later["in_service_ordinal"]]
    return payment_rows(
        later, labels, line, "opex", "kept_period", "mid", later["yearly_amount"] * later["years"]
    )


def payment_rows(
    frame: pd.DataFrame,
    labels: list[str],
    line: str,
    kind: str,
    paid: str,
    timing: str,
    amount: pd.Series | np.ndarray,
) -> pd.DataFrame:
    """Return the cost rows of a frame; rows of nothing are left out.

    Parameters
    ----------
    frame
        One row per payment of one unit of a decision.
    labels
        Label columns of the decision's variable family.
    line, kind, timing
        Cost line; capex, opex, value or sunk; start, mid or end.
    paid
        Column of ``frame`` with the period of payment.
    amount
        Currency per unit of the decision, undiscounted.

    Raises
    ------
    ValueError
        The line is not declared with this kind.
    """
    check_line(line, kind)
    rows = frame[labels].assign(line=line, kind=kind, paid_period=frame[paid], timing=timing, amount=amount)
    return rows[rows["amount"] != 0.0]
