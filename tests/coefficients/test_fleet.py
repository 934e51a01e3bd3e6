"""Where a unit may stand, when an order serves, and what stands already."""

from __future__ import annotations

import pytest
from small_scenarios import (
    SAID,
    YEAR,
    box,
    cloud,
    cooling,
    demand,
    hall,
    point,
    purchase,
    quarters,
    region,
    rental,
    scenario,
)

from planner.coefficients.fleet import fleet_units, order_columns, rent_columns, stands, supply_limits
from planner.inputs import period_frame

HOSTED = {"cooling": "hosted", "medium": "hosted", **SAID}


@pytest.fixture(scope="module")
def case():
    """Return two halls and a cloud, servers and a whole rack, every kind of contract, and a lot that stands."""
    return scenario(
        {
            "periods": quarters(),
            "regions": [region(), region("abroad")],
            "sites": [hall("thin"), hall("dense"), cloud(), cloud("cloud abroad", "abroad")],
            "cooling": [cooling("air", 10), cooling("liquid", 80), HOSTED],
            "facility_options": [
                {"site": "thin", "cooling": "air"},
                {"site": "dense", "cooling": "liquid"},
                {"site": "dense", "cooling": "air"},
            ],
            "products": [
                box(
                    "server",
                    12,
                    provisioned_kw=11,
                    idle_kw=3,
                    racks_per_unit=0.25,
                    failures_per_year=4,
                    repair_days=7.3,
                ),
                box("rack", 60, racks_per_unit=1, rack_scale="true", coolings="liquid;air"),
                box("wet", 10, coolings="liquid;hosted", life_years=3),
            ],
            "offers": [
                purchase(
                    "server bought",
                    "server",
                    lead_weeks=12,
                    lead_weeks_low=0,
                    lead_weeks_high=26,
                    install_weeks=1,
                ),
                purchase("server here", "server", sites="dense", available_until="2027-03-31"),
                purchase("rack bought", "rack", 400_000, available_from="2027-04-01"),
                purchase("wet bought", "wet", lead_weeks=60),
                purchase("wet leased", "wet", 3_000, mode="lease", price_unit="unit_month", term_months=9),
                rental(
                    "server spot",
                    "server",
                    mode="spot",
                    interruption_fraction=0.25,
                    regions="abroad",
                    lead_weeks=2,
                    supply_units_per_period=5,
                ),
                rental("wet rented", "wet", rent_step="hour"),
            ],
            "supply": [
                {"offer": "server spot", "period": "2027-Q2", "units": 9},
                {"offer": "wet bought", "period": "2027-Q1", "units": 3},
            ],
            "fleet": [
                {
                    "fleet": "old",
                    "product": "rack",
                    "site": "thin",
                    "cooling": "air",
                    "units": 2,
                    "in_service_date": "2022-07-01",
                },
                {
                    "fleet": "new",
                    "product": "server",
                    "site": "dense",
                    "cooling": "liquid",
                    "units": 4,
                    "in_service_date": "2027-02-10",
                    "retire_date": "2027-12-31",
                },
            ],
            "operating_points": [point("server"), point("rack"), point("wet")],
            "demand": demand(YEAR, 1),
        }
    )


@pytest.fixture(scope="module")
def places(case):
    return stands(case).set_index(["offer", "site", "cooling"])


@pytest.fixture(scope="module")
def periods(case):
    return period_frame(case)


def where(places, offer: str) -> set[tuple[str, str]]:
    return set(places.loc[offer].index)


def test_hardware_stands_in_halls_and_hosted_units_in_clouds(places):
    assert where(places, "server bought") == {("thin", "air"), ("dense", "air"), ("dense", "liquid")}
    assert where(places, "wet rented") == {("cloud", "hosted"), ("cloud abroad", "hosted")}


def test_an_offer_serves_the_sites_and_regions_it_names(places):
    assert where(places, "server here") == {("dense", "air"), ("dense", "liquid")}
    assert where(places, "server spot") == {("cloud abroad", "hosted")}


def test_a_product_stands_under_the_cooling_it_is_made_for(places):
    assert where(places, "wet bought") == {("dense", "liquid")}


def test_a_whole_rack_stands_only_where_a_rack_may_be_so_dense(places):
    # 60 kW in one position: 80 kW a rack allow it, 10 do not.
    assert where(places, "rack bought") == {("dense", "liquid")}


def test_what_stands_already_is_not_asked_whether_it_may(places):
    assert where(places, "fleet:old") == {("thin", "air")}
    assert places.loc[("fleet:old", "thin", "air"), "mode"] == "owned"


