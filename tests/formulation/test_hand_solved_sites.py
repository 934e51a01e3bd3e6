"""Plans whose sites, power, cooling and energy bill can be found by hand; the arithmetic stands beside each."""

from __future__ import annotations

import pytest
from bill_model import full_power
from small_scenarios import (
    HOURS,
    SAID,
    YEAR,
    box,
    cloud,
    cooling,
    demand,
    demand_charge,
    energy,
    hall,
    least_cost,
    line,
    one_year,
    point,
    purchase,
    quarters,
    rental,
    scenario,
    solved,
    units,
)

from planner.inputs import Scenario


def test_short_power_goes_to_the_product_that_serves_more_per_kilowatt():
    # Old: 1 request/s, 10 kW, 100,000. New: 1.2 requests/s, 8 kW, 150,000. By price old wins (100,000 to
    # 125,000 a request/s); twelve of them would need 120 kW of the 100 that are left of 125 after headroom.
    # a + 1.2 b >= 12 and 10 a + 8 b <= 100 meet at a = 6, b = 5.
    case = scenario(
        {
            **full_power(),
            "periods": one_year(),
            "sites": [hall(headroom_fraction=0.2)],
            "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 125}],
            "products": [box("old", 10), box("new", 8)],
            "offers": [purchase("old", "old"), purchase("new", "new", 150_000)],
            "operating_points": [point("old", 1.0), point("new", 1.2)],
            "demand": demand(["2027"], 12),
        }
    )
    plan = solved(case)
    assert units(plan, "product") == {"old": 6, "new": 5}
    assert plan.headline["total_cost"] == pytest.approx(6 * 100_000 + 5 * 150_000)
    power = plan["site_power"].set_index("level").loc["grid"]
    assert power["peak_kw"] == pytest.approx(6 * 10 + 5 * 8)
    # With 101 kW the two limits meet at a = 6.3, b = 4.75: 0.3 x 100,000 more and 0.25 x 150,000 less.
    dual = plan["duals"].set_index(["kind", "family"])["dual"]
    assert dual["long_run", "provisioned_power"] == pytest.approx(0.3 * 100_000 - 0.25 * 150_000)


def test_air_cooling_takes_what_it_can_remove_and_liquid_the_rest():
    # 55 kW of heat by air are five boxes of 10 kW; the other three are of the dear liquid-cooled kind.
    case = scenario(
        {
            "periods": one_year(),
            "sites": [hall()],
            "facility_options": [
                {"site": "hall", "cooling": "air", "capacity_kw": 55},
                {"site": "hall", "cooling": "liquid"},
            ],
            "products": [box("airy", coolings="air"), box("wet", coolings="liquid")],
            "offers": [purchase("airy", "airy"), purchase("wet", "wet", 200_000)],
            "operating_points": [point("airy"), point("wet")],
            "demand": demand(["2027"], 8),
        }
    )
    plan = solved(case)
    assert units(plan, "cooling") == {"air": 5, "liquid": 3}
    assert plan.headline["total_cost"] == pytest.approx(5 * 100_000 + 3 * 200_000)


def dense(kw_per_rack: float) -> Scenario:
    """Return ten rack positions for servers of 12 kW in a quarter rack, or a cheap rack of 40 kW; demand 8."""
    return scenario(
        {
            "periods": one_year(),
            "sites": [hall(racks=10), cloud()],
            "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 200}],
            "cooling": [cooling("air", kw_per_rack), {"cooling": "hosted", "medium": "hosted", **SAID}],
            "products": [
                box("server", 12, racks_per_unit=0.25),
                box("whole rack", 40, racks_per_unit=1, rack_scale="true"),
            ],
            "offers": [
                purchase("server", "server"),
                purchase("whole rack", "whole rack", 300_000),
                rental("rental", "server", 15),
            ],
            "operating_points": [point("server", 1.0), point("whole rack", 4.0)],
            "demand": demand(["2027"], 8),
        }
    )


def test_thin_racks_spread_servers_and_shut_out_the_whole_rack():
    # At 6 kW a rack a 12 kW server takes two positions, so five stand in ten and three are rented at
    # 15 x 8,760 = 131,400. The rack-scale unit would need 40 kW in one position.
    plan = solved(dense(6))
    assert units(plan, "offer") == {"server": 5, "rental": 3}
    assert plan.headline["total_cost"] == pytest.approx(5 * 100_000 + 3 * 131_400)


def test_dense_racks_admit_the_whole_rack():
    # At 48 kW a rack two racks of 4 requests/s do it: 75,000 a request/s against 100,000.
    assert least_cost(dense(48)) == pytest.approx(2 * 300_000)


def test_energy_is_priced_by_the_hours_of_the_tariff_with_losses_and_idle_power():
    # 2027-Q1 has 64 weekdays in 90 days. A box idles at 4 kW, runs at 10, and is busy half of the time: 7 kW,
    # with 20 % of losses 8.4 kW at the meter. 0.05 in all 2,160 h and 0.15 more on weekdays from 8 to 20.
    case = scenario(
        {
            **full_power(),
            "periods": quarters(1),
            "sites": [hall()],
            "cooling": [
                cooling("air", loss_fraction=0.2),
                {"cooling": "hosted", "medium": "hosted", **SAID},
            ],
            "tariffs": [
                energy("base", 0.05),
                energy("day", 0.15, day_type="weekday", hours="08-20"),
            ],
            "products": [box(idle_kw=4)],
            "offers": [purchase()],
            "demand": demand(YEAR[:1], 0.5),
        }
    )
    plan = solved(case)
    assert line(plan, "energy") == pytest.approx(8.4 * (2_160 * 0.05 + 64 * 12 * 0.15))
    assert plan["energy"]["kwh"].sum() == pytest.approx(8.4 * 2_160)
    assert plan.headline["total_cost"] == pytest.approx(100_000 + 8.4 * 223.2)


