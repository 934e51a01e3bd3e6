"""Egress by hand: GB of the answers, retries included, times the price of their way."""

from __future__ import annotations

import pytest
import small_scenarios as case

from planner.coefficients import build_coefficients
from planner.errors import InputError
from planner.inputs import load_scenario
from planner.performance import operating_points

PERIOD = case.YEAR[:1]


def two_clouds(price: float | None, **more):
    """Return users at home who are served at home for nothing or from abroad, 500 tokens an answer, 800 bytes each."""
    prices = [
        {"from_region": "abroad", "to_region": "home", "price_per_gb": price, "currency": "EUR", **case.SAID}
    ]
    tables = {
        "periods": case.quarters(1),
        "fx": [
            {"currency": "USD", "usd_per_unit": 1, **case.SAID},
            {"currency": "EUR", "usd_per_unit": 1.25, **case.SAID},
        ],
        "regions": [case.region(), case.region("abroad")],
        "sites": [case.cloud("near"), case.cloud("far", region="abroad")],
        "offers": [
            case.rental("at home", price=12.0, sites="near"),
            case.rental("there", price=10.0, sites="far"),
        ],
        "shapes": [case.shape(input_tokens=100, output_tokens=500)],
        "workloads": [case.workload(retry_fraction=0.1, egress_bytes_per_token=800)],
        "demand": case.demand(PERIOD, 1.0),
        "egress_prices": prices if price is not None else [],
    }
    return case.scenario(tables | more)


def test_one_request_a_second_through_a_block_by_hand():
    scenario = two_clouds(0.1)
    c = build_coefficients(scenario, operating_points(scenario))
    cost = c.costs["flow"]
    # 1 request/s x 2,160 h x 3,600 s x 1.1 attempts x 500 tokens x 800 bytes / 1e9 = 3,421.44 GB at 0.125 USD.
    assert set(cost["site"]) == {"far"}
    assert cost["amount"].sum() == pytest.approx(3_421.44 * 0.125)
    assert set(cost["line"]) == {"egress"}


@pytest.mark.slow
@pytest.mark.parametrize(("price", "site"), [(0.1, "far"), (1.5, "near")])
def test_a_dear_way_keeps_the_load_at_home(price, site):
    """The far cloud saves 2 USD/h x 2,160 h x 1.1 boxes = 4,752; the way costs 428 or 6,415."""
    plan = case.solved(two_clouds(price), relax=True, audit=True)
    assert set(plan["flows"]["site"]) == {site}
    paid = case.line(plan, "egress")
    assert paid == pytest.approx(3_421.44 * price * 1.25 if site == "far" else 0.0)
    assert plan["checks"]["passed"].all()


def test_a_way_without_a_price_is_refused():
    with pytest.raises(InputError) as caught:
        two_clouds(None)
    fault = caught.value.faults[0]
    assert (fault.column, fault.row) == ("egress_bytes_per_token", 2)
    assert "abroad to home" in fault.message


def test_shipped_prices_are_between_cloud_regions_and_sourced():
    prices = load_scenario("small").tables["egress_prices"]
    assert len(prices) > 200
    assert prices["price_per_gb"].between(0.005, 0.2).all()
    assert prices["source"].notna().all()
    assert (prices["from_region"] != prices["to_region"]).all()
