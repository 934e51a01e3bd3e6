"""A dual is what its docstring says: the change of the least cost when the input behind the limit changes.

The input (units, kW, requests/s, currency) is moved down and up, the rows of the families it stands in are built
anew, and the LP is solved again. The least cost is convex in such an input, so at a degenerate optimum the dual
lies between the difference to the left and the difference to the right, and elsewhere equals both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_scenarios import (
    SAID,
    YEAR,
    cloud,
    demand,
    energy,
    hall,
    purchase,
    quarters,
    rental,
    scenario,
    shape,
    solved,
)
from tiny_coefficients import costs, table, tiny
from tiny_terms import (
    contract_terms,
    failure_terms,
    incentive_terms,
    source_and_resale_terms,
    spare_terms,
    standby_terms,
    warm_terms,
)

from planner.coefficients import Coefficients
from planner.coefficients.facility.colocation import Colocation
from planner.coefficients.facility.energisation import Energisation
from planner.coefficients.incentives import Incentives
from planner.coefficients.service.failures import Failures
from planner.formulation.build import FAMILIES, PlanModel, build_model
from planner.formulation.pulp_face import PlanProblem
from planner.inputs import Scenario
from planner.solve import Solution, SolveOptions, solve

Frames = Mapping[str, Any]
RELAXED = SolveOptions(relax=True)


def with_value(frame: pd.DataFrame, column: str, value: float, **where: str) -> pd.DataFrame:
    """Return the frame with one column changed in the rows so labelled."""
    chosen = np.all([frame[name] == label for name, label in where.items()], axis=0)
    assert chosen.any()
    return frame.assign(**{column: frame[column].where(~chosen, value)})


def busy() -> dict[str, Any]:
    """Return the tiny case at twice its demand, a twentieth optional, with little power in the hall."""
    case = tiny()
    limits = with_value(case.site_limits, "usable_kw", 60.0, site="hall")
    more = table("offer period units", ("box reserved", "t1", 2.0))
    supply = pd.concat([with_value(case.supply, "units", 9.0, offer="box rent"), more], ignore_index=True)
    return {
        "demand": case.demand.assign(requests_per_s=2 * case.demand["requests_per_s"]),
        "workloads": case.workloads.assign(must_serve_fraction=[0.95, 1.0]),
        "site_limits": limits,
        "supply": supply,
        "fleet_units": case.fleet_units,
    }


def changed(
    frames: dict[str, Any], name: str, column: str, **where: str
) -> Callable[[float], dict[str, Any]]:
    """Return a function from a value to the frames with that value in one place."""
    return lambda value: frames | {name: with_value(frames[name], column, value, **where)}


def campus_only() -> dict[str, Any]:
    """Return a case in which code is decoded at the campus: the cloud rents nothing there and a rack is cheap."""
    case, prices = tiny(), dict(costs())
    prices["order"] = prices["order"].assign(
        amount=prices["order"]["amount"].where(
            prices["order"]["site"] != "campus", prices["order"]["amount"] / 10
        )
    )
    return {"costs": prices, "halls": case.halls, "site_limits": case.site_limits}


def carrying(kw: float) -> Energisation:
    """Return the tiny path with switchgear of so many kW, and no more to be had."""
    path = tiny().energised
    return replace(
        path,
        path=with_value(path.path, "carried_kw", kw, item="switchgear"),
        most=path.most.assign(modules=0.0),
    )


def limited(frames: dict[str, Any], limit: str, amount: float) -> dict[str, Any]:
    """Return the frames with another amount of a limit on carbon or water."""
    around = tiny().environment
    return frames | {
        "environment": replace(around, limits=with_value(around.limits, "amount", amount, limit=limit))
    }


def buying_tokens() -> dict[str, Any]:
    """Return the busy case with a token service that answers code, limited in the first half."""
    terms = contract_terms()
    prices = {family: table for family, table in terms["costs"].items() if family != "tier_units"}
    limit = table("api_offer period mtok", ("tokens", "t1", 100_000.0))
    return busy() | {"api": terms["api"], "api_limits": limit, "costs": prices}


@dataclass(frozen=True)
class Case:
    """An input of a base case, the families it stands in, and the dual its docstring makes of it.

    ``like`` names a case with the same base, so that the two share its solution.
    """

    frames: Callable[[float], dict[str, Any]]
    at: float
    step: float
    families: tuple[str, ...]
    price: Callable[[Callable[..., float]], float]
    like: str = ""


def cases() -> dict[str, Case]:
    there = {"site": "hall"}
    asked = {"workload": "chat", "region": "east", "period": "t1", "block": "day"}
    hot = busy()
    poor = busy() | {"budgets": tiny().budgets}
    thin = busy() | {"site_limits": tiny().site_limits, "halls": tiny().halls}
    built = campus_only()
    resting = hot | {"deferrable": tiny().deferrable}
    # The west is served at the hall alone: what cannot be put in service there is optional demand of high value left.
    dear = tiny().workloads.assign(value_per_mtok=[5_000.0, np.nan])
    paced = hot | {"commissioning_pace": contract_terms()["commissioning_pace"], "workloads": dear}
    return {
        "a confirmed unit": Case(
            changed(hot, "supply", "units", offer="box reserved"), 2.0, 0.2, ("supply",),
            lambda dual: dual("supply", offer="box reserved", period="t1"),
        ),
        "a confirmed unit by the hour": Case(
            changed(hot, "supply", "units", offer="box hour"), 2.0, 0.2, ("hourly_supply",),
            lambda dual: dual("hourly_supply", offer="box hour", period="t1"),
            like="a confirmed unit",
        ),
        # A tenth of every kW is headroom; the same kW is in the limit of each block.
        "a usable kW": Case(
            changed(hot, "site_limits", "usable_kw", period="t1", **there), 60.0, 0.5,
            ("site_power", "provisioned_power"),
            lambda dual: 0.9 * dual("provisioned_power", period="t1", **there)
            + dual("site_power", period="t1", **there),
            like="a confirmed unit",
        ),
        "a kW of IT limit": Case(
            changed(thin, "site_limits", "it_limit_kw", period="t1", **there), 32.0, 0.3, ("it_power",),
            lambda dual: dual("it_power", period="t1", **there),
        ),
        "a rack position": Case(
            changed(thin, "site_limits", "racks", period="t1", **there), 1.6, 0.02, ("rack_space",),
            lambda dual: dual("rack_space", period="t1", **there),
        ),
        "a kW of cooling": Case(
            changed(thin, "halls", "capacity_kw", **there), 32.0, 0.3, ("cooling_capacity",),
            lambda dual: dual("cooling_capacity", **there),
        ),
        "a kW of hall": Case(
            changed(built, "halls", "existing_kw", site="campus"), 30.0, 0.3, ("hall_capacity",),
            lambda dual: dual("hall_capacity", site="campus"),
        ),
        "a kW of facility limit": Case(
            changed(built, "site_limits", "facility_limit_kw", site="campus"), 30.0, 0.3, ("facility_power",),
            lambda dual: dual("facility_power", site="campus"),
        ),
        "a kW carried by the smallest item of the path": Case(
            lambda value: built | {"energised": carrying(value)}, 30.0, 0.3, ("path_power",),
            lambda dual: dual("path_power", item="switchgear"),
        ),
        "a request that may wait": Case(
            changed(resting, "deferrable", "most_waiting", workload="chat"), 0.5, 0.05, ("deferral_window",),
            lambda dual: dual("deferral_window", workload="chat"),
        ),
        "a Mtok of a token service": Case(
            changed(buying_tokens(), "api_limits", "mtok", period="t1"), 100_000.0, 1_000.0, ("api_allowance",),
            lambda dual: dual("api_allowance", period="t1"),
        ),
        "a unit put in service in a period": Case(
            changed(paced, "commissioning_pace", "most_units", site="hall"), 1.7, 0.05, ("commissioning_pace",),
            lambda dual: dual("commissioning_pace", site="hall"),
        ),
        "a tonne of carbon": Case(
            lambda value: limited(hot, "carbon of the hall", value), 22.0, 0.2, ("carbon_limit",),
            lambda dual: dual("carbon_limit", limit="carbon of the hall"),
        ),
        "a cubic metre of water": Case(
            lambda value: limited(built, "water", value), 40.0, 0.5, ("water_limit",),
            lambda dual: dual("water_limit", limit="water"),
        ),
        # The row is in thousands, and so is its dual.
        "a thousand of budget": Case(
            changed(poor, "budgets", "limit", site="hall"), 135_000.0, 1_000.0, ("budget",),
            lambda dual: dual("budget", budget="running the hall") / 1_000,
        ),
        # Three quarters of the requests are short; a twentieth of them is optional.
        "a request/s of demand": Case(
            changed(hot, "demand", "requests_per_s", **asked),
            16.0, 0.05, ("demand_balance", "must_serve"),
            lambda dual: 0.75 * dual("demand_balance", shape="short", **asked)
            + 0.25 * dual("demand_balance", shape="long", **asked)
            + 0.05 * dual("must_serve", **asked),
            like="a confirmed unit",
        ),
        "a unit that stands already": Case(
            changed(hot, "fleet_units", "units", offer="fleet:old"), 3.0, 0.05, ("fleet_balance",),
            lambda dual: dual("fleet_balance", offer="fleet:old", period="t1"),
            like="a confirmed unit",
        ),
    }  # fmt: skip


CASES = cases()


@cache
def base(name: str) -> tuple[Coefficients, PlanModel, Solution]:
    case = CASES[name]
    if case.like:
        return base(case.like)
    c = tiny(**case.frames(case.at))
    model = build_model(c)
    solution = solve(model.problem, RELAXED)
    assert solution.status == "optimal"
    return c, model, solution


def dual_of(model: PlanModel, solution: Solution, family: str, **where: str) -> float:
    """Return the sum of the duals of a family's rows so labelled."""
    frame = model.problem.row_frame(family, solution.row_duals)
    chosen = np.all([frame[name] == label for name, label in where.items()], axis=0)
    assert chosen.any()
    return float(frame["value"][chosen].sum())


