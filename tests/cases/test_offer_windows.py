"""Offers in time and by contract: spot that is taken away, lead times by case, prices that fall, a next generation."""

from __future__ import annotations

import pytest
from small_scenarios import (
    YEAR,
    box,
    cloud,
    demand,
    hall,
    least_cost,
    one_year,
    point,
    purchase,
    quarters,
    rental,
    scenario,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("interrupted", "per_hour"), [(0.2, 8 * 12), (0.1, 9 * 10), (0.0, 8 * 10)])
def test_spot_that_is_taken_away_takes_more_units_than_on_demand(interrupted, per_hour):
    # Eight requests/s: 8 / 0.8 = 10 spot units at 10 an hour are dearer than 8 at 12; 8 / 0.9 are 9, and cheaper.
    spot = rental("spot", price=10, mode="spot", interruption_fraction=interrupted)
    case = scenario(
        {
            "periods": one_year(),
            "sites": [cloud()],
            "offers": [spot, rental(price=12)],
            "demand": demand(["2027"], 8.0),
        }
    )
    assert least_cost(case) == pytest.approx(per_hour * 8_760)


@pytest.mark.parametrize(
    ("lead_case", "rented_hours"), [("low", 0), ("base", 2_160), ("high", 2_160 + 2_184)]
)
def test_units_are_rented_until_a_delivery_of_the_case_asked_for(lead_case, rented_hours):
    late = purchase(lead_weeks=13, lead_weeks_low=0, lead_weeks_high=26)
    tables = {
        "periods": quarters(),
        "sites": [hall(), cloud()],
        "offers": [late, rental(price=40)],
        "demand": demand(YEAR, 1.0),
    }
    assert least_cost(scenario(tables, lead_case=lead_case)) == pytest.approx(100_000 + 40 * rented_hours)


@pytest.mark.parametrize(
    ("on_sale", "second_year"),
    [
        # Two boxes more a year later: at a trend of -20 % a year, 80,000 each.
        (["old"], 160_000),
        # The next generation does both for 120,000.
        (["old", "new"], 120_000),
        # When it arrives the old one is cleared at 50,000.
        (["old", "new", "cleared"], 100_000),
    ],
)
def test_the_next_generation_arrives_and_the_price_of_the_old_one_falls(on_sale, second_year):
    offers = {
        "old": purchase("old", "old", price_trend_fraction_per_year=-0.2),
        "new": purchase("new", "new", 120_000, available_from="2028-01-01"),
        "cleared": purchase(
            "cleared", "old", 50_000, available_from="2028-01-01", available_until="2028-12-31"
        ),
    }
    years = ["2027", "2028"]
    case = scenario(
        {
            "periods": [{"period": year, "start_date": f"{year}-01-01", "months": 12} for year in years],
            "sites": [hall()],
            "products": [box("old"), box("new")],
            "operating_points": [point("old"), point("new", 2.0)],
            "offers": [offers[name] for name in on_sale],
            "demand": demand(years, [1.0, 3.0]),
        }
    )
    assert least_cost(case) == pytest.approx(100_000 + second_year)
