"""Random sites, power and lead times: no unit is installed before its hall and power, and no date contradicts another.

What each plan says is held against the tables by the plain arithmetic below: PUE is 1, a box draws and is fed 10 kW.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_scenarios import SAID, box, cloud, demand, hall, purchase, rental, scenario

from planner.inputs import Scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan import Plan, audit_plan
from planner.plan.audit.orders.date_checks import PAIRS

KW = 10.0
QUICK, MANY = (1, 2, 5), range(100, 130)


def drawn(seed: int) -> Scenario:
    """Return three to five periods at one or two sites whose power, hall, racks and modules come when they come."""
    dice = np.random.default_rng(seed)
    start = pd.Timestamp(2027, int(dice.integers(1, 13)), 1)
    periods, day = [], start
    for place in range(int(dice.integers(3, 6))):
        months = int(dice.choice([1, 2, 3, 3, 6, 12]))
        periods.append({"period": f"p{place}", "start_date": f"{day:%Y-%m-%d}", "months": months})
        day += pd.DateOffset(months=months)
    names = [row["period"] for row in periods]
    sites = [hall(racks=int(dice.choice([3, 20])), **_some(dice, holding_fraction_per_year=0.05))]
    tables: dict[str, Any] = {"facility_options": [{"site": "hall", "cooling": "air"}]}
    power = _power(dice, "hall", start)
    if dice.random() < 0.6:
        weeks = {"build_capex_per_kw": 500, "build_weeks": float(dice.choice([0, 6, 17.5, 30]))}
        opening = _some(dice, opening_cost=5_000, fixed_cost_per_year=2_000)
        sites.append(hall("campus", kind="owned", build_life_years=15, **weeks, **opening))
        existing = {"existing_kw": float(dice.choice([0, 20]))}
        tables["facility_options"].append({"site": "campus", "cooling": "air", "capex_per_kw": 50} | existing)
        power += _power(dice, "campus", start)
    if dice.random() < 0.4:
        tables["site_modules"] = [_module(dice, "transformer"), _module(dice, "switchgear")]
    if dice.random() < 0.4:
        lot = {"fleet": "old", "product": "box", "site": "hall", "cooling": "air", "units": 2}
        gone = start + pd.DateOffset(days=int(dice.integers(40, 500)))
        tables["fleet"] = [lot | {"in_service_date": "2024-01-01", "retire_date": f"{gone:%Y-%m-%d}"}]
    offers = [
        _purchase(dice, "slow", 9_000),
        _purchase(dice, "fast", 11_000),
        rental(price=9.0, lead_weeks=0),
    ]
    rates = np.cumsum(dice.integers(0, 5, len(names))) + 1
    tables |= {
        "periods": periods,
        "sites": [*sites, cloud()],
        "site_power": power,
        "products": [box(kw=KW)],
        "offers": offers,
        "demand": demand(names, [float(rate) for rate in rates]),
    }
    return scenario(tables, max_blocks=1, discount_rate_fraction=0.08)


def _power(dice: np.random.Generator, site: str, start: pd.Timestamp) -> list[dict[str, Any]]:
    """Return power that grows twice, on days of their own or on first days of months, perhaps with some for tests."""
    steps, day, kw = [], start, float(dice.choice([0, 20, 40]))
    for _ in range(3):
        extra = {"commissioning_kw": float(dice.choice([10, 30]))} if dice.random() < 0.3 else {}
        steps.append({"site": site, "from_date": f"{day:%Y-%m-%d}", "usable_kw": kw} | extra)
        months, days = int(dice.integers(1, 7)), int(dice.choice([0, 0, 9]))
        day, kw = day + pd.DateOffset(months=months, days=days), kw + float(dice.choice([20, 60]))
    return steps


def _purchase(dice: np.random.Generator, name: str, price: float) -> dict[str, Any]:
    until = _some(dice, available_until="2027-12-15")
    terms = _some(dice, deposit_fraction=0.3, delivery_fraction=0.4, payment_term_days=30)
    weeks = {
        "lead_weeks": float(dice.choice([0, 4, 9, 20])),
        "install_weeks": float(dice.choice([0, 1.5, 4, 6])),
    }
    return purchase(name, price=price, vendor=name.title(), **weeks, **until, **terms)


def _module(dice: np.random.Generator, item: str) -> dict[str, Any]:
    weeks = float(dice.choice([0, 7, 16, 25]))
    plain = {
        "site": "hall",
        "module": item,
        "item": item,
        "kw": float(dice.choice([50, 200])),
        "lead_weeks": weeks,
    }
    return plain | ({"ordered_date": "2027-01-10"} if dice.random() < 0.3 else {"cost": 500}) | SAID


def _some(dice: np.random.Generator, **cells: Any) -> dict[str, Any]:
    return {name: value for name, value in cells.items() if dice.random() < 0.5}


def kw_on(table: pd.DataFrame, site: str, day: pd.Timestamp) -> float:
    """Return kW for service and tests on a day by the schedule."""
    steps = table[(table["site"] == site) & (table["from_date"] <= day)].sort_values("from_date")
    return float(steps[["usable_kw", "commissioning_kw"]].iloc[-1].fillna(0.0).sum()) if len(steps) else 0.0


def hall_kw_on(plan: Plan, day: pd.Timestamp) -> float:
    """Return kW of the campus hall on a day: what stands, and what was built by weeks after its order or its period."""
    tables = plan.scenario.tables
    halls, periods = tables["facility_options"], tables["periods"].set_index("period")["start_date"]
    kw = float(halls.loc[halls["site"] == "campus", "existing_kw"].fillna(0.0).sum())
    weeks = float(tables["sites"].set_index("site").loc["campus", "build_weeks"])
    for row in plan["build"].to_dict("records"):
        ready = periods[row["period"]] + pd.Timedelta(days=int(np.ceil(7 * weeks - 1e-9)))
        first = periods[periods >= ready - pd.Timedelta(days=3)].min()
        kw += row["kw"] if min(ready, first) <= day else 0.0
    return kw


def assert_dates_meet(plan: Plan) -> None:
    """Assert that on the day each order is delivered hall, power and racks take it beside what serves."""
    orders = plan["orders"]
    for early, late in PAIRS:
        known = orders[early].notna() & orders[late].notna()
        assert (orders.loc[known, early] <= orders.loc[known, late]).all(), (early, late)
    tables = plan.scenario.tables
    starts = tables["periods"].set_index("period")["start_date"]
    fleet, own = plan["fleet"], orders[orders["power_ready_date"].notna() & (orders["stored_units"] == 0)]
    racks = tables["sites"].set_index("site")["racks"]
    for row in own.to_dict("records"):
        day, site = row["power_ready_date"], row["site"]
        period = starts[starts <= day].index[-1]
        serving = fleet.loc[(fleet["site"] == site) & (fleet["period"] == period), "units"].sum()
        tested = own[
            (own["site"] == site) & (own["power_ready_date"] <= day) & (day < own["in_service_date"])
        ]
        units = serving + tested["units"].sum()
        assert units * KW <= kw_on(tables["site_power"], site, day) + 1e-6, row
        assert not (units > racks[site]), row
        if site == "campus":
            assert units * KW <= hall_kw_on(plan, day) + 1e-6, row
    days = plan["commissioning"]
    assert (days["needed"] <= days["available"] + 1e-6).all()


def checked(seed: int) -> int:
    """Return how many orders of hardware the plan of a seed has, its dates and audit in order."""
    plan = run_plan(drawn(seed), RunOptions(baselines=False))
    if plan.status == "infeasible":
        # An existing lot stands there before the site has any power: no plan is the right answer.
        assert len(plan.scenario.tables["fleet"])
        return 0
    assert plan.status == "optimal", plan.headline.get("message")
    failures = audit_plan(plan).failures
    assert failures.empty, failures.to_string()
    assert_dates_meet(plan)
    return int(plan["orders"]["power_ready_date"].notna().sum())


def test_dates_of_a_few_random_plans_meet():
    assert sum(checked(seed) for seed in QUICK) > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_dates_of_many_random_plans_meet(seed):
    checked(seed)
