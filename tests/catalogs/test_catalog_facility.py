"""The shipped regions, climate, cooling, tariffs, carbon, round trips, sites and service classes."""

import numpy as np
import pandas as pd
import pytest

from planner.coefficients.electricity.bill_energy import energy_price_by_cell
from planner.coefficients.electricity.tariff import with_windows
from planner.inputs import calendar_cells, make_scenario
from planner.inputs.windows import hour_shares, parse_months
from planner.tables import HOURS

SETTINGS = {"name": "facility", "discount_rate_fraction": 0.08, "catalog_sites": "all"}
PERIODS = [{"period": "y", "start_date": "2027-01-01", "months": 12}]


@pytest.fixture(scope="module")
def shipped():
    return make_scenario(SETTINGS, {"periods": PERIODS})


def test_the_catalogue_reaches_four_continents_with_time_of_use_on_three(shipped):
    sites = shipped.tables["sites"].merge(shipped.tables["regions"], on="region")
    own = sites[sites["kind"] != "cloud"]
    assert {"North America", "Europe", "Asia", "Oceania"} <= set(own["continent"])
    assert own["region"].nunique() >= 25
    tariffs = shipped.tables["tariffs"]
    varying = tariffs.loc[tariffs["hours"].notna() | tariffs["market"].notna(), "tariff"]
    assert own.loc[own["tariff"].isin(varying), "continent"].nunique() >= 4


def test_every_hour_of_the_year_of_every_tariff_has_exactly_one_base_energy_price(shipped):
    tariffs = shipped.tables["tariffs"]
    energy = tariffs[(tariffs["charge"] == "energy") & tariffs["market"].isna()]
    windows = with_windows(energy)
    for tariff, rows in energy.groupby("tariff"):
        cover = np.zeros((2, 12, 24))
        for at in rows.index:
            months = np.array(parse_months(windows.loc[at, "months"])) - 1
            cover[0, months] += hour_shares(windows.loc[at, "weekday"])
            cover[1, months] += hour_shares(windows.loc[at, "weekend"])
        gaps = np.argwhere(cover != 1.0)
        assert len(gaps) == 0, f"{tariff}: kind of day, month, hour {gaps[:3].tolist()}"


def test_every_shipped_hall_pays_a_plausible_mean_energy_price(shipped):
    cells = calendar_cells(shipped)
    table = energy_price_by_cell(shipped, cells).merge(cells, on=["period", "month", "day_type", "hour_utc"])
    paid = (table["price_per_kwh"] * table["hours"]).groupby(table["site"]).sum() / 8760
    kinds = shipped.tables["sites"].set_index("site")["kind"]
    halls = paid[kinds.loc[paid.index] != "cloud"]
    assert halls.between(0.03, 0.35).all(), halls[~halls.between(0.03, 0.35)]
    assert (paid[kinds.loc[paid.index] == "cloud"] == 0).all()


def test_an_indexed_average_tariff_costs_a_flat_load_its_published_average(shipped):
    published = {  # tariff, currency per kWh of a flat load
        "frankfurt_indexed": 0.178,
        "paris_indexed": 0.123,
        "madrid_indexed": 0.127,
        "amsterdam_indexed": 0.163,
        "texas_indexed": 0.066,
        "california_indexed": 0.1864,
    }
    tariffs = shipped.tables["tariffs"].set_index("tariff")
    wholesale = shipped.tables["wholesale"]
    days = pd.Series(pd.date_range("2027-01-01", "2027-12-31").month).value_counts()
    for name, price in published.items():
        rows = wholesale[wholesale["market"] == tariffs.loc[name, "market"]].set_index("month")
        mean = (rows[list(HOURS)].mean(axis=1) * days.reindex(rows.index)).sum() / 365
        assert mean + tariffs.loc[name, "price"] == pytest.approx(price, abs=1e-5)


