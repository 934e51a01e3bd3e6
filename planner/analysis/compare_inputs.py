"""Inputs that differ between plans, what bears most on cost first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from planner.plan import Plan
from planner.tables import TABLES

PROVENANCE = (
    "source",
    "source_date",
    "confidence",
    "notes",
    "title",
    "location",
    "date",
    "meaning",
    "reason",
)
"""Columns that say where a number is from."""
TECHNICAL = ("name", "description", "seed", "time_limit_s", "gap", "accept")
"""Settings that do not change what is asked."""
OWNERS: dict[str, tuple[str, ...]] = {
    "offers": ("offer",),
    "supply": ("offer",),
    "offer_tiers": ("offer",),
    "products": ("product",),
    "sites": ("site",),
    "site_power": ("site",),
    "site_modules": ("site",),
    "facility_options": ("site",),
    "workloads": ("workload",),
    "shapes": ("workload",),
    "demand": ("workload",),
}
"""Tables whose rows belong to something that has a cost of its own."""


def changed_inputs(plans: Mapping[str, Plan]) -> pd.DataFrame:
    """Return table, key, column and each plan's text for every cell of the inputs that is not the same in all.

    First what bears most on cost, see ``bearing``; within the same, in the order of the tables.
    """
    parts = [_settings(plans)]
    for name, table in TABLES.items():
        keys = list(table.key)
        long = {plan_name: _cells(plan.scenario.tables[name], keys) for plan_name, plan in plans.items()}
        wide = pd.DataFrame(long)
        changed = _differ(wide.fillna(""))
        if changed.any():
            found = wide[changed].reset_index(names=["key", "column"])
            parts.append(found.assign(table=name)[["table", "key", "column", *plans]])
    table = pd.concat(parts, ignore_index=True)
    order = np.argsort(-bearing(table, plans), kind="stable")
    return table.iloc[order].reset_index(drop=True)


def bearing(inputs: pd.DataFrame, plans: Mapping[str, Plan]) -> np.ndarray:
    """Return how much money each changed cell bears on, to sort by: an estimate, not the effect of the change.

    bearing = cost of what the row is of (offer, product, site, workload; else all cost), the greater of the first and
    last plan's, present value x relative change of the number, at most 1 (1 for a text). What no plan reads bears
    nothing: names, notes, sources, how the solver is run.
    """
    names = list(plans)
    first, last = names[0], names[-1]
    costs = [_cost_by_owner(plans[name]) for name in (first, last)]
    weights = []
    for table, key, column, before, after in zip(
        inputs["table"], inputs["key"], inputs["column"], inputs[first], inputs[last], strict=True
    ):
        if column in (TECHNICAL if table == "settings" else PROVENANCE):
            weights.append(0.0)
            continue
        owners = [(name, part) for name in OWNERS.get(table, ()) for part in str(key).split("|")]
        known = [max(cost.get(owner, 0.0) for cost in costs) for owner in owners]
        whole = max(cost["all", ""] for cost in costs)
        weights.append((max(known) if known else whole) * _relative(before, after))
    return np.array(weights, dtype=float)


def _cost_by_owner(plan: Plan) -> dict[tuple[str, str], float]:
    """Return present value by (kind of owner, name), each without regard to sign."""
    costs = plan["costs"]
    counted = costs[costs["in_objective"]]
    amount = counted["discounted"].abs()
    found = {("all", ""): float(amount.sum())}
    for name in ("offer", "site", "workload"):
        found |= {
            (name, str(label)): float(sum_) for label, sum_ in amount.groupby(counted[name]).sum().items()
        }
    offers = plan.scenario.tables["offers"].set_index("offer")["product"]
    made = amount.groupby(counted["offer"].map(offers)).sum()
    found |= {("product", str(label)): float(sum_) for label, sum_ in made.items()}
    tokens = plan["tokens"].groupby("workload")["effective_mtok"].sum()
    for label, share in (tokens / tokens.sum()).items():
        found["workload", str(label)] = found["all", ""] * float(share)
    return found


def _relative(before: object, after: object) -> float:
    """Return the change of a cell relative to the greater of both, 1 for texts and cells that come or go.

    >>> _relative("10", "8"), _relative("base", "high"), _relative(None, "3")
    (0.2, 1.0, 1.0)
    """
    try:
        old, new = float(str(before)), float(str(after))
    except ValueError:
        return 1.0
    largest = max(abs(old), abs(new))
    change = abs(new - old) / largest if largest > 0 else 0.0
    return min(change, 1.0) if np.isfinite(change) else 1.0


def _cells(frame: pd.DataFrame, keys: Sequence[str]) -> pd.Series:
    if frame.empty:
        return pd.Series(dtype="str", index=pd.MultiIndex.from_arrays([[], []], names=["key", "column"]))
    label = frame[list(keys)].astype("str").agg("|".join, axis=1)
    text = frame.drop(columns=list(keys)).apply(lambda cells: cells.map(_text))
    long = text.assign(**{"compared key": label}).melt("compared key", var_name="column", value_name="cell")
    long = long.rename(columns={"compared key": "key"})
    return long.drop_duplicates(["key", "column"]).set_index(["key", "column"])["cell"]


def _differ(columns: pd.DataFrame) -> pd.Series:
    """Return the rows in which not every column says the same."""
    return columns.ne(columns.iloc[:, 0], axis=0).any(axis=1)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ";".join(value)
    return "" if pd.isna(value) else f"{value:.12g}" if isinstance(value, float) else str(value)  # type: ignore[call-overload]


def _settings(plans: Mapping[str, Plan]) -> pd.DataFrame:
    values = pd.DataFrame(
        {
            name: pd.Series(
                {
                    field: "" if value is None else str(value)
                    for field, value in plan.scenario.settings.model_dump(mode="json").items()
                }
            )
            for name, plan in plans.items()
        }
    )
    changed = values[_differ(values)].rename_axis("column").reset_index()
    return changed.assign(table="settings", key="")[["table", "key", "column", *plans]]
