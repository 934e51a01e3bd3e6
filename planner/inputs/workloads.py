"""Workloads with the targets of their service class filled in."""

from __future__ import annotations

import pandas as pd

from planner.inputs.scenario import Scenario

TARGETS = ("ttft_ms", "tpot_ms", "e2e_ms", "percentile")


def resolved_workloads(scenario: Scenario) -> pd.DataFrame:
    """Return the workloads table with every target stated per row.

    ``ttft_ms``, ``tpot_ms``, ``e2e_ms``, ``percentile`` are the workload's own where given, else those of its
    service class; blank in both = no target, and ``deferral_h`` likewise. ``availability_fraction`` of the class
    is added, and ``sizing_input_ratio`` and ``sizing_output_ratio``: the minute capacity is sized on over its
    hour; ``spot_fraction`` too, blank = all, and ``guaranteed_share``, blank in both = 0. A workload without a class
    has no availability target (0), may stand on spot and, unless it says so itself, does not wait (0).

    ``cached_input_fraction`` is what is found behind the workload's router, ``stated_cached_fraction`` what is stated.

    Returns
    -------
    DataFrame, RangeIndex, one row per workload in input order.
    """
    workloads = scenario.tables["workloads"]
    classes = scenario.tables["service_classes"].set_index("service_class")
    name = workloads["service_class"]
    filled = {
        target: workloads[target].where(
            workloads[target].notna(), name.map(classes[target]).astype(workloads[target].dtype)
        )
        for target in TARGETS
    }
    promised = {
        column: name.map(classes[column]).astype(float).where(name.notna(), 0.0)
        for column in ("availability_fraction", "deferral_h")
    }
    guaranteed = name.map(classes["guaranteed_share"]).astype(float)
    promised["guaranteed_share"] = workloads["guaranteed_share"].fillna(guaranteed).fillna(0.0)
    promised["spot_fraction"] = name.map(classes["spot_fraction"]).astype(float)
    found = found_prefixes(workloads)
    promised |= {"stated_cached_fraction": workloads["cached_input_fraction"], "cached_input_fraction": found}
    for side in ("input", "output"):
        ratios = {name: workloads[f"minute_{name}_{side}_ratio"] for name in ("peak", "p99")}
        asked = workloads["sizing_statistic"]
        sized = (
            ratios["peak"].mask(asked.eq("p99"), ratios["p99"]).mask(asked.isin(["mean", "attained"]), 1.0)
        )
        promised[f"sizing_{side}_ratio"] = sized.astype(float)
    own = workloads["deferral_h"]
    promised["deferral_h"] = own.where(own.notna(), promised["deferral_h"])
    return workloads.assign(**filled, **promised)


def found_prefixes(workloads: pd.DataFrame) -> pd.Series:
    """Return the share of prompt tokens found in the prefix cache behind each workload's router, fraction.

    ``stated / router_replicas`` where a router that does not know prefixes spreads requests over replicas with caches
    of their own: of N equally likely replicas one holds the prefix. Else what is stated.
    """
    stated = workloads["cached_input_fraction"].astype(float)
    blind = workloads["router"].isin(["round_robin", "least_load"]) & ~workloads["cache_shared"].eq(True)
    replicas = workloads["router_replicas"].astype(float).fillna(1.0)
    return stated.where(~blind, stated / replicas)
