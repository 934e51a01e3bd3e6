"""Why there is no plan, in lines: what is short, and which inputs to change so that there is one."""

from __future__ import annotations

import shlex

import pandas as pd

from reports.content import Content

CAUSES = ["relief", "resource", "place", "period", "amount", "unit", "message"]
CELLS = ["relief", "status", "set", "total_cost"]
MOST_CELLS = 12
"""Cells of one relief shown in lines; the sheet Shortages and the table ``reliefs`` have all."""


def no_plan_lines(content: Content) -> list[str]:
    """Return why there is no plan, and the reliefs that make one possible, cheapest first."""
    if content.status != "infeasible":
        return [
            "Not finished: a limit stopped the search before any plan was found. This is not a proof that none exists."
        ]
    lines = ["No plan meets every hard limit (proven). What is missing is on the sheet Shortages:"]
    causes = causes_of(content)
    lines += causes.loc[causes["relief"] == causes["relief"].min(), "message"].astype(str).tolist()
    cells = content.frame("reliefs", CELLS)
    for number, part in cells.groupby("relief", sort=False):
        lines.append(relief_title(content, str(number), part))
        shown = part["set"].head(MOST_CELLS)
        lines += [f"  --set {shlex.quote(text)}" for text in shown]
        lines += [f"  and {len(part) - MOST_CELLS} more cells"] if len(part) > MOST_CELLS else []
    return lines


def causes_of(content: Content) -> pd.DataFrame:
    """Return one row a cause, with the relief it belongs to."""
    causes = content.frame("shortages", CAUSES)
    missing = {name: "" for name in CAUSES if name not in causes}
    return causes.assign(**missing)


def relief_title(content: Content, number: str, cells: pd.DataFrame) -> str:
    """Return what is known of a relief: whether a plan was found with all of its cells, and what that plan costs."""
    cost, status = float(cells["total_cost"].iloc[0]), str(cells["status"].iloc[0])
    head = f"Relief {number}, {len(cells)} cell{'s' if len(cells) > 1 else ''} together"
    if status != "proven":
        return f"{head}, {status}:"
    return f"{head}: there is a plan, of {cost:,.0f} {content.currency} (found with these inputs):"
