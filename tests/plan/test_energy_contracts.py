"""Plans with energy contracts and limits on carbon and water."""

from dataclasses import replace

import pytest
from bill_model import full_power
from small_scenarios import (
    HOURS,
    SAID,
    cloud,
    cooling,
    demand,
    energy,
    hall,
    least_cost,
    line,
    model_of,
    purchase,
    quarters,
    rental,
    scenario,
    solved,
)

from planner.plan import Plan, audit_plan
from planner.solve import SolveOptions, solve

pytestmark = pytest.mark.study

FIRST = HOURS["2027-Q1"]


def contract(name, **more):
    return {"ppa": name, "site": "hall", "price_per_kwh": 0.06, "currency": "USD", **SAID, **more}


def case(carbon_price_per_t=0.0, **more):
    """Return a hall that draws 40 kW in a quarter at 0.10 a kWh and 400 g, 2 litres of water a kWh."""
    tables = {
        "periods": quarters(1),
        "sites": [hall(), cloud()],
        **full_power(),
        "tariffs": [energy(price=0.1)],
        "carbon": [{"region": "home", "gco2_per_kwh": 400, "basis": "average", **SAID}],
        "cooling": [
            cooling("air", water_l_per_kwh=2),
            {"cooling": "hosted", "medium": "hosted", **SAID},
        ],
        "offers": [purchase(price=100), rental(price=2.0)],
        "demand": demand(["2027-Q1"], 4),
    }
    return scenario(tables | more, carbon_price_per_t=carbon_price_per_t)


def test_a_contract_on_a_share_replaces_the_energy_charge_on_that_share():
    plan = solved(
        case(ppas=[contract("wind", share_fraction=0.25), contract("hydro", kw=20, gco2_per_kwh=24)])
    )
    assert audit_plan(plan).passed
    # Wind covers 10 of 40 kW, hydro its 20: the tariff bills the other 10.
    assert line(plan, "energy") == pytest.approx(40 * 0.1 * FIRST)
    assert line(plan, "ppa") == pytest.approx(30 * 0.06 * FIRST)
    assert line(plan, "ppa_offset") == pytest.approx(-30 * 0.1 * FIRST)
    tonnes = (10 * 0 + 20 * 24 + 10 * 400) * FIRST / 1e6
    assert plan["footprint"]["carbon_t"].sum() == pytest.approx(tonnes)
    assert plan["footprint"]["water_m3"].sum() == pytest.approx(40 * FIRST * 2 / 1e3)
    metric = plan["metrics"].set_index("metric")["value"]
    made = plan.headline["effective_mtok"]
    assert metric["carbon per effective token"] == pytest.approx(tonnes * 1e3 / made)
    assert metric["water per effective token"] == pytest.approx(40 * FIRST * 2 / made)


def test_covered_energy_fills_no_tiers_counts_to_no_minimum_and_bears_its_own_carbon():
    tiers = {"charge": "energy", "tier_of": "use", "tier_unit": "kwh"}
    tariffs = [
        energy("low", 0.1, **tiers, tier_from=0),
        energy("high", 0.2, **tiers, tier_from=10_000),
        energy("least", 4_000, charge="minimum") | {"price_unit": "month"},
    ]
    priced = case(
        carbon_price_per_t=50.0,
        tariffs=tariffs,
        sites=[hall(opening_cost=10.0), cloud()],
        offers=[purchase(price=100)],
        ppas=[contract("hydro", share_fraction=0.75, gco2_per_kwh=24)],
    )
    plan = solved(priced)
    assert audit_plan(plan).passed
    # 10 of 40 kW are the utility's: no month of a quarter reaches 10,000 kWh, and each is topped up to 4,000.
    assert line(plan, "energy_tiers") == pytest.approx(0.0, abs=1e-6)
    assert line(plan, "minimum_take") == pytest.approx(3 * 4_000 - 10 * 0.1 * FIRST)
    carbon = line(plan, "carbon") + line(plan, "carbon_offset")
    assert carbon == pytest.approx((10 * 400 + 30 * 24) * FIRST / 1e6 * 50)
    costs = plan["costs"]
    wrong = costs.assign(
        amount=costs["amount"].where(costs["line"] != "carbon_offset", costs["amount"] * 1.01)
    )
    changed = Plan(plan.headline, {**plan.frames, "costs": wrong}, plan.scenario)
    assert "cost carbon_offset" in set(audit_plan(changed).failures["check"])


def test_a_profile_is_paid_in_full_and_a_date_halves_it():
    # 100 kW delivered from 15 February: 45 of 90 days, so half of it, of which 40 are used.
    plan = case(ppas=[contract("flat", kw=100, start_date="2027-02-15")])
    assert least_cost(plan) == pytest.approx(4 * 100 + FIRST * (40 * 0.1 + 50 * 0.06 - 40 * 0.1))


@pytest.mark.parametrize(("kind", "per_kw"), [("carbon_t", 0.4e-3 * FIRST), ("water_m3", 2e-3 * FIRST)])
def test_a_limit_moves_load_to_the_cloud_and_its_dual_is_the_cost_of_one_unit_less(kind, per_kw):
    limited = case(resource_limits=[{"limit": "cap", "kind": kind, "site": "hall", "amount": 25 * per_kw}])
    # 25 kW is 2.5 boxes' load: the cloud serves the other 1.5 requests/s at 2 $ per unit-hour.
    model = model_of(limited)
    relaxed = SolveOptions(gap=0.0, relax=True)
    first = solve(model.problem, relaxed)
    family = "carbon_limit" if kind == "carbon_t" else "water_limit"
    position = [block.family for block in model.problem.rows].index(family)
    block = model.problem.rows[position]
    before = sum(len(other.labels) for other in model.problem.rows[:position])
    more = replace(block, rhs=block.rhs + 1e-3 * per_kw, allow_empty=True)
    rows = [*model.problem.rows[:position], more, *model.problem.rows[position + 1 :]]
    wider = solve(
        type(model.problem)("wider", model.columns, rows, model.value, model.value_constant), relaxed
    )
    dual = first.row_duals[before]
    assert dual < 0
    assert (wider.objective - first.objective) / (1e-3 * per_kw) == pytest.approx(dual, rel=1e-4)
    plan = solved(limited)
    assert audit_plan(plan).passed
    name = "carbon_t" if kind == "carbon_t" else "water_m3"
    assert plan["footprint"][name].sum() <= 25 * per_kw * (1 + 1e-7)
    assert line(plan, "on_demand_rent") > 0
