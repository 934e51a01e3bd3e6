"""Limits of a plan for those who run it: requests in flight, requests let in, ranks, kW."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs.demand import mean_output_tokens
from planner.inputs.workloads import resolved_workloads
from planner.plan.operations.pools import pooled_serving
from planner.plan.plan import Plan

CLASS_STEP = 1_000
"""Between the values of two ranks: room for classes of the cluster's own."""
LAST_RANK = 99
SECONDS_PER_MINUTE = 60.0


def batch_caps(plan: Plan) -> pd.DataFrame:
    """Return requests in flight per replica, by pool and period.

    max_in_flight = floor(mean of the concurrency of the pool's operating points, weighted with units running): a
        batch of all shapes together is as large as the plan counts on, and no larger than memory holds
    kv_slots = fewest requests that fit a replica's memory, over the shapes

    Returns
    -------
    DataFrame: pool, period, max_in_flight, concurrency_low, concurrency_high, kv_slots, utilisation_cap_fraction;
    blank where a point states its rate alone.
    """
    points = plan["points"].set_index("point")
    table = pooled_serving(plan)
    flight = table["point"].map(points["concurrency"]).astype(float)
    table = table.assign(
        concurrency=flight,
        slots=table["point"].map(points["slots"]).astype(float),
        weight=table["units_running"] * table["hours"],
    )
    table["weighted"] = flight * table["weight"]
    caps = table.groupby(["pool", "period"], as_index=False, sort=False).agg(
        weighted=("weighted", lambda column: column.sum(skipna=False)),
        weight=("weight", "sum"),
        concurrency_low=("concurrency", "min"),
        concurrency_high=("concurrency", "max"),
        kv_slots=("slots", "min"),
        utilisation_cap_fraction=("utilisation_cap_fraction", "min"),
    )
    mean = np.fmin(caps["weighted"] / caps["weight"], caps["kv_slots"])
    most = np.floor(mean + 1e-9).clip(lower=1.0).where(caps["weighted"].notna())
    ordered = ["concurrency_low", "concurrency_high", "kv_slots", "utilisation_cap_fraction"]
    return caps.assign(max_in_flight=most)[["pool", "period", "max_in_flight", *ordered]]


def priority_table(plan: Plan) -> pd.DataFrame:
    """Return rank and class of every workload, the first rank with the highest value.

    class_value = 1,000 * (100 - rank)

    Returns
    -------
    DataFrame: workload, service_class, priority, priority_class, class_value, must_serve_fraction, deferral_h,
    value_per_mtok.
    """
    table = resolved_workloads(plan.scenario)
    rank = table["priority"].astype(int)
    names = ["workload", "service_class", "priority", "priority_class", "class_value"]
    return table.assign(
        priority=rank,
        priority_class=[class_name(one) for one in rank],
        class_value=CLASS_STEP * (LAST_RANK + 1 - rank),
    )[[*names, "must_serve_fraction", "deferral_h", "value_per_mtok"]]


def class_name(rank: int) -> str:
    """Return the name of the PriorityClass of a rank."""
    return f"planner-priority-{rank}"


def rate_limits(plan: Plan) -> pd.DataFrame:
    """Return the requests each region may send of a workload: more than was planned for breaks its targets.

    hour_requests_per_s = first attempts in the busiest hour, what is left unserved taken off
    minute_requests_per_s = that times the busiest minute over its hour that the units in use are sized on, the least
        of the points in use; 1 where only token services answer
    output_tokens_per_minute = hour_requests_per_s * 60 * mean visible output * sized minute of outputs; prompts
        likewise

    Demand is after quotas; a quota's own row says what it lets in (``quota``, ``beyond``; its cap in
    ``hour_requests_per_s`` or, over the period, in ``cap_mtok`` and ``cap_currency``).
    """
    key = ["workload", "region", "period"]
    lost = plan["unserved"].rename(columns={"requests_per_s": "lost"})
    table = plan["demand"].merge(lost, on=[*key, "block"], how="left")
    table["served"] = table["requests_per_s"] - table["lost"].astype(float).fillna(0.0)
    limits = table.groupby(key, as_index=False, sort=False)["served"].max()
    sized = plan["serving"].groupby(["workload", "period"])["peak_ratio"].min()
    peak = sized.reindex(pd.MultiIndex.from_frame(limits[["workload", "period"]])).fillna(1.0)
    hour = limits["served"]
    own = limits[key].assign(
        hour_requests_per_s=hour,
        minute_requests_per_s=hour * peak.to_numpy(float),
        **{
            f"{side}_tokens_per_minute": hour * limits["workload"].map(mean) * SECONDS_PER_MINUTE
            for side, mean in _tokens_of_a_sized_minute(plan).items()
        },
    )
    quotas = plan.scenario.tables["quotas"].rename(columns={"cap_requests_per_s": "hour_requests_per_s"})
    kept = ["quota", "business", "workload", "period", "hour_requests_per_s", "cap_mtok", "cap_currency"]
    kept += ["beyond", "fallback_workload"]
    stacked = pd.concat([own, quotas[kept]], ignore_index=True) if len(quotas) else own
    return stacked.reindex(columns=[*own.columns, *[name for name in kept if name not in own]])


def _tokens_of_a_sized_minute(plan: Plan) -> dict[str, pd.Series]:
    """Return tokens per request of each workload, as many times more as its sized minute has over its hour."""
    shapes = plan.scenario.tables["shapes"]
    prompts = shapes["share_fraction"] * shapes["input_tokens"]
    means = {
        "input": prompts.groupby(shapes["workload"]).sum(min_count=1),
        "output": mean_output_tokens(shapes).astype(float),
    }
    sized = resolved_workloads(plan.scenario).set_index("workload")
    return {side: mean * sized[f"sizing_{side}_ratio"] for side, mean in means.items()}


def power_caps(plan: Plan) -> pd.DataFrame:
    """Return kW by site, level and period, and kW a unit is provisioned for.

    Returns
    -------
    DataFrame: site, period, level (it, facility, grid; unit), product, cooling, units, planned_kw (peak of the plan;
    of a unit its provisioned kW), limit_kw (usable; blank = none is stated), idle_kw.
    """
    sites = plan["site_power"].rename(columns={"peak_kw": "planned_kw", "usable_kw": "limit_kw"})
    fleet = plan["fleet"]
    fleet = fleet[fleet["provisioned_kw"] > 0.0]
    key = ["site", "period", "product", "cooling", "provisioned_kw", "idle_kw"]
    units = fleet.groupby(key, as_index=False, sort=False)["units"].sum()
    units = units.assign(level="unit", planned_kw=units["provisioned_kw"], limit_kw=units["provisioned_kw"])
    names = ["site", "period", "level", "product", "cooling", "units", "planned_kw", "limit_kw", "idle_kw"]
    parts = [part for part in (sites, units) if len(part)]
    return (pd.concat(parts, ignore_index=True) if parts else sites).reindex(columns=names)
