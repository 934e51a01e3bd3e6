"""PUE against outdoor temperature, and over the calendar of a site."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogs import __file__ as catalog_file
from planner.coefficients.facility.pue import (
    OPTION_COLUMNS,
    design_pue,
    free_cooling,
    free_cooling_hours,
    partial_pue,
    pue_by_cell,
)
from planner.errors import InputError
from planner.inputs import calendar_cells, make_scenario
from planner.tables import HOURS

WATER = {
    "distribution_loss_fraction": 0.06,
    "fan_pump_fraction": 0.04,
    "supply_c": 30.0,
    "approach_k": 10.0,
    "free_cooling_band_k": 10.0,
    "chiller_cop": 5.0,
    "chiller_reference_lift_k": 5.0,
}
PUBLISHED = {  # annual PUE ranges: air with containment; direct-to-chip (two sources span 1.1-1.2)
    "air_containment": (1.3, 1.5),
    "direct_liquid": (1.1, 1.2),
}
IMMERSION_COOLING_PART = (0.02, 0.04)


def shipped(name: str) -> pd.DataFrame:
    return pd.read_csv(catalog_file.replace("__init__.py", f"{name}.csv"))


def annual_pue(cooling: str) -> pd.Series:
    """Mean PUE of an option in each shipped climate, by plain averaging over its 288 month-hours."""
    row = shipped("cooling").set_index("cooling").loc[cooling]
    climate = shipped("climate")
    plant = {name: float(row[name]) for name in OPTION_COLUMNS}
    pue = partial_pue(climate[list(HOURS)].to_numpy(), **plant).mean(axis=1)
    return pd.Series(pue, index=climate["region"]).groupby(level=0).mean()


def test_no_chiller_runs_up_to_supply_minus_approach():
    assert partial_pue(np.array([-30.0, 0.0, 20.0]), **WATER) == pytest.approx(1.10)


def test_the_chiller_takes_over_in_a_straight_line_and_its_cop_falls_with_the_lift():
    # at 25 C: half of 1.04 kW heat; lift 25 - 30 + 20 = 15 against 25 at reference: COP 5 * 25/15 = 8.333
    # at 35 C: all of it at the reference lift, COP 5; at 45 C: lift 35, COP 5 * 25/35 = 3.5714
    expected = [1.10 + 0.5 * 1.04 / (25 / 3), 1.10 + 1.04 / 5, 1.10 + 1.04 / (25 / 7)]
    assert partial_pue(np.array([25.0, 35.0, 45.0]), **WATER) == pytest.approx(expected)


@given(st.lists(st.floats(-50, 60), min_size=2, max_size=20))
def test_it_never_gets_cheaper_to_cool_when_it_is_warmer(temperatures):
    pue = partial_pue(np.sort(np.array(temperatures)), **WATER)
    assert (np.diff(pue) >= -1e-12).all()
    assert (pue >= 1.1 - 1e-12).all()


@pytest.mark.parametrize("cooling", sorted(PUBLISHED))
def test_the_mean_over_the_shipped_climates_lies_in_the_published_range(cooling):
    low, high = PUBLISHED[cooling]
    assert low <= annual_pue(cooling).mean() <= high


def test_every_climate_stays_near_the_published_range_and_liquid_below_one_point_two():
    air = annual_pue("air_containment")
    assert air.between(1.15, 1.6).all()
    assert (annual_pue("direct_liquid") < 1.2).all()
    assert (annual_pue("rear_door") < air).all()


def test_immersion_adds_the_published_two_to_four_percent_for_cooling_alone():
    losses = shipped("cooling").set_index("cooling").loc["immersion", "distribution_loss_fraction"]
    low, high = IMMERSION_COOLING_PART
    assert low <= annual_pue("immersion").mean() - 1 - losses <= high


def test_free_cooling_hours_are_a_plain_count():
    assert free_cooling_hours(np.array([19.9, 20.0, 20.1, -5.0]), supply_c=30.0, approach_k=10.0) == 3


def climate_rows(region: str, base: float) -> list[dict[str, object]]:
    provenance = {"source": "test", "source_date": "2026", "confidence": "estimate"}
    return [
        {"region": region, "month": month, "design_c": base + 20, **provenance}
        | {hour: base + month + at / 10 for at, hour in enumerate(HOURS)}
        for month in range(1, 13)
    ]


def scenario(**changes: object):
    provenance = {"source": "test", "source_date": "2026", "confidence": "estimate"}
    tables: dict[str, object] = {
        "periods": [{"period": "winter", "start_date": "2027-01-01", "months": 2}],
        "fx": [{"currency": "USD", "usd_per_unit": 1.0, **provenance}],
        "sources": [{"source": "test", "title": "t", "location": "here", "kind": "estimate"}],
        "regions": [{"region": "r", "country": "c", "continent": "k", "utc_offset_h": 8, **provenance}],
        "cooling": [
            {"cooling": "water", "medium": "liquid", **WATER, **provenance},
            {"cooling": "hosted", "medium": "hosted", **provenance},
        ],
        "sites": [
            {"site": "hall", "region": "r", "kind": "colo", **provenance},
            {"site": "cloud", "region": "r", "kind": "cloud", **provenance},
        ],
        "facility_options": [{"site": "hall", "cooling": "water"}],
        "climate": climate_rows("r", 20.0),
    }
    settings = {"name": "pue", "discount_rate_fraction": 0.08}
    return make_scenario(settings, {**tables, **changes}, catalog=False)


def test_a_cell_takes_the_temperature_of_its_local_hour():
    case = scenario()
    pue = pue_by_cell(case, calendar_cells(case)).set_index(["site", "month", "day_type", "hour_utc"])["pue"]
    # 20:00 UTC is 04:00 the next local day: February 20 + 2 + 0.4 = 22.4 C
    assert pue.loc["hall", 2, "weekday", 20] == pytest.approx(float(partial_pue(22.4, **WATER)))
    assert (pue.loc["cloud"] == 1.0).all()
    assert len(pue) == 2 * 2 * 2 * 24


def test_the_design_pue_is_that_of_the_hottest_month_of_the_period():
    design = design_pue(scenario()).set_index(["site", "cooling", "period"])["pue"]
    assert design.loc["hall", "water", "winter"] == pytest.approx(float(partial_pue(40.0, **WATER)))
    assert design.loc["cloud", "hosted", "winter"] == 1.0


def test_without_a_design_temperature_the_hottest_mean_hour_counts():
    rows = [{**row, "design_c": None} for row in climate_rows("r", 20.0)]
    design = design_pue(scenario(climate=rows)).set_index("site")["pue"]
    assert design["hall"] == pytest.approx(float(partial_pue(20 + 2 + 2.3, **WATER)))


def test_a_hall_without_twelve_months_of_climate_is_refused():
    case = scenario(climate=climate_rows("r", 20.0)[:11])
    with pytest.raises(InputError, match="twelve months, 11 given"):
        pue_by_cell(case, calendar_cells(case))


def test_an_option_that_chills_needs_all_its_numbers():
    provenance = {"source": "test", "source_date": "2026", "confidence": "estimate"}
    half = {name: value for name, value in WATER.items() if name != "chiller_cop"}
    case = scenario(cooling=[{"cooling": "water", "medium": "liquid", **half, **provenance}])
    with pytest.raises(InputError, match="chiller_cop"):
        design_pue(case)


def test_free_cooling_hours_of_a_period_are_counted_day_by_day():
    limit = WATER["supply_c"] - WATER["approach_k"]
    base = limit - 3.0
    case = scenario(climate=climate_rows("r", base))
    found = free_cooling(case, calendar_cells(case)).set_index(["site", "cooling", "period"])
    # January: base + 1 + at / 10 stays below the limit; February: base + 2 + at / 10 does until ten o'clock.
    hours, free, total = 0, 0, 0.0
    for month, days in ((1, 31), (2, 28)):
        for at in range(24):
            outdoor = base + month + at / 10
            hours, free = hours + days, free + days * (outdoor <= limit)
            total += days * float(partial_pue(outdoor, **WATER))
    row = found.loc["hall", "water", "winter"]
    assert 0 < free < hours
    assert row["free_cooling_hours"] == pytest.approx(free)
    assert row["hours"] == hours
    assert row["pue"] == pytest.approx(total / hours)
    assert len(found) == 1
