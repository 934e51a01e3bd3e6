"""The cost ledger as the sheets show it: lines in a fixed order, by period, by site, by kind."""

from __future__ import annotations

import pandas as pd

from reports.content import Content, by_period
from reports.labels import words

LINE_ORDER = (
    "hardware_purchase",
    "installation",
    "hardware_residual",
    "lease",
    "reserved_rent",
    "on_demand_rent",
    "spot_rent",
    "facility_build",
    "cooling_build",
    "facility_residual",
    "facility_rent",
    "site_opening",
    "site_fixed",
    "energy",
    "demand_charge",
    "tariff_fixed",
    "carbon",
    "maintenance",
    "cooling_maintenance",
    "staff",
    "network",
)
"""Cost lines in reading order; any other line follows them by name."""

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
]


def ledger(content: Content) -> pd.DataFrame:
    """Return the cost rows of the plan; truth values read from a file are made true again."""
    costs = content.frame("costs", LEDGER)
    return costs.assign(in_objective=costs["in_objective"].map(truth).astype(bool))


def truth(value: object) -> bool:
    """Return a truth value that may have been saved as text.

    >>> truth("False"), truth(True)
    (False, True)
    """
    return value.strip().lower() in ("true", "1", "yes") if isinstance(value, str) else bool(value)


def counted(content: Content) -> pd.DataFrame:
    """Return the rows that make the total cost: in the objective and not a value of demand."""
    rows = ledger(content)
    return rows[rows["in_objective"] & (rows["kind"] != "value")]


def line_rank(line: str) -> tuple[int, str]:
    """Return the place of a cost line in reading order."""
    return (LINE_ORDER.index(line) if line in LINE_ORDER else len(LINE_ORDER), line)


def lines_by_period(content: Content, value: str = "amount") -> pd.DataFrame:
    """Return line, label, kind and one column per period of the rows that make the total cost."""
    wide = by_period(counted(content), ["line", "kind"], value, content.timeline)
    wide.insert(1, "label", [words(line) for line in wide["line"]])
    order = sorted(range(len(wide)), key=lambda index: line_rank(wide["line"].iloc[index]))
    return wide.iloc[order].reset_index(drop=True)


def largest_lines(content: Content, most: int) -> pd.DataFrame:
    """Return the ``most`` largest lines by period, the rest in one row called all other lines."""
    wide = lines_by_period(content)
    names = list(content.timeline.names)
    size = wide[names].abs().sum(axis=1)
    if len(wide) <= most:
        return wide[["label", "kind", *names]]
    large = size.rank(method="first", ascending=False) < most
    rest = wide.loc[~large, names].sum()
    other = pd.DataFrame([{"label": "All other lines", "kind": "mixed", **rest.to_dict()}])
    return pd.concat([wide.loc[large, ["label", "kind", *names]], other], ignore_index=True)
