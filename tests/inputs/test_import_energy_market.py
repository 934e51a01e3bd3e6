"""Day-ahead prices become market rows, and grid carbon a region's intensity that says what it is."""

from pathlib import Path

import pandas as pd
import pytest

from planner.errors import InputError
from planner.inputs import typed_frame
from planner.inputs.importers.day_ahead import import_day_ahead
from planner.inputs.importers.grid_carbon import import_avert, import_electricity_maps
from planner.tables import HOURS

SHARED = Path(__file__).parents[3] / "shared" / "data"


def write(folder: Path, text: str) -> Path:
    file = folder / "file.csv"
    file.write_text(text, encoding="utf-8")
    return file


def platform(first: str, last: str, price) -> str:
    """Return an export of whole local days in Central European time, markers at the clock change only."""
    utc = pd.date_range(first, last, freq="h", tz="UTC", inclusive="left")
    rows = ['"MTU (CET/CEST)","Area","Sequence","Day-ahead Price (EUR/MWh)"']
    change = pd.Timestamp("2026-10-25 01:00", tz="UTC"), pd.Timestamp("2026-03-29 01:00", tz="UTC")
    for moment in utc:
        summer = change[1] <= moment < change[0]
        local = moment + pd.Timedelta(hours=2 if summer else 1)
        near = abs(moment - change[0]) < pd.Timedelta(hours=2)
        mark = f" ({'CEST' if summer else 'CET'})" if near else ""
        rows.append(
            f'"{local:%d/%m/%Y %H:%M:%S}{mark} - later","BZN|EX","Without Sequence","{price(moment)}"'
        )
    return "\n".join(rows)


def test_no_hour_is_lost_or_doubled_at_the_clock_changes(tmp_path):
    # Each hour is priced by its own UTC hour; on the standard clock, an hour ahead, that is the hour before.
    text = platform("2026-02-28T23:00", "2026-10-31T23:00", lambda moment: 10 * moment.hour)
    result = import_day_ahead(write(tmp_path, text), market="ex")
    table = typed_frame("wholesale", result.tables["wholesale"].to_dict("records")).set_index("month")
    assert list(table.index) == [3, 4, 5, 6, 7, 8, 9, 10]
    for hour, name in enumerate(HOURS):
        assert table[name].to_numpy() == pytest.approx(10 * ((hour - 1) % 24) / 1_000)
    assert set(table["currency"]) == {"EUR"}
    assert len(result.rejected) == 0


def test_quarter_hours_are_averaged_negative_prices_kept_and_other_auctions_left_out(tmp_path):
    rows = ["MTU (UTC),Sequence,Day-ahead Price (GBP/MWh)"]
    for moment in pd.date_range("2026-01-01", "2026-02-01", freq="15min", inclusive="left"):
        value = {0: -40, 15: -20, 30: 10, 45: 30}[moment.minute]
        rows.append(f"{moment:%d/%m/%Y %H:%M} - x,Sequence 1,{value}")
        rows.append(f"{moment:%d/%m/%Y %H:%M} - x,Sequence 2,999")
    file = write(tmp_path, "\n".join([*rows, "01/02/2026 00:00 - x,Sequence 1,N/A"]))
    with pytest.raises(InputError, match="several auctions"):
        import_day_ahead(file, market="ex", utc_offset_h=0)
    result = import_day_ahead(file, market="ex", utc_offset_h=0, sequence="Sequence 1")
    row = result.tables["wholesale"].iloc[0]
    assert row[list(HOURS)].to_numpy(float) == pytest.approx(-5 / 1_000)
    assert row["currency"] == "GBP"
    assert dict(zip(result.rejected["reason"], result.rejected["rows"], strict=True)) == {
        "another auction": 31 * 96,
        "no price": 1,
    }
    assert any("744 hours below zero" in note for note in result.notes)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "timestamp,price (EUR/MWh)\n2026-01-01T00:00Z,1",
            {"market": "ex", "utc_offset_h": 0},
            "no whole month",
        ),
        ("timestamp,price (EUR/MWh)\n2026-01-01T00:00Z,1", {"market": "ex"}, "give the area's offset"),
        ("timestamp,price (EUR/MWh)\n2026-01-01T00:00Z,1", {}, "give the market"),
        ("timestamp,cost\n2026-01-01T00:00Z,1", {"market": "ex"}, "no price column"),
        ("MTU (PST),Day-ahead Price (USD/MWh)\nx,1", {"market": "ex"}, "unknown clock PST"),
    ],
)
def test_a_price_file_that_says_too_little_is_refused(tmp_path, text, options, message):
    with pytest.raises(InputError, match=message):
        import_day_ahead(write(tmp_path, text), **options)