def least_cost_at(name: str, value: float) -> float:
    """Return the least cost with the input at another value; only the rows it stands in are built anew."""
    case, (_, model, _) = CASES[name], base(name)
    moved = tiny(**case.frames(value))
    rows = [
        FAMILIES[block.family](moved, model.columns) if block.family in case.families else block
        for block in model.problem.rows
    ]
    solution = solve(PlanProblem("moved", model.columns, rows, model.value, model.value_constant), RELAXED)
    assert solution.status == "optimal"
    return solution.objective


@pytest.mark.parametrize("name", CASES)
def test_a_dual_is_the_difference_of_least_cost_on_either_side(name):
    case = CASES[name]
    _, model, solution = base(name)
    price = case.price(lambda family, **where: dual_of(model, solution, family, **where))
    left = (solution.objective - least_cost_at(name, case.at - case.step)) / case.step
    right = (least_cost_at(name, case.at + case.step) - solution.objective) / case.step
    tolerance = 1e-6 * max(abs(left), abs(right))
    assert abs(price) > 1e-3, "the limit does not bind, so the case shows nothing"
    assert left - tolerance <= price <= right + tolerance


def at_will(frames: dict[str, Any]) -> dict[str, Any]:
    """Return the frames without colocation contracts: their paid-for minimum would decide where units stand."""
    priced = frames.get("costs", tiny().costs)
    kept = {family: table for family, table in priced.items() if family != "unused_rent_kw"}
    return frames | {"colocation": Colocation(), "costs": kept}


