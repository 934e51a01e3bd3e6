"""Whether orders move when the plan looks further, and what a term beyond the horizon costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import small_scenarios as case

from planner.analysis.answer import answer_of
from planner.analysis.longer_horizon import Ahead, moved_orders, owed, plan_further
from planner.analysis.sites_study import Study
from planner.pipeline import RunOptions
from planner.units import HOURS_PER_YEAR

EXACT = RunOptions(gap=0.0, baselines=False)
YEARS = [
    {"period": "2027", "start_date": "2027-01-01", "months": 12},
    {"period": "2028", "start_date": "2028-01-01", "months": 12},
]


def reserved(price: float = 10.0, method: str = "full"):
    """Return two years of 4 requests/s: boxes reserved for three years at 10 an hour, or rented at 13."""
    return case.scenario(
        {
            "periods": YEARS,
            "sites": [case.hall(), case.cloud()],
            "offers": [
                case.rental("three years", price=price, mode="reserved", term_months=36, rent_step=None),
                case.rental("rent", price=13.0),
            ],
            "demand": case.demand(["2027", "2028"], 4),
        },
        commitment_method=method,
    )


def forecast(study: Study, requests: float) -> pd.DataFrame:
    rows = study.scenario.tables["demand"]
    return rows[rows["period"] == "2028"].assign(period="2029", requests_per_s=requests)


def orders_of(study: Study, ahead: Ahead) -> pd.Series:
    planned = answer_of(study, study.built, whole=True)
    moved = moved_orders(study, planned, plan_further(study, ahead, whole=True))
    return moved.set_index("offer").loc["three years"]


def test_a_three_year_commitment_in_a_two_year_horizon_never_looks_free():
    # Its third year counts in full: 3 x 10 a box beats 2 x 13 no more; with nothing counted it does, 20 against 26.
    full, free = Study.of(reserved(), EXACT), Study.of(reserved(method="none"), EXACT)
    assert answer_of(full, full.built, whole=True).orders.empty
    planned = answer_of(free, free.built, whole=True)
    assert planned.orders["units"].sum() == pytest.approx(4)
    # Even where the method charges nothing, what is owed after the horizon is listed: 4 boxes x 10 x 8,760 h.
    assert owed(free.coefficients, planned.orders)["owed"].sum() == pytest.approx(
        4 * 10 * HOURS_PER_YEAR, rel=2e-3
    )


def test_a_longer_horizon_shows_that_the_order_leans_on_a_third_year():
    study = Study.of(reserved(method="none"), EXACT)
    idle = orders_of(study, Ahead(1, forecast=forecast(study, 0.0)))
    # With nothing to serve in 2029 the term costs 30 against 26: rent is taken instead.
    assert idle["reading"] == "leaves the first year"
    assert idle["change_units"] == pytest.approx(-4)
    assert idle["owed_after_horizon"] == pytest.approx(4 * 10 * HOURS_PER_YEAR, rel=2e-3)
    busy = orders_of(study, Ahead(1, "flat"))
    assert busy["reading"] == "stays"
    assert busy["owed_after_longer_horizon"] == pytest.approx(0.0, abs=1e-6)


def test_no_plan_for_the_longer_horizon_is_said():
    study = Study.of(reserved(), EXACT)
    scenario = study.scenario
    offers = scenario.tables["offers"].assign(supply_units_per_period=5.0)
    few = Study.of(replace(scenario, tables={**scenario.tables, "offers": offers}), EXACT)
    planned = answer_of(few, few.built, whole=True)
    moved = moved_orders(few, planned, plan_further(few, Ahead(1, forecast=forecast(few, 1e6)), whole=True))
    assert moved["reading"].tolist() == ["infeasible: no plan for the longer horizon"]
    assert np.isnan(moved["units"].astype(float)).all()
