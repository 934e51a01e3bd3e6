"""Orders that are decided: what other inputs cost once they are signed."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from planner.coefficients.bundle import Coefficients
from planner.coefficients.orders.purchase_policy import ORDER
from planner.errors import InfeasiblePlan


def with_held_orders(c: Coefficients, held: pd.DataFrame) -> Coefficients:
    """Return coefficients under which exactly these units are ordered.

    Parameters
    ----------
    held : DataFrame (offer, site, cooling, period, units)
        Orders that are decided; of every other order there is none.

    Raises
    ------
    InfeasiblePlan
        A decided order cannot be placed: it would come too late, or nothing is offered there and then.
    """
    marked = held.merge(c.orders[ORDER].drop_duplicates(), on=ORDER, how="left", indicator=True)
    lost = marked[marked["_merge"] == "left_only"]
    if len(lost):
        first = lost.iloc[0]
        said = f"{first['units']:g} x {first['offer']} at {first['site']} in {first['period']}"
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        raise InfeasiblePlan(f"what is decided cannot be ordered: {said}{more}")
    return replace(c, held_orders=held)
