"""Load files: equal intervals of local time over whole months, or every fault named."""

import numpy as np
import pandas as pd
import pytest

from planner.errors import InputError
from planner.inputs.meter_load import checked_load, interval_hours, read_meter_load


def hours(first: str = "2027-01-01", last: str = "2027-01-31 23:00", step: str = "h") -> pd.DataFrame:
    return pd.DataFrame({"timestamp": pd.date_range(first, last, freq=step), "kw": 100.0})


def message(load: pd.DataFrame) -> str:
    with pytest.raises(InputError) as caught:
        checked_load(load)
    return str(caught.value)


def test_whole_months_by_the_hour_or_quarter_hour_are_taken():
    assert interval_hours(checked_load(hours())) == 1.0
    quarters = checked_load(hours(last="2027-02-28 23:45", step="15min"))
    assert interval_hours(quarters) == 0.25
    assert len(quarters) == 59 * 96


def test_a_file_with_a_byte_order_mark_is_read_and_its_texts_typed(tmp_path):
    file = tmp_path / "load.csv"
    hours().astype(str).to_csv(file, index=False, encoding="utf-8-sig")
    table = read_meter_load(file)
    assert table["kw"].sum() == 744 * 100
    assert table["timestamp"].iloc[-1] == pd.Timestamp("2027-01-31 23:00")


def test_spring_and_autumn_clock_changes_are_named():
    year = hours(last="2027-12-31 23:00")
    spring = year[year["timestamp"] != "2027-03-28 02:00"]
    assert "23-hour day" in message(spring)
    autumn = pd.concat([year.iloc[:7226], year.iloc[7225:]])  # 2027-10-29 02:00 is a Friday: no clock change
    assert "25-hour day" not in message(autumn)
    late = year.index[year["timestamp"] == "2027-10-31 02:00"][0]
    doubled = pd.concat([year.loc[:late], year.loc[late:]])
    assert "repeats 2027-10-31 02:00:00" in message(doubled)


def test_a_repeated_quarter_hour_block_in_autumn_is_called_a_25_hour_day():
    quarters = hours("2027-10-01", "2027-10-31 23:45", "15min")
    at = quarters.index[quarters["timestamp"] == "2027-10-31 02:45"][0]
    block = quarters.loc[at - 3 : at]
    assert "25-hour day" in message(pd.concat([quarters.loc[:at], block, quarters.loc[at + 1 :]]))


def test_gaps_repeats_and_disorder_are_faults_with_their_row():
    load = hours()
    assert "row 12" in message(load.drop(index=10))
    assert "1 intervals are missing after 2027-01-01 09:00:00" in message(load.drop(index=10))
    assert "repeats 2027-01-01 05:00:00" in message(pd.concat([load.iloc[:6], load.iloc[5:]]))
    swapped = load.iloc[[0, 2, 1, *range(3, len(load))]]
    assert "time runs back" in message(swapped)


def test_a_part_of_a_month_is_refused():
    assert "must start with the first interval of a month" in message(hours("2027-01-02"))
    assert "must end with the last interval of a month" in message(hours(last="2027-01-31 22:00"))


def test_every_bad_cell_is_reported_with_its_value():
    load = hours().astype({"kw": object})
    load.loc[3, "kw"] = "N/A"
    load.loc[4, "kw"] = -5
    load.loc[5, "kw"] = np.inf
    text = message(load)
    assert "row 5, column kw: 'N/A'" in text
    assert "row 6, column kw: '-5'" in text
    assert "row 7, column kw: 'inf'" in text


def test_times_with_a_zone_are_refused_because_the_tariff_is_local():
    load = hours()
    load["timestamp"] = load["timestamp"].dt.tz_localize("UTC").astype(str)
    assert "without zone" in message(load)


def test_empty_tables_missing_columns_and_odd_intervals_are_refused(tmp_path):
    assert "no rows" in message(hours().iloc[:0])
    assert "column kw: column missing" in message(hours()[["timestamp"]])
    assert "intervals are 120 minutes" in message(hours(step="2h"))
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    with pytest.raises(InputError, match="not a CSV table"):
        read_meter_load(empty)
    with pytest.raises(InputError, match="no such file"):
        read_meter_load(tmp_path / "none.csv")
