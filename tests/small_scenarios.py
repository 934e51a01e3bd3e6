"""Scenarios small enough to solve by hand: boxes with stated rates, bought for a hall or rented in a cloud.

Everything not asked for is free, instant and without loss: no energy price, PUE 1, no lead time, no residual, no
discounting, one request a second per box, flat demand. A case then states what it is about.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import pandas as pd

from planner.coefficients import build_coefficients
from planner.formulation.build import PlanModel, build_model
from planner.inputs import Scenario, make_scenario
from planner.performance import operating_points
from planner.pipeline import RunOptions, run_plan
from planner.plan import Plan
from planner.solve import SolveOptions, solve

Row = dict[str, Any]
Rows = list[Row]

SAID = {"source": "case", "source_date": "2026-11-29", "confidence": "estimate"}
BARE = RunOptions(baselines=False)
YEAR = ("2027-Q1", "2027-Q2", "2027-Q3", "2027-Q4")
HOURS = dict(zip(YEAR, (2_160.0, 2_184.0, 2_208.0, 2_208.0), strict=True))
"""Hours of the quarters of 2027: 90, 91, 92 and 92 days."""


def quarters(count: int = 4) -> Rows:
    starts = ("2027-01-01", "2027-04-01", "2027-07-01", "2027-10-01")[:count]
    return [
        {"period": name, "start_date": start, "months": 3} for name, start in zip(YEAR, starts, strict=False)
    ]


def one_hour() -> Rows:
    return [{"period": "hour", "start_date": "2027-01-01", "hours": 1}]


def one_year() -> Rows:
    return [{"period": "2027", "start_date": "2027-01-01", "months": 12}]


def box(product: str = "box", kw: float = 10.0, **more: Any) -> Row:
    """Return a unit that draws its nameplate when busy and nothing when idle, and lives five years."""
    plain = {
        "product": product,
        "chips_per_unit": 1,
        "vendor": "Maker",
        "nameplate_kw": kw,
        "busy_kw": kw,
        "idle_kw": 0,
        "racks_per_unit": 1,
        "life_years": 5,
    }
    return plain | more | SAID


def purchase(offer: str = "purchase", product: str = "box", price: float = 100_000, **more: Any) -> Row:
    plain = {"mode": "purchase", "includes": "hardware", "price_unit": "unit"}
    return _offer(offer, product, price, plain | more)


def rental(offer: str = "rental", product: str = "box", price: float = 20.0, **more: Any) -> Row:
    """Return a hosted unit on demand, price per unit-hour, released at the end of the period."""
    plain = {"mode": "on_demand", "includes": "hosted", "price_unit": "unit_hour", "rent_step": "period"}
    return _offer(offer, product, price, plain | more)


def _offer(offer: str, product: str, price: float, terms: Mapping[str, Any]) -> Row:
    plain = {"offer": offer, "product": product, "vendor": "Maker", "price": price}
    return plain | {"lead_weeks": 0, "install_weeks": 0} | terms | SAID


def hall(site: str = "hall", **more: Any) -> Row:
    return {"site": site, "region": "home", "kind": "colo", "tariff": "grid"} | more | SAID


def cloud(site: str = "cloud", region: str = "home") -> Row:
    return {"site": site, "region": region, "kind": "cloud", **SAID}


def energy(component: str = "energy", price: float = 0.0, **more: Any) -> Row:
    return _charge(component, price, {"charge": "energy", "price_unit": "kwh"} | more)


def demand_charge(component: str, price: float, **more: Any) -> Row:
    return _charge(component, price, {"charge": "demand", "price_unit": "kw_month"} | more)


def _charge(component: str, price: float, terms: Mapping[str, Any]) -> Row:
    plain = {"tariff": "grid", "component": component, "price": price, "currency": "USD", "day_type": "all"}
    return plain | terms | SAID


def region(name: str = "home", utc_offset_h: float = 0.0) -> Row:
    return {"region": name, "country": "none", "continent": "none", "utc_offset_h": utc_offset_h, **SAID}


def workload(name: str = "chat", **more: Any) -> Row:
    plain = {
        "workload": name,
        "business": "none",
        "waiting_ms": 0,
        "success_fraction": 1,
        "quality_pass_fraction": 1,
        "retry_fraction": 0,
        "reasoning_ratio": 1,
        "cached_input_fraction": 0,
        "minute_peak_input_ratio": 1,
        "minute_peak_output_ratio": 1,
        "priority": 1,
        "must_serve_fraction": 1,
    }
    return plain | more


def shape(name: str = "chat", **more: Any) -> Row:
    return {"workload": name, "shape": "any", "share_fraction": 1, **more}


def point(product: str = "box", requests_per_s: float = 1.0, name: str = "chat", **more: Any) -> Row:
    """Return the stated rate of one unit."""
    phase = more.get("phase", "mixed")
    plain = {
        "point": f"{product} {name} {phase}",
        "product": product,
        "phase": phase,
        "workload": name,
        "shape": "any",
        "requests_per_s": requests_per_s,
    }
    return plain | more | SAID


def demand(
    periods: Sequence[str],
    rates: float | Sequence[float],
    name: str = "chat",
    where: str = "home",
    **more: Any,
) -> Rows:
    """Return one rate per period, or the same in all."""
    each = [rates] * len(periods) if isinstance(rates, (int, float)) else rates
    return [
        {"workload": name, "region": where, "period": period, "requests_per_s": rate, **more}
        for period, rate in zip(periods, each, strict=True)
    ]


def scenario(tables: Mapping[str, Rows], catalog: bool = False, **settings: Any) -> Scenario:
    """Return a scenario of these tables on the plain ones, without the shipped catalogue unless asked for."""
    return make_scenario(*stated(tables, **settings), catalog=catalog)


def stated(tables: Mapping[str, Rows], **settings: Any) -> tuple[dict[str, Any], dict[str, Rows]]:
    """Return the settings and tables of such a scenario, before they are read."""
    policies = {
        "name": "case",
        "discount_rate_fraction": 0.0,
        "gap": 0.0,
        "objective": "cost",
        "residual_method": "none",
    }
    halls = [row["site"] for row in tables.get("sites", []) if row["kind"] != "cloud"]
    own: dict[str, Rows] = {
        "site_power": [{"site": site, "from_date": "2027-01-01", "usable_kw": 10_000} for site in halls],
        "facility_options": [{"site": site, "cooling": "air"} for site in halls],
    }
    return policies | settings, _plain_tables() | own | dict(tables)


def _plain_tables() -> dict[str, Rows]:
    cool = {f"h{hour:02d}": 0 for hour in range(24)}
    return {
        "sources": [{"source": "case", "title": "made up", "location": "tests", "kind": "estimate"}],
        "fx": [{"currency": "USD", "usd_per_unit": 1, **SAID}],
        "roofline_constants": shipped_rows("roofline_constants"),
        "statistic_factors": [
            {
                "metric": metric,
                "statistic": name,
                "ratio_to_median": ratio,
                "attained_fraction": share,
                **SAID,
            }
            for metric in ("ttft", "tpot")
            for name, ratio, share in (("p95", 2, 0.95), ("unstated", 1, None))
        ],
        "regions": [region()],
        "climate": [{"region": "home", "month": month, **cool, **SAID} for month in range(1, 13)],
        "cooling": [cooling("air"), cooling("liquid"), {"cooling": "hosted", "medium": "hosted", **SAID}],
        "tariffs": [energy()],
        "products": [box()],
        "operating_points": [point()],
        "workloads": [workload()],
        "shapes": [shape()],
    }


def short_of_boxes(
    units: float,
    rule: str = "strict",
    unranked_fraction: float | None = None,
    guaranteed: tuple[float | None, float | None] = (None, None),
) -> Scenario:
    """Return gold of rank 1 and basic of rank 2, 4 requests/s each, half optional, on so many boxes of one request/s.

    A Mtok of basic is worth ten times one of gold: by value alone basic is served first.
    """
    worth = {"must_serve_fraction": 0.5, "value_per_mtok": 1_000}
    names = ("gold", "basic")
    return scenario(
        {
            "periods": one_hour(),
            "sites": [cloud()],
            "offers": [rental(supply_units_per_period=units)],
            "workloads": [
                workload("gold", priority=1, guaranteed_share=guaranteed[0], **worth),
                workload(
                    "basic",
                    **(worth | {"priority": 2, "value_per_mtok": 10_000}),
                    unranked_fraction=unranked_fraction,
                    guaranteed_share=guaranteed[1],
                ),
            ],
            "shapes": [shape(name, output_tokens=100) for name in names],
            "operating_points": [point(name=name) for name in names],
            "demand": [row for name in names for row in demand(["hour"], 4.0, name)],
        },
        priority_rule=rule,
    )


def mild() -> Rows:
    """Return twelve months at 0 degC for a region of any name."""
    cool = {f"h{hour:02d}": 0 for hour in range(24)}
    return [{"month": month, **cool, **SAID} for month in range(1, 13)]


def stacked(*frames: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True)


def cooling(name: str, kw_per_rack: float = 100.0, loss_fraction: float = 0.0, **more: Any) -> Row:
    """Return a cooling option that never needs its chiller: PUE is 1 + loss."""
    plain = {
        "cooling": name,
        "medium": name,
        "kw_per_rack": kw_per_rack,
        "distribution_loss_fraction": loss_fraction,
        "fan_pump_fraction": 0,
        "supply_c": 30,
        "approach_k": 10,
        "free_cooling_band_k": 10,
        "chiller_cop": 5,
        "chiller_reference_lift_k": 10,
    }
    return plain | more | SAID


@cache
def shipped_rows(table: str) -> Rows:
    with (files("catalogs") / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [{name: cell or None for name, cell in row.items()} | SAID for row in rows]


def solved(case: Scenario, **options: Any) -> Plan:
    """Return the proven plan of a case, or its bound with ``relax``, without baselines."""
    plan = run_plan(case, RunOptions(baselines=False, **options))
    assert plan.status == ("bound" if options.get("relax") else "optimal"), plan.headline.get("message")
    return plan


def model_of(case: Scenario) -> PlanModel:
    return build_model(build_coefficients(case, operating_points(case)))


def least_cost(case: Scenario) -> float:
    """Return the least cost of a case from the solver alone: the stages before the plan, and no relaxation."""
    solution = solve(model_of(case).problem, SolveOptions(gap=0.0))
    assert solution.status == "optimal"
    return solution.objective


def least_cost_relaxed(case: Scenario) -> float:
    """Return the least cost of a case with divisible units."""
    solution = solve(model_of(case).problem, SolveOptions(relax=True))
    assert solution.status == "optimal"
    return solution.objective


def units(plan: Plan, *by: str) -> dict[Any, float]:
    """Return ordered units by the columns named, offer and period unless stated."""
    labels = list(by) or ["offer", "period"]
    table = plan["orders"].groupby(labels)["units"].sum()
    return {key: float(value) for key, value in table.items() if value}


def line(plan: Plan, name: str) -> float:
    """Return the undiscounted amount of a cost line over the horizon."""
    costs = plan["costs"]
    return float(costs.loc[costs["line"] == name, "amount"].sum())
