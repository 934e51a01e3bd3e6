"""Leases paid by a calendar: yearly or quarterly, in advance or in arrears, on their days in every ledger."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from small_scenarios import box, demand, hall, line, point, purchase, scenario, solved
from workbook_checks import failed_checks

from planner.errors import InputError
from planner.plan import audit_plan
from planner.plan.finance.commitments import payment_matrix, right_of_use


def plan_of(every: int, where: str, months: int, count: int, **more):
    """Return periods of so many months with one leased box at 10,000 a year for six years, borrowing at 6 %."""
    terms = {"mode": "lease", "price_unit": "unit_month", "term_months": 72}
    lease = purchase("lease", price=10_000 / 12, payment_every_months=every, payment_in=where, **terms | more)
    starts = [pd.Timestamp("2027-01-01") + pd.DateOffset(months=months * at) for at in range(count)]
    names = [f"p{at}" for at in range(count)]
    return solved(
        scenario(
            {
                "periods": [
                    {"period": name, "start_date": start.date().isoformat(), "months": months}
                    for name, start in zip(names, starts, strict=True)
                ],
                "sites": [hall()],
                "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 100}],
                "products": [box(life_years=10)],
                "operating_points": [point("box")],
                "offers": [lease],
                "demand": demand(names, 1),
            },
            loan_rate_fraction=0.06,
        )
    )


def test_six_yearly_payments_in_advance_are_worth_52_124_before_the_first(tmp_path):
    plan = plan_of(12, "advance", 12, 2)
    books = plan["accounting"].groupby("category")["amount"].sum()
    assert books["lease depreciation"] == pytest.approx(52_124, abs=0.5)
    assert books["lease depreciation"] + books["lease interest"] == pytest.approx(60_000)
    # Two years of the horizon, four after it, each payment on the first day of its year.
    cash = plan["cash"].groupby("period", sort=False)["amount"].sum()
    assert cash.to_list() == pytest.approx([10_000.0] * 6)
    assert set(plan["costs"].query("line == 'lease'")["timing"]) == {"start"}
    assert plan["instalments"]["due_date"].to_list() == list(
        pd.date_range("2027-01-01", periods=6, freq="YS")
    )
    assert plan.headline["liability_after_horizon"] == pytest.approx(40_000)
    assert audit_plan(plan).failures.empty
    assert failed_checks(plan, tmp_path) == []
    late = plan["instalments"].assign(due_date=plan["instalments"]["due_date"] + pd.Timedelta(days=1))
    wrong = replace(plan, frames={**plan.frames, "instalments": late})
    assert "instalments" in set(audit_plan(wrong).failures["check"])


def test_what_is_served_but_not_paid_at_the_end_has_accrued():
    # Sixteen months of service; the first year is paid after it, four months are owed with the second.
    plan = plan_of(12, "arrears", 8, 2)
    assert line(plan, "lease") == pytest.approx(10_000)
    assert line(plan, "rent_accrued") == pytest.approx(10_000 * 4 / 12)
    assert plan.headline["liability_after_horizon"] == pytest.approx(50_000)
    assert audit_plan(plan).failures.empty
    costs = plan["costs"]
    more = costs.assign(amount=costs["amount"].where(costs["line"] != "rent_accrued", costs["amount"] * 1.01))
    wrong = replace(plan, frames={**plan.frames, "costs": more})
    assert "cost rent_accrued" in set(audit_plan(wrong).failures["check"])


@pytest.mark.slow
@pytest.mark.parametrize(("every", "where"), [(1, "arrears"), (3, "advance"), (6, "arrears"), (5, "advance")])
def test_every_calendar_pays_the_term_and_leaves_what_is_paid_ahead(every, where, tmp_path):
    plan = plan_of(every, where, 8, 2, upfront_fraction=0.25)
    paid = line(plan, "lease")
    ahead, accrued = line(plan, "prepaid_rent_left"), line(plan, "rent_accrued")
    # Sixteen months of service, whatever is paid when; a quarter of the other 56 was paid up front.
    assert paid + ahead + accrued == pytest.approx(16 * 10_000 / 12)
    assert plan["cash"]["amount"].sum() == pytest.approx(60_000)
    assert audit_plan(plan).failures.empty
    assert failed_checks(plan, tmp_path) == []


def test_a_right_of_use_of_monthly_payments_is_their_annuity():
    calendar = pd.DataFrame({"start_years": [0.0, 1.0], "end_years": [1.0, 2.0]})
    lease = pd.DataFrame({"began_years": [0.0], "term_end_years": [2.0]})
    worth, _, debt = right_of_use(
        lease,
        pd.DataFrame([[600.0, 600.0]]).to_numpy(),
        pd.DataFrame([[0.0, 1.0]]).to_numpy(),
        calendar,
        0.06,
    )
    assert worth[0] == pytest.approx(600 + 600 / 1.06)
    assert debt[0] == pytest.approx([600.0, 0.0])


def test_a_payment_on_the_first_day_of_a_period_is_of_that_period_to_the_last_digit():
    """Five months and six are eleven, but 0.9166666666666666 years by one count and 0.9166666666666667 by the other."""
    held = {"offer": "box", "site": "cloud", "cooling": "hosted"}
    calendar = pd.DataFrame({"period": ["p0", "p1", "p2"], "inside": True})
    calendar = calendar.assign(
        start_years=[0.0, 5 / 12, 5 / 12 + 6 / 12], end_years=[5 / 12, 5 / 12 + 6 / 12, 23 / 12]
    )
    begun = pd.DataFrame([held | {"period": "p0", "began_years": 5 / 12, "term_end_years": 17 / 12}])
    rows = pd.DataFrame({"period": ["p1", "p2"], "amount": [66.0, 132.0], "decided_period": "p0", **held})
    due = [5 / 12, 0.9166666666666666, 17 / 12]
    dated = pd.DataFrame({"period": "p0", "due_years": due, "amount": 66.0, **held})
    amounts, _ = payment_matrix(
        begun.assign(owed_after_horizon=0.0),
        rows.assign(line="reserved_rent", timing="start"),
        calendar,
        dated,
    )
    assert calendar["end_years"][1] > due[1]
    assert amounts.tolist() == [[0.0, 66.0, 132.0]]


def test_a_purchase_has_no_payment_calendar():
    with pytest.raises(InputError, match="payment_every_months"):
        scenario({"offers": [purchase(payment_every_months=12)], "sites": [hall()]})
