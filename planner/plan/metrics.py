"""Metrics of the plan, with the definitions of the field, and the totals they are made of."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.inputs import Scenario
from planner.plan.bands import band_metrics
from planner.plan.pools import at_listed_size
from planner.plan.priorities import priority_metrics
from planner.tables.cost_lines import DECLARED
from planner.units import KG_PER_TONNE, L_PER_M3, SECONDS_PER_HOUR, TOKENS_PER_MTOK

MINUTES_PER_HOUR = 60.0


def token_frame(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return workload, period, effective_mtok, its discounted value, generated_mtok, input_mtok, served_fraction."""
    key = ["workload", "period"]
    counted = [*key, "effective_mtok", "generated_mtok"]
    made = pd.concat([frames["serving"][counted], frames["api"][counted]], ignore_index=True)
    made = made.groupby(key, sort=False)[["effective_mtok", "generated_mtok"]].sum()
    sent_on = [*key, "shape", "block", "requests_per_s"]
    flows = pd.concat([frames["flows"][sent_on], frames["api"][sent_on]], ignore_index=True)
    flows = flows.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    flows = flows.merge(c.shapes[["workload", "shape", "input_mtok_per_request"]], on=["workload", "shape"])
    requests = flows["requests_per_s"] * flows["hours"] * SECONDS_PER_HOUR
    sent = flows.assign(input_mtok=requests * flows["input_mtok_per_request"], served=requests)
    sent = sent.groupby(key, sort=False)[["input_mtok", "served"]].sum()
    asked = c.demand.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    asked = (
        asked.assign(asked=asked["requests_per_s"] * asked["hours"] * SECONDS_PER_HOUR)
        .groupby(key, sort=False)[["asked"]]
        .sum()
    )
    table = asked.join(sent).join(made).fillna(0.0).reset_index()
    factor = table["period"].map(c.periods["discount_mid"])
    return table.assign(
        effective_mtok_discounted=table["effective_mtok"] * factor,
        served_fraction=np.divide(
            table["served"], table["asked"], out=np.ones(len(table)), where=table["asked"].to_numpy() > 0
        ),
    )[
        [
            *key,
            "effective_mtok",
            "effective_mtok_discounted",
            "generated_mtok",
            "input_mtok",
            "served_fraction",
        ]
    ]


def accounting_cost(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.Series:
    """Return the sources' cost by part: accelerator depreciation, electricity, staff, network (undiscounted).

    Depreciation of bought units is straight line to zero over their life from the day they serve, inside the horizon;
    the price of leases, reservations, rentals and API tokens stands beside it as the accelerators' own cost, what
    units taken out are sold for is taken off. Which line belongs to which part: ``planner/tables/cost_lines.py``.
    """
    lines = frames["costs"].groupby("line")["amount"].sum()
    orders = frames["orders"]
    bought = orders[orders["mode"] == "purchase"]
    life = scenario.tables["products"].set_index("product")["life_years"]
    end_years = float(c.periods["start_years"].iloc[-1] + c.periods["years"].iloc[-1])
    used = end_years - bought["in_service_period"].map(c.periods["start_years"])
    years = bought["product"].map(life)
    depreciation = float((bought["units"] * bought["unit_price"] * np.minimum(used, years) / years).sum())
    paid: dict[str, float] = {}
    for line in DECLARED:
        if line.unit_cost_part != "elsewhere":
            amount = float(lines.get(line.name, 0.0))
            paid[line.unit_cost_part] = paid.get(line.unit_cost_part, 0.0) + amount
    return pd.Series({"accelerator depreciation": depreciation, **paid})


def metric_frame(
    scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame], headline: Mapping[str, object]
) -> pd.DataFrame:
    """Return metric, scope, period, value, unit, definition for every metric that follows from a plan."""
    rows: list[tuple[str, str, str, float, str, str]] = []
    horizon = "horizon"
    tokens = frames["tokens"]
    hours = float(c.periods["hours"].sum())
    total = tokens[["effective_mtok", "generated_mtok", "input_mtok"]].sum()
    generated_rate = total["generated_mtok"] * TOKENS_PER_MTOK / (hours * SECONDS_PER_HOUR)
    add = rows.append
    add(
        (
            "token throughput",
            "all",
            horizon,
            generated_rate,
            "tok/s",
            "generated tokens in the period / seconds in the period",
        )
    )
    add(
        (
            "eTPM",
            "all",
            horizon,
            total["effective_mtok"] * TOKENS_PER_MTOK / (hours * MINUTES_PER_HOUR),
            "tok/min",
            "output tokens per minute x success x quality pass x latency pass",
        )
    )
    for period, group in tokens.groupby("period", sort=False):
        minutes = float(c.periods.loc[period, "hours"]) * MINUTES_PER_HOUR
        add(
            (
                "eTPM",
                "all",
                str(period),
                float(group["effective_mtok"].sum()) * TOKENS_PER_MTOK / minutes,
                "tok/min",
                "output tokens per minute x success x quality pass x latency pass",
            )
        )
    rows += _workload_metrics(scenario, c, frames)
    rows += band_metrics(frames)
    rows += priority_metrics(c, frames)
    rows += _fleet_metrics(c, frames, hours)
    rows += _energy_metrics(frames, float(total["effective_mtok"]))
    rows += _footprint_metrics(frames["footprint"], float(total["effective_mtok"]))
    for part, amount in accounting_cost(scenario, c, frames).items():
        add(
            (
                f"accounting cost: {part}",
                "all",
                horizon,
                _ratio(amount, total["effective_mtok"]),
                "currency/Mtok",
                "part of (depreciation and rent + API tokens - resale + electricity + staff + network) / effective "
                "tokens, undiscounted",
            )
        )
    for name, definition in (
        ("cost_per_mtok_effective", "present value of all cost rows / present value of effective tokens"),
        (
            "accounting_cost_per_mtok",
            "(accelerator depreciation and rent + API tokens - resale + electricity + staff + network) / effective "
            "tokens",
        ),
    ):
        add((name, "all", horizon, float(headline[name] or np.nan), "currency/Mtok", definition))  # type: ignore[arg-type]
    return pd.DataFrame(rows, columns=["metric", "scope", "period", "value", "unit", "definition"])


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


