"""A limit by business line counts the line's part of the forecast, so that limits of all lines add up to the whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tiny_coefficients import tiny

from planner.coefficients.business import forecast_share
from planner.formulation.budget_constraints import budget
from planner.formulation.build import build_model

BUDGETS = pd.DataFrame(
    {
        "budget": ["all", "shop", "bank"],
        "kind": "total",
        "period": np.nan,
        "site": np.nan,
        "line": np.nan,
        "business": [np.nan, "shop", "bank"],
        "limit": 1e6,
    }
)


def two_businesses():
    case = tiny()
    names = ["shop", *["bank"] * (len(case.workloads) - 1)]
    return replace(case, workloads=case.workloads.assign(business=names), budgets=BUDGETS)


def test_shares_of_the_forecast_add_up_in_every_period():
    share = forecast_share(two_businesses())
    assert share.groupby("period")["share_fraction"].sum().to_numpy() == pytest.approx(1.0)
    assert share["share_fraction"].between(0.0, 1.0, inclusive="neither").any()


def test_of_no_demand_nobody_has_a_share():
    case = two_businesses()
    assert forecast_share(replace(case, demand=case.demand.assign(requests_per_s=0.0))).empty


def test_what_businesses_pay_of_a_decision_adds_up_to_the_decision():
    case = two_businesses()
    rows = budget(case, build_model(tiny()).columns)
    table = pd.DataFrame({"row": rows.row, "column": rows.column, "value": rows.value})
    by = table.pivot_table(index="column", columns="row", values="value", aggfunc="sum").fillna(0.0)
    assert (by[1] + by[2]).to_numpy() == pytest.approx(by[0].to_numpy())
    assert (by[1] != by[0]).any()
