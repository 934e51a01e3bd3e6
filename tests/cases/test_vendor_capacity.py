"""What one vendor gives of several products together: plans whose quantities can be found by hand."""

from dataclasses import replace

import pytest
from small_scenarios import (
    BARE,
    box,
    cloud,
    demand,
    hall,
    least_cost_relaxed,
    line,
    model_of,
    one_hour,
    point,
    purchase,
    rental,
    scenario,
    shape,
    solved,
    workload,
)

from planner.errors import InputError
from planner.pipeline import run_plan
from planner.plan import audit_plan
from planner.solve import SolveOptions, solve

TEN = {"limit": "ten of A", "vendor": "A", "measure": "units", "amount": 10}


def two_products(*limits, chips=1, **offer):
    """Return an hour in which eight units of each of two products are needed, at 1 from A and at 2 from B."""
    products = ("small", "large")
    prices = (("A", 1.0), ("B", 2.0))
    return scenario(
        {
            "periods": one_hour(),
            "sites": [cloud()],
            "products": [box("small"), box("large", chips_per_unit=chips)],
            "workloads": [workload(name) for name in products],
            "shapes": [shape(name) for name in products],
            "operating_points": [point(name, name=name) for name in products],
            "offers": [
                rental(f"{name} of {vendor}", name, price) | {"vendor": vendor} | offer
                for name in products
                for vendor, price in prices
            ],
            "vendor_capacity": list(limits),
            "demand": [row for name in products for row in demand(["hour"], 8.0, name)],
        },
        accept=[f"offers/{name} of {vendor}/price" for name in products for vendor, _ in prices],
    )


def cost(case):
    return solve(model_of(case).problem, SolveOptions(gap=0.0)).objective


@pytest.fixture(scope="module")
def ten():
    return solved(two_products(TEN), audit=True)


def test_the_limit_holds_over_all_products_of_the_vendor(ten):
    """Ten units at 1 and six at 2 are 22; without the limit all sixteen come from A."""
    assert ten.headline["total_cost"] == pytest.approx(22)
    assert line(ten, "on_demand_rent") == pytest.approx(22)
    assert ten["checks"].set_index("check").loc["vendor_supply", "passed"]
    assert cost(two_products()) == pytest.approx(16)


def test_the_dual_is_what_one_more_unit_saves():
    model = model_of(two_products(TEN))
    found = solve(model.problem, SolveOptions(relax=True))
    duals = model.problem.row_frame("vendor_supply", found.row_duals)
    assert duals["value"].tolist() == [pytest.approx(-1.0)]
    more = least_cost_relaxed(two_products(TEN | {"amount": 10.5}))
    assert (more - found.objective) / 0.5 == pytest.approx(-1.0)


@pytest.mark.slow
def test_chips_and_kw_weigh_the_units():
    """Of four chips of A a large unit takes two: four small units, or two large, save the same or half as much."""
    chips = TEN | {"measure": "chips", "amount": 4}
    assert cost(two_products(chips, chips=2)) == pytest.approx(32 - 4)
    assert cost(two_products(TEN | {"measure": "kw", "amount": 35}, chips=2)) == pytest.approx(32 - 3)


@pytest.mark.slow
def test_a_group_of_offers_and_a_period_may_be_named():
    only = {"limit": "small", "offers": "small of A", "measure": "units", "period": "hour", "amount": 3}
    assert cost(two_products(only)) == pytest.approx(16 + 5)


@pytest.mark.slow
def test_units_rented_by_the_hour_are_inside_the_limit_too():
    assert cost(two_products(TEN, rent_step="hour")) == pytest.approx(22)


@pytest.mark.slow
def test_what_is_ordered_counts_as_what_is_rented():
    limit = {"limit": "maker", "vendor": "Maker", "measure": "units", "amount": 2}
    case = scenario(
        {
            "periods": one_hour(),
            "sites": [hall()],
            "offers": [purchase(), purchase("other", price=150_000) | {"vendor": "Other"}],
            "vendor_capacity": [limit],
            "demand": demand(["hour"], 3.0),
        }
    )
    assert cost(case) == pytest.approx(2 * 100_000 + 150_000)


@pytest.mark.slow
def test_a_limit_that_leaves_no_plan_is_named_with_what_would_do():
    case = two_products(TEN)
    ours = case.tables["offers"][case.tables["offers"]["vendor"] == "A"].reset_index(drop=True)
    plan = run_plan(replace(case, tables={**case.tables, "offers": ours}), BARE)
    assert plan.status == "infeasible"
    first = plan["shortages"].iloc[0]
    assert (first["place"], first["amount"]) == ("ten of A", pytest.approx(6))


def test_the_audit_counts_by_itself(ten):
    orders = ten["orders"]
    more = orders.assign(units=orders["units"].where(~orders["offer"].str.endswith("A"), orders["units"] + 1))
    checks = audit_plan(replace(ten, frames={**ten.frames, "orders": more})).checks.set_index("check")
    assert not checks.loc["vendor_supply", "passed"]


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"vendor": "C"}, "no offer of the scenario is of this vendor"),
        ({"vendor": None}, "state the vendor, the offers or both"),
        ({"offers": "small of B"}, "none of them is of A"),
        ({"amount": -1}, "at least 0"),
    ],
)
def test_a_limit_of_nothing_is_refused(limit, message):
    with pytest.raises(InputError, match=message):
        two_products(TEN | limit)