SERVICE_BASIS = "request-weighted over the operating points in use, service only: no waiting, no network"
QUEUED_BASIS = "request-weighted over the operating points in use, at full rate in a large pool: with waiting"


def _sla_concurrency(
    scope: str, counting: pd.DataFrame, points: pd.DataFrame, frames: Mapping[str, pd.DataFrame]
) -> tuple[str, str, str, float, str, str]:
    """Return the most requests in flight that break no target, in the block with the most.

    Where waiting is computed: the batch of a replica at the cap of its pool's size, times the replicas.
    """
    pools = frames["pools"] if "pools" in frames else pd.DataFrame({"workload": []})
    pools = pools[pools["workload"].eq(scope)]
    if len(pools):
        listed = at_listed_size(pools, frames["pool_caps"])
        flight = (
            (listed["concurrency"] * listed["replicas"]).groupby([listed["period"], listed["block"]]).sum()
        )
        basis = "requests in flight of the busiest block's pools at the load up to which no target is broken"
    else:
        batch = counting["point"].map(points["concurrency"] * points["replicas_per_unit"]).astype(float)
        flight = batch * counting["units_running"] * counting["peak_ratio"]
        flight = flight.groupby([counting["period"], counting["block"]]).sum()
        basis = "requests in flight at the operating points of the busiest block"
    return ("SLA-compliant concurrency", scope, "horizon", float(flight.max()), "requests", basis)


def _workload_metrics(
    scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]
) -> list[tuple[str, str, str, float, str, str]]:
    rows = []
    points = frames["points"].set_index("point")
    serving = frames["serving"]
    weighted = serving.assign(weight=serving["requests_per_s"] * serving["hours"])
    for workload, group in weighted.groupby("workload", sort=False):
        about = c.workloads.loc[workload]
        scope = str(workload)
        rows.append(
            (
                "success rate",
                scope,
                "horizon",
                float(about["success_fraction"]),
                "fraction",
                "successful / total requests",
            )
        )
        rows.append(
            (
                "error rate",
                scope,
                "horizon",
                1.0 - float(about["success_fraction"]),
                "fraction",
                "failed / total requests",
            )
        )
        rows.append(
            (
                "prefix cache hit rate",
                scope,
                "horizon",
                float(about["cached_input_fraction"]),
                "fraction",
                "cached prompt tokens / prompt tokens (input)",
            )
        )
        counting = group[group["phase"] != "prefill"]
        queued = "pools" in frames and frames["pools"]["workload"].eq(workload).any()
        basis = QUEUED_BASIS if queued else SERVICE_BASIS
        for column, metric, unit in (
            ("ttft_ms", "TTFT", "ms"),
            ("tpot_ms", "TPOT", "ms"),
            ("e2e_ms", "end-to-end latency", "ms"),
            ("latency_pass_fraction", "latency pass rate", "fraction"),
            ("quality_pass_fraction", "quality pass rate of the engine", "fraction"),
        ):
            values = counting["point"].map(points[column]).astype(float)
            known = values.notna().to_numpy()
            if known.any():
                mean = float(np.average(values[known], weights=counting["weight"].to_numpy()[known]))
                rows.append(
                    (
                        metric,
                        scope,
                        "horizon",
                        mean,
                        unit,
                        basis,
                    )
                )
        rows.append(_sla_concurrency(scope, counting, points, frames))
        rate = counting.groupby(["period", "block"])["requests_per_s"].sum()
        rows.append(
            (
                "long-run fluctuation of requests",
                scope,
                "horizon",
                _ratio(float(rate.max() - rate.min()), float(rate.mean())),
                "fraction",
                "(max - min) / mean over the blocks",
            )
        )
    return rows