def test_a_server_takes_as_many_positions_as_its_power_needs(places):
    # 11 kW provisioned: 1.1 positions at 10 kW a rack; at 80 kW its own quarter is more than 11 / 80.
    racks = places["racks"]
    assert racks["server bought", "thin", "air"] == pytest.approx(1.1)
    assert racks["server bought", "dense", "liquid"] == pytest.approx(0.25)


def test_provisioned_power_is_the_measured_peak_or_else_the_nameplate(places):
    power = places["provisioned_kw"]
    assert power["server bought", "thin", "air"] == 11
    assert power["wet bought", "dense", "liquid"] == 10


def test_a_hosted_unit_draws_none_of_our_power_and_takes_none_of_our_racks(places):
    hosted = places.loc[("server spot", "cloud abroad", "hosted")]
    assert (hosted["provisioned_kw"], hosted["idle_kw"], hosted["racks"]) == (0, 0, 0)


def test_a_unit_is_there_when_it_is_neither_broken_nor_taken_away(places):
    # Four failures of 7.3 days are 0.08 of a year; a spot unit is taken away a quarter of the time besides.
    there = places["availability_fraction"]
    assert there["server bought", "thin", "air"] == pytest.approx(0.92)
    assert there["server spot", "cloud abroad", "hosted"] == pytest.approx(0.92 * 0.75)
    assert there["wet bought", "dense", "liquid"] == 1.0


def orders(case, periods, lead_case: str = "base"):
    table = order_columns(stands(case), periods, lead_case)
    return (
        table[table["site"] == "dense"]
        .set_index(["offer", "cooling", "period"])["in_service_period"]
        .to_dict()
    )


def test_an_order_serves_after_lead_time_and_installation(case, periods):
    # 12 + 1 weeks are a quarter; ordered in the last one nothing serves inside the plan, so there is no order.
    found = orders(case, periods)
    bought = {
        period: serves
        for (offer, kind, period), serves in found.items()
        if (offer, kind) == ("server bought", "air")
    }
    assert bought == {"2027-Q1": "2027-Q2", "2027-Q2": "2027-Q3", "2027-Q3": "2027-Q4"}
    assert not [key for key in found if key[0] == "wet bought"]


@pytest.mark.parametrize(("lead_case", "serves"), [("low", "2027-Q2"), ("high", "2027-Q4")])
def test_the_lead_case_moves_the_day_of_service(case, periods, lead_case, serves):
    # 0 + 1 weeks and 26 + 1 weeks.
    assert orders(case, periods, lead_case)["server bought", "air", "2027-Q1"] == serves


def test_an_offer_is_ordered_while_it_is_on_sale(case, periods):
    found = orders(case, periods)
    assert [key[2] for key in found if key[:2] == ("server here", "air")] == ["2027-Q1"]
    assert [key[2] for key in found if key[0] == "rack bought"] == ["2027-Q2", "2027-Q3", "2027-Q4"]


def test_a_lease_serves_for_its_term_and_a_purchase_for_its_life(case, periods):
    years = order_columns(stands(case), periods, "base").set_index("offer")["service_years"]
    assert years["wet leased"].iloc[0] == 0.75
    assert years["server bought"].iloc[0] == 5.0


def test_a_unit_is_rented_from_the_first_period_after_its_lead_time(case, periods):
    rents = rent_columns(stands(case), periods, "base")
    assert rents.loc[rents["offer"] == "server spot", "period"].to_list() == ["2027-Q2", "2027-Q3", "2027-Q4"]
    hourly = rents[rents["offer"] == "wet rented"]
    assert len(hourly) == 2 * 4
    assert set(hourly["rent_step"]) == {"hour"}


def test_a_lot_serves_from_the_first_period_that_starts_in_its_service_to_its_end(case, periods):
    # The racks of July 2022 live five years: the third quarter starts on the day they are gone. The servers come in
    # February and serve from April on.
    table = fleet_units(case, periods)
    held = {offer: group["period"].to_list() for offer, group in table.groupby("offer")}
    assert held["fleet:old"] == ["2027-Q1", "2027-Q2"]
    assert held["fleet:new"] == ["2027-Q2", "2027-Q3", "2027-Q4"]
    assert table.set_index("offer")["units"]["fleet:old"].to_list() == [2, 2]


def test_a_dated_supply_stands_in_for_the_offers_own(case, periods):
    limits = supply_limits(case, periods).set_index(["offer", "period"])["units"].to_dict()
    assert limits == {
        ("server spot", "2027-Q1"): 5,
        ("server spot", "2027-Q2"): 9,
        ("server spot", "2027-Q3"): 5,
        ("server spot", "2027-Q4"): 5,
        ("wet bought", "2027-Q1"): 3,
    }
