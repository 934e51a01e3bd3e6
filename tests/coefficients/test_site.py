"""Power by date, halls, openings and the demand charges each block is billed by."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from small_scenarios import (
    SAID,
    YEAR,
    cloud,
    cooling,
    demand,
    demand_charge,
    energy,
    hall,
    purchase,
    quarters,
    scenario,
)

from planner.coefficients.blocks import CELL
from planner.coefficients.electricity.billing import Billing, billing
from planner.coefficients.facility.site import build_columns, halls, openings, site_limits
from planner.inputs import period_frame
from planner.inputs.calendar import calendar_cells


@pytest.fixture(scope="module")
def case():
    """Return a rented hall with a tariff of demand charges and an owned one that gets its power in May."""
    elsewhere = {"tariff": "plain"}
    return scenario(
        {
            "periods": quarters(),
            "sites": [
                hall("rented", headroom_fraction=0.1, it_limit_kw=500, racks=20),
                hall(
                    "campus",
                    kind="owned",
                    build_capex_per_kw=5_000,
                    build_weeks=20,
                    build_life_years=20,
                    opening_cost=1_000,
                    **elsewhere,
                ),
                cloud(),
            ],
            "site_power": [
                {"site": "rented", "from_date": "2026-01-01", "usable_kw": 100},
                {"site": "rented", "from_date": "2027-04-01", "usable_kw": 150},
                {"site": "rented", "from_date": "2027-08-20", "usable_kw": 120},
                {"site": "campus", "from_date": "2027-05-02", "usable_kw": 800},
            ],
            "cooling": [
                cooling("air", capex_per_kw=900),
                cooling("liquid", capex_per_kw=1_500),
                {"cooling": "hosted", "medium": "hosted", **SAID},
            ],
            "facility_options": [
                {"site": "rented", "cooling": "air", "capacity_kw": 90},
                {"site": "campus", "cooling": "air"},
                {"site": "campus", "cooling": "liquid", "existing_kw": 50, "capex_per_kw": 2_000},
            ],
            "tariffs": [
                energy(price=0.1),
                demand_charge("any hour", 4),
                demand_charge("summer afternoon", 9, months="6-8", hours="12-18", day_type="weekday"),
                demand_charge("new", 5, start_date="2027-11-16"),
                {**energy(price=0.1), **elsewhere},
            ],
            "offers": [purchase()],
            "demand": demand(YEAR, 2),
        }
    )


@pytest.fixture(scope="module")
def periods(case):
    return period_frame(case)


def test_a_period_has_the_power_of_its_first_day(case, periods):
    # What comes on 2 May or 20 August counts from the next quarter on.
    limits = site_limits(case, periods)
    usable = {site: group["usable_kw"].to_list() for site, group in limits.groupby("site")}
    assert usable == {"rented": [100, 150, 150, 120], "campus": [0, 0, 800, 800]}
    assert limits.groupby("site")["headroom_fraction"].first().to_dict() == {"campus": 0.0, "rented": 0.1}
    assert limits.groupby("site")["it_limit_kw"].first()["rented"] == 500


def test_a_hall_has_what_stands_and_what_one_more_kilowatt_costs(case):
    table = halls(case).set_index(["site", "cooling"])
    assert table["existing_kw"].to_dict() == {
        ("rented", "air"): 0,
        ("campus", "air"): 0,
        ("campus", "liquid"): 50,
    }
    assert table["owned"].to_dict() == {
        ("rented", "air"): False,
        ("campus", "air"): True,
        ("campus", "liquid"): True,
    }
    assert table.loc[("campus", "liquid"), "capex_per_kw"] == 2_000
    assert table.loc[("campus", "air"), "capex_per_kw_cooling"] == 900


def test_only_owned_halls_are_built_and_only_while_they_can_be_ready(case, periods):
    # 20 weeks: two quarters later.
    built = build_columns(halls(case), periods)
    assert set(built["site"]) == {"campus"}
    ready = dict(zip(built["ordinal"], built["in_service_ordinal"], strict=True))
    assert ready == {0: 2, 1: 3}


def test_a_site_can_be_opened_when_it_has_power_and_only_if_that_costs_something(case, periods):
    nowhere = pd.DataFrame({"site": pd.Series(dtype=str), "period": pd.Series(dtype=str)})
    opened = openings(case, periods, site_limits(case, periods), Billing(), nowhere)
    assert opened.to_dict("records") == [
        {"site": "campus", "period": "2027-Q3"},
        {"site": "campus", "period": "2027-Q4"},
    ]
    # Or when a generator can be rented.
    rented = pd.DataFrame({"site": ["campus"], "period": ["2027-Q2"]})
    assert list(openings(case, periods, site_limits(case, periods), Billing(), rented)["period"]) == [
        "2027-Q2", "2027-Q3", "2027-Q4",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def charges(case):
    """Return the charges with every block named after the hour and kind of day it holds."""
    cells = calendar_cells(case)
    assigned = cells.assign(block=cells["day_type"] + " " + cells["hour_utc"].astype(str), label="")
    bill = billing(case, assigned, site_limits(case, period_frame(case)))
    return bill.plain, bill.plain_blocks


def months(charges, component: str) -> dict[str, float]:
    table = charges[0]
    return table[table["component"] == component].set_index("period")["months"].to_dict()


def test_a_charge_counts_the_months_of_the_period_it_holds_in(charges):
    assert months(charges, "any hour") == dict.fromkeys(YEAR, 3.0)
    assert months(charges, "summer afternoon") == {"2027-Q2": 1.0, "2027-Q3": 2.0}
    # From 16 November: half of that month and December.
    assert months(charges, "new") == {"2027-Q4": pytest.approx(1.5)}


def test_a_charge_looks_at_the_blocks_its_hours_touch(charges):
    seen = charges[1]
    summer = seen[(seen["component"] == "summer afternoon") & (seen["period"] == "2027-Q3")]
    assert set(summer["block"]) == {f"weekday {hour}" for hour in range(12, 18)}
    every = seen[(seen["component"] == "any hour") & (seen["period"] == "2027-Q3")]
    assert len(every) == 48


def test_a_site_pays_the_charges_of_its_own_tariff(charges):
    assert set(charges[0]["site"]) == {"rented"}
    assert charges[0].set_index("component")["price_per_kw_month"].to_dict() == {
        "any hour": 4,
        "summer afternoon": 9,
        "new": 5,
    }


def test_no_demand_charge_is_no_row(case):
    plain = case.tables["tariffs"][case.tables["tariffs"]["charge"] == "energy"]
    cells = pd.DataFrame(columns=[*CELL, "label", "hours", "block"])
    free = replace(case, tables={**case.tables, "tariffs": plain})
    bill = billing(free, cells, site_limits(case, period_frame(case)))
    assert bill.plain.empty
    assert bill.plain_blocks.empty