def _fleet_metrics(
    c: Coefficients, frames: Mapping[str, pd.DataFrame], hours: float
) -> list[tuple[str, str, str, float, str, str]]:
    rows = []
    fleet, serving = frames["fleet"], frames["serving"]
    unit_hours = held_unit_hours(c, frames).groupby("product")["unit_hours"].sum()
    busy_hours = (serving["units_running"] * serving["hours"]).groupby(serving["product"]).sum()
    for product, held in unit_hours.items():
        rows.append(
            (
                "accelerator utilisation",
                str(product),
                "horizon",
                _ratio(float(busy_hours.get(product, 0.0)), float(held)),
                "fraction",
                "time computing / total time (busy unit-hours / unit-hours held)",
            )
        )
    rows.append(
        (
            "accelerator utilisation",
            "all",
            "horizon",
            _ratio(float(busy_hours.sum()), float(unit_hours.sum())),
            "fraction",
            "busy unit-hours / unit-hours held",
        )
    )
    weighted = (fleet["availability_fraction"] * fleet["units"]).groupby(fleet["product"]).sum() / fleet[
        "units"
    ].groupby(fleet["product"]).sum()
    for product, availability in weighted.items():
        rows.append(
            (
                "availability of a unit",
                str(product),
                "horizon",
                float(availability),
                "fraction",
                "(total time - down time) / total time",
            )
        )
    return rows


def held_unit_hours(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return product, site, cooling, period, unit_hours: whole periods, and hour by hour what is rented by the hour."""
    pool = ["product", "site", "cooling", "period"]
    fleet, hourly = frames["fleet"], frames["hourly_rent"]
    by_hour = pd.MultiIndex.from_frame(fleet[["offer", "site", "cooling", "period"]]).isin(
        pd.MultiIndex.from_frame(hourly[["offer", "site", "cooling", "period"]])
    )
    whole = fleet[~by_hour]
    whole = whole.assign(unit_hours=whole["units"] * whole["period"].map(c.periods["hours"]))
    product = c.stands[["offer", "site", "cooling", "product"]]
    released = hourly.merge(product, on=["offer", "site", "cooling"]).merge(
        c.blocks[["period", "block", "hours"]], on=["period", "block"]
    )
    released = released.assign(unit_hours=released["units"] * released["hours"])
    both = pd.concat([whole[[*pool, "unit_hours"]], released[[*pool, "unit_hours"]]], ignore_index=True)
    return both.groupby(pool, sort=False, as_index=False)["unit_hours"].sum()


def _footprint_metrics(
    footprint: pd.DataFrame, effective_mtok: float
) -> list[tuple[str, str, str, float, str, str]]:
    """Return carbon and water per million effective tokens; hosted units have none of ours."""
    carbon, water = float(footprint["carbon_t"].sum()), float(footprint["water_m3"].sum())
    rows = []
    if carbon:
        definition = "CO2 of own sites' energy (grid average, contracts at their own) / effective tokens"
        kg = _ratio(carbon * KG_PER_TONNE, effective_mtok)
        rows.append(("carbon per effective token", "own sites", "horizon", kg, "kg/Mtok", definition))
    if water:
        definition = "cooling water of own sites / effective tokens"
        litres = _ratio(water * L_PER_M3, effective_mtok)
        rows.append(("water per effective token", "own sites", "horizon", litres, "l/Mtok", definition))
    return rows


def _energy_metrics(
    frames: Mapping[str, pd.DataFrame], effective_mtok: float
) -> list[tuple[str, str, str, float, str, str]]:
    rows = []
    energy = frames["energy"]
    kwh, it_kwh = energy["kwh"].sum(), (energy["it_kw"] * energy["hours"]).sum()
    if kwh > 0:
        rows.append(
            (
                "energy per effective token",
                "own sites",
                "horizon",
                _ratio(float(kwh), effective_mtok),
                "kWh/Mtok",
                "total energy / effective tokens (hosted units bill no energy)",
            )
        )
        rows.append(
            (
                "token energy efficiency",
                "own sites",
                "horizon",
                _ratio(effective_mtok, float(kwh)),
                "Mtok/kWh",
                "effective tokens / total energy",
            )
        )
        rows.append(
            ("PUE", "own sites", "horizon", float(kwh / it_kwh), "ratio", "facility energy / IT energy")
        )
    for site, group in energy.groupby("site", sort=False):
        it = float((group["it_kw"] * group["hours"]).sum())
        if it > 0:
            rows.append(
                (
                    "PUE",
                    str(site),
                    "horizon",
                    float(group["kwh"].sum()) / it,
                    "ratio",
                    "facility energy / IT energy",
                )
            )
            peak = float(group["grid_kw"].max())
            rows.append(
                (
                    "load factor",
                    str(site),
                    "horizon",
                    float(group["kwh"].sum()) / (peak * float(group["hours"].sum())),
                    "fraction",
                    "mean / peak power at the meter",
                )
            )
    return rows
