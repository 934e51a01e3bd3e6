"""Money is a unit: scaling every price, or counting in another currency, scales cost and changes no decision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_coefficients import tiny

from planner.coefficients.money import currency_ratio
from planner.formulation.build import build_model
from planner.formulation.objective import cost_terms, cost_vector
from planner.solve import SolveOptions, solve

EXACT = SolveOptions(gap=0.0)


def scaled(factor: float):
    """Return the tiny case with every amount and budget multiplied."""
    case = tiny()
    costs = {name: table.assign(amount=table["amount"] * factor) for name, table in case.costs.items()}
    return replace(case, costs=costs, budgets=case.budgets.assign(limit=case.budgets["limit"] * factor))


@pytest.fixture(scope="module")
def base():
    return solve(build_model(tiny()).problem, EXACT)


@pytest.mark.parametrize("factor", [0.01, 1_000.0])
def test_scaling_all_money_scales_the_cost_and_changes_no_decision(base, factor):
    other = solve(build_model(scaled(factor)).problem, EXACT)
    assert other.objective == pytest.approx(factor * base.objective, rel=1e-6)
    orders = build_model(tiny()).columns.position("order")
    assert np.round(other.values[orders]).tolist() == np.round(base.values[orders]).tolist()


@pytest.mark.slow
@given(st.floats(1e-3, 1e3))
@settings(max_examples=10, deadline=None)
def test_every_cost_of_the_model_scales_with_the_prices(factor):
    columns = build_model(tiny()).columns
    plain, constant = cost_vector(cost_terms(tiny(), columns), columns.count, with_value=True)
    case = scaled(factor)
    other, other_constant = cost_vector(cost_terms(case, columns), columns.count, with_value=True)
    assert other == pytest.approx(factor * plain, rel=1e-9)
    assert other_constant == pytest.approx(factor * constant, rel=1e-9)


@given(st.floats(0.01, 100.0), st.floats(0.01, 100.0), st.floats(1.0, 1e6))
def test_a_price_in_another_currency_at_its_rate_is_the_same_price(euro, yen, price):
    fx = pd.DataFrame({"currency": ["EUR", "JPY"], "usd_per_unit": [euro, yen]})
    in_euro = price * currency_ratio(fx, pd.Series(["JPY"]), "EUR")[0]
    restated = price * yen / euro
    assert in_euro == pytest.approx(restated)
    assert in_euro * currency_ratio(fx, pd.Series(["EUR"]), "JPY")[0] == pytest.approx(price)


def test_at_discount_rate_zero_present_values_are_plain_sums():
    case = tiny()
    flat = case.periods.assign(discount_start=1.0, discount_mid=1.0, discount_end=1.0)
    terms = cost_terms(replace(case, periods=flat), build_model(case).columns)
    assert (terms["discount_factor"] == 1.0).all()
