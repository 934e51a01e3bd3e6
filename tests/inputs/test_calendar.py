"""The horizon in real calendar hours."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scenario_rows import STATED

from planner.inputs import calendar_cells, make_scenario, period_frame
from planner.inputs.calendar import local_hours


def horizon(*periods):
    rows = [
        {"period": name, "start_date": start, "months": months, "hours": hours}
        for name, start, months, hours in periods
    ]
    fx = [{"currency": "USD", "usd_per_unit": 1, **STATED}]
    sources = [{"source": "note", "title": "A note", "location": "here", "kind": "estimate"}]
    settings = {"name": "t", "discount_rate_fraction": 0.1}
    return make_scenario(settings, {"periods": rows, "fx": fx, "sources": sources}, catalog=False)


def quarters(year):
    return horizon(*((f"Q{q + 1}", f"{year}-{3 * q + 1:02d}-01", 3, None) for q in range(4)))


def test_quarters_of_2027_have_their_real_hours_and_the_year_has_8760():
    hours = period_frame(quarters(2027))["hours"]
    # 31+28+31 = 90, 30+31+30 = 91, 31+31+30 = 92, 31+30+31 = 92 days
    assert hours.tolist() == [90 * 24, 91 * 24, 92 * 24, 92 * 24]
    assert hours.sum() == 8760


def test_a_leap_year_has_a_day_more():
    scenario = quarters(2028)
    assert period_frame(scenario)["hours"].tolist() == [91 * 24, 91 * 24, 92 * 24, 92 * 24]
    assert calendar_cells(scenario)["hours"].sum() == 8784


def test_cells_count_the_weekdays_of_each_month():
    cells = calendar_cells(horizon(("feb", "2027-02-01", 1, None)))
    # February 2027 starts on a Monday and has 28 days: 20 weekdays and 8 days of weekend.
    by_kind = cells.groupby("day_type")["hours"].agg(["first", "size", "sum"])
    assert by_kind.loc["weekday"].tolist() == [20.0, 24, 480.0]
    assert by_kind.loc["weekend"].tolist() == [8.0, 24, 192.0]
    assert set(cells["month"]) == {2}


def test_cells_sum_to_the_hours_of_every_period():
    scenario = horizon(("year", "2027-01-01", 12, None), ("rest", "2028-01-01", 26, None))
    sums = calendar_cells(scenario).groupby("period")["hours"].sum()
    assert sums["year"] == 8760
    assert sums["rest"] == (pd.Timestamp("2030-03-01") - pd.Timestamp("2028-01-01")).days * 24
    assert len(calendar_cells(scenario).query("period == 'rest'")) == 12 * 2 * 24


def test_a_period_in_hours_is_split_over_the_hours_of_the_day():
    cells = calendar_cells(horizon(("week", "2027-03-01", None, 168)))
    assert cells["hours"].tolist() == [7.0] * 24
    assert set(cells["day_type"]) == {"all"}
    assert set(cells["month"]) == {3}


def test_a_period_shorter_than_a_day_is_one_cell():
    cells = calendar_cells(horizon(("hour", "2027-03-01", None, 1)))
    assert cells[["hour_utc", "hours"]].to_numpy().tolist() == [[0, 1.0]]


def test_distances_count_thirteen_weeks_a_quarter_and_hours_as_they_are():
    scenario = horizon(
        ("month", "2027-01-01", 1, None),
        ("quarter", "2027-02-01", 3, None),
        ("week", "2027-05-01", None, 168),
        ("last", "2027-05-08", None, 24),
    )
    frame = period_frame(scenario)
    assert frame["start_weeks"].tolist() == pytest.approx([0, 13 / 3, 4 * 13 / 3, 4 * 13 / 3 + 1])
    assert frame["start_years"].tolist() == pytest.approx([0, 1 / 12, 4 / 12, 4 / 12 + 168 / 8760])
    assert frame["mid_years"].iloc[1] == pytest.approx(1 / 12 + 1.5 / 12)
    assert frame["ordinal"].tolist() == [0, 1, 2, 3]
    assert frame.index.name == "period"


def test_periods_come_in_order_of_time_whatever_their_order_in_the_table():
    scenario = horizon(("b", "2027-02-01", 1, None), ("a", "2027-01-01", 1, None))
    assert period_frame(scenario).index.tolist() == ["a", "b"]


@pytest.mark.parametrize(("offset", "expected"), [(0, 20), (1, 21), (-3.5, 16), (5.5, 2), (13, 9)])
def test_local_hour_is_utc_plus_the_rounded_offset(offset, expected):
    assert local_hours(np.array([20]), offset).tolist() == [expected]


def test_an_empty_horizon_has_no_cells_but_the_columns():
    cells = calendar_cells(horizon())
    assert cells.empty
    assert cells.columns.tolist() == ["period", "month", "day_type", "hour_utc", "hours"]