def test_a_demand_charge_bills_each_month_at_the_peak_inside_its_hours():
    # The load is 4 at three o'clock, 2 at fourteen and 18 / 22 else: four boxes. The charge looks at 12-20
    # only, so it bills 2 x 10 kW at 12 for each of three months, not the 40 kW of the night.
    hours = {f"h{hour:02d}": 18 / 22 for hour in range(24)} | {"h03": 4, "h14": 2}
    case = scenario(
        {
            **full_power(),
            "periods": quarters(1),
            "sites": [hall()],
            "tariffs": [energy(), demand_charge("afternoon", 12, hours="12-20")],
            "profiles": [{"profile": "two peaks", "day_type": "all", **hours, **SAID}],
            "offers": [purchase()],
            "demand": demand(YEAR[:1], 1, profile="two peaks"),
        }
    )
    plan = solved(case)
    assert line(plan, "demand_charge") == pytest.approx(2 * 10 * 12 * 3)
    assert plan.headline["total_cost"] == pytest.approx(4 * 100_000 + 720)
    peak = plan["peaks"].iloc[0]
    assert (peak["component"], peak["peak_kw"], peak["months"]) == ("afternoon", pytest.approx(20), 3)


def opening(rate: float) -> Scenario:
    """Return two halls: one costs 50,000 to open and 60 per kW and month, the other 160 and nothing."""
    return scenario(
        {
            "periods": one_year(),
            "sites": [
                hall("new", opening_cost=50_000, rent_per_kw_month=60),
                hall("old", rent_per_kw_month=160),
            ],
            "offers": [purchase()],
            "demand": demand(["2027"], rate),
        }
    )


def test_a_site_is_opened_when_its_rent_saves_more_than_opening_costs():
    # A year of 10 kW: 7,200 in the new hall, 19,200 in the old: 12,000 saved a box, 50,000 for five boxes.
    plan = solved(opening(5))
    assert units(plan, "site") == {"new": 5}
    assert line(plan, "site_opening") == pytest.approx(50_000)
    assert plan.headline["total_cost"] == pytest.approx(5 * 100_000 + 50_000 + 5 * 7_200)


def test_four_boxes_do_not_pay_for_an_opening():
    assert least_cost(opening(4)) == pytest.approx(4 * 100_000 + 4 * 19_200)


def test_a_hall_is_built_for_the_day_it_is_ready_and_worth_something_at_the_end():
    # 10 kW of hall stand, 20 more take 26 weeks. One box is bought now, two are rented for half a year at
    # 20 x 4,344 h and bought in July. By straight line (no interest) a box loses a fifth of 100,000 in a year,
    # a tenth in half of it; a kW of hall and cooling, 5,000 + 1,000, loses half a twentieth.
    case = scenario(
        {
            "periods": quarters(),
            "sites": [
                hall("campus", kind="owned", build_capex_per_kw=5_000, build_weeks=26, build_life_years=20),
                cloud(),
            ],
            "cooling": [
                cooling("air", capex_per_kw=900),
                {"cooling": "hosted", "medium": "hosted", **SAID},
            ],
            "facility_options": [
                {"site": "campus", "cooling": "air", "existing_kw": 10, "capex_per_kw": 1_000}
            ],
            "offers": [purchase(), rental()],
            "demand": demand(YEAR, 3),
        },
        residual_method="sinking_fund",
    )
    plan = solved(case)
    assert units(plan) == {
        ("purchase", "2027-Q1"): 1,
        ("purchase", "2027-Q3"): 2,
        ("rental", "2027-Q1"): 2,
        ("rental", "2027-Q2"): 2,
    }
    built = plan["build"].set_index("period")["kw"]
    assert built.to_dict() == {"2027-Q1": pytest.approx(20)}
    rent = 2 * 20 * (HOURS["2027-Q1"] + HOURS["2027-Q2"])
    boxes = 100_000 * (1 / 5) + 2 * 100_000 * (0.5 / 5)
    walls = 20 * 6_000 * (0.5 / 20)
    assert plan.headline["total_cost"] == pytest.approx(rent + boxes + walls)


def test_power_that_comes_later_delays_what_stands_on_it():
    # 20 kW now and 50 from July: two boxes, then five; the three are rented until then at 20 x 4,344 h.
    case = scenario(
        {
            "periods": quarters(),
            "sites": [hall(), cloud()],
            "site_power": [
                {"site": "hall", "from_date": "2026-01-01", "usable_kw": 20},
                {"site": "hall", "from_date": "2027-06-15", "usable_kw": 50},
            ],
            "offers": [purchase(price=60_000), rental()],
            "demand": demand(YEAR, 5),
        }
    )
    plan = solved(case)
    assert units(plan) == {
        ("purchase", "2027-Q1"): 2,
        ("purchase", "2027-Q3"): 3,
        ("rental", "2027-Q1"): 3,
        ("rental", "2027-Q2"): 3,
    }
    assert plan.headline["total_cost"] == pytest.approx(5 * 60_000 + 3 * 20 * 4_344)
