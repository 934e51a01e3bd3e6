"""Air against liquid: where the choice tips, found by the product and by hand."""

from __future__ import annotations

import pytest
from small_scenarios import (
    SAID,
    box,
    cloud,
    cooling,
    demand,
    energy,
    hall,
    one_year,
    purchase,
    rental,
    scenario,
)

from planner.analysis import CoolingChoice, break_even_cooling
from planner.analysis.cooling import narrowed
from planner.errors import InputError
from planner.inputs import Scenario

AIR, LIQUID = 9.9, 9.2
"""Boxes of 1 request/s at 92 % and 99 % of the clock for 0.92 x 9.9 = 0.99 x 9.2 = 9.108 requests/s."""
YEAR_KWH = 9.5 * 8_760
"""A box that decodes draws 95 % of its busy kW (roofline_constants, decode_power_ratio)."""


def case(plant: float = 2_500.0, price: float = 0.10, **changed: object) -> Scenario:
    """Return an owned hall with both options to build; 5,000 a kW of building, 1,000 of air plant."""
    own = {
        "periods": one_year(),
        "sites": [
            hall("campus", kind="owned", build_capex_per_kw=5_000, build_weeks=0, build_life_years=20),
            cloud(),
        ],
        "facility_options": [{"site": "campus", "cooling": name} for name in ("air", "liquid")],
        "cooling": [
            option("air", 0.92, 20, 0.3, 1_000),
            option("liquid", 0.99, 100, 0.1, plant),
            {"cooling": "hosted", "medium": "hosted", **SAID},
        ],
        "products": [box(racks_per_unit=0.1)],
        "tariffs": [energy(price=price)],
        "offers": [purchase(), rental(price=30)],
        "demand": demand(["2027"], 9.108),
    }
    return scenario(own | changed)


def option(name: str, clock: float, kw_per_rack: float, loss: float, capex: float) -> dict[str, object]:
    held = {"frequency_prefill_fraction": clock, "frequency_decode_fraction": clock, "capex_per_kw": capex}
    return cooling(name, kw_per_rack, loss, **held)


def cost(units: float, plant: float, pue: float, price: float) -> float:
    return units * (100_000 + 10 * (5_000 + plant) + YEAR_KWH * pue * price)


@pytest.mark.study
def test_the_plant_price_at_which_liquid_no_longer_pays():
    found = break_even_cooling(CoolingChoice.of(case()), ["capex"]).iloc[0]
    # Air alone costs what liquid alone does at this price of liquid plant.
    by_hand = (cost(AIR, 1_000, 1.3, 0.10) / LIQUID - 100_000 - YEAR_KWH * 1.1 * 0.10) / 10 - 5_000
    assert found["break_even"] == pytest.approx(by_hand, rel=1e-5)
    assert (found["cheaper_below"], found["cheaper_above"]) == ("liquid", "air")
    assert (found["share_second_below"], found["share_second_above"]) == pytest.approx((1, 0))
    assert found["confirmed"]
    assert found["now"] == 2_500


@pytest.mark.study
def test_the_energy_price_from_which_liquid_pays():
    # With 3,500 a kW of liquid plant air wins at 0.10; PUE 1.1 on 9.2 boxes saves 2.75 box-years of IT energy.
    found = break_even_cooling(CoolingChoice.of(case(plant=3_500)), ["tariff"]).iloc[0]
    saved = AIR * 1.3 - LIQUID * 1.1
    by_hand = (cost(LIQUID, 3_500, 0, 0) - cost(AIR, 1_000, 0, 0)) / (YEAR_KWH * saved)
    assert found["break_even"] == pytest.approx(by_hand, rel=1e-5)
    assert (found["cheaper_below"], found["cheaper_above"]) == ("air", "liquid")
    assert found["confirmed"]
    assert found["now"] == pytest.approx(0.10)


@pytest.mark.study
def test_the_density_from_which_liquid_pays():
    # Air needs half a position a box: with 99 kW on R positions 2 R boxes stand, the others are rented at 262,800.
    # Rented boxes serve 1 request/s, so what a missing air box leaves, 0.92, is rented.
    found = break_even_cooling(CoolingChoice.of(case(plant=3_700)), ["density"]).iloc[0]
    box_by_air, rented = cost(1, 1_000, 1.3, 0.10), 0.92 * 30 * 8_760
    missing = (cost(LIQUID, 3_700, 1.1, 0.10) - AIR * box_by_air) / (rented - box_by_air)
    by_hand = 99 / ((AIR - missing) * 0.5)
    assert missing > 0
    assert found["break_even"] == pytest.approx(by_hand, rel=1e-5)
    assert (found["cheaper_below"], found["cheaper_above"]) == ("air", "liquid")


@pytest.mark.study
def test_a_range_without_a_break_even_says_what_is_cheaper_throughout():
    # In a colocation hall the plant is not ours: its price decides nothing.
    rented = case(sites=[hall("campus", rent_per_kw_month=100), cloud()])
    found = break_even_cooling(CoolingChoice.of(rented), ["capex"]).iloc[0]
    assert found[["break_even"]].isna().all()
    assert (found["cheaper_below"], found["cheaper_above"]) == ("liquid", "liquid")
    assert not found["confirmed"]


def test_options_that_no_site_offers_together_are_refused():
    with pytest.raises(InputError, match="no site offers both"):
        CoolingChoice.of(case(), "air", "immersion")


@pytest.mark.parametrize("steep", [1.0, 50.0])
def test_a_sign_change_is_narrowed_down_over_a_kink_and_beyond_a_missing_plan(steep):
    def gap(value: float) -> float:
        return float("inf") if value > 9 else (value - 3) * (steep if value > 3 else 1.0)

    assert narrowed(gap, 0.0, 10.0, gap(0.0), gap(10.0)) == pytest.approx(3, rel=1e-5)
