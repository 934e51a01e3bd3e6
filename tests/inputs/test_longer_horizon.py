"""A scenario with more periods at its end: what goes on, by which rule."""

from __future__ import annotations

import pandas as pd
import pytest
import small_scenarios as case

from planner.errors import InputError
from planner.inputs.longer import longer, next_periods, read_forecast


def two_quarters(**tables):
    demand = [
        {**case.demand(["2027-Q1"], 100)[0], "requests_per_s_high": 110},
        {**case.demand(["2027-Q2"], 120)[0], "requests_per_s_high": 165},
    ]
    return case.scenario(
        {
            "periods": case.quarters(2),
            "sites": [case.hall()],
            "offers": [case.purchase()],
            "demand": demand,
            **tables,
        }
    )


def test_periods_go_on_with_the_length_and_the_kind_of_name_of_the_last():
    added = next_periods(two_quarters().tables["periods"], 3)
    assert added["period"].tolist() == ["2027-Q3", "2027-Q4", "2028-Q1"]
    assert added["start_date"].iloc[-1] == pd.Timestamp("2028-01-01")
    assert added["months"].tolist() == [3.0] * 3


def test_demand_goes_on_at_its_last_growth_or_flat():
    # 100 to 120 in a quarter: 144 and 172.8 after that; the high case 110 to 165 grows by half.
    grown = longer(two_quarters(), 2, "growth").tables["demand"].set_index("period")
    assert grown["requests_per_s"].tolist() == pytest.approx([100, 120, 144, 172.8])
    assert grown["requests_per_s_high"].tolist() == pytest.approx([110, 165, 247.5, 371.25])
    flat = longer(two_quarters(), 2, "flat").tables["demand"]
    assert flat["requests_per_s"].tolist() == [100, 120, 120, 120]


def test_what_names_the_last_period_holds_in_each_added_one_and_a_whole_horizon_grows_with_its_length():
    budgets = [
        {"budget": "all", "kind": "total", "limit": 1000.0},
        {"budget": "Q2", "kind": "total", "limit": 300.0, "period": "2027-Q2"},
    ]
    supply = [{"offer": "purchase", "period": "2027-Q2", "units": 7}]
    limits = [{"limit": "water", "kind": "water_m3", "year": 2027, "amount": 50.0}]
    tables = longer(two_quarters(budgets=budgets, supply=supply, resource_limits=limits), 4).tables
    limit = tables["budgets"].set_index("budget")["limit"]
    assert limit["all"] == pytest.approx(3000.0)
    assert limit["Q2"] == limit["Q2 2028-Q2"] == 300.0
    assert tables["supply"].set_index("period")["units"]["2027-Q3"] == 7
    assert tables["resource_limits"]["year"].tolist() == [2027, 2028]


def test_a_given_forecast_takes_the_place_of_a_rule_and_names_only_added_periods(tmp_path):
    path = tmp_path / "later.csv"
    path.write_text("workload,region,period,requests_per_s\nchat,home,2027-Q3,7\n", encoding="utf-8")
    given = longer(two_quarters(), 1, forecast=read_forecast(path, ["2027-Q3"])).tables["demand"]
    assert given["requests_per_s"].tolist() == [100, 120, 7]
    with pytest.raises(InputError, match=r"2027-Q3.*allowed: 2028-Q1"):
        read_forecast(path, ["2028-Q1"])
