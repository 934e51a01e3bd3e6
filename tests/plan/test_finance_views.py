"""What finance reads from the ledgers: the investment case, chargeback in three views, unit cost by life."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from plan_cases import base_tables, cloud_offer, demand, scenario_of, solved, workload

from planner.inputs import Settings
from planner.pipeline import RunOptions, run_plan
from planner.plan.finance.accounting import OPERATING
from planner.plan.finance.case import investment_frame, life_frame

YEARS = pd.DataFrame(
    {"period": ["2027", "2028"], "start_years": [0.0, 1.0], "years": 1.0, "mid_years": [0.5, 1.5]}
)


def flows(rate: float, *rows: tuple[str, str, str, float]) -> pd.DataFrame:
    """Return cost rows of kind, period, timing, amount with their present value."""
    table = pd.DataFrame(rows, columns=["kind", "period", "timing", "amount"])
    start = table["period"].map({"2027": 0.0, "2028": 1.0})
    years = start + table["timing"].map({"start": 0.0, "mid": 0.5, "end": 1.0})
    return table.assign(discounted=table["amount"] * (1.0 + rate) ** -years, baseline="rent everything")


def case_of(rate: float) -> pd.Series:
    own = flows(rate, ("capex", "2027", "start", 1_000.0), ("capex", "2028", "end", -200.0))
    rent = flows(rate, ("opex", "2027", "mid", 700.0), ("opex", "2028", "mid", 700.0))
    workloads = pd.DataFrame({"workload": ["chat"], "value_per_mtok": [3.0]})
    scenario = SimpleNamespace(
        settings=Settings(name="x", discount_rate_fraction=rate), tables={"workloads": workloads}
    )
    tokens = pd.DataFrame({"workload": ["chat"], "effective_mtok_discounted": [500.0]})
    frames = {"periods": YEARS, "costs": own, "baseline_costs": rent}
    return investment_frame(scenario, frames, tokens).set_index(["baseline", "measure"])["value"]


def test_the_case_against_renting_by_hand():
    value = case_of(0.10)["rent everything"]
    saved = 700 / 1.1**0.5 + 700 / 1.1**1.5 + 200 / 1.1**2 - 1_000
    assert value["NPV"] == pytest.approx(saved)
    assert value["ROI"] == pytest.approx(saved / (1_000 - 200 / 1.1**2))
    assert value["saving on investment"] == pytest.approx(saved / 1_000)
    rate = value["IRR"]
    worth = 700 / (1 + rate) ** 0.5 + 700 / (1 + rate) ** 1.5 + 200 / (1 + rate) ** 2
    assert worth == pytest.approx(1_000)
    # -1,000 at once, 700 after half a year, the missing 300 of 700 on the way to a year and a half.
    assert value["payback"] == pytest.approx(0.5 + 300 / 700)
    missing, second = 1_000 - 700 / 1.1**0.5, 700 / 1.1**1.5
    assert value["discounted payback"] == pytest.approx(0.5 + missing / second)


def test_a_case_that_loses_money_states_why_it_has_no_rate_and_no_payback():
    own = flows(0.1, ("capex", "2027", "start", 1_000.0))
    rent = flows(0.1, ("opex", "2027", "mid", 2.0))
    scenario = SimpleNamespace(
        settings=Settings(name="x", discount_rate_fraction=0.1),
        tables={"workloads": pd.DataFrame({"workload": ["chat"], "value_per_mtok": [np.nan]})},
    )
    frames = {"periods": YEARS, "costs": own, "baseline_costs": rent}
    case = investment_frame(scenario, frames, pd.DataFrame()).set_index("measure")
    assert case["value"][["IRR", "payback", "discounted payback"]].isna().all()
    assert case.loc["IRR", "reason"] == "what is put in does not come back"
    assert case.loc["payback", "reason"] == "not within the horizon"


def test_revenue_over_cost_where_tokens_have_a_value_and_plain_sums_at_rate_zero():
    value = case_of(0.0)
    assert value["rent everything", "NPV"] == pytest.approx(1_400 - 800)
    assert value["no service", "revenue"] == pytest.approx(1_500.0)
    assert value["no service", "ROI"] == pytest.approx((1_500 - 800) / 800)


def expense(plan) -> float:
    books = plan["accounting"]
    inside = plan["finance_periods"].set_index("period")["inside"]
    return float(
        books.loc[
            books["category"].isin(OPERATING) & books["period"].map(inside).astype(bool), "amount"
        ].sum()
    )


@pytest.mark.parametrize("case", ["far_apart", "optional", "bridged"])
def test_three_views_of_the_chargeback_sum_to_the_same_expense(case):
    charged = solved(case)["chargeback"].groupby("view")["amount"].sum()
    assert set(charged.index) == {"by use", "by allocation", "fully loaded"}
    assert charged.to_numpy() == pytest.approx(np.full(3, expense(solved(case))))


def test_the_expense_of_shorter_lives_is_higher_by_their_depreciation():
    plan = solved("limited")
    lives = life_frame(plan.frames, [3.0, 5.0]).set_index("life_years")
    bought = plan["assets"]
    years = 1.0 - bought["in_service_years"]
    extra = (bought["cost"] * years * (1 / 3 - 1 / 5)).sum()
    mtok = plan["tokens"]["effective_mtok"].sum()
    assert lives["expense_per_mtok"][3.0] - lives["expense_per_mtok"][5.0] == pytest.approx(extra / mtok)
    # Every unit of the case has a life of five years, level: the plan's own books.
    assert lives["expense_per_mtok"][5.0] == pytest.approx(expense(plan) / mtok)


def rented_by_the_quarter(rates: tuple[float, ...]):
    """Return the plan of a unit of 700 output tokens/s at 2.50 an hour that must be held whole quarters."""
    tables = base_tables()
    tables["sites"] = [
        {"site": "cloud", "region": "east", "kind": "cloud", "source": "case", "confidence": "estimate"}
    ]
    tables["sites"][0] |= {"source_date": "2026-01-01"}
    tables["site_power"], tables["facility_options"] = [], []
    tables["offers"] = [cloud_offer("gpu", "on_demand", 2.5, rent_step="period")]
    ones = {"success_fraction": 1, "quality_pass_fraction": 1, "retry_fraction": 0, "reasoning_ratio": 1}
    steady = {"minute_peak_input_ratio": 1, "minute_peak_output_ratio": 1, "cached_input_fraction": 0}
    tables["workloads"] = [workload("chat", **ones, **steady)]
    tables["shapes"] = [
        {"workload": "chat", "shape": "one", "share_fraction": 1, "input_tokens": 100, "output_tokens": 100}
    ]
    said = {"source": "case", "source_date": "2026-01-01", "confidence": "estimate"}
    tables["operating_points"] = [
        {
            "point": "p",
            "product": "box",
            "phase": "mixed",
            "workload": "chat",
            "shape": "one",
            "requests_per_s": 7,
            **said,
        }
    ]
    tables["products"][0] |= {"failures_per_year": 0, "repair_days": 0}
    tables["demand"] = demand("chat", "east", rates, None)
    return run_plan(scenario_of(tables, discount_rate_fraction=0.0), RunOptions(baselines=False))


def test_a_unit_used_a_tenth_costs_ten_times_as_much_a_token_and_the_rest_is_its_idle_row():
    full, tenth = rented_by_the_quarter((7.0,) * 4), rented_by_the_quarter((0.7,) * 4)
    assert full.headline["cost_per_mtok_effective"] == pytest.approx(0.992, abs=5e-4)
    assert tenth.headline["cost_per_mtok_effective"] == pytest.approx(9.92, abs=5e-3)
    trend = tenth["unit_cost_trend"]
    assert trend["expense_per_mtok"].to_numpy() == pytest.approx(np.full(4, 9.92), abs=5e-3)
    used = trend["expense_per_mtok"] - trend["idle_expense_per_mtok"]
    assert used.to_numpy() == pytest.approx(np.full(4, 0.992), abs=5e-4)
    assert full["unit_cost_trend"]["idle_expense"].to_numpy() == pytest.approx(np.zeros(4), abs=1e-6)