def much_critical(factor: float) -> dict[str, Any]:
    """Return the losses with so many times the critical demand, which then decides what stands in the cloud."""
    failures = failure_terms()["failures"]
    assert isinstance(failures, Failures)
    more = failures.critical.assign(requests_per_s=factor * failures.critical["requests_per_s"])
    return {"failures": Failures(failures.cases, more)}


def refreshing() -> dict[str, Any]:
    """Return a case in which the box of the first half is sold for the second, when a newer one is cheap to keep."""
    case, bought = tiny(), ("box purchase", "hall", "air")
    orders = case.orders.assign(in_service_ordinal=0)
    later = table("offer site cooling period in_service_ordinal service_years", (*bought, "t2", 1, 5.0))
    served = table("offer site cooling period alive_period", (*bought, "t1", "t1"), (*bought, "t2", "t2"))
    paid = "line kind paid_period timing amount"
    order = table(
        f"offer site cooling period {paid}",
        (*bought, "t2", "hardware_purchase", "capex", "t2", "start", 240_000.0),
        (*bought, "t2", "hardware_residual", "capex", "t2", "end", -210_000.0),
    )
    sold = table(
        f"offer site cooling period sold_period {paid}",
        (*bought, "t1", "t2", "resale", "capex", "t2", "start", -245_000.0),
        (*bought, "t1", "t2", "hardware_residual", "capex", "t2", "end", 190_000.0),
    )
    prices = dict(costs())
    prices |= {"order": pd.concat([prices["order"], order], ignore_index=True), "resold": sold}
    sales = {name: source_and_resale_terms()[name] for name in ("resales", "resale_reach")}
    return (
        busy()
        | sales
        | {
            "orders": pd.concat([orders, later], ignore_index=True),
            "alive": pd.concat([case.alive, served], ignore_index=True),
            "costs": prices,
        }
    )


