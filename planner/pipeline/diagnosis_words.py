"""The diagnosis as tables: one row a cause in the reader's words, one row a cell of each relief."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from planner.inputs import Scenario
from planner.pipeline.diagnosis import Relief
from planner.pipeline.diagnosis_cells import Change

SHORTAGES = ["relief", "resource", "place", "period", "amount", "unit", "message"]
RELIEFS = [
    "relief",
    "status",
    "resource",
    "place",
    "period",
    "table",
    "key",
    "column",
    "old_value",
    "new_value",
    "set",
    "total_cost",
]
HORIZON = "horizon"
"""When a limit is short that holds over all periods together."""
PROVEN = "proven"
CELLS_SHOWN = 3


def shortage_frame(scenario: Scenario, found: Sequence[Relief]) -> pd.DataFrame:
    """Return SHORTAGES: the causes of each relief in turn, what gives most of itself last.

    Cells that stand for one cause (one resource at one place, over several periods; one date for several workloads)
    are one row, with the most any of them gives.
    """
    order = scenario.tables["periods"]["period"].tolist()
    rows = []
    for number, relief in enumerate(found, start=1):
        causes: dict[tuple[str, str], list[Change]] = {}
        for change in relief.changes:
            causes.setdefault((change.resource, change.place), []).append(change)
        for (resource, place), changes in sorted(causes.items(), key=lambda cause: _weight(cause[1])):
            period = period_text([name for change in changes for name in change.periods], order)
            amount = _amount(changes)
            unit = changes[0].unit
            said = shortage_text(resource, place, period, amount, unit)
            message = f"{said}: {_cells_text(changes)}"
            rows.append((str(number), resource, place, period, amount, unit, message))
        if not relief.changes:
            rows.append((str(number), "not known", "", HORIZON, 0.0, "", relief.unproven))
    return typed_shortages(pd.DataFrame(rows, columns=SHORTAGES))


def relief_frame(scenario: Scenario, found: Sequence[Relief]) -> pd.DataFrame:
    """Return RELIEFS: every cell to change, by relief, with the ``--set`` that changes it and what was proven."""
    order = scenario.tables["periods"]["period"].tolist()
    rows = [
        (
            str(number),
            status_text(relief),
            change.resource,
            change.place,
            period_text(change.periods, order),
            change.table,
            change.key,
            change.column,
            change.old,
            change.new,
            change.set_text,
            relief.total_cost,
        )
        for number, relief in enumerate(found, start=1)
        for change in relief.changes
    ]
    frame = pd.DataFrame(rows, columns=RELIEFS)
    text = {name: "str" for name in RELIEFS if name != "total_cost"}
    return frame.astype({**text, "total_cost": float})


def status_text(relief: Relief) -> str:
    """Return whether a plan was found with the relief, in words."""
    return f"not proven: {relief.unproven}" if relief.unproven else PROVEN


def typed_shortages(rows: pd.DataFrame) -> pd.DataFrame:
    """Return shortages in their columns, text as text and amounts as numbers, also when there are none."""
    text = {name: "str" for name in SHORTAGES if name != "amount"}
    return rows[SHORTAGES].astype({**text, "amount": float}).reset_index(drop=True)


def shortage_text(resource: str, place: str, period: str, amount: float, unit: str) -> str:
    """Return one line: ``2027-Q3: short of 4,200 kW of grid power at A``.

    >>> shortage_text("rack positions", "A", "2027", 1.504, "racks")
    '2027: short of 1.504 racks of rack positions at A'
    """
    shown = f"{amount:,.0f}" if amount >= 10_000 or float(amount).is_integer() else f"{amount:,.4g}"
    return f"{period}: short of {shown} {unit} of {resource} at {place}"


def period_text(periods: Sequence[str], order: Sequence[str]) -> str:
    """Return periods as a reader says them: a run of them by its ends.

    >>> period_text(["Q1", "Q2", "Q3"], ["Q1", "Q2", "Q3", "Q4"]), period_text(["Q1", "Q3"], ["Q1", "Q2", "Q3"])
    ('Q1 to Q3', 'Q1, Q3')
    >>> period_text([], ["Q1"])
    'horizon'
    """
    known = [name for name in order if name in periods]
    others = [name for name in dict.fromkeys(periods) if name not in order]
    runs: list[list[str]] = []
    for name in known:
        if runs and order.index(name) == order.index(runs[-1][-1]) + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    said = [run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    return ", ".join([*said, *others]) or HORIZON


def _amount(changes: Sequence[Change]) -> float:
    """Return the most that gives way: of demand all workloads of a period together, else the largest cell."""
    if changes[0].table != "demand":
        return max(change.amount for change in changes)
    by_period: dict[tuple[str, ...], float] = {}
    for change in changes:
        by_period[change.periods] = by_period.get(change.periods, 0.0) + change.amount
    return max(by_period.values())


def _weight(changes: Sequence[Change]) -> float:
    return sum(change.weight for change in changes)


def _cells_text(changes: Sequence[Change]) -> str:
    """Return what would be enough, cell by cell, and what else there is to know."""
    moved = [change for change in changes if change.weight > 0.0] or list(changes)
    parts = [
        f"{change.column} of {change.table} {change.key} {_from_to(change)}" for change in moved[:CELLS_SHOWN]
    ]
    more = [f"{len(moved) - CELLS_SHOWN} more cells"] if len(moved) > CELLS_SHOWN else []
    notes = list(dict.fromkeys(change.note for change in moved if change.note))
    return "; ".join([*parts, *more, *notes])


def _from_to(change: Change) -> str:
    old, new = (_shown(value) for value in (change.old, change.new))
    return f"from {old} to {new}" if change.old else f"to {new}"


def _shown(value: str) -> str:
    try:
        number = float(value)
    except ValueError:
        return value or "blank"
    return f"{number:,.12g}"
