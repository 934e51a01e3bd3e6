"""Discounting, annuities, residual value and currencies against their closed forms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.coefficients.money import (
    capital_recovery_factor,
    currency_ratio,
    discount_factor,
    market_residual,
    sinking_fund_residual,
)
from planner.errors import InputError

quick = settings(max_examples=50, derandomize=True, deadline=None, database=None)
RATES = st.floats(0.01, 0.3)


def test_four_quarters_discount_as_much_as_a_year():
    quarterly = 1.08**0.25 - 1
    assert discount_factor(0.08, 1.0) == pytest.approx((1 + quarterly) ** -4)
    assert discount_factor(0.08, np.array([0.0, 0.5])).tolist() == pytest.approx([1.0, 1.08**-0.5])


def test_without_interest_nothing_is_discounted_and_a_payment_is_an_equal_share():
    assert discount_factor(0.0, 7.0) == 1.0
    assert capital_recovery_factor(0.0, 4.0) == 0.25
    assert sinking_fund_residual(
        0.0, np.array([1.0, 4.0, 9.0]), np.array([5.0] * 3)
    ).tolist() == pytest.approx([0.8, 0.2, 0.0])


def test_an_endless_annuity_pays_the_interest():
    assert capital_recovery_factor(0.06, np.inf) == 0.06
    assert capital_recovery_factor(0.06, 300.0) == pytest.approx(0.06, rel=1e-6)


@quick
@given(RATES, st.integers(1, 20))
def test_the_annuity_repays_the_price(rate, years):
    paid = capital_recovery_factor(rate, years) * sum((1 + rate) ** -year for year in range(1, years + 1))
    assert paid == pytest.approx(1.0)


@quick
@given(RATES, st.integers(1, 10), st.integers(1, 10))
def test_price_less_sinking_fund_residual_is_the_annuity_cut_off_at_the_horizon(rate, life, horizon):
    used = min(life, horizon)
    annuity = capital_recovery_factor(rate, life) * sum((1 + rate) ** -year for year in range(1, used + 1))
    left = sinking_fund_residual(rate, np.array([float(horizon)]), np.array([float(life)]))[0]
    assert 1 - left * (1 + rate) ** -used == pytest.approx(annuity)
    assert left == pytest.approx(0.0, abs=1e-12) if horizon >= life else left > 0


TABLE = pd.DataFrame(
    {
        "asset_class": ["chip", "chip", "chip", "hall"],
        "age_years": [3.0, 0.0, 1.0, 0.0],
        "residual_fraction": [0.3, 0.9, 0.6, 1.0],
    }
)


def test_market_value_is_read_between_the_ages_stated_and_flat_beyond_the_last():
    ages = np.array([0.0, 0.5, 1.0, 2.0, 3.0, 8.0])
    found = market_residual(TABLE, pd.Series(["chip"] * 6), ages)
    assert found.tolist() == pytest.approx([0.9, 0.75, 0.6, 0.45, 0.3, 0.3])


def test_what_has_no_class_has_no_market():
    found = market_residual(
        TABLE, pd.Series([np.nan, "hall", "unknown"], dtype="str"), np.array([1.0, 9.0, 1.0])
    )
    assert found.tolist() == [0.0, 1.0, 0.0]


FX = pd.DataFrame({"currency": ["USD", "EUR", "CNY"], "usd_per_unit": [1.0, 1.25, 0.125]})


def test_currencies_convert_through_the_dollar_and_a_blank_is_the_plans_own():
    named = pd.Series(["EUR", "USD", "CNY", np.nan], dtype="str")
    assert currency_ratio(FX, named, "EUR").tolist() == pytest.approx([1.0, 0.8, 0.1, 1.0])


def test_one_currency_throughout_needs_no_rate():
    assert currency_ratio(FX.iloc[:0], pd.Series(["JPY", np.nan], dtype="str"), "JPY").tolist() == [1.0, 1.0]


def test_every_currency_without_a_rate_is_named():
    with pytest.raises(InputError) as caught:
        currency_ratio(FX, pd.Series(["JPY", "GBP", "EUR"], dtype="str"), "USD")
    assert [fault.value for fault in caught.value.faults] == ["GBP", "JPY"]