def contracts() -> dict[str, Any]:
    """Return the contract terms without the vendors' capacities, under which a busy case has no plan."""
    terms: dict[str, Any] = dict(contract_terms())
    return terms | {"vendor_capacity": terms["vendor_capacity"].iloc[:0]}


def awarded() -> dict[str, Any]:
    """Return the busy campus with its credit and its grant, which asks for less than half of what is invested."""
    terms = incentive_terms()
    found = terms["incentives"]
    assert isinstance(found, Incentives)
    awards = found.awards.assign(most=found.awards["most"] / 10)
    return at_will(campus_only() | terms | {"incentives": replace(found, awards=awards)})


def stood_by() -> dict[str, Any]:
    """Return the campus with small UPS at N+1 to be had for 4,000, so that they decide what it can use."""
    terms: dict[str, Any] = dict(standby_terms(kw=12.0))
    module = terms["costs"]["module"]
    cheap = module.assign(amount=module["amount"].where(module["module"] != "ups module", 4_000.0))
    return at_will(campus_only() | terms | {"costs": campus_only()["costs"] | {"module": cheap}})


def warm_busy() -> dict[str, Any]:
    """Return the busy case with units that stand by in the cloud ahead of the morning, the hall full."""
    return at_will(busy() | warm_terms())


def rarely_enough() -> dict[str, Any]:
    """Return the busy case in which each further spare is enough for less: one is not, and two are more than enough."""
    levels = spare_terms()["spares"]
    assert isinstance(levels, pd.DataFrame)
    enough = levels["spare_units"].map({1.0: 5.0, 2.0: 7.0, 4.0: 7.4})
    return at_will(busy() | {"spares": levels.assign(needed_units=enough)})


