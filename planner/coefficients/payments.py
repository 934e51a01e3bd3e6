"""How a decision's money is written down: one row per label, cost line and period of payment."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.tables.cost_lines import check_line

PAYMENT = ["line", "kind", "paid_period", "timing", "amount"]


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
