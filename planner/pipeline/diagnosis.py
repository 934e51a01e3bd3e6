"""Why no plan exists: what is short, where, when and by how much, in natural units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.errors import InfeasiblePlan
from planner.formulation.joining import EmptyRow
from planner.formulation.pulp_face import PlanProblem
from planner.solve import SolveOptions, elastic

SHORTAGES = ["resource", "place", "period", "amount", "unit", "message"]


@dataclass(frozen=True)
class Limit:
    """How a soft limit is named to the reader: the resource, its unit, and the labels that say where."""

    resource: str
    unit: str
    place: tuple[str, ...]


LIMITS: Mapping[str, Limit] = {
    "site_power": Limit("grid power", "kW", ("site",)),
    "provisioned_power": Limit("provisioned power after headroom", "kW", ("site",)),
    "it_power": Limit("IT power limit", "kW", ("site",)),
    "facility_power": Limit("facility power limit", "kW", ("site",)),
    "rack_space": Limit("rack positions", "racks", ("site",)),
    "hall_capacity": Limit("hall capacity", "kW IT", ("site", "cooling")),
    "cooling_capacity": Limit("cooling capacity", "kW IT", ("site", "cooling")),
    "bridge_limit": Limit("generation on site", "kW", ("site", "generator")),
    "contracted_power": Limit("contracted colocation power", "kW IT", ("site",)),
    "path_power": Limit("power carried by the path", "kW", ("site", "item")),
    "commissioning_power": Limit("power to test on before service, after headroom", "kW", ("site", "day")),
    "commissioning_path": Limit("power carried by the path to test on", "kW", ("site", "item", "day")),
    "commissioning_hall": Limit("hall ready for installation", "kW IT", ("site", "cooling", "day")),
    "commissioning_contract": Limit("contracted colocation power to test on", "kW IT", ("site", "day")),
    "commissioning_racks": Limit("rack positions free for installation", "racks", ("site", "day")),
    "supply": Limit("vendor supply", "units", ("offer",)),
    "hourly_supply": Limit("vendor supply by the hour", "units", ("offer",)),
    "source_count": Limit("sources to order from", "vendors, countries, chips or products", ("limit",)),
    "commissioning_pace": Limit("commissioning", "units", ("site",)),
    "carbon_limit": Limit("carbon limit", "t CO2", ("limit",)),
    "water_limit": Limit("water limit", "m3", ("limit",)),
    "budget": Limit("budget", "thousand currency", ("budget",)),
    "failure_service": Limit(
        "serving capacity after a loss", "requests/s", ("failure", "workload", "region")
    ),
    "demand_balance": Limit("serving capacity", "requests/s", ("workload", "region")),
}
"""Families that may give in the diagnosis; all others are physics and stay hard."""

HORIZON = "horizon"
"""When a limit is short that holds over all periods together."""

NOTHING_BY_THEN = "no unit can be in service by then: lead time, latency, memory or power rules out every one"
NOTHING_LEFT = "nothing that could serve it in time is left after the loss"

LAST_RESORT = 1e3
"""How much dearer it is, relative to its size, to blame demand than a limit somebody could lift."""

WHOLE_UNITS_SECONDS = 30.0
"""How long each search for the relief of whole units may take (unsourced estimate: a reader waits for it)."""


def shortages(c: Coefficients, problem: PlanProblem, options: SolveOptions) -> pd.DataFrame:
    """Return the least relief that makes a plan possible, and what of the demand cannot be served without it.

    Units are whole in both, so that the relief is enough for a plan. Each limit is weighed by its own size, so a
    relief of 1 % counts the same whatever the unit; demand is the last resort. A second pass lets only demand give:
    the part that no decision can serve under the limits as they stand.

    Returns
    -------
    DataFrame with SHORTAGES columns, largest first.
    """
    quiet = replace(options, progress=None)
    present = {block.family: block for block in problem.rows if block.family in LIMITS}
    weights = {}
    for family, block in present.items():
        size = max(float(np.abs(block.rhs).max(initial=0.0)), 1.0)
        weights[family] = (LAST_RESORT if family == "demand_balance" else 1.0) / size
    relief = _named(c, _least_relief(problem, weights, quiet))
    unserved = _named(c, _demand_alone(problem, weights["demand_balance"], quiet))
    unserved["message"] = unserved["message"] + " cannot be served under the limits as they stand"
    only_new = unserved[~unserved["resource"].isin(relief["resource"])]
    relief["message"] = relief["message"].where(
        relief["resource"] == "serving capacity", relief["message"] + "; feasible with that much more"
    )
    return typed_shortages(pd.concat([relief, only_new], ignore_index=True))


def _least_relief(problem: PlanProblem, weights: Mapping[str, float], options: SolveOptions) -> pd.DataFrame:
    """Return the least relief with which whole units fit; that of divisible units where no such is found in time."""
    limit = min(options.time_limit_s or WHOLE_UNITS_SECONDS, WHOLE_UNITS_SECONDS)
    try:
        return elastic(problem, weights, replace(options, relax=False, time_limit_s=limit))
    except InfeasiblePlan:
        return elastic(problem, weights, replace(options, relax=True))


def _demand_alone(problem: PlanProblem, weight: float, options: SolveOptions) -> pd.DataFrame:
    """Return what demand must give; nothing where no demand at all would not help either."""
    try:
        return _least_relief(problem, {"demand_balance": weight}, options)
    except InfeasiblePlan:
        return pd.DataFrame()


def _named(c: Coefficients, found: pd.DataFrame) -> pd.DataFrame:
    if found.empty:
        return pd.DataFrame(columns=SHORTAGES)
    rows = []
    for family, group in found.groupby("family", sort=False):
        limit = LIMITS[str(family)]
        group = _with_period(c, str(family), group)
        labels = [name for name in (*limit.place, "period") if name in group and group[name].notna().any()]
        level = [
            name
            for name in ("workload", "region", "period", "block")
            if name in group and group[name].notna().any()
        ]
        amount = (
            group.groupby(level, sort=False)["shortfall"].sum().reset_index()
            if family == "demand_balance"
            else group
        )
        worst = amount.groupby(labels, sort=False)["shortfall"].max().reset_index() if labels else amount
        for row in worst.to_dict("records"):
            place = ", ".join(str(row[name]) for name in limit.place if name in row)
            rows.append(
                (
                    limit.resource,
                    place,
                    str(row.get("period", HORIZON)),
                    float(row["shortfall"]),
                    _unit(c, limit),
                )
            )
    table = pd.DataFrame(rows, columns=SHORTAGES[:5])
    order = {name: rank for rank, name in enumerate(c.periods.index)}
    table = table.sort_values(
        ["period", "amount"],
        ascending=[True, False],
        key=lambda s: s.map(order).fillna(-1) if s.name == "period" else s,
    )
    return table.assign(message=[shortage_text(*row) for row in table.itertuples(index=False)]).reset_index(
        drop=True
    )


def _with_period(c: Coefficients, family: str, found: pd.DataFrame) -> pd.DataFrame:
    """Return shortages of a limit whose rows name no period with the period or year that the limit itself states."""
    stated = {
        "budget": c.budgets.rename(columns={"budget": "name"}),
        "carbon_limit": c.environment.limits.rename(columns={"limit": "name"}),
        "water_limit": c.environment.limits.rename(columns={"limit": "name"}),
    }
    if family not in stated:
        return found
    limits = stated[family].set_index("name")
    when = limits["period"].astype(object).where(limits["period"].notna())
    if "year" in limits:
        when = when.where(when.notna(), limits["year"].map("{:.0f}".format, na_action="ignore"))
    named = found[LIMITS[family].place[0]].map(when)
    return found.assign(period=named.where(named.notna(), HORIZON))


def _unit(c: Coefficients, limit: Limit) -> str:
    return limit.unit.replace("currency", c.settings.currency)


def typed_shortages(rows: pd.DataFrame) -> pd.DataFrame:
    """Return shortages in their columns, text as text and amounts as numbers, also when there are none."""
    text = {name: "str" for name in SHORTAGES if name != "amount"}
    return rows[SHORTAGES].astype({**text, "amount": float}).reset_index(drop=True)


def shortage_text(resource: str, place: str, period: str, amount: float, unit: str) -> str:
    """Return one line: ``2027-Q3: short of 4,200 kW of grid power at A``."""
    shown = f"{amount:,.0f}" if amount >= 100 else f"{amount:,.3g}"
    return f"{period}: short of {shown} {unit} of {resource} at {place}"


def empty_row_shortages(c: Coefficients, error: EmptyRow) -> pd.DataFrame:
    """Return the shortages of demand for which nothing at all is admissible."""
    labels = error.labels.assign(amount=np.abs(error.rhs))
    limit = LIMITS.get(error.family)
    if limit is None or "period" not in labels:
        place = ", ".join(str(value) for value in labels.iloc[0])
        row = (error.family, place, HORIZON, float(labels["amount"].max()), "", str(error))
        return typed_shortages(pd.DataFrame([row], columns=SHORTAGES))
    level = [*limit.place, "period", *(["block"] if "block" in labels else [])]
    summed = labels.groupby(level, sort=False)["amount"].sum().reset_index()
    worst = summed.groupby([*limit.place, "period"], sort=False)["amount"].max().reset_index()
    rows = []
    for row in worst.to_dict("records"):
        place = ", ".join(str(row[name]) for name in limit.place)
        text = shortage_text(limit.resource, place, row["period"], row["amount"], limit.unit)
        reason = NOTHING_LEFT if error.family == "failure_service" else NOTHING_BY_THEN
        rows.append((limit.resource, place, row["period"], row["amount"], limit.unit, f"{text}: {reason}"))
    return typed_shortages(pd.DataFrame(rows, columns=SHORTAGES))
