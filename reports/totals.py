"""Totals of money as the sheets show them: the frame ``totals`` of the plan, and its parts by period and by site."""

from __future__ import annotations

import pandas as pd

from planner.plan.totals import ALL_SITES, LABELS, TOTALS, Total, total_frame
from reports.content import Content, by_period
from reports.costs import counted

PARTS = tuple(total for total in TOTALS if total.natures)
"""Totals that add rows of the ledger; the others are made of these."""


def totals(content: Content) -> pd.DataFrame:
    """Return the plan's totals; of a plan saved without them they are added up from its ledger in the same way."""
    found = content.frame("totals")
    return found if len(found) else total_frame(counted(content))


def total_of(content: Content, name: str, site: str = ALL_SITES) -> float:
    """Return one total by name."""
    rows = totals(content)
    return float(rows.loc[rows["total"].eq(name) & rows["site"].eq(site), "amount"].sum())


def signed_parts(content: Content, names: tuple[str, ...] = ()) -> pd.DataFrame:
    """Return label and one column per period of the totals that add ledger rows, as they count in the cost.

    What is credited is negative, so that the parts of all kinds sum to the total cost.
    """
    rows = counted(content)
    parts = []
    for period in content.timeline.names:
        found = total_frame(rows[rows["period"].eq(period)])
        found = found[found["site"].eq(ALL_SITES)].set_index("total")["amount"]
        parts += [
            {"label": _signed(part), "period": period, "amount": part.sign * float(found[part.name])}
            for part in PARTS
            if not names or part.name in names
        ]
    table = pd.DataFrame(parts, columns=["label", "period", "amount"])
    order = [_signed(part) for part in PARTS if not names or part.name in names]
    wide = by_period(table, ["label"], "amount", content.timeline)
    return wide.set_index("label").reindex(order).reset_index() if len(wide) else wide


def _signed(part: Total) -> str:
    """Return the name of a part where what is credited is taken off: another number has another name."""
    return f"Less {part.label.lower()}" if part.sign < 0 else part.label


__all__ = ["LABELS", "PARTS", "signed_parts", "total_of", "totals"]
