"""What one case gives: its columns declared once, for the store, the CSV file and the reader."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from planner.pipeline.clash import Clash
from planner.pipeline.diagnosis import first_relief
from planner.pipeline.diagnosis_words import shortage_frame
from planner.plan.bound import with_units
from planner.plan.plan import Plan
from planner.solve import SolveOptions
from planner.units import KWH_PER_MWH

Outcome = dict[str, Any]
"""One value per column of ``OUTCOME``; None where there is none."""

LEAST_UNITS = 1e-6
"""Units above which something is ordered."""


@dataclass(frozen=True)
class OutcomeColumn:
    """A column of the results: name, type in the database, unit and meaning."""

    name: str
    kind: Literal["TEXT", "REAL"]
    unit: str
    meaning: str


OUTCOME = (
    OutcomeColumn(
        "status",
        "TEXT",
        "",
        "optimal, feasible (not proven within the gap), bound (a relaxation), infeasible, no_solution (a limit came "
        "first) or failed",
    ),
    OutcomeColumn("total_cost", "REAL", "currency", "present value of cost over the horizon"),
    OutcomeColumn("cost_per_mtok_effective", "REAL", "currency/Mtok", "unit cost of effective tokens"),
    OutcomeColumn(
        "cost_per_million_requests", "REAL", "currency/million requests", "of requests without lengths"
    ),
    OutcomeColumn("effective_mtok", "REAL", "Mtok", "effective tokens over the horizon, undiscounted"),
    OutcomeColumn("effective_mrequests", "REAL", "million requests", "effective requests without lengths"),
    OutcomeColumn("gross_capex", "REAL", "currency", "everything bought and built, as paid in the horizon"),
    OutcomeColumn("opex_paid", "REAL", "currency", "everything rented and run, as paid in the horizon"),
    OutcomeColumn("energy_mwh", "REAL", "MWh", "drawn from the grid at sites with a meter of their own"),
    OutcomeColumn("carbon_t", "REAL", "t", "CO2 of electricity"),
    OutcomeColumn("water_m3", "REAL", "m3", "water of cooling"),
    OutcomeColumn("unserved_fraction", "REAL", "fraction", "optional demand not served, over all demand"),
    OutcomeColumn("objective", "REAL", "currency", "what was minimised, as in plan.json"),
    OutcomeColumn("bound", "REAL", "currency", "proven lower bound of it"),
    OutcomeColumn("gap", "REAL", "fraction", "1 - bound / objective"),
    OutcomeColumn("orders", "TEXT", "", "units by offer, site, cooling and period, as JSON rows"),
    OutcomeColumn("seconds", "REAL", "s", "wall time of the case where it was solved"),
    OutcomeColumn(
        "reason", "TEXT", "", "why there is no proven plan: what is short, what was not finished, what failed"
    ),
)
NAMES = tuple(column.name for column in OUTCOME)
HEADLINE = (
    "status",
    "total_cost",
    "cost_per_mtok_effective",
    "cost_per_million_requests",
    "effective_mtok",
    "effective_mrequests",
    "unserved_fraction",
    "objective",
    "bound",
    "gap",
)
"""Columns that are keys of a plan's headline."""


def without_plan(status: str, reason: str) -> Outcome:
    """Return the outcome of a case that has no plan, and why."""
    return {**dict.fromkeys(NAMES), "status": status, "reason": " ".join(reason.split())}


def outcome_of(found: Plan | Clash, options: SolveOptions) -> Outcome:
    """Return the outcome of what planning a case gave; ``seconds`` is left to who measures it."""
    if isinstance(found, Clash):
        return without_plan("infeasible", reason_of(found, options))
    headline = found.headline
    if "orders" not in found.frames:
        return {**without_plan(found.status, unfinished(headline)), "bound": headline.get("bound")}
    footprint, energy = found["footprint"], found["energy"]
    known = {name: _number(headline.get(name)) for name in HEADLINE[1:]}
    return {
        **dict.fromkeys(NAMES),
        **known,
        "status": found.status,
        "gross_capex": float(headline["totals"]["gross_capex"]),
        "opex_paid": float(headline["totals"]["opex_paid"]),
        "energy_mwh": float(energy["kwh"].sum()) / KWH_PER_MWH,
        "carbon_t": float(footprint["carbon_t"].sum()),
        "water_m3": float(footprint["water_m3"].sum()),
        "orders": json.dumps(order_rows(with_units(found)["orders"]), ensure_ascii=False),
        "reason": unfinished(headline) if found.status == "feasible" else "",
    }


def reason_of(clash: Clash, options: SolveOptions) -> str:
    """Return what is short where there is no plan: the limits that give way first."""
    return "; ".join(shortage_frame(clash.scenario, [first_relief(clash, options)])["message"])


def unfinished(headline: Mapping[str, Any]) -> str:
    """Return what is known of a search that a limit ended, in words."""
    currency, gap = headline["currency"], _number(headline.get("gap"))
    if gap is not None:
        return f"not finished: gap {100 * gap:.3g} %, no plan below {headline['bound']:,.6g} {currency}"
    for name, unit in (("bound", currency), ("cost_per_mtok_bound", f"{currency}/Mtok")):
        if name in headline:
            return f"not finished: no plan yet, none below {headline[name]:,.6g} {unit}"
    return f"not finished: no plan and no bound yet; {headline.get('solver_detail', '')}"


def order_rows(orders: pd.DataFrame) -> list[list[Any]]:
    """Return what is ordered as plain rows: offer, site, cooling, period, units."""
    taken = orders[orders["units"] > LEAST_UNITS]
    labels = ["offer", "site", "cooling", "period"]
    return [
        [*map(str, row[:4]), float(row[4])]
        for row in taken[[*labels, "units"]].itertuples(index=False, name=None)
    ]


def _number(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)
