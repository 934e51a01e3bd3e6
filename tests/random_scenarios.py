"""Random scenarios that reach offers of every mode, tiers, budgets, contracts and odd periods.

A scenario is drawn from a seed: the same seed gives the same tables. What may come of one is a plan that passes its
audit, faults of the input, or a proof that there is no plan; anything else is a defect (:func:`outcome`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from plan_cases import HOURS, SAID, Rows, base_tables, cloud_offer, flat, point, scenario_of, workload
from random_terms import TERMS, first_day, money_settings

from planner.errors import InputError, PlannerError
from planner.inputs import Scenario
from planner.pipeline import RunOptions, run_plan

Tables = dict[str, Rows]
Draw = np.random.Generator


@dataclass(frozen=True)
class Drawn:
    """Tables and settings of a random scenario, and whether its plan stands beside its baselines."""

    tables: Tables
    settings: dict[str, Any]
    baselines: bool = False

    def scenario(self) -> Scenario:
        """Return the scenario; InputError where what was drawn contradicts itself."""
        return scenario_of(self.tables, **self.settings)


@dataclass(frozen=True)
class Outcome:
    """What came of a scenario: plan, fault, no_plan, not_finished or defect, and the words of the last four."""

    kind: str
    said: str = ""


def outcome(drawn: Drawn, time_limit_s: float = 60.0) -> Outcome:
    """Return what planning a scenario gives; a plan that fails its own audit is a defect."""
    try:
        options = RunOptions(baselines=drawn.baselines, audit=True, time_limit_s=time_limit_s)
        plan = run_plan(drawn.scenario(), options)
    except InputError as error:
        return Outcome("fault", str(error))
    except PlannerError as error:
        return Outcome("defect", f"{type(error).__name__}: {error}")
    except Exception as error:
        return Outcome("defect", f"{type(error).__name__}: {error!r}")
    kinds = {"optimal": "plan", "feasible": "plan", "infeasible": "no_plan", "no_solution": "not_finished"}
    if plan.status == "infeasible":
        # A plan that a relief leads to and that contradicts itself is a defect as much as the scenario's own.
        for status in plan["reliefs"]["status"].drop_duplicates():
            if "own audit" in status or "is not the solver's objective" in status:
                return Outcome("defect", f"a relief: {status}")
    return Outcome(kinds.get(plan.status, "defect"), str(plan.headline.get("message") or ""))


def draw(seed: int) -> Drawn:
    """Return the random scenario of a seed."""
    dice = np.random.default_rng(seed)
    tables, settings = base_tables(), _settings(dice)
    _periods(dice, tables)
    _services(dice, tables)
    _places(dice, tables)
    _offers(dice, tables)
    for feature, odds in (FEATURES | TERMS).items():
        if dice.random() < odds:
            feature(dice, tables)
    if dice.random() < 0.3:
        settings |= {"defer_demand": True}
    settings |= money_settings(dice) if dice.random() < 0.6 else {}
    return Drawn(tables, settings, baselines=bool(dice.random() < 0.15))


def _settings(dice: Draw) -> dict[str, Any]:
    debt = float(dice.choice([0.0, 0.0, 0.4, 1.0]))
    return {
        "discount_rate_fraction": float(dice.choice([0.0, 0.08, 0.15])),
        "objective": str(dice.choice(["cost", "unit-cost"])),
        "gap": float(dice.choice([0.0, 0.01])),
        "max_blocks": int(dice.choice([2, 3, 5])),
        "residual_method": str(dice.choice(["market", "sinking_fund", "none"])),
        "commitment_method": str(dice.choice(["market", "full", "none"])),
        "commitment_horizon_years": float(dice.choice([0.25, 1.0, 2.0])),
        "lead_case": str(dice.choice(["low", "base", "high"])),
        "demand_case": str(dice.choice(["base", "base", "high"])),
        "lease_rule": str(dice.choice(["ifrs16", "asc842", "opex"])),
        "tax_rate_fraction": float(dice.choice([0.0, 0.25])),
        "debt_share_fraction": debt,
        "loan_rate_fraction": 0.06 if debt else None,
        "loan_term_years": float(dice.choice([0.5, 2.0, 5.0])),
        "carbon_price_per_t": float(dice.choice([0.0, 60.0])),
        "integer_hourly_rent": bool(dice.random() < 0.5),
        "priority_rule": str(dice.choice(["value", "strict", "weighted"])),
    }


def _periods(dice: Draw, tables: Tables) -> None:
    """One to four periods of 1 to 36 months, or a single one of a few hours."""
    if dice.random() < 0.05:
        tables["periods"] = [
            {"period": "run", "start_date": "2027-03-01", "hours": int(dice.integers(1, 400))}
        ]
        return
    start = pd.Timestamp(2026, 12, 1) + pd.DateOffset(months=int(dice.integers(1, 14)))
    rows = []
    for at in range(int(dice.integers(1, 5))):
        months = int(dice.choice([1, 2, 3, 3, 5, 6, 12, 18, 36]))
        rows.append({"period": f"p{at}", "start_date": f"{start:%Y-%m-%d}", "months": months})
        start += pd.DateOffset(months=months)
    tables["periods"] = rows


def _names(tables: Tables) -> list[str]:
    return [row["period"] for row in tables["periods"]]


def _services(dice: Draw, tables: Tables) -> None:
    """One to three workloads of two regions, optional or not, with lengths or without."""
    tables["workloads"], tables["shapes"], tables["operating_points"], tables["demand"] = [], [], [], []
    tables["products"].append(
        tables["products"][0]
        | {
            "product": "slim",
            "nameplate_kw": 6,
            "busy_kw": 5,
            "idle_kw": 1,
            "racks_per_unit": 0.2,
            "life_years": 4,
        }
    )
    for at in range(int(dice.integers(1, 4))):
        name, opaque = f"w{at}", dice.random() < 0.2
        optional = {"must_serve_fraction": float(dice.choice([0.0, 0.5, 0.9])), "value_per_mtok": 40}
        extra = optional if dice.random() < 0.4 and not opaque else {}
        if dice.random() < 0.3:
            extra |= {"deferral_h": int(dice.choice([2, 8]))}
        tables["workloads"].append(
            workload(name, business=f"b{at % 2}", priority=int(dice.integers(1, 3)), **extra)
        )
        lengths = {} if opaque else {"input_tokens": int(dice.integers(50, 4_000)), "output_tokens": 200}
        tables["shapes"].append({"workload": name, "shape": "s", "share_fraction": 1, **lengths})
        for product in ("box", "slim"):
            rate = float(dice.choice([0.5, 4, 15]))
            tables["operating_points"].append(
                point(f"{product} {name}", product=product, workload=name, shape="s", requests_per_s=rate)
            )
        for region in ("east", "west")[: int(dice.integers(1, 3))]:
            _demand(dice, tables, name, region)


def _demand(dice: Draw, tables: Tables, name: str, region: str) -> None:
    rate, profile = float(dice.choice([0.0, 1.0, 4.0, 15.0])), dice.choice(["day", "leisure", ""])
    for period in _names(tables):
        row = {"workload": name, "region": region, "period": period, "requests_per_s": round(rate, 3)}
        rate *= float(dice.uniform(0.8, 1.5))
        tables["demand"].append(
            row | {"requests_per_s_high": round(1.3 * row["requests_per_s"], 3), "profile": profile or None}
        )


def _places(dice: Draw, tables: Tables) -> None:
    """A hall with power by steps, perhaps an owned one to be built, and a cloud."""
    tables["sites"][0] |= {"racks": int(dice.choice([4, 60])), "staff_per_mw": float(dice.choice([0, 2]))}
    first = pd.Timestamp(tables["periods"][0]["start_date"])
    steps = [{"site": "hall", "from_date": f"{first - pd.DateOffset(months=2):%Y-%m-%d}", "usable_kw": 120}]
    if dice.random() < 0.6:
        later = first + pd.DateOffset(days=int(dice.integers(1, 500)))
        steps.append({"site": "hall", "from_date": f"{later:%Y-%m-%d}", "usable_kw": 390})
    tables["site_power"] = steps
    if dice.random() < 0.5:
        tables["facility_options"].append({"site": "hall", "cooling": "liquid", "capacity_kw": 200})
    if dice.random() < 0.4:
        _owned(dice, tables, first)
    if dice.random() < 0.93:
        tables["sites"].append({"site": "cloud", "region": "west", "kind": "cloud", **SAID})


def _owned(dice: Draw, tables: Tables, first: pd.Timestamp) -> None:
    tables["sites"].append(
        {
            "site": "campus",
            "region": "west",
            "kind": "owned",
            "tariff": "grid",
            "racks": 40,
            "currency": "EUR",
        }
        | {
            "headroom_fraction": 0.2,
            "build_capex_per_kw": 9_000,
            "build_weeks": int(dice.choice([0, 12, 40])),
        }
        | {"build_life_years": 15, "opening_cost": 40_000, "fixed_cost_per_year": 9_000}
        | {"property_tax_fraction_per_year": float(dice.choice([0.0, 0.01])), **SAID}
    )
    power = first + pd.DateOffset(days=int(dice.integers(-100, 200)))
    tables["site_power"].append({"site": "campus", "from_date": f"{power:%Y-%m-%d}", "usable_kw": 500})
    tables["facility_options"] += [
        {"site": "campus", "cooling": "air", "existing_kw": float(dice.choice([0, 60]))},
        {"site": "campus", "cooling": "liquid", "capex_per_kw": 1_100, "capacity_kw": 300},
    ]


def _offers(dice: Draw, tables: Tables) -> None:
    """Purchases, leases, reservations, units by the hour and spot, each with some of its terms."""
    bought = tables["offers"][0]
    rows = [
        bought
        | {"lead_weeks": int(dice.choice([0, 5, 20])), "lead_weeks_low": 0, "lead_weeks_high": 30}
        | {"install_weeks": float(dice.choice([0, 2.5]))}
        | _some(dice, freight_fraction=0.02, duty_fraction=0.05, tax_fraction=0.08, warranty_years=2)
        | _some(dice, deposit_fraction=0.3, delivery_fraction=0.5, payment_term_days=45, resale_fraction=0.6)
        | _some(dice, minimum_order_units=3, order_multiple_units=2, supply_units_per_period=40),
        bought
        | {
            "offer": "slim purchase",
            "product": "slim",
            "vendor": "Other",
            "price": 120_000,
            "currency": "EUR",
        },
    ]
    if dice.random() < 0.5:
        rows.append(
            bought
            | {
                "offer": "lease",
                "vendor": "Bank",
                "mode": "lease",
                "price": 6_000,
                "price_unit": "unit_month",
            }
            | {"term_months": int(dice.choice([3, 12, 36])), "lead_weeks": 4, "resale_fraction": None}
            | _some(dice, upfront_fraction=0.4)
        )
    if any(row["kind"] == "cloud" for row in tables["sites"]):
        rows += _cloud_offers(dice)
    kept = [row for row in rows if dice.random() < 0.8 or row["offer"] == "hour box"]
    tables["offers"] = kept or rows[:1]


def _cloud_offers(dice: Draw) -> Rows:
    month = {"price": 11_000, "price_unit": "unit_month"} if dice.random() < 0.5 else {"price": 15.0}
    reserved = {"term_months": int(dice.choice([1, 9, 12, 24])), "lead_weeks": int(dice.choice([0, 8]))}
    return [
        cloud_offer("hour box", "on_demand", 60, rent_step=str(dice.choice(["hour", "period"]))),
        cloud_offer(
            "spot box", "spot", 20, rent_step="period", supply_units_per_period=2, interruption_fraction=0.15
        ),
        cloud_offer("reserved box", "reserved", 15.0) | month | reserved | _some(dice, upfront_fraction=0.5),
    ]


def _some(dice: Draw, **cells: Any) -> dict[str, Any]:
    return {name: value for name, value in cells.items() if dice.random() < 0.4}


def _fleet(dice: Draw, tables: Tables) -> None:
    first = pd.Timestamp(tables["periods"][0]["start_date"])
    began = first - pd.DateOffset(months=int(dice.integers(-5, 50)))
    lot = {
        "fleet": "old",
        "product": "box",
        "site": "hall",
        "cooling": "air",
        "units": int(dice.integers(1, 8)),
    }
    retired = first + pd.DateOffset(days=int(dice.integers(10, 900)))
    tables["fleet"] = [
        lot
        | {"in_service_date": f"{began:%Y-%m-%d}"}
        | ({"retire_date": f"{retired:%Y-%m-%d}"} if dice.random() < 0.4 and retired > began else {})
        | _some(dice, book_value=300_000, purchase_price=500_000, resale_fraction=0.5)
    ]


def _tiers(dice: Draw, tables: Tables) -> None:
    terms = {
        "basis": str(dice.choice(["incremental", "all_units"])),
        "counts": str(dice.choice(["order", "horizon"])),
    }
    modes = ("purchase", "lease", "reserved")
    offers = [row["offer"] for row in tables["offers"] if row["mode"] in modes]
    if offers:
        offer = str(dice.choice(offers))
        next(row for row in tables["offers"] if row["offer"] == offer)["resale_fraction"] = None
        tables["offer_tiers"] = [
            {"offer": offer, "from_units": 3, "discount_fraction": 0.08, **terms},
            {"offer": offer, "from_units": 6, "discount_fraction": 0.15, **terms},
        ]


def _budgets(dice: Draw, tables: Tables) -> None:
    rows = []
    for kind in ("capex", "opex", "total"):
        if dice.random() < 0.5:
            period = str(dice.choice(_names(tables))) if dice.random() < 0.5 else None
            limit = float(dice.choice([3e5, 6e6, 1e7, 3e7, 5e7, 1e8]))
            business = "b0" if dice.random() < 0.2 else None
            rows.append(
                {"budget": kind, "kind": kind, "period": period, "limit": limit, "business": business}
            )
    tables["budgets"] = rows


def _contracts(dice: Draw, tables: Tables) -> None:
    contract = {"site": "hall", "currency": "EUR", "gco2_per_kwh": 20, **SAID}
    begins = first_day(tables) + pd.DateOffset(days=int(dice.integers(-90, 300)))
    ends = begins + pd.DateOffset(days=int(dice.integers(20, 700)))
    contract |= _some(dice, start_date=f"{begins:%Y-%m-%d}", end_date=f"{ends:%Y-%m-%d}")
    tables["ppas"] = [contract | {"ppa": "wind", "share_fraction": 0.3, "price_per_kwh": 0.07}]
    if dice.random() < 0.5:
        tables["ppas"].append(contract | {"ppa": "river", "kw": 10, "price_per_kwh": 0.05})


def _losses(dice: Draw, tables: Tables) -> None:
    for row in tables["workloads"]:
        row["critical_fraction"] = float(dice.choice([0.2, 0.5]))
    cases = [
        {"failure_case": "one", "loss": "units", "units": 1},
        {"failure_case": "any", "loss": "each_site"},
    ]
    tables["failure_cases"] = [case for case in cases if dice.random() < 0.6] or cases[:1]


def _tariff(dice: Draw, tables: Tables) -> None:
    energy, _, peak, meter = tables["tariffs"]
    use = energy | {"tier_of": "use", "tier_unit": "kwh"}
    rows = [
        [
            use | {"component": "first use", "tier_from": 0, "price": 0.08},
            use | {"component": "more use", "tier_from": 20_000, "price": float(dice.choice([0.05, 0.11]))},
        ],
        [energy | {"component": "night", "hours": "00-06", "price": -0.02}],
        [peak | {"component": "ratchet", "ratchet_fraction": 0.5}],
        [meter | {"component": "least", "charge": "minimum", "price": 3_400}],
        [
            peak
            | {"component": "yearly", "price": 20, "price_unit": "kw_year", "day_type": "all", "hours": None}
        ],
    ]
    tables["tariffs"] = [energy, *(row for group in rows if dice.random() < 0.5 for row in group)]


def _colocation(dice: Draw, tables: Tables) -> None:
    begins = first_day(tables) + pd.DateOffset(months=int(dice.integers(-6, 12)))
    tables["colo_contracts"] = [
        _some(dice, start_date=f"{begins:%Y-%m-%d}")
        | {"site": "hall", "take_fraction": 0.8, "beyond": str(dice.choice(["allowed", "refused"]))}
        | _some(dice, term_months=36, escalator_fraction_per_year=0.03)
    ]
    tables["colo_ramp"] = [
        {"site": "hall", "from_month": 0, "contracted_kw": 50},
        {"site": "hall", "from_month": 5, "contracted_kw": 150},
    ]


def _generators(dice: Draw, tables: Tables) -> None:
    tables["bridging_power"] = [
        {"site": "hall", "generator": "gas", "max_kw": 300, "rent_per_kw_month": 30, "fuel_per_kwh": 0.12}
        | {"lead_weeks": int(dice.choice([0, 10])), "currency": "EUR"}
        | {"gco2_per_kwh": 500}
        | _some(dice, min_term_months=7)
    ]


def _modules(dice: Draw, tables: Tables) -> None:
    gear = {"site": "hall", "life_years": 20, "currency": "EUR"}
    tables["site_modules"] = [
        gear | {"module": "first", "item": "transformer", "kw": 150, "ordered_date": "2026-10-01", "lead_weeks": 39},
        gear | {"module": "panel", "item": "switchgear", "kw": 150, "lead_weeks": 12, "cost": 20_000}
        | {"max_modules": 5},
    ]  # fmt: skip
    tables["sites"][0] |= {"holding_fraction_per_year": 0.03}


def _concentration(dice: Draw, tables: Tables) -> None:
    measure = str(dice.choice(["units", "chips", "kw", "spend"]))
    by = str(dice.choice(["vendor", "product"]))
    share = {"max_fraction": 0.7} if dice.random() < 0.5 else {"min_count": 2}
    tables["concentration"] = [{"limit": "second source", "by": by, "measure": measure, **share}]


def _quota(dice: Draw, tables: Tables) -> None:
    beyond = {"beyond": "refuse"} if dice.random() < 0.5 else {"beyond": "queue", "queue_h": 3}
    tables["workloads"][0] |= {"must_serve_fraction": 1, "value_per_mtok": None}
    tables["quotas"] = [{"quota": "w0", "workload": "w0", "cap_requests_per_s": 5, **beyond}]


def _profile(dice: Draw, tables: Tables) -> None:
    """One profile without a working night."""
    busy = {name: 3.0 * (9 <= at < 17) for at, name in enumerate(HOURS)}
    tables["profiles"].append({"profile": "office", "day_type": "weekday", **busy, **SAID})
    tables["profiles"].append({"profile": "office", "day_type": "weekend", **flat(1.0), **SAID})
    tables["demand"][0]["profile"] = "office"


def _limits(dice: Draw, tables: Tables) -> None:
    tables["resource_limits"] = [
        {
            "limit": "carbon",
            "kind": "carbon_t",
            "site": "hall",
            "amount": float(dice.choice([50, 900, 5_000, 9_000])),
        }
    ]


FEATURES: dict[Callable[[Draw, Tables], None], float] = {
    _fleet: 0.4,
    _tiers: 0.3,
    _budgets: 0.4,
    _contracts: 0.3,
    _losses: 0.25,
    _tariff: 0.4,
    _colocation: 0.2,
    _generators: 0.2,
    _modules: 0.2,
    _concentration: 0.2,
    _quota: 0.15,
    _profile: 0.3,
    _limits: 0.2,
}
"""What a scenario may have besides, and how often."""
