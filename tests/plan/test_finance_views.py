"""What finance reads from the ledgers: the investment case, chargeback in three views, unit cost by life."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from plan_cases import base_tables, cloud_offer, demand, scenario_of, solved, workload

from planner.coefficients.build import priced_periods
from planner.inputs import Settings
from planner.pipeline import RunOptions, run_plan
from planner.plan.audit.clock import walked_periods
from planner.plan.finance.accounting import OPERATING
from planner.plan.finance.case import investment_frame, life_frame, residual_rows

YEARS = pd.DataFrame(
    {"period": ["2027", "2028"], "start_years": [0.0, 1.0], "years": 1.0, "running_years": [0.5, 1.5]}
)


def flows(rate: float, *rows: tuple[str, str, str, float]) -> pd.DataFrame:
    """Return cost rows of kind, period, timing, amount with their present value."""
    table = pd.DataFrame(rows, columns=["kind", "period", "timing", "amount"])
    table["line"] = np.where(table["timing"] == "end", "hardware_residual", table["kind"] + " paid")
    start = table["period"].map({"2027": 0.0, "2028": 1.0})
    years = start + table["timing"].map({"start": 0.0, "mid": 0.5, "end": 1.0})
    return table.assign(discounted=table["amount"] * (1.0 + rate) ** -years, baseline="rent everything")


@pytest.mark.parametrize(
    ("bare", "credit", "share"),
    [
        (-50.0, 100.0, 0.5),
        (1e-7, 100.0, np.nan),
        (-1e-7, 100.0, np.nan),
        (-1e-7, 1e-7, np.nan),
        (-50.0, -100.0, np.nan),
        (50.0, -100.0, 0.5),
        (-1e-7, 2e-9, np.nan),
    ],
)
def test_the_rounding_of_sums_is_no_residual_at_which_npv_turns(bare, credit, share):
    """A plan that is its own baseline saves nothing: what is left of the sums has no share."""
    saving = pd.DataFrame({"residual": [False, False, False, True], "discounted": [1e6, -1e6, bare, credit]})
    found = residual_rows(saving, "USD")[1]
    assert found[1] == pytest.approx(share, nan_ok=True)
    assert (found[4] == "") == np.isfinite(share)


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
    # -1,000 at once, 700 in the first year, the missing 300 of 700 in the second.
    assert value["payback in cash"] == value["payback"] == pytest.approx(1 + 300 / 700)
    missing, second = 1_000 - 700 / 1.1**0.5, 700 / 1.1**1.5
    assert value["discounted payback"] == pytest.approx(1 + missing / second)
    assert value["NPV without residual credit"] == pytest.approx(saved - 200 / 1.1**2)
    assert np.isnan(value["residual share at which NPV turns"])


def test_what_only_the_residual_pays_back_is_not_paid_back_in_cash():
    own = flows(0.0, ("capex", "2027", "start", 1_000.0), ("capex", "2028", "end", -400.0))
    rent = flows(0.0, ("opex", "2027", "mid", 400.0), ("opex", "2028", "mid", 400.0))
    case = case_frame(0.0, own, rent)
    value, reason = case["value"], case["reason"]
    assert np.isnan(value["payback in cash"])
    assert reason["payback in cash"] == "not in cash within the horizon"
    assert value["payback"] == value["discounted payback"] == 2.0
    assert reason["payback"] == "by the value credited at the end, not in cash"
    # 800 are saved for 1,000: half of the 400 credited makes it worth it.
    assert (value["NPV"], value["NPV without residual credit"]) == pytest.approx((200.0, -200.0))
    assert value["residual share at which NPV turns"] == pytest.approx(0.5)


def test_against_itself_a_plan_has_no_payback_and_no_rate():
    own = flows(0.1, ("capex", "2027", "start", 0.1 + 0.2), ("opex", "2028", "mid", 7.0))
    same = flows(0.1, ("capex", "2027", "start", 0.3), ("opex", "2028", "mid", 7.0))
    case = case_frame(0.1, own, same)
    assert case["value"]["NPV"] == pytest.approx(0.0, abs=1e-12)
    assert case["value"][["IRR", "payback in cash", "payback", "discounted payback"]].isna().all()
    assert case["reason"]["payback in cash"] == case["reason"]["IRR"] == "no amount differs"


@pytest.mark.parametrize(("timing", "worth"), [("end", -3_319), ("mid", 1_400), ("start", 6_349)])
def test_the_discounting_convention_decides_the_verdict_and_stands_beside_it(timing, worth):
    # 100,000 for a saving of 30,500 a year for four years at 10 %.
    saving = ("rent", [30_500.0] * 4)
    scenario = SimpleNamespace(
        settings=Settings(name="x", discount_rate_fraction=0.1, discount_timing=timing),
        tables={
            "periods": pd.DataFrame(
                {
                    "period": [f"{year}" for year in range(2027, 2031)],
                    "start_date": pd.date_range("2027-01-01", periods=4, freq="YS"),
                    "months": 12.0,
                    "hours": np.nan,
                }
            ),
            "workloads": pd.DataFrame({"workload": ["chat"], "value_per_mtok": [np.nan]}),
        },
    )
    periods = priced_periods(scenario)
    own = pd.DataFrame(
        {"line": "buy", "kind": "capex", "period": ["2027"], "timing": "start", "amount": [1e5]}
    )
    rent = pd.DataFrame({"line": saving[0], "kind": "opex", "period": periods.index, "timing": "mid"})
    rent = rent.assign(amount=saving[1], baseline="rent everything")
    own = own.assign(discounted=own["amount"])
    rent = rent.assign(discounted=rent["amount"] * periods["discount_mid"].to_numpy())
    frames = {"periods": periods.reset_index(), "costs": own, "baseline_costs": rent}
    case = investment_frame(scenario, frames, pd.DataFrame()).set_index("measure")
    assert case.loc["NPV", "value"] == pytest.approx(worth, abs=1.0)
    assert case.loc["payback in cash", "value"] == pytest.approx(100_000 / 30_500)
    assert set(case["convention"]) == {
        f"10 % a year, running cost at the {timing_word(timing)} of its period"
    }
    audited = walked_periods(scenario)
    assert audited["discount_mid"].to_numpy() == pytest.approx(periods["discount_mid"].to_numpy())
    rate = case.loc["IRR", "value"]
    moments = {"end": 1.0, "mid": 0.5, "start": 0.0}[timing] + np.arange(4.0)
    assert (30_500 * (1 + rate) ** -moments).sum() == pytest.approx(100_000)


def timing_word(timing: str) -> str:
    return "middle" if timing == "mid" else timing


def case_frame(rate: float, own: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Return the case of one plan against one baseline, index measure."""
    scenario = SimpleNamespace(
        settings=Settings(name="x", discount_rate_fraction=rate),
        tables={"workloads": pd.DataFrame({"workload": ["chat"], "value_per_mtok": [np.nan]})},
    )
    frames = {"periods": YEARS, "costs": own, "baseline_costs": other}
    return investment_frame(scenario, frames, pd.DataFrame()).set_index("measure")


def test_a_case_that_loses_money_states_why_it_has_no_rate_and_no_payback():
    own = flows(0.1, ("capex", "2027", "start", 1_000.0))
    rent = flows(0.1, ("opex", "2027", "mid", 2.0))
    scenario = SimpleNamespace(
        settings=Settings(name="x", discount_rate_fraction=0.1),
        tables={"workloads": pd.DataFrame({"workload": ["chat"], "value_per_mtok": [np.nan]})},
    )
    frames = {"periods": YEARS, "costs": own, "baseline_costs": rent}
    case = investment_frame(scenario, frames, pd.DataFrame()).set_index("measure")
    assert case["value"][["IRR", "payback in cash", "payback", "discounted payback"]].isna().all()
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
