"""The forecast by distinct hour: means, local time, cases."""

from __future__ import annotations

import numpy as np
import pytest
from scenario_rows import HOURS, STATED, scenario, tables

from planner.inputs import calendar_cells, demand_by_cell
from planner.inputs.demand import forecast, profile_by_hour

CELL = ["period", "month", "day_type", "hour_utc"]


def means(loaded):
    joined = demand_by_cell(loaded).merge(calendar_cells(loaded), on=CELL)
    joined["weighted"] = joined["requests_per_s"] * joined["hours"]
    sums = joined.groupby(["workload", "region", "period"])[["weighted", "hours"]].sum()
    return sums["weighted"] / sums["hours"]


def test_the_mean_over_the_hours_of_a_period_is_exactly_the_forecast():
    rows = tables()
    # Weekends are idle, so weekday hours carry 7/5 of the mean; months have different numbers of weekdays.
    shape = {name: 0.4 + 0.1 * hour for hour, name in enumerate(HOURS)}
    mean = np.mean(list(shape.values()))
    rows["profiles"] = [
        {
            "profile": "day",
            "day_type": "weekday",
            **{k: v / mean * 7 / 5 for k, v in shape.items()},
            **STATED,
        },
        {"profile": "day", "day_type": "weekend", **dict.fromkeys(HOURS, 0.0), **STATED},
    ]
    loaded = scenario(rows)
    assert means(loaded).to_dict() == pytest.approx(
        {(row.workload, row.region, row.period): row.requests_per_s for row in forecast(loaded).itertuples()},
        rel=1e-12,
    )


def test_a_profile_applies_at_the_local_hour_of_the_region():
    loaded = scenario()
    cells = demand_by_cell(loaded).query(
        "workload == 'chat' and period == '2027-Q1' and day_type == 'weekday'"
    )
    rates = cells[cells["month"] == 1].pivot(index="hour_utc", columns="region", values="requests_per_s")
    # Load is 0.5 before 08:00 local and 1.25 after, mean 1. North is UTC+1: its 08:00 is 07:00 UTC.
    # South is UTC+5.5, rounded to 6: its 08:00 is 02:00 UTC and its midnight 18:00 UTC.
    assert rates["north"].tolist() == pytest.approx([20] * 7 + [50] * 16 + [20])
    assert rates["south"].tolist() == pytest.approx([10] * 2 + [25] * 16 + [10] * 6)


def test_a_blank_profile_is_flat():
    rows = tables()
    for row in rows["demand"]:
        row["profile"] = None
    rates = demand_by_cell(scenario(rows)).query("workload == 'embed'")["requests_per_s"]
    assert set(rates) == {5.0}


@pytest.mark.parametrize(("case", "factor"), [("low", 0.8), ("base", 1.0), ("high", 1.5)])
def test_the_demand_case_of_the_settings_is_planned_for(case, factor):
    loaded = scenario(demand_case=case)
    assert means(loaded)["chat", "north", "2027-Q1"] == pytest.approx(40 * factor)


def test_a_case_that_is_not_stated_is_the_base_and_says_so():
    rows = tables()
    rows["demand"][0]["requests_per_s_high"] = None
    loaded = scenario(rows, demand_case="high")
    assert forecast(loaded)["requests_per_s"].iloc[0] == 40
    assert any("1 of 6 rows state only the base case" in warning for warning in loaded.warnings)


def test_output_tokens_per_day_convert_with_the_mean_visible_output():
    rows = tables()
    for row in rows["demand"]:
        if row["workload"] == "chat":
            for name in ("requests_per_s", "requests_per_s_low", "requests_per_s_high"):
                row[name] = None
            row["output_mtok_per_day"] = 864.0
    # Mean output = 0.75 * 100 + 0.25 * 500 = 200 tokens; 864e6 / 86400 / 200 = 50 requests/s.
    assert means(scenario(rows))["chat", "south", "2027-Q2"] == pytest.approx(50)


def test_a_request_without_lengths_counts_one_output_token():
    rows = tables()
    for row in rows["demand"]:
        if row["workload"] == "embed":
            for name in ("requests_per_s", "requests_per_s_low", "requests_per_s_high"):
                row[name] = None
            row["output_mtok_per_day"] = 0.0864
    assert means(scenario(rows))["embed", "north", "2027-Q1"] == pytest.approx(1.0)


def test_a_profile_by_kind_of_day_has_the_weighted_week_for_all_days():
    rows = tables()["profiles"]
    loaded = scenario()
    ratios = profile_by_hour(loaded.tables["profiles"])
    by_type = ratios[ratios["local_hour"] == 12].set_index("day_type")["load_ratio"]
    assert len(rows) == 2
    assert by_type["all"] == pytest.approx((5 * 1.25 + 2 * 1.25) / 7)


def test_a_short_period_in_an_idle_hour_is_taken_as_flat():
    rows = tables()
    rows["periods"] = [{"period": "hour", "start_date": "2027-01-01", "hours": 1}]
    rows["profiles"] = [
        {"profile": "day", "day_type": "all", **dict.fromkeys(HOURS, 24 / 18)}
        | dict.fromkeys(HOURS[:6], 0.0)
        | STATED
    ]
    rows["demand"] = [
        {"workload": "chat", "region": "north", "period": "hour", "requests_per_s": 3, "profile": "day"},
        {"workload": "embed", "region": "north", "period": "hour", "requests_per_s": 1},
    ]
    rows["supply"] = []
    assert demand_by_cell(scenario(rows))["requests_per_s"].tolist() == [3.0, 1.0]