def test_climate_has_twelve_months_and_a_design_above_the_mean_for_every_hall(shipped):
    climate = shipped.tables["climate"]
    assert (climate.groupby("region")["month"].nunique() == 12).all()
    assert (climate["design_c"] > climate[list(HOURS)].mean(axis=1)).all()
    halls = shipped.tables["sites"].query("kind != 'cloud'")
    assert set(halls["region"]) <= set(climate["region"])


def test_the_afternoon_is_warmer_than_the_night_in_every_climate(shipped):
    climate = shipped.tables["climate"]
    assert (climate["h14"] > climate["h04"]).all()


def test_summer_months_follow_the_hemisphere(shipped):
    climate = shipped.tables["climate"].set_index(["region", "month"])["h12"].unstack()
    south = ["sydney", "melbourne", "johannesburg"]
    north = ["frankfurt", "montreal", "beijing", "tokyo", "n_virginia", "stockholm"]
    assert (climate.loc[south, 1] > climate.loc[south, 7] + 5).all()
    assert (climate.loc[north, 7] > climate.loc[north, 1] + 10).all()


def test_every_region_has_one_average_carbon_intensity(shipped):
    carbon = shipped.tables["carbon"]
    assert set(carbon["region"]) == set(shipped.tables["regions"]["region"])
    assert (carbon["basis"] == "average").all()


def test_round_trips_are_short_at_home_and_mostly_alike_in_both_directions(shipped):
    latency = shipped.tables["latency"].set_index(["from_region", "to_region"])["rtt_ms"]
    wide = latency.unstack()
    home = np.diag(wide.reindex(index=wide.columns))
    assert (home == 2.0).all()
    assert len(home) == len(shipped.tables["regions"])
    difference = (wide - wide.T).abs().stack().dropna()
    assert (difference < 15).mean() > 0.9
    assert set(shipped.tables["latency"]["statistic"]) == {"average", "p95", "estimate"}


def test_averages_and_percentiles_of_round_trips_come_from_their_own_sources(shipped):
    latency = shipped.tables["latency"]
    assert set(latency.loc[latency["statistic"] == "average", "source"]) == {"ibm_cloud_latency"}
    assert set(latency.loc[latency["statistic"] == "p95", "source"]) == {"azure_network_latency"}
    pair = latency.set_index(["from_region", "to_region"]).loc[("frankfurt", "n_virginia")]
    assert pair["statistic"] == "average"  # both sources have it: one statistic rules
    rejected = shipped.tables["conflicts"]
    rejected = rejected[(rejected["table"] == "latency") & (rejected["key"] == "frankfurt|n_virginia")]
    assert rejected["source"].tolist() == ["azure_network_latency"]


def test_build_prices_leave_out_the_cooling_plant_that_is_priced_apart(shipped):
    sites = shipped.tables["sites"].set_index("site")
    assert sites.loc["frankfurt_owned", "build_capex_per_kw"] == 11_600 - 804
    assert sites.loc["singapore_owned", "build_capex_per_kw"] == 14_500 - 1_198


def test_every_cloud_region_of_a_hosted_offer_has_its_site(shipped):
    sites = shipped.tables["sites"]
    clouds = sites[sites["kind"] == "cloud"]
    assert (clouds["site"] == "cloud_" + clouds["region"]).all()
    assert clouds["tariff"].isna().all()
    assert sites.loc[sites["kind"] != "cloud", "tariff"].notna().all()


def test_only_classes_with_nobody_waiting_may_be_deferred(shipped):
    classes = shipped.tables["service_classes"].set_index("service_class")
    assert classes.loc["online_chat", "ttft_ms"] == 200
    assert (classes.loc[classes["ttft_ms"].notna(), "deferral_h"] == 0).all()
    assert classes.loc["offline_batch", ["ttft_ms", "tpot_ms", "e2e_ms"]].isna().all()


def test_an_estimate_says_how_it_was_made(shipped):
    for name in ("cooling", "sites", "climate", "tariffs", "latency", "carbon", "service_classes"):
        table = shipped.tables[name]
        weak = table[table["confidence"] == "estimate"]
        assert weak["notes"].str.len().gt(10).all(), name
