"""The workbook's residual value ends with the life of the unit, as the model's does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from small_scenarios import box, demand, hall, line, point, purchase, scenario, solved
from workbook_checks import failed_checks

from reports.calculation.residual import age_weights

SAID = {"source": "case", "source_date": "2026-11-29", "confidence": "estimate"}
LEFT = {0.0: 1.0, 1.0: 0.5, 6.0: 0.1}


def test_a_unit_past_its_life_has_no_market_value():
    table = pd.DataFrame({"asset_class": "gpu", "age_years": [0.0, 6.0], "residual_fraction": [1.0, 0.1]})
    weights = age_weights(table, "gpu", np.array([0.0, 4.0, 5.0, 5.5]), 5.0)
    assert weights[0.0] * 1.0 + weights[6.0] * 0.1 == pytest.approx([1.0, 0.4, 0.0, 0.0])
    assert age_weights(table, "other", np.array([1.0]), 5.0) == {}


def test_calc_credits_only_the_units_that_still_stand(tmp_path):
    plan = solved(
        scenario(
            {
                "periods": [
                    {"period": "first", "start_date": "2027-01-01", "months": 12},
                    {"period": "second", "start_date": "2028-01-01", "months": 6},
                ],
                "sites": [hall()],
                "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 100}],
                "products": [box(asset_class="gpu", life_years=1)],
                "residuals": [
                    {"asset_class": "gpu", "age_years": age, "residual_fraction": left, **SAID}
                    for age, left in LEFT.items()
                ],
                "operating_points": [point("box")],
                "offers": [purchase()],
                "demand": demand(("first", "second"), [2, 2]),
            },
            residual_method="market",
        )
    )
    # Two boxes a year old are gone by the end; two of the second period are half a year old: 75 % of 200,000.
    assert line(plan, "hardware_purchase") == pytest.approx(400_000)
    assert line(plan, "hardware_residual") == pytest.approx(-150_000)
    assert failed_checks(plan, tmp_path) == []