def unlimited_rows() -> dict[str, tuple[dict[str, Any], dict[str, str], float]]:
    """Return families with nothing on the right: frames, the row, and how far its right side is moved."""
    return {
        "concentration": (
            at_will(busy() | contracts()), {"limit": "second source", "group": "one"}, 0.01,
        ),
        "failure_capacity": (
            at_will(busy() | much_critical(8.0)), {"failure": "no hall", "product": "box", "site": "cloud"}, 0.01,
        ),
        "coincident_peak": (campus_only(), {"component": "4cp", "month": "2027-07"}, 0.1),
        **dict.fromkeys(
            ("spare_units", "spare_table"),
            (at_will(busy() | spare_terms()), {"site": "cloud", "block": "day"}, 0.01),
        ),
        "spare_choice": (rarely_enough(), {"site": "cloud"}, 0.01),
        **dict.fromkeys(
            ("module_standby", "standby_kept"),
            (stood_by(), {"module": "ups module", "period": "t2", "day": ""}, 0.01),
        ),
        **dict.fromkeys(
            ("warm_buffer", "warm_capacity"),
            (warm_busy(), {"site": "cloud", "period": "t1", "block": "night", "next_block": "day"}, 0.01),
        ),
        "warm_rent": (warm_busy(), {"site": "cloud", "period": "t1", "block": "night"}, 0.01),
        "incentive_cap": (awarded(), {"incentive": "credit"}, 0.01),
        "incentive_earned": (awarded(), {"incentive": "grant"}, 0.01),
        "incentive_condition": (awarded(), {"incentive": "grant"}, 0.01),
        "resold_units": (at_will(refreshing()), {"offer": "box purchase", "period": "t1"}, 0.01),
    }  # fmt: skip


OF_NOTHING = [
    "concentration",
    "failure_capacity",
    "coincident_peak",
    "resold_units",
    "spare_units",
    "spare_table",
]
OF_NOTHING += ["spare_choice", "module_standby", "standby_kept"]
OF_NOTHING += ["incentive_cap", "incentive_earned", "incentive_condition"]


@pytest.mark.parametrize("family", OF_NOTHING)
def test_a_dual_is_the_price_of_one_more_on_a_right_side_of_nothing(family):
    # A unit from a vendor beyond its share; a unit that stands after a loss; a kW less of a coincident peak;
    # a unit of an old order to sell beside a newer one; a unit that stands by; a unit the spares are enough for.
    frames, row, step = unlimited_rows()[family]
    model = build_model(tiny(**frames))
    solution = solve(model.problem, RELAXED)
    price = dual_of(model, solution, family, **row)

    def least_cost(moved: float) -> float:
        rows = [
            replace(block, rhs=block.rhs + moved * _named(block.labels, row))
            if block.family == family
            else block
            for block in model.problem.rows
        ]
        found = solve(PlanProblem("moved", model.columns, rows, model.value, model.value_constant), RELAXED)
        assert found.status == "optimal"
        return found.objective

    left = (solution.objective - least_cost(-step)) / step
    right = (least_cost(step) - solution.objective) / step
    tolerance = 1e-6 * max(abs(left), abs(right))
    assert price < -1e-3
    assert left - tolerance <= price <= right + tolerance


def _named(labels: pd.DataFrame, row: Mapping[str, str]) -> np.ndarray:
    return np.all([labels[name] == label for name, label in row.items()], axis=0).astype(float)


SIGNS = {
    family: "<= 0" if "(<= 0" in (FAMILIES[family].__doc__ or "") else ">= 0"
    for family in FAMILIES
    if "(<= 0" in (FAMILIES[family].__doc__ or "") or "(>= 0" in (FAMILIES[family].__doc__ or "")
}


@pytest.mark.parametrize("name", ["a confirmed unit", "a thousand of budget", "a kW of hall"])
def test_every_dual_has_the_sign_its_docstring_states(name):
    _, model, solution = base(name)
    assert len(SIGNS) > 10
    for family in SIGNS.keys() & {block.family for block in model.problem.rows}:
        duals = solution.row_duals[model.problem.row_position(family)]
        if family == "grid_power":
            drawn = solution.values[model.columns.position("grid_kw")] > 1e-6
            duals = duals[drawn]
        bound = np.abs(duals).max(initial=0.0) * 1e-9
        assert (duals <= bound).all() if SIGNS[family] == "<= 0" else (duals >= -bound).all(), family