HEADERS = (
    "Datetime (UTC),Zone id,Carbon intensity gCO₂eq/kWh (direct),Carbon intensity gCO₂eq/kWh (Life cycle),"
    "Data estimated",
    "Datetime (UTC),Zone Id,Carbon Intensity gCO₂eq/kWh (direct),Carbon Intensity gCO₂eq/kWh (LCA),Data Estimated",
)


@pytest.mark.parametrize("header", HEADERS)
def test_average_carbon_of_both_generations_of_the_header(tmp_path, header):
    hours = [
        f"2026-01-01 {h:02d}:00:00,EX,{100 + h},{200 + 2 * h},{'true' if h < 6 else 'false'}"
        for h in range(24)
    ]
    file = write(tmp_path, "\n".join([header, *hours, "2026-01-02 00:00:00,EX,,,"]))
    for measure, mean in (("lifecycle", 223.0), ("direct", 111.5)):
        result = import_electricity_maps(file, region="r", measure=measure)
        row = typed_frame("carbon", result.tables["carbon"].to_dict("records")).iloc[0]
        assert (row["gco2_per_kwh"], row["basis"]) == (pytest.approx(mean), "average")
    assert any("25% of the hours are estimates" in note for note in result.notes)
    assert result.rejected["rows"].tolist() == [1]


def test_a_carbon_file_with_gaps_or_several_zones_is_refused(tmp_path):
    rows = [HEADERS[0], "2026-01-01 00:00:00,A,1,2,false", "2026-01-01 09:00:00,A,1,2,false"]
    with pytest.raises(InputError, match="missing"):
        import_electricity_maps(write(tmp_path, "\n".join(rows)), region="r")
    with pytest.raises(InputError, match="several zones, name one of A, B"):
        import_electricity_maps(
            write(tmp_path, "\n".join([*rows, "2026-01-01 00:00:00,B,1,2,false"])), region="r"
        )


def test_marginal_carbon_of_avert_is_converted_from_pounds(tmp_path):
    text = "\n".join(["Month,Timestamp,CA,TE", *(f"1,{hour},2.0,1.0" for hour in range(8_760))])
    file = write(tmp_path, text)
    result = import_avert(file, region="r", avert_region="CA")
    row = result.tables["carbon"].iloc[0]
    assert (row["gco2_per_kwh"], row["basis"]) == (pytest.approx(2 * 453.59, abs=0.01), "marginal")
    with pytest.raises(InputError, match="name a column of the file: CA, TE"):
        import_avert(file, region="r", avert_region="NY")
    with pytest.raises(InputError, match="has 3 hours"):
        import_avert(
            write(tmp_path, "Month,Timestamp,CA\n1,0,1\n1,1,1\n1,2,1"), region="r", avert_region="CA"
        )


@pytest.mark.skipif(not SHARED.is_dir(), reason="shared data are not here")
def test_the_stored_avert_year_is_read():
    file = SHARED / "carbon_avert" / "AVERT_2023_CO2_lb_per_kwh_7cols.csv"
    pounds = pd.read_csv(file)["TE"].mean()
    result = import_avert(file, region="r", avert_region="TE")
    assert result.tables["carbon"]["gco2_per_kwh"].iloc[0] == pytest.approx(pounds * 453.59237, abs=0.01)
    maps = SHARED / "format_samples" / "electricity_maps_hourly_v2025.csv"
    assert import_electricity_maps(maps, region="r").tables["carbon"]["gco2_per_kwh"].iloc[
        0
    ] == pytest.approx(257.55)
