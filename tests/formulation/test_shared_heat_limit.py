"""Cooling options that share another one's capacity at a site fill one limit together."""

import pytest
from small_scenarios import cloud, cooling, demand, hall, one_year, purchase, rental, scenario, solved, units

from planner.errors import InputError


def case(**options):
    """Return boxes of 10 kW for 3 requests/s: bought under air or water for little, or rented for much."""
    return scenario(
        {
            "periods": one_year(),
            "sites": [hall(), cloud()],
            "cooling": [
                cooling("air"),
                cooling("liquid") | {"heat_limit_of": "air"},
                {"cooling": "hosted", "medium": "hosted", "source": "case", "source_date": "2026-11-29"}
                | {"confidence": "estimate"},
            ],
            "facility_options": [
                {"site": "hall", "cooling": "air", "capacity_kw": 20},
                {"site": "hall", "cooling": "liquid", **options},
            ],
            "offers": [purchase(price=1_000), rental(price=20.0)],
            "demand": demand(["2027"], 3.0),
        }
    )


def test_an_option_without_a_capacity_of_its_own_fills_the_one_it_shares():
    """20 kW of heat hold two boxes of 10 kW under air and water together; the third is rented."""
    plan = solved(case())
    assert units(plan, "offer") == {"purchase": 2.0, "rental": 1.0}


def test_a_second_capacity_for_shared_heat_is_refused():
    with pytest.raises(InputError) as caught:
        case(capacity_kw=50)
    text = "facility_options row 3, column capacity_kw: '50': must be blank: liquid shares the capacity_kw of air here"
    assert text in str(caught.value)
