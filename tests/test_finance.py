"""Finance functions give the published vectors and keep the identities of money over time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import finance
from planner.finance import (
    MACRS_HALF_YEAR,
    annuity_value,
    capital_recovery_factor,
    construction_interest,
    cost_per_mtok,
    declining_balance,
    discount_factor,
    growing_annuity_value,
    internal_rate_of_return,
    loan_balance,
    macrs,
    net_present_value,
    payback,
    rate_of_return,
    sinking_fund_residual,
    straight_line,
    truncated_annuity,
)

RATES = st.just(0.0) | st.floats(1e-6, 0.5)
YEARS = st.floats(0.5, 20.0)


def test_published_annuity_vectors():
    assert capital_recovery_factor(0.07, 20) == pytest.approx(0.09439, abs=5e-6)
    assert capital_recovery_factor(0.07, 25) == pytest.approx(0.0858, abs=5e-5)
    assert capital_recovery_factor(0.0, 20) == 0.05
    assert capital_recovery_factor(-0.02, 20) == pytest.approx(0.040, abs=5e-4)
    assert capital_recovery_factor(0.06, np.inf) == 0.06
    assert 10 * annuity_value(0.05, 20) == pytest.approx(124.62, abs=5e-3)
    assert float(discount_factor(0.07, 10)) == pytest.approx(0.5083493, abs=5e-8)
    assert 2e6 * capital_recovery_factor(0.10, 25) == pytest.approx(0.22e6, rel=2e-3)


def test_construction_interest_of_25_months_at_2_7_percent():
    assert construction_interest(700_000, 0.027, 25) == pytest.approx(18_992.14, abs=5e-3)
    assert construction_interest(700_000, 0.0, 25) == 0.0


def test_truncated_annuity_is_purchase_less_present_value_of_salvage():
    salvage = 100 * sinking_fund_residual(0.08, np.array([3.0]), np.array([5.0]))[0]
    assert 100 - salvage / 1.08**3 == pytest.approx(64.54505745, abs=5e-9)
    assert 100 * truncated_annuity(0.08, 5, 3) == pytest.approx(64.54505745, abs=5e-9)


@given(RATES, YEARS, st.floats(0.0, 1.0))
def test_truncation_and_salvage_agree_for_every_rate_life_and_use(rate, life, share):
    used = share * life
    salvage = float(sinking_fund_residual(rate, np.array([used]), np.array([life]))[0])
    by_salvage = 1.0 - salvage * float(discount_factor(rate, used))
    assert by_salvage == pytest.approx(truncated_annuity(rate, life, used), rel=1e-6, abs=1e-9)


def test_growing_payments_are_worth_their_closed_form():
    by_hand = sum(1.03**year / 1.08**year for year in range(1, 11))
    assert growing_annuity_value(0.08, 0.03, 10) == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize(("recovery", "shares"), MACRS_HALF_YEAR.items())
def test_every_macrs_table_has_one_year_more_than_its_class_and_sums_to_one(recovery, shares):
    assert len(shares) == recovery + 1
    assert sum(shares) == pytest.approx(1.0, abs=1e-9)


def test_five_year_macrs_is_the_published_table():
    assert MACRS_HALF_YEAR[5] == (0.20, 0.32, 0.192, 0.1152, 0.1152, 0.0576)
    times, written = macrs(5, 0.25)
    # In service in April: the first tax year's 20 % falls in the nine months left of it.
    assert np.interp([0.625, 1.0, 2.0], times, written).tolist() == pytest.approx([0.10, 0.20, 0.52])


def test_straight_line_and_double_declining_balance_by_hand():
    times, written = straight_line(5.0, 0.1)
    assert np.interp(2.0, times, written) == pytest.approx(0.36)
    # 40 % of the rest a year, then the level rest: 40, 24, 14.4, then 10.8 twice (21.6 over two years).
    assert np.diff(declining_balance(5.0)[1]) == pytest.approx([0.4, 0.24, 0.144, 0.108, 0.108])


@given(YEARS, st.floats(0.0, 0.9), st.floats(1.0, 3.0))
def test_declining_balance_writes_off_cost_less_residual_and_never_more(life, residual, ratio):
    ages, written = declining_balance(life, residual, ratio)
    assert ages[-1] == pytest.approx(life)
    assert written[-1] == pytest.approx(1.0 - residual)
    assert (np.diff(written) >= -1e-12).all()
    assert (written <= 1.0 - residual + 1e-12).all()


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(0.0, 10.0)), min_size=1, max_size=8))
def test_at_rate_zero_present_value_is_the_plain_sum(flows):
    amounts, years = (np.array(column) for column in zip(*flows, strict=True))
    assert net_present_value(0.0, amounts, years) == pytest.approx(amounts.sum(), abs=1e-6)


@given(RATES, st.floats(1.0, 1e6), st.floats(0.1, 5.0), st.floats(0.01, 0.99))
def test_splitting_a_payment_between_two_places_that_average_its_discount_factor_moves_nothing(
    rate, amount, at, share
):
    early, late = at * share, at * (2.0 - share)
    mean = (discount_factor(rate, early) + discount_factor(rate, late)) / 2.0
    split = net_present_value(rate, np.array([amount / 2, amount / 2]), np.array([early, late]))
    assert split == pytest.approx(amount * float(mean))


def test_rate_of_return_makes_the_present_value_zero():
    amounts, years = np.array([-1000.0, 300.0, 420.0, 680.0]), np.array([0.0, 1.0, 2.0, 3.0])
    rate = internal_rate_of_return(amounts, years)
    assert rate == pytest.approx(0.1634, abs=5e-5)
    assert net_present_value(rate, amounts, years) == pytest.approx(0.0, abs=1e-6)
    halves = internal_rate_of_return(amounts, years / 2.0)
    assert halves == pytest.approx((1.0 + rate) ** 2 - 1.0)


def test_a_case_without_one_rate_of_return_says_so():
    assert np.isnan(internal_rate_of_return(np.array([10.0, 5.0]), np.array([0.0, 1.0])))
    # -100, +230, -132 has two rates: 10 % and 20 %.
    assert np.isnan(internal_rate_of_return(np.array([-100.0, 230.0, -132.0]), np.arange(3.0)))


@pytest.mark.parametrize(
    ("amounts", "reason"),
    [
        ([0.0, 0.0], "no amount differs"),
        ([10.0, 5.0], "nothing has to be put in"),
        ([-10.0, -5.0], "nothing comes back"),
        ([-100.0, 0.2], "does not come back"),
        ([-100.0, 230.0, -132.0], "change sign 2 times"),
        ([100.0, -110.0], "one of borrowing"),
    ],
)
def test_where_no_rate_of_return_means_anything_there_is_none_and_the_reason_is_stated(amounts, reason):
    # -100 and +0.2 a year later solve at -99.8 % a year: a number, but no return.
    rate, stated = rate_of_return(np.array(amounts), np.arange(float(len(amounts))))
    assert np.isnan(rate)
    assert reason in stated


def test_what_comes_back_to_the_cent_has_a_return_of_zero():
    assert rate_of_return(np.array([-100.0, 60.0, 40.0]), np.arange(3.0)) == (0.0, "")


def yearly_payback(*amounts: float, rate: float = 0.0) -> tuple[float, str]:
    """Return the payback of a lump today and savings that flow evenly in each year after it, at their middle."""
    count = len(amounts) - 1
    ends = np.arange(count + 1.0)
    begins = np.maximum(ends - 1.0, 0.0)
    present = np.array(amounts) * (1.0 + rate) ** -((begins + ends) / 2.0)
    return payback(present, begins, ends)


def test_payback_is_when_the_running_sum_stays_positive():
    assert yearly_payback(-100, 40, 40, 40)[0] == pytest.approx(2.5)
    assert yearly_payback(-100_000, *[30_500] * 4)[0] == pytest.approx(100_000 / 30_500)
    # At 10 %, from the middle of each year: 38.139 + 34.672 = 72.811, and 27.189 of 31.520 in the third.
    assert yearly_payback(-100, 40, 40, 40, rate=0.10)[0] == pytest.approx(
        2 + (100 - 40 / 1.1**0.5 - 40 / 1.1**1.5) / (40 / 1.1**2.5)
    )
    assert yearly_payback(-10, 20, -15, 20)[0] == pytest.approx(2.25)


def test_a_lump_pays_back_on_its_day_and_no_sooner():
    # A machine for 100 saves 70 in two years and is worth 60 then: no day before the second year's end.
    flow, begins, ends = np.array([-100.0, 70.0, 60.0]), np.array([0.0, 0.0, 2.0]), np.array([0.0, 2.0, 2.0])
    assert payback(flow, begins, ends) == (2.0, "")
    assert payback(flow[:2], begins[:2], ends[:2])[1] == "not within the horizon"
    # A refund half way through a year counts from there on.
    assert (
        payback(np.array([-10.0, 10.0, 1.0]), np.array([0.0, 0.5, 0.0]), np.array([0.0, 0.5, 1.0]))[0] == 0.5
    )
    # Savings that cover it before are not put off by a later lump.
    assert (
        payback(np.array([-10.0, 40.0, 5.0]), np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0]))[0] == 0.25
    )


def test_what_does_not_differ_has_neither_payback_nor_rate():
    same = np.array([3e8, -3e8 * (1 + 1e-16), 0.1 + 0.2, -0.3])
    at = np.array([0.0, 0.0, 0.125, 0.125])
    assert payback(same, at, at)[1] == "no amount differs"
    assert rate_of_return(same, at)[1] == "no amount differs"
    assert payback(np.array([5.0, 5.0]), np.array([0.0, 1.0]), np.array([1.0, 2.0])) == (
        0.0,
        "nothing is put in before it comes back",
    )


@given(RATES, st.integers(1, 15))
def test_a_loan_repaid_at_its_own_rate_costs_what_was_borrowed(rate, term):
    ages = np.arange(term + 1.0)
    balance = loan_balance(rate, float(term), ages)
    payments = balance[:-1] * (1.0 + rate) - balance[1:]
    assert payments == pytest.approx(np.full(term, capital_recovery_factor(rate, term)), rel=1e-6)
    assert net_present_value(rate, payments, ages[1:]) == pytest.approx(1.0, rel=1e-6)


def test_dollars_an_hour_become_dollars_a_million_tokens():
    assert cost_per_mtok(2.8, 1_000) == pytest.approx(0.7778, abs=5e-5)
    assert cost_per_mtok(5.0, 2_000) == pytest.approx(0.694, abs=5e-4)


def test_an_hour_billed_costs_the_same_idle_only_the_tokens_fall():
    assert cost_per_mtok(2.5, 700) == pytest.approx(0.992, abs=5e-4)
    assert cost_per_mtok(2.5, 700, 0.10) == pytest.approx(9.92, abs=5e-3)


@pytest.mark.parametrize(("life", "expected"), [(3, 1.63), (4, 1.22), (5, 0.98), (6, 0.82)])
def test_the_depreciation_life_moves_the_cost_of_a_productive_hour(life, expected):
    productive_hours = 0.70 * 8_760
    _, written = straight_line(float(life))
    assert 30_000 * written[-1] / life / productive_hours == pytest.approx(expected, abs=5e-3)


def test_rack_price_rolls_up_to_a_gigawatt():
    rack = 3.4e6 + 2.5e6
    assert rack == 5.9e6
    racks_per_gw = 35e9 / rack
    assert racks_per_gw == pytest.approx(5_932, abs=0.5)
    assert 1e6 / racks_per_gw == pytest.approx(168.6, abs=0.05)


def test_every_function_says_what_it_returns():
    for name in dir(finance):
        member = getattr(finance, name)
        if callable(member) and getattr(member, "__module__", "") == "planner.finance":
            assert (member.__doc__ or "").startswith("Return"), name
