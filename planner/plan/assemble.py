"""From solver values to a whole plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.blocks import ColumnIndex
from planner.inputs import Scenario
from planner.performance import PointSet
from planner.plan.decisions import decision_frames
from planner.plan.ledger import cost_ledger, liability_after_horizon
from planner.plan.metrics import accounting_cost, metric_frame, token_frame
from planner.plan.plan import Plan
from planner.plan.sources import estimate_frame, source_frame
from planner.plan.waterfall import waterfall_frame


def solved_plan(
    scenario: Scenario,
    points: PointSet,
    c: Coefficients,
    columns: ColumnIndex,
    values: np.ndarray,
    objective: str,
    extra: Mapping[str, pd.DataFrame],
) -> Plan:
    """Return the plan of these values; its headline has everything but the solver's proof.

    Parameters
    ----------
    values
        Value per column, integers whole.
    objective
        ``unit-cost`` or ``cost``.
    extra
        Frames made by the pipeline: marginal_costs, duals, baselines.
    """
    frames = dict(decision_frames(scenario, c, columns, values))
    frames |= {
        "costs": cost_ledger(scenario, c, columns, values, objective),
        "blocks": c.blocks,
        "periods": c.periods.reset_index(),
        "demand": c.demand,
        "points": points.taken,
        "refused_points": points.refused,
        "routes": points.routes,
        "block_cells": c.assigned_cells,
    }
    frames["tokens"] = token_frame(c, frames)
    frames["orders"] = frames["orders"].assign(cost=_order_cost(frames))
    headline = _headline(scenario, c, frames)
    frames["metrics"] = metric_frame(scenario, c, frames, headline)
    frames["waterfall"] = waterfall_frame(scenario, c, frames)
    frames["sources"] = source_frame(scenario, frames)
    frames["estimates"] = estimate_frame(scenario, frames)
    frames |= dict(extra)
    headline |= _lists(frames)
    return Plan(headline, frames, scenario)


def _order_cost(frames: Mapping[str, pd.DataFrame]) -> pd.Series:
    """Return the undiscounted payments of each order over the horizon, its residual not deducted.

    Payments of an offer at a site are shared over its orders by units, which is exact where the price has no trend.
    """
    orders, costs = frames["orders"], frames["costs"]
    paid = costs[(costs["discounted"] > 0) & costs["offer"].notna()]
    lines = paid[paid["line"].isin(["hardware_purchase", "installation", "lease", "reserved_rent", "on_demand_rent", "spot_rent"])]
    once = lines[lines["line"].isin(["hardware_purchase", "installation", "on_demand_rent", "spot_rent"])]
    by_period = once.groupby(["offer", "site", "period"])["amount"].sum()
    termed = lines[lines["line"].isin(["lease", "reserved_rent"])].groupby(["offer", "site"])["amount"].sum()
    key = pd.MultiIndex.from_frame(orders[["offer", "site", "period"]])
    share = orders["units"] / orders.groupby(["offer", "site", "period"])["units"].transform("sum")
    whole = orders["units"] / orders.groupby(["offer", "site"])["units"].transform("sum")
    pair = pd.MultiIndex.from_frame(orders[["offer", "site"]])
    termed_mode = orders["mode"].isin(["lease", "reserved"])
    return pd.Series(
        np.where(termed_mode, termed.reindex(pair).fillna(0.0).to_numpy() * whole, by_period.reindex(key).fillna(0.0).to_numpy() * share),
        index=orders.index,
    )


def _headline(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    costs, tokens = frames["costs"], frames["tokens"]
    counted = costs[costs["in_objective"]]
    total_cost = float(counted.loc[counted["kind"] != "value", "discounted"].sum())
    effective, discounted = float(tokens["effective_mtok"].sum()), float(tokens["effective_mtok_discounted"].sum())
    asked = (c.demand["requests_per_s"] * c.demand.merge(c.blocks, on=["period", "block"])["hours"].to_numpy()).sum()
    lost = frames["unserved"].merge(c.blocks, on=["period", "block"])
    accounting = float(accounting_cost(scenario, c, frames).sum())
    return {
        "status": "feasible",
        "objective": float(counted["discounted"].sum()),
        "total_cost": total_cost,
        "horizon_hours": float(c.periods["hours"].sum()),
        "currency": scenario.settings.currency,
        "cost_per_mtok_effective": total_cost / discounted if discounted else None,
        "accounting_cost_per_mtok": accounting / effective if effective else None,
        "effective_mtok": effective,
        "effective_mtok_discounted": discounted,
        "generated_mtok": float(tokens["generated_mtok"].sum()),
        "nominal_tokens": bool(c.shapes["opaque"].any()),
        "unserved_fraction": float((lost["requests_per_s"] * lost["hours"]).sum() / asked) if asked else 0.0,
        "liability_after_horizon": liability_after_horizon(c, frames["orders"]),
        "input_hash": scenario.input_hash,
        "warnings": list(scenario.warnings),
    }


def _lists(frames: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    orders = frames["orders"][["offer", "mode", "product", "site", "cooling", "period", "units", "unit_price", "order_date", "in_service_date"]]
    fleet = frames["fleet"][["product", "site", "cooling", "mode", "phase", "period", "units"]]
    grouped = fleet.groupby(["product", "site", "cooling", "mode", "phase", "period"], as_index=False, sort=False)["units"].sum()
    result = {
        "orders": orders.to_dict("records"),
        "fleet": grouped.to_dict("records"),
        "site_power": frames["site_power"].to_dict("records"),
        "marginal_costs": frames["marginal_costs"].to_dict("records"),
        "baselines": frames["baselines"].to_dict("records") if "baselines" in frames else [],
    }
    return result


def no_plan(scenario: Scenario, points: PointSet, status: str, shortages: pd.DataFrame, detail: str = "") -> Plan:
    """Return what a run without a plan hands on: status, what is short, and the points looked at."""
    headline = {
        "status": status,
        "currency": scenario.settings.currency,
        "message": "; ".join(shortages["message"].head(5)) or detail,
        "solver_detail": detail,
        "shortages": shortages.to_dict("records"),
        "input_hash": scenario.input_hash,
        "warnings": list(scenario.warnings),
    }
    frames = {"shortages": shortages, "points": points.taken, "refused_points": points.refused, "routes": points.routes}
    return Plan(headline, frames, scenario)
