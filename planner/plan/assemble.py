"""From solver values to a whole plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.facility.pue import free_cooling
from planner.coefficients.fleet import STAND
from planner.formulation.bill_values import settled_bill
from planner.formulation.blocks import ColumnIndex
from planner.formulation.colocation_constraints import settled_rent
from planner.inputs import Scenario
from planner.performance import PointSet
from planner.plan.attribution import cost_by_workload
from planner.plan.columns import settled_types
from planner.plan.decisions import decision_frames
from planner.plan.finance import finance_frames, finance_headline, finance_views
from planner.plan.ledger import cost_ledger, liability_after_horizon, peaks_after_horizon
from planner.plan.metrics import metric_frame
from planner.plan.plan import Plan
from planner.plan.pools import pool_latency, pools_of_plan
from planner.plan.priorities import rank_warnings
from planner.plan.purchases import purchase_frame
from planner.plan.quotas import quota_frame, refused_requests
from planner.plan.schedule import payment_frame, rfq_frame
from planner.plan.service_availability import promise_warnings
from planner.plan.sources import estimate_frame, provenance_frame, source_frame
from planner.plan.spares import pool_confidence, spare_frame
from planner.plan.totals import of_plan, token_frame, total_frame
from planner.plan.unit_costs import output_headline, unit_cost_frame
from planner.plan.unstated_supply import supply_warnings, unstated_supply_frame
from planner.plan.warm import warm_frames
from planner.plan.waterfall import waterfall_frame, waterfall_hours


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
    values = settled_rent(c, columns, settled_bill(c, columns, values))
    frames = dict(decision_frames(scenario, c, columns, values))
    frames |= {
        "costs": cost_ledger(scenario, c, columns, values, objective),
        "blocks": c.blocks,
        "periods": c.periods.reset_index(),
        "demand": c.demand,
        "quota_use": quota_frame(scenario),
        "points": points.taken,
        "refused_points": points.refused,
        "routes": points.routes,
        "block_cells": c.assigned_cells,
        "free_cooling": free_cooling(scenario, c.assigned_cells),
    }
    if not c.pools.empty:
        pools = pools_of_plan(c, columns, values)
        frames["pools"], frames["pool_caps"] = pools, c.cap_curves
        frames["latency"] = pool_latency(c, pools, scenario.tables["roofline_constants"])
    if len(c.warm.held):
        frames |= warm_frames(c, columns, values)
    frames["totals"] = total_frame(frames["costs"])
    frames["tokens"] = token_frame(c, frames)
    frames["orders"] = frames["orders"].assign(cost=_order_cost(c, frames))
    frames["rfq"] = rfq_frame(frames["orders"], scenario)
    frames["payments"] = payment_frame(c, frames["orders"])
    frames |= finance_frames(scenario, c, frames)
    frames["purchases"] = purchase_frame(scenario, c, frames)
    sure = pool_confidence(scenario, c, columns, values)
    frames["spares"] = spare_frame(c, sure)
    frames["unstated_supply"] = unstated_supply_frame(scenario, c, frames)
    frames["cost_by_workload"] = cost_by_workload(c, frames)
    frames["unit_costs"] = unit_cost_frame(c, frames)
    headline = _headline(scenario, c, frames)
    frames["metrics"] = metric_frame(scenario, c, frames, headline, sure)
    headline["warnings"] += promise_warnings(frames["metrics"])
    frames["waterfall_hours"] = waterfall_hours(scenario, c, frames)
    frames["waterfall"] = waterfall_frame(frames["waterfall_hours"], frames["api"])
    frames["provenance"] = provenance_frame(scenario, frames)
    frames["sources"] = source_frame(scenario, frames, frames["provenance"])
    frames["estimates"] = estimate_frame(frames, frames["provenance"])
    frames |= dict(extra)
    frames |= finance_views(scenario, c, frames)
    headline |= _lists(frames)
    headline["finance"] = finance_headline(frames)
    return Plan(headline, {name: settled_types(frame) for name, frame in frames.items()}, scenario)


def _order_cost(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.Series:
    """Return the undiscounted payments of each order over the horizon, its residual and warranty not deducted."""
    key = [*STAND, "period"]
    orders, committed = frames["orders"], c.costs["order"]
    committed = committed[~committed["line"].isin(["maintenance", "spares"])]
    whole = pd.concat([committed[committed["timing"] != "end"], c.costs["rent"]], ignore_index=True)
    hourly = frames["hourly_rent"].merge(c.costs["rent_hour"], on=[*key, "block"])
    label = pd.MultiIndex.from_frame(orders[key])
    per_unit = whole.groupby(key)["amount"].sum().reindex(label, fill_value=0.0)
    by_hour = (hourly["units"] * hourly["amount"]).groupby([hourly[name] for name in key]).sum()
    saved = frames["order_tiers"].merge(c.costs["tier_units"], on=[*key, "tier"])
    saved = saved[saved["timing"] != "end"]
    saving = (saved["units"] * saved["amount"]).groupby([saved[name] for name in key]).sum()
    paid = orders["units"].to_numpy() * per_unit.to_numpy(float)
    paid = paid + saving.reindex(label, fill_value=0.0).to_numpy(float)
    return pd.Series(paid + by_hour.reindex(label, fill_value=0.0).to_numpy(float), index=orders.index)


def _headline(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    costs = frames["costs"]
    counted = costs[costs["in_objective"]]
    total_cost = float(counted.loc[counted["kind"] != "value", "discounted"].sum())
    asked = (
        c.demand["requests_per_s"] * c.demand.merge(c.blocks, on=["period", "block"])["hours"].to_numpy()
    ).sum()
    lost = frames["unserved"].merge(c.blocks, on=["period", "block"])
    refused = refused_requests(frames["quota_use"], c.periods["hours"])
    missing, asked = float((lost["requests_per_s"] * lost["hours"]).sum()) + refused, asked + refused
    return {
        "status": "feasible",
        "objective": float(counted["discounted"].sum()),
        "total_cost": total_cost,
        "totals": of_plan(frames["totals"]),
        "horizon_hours": float(c.periods["hours"].sum()),
        "currency": scenario.settings.currency,
        **output_headline(c, frames, total_cost),
        "nominal_tokens": bool(c.shapes["opaque"].any()),
        "unserved_fraction": float(missing / asked) if asked else 0.0,
        "liability_after_horizon": liability_after_horizon(c, frames["orders"])
        + sum(float(frames[name]["owed_after_horizon"].sum()) for name in ("colo_contracts", "bridging"))
        + peaks_after_horizon(frames["billed_peaks"]),
        "input_hash": scenario.input_hash,
        "warnings": [
            *scenario.warnings,
            *supply_warnings(frames["unstated_supply"]),
            *rank_warnings(c, frames),
        ],
    }


def _lists(frames: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    orders = frames["orders"][
        [
            "offer",
            "mode",
            "product",
            "site",
            "cooling",
            "period",
            "units",
            "unit_price",
            "order_date",
            "order_by_date",
            "in_service_date",
        ]
    ]
    fleet = frames["fleet"][["product", "site", "cooling", "mode", "phase", "period", "units"]]
    grouped = fleet.groupby(
        ["product", "site", "cooling", "mode", "phase", "period"], as_index=False, sort=False
    )["units"].sum()
    result = {
        "orders": orders.to_dict("records"),
        "fleet": grouped.to_dict("records"),
        "site_power": frames["site_power"].to_dict("records"),
        "marginal_costs": frames["marginal_costs"].to_dict("records"),
        "baselines": frames["baselines"].to_dict("records") if "baselines" in frames else [],
    }
    return result


def no_plan(
    scenario: Scenario,
    points: PointSet,
    status: str,
    shortages: pd.DataFrame,
    detail: str = "",
    reliefs: pd.DataFrame | None = None,
    bound: Mapping[str, float] | None = None,
) -> Plan:
    """Return what a run without a plan hands on: status, what is short, what would help, and the points looked at.

    Parameters
    ----------
    shortages
        One row a cause, the causes of the cheapest relief first.
    detail
        The solver's words.
    reliefs
        The cells that each relief changes; of an infeasible scenario only.
    bound
        What was proven of every plan before a limit ended the search: ``bound`` or ``cost_per_mtok_bound``.
    """
    first = shortages[shortages["relief"] == "1"]
    headline = {
        "status": status,
        "currency": scenario.settings.currency,
        "message": "; ".join(first["message"]) or detail,
        "solver_detail": detail,
        "shortages": shortages.to_dict("records"),
        "reliefs": [] if reliefs is None else reliefs.to_dict("records"),
        "input_hash": scenario.input_hash,
        "warnings": list(scenario.warnings),
        **(bound or {}),
    }
    frames = {
        "shortages": shortages,
        "points": points.taken,
        "refused_points": points.refused,
        "routes": points.routes,
    }
    if reliefs is not None:
        frames["reliefs"] = reliefs
    return Plan(headline, frames, scenario)
