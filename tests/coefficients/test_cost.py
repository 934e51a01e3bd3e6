"""Every amount a decision causes: line, kind, when it is paid, and how much per unit."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import pandas as pd
import pytest
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
    point,
    purchase,
    quarters,
    rental,
    scenario,
    shape,
    workload,
)

from planner.coefficients import Coefficients, build_coefficients, discounted
from planner.inputs import Scenario
from planner.performance import operating_points

EUR = 1.25


def priced(**settings: Any) -> Scenario:
    """Return an owned campus in euros with everything that costs, a hall with rent, and every contract."""
    return scenario(
        {
            "periods": quarters(),
            "fx": [
                {"currency": "USD", "usd_per_unit": 1, **SAID},
                {"currency": "EUR", "usd_per_unit": EUR, **SAID},
            ],
            "carbon": [{"region": "home", "gco2_per_kwh": 400, "basis": "average", **SAID}],
            "residuals": [
                {"asset_class": "accelerator", "age_years": age, "residual_fraction": share, **SAID}
                for age, share in ((0, 0.9), (1, 0.5))
            ],
            "sites": [
                hall("rented", rent_per_kw_month=150, currency="USD"),
                hall(
                    "campus",
                    kind="owned",
                    currency="EUR",
                    opening_cost=80_000,
                    fixed_cost_per_year=40_000,
                    staff_per_mw=5,
                    staff_cost_per_year=60_000,
                    network_cost_per_kw_year=30,
                    build_capex_per_kw=8_000,
                    build_weeks=13,
                    build_life_years=20,
                ),
                cloud(),
            ],
            "cooling": [
                cooling("air", capex_per_kw=1_000, currency="USD", maintenance_fraction_per_year=0.04),
                cooling("liquid", capex_per_kw=1_500, currency="USD", maintenance_fraction_per_year=0.05),
                {"cooling": "hosted", "medium": "hosted", **SAID},
            ],
            "facility_options": [
                {"site": "rented", "cooling": "air"},
                {"site": "campus", "cooling": "air"},
                {"site": "campus", "cooling": "liquid", "capex_per_kw": 2_000},
            ],
            "tariffs": [
                energy(price=0.1),
                demand_charge("peak", 12),
                {**energy("meter", 900), "charge": "fixed", "price_unit": "month"},
            ],
            "products": [
                box(
                    "box", 10, provisioned_kw=9, asset_class="accelerator", maintenance_fraction_per_year=0.06
                )
            ],
            "fleet": [
                {
                    "fleet": "old",
                    "product": "box",
                    "site": "rented",
                    "cooling": "air",
                    "units": 1,
                    "in_service_date": "2025-01-01",
                }
            ],
            "offers": [
                purchase(
                    price=80_000,
                    currency="EUR",
                    installation_fraction=0.05,
                    lead_weeks=10,
                    price_trend_fraction_per_year=-0.19,
                    sites="campus;rented",
                ),
                purchase("dearer", price=200_000, sites="campus"),
                purchase(
                    "lease", price=3_650, mode="lease", price_unit="unit_month", term_months=6, sites="rented"
                ),
                rental("reserved", price=4, mode="reserved", rent_step=None, term_months=6),
                rental("on demand", price=7_300, price_unit="unit_month"),
                rental("spot", price=3, mode="spot", rent_step="hour", price_trend_fraction_per_year=0.21),
            ],
            "workloads": [
                workload(
                    must_serve_fraction=0.6,
                    value_per_mtok=20,
                    success_fraction=0.9,
                    quality_pass_fraction=0.5,
                )
            ],
            "shapes": [shape(input_tokens=100, output_tokens=1_000)],
            "operating_points": [point()],
            "demand": demand(YEAR, 5),
        },
        carbon_price_per_t=50,
        **({"discount_rate_fraction": 0.1, "residual_method": "market"} | settings),
    )


@cache
def coefficients(method: str = "market") -> Coefficients:
    case = priced(residual_method=method)
    return build_coefficients(case, operating_points(case))


def rows(family: str, method: str = "market", **where: str) -> pd.DataFrame:
    """Return the cost rows of a family so labelled."""
    table = coefficients(method).costs[family]
    for name, label in where.items():
        table = table[table[name] == label]
    return table


def amounts(family: str, method: str = "market", **where: str) -> dict[tuple[str, str, str], float]:
    """Return amount by line, period of payment and timing; each occurs once."""
    table = rows(family, method, **where)
    key = list(zip(table["line"], table["paid_period"], table["timing"], strict=True))
    assert len(set(key)) == len(key)
    return dict(zip(key, table["amount"], strict=True))


CAMPUS = {"site": "campus", "cooling": "air"}


def test_a_purchase_is_paid_with_its_installation_at_the_order_and_gives_back_its_market_value():
    # 80,000 euros are 100,000; ordered in April a quarter of a year of falling prices later: 0.81^(1/4) = 0.9487.
    # In service in July, half a year old at the end: half way between 0.9 and 0.5.
    price = 100_000 * 0.81**0.25
    assert amounts("order", offer="purchase", period="2027-Q2", **CAMPUS) == {
        ("hardware_purchase", "2027-Q2", "start"): pytest.approx(price),
        ("installation", "2027-Q2", "start"): pytest.approx(0.05 * price),
        ("hardware_residual", "2027-Q4", "end"): pytest.approx(-0.7 * price),
    }
    assert set(rows("order", offer="purchase")["kind"]) == {"capex"}


def test_by_the_sinking_fund_a_box_loses_what_its_annuity_repays():
    # In service in April at 10 %: 0.75 of 5 years.
    left = 1 - (1.1**0.75 - 1) / (1.1**5 - 1)
    found = amounts("order", "sinking_fund", offer="purchase", period="2027-Q1", **CAMPUS)
    assert found["hardware_residual", "2027-Q4", "end"] == pytest.approx(-100_000 * left)


def test_without_residual_nothing_comes_back():
    assert not (rows("order", "none")["timing"] == "end").any()
    assert not (rows("build_kw", "none")["timing"] == "end").any()


def test_a_lease_is_paid_by_the_month_of_every_period_it_serves():
    # 3,650 a month, 10,950 a quarter; six months from April, and from October what is left of the plan. The quarter
    # beyond it is charged what it exceeds the market rent: a box of 0.8 falls to 0.7, the term took it from 1 to 0.7.
    assert amounts("order", offer="lease", period="2027-Q2") == {
        ("lease", "2027-Q2", "mid"): pytest.approx(10_950),
        ("lease", "2027-Q3", "mid"): pytest.approx(10_950),
    }
    level = {years: (1 - 1.1**-years) / math.log(1.1) for years in (0.25, 0.5)}
    rent = (1 - 0.7 * 1.1**-0.5) / level[0.5] * level[0.25]
    worth = (0.8 - 0.7 * 1.1**-0.25) / rent
    assert amounts("order", offer="lease", period="2027-Q4") == {
        ("lease", "2027-Q4", "mid"): pytest.approx(10_950),
        ("commitment_after_horizon", "2027-Q4", "end"): pytest.approx(
            (1 - worth) * 43_800 * level[0.25], rel=0.01
        ),
    }
    reserved = amounts("order", offer="reserved", period="2027-Q1")
    assert reserved["reserved_rent", "2027-Q2", "mid"] == pytest.approx(4 * HOURS["2027-Q2"])


def test_rent_is_paid_by_the_period_or_by_the_block_with_its_trend():
    assert amounts("rent", offer="on demand", period="2027-Q3") == {
        ("on_demand_rent", "2027-Q3", "mid"): pytest.approx(3 * 7_300)
    }
    # Flat load and price: one block. Half a year at 21 % a year is a factor of 1.1.
    spot = rows("rent_hour", offer="spot", period="2027-Q3")
    assert spot["amount"].to_list() == pytest.approx([3 * 1.1 * HOURS["2027-Q3"]])
    assert (spot["line"].iloc[0], spot["kind"].iloc[0]) == ("spot_rent", "opex")


def test_a_box_that_stands_costs_maintenance_space_staff_and_network():
    # 9 kW provisioned. Maintenance on the lowest purchase price of today, 100,000, a quarter of a year.
    assert amounts("installed", offer="purchase", period="2027-Q3", **CAMPUS) == {
        ("maintenance", "2027-Q3", "mid"): pytest.approx(0.06 * 100_000 / 4),
        ("staff", "2027-Q3", "mid"): pytest.approx(5 / 1_000 * 60_000 * EUR * 9 / 4),
        ("network", "2027-Q3", "mid"): pytest.approx(30 * EUR * 9 / 4),
    }
    assert amounts("installed", offer="fleet:old", period="2027-Q1") == {
        ("maintenance", "2027-Q1", "mid"): pytest.approx(0.06 * 100_000 / 4),
        ("facility_rent", "2027-Q1", "mid"): pytest.approx(150 * 9 * 3),
    }


def test_leased_hardware_is_kept_by_its_owner_and_hosted_units_cost_their_price_alone():
    assert list(amounts("installed", offer="lease", period="2027-Q2")) == [
        ("facility_rent", "2027-Q2", "mid")
    ]
    assert rows("installed", offer="reserved").empty


def test_a_kilowatt_of_hall_is_paid_at_once_kept_up_and_partly_worth_its_price_at_the_end():
    # 8,000 euros of shell; liquid cooling at the site's own 2,000 euros. Ready in April: 0.75 years old.
    shell, plant = 8_000 * EUR, 2_000 * EUR
    left = 1 - (1.1**0.75 - 1) / (1.1**20 - 1)
    assert amounts("build_kw", site="campus", cooling="liquid", period="2027-Q1") == {
        ("facility_build", "2027-Q1", "start"): pytest.approx(shell),
        ("cooling_build", "2027-Q1", "start"): pytest.approx(plant),
        ("facility_residual", "2027-Q4", "end"): pytest.approx(-(shell + plant) * left),
        ("cooling_maintenance", "2027-Q2", "mid"): pytest.approx(plant * 0.05 / 4),
        ("cooling_maintenance", "2027-Q3", "mid"): pytest.approx(plant * 0.05 / 4),
        ("cooling_maintenance", "2027-Q4", "mid"): pytest.approx(plant * 0.05 / 4),
    }
    # The other option has no price of its own at the site: the list price, in its own currency.
    air = amounts("build_kw", site="campus", cooling="air", period="2027-Q1")
    assert air["cooling_build", "2027-Q1", "start"] == pytest.approx(1_000)


def test_nothing_is_built_that_is_ready_after_the_plan_or_at_a_site_of_others():
    built = coefficients("market").builds
    assert set(built["site"]) == {"campus"}
    assert set(built["period"]) == {"2027-Q1", "2027-Q2", "2027-Q3"}


def test_opening_is_paid_once_in_the_first_open_period_and_being_open_in_each():
    costs = {
        period: amounts("open", site="campus", period=period) for period in ("2027-Q2", "2027-Q3", "2027-Q4")
    }
    assert costs["2027-Q2"] == {
        ("site_opening", "2027-Q2", "start"): pytest.approx(80_000 * EUR),
        ("site_opening", "2027-Q3", "start"): pytest.approx(-80_000 * EUR),
        ("site_fixed", "2027-Q2", "mid"): pytest.approx(40_000 * EUR / 4),
        ("tariff_fixed", "2027-Q2", "mid"): pytest.approx(900 * 3),
    }
    # Open from the second quarter on: the one-off remains once.
    once = sum(
        amount for cost in costs.values() for (line, _, _), amount in cost.items() if line == "site_opening"
    )
    assert once == pytest.approx(80_000 * EUR)
    # The rented hall is open by itself; only its meter costs.
    assert list(amounts("open", site="rented", period="2027-Q1")) == [("tariff_fixed", "2027-Q1", "mid")]


def test_a_kilowatt_through_a_block_costs_its_energy_and_its_carbon():
    # 400 g are 0.0004 t at 50.
    hours = HOURS["2027-Q2"]
    assert amounts("grid_kw", site="rented", period="2027-Q2") == {
        ("energy", "2027-Q2", "mid"): pytest.approx(0.1 * hours),
        ("carbon", "2027-Q2", "mid"): pytest.approx(0.0004 * 50 * hours),
    }
    assert rows("grid_kw", site="cloud").empty


def test_a_billed_kilowatt_costs_its_price_in_each_month():
    assert amounts("peak_kw", site="campus", period="2027-Q1") == {
        ("demand_charge", "2027-Q1", "mid"): pytest.approx(12 * 3)
    }


def test_optional_demand_is_worth_its_effective_tokens_at_reference_yield():
    # 1,000 tokens x 0.9 x 0.5 count: 20 per Mtok. Lost on what is not served; what all of it is worth is a constant.
    hours = HOURS["2027-Q1"]
    worth = 20 * 450e-6 * 3_600 * hours
    lost = rows("unserved", period="2027-Q1")
    assert lost["amount"].to_list() == pytest.approx([worth])
    assert set(lost["kind"]) == {"value"}
    constant = rows("constant", period="2027-Q1")
    assert constant["amount"].to_list() == pytest.approx([-worth * 5 * 0.4])


def test_payments_are_discounted_from_the_start_middle_and_end():
    table = pd.DataFrame({"paid_period": ["2027-Q3"] * 3, "timing": ["start", "mid", "end"]})
    found = discounted(table, coefficients("market").periods)
    assert found.to_list() == pytest.approx([1.1**-0.5, 1.1**-0.625, 1.1**-1.0])
