"""Weather files of three formats become a year of temperatures and the climate of a region."""

import csv
from pathlib import Path

import numpy as np
import pytest

from planner.coefficients.facility.pue import free_cooling_hours, partial_pue
from planner.errors import InputError
from planner.inputs import typed_frame
from planner.inputs.importers.weather import WEATHER, climate_rows, import_weather, local_year
from planner.inputs.importers.weather_file import DAYS, read_weather
from planner.tables import HOURS

SHARED = Path(__file__).parents[3] / "shared" / "data"
TMY2 = SHARED / "weather" / "12839.tm2"
PVGIS = SHARED / "weather" / "pvgis_tmy_test.csv"
SHORT_EPW = SHARED / "format_samples" / "synthetic_short.epw"
PLANT = {
    "distribution_loss_fraction": 0.06,
    "fan_pump_fraction": 0.05,
    "supply_c": 24.0,
    "approach_k": 9.0,
    "free_cooling_band_k": 10.0,
    "chiller_cop": 4.0,
    "chiller_reference_lift_k": 11.0,
}


def temperature(month: int, day: int, hour: int) -> float:
    """A made-up year: ten degrees a month, a tenth a day, a hundredth an hour."""
    return 10 * month - 70 + day / 10 + hour / 100


def calendar() -> list[tuple[int, int, int]]:
    return [
        (month, day, hour)
        for month in range(1, 13)
        for day in range(1, DAYS[month - 1] + 1)
        for hour in range(24)
    ]


def epw(rows: list[tuple[int, int, int]] | None = None, offset: float = 2.0) -> str:
    header = f"LOCATION,TOWN,-,LAND,X,000000,52.30,4.77,{offset},-2.0\n" + "FILLER\n" * 7
    body = "".join(
        f"{1980 + month},{month},{day},{hour + 1},60,?9,{temperature(month, day, hour):.2f},2.0,80,101325\n"
        for month, day, hour in (calendar() if rows is None else rows)
    )
    return header + body


def pvgis(years: dict[int, int]) -> str:
    """Months of different years, the file in order of those years' months as PVGIS writes it."""
    body = "".join(
        f"{years[month]}{month:02d}{day:02d}:{hour:02d}00,{temperature(month, day, hour):.2f},80,0\n"
        for month, day, hour in calendar()
    )
    return (
        "Latitude (decimal degrees): 45.000\nLongitude (decimal degrees): 8.000\ntime(UTC),T2m,RH,G(h)\n"
        + body
    )


