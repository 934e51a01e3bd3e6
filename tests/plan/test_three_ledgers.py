"""Economic, accounting and cash ledger: each by hand on one asset, loan or lease, and all three on whole plans."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from plan_cases import solved

from planner.coefficients.orders.commitment import charge_after_horizon
from planner.finance import capital_recovery_factor, net_present_value
from planner.inputs import Settings
from planner.plan.audit.money.write_offs import written_by
from planner.plan.finance.assets import proceeds, tax_deductions, written_off
from planner.plan.finance.calendar import finance_periods
from planner.plan.finance.commitments import right_of_use, service_share
from planner.plan.finance.loans import loan_frame, loan_matrices, loan_rows

CASES = ("limited", "bridged", "far_apart", "owned")


def years_from_2027(count: int) -> pd.DataFrame:
    """Return so many periods of a year."""
    return pd.DataFrame(
        {
            "start_date": pd.date_range("2027-01-01", periods=count, freq="YS"),
            "months": 12.0,
            "hours": 8_760.0,
            "start_years": np.arange(float(count)),
            "years": 1.0,
        },
        index=pd.Index([f"{2027 + year}" for year in range(count)], name="period", dtype="str"),
    )


def asset(**given) -> pd.DataFrame:
    plain = {
        "cost": 1_000.0,
        "book_method": "straight_line",
        "book_life_years": 4.0,
        "book_residual_fraction": 0.1,
        "declining_ratio": 2.0,
        "in_service_years": 0.5,
        "age_years": 0.0,
        "tax_method": "as_books",
        "tax_life_years": np.nan,
        "disposed_years": np.nan,
    }
    return pd.DataFrame([plain | given])


def test_years_after_the_horizon_follow_it_until_the_last_life_is_over():
    calendar = finance_periods(years_from_2027(2), 4.5)
    assert calendar["period"].tolist() == ["2027", "2028", "after year 1", "after year 2", "after year 3"]
    assert calendar["end_date"].iloc[-1] == pd.Timestamp("2032-01-01")
    far = finance_periods(years_from_2027(1), 40.0)
    assert far["period"].iloc[-1] == "after year 11 on"
    assert far["end_years"].iloc[-1] == 40.0


def test_level_depreciation_starts_in_service_and_sums_to_cost_less_residual():
    calendar = finance_periods(years_from_2027(2), 4.5)
    # 900 over four years from mid 2027.
    assert written_off(asset(), calendar)[0] == pytest.approx([112.5, 225.0, 225.0, 225.0, 112.5])
    assert proceeds(asset(), calendar)[0] == pytest.approx([0.0, 0.0, 0.0, 0.0, 100.0])


@pytest.mark.parametrize(
    ("method", "life", "residual"),
    [("straight_line", 4.0, 0.1), ("declining_balance", 4.5, 0.1), ("macrs", 5.0, 0.0)],
)
def test_the_audit_writes_off_the_same_without_the_same_arithmetic(method, life, residual):
    given = {"book_method": method, "book_life_years": life, "book_residual_fraction": residual}
    calendar = finance_periods(years_from_2027(2), 7.0)
    own = [
        1_000.0
        * (
            written_by(method, life, residual, 2.0, 0.5, end)
            - written_by(method, life, residual, 2.0, 0.5, start)
        )
        for start, end in calendar[["start_years", "end_years"]].itertuples(index=False)
    ]
    assert written_off(asset(**given), calendar)[0] == pytest.approx(own)
    assert sum(own) == pytest.approx(1_000.0 * (1.0 - residual))


def test_tax_writes_off_by_macrs_and_the_sale_brings_all_deductions_to_cost_less_residual():
    calendar = finance_periods(years_from_2027(2), 6.0)
    sold_late = asset(tax_method="macrs", tax_life_years=5.0, in_service_years=0.0, book_life_years=6.0)
    # The published shares; sold for 100 in the sixth year, on which nothing is left to deduct.
    assert tax_deductions(sold_late, calendar)[0] == pytest.approx([200, 320, 192, 115.2, 115.2, 57.6 - 100])
    sold_early = asset(tax_method="macrs", tax_life_years=5.0, in_service_years=0.0, book_life_years=3.0)
    assert tax_deductions(sold_early, calendar)[0] == pytest.approx([200, 320, 900 - 520, 0, 0, 0])


def borrowed(calendar, costs: pd.DataFrame, terms: dict[str, float] | None = None, **settings):
    """Return the scenario, loans and payments by category and period of some capex, all of it paid with loans."""
    plain = {"name": "x", "discount_rate_fraction": 0.08, "debt_share_fraction": 1.0}
    classes = terms or {}
    table = pd.DataFrame({"asset_class": list(classes), "loan_term_months": list(classes.values())})
    scenario = SimpleNamespace(settings=Settings(**plain | settings), tables={"depreciation": table})
    periods = calendar[calendar["inside"]].set_index("period")
    periods = periods.assign(running_years=(periods["start_years"] + periods["end_years"]) / 2)
    assets = costs.drop_duplicates(["line", "offer"])[["line", "offer", "asset_class"]]
    loans = loan_frame(scenario, {"costs": costs, "assets": assets}, periods)
    cash, books = loan_rows(scenario, loans, calendar)
    by = cash.pivot_table(index="category", columns="period", values="amount", aggfunc="sum")
    return scenario, loans, by.reindex(columns=calendar["period"]).fillna(0.0), books


def capex(periods: list[str], amounts: list[float], timing="start", asset_class="server") -> pd.DataFrame:
    return pd.DataFrame(
        {
            "line": "hardware_purchase",
            "kind": "capex",
            "period": periods,
            "timing": timing,
            "site": "hall",
            "offer": "box",
            "asset_class": asset_class,
            "amount": amounts,
        }
    )


def test_a_loan_is_level_and_worth_what_was_borrowed_at_its_own_rate():
    calendar = finance_periods(years_from_2027(2), 4.0)
    costs = capex(["2027", "2028"], [1_000.0, 500.0])
    _, _, by, _ = borrowed(calendar, costs, debt_share_fraction=0.6, loan_term_years=3)
    level = 600.0 * capital_recovery_factor(0.08, 3), 300.0 * capital_recovery_factor(0.08, 3)
    paid = by.loc["loan repaid"] + by.loc["loan interest"]
    assert paid.to_list() == pytest.approx([level[0], sum(level), sum(level), level[1]])
    assert by.loc["loan drawn"].to_list() == pytest.approx([-600.0, -300.0, 0.0, 0.0])
    received = net_present_value(0.08, np.array([600.0, 300.0]), np.array([0.0, 1.0]))
    assert net_present_value(0.08, paid.to_numpy(), np.arange(1.0, 5.0)) == pytest.approx(received)


@pytest.mark.parametrize("months", [1, 2, 5, 7, 12, 18, 24, 36])
def test_a_loan_pays_the_same_interest_however_long_the_periods_are(months):
    # Five level payments of 1,000 at 8 %: 5 x 250.456 - 1,000.
    count = -(-36 // months)
    periods = pd.DataFrame(
        {
            "start_date": pd.date_range("2027-01-01", periods=count, freq=f"{months}MS"),
            "months": float(months),
            "hours": 24.0 * 30 * months,
            "start_years": np.arange(count) * months / 12,
            "years": months / 12,
        },
        index=pd.Index([f"p{at}" for at in range(count)], name="period", dtype="str"),
    )
    calendar = finance_periods(periods, 6.0)
    _, _, by, books = borrowed(calendar, capex(["p0"], [1_000.0]))
    assert by.loc["loan interest"].sum() == pytest.approx(5_000 * capital_recovery_factor(0.08, 5) - 1_000)
    assert books["amount"].sum() == pytest.approx(by.loc["loan interest"].sum())
    assert by.loc["loan repaid"].sum() == pytest.approx(1_000.0)


def test_each_class_of_assets_has_its_own_term_paid_month_by_month():
    # 6,000 over 24 months and 9,000 over 120 at 6 % a year, half a percent a month: 265.92 + 99.92.
    calendar = finance_periods(years_from_2027(1), 10.0)
    costs = pd.concat(
        [capex(["2027"], [6_000.0]), capex(["2027"], [9_000.0], asset_class="hall").assign(offer="shell")]
    )
    scenario, loans, by, _ = borrowed(
        calendar,
        costs,
        terms={"server": 24.0, "hall": 120.0},
        loan_rate_fraction=0.06,
        loan_payments_per_year=12,
    )
    paid = (by.loc["loan repaid"] + by.loc["loan interest"]).to_numpy()
    assert paid[:3] / 12 == pytest.approx([265.92 + 99.92, 265.92 + 99.92, 99.92], abs=0.006)
    assert loans.set_index("asset_class")["term_years"].to_dict() == {"server": 2.0, "hall": 10.0}
    drawn, repaid, _, _ = loan_matrices(scenario, loans, calendar)
    assert drawn.sum(axis=1) == pytest.approx(repaid.sum(axis=1))


def test_a_loan_drawn_inside_a_period_on_a_term_that_is_no_whole_number_of_payments_is_paid_off():
    calendar = finance_periods(years_from_2027(2), 4.0)
    _, _, by, books = borrowed(calendar, capex(["2027"], [1_000.0], timing="mid"), loan_term_years=2.5)
    # Drawn mid 2027, level for two and a half years: two payments, and what is left half a year later.
    level = 1_000.0 * 0.08 / (1 - 1.08**-2.5)
    first, second = 80.0, 0.08 * (1_080.0 - level)
    left = (1_080.0 - level) * 1.08 - level
    paid = by.loc["loan repaid"] + by.loc["loan interest"]
    assert paid.to_list() == pytest.approx([0.0, level, level + left * 1.08**0.5, 0.0])
    assert by.loc["loan interest"].to_list() == pytest.approx(
        [0.0, first, second + left * (1.08**0.5 - 1), 0.0]
    )
    # The accounts bear half of the first year's interest in 2027 already.
    accrued = books.set_index("period")["amount"]
    assert accrued["2027"] == pytest.approx(first / 2)


def test_a_lease_on_the_balance_sheet_is_depreciation_and_interest_that_sum_to_its_payments():
    calendar = finance_periods(years_from_2027(2), 3.0)
    lease = pd.DataFrame({"began_years": [0.0], "term_end_years": [3.0]})
    amounts, middle = np.full((1, 3), 100.0), np.array([[0.5, 1.5, 2.5]])
    right, interest, debt = right_of_use(lease, amounts, middle, calendar, 0.10)
    worth = sum(100.0 / 1.1**at for at in (0.5, 1.5, 2.5))
    assert right[0] == pytest.approx(worth)
    assert debt[0] == pytest.approx([100 / 1.1**0.5 + 100 / 1.1**1.5, 100 / 1.1**0.5, 0.0])
    assert interest[0].sum() == pytest.approx(300.0 - worth)
    assert (interest[0] > 0).all()
    assert service_share(lease, calendar)[0] == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("case", CASES)
def test_the_three_ledgers_meet_in_every_cost_line(case):
    table = solved(case)["reconciliation"]
    scale = table["paid_over_life"].abs().max()
    assert (table["economic"] - table["value_at_horizon_end"]).to_numpy() == pytest.approx(
        table["paid_in_horizon"].to_numpy(), abs=1e-9 * scale
    )
    assert table["paid_over_life"].to_numpy() == pytest.approx(
        table["expensed_over_life"].to_numpy(), abs=1e-9 * scale
    )
    costs = solved(case)["costs"]
    counted = costs[costs["kind"].isin(("capex", "opex"))]
    assert table["present_value"].sum() == pytest.approx(counted["discounted"].sum())


@pytest.mark.parametrize("case", CASES)
def test_everything_capitalised_is_written_off_in_the_end(case):
    plan = solved(case)
    books = plan["accounting"]
    written = books.loc[books["category"] == "depreciation", "amount"].sum()
    assert written == pytest.approx(plan["assets"]["cost"].sum())
    closing = plan["book_value"].groupby("asset_class")["closing"].last()
    assert closing.to_numpy() == pytest.approx(np.zeros(len(closing)), abs=1e-3)


def test_idle_capacity_is_a_row_of_its_own_and_used_and_idle_sum_to_what_stands():
    plan = solved("limited")
    books, units = plan["accounting"], plan["used_units"]
    whole = books[(books["line"] == "hardware_purchase") & books["use"].isin(("used", "idle"))]
    by = whole.pivot_table(index="period", columns="use", values="amount", aggfunc="sum")
    hall = units[(units["site"] == "hall") & units["product"].notna()].set_index("period")["used_fraction"]
    assert (by["used"] / by.sum(axis=1)).to_numpy() == pytest.approx(hall[by.index].to_numpy())
    assert (hall < 1.0).all()


def test_a_lease_is_on_the_balance_sheet_and_a_hosted_reservation_is_a_service():
    assert solved("far_apart")["commitments"].query("mode == 'lease'")["capitalised"].all()
    assert not solved("bridged")["commitments"]["capitalised"].any()
    books = solved("far_apart")["accounting"]
    lease = books[books["line"] == "lease"].groupby("category")["amount"].sum()
    assert set(lease.index) == {"lease depreciation", "lease interest"}
    assert lease.sum() == pytest.approx(
        solved("far_apart")["commitments"][["paid_in_horizon", "owed_after_horizon"]].to_numpy().sum()
    )


def commitment(term: float, terms: dict | None = None, **settings) -> tuple[np.ndarray, np.ndarray]:
    """Return the worth of the years left and the charge of 1,000 a month from the first day, horizon two years."""
    shares = pd.DataFrame(
        {"asset_class": "box", "age_years": [0.0, 1.0, 2.0, 3.0], "residual_fraction": [1.0, 0.6, 0.4, 0.3]}
    )
    plain = {"name": "x", "discount_rate_fraction": 0.0}
    scenario = SimpleNamespace(settings=Settings(**plain | settings), tables={"residuals": shares})
    table = pd.DataFrame(
        {
            "price_paid": [1_000.0],
            "asset_class": "box",
            "life_years": 5.0,
            "price_trend_fraction_per_year": np.nan,
        }
    ).assign(**(terms or {}))
    left = max(term - 2.0, 0.0)
    length = pd.DataFrame({"term_years": [term], "left_years": [left], "left_units": [12.0 * left]})
    return charge_after_horizon(scenario, table, length, 2.0)


def test_a_three_year_commitment_in_a_two_year_horizon_is_charged_what_its_last_year_is_not_worth():
    worth, charge = commitment(3.0)
    # The unit loses 70 % in three years, 10 % in the last one, which pays a third: worth 0.1 / (0.7 / 3).
    assert worth[0] == pytest.approx(3 / 7)
    assert charge[0] == pytest.approx((1 - 3 / 7) * 12_000)
    assert commitment(2.0)[1][0] == 0.0
    assert commitment(3.0, commitment_method="full")[1][0] == pytest.approx(12_000)
    assert commitment(3.0, commitment_method="none")[1][0] == 0.0


def test_hosted_hours_reserved_beyond_the_horizon_are_worth_what_they_cost_by_then():
    hosted = {"asset_class": None, "life_years": np.nan, "price_trend_fraction_per_year": -0.1}
    worth, charge = commitment(3.0, terms=hosted)
    assert worth[0] == pytest.approx(0.9**2)
    assert charge[0] == pytest.approx((1 - 0.9**2) * 12_000)
    # Prices that rise or stay charge nothing; all payments left are charged where asked for.
    assert commitment(3.0, terms=hosted | {"price_trend_fraction_per_year": 0.1})[1][0] == 0.0
    assert commitment(3.0, terms=hosted | {"price_trend_fraction_per_year": 0.0})[1][0] == 0.0
    # Of which nothing is said moves as rents of its kind do: no reservation looks free for want of a number.
    unsaid = hosted | {"price_trend_fraction_per_year": np.nan}
    assert commitment(3.0, terms=unsaid)[1][0] == pytest.approx((1 - 0.65**2) * 12_000)
    assert commitment(3.0, terms=unsaid, hosted_rent_trend_fraction_per_year=-0.2)[1][0] == pytest.approx(
        (1 - 0.8**2) * 12_000
    )
    assert commitment(3.0, terms=hosted, commitment_method="full")[1][0] == pytest.approx(12_000)


def test_level_rent_and_samples_of_operation_are_charged_nothing():
    assert commitment(3.0, residual_method="sinking_fund")[1][0] == 0.0
    assert commitment(3.0, residual_method="none")[1][0] == 0.0
    assert commitment(3.0, commitment_horizon_years=2.5)[1][0] == 0.0
