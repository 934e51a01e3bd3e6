"""Alarms: where a fleet leaves what its plan promised or was sized on."""

from __future__ import annotations

import pandas as pd

from planner.inputs.workloads import resolved_workloads
from planner.plan.plan import Plan

ALARMS = ["figure", "scope", "period", "alarm_when", "threshold", "unit", "rests_on"]
TARGETS = {"ttft_ms": "TTFT", "tpot_ms": "TPOT", "e2e_ms": "end-to-end latency"}
ALWAYS = ""
"""Period of an alarm that holds in all of them."""


def alarm_table(plan: Plan, tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the alarms of a plan, one row each.

    Parameters
    ----------
    tables
        ``replicas``, ``batch_caps``, ``rate_limits`` and ``power_caps`` of the hand-over.

    Returns
    -------
    DataFrame, ALARMS: ``scope`` is a workload, a pool, a workload and region, or a site; ``rests_on`` says which figure
    of the plan or its input the threshold is.
    """
    parts = [
        _targets(plan),
        _availability(plan),
        _loads(tables["batch_caps"]),
        _floors(tables["replicas"]),
        _rates(tables["rate_limits"]),
        _power(tables["power_caps"]),
        _spares(plan),
    ]
    rows = [row for part in parts for row in part]
    return pd.DataFrame(rows, columns=ALARMS)


Alarm = tuple[str, str, str, str, float, str, str]


def _targets(plan: Plan) -> list[Alarm]:
    served = set(plan["demand"]["workload"])
    workloads = resolved_workloads(plan.scenario)
    return [
        (
            f"{name}, {row['percentile']}",
            row["workload"],
            ALWAYS,
            "above",
            row[column],
            "ms",
            "latency target",
        )
        for row in workloads.to_dict("records")
        for column, name in TARGETS.items()
        if row["workload"] in served and pd.notna(row[column])
    ]


def _availability(plan: Plan) -> list[Alarm]:
    workloads = resolved_workloads(plan.scenario)
    asked = workloads[workloads["availability_fraction"] > 0.0]
    basis = "availability_fraction of its service class"
    return [
        ("requests answered", name, ALWAYS, "below", share, "fraction", basis)
        for name, share in zip(asked["workload"], asked["availability_fraction"], strict=True)
    ]


def _loads(caps: pd.DataFrame) -> list[Alarm]:
    rows: list[Alarm] = []
    for cap in caps.to_dict("records"):
        load = cap["utilisation_cap_fraction"]
        if pd.notna(load):
            basis = "load its points may carry within the latency targets"
            rows.append(("load of the pool", cap["pool"], cap["period"], "above", load, "fraction", basis))
        most = cap["max_in_flight"]
        if pd.notna(most):
            basis = "concurrency of its operating points"
            rows.append(
                (
                    "requests in flight per replica",
                    cap["pool"],
                    cap["period"],
                    "above",
                    most,
                    "requests",
                    basis,
                )
            )
    return rows


def _floors(replicas: pd.DataFrame) -> list[Alarm]:
    least = replicas.groupby(["pool", "period"], sort=False)["floor_replicas"].min()
    basis = "floor of its quietest block; windows has that of every hour"
    return [
        ("replicas ready", str(pool), str(period), "below", float(floor), "replicas", basis)
        for (pool, period), floor in least.items()  # type: ignore[misc]
        if floor > 0.0
    ]


def _rates(limits: pd.DataFrame) -> list[Alarm]:
    own = limits[limits["minute_requests_per_s"].notna()]
    basis = "busiest minute the plan is sized on"
    return [
        (
            "requests asked",
            f"{row['workload']} from {row['region']}",
            row["period"],
            "above",
            row["minute_requests_per_s"],
            "requests/s",
            basis,
        )
        for row in own.to_dict("records")
    ]


def _power(caps: pd.DataFrame) -> list[Alarm]:
    rows: list[Alarm] = []
    for cap in caps[caps["level"] != "unit"].to_dict("records"):
        figure = f"power, {cap['level']}"
        for column, basis in (("planned_kw", "peak of the plan"), ("limit_kw", "usable power")):
            if pd.notna(cap[column]) and cap[column] > 0.0:
                rows.append((figure, cap["site"], cap["period"], "above", cap[column], "kW", basis))
    return rows


def _spares(plan: Plan) -> list[Alarm]:
    return [
        (
            f"units of {row['product']} down",
            row["site"],
            row["period"],
            "above",
            row["spare_units"],
            "units",
            "spares held",
        )
        for row in plan["spares"].to_dict("records")
    ]