def stored(folder: Path, text: str, name: str = "year.epw") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def message(path: Path, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        import_weather(path, **({"region": "town"} | options))
    return str(caught.value)


def test_an_epw_year_gives_means_by_hour_and_the_99th_percentile_by_month(tmp_path):
    result = import_weather(stored(tmp_path, epw()), region="town", source_date="2026")
    climate = result.tables["climate"].set_index("month")
    # January: mean day is 16.0, so hour 14 is 10 - 70 + 1.6 + 0.14
    assert climate.loc[1, "h14"] == pytest.approx(-58.26)
    days, hours = np.meshgrid(np.arange(1, 32), np.arange(24))
    assert climate.loc[1, "design_c"] == pytest.approx(
        np.percentile(-60 + days / 10 + hours / 100, 99), abs=0.01
    )
    assert set(climate["region"]) == {"town"}
    assert "TOWN, LAND (52.30, 4.77)" in climate.loc[1, "notes"]


def test_the_rows_fit_the_table_as_they_are(tmp_path):
    tables = import_weather(stored(tmp_path, epw()), region="town", source_date="2026").tables
    typed = typed_frame("climate", tables["climate"])
    assert len(typed) == 12
    assert typed[list(HOURS)].notna().all(axis=None)
    assert typed["source"].unique().tolist() == tables["sources"]["source"].tolist() == ["weather_year"]


def test_months_of_different_years_are_ordered_by_month_and_not_by_date(tmp_path):
    years = {month: 2018 if month < 4 else 2005 + month for month in range(1, 13)}
    year = read_weather(stored(tmp_path, pvgis(years), "pvgis.csv"))
    assert year.format == "PVGIS"
    assert year.dry_bulb_c[0] == pytest.approx(temperature(1, 1, 0))
    assert year.dry_bulb_c[-1] == pytest.approx(temperature(12, 31, 23))
    assert (np.diff(year.hours["month"]) >= 0).all()


def test_a_pvgis_file_is_in_utc_and_moves_to_the_clock_of_the_region(tmp_path):
    path = stored(tmp_path, pvgis(dict.fromkeys(range(1, 13), 2018)), "pvgis.csv")
    assert "give the offset" in message(path)
    year = read_weather(path)
    local = local_year(year, 3.0).set_index(["month", "hour"])["dry_bulb_c"]
    # 03:00 on January 1 at +3 is midnight UTC; the first three local hours come from the end of December
    assert local.loc[(1, 3)].iloc[0] == pytest.approx(temperature(1, 1, 0))
    assert local.loc[(1, 0)].iloc[0] == pytest.approx(temperature(12, 31, 21))
    assert local.sum() == pytest.approx(year.dry_bulb_c.sum())
    half = climate_rows(year, 5.5)
    assert half["h06"].iloc[5] == climate_rows(year, 6.0)["h06"].iloc[5]  # whole hours everywhere


def test_an_epw_file_keeps_its_own_clock_unless_told_otherwise(tmp_path):
    path = stored(tmp_path, epw(offset=9.0))
    plain = import_weather(path, region="town").tables["climate"]
    same = import_weather(path, region="town", utc_offset_h=9.0).tables["climate"]
    moved = import_weather(path, region="town", utc_offset_h=8.0)
    assert plain["h10"].equals(same["h10"])
    assert moved.tables["climate"]["h10"].iloc[5] == pytest.approx(plain["h11"].iloc[5])
    assert any("moved by -1 h" in note for note in moved.notes)


def test_a_leap_day_is_left_out(tmp_path):
    rows = calendar()
    leap = [(2, 29, hour) for hour in range(24)]
    year = read_weather(stored(tmp_path, epw([*rows[:1416], *leap, *rows[1416:]])))
    assert len(year.hours) == 8_760


def test_missing_temperatures_and_hours_are_faults_with_their_row(tmp_path):
    text = epw().splitlines()
    text[8 + 5] = text[8 + 5].replace(text[8 + 5].split(",")[6], "99.9")
    path = stored(tmp_path, "\n".join(text))
    assert "row 14, column dry bulb: dry-bulb temperature missing" in message(path)
    short = stored(tmp_path, epw(calendar()[:-1]))
    assert "found 8759 rows" in message(short)
    doubled = stored(tmp_path, epw([*calendar()[:-1], calendar()[0]]))
    assert "each of the 8760 hours of a year once" in message(doubled)


def test_other_files_and_a_missing_region_are_refused(tmp_path):
    assert "neither EPW, TMY2 nor" in message(stored(tmp_path, "a,b\n1,2\n"))
    assert "file is empty" in message(stored(tmp_path, ""))
    assert "no such file" in message(tmp_path / "none.epw")
    assert "give the region" in message(stored(tmp_path, epw()), region=None)
    with pytest.raises(InputError, match="unknown option"):
        WEATHER.run([stored(tmp_path, epw())], {"regions": "town"})


@pytest.mark.skipif(not SHORT_EPW.is_file(), reason="the reference sample is not there")
def test_the_short_epw_sample_is_refused_for_its_missing_codes_and_its_length():
    text = message(SHORT_EPW)
    assert "dry-bulb temperature missing" in text
    assert "found 25 rows" in text


def direct_count(path: Path, read: str) -> list[float]:
    """Temperatures in the order of the file, by the plainest reading of its format."""
    lines = path.read_text().splitlines()
    if read == "tmy2":
        return [int(line[67:71]) / 10 for line in lines[1:]]
    return [float(row["T2m"]) for row in csv.DictReader(lines)]


@pytest.mark.skipif(not TMY2.is_file(), reason="the reference samples are not there")
@pytest.mark.parametrize(("path", "read"), [(TMY2, "tmy2"), (PVGIS, "pvgis")])
def test_free_cooling_hours_and_annual_pue_match_a_direct_count(path, read):
    plain = direct_count(path, read)
    year = read_weather(path)
    assert len(plain) == 8_760
    assert sorted(year.dry_bulb_c.tolist()) == pytest.approx(sorted(plain))
    free = sum(1 for value in plain if value <= 24.0 - 9.0)
    assert free_cooling_hours(year.dry_bulb_c, supply_c=24.0, approach_k=9.0) == free
    total = 0.0
    for value in plain:  # the formula once more, by hand
        share = min(max((value - 15.0) / 10.0, 0.0), 1.0)
        cop = 4.0 * (11.0 + 18.0) / (max(value - 24.0, -9.0) + 18.0)
        total += 1.11 + share * 1.05 / cop
    assert partial_pue(year.dry_bulb_c, **PLANT).mean() == pytest.approx(total / 8_760)


@pytest.mark.skipif(not TMY2.is_file(), reason="the reference samples are not there")
def test_miami_needs_no_free_cooling_and_the_european_sample_much():
    miami, europe = read_weather(TMY2), read_weather(PVGIS)
    assert (miami.format, miami.utc_offset_h, europe.utc_offset_h) == ("TMY2", -5.0, 0.0)
    assert "MIAMI" in miami.place
    assert free_cooling_hours(miami.dry_bulb_c, 24.0, 9.0) == 400
    assert free_cooling_hours(europe.dry_bulb_c, 24.0, 9.0) == 4_922


@pytest.mark.skipif(not TMY2.is_file(), reason="the reference samples are not there")
def test_pue_of_the_mean_hours_stays_close_to_pue_of_every_hour():
    # the plan uses 288 mean temperatures of the year; averaging before a bent curve costs at most a percent
    for path in (TMY2, PVGIS):
        year = read_weather(path)
        rows = climate_rows(year, year.utc_offset_h)
        days = np.array(DAYS)[:, None] / 365
        mean_hours = (partial_pue(rows[list(HOURS)].to_numpy(), **PLANT) * days).sum() / 24
        assert mean_hours == pytest.approx(partial_pue(year.dry_bulb_c, **PLANT).mean(), abs=0.01)