def test_a_request_costs_as_much_where_it_is_decoded_as_where_it_is_asked_for():
    # Routing is free, so wherever requests flow to, the balance there has the dual of the demand it meets.
    c, model, solution = base("a confirmed unit")
    flows = model.columns.frame("flow")
    flows = flows[solution.values[flows["column"]] > 1e-6].merge(c.routes, on=["workload", "region", "site"])
    asked = model.problem.row_frame("demand_balance", solution.row_duals).rename(columns={"value": "asked"})
    served = model.problem.row_frame("decode_balance", solution.row_duals).rename(columns={"value": "served"})
    joined = flows.merge(asked, on=["workload", "shape", "region", "period", "block"])
    joined = joined.merge(served, on=["workload", "shape", "ttft_class", "site", "period", "block"])
    whole = joined[joined["site"] != "campus"]
    assert set(whole["ttft_class"]) == {"near", "far"}
    assert whole["served"].to_numpy() == pytest.approx(whole["asked"].to_numpy(), rel=1e-6, abs=1e-6)


def test_prefill_and_decode_share_the_cost_of_a_request_that_is_split():
    _, model, solution = base("a kW of hall")
    place = {"workload": "code", "site": "campus", "period": "t2"}
    asked = dual_of(model, solution, "demand_balance", workload="code", period="t2")
    first = dual_of(model, solution, "prefill_balance", **place)
    later = dual_of(model, solution, "decode_balance", **place)
    assert first > 0
    assert later > 0
    assert first + later == pytest.approx(asked, rel=1e-6)


def test_the_blocks_under_a_demand_charge_share_its_price():
    # 6 months x 4 = 24 a kW, in the middle of the second half.
    _, model, solution = base("a confirmed unit")
    shares = dual_of(model, solution, "billing_peak", component="any hour")
    assert shares == pytest.approx(-24 / 1.1**0.75)


def growing(rate: float) -> Scenario:
    """Return two quarters of uneven load, bought in advance or rented; the second at the rate given."""
    hours = {f"h{hour:02d}": 1.5 if 8 <= hour < 20 else 0.5 for hour in range(24)}
    return scenario(
        {
            "periods": quarters(2),
            "sites": [hall(rent_per_kw_month=100), cloud()],
            "tariffs": [energy("day", 0.2, hours="08-20"), energy("night", 0.1, hours="20-08")],
            "profiles": [{"profile": "day", "day_type": "all", **hours, **SAID}],
            "offers": [
                purchase(price=60_000, lead_weeks=12),
                rental(price=30, rent_step="hour", supply_units_per_period=4),
                rental("dear", price=80, rent_step="hour"),
            ],
            "shapes": [shape(input_tokens=200, output_tokens=50)],
            "demand": demand(YEAR[:2], [3.0, rate], profile="day"),
        },
        discount_rate_fraction=0.1,
    )


@pytest.mark.slow
def test_the_long_run_price_of_a_million_tokens_is_the_difference_of_two_plans():
    # 0.1 requests/s more through the quarter's 2,184 hours are 0.1 x 3,600 x 2,184 x 50 / 1e6 Mtok of output,
    # paid for in the middle of the quarter, 4.5 months from the start.
    plan, larger = (solved(growing(rate), relax=True) for rate in (7.0, 7.1))
    more = 0.1 * 3_600 * 2_184 * 50 / 1e6
    spent = larger.headline["objective"] - plan.headline["objective"]
    price = plan["marginal_costs"].set_index(["kind", "period"])["value"]
    assert price["long_run", "2027-Q2"] == pytest.approx(spent / more * 1.1**0.375, rel=1e-6)
    assert price["long_run", "2027-Q2"] != pytest.approx(price["long_run", "2027-Q1"], rel=0.01)
