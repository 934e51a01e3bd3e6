"""Existing lots on the books: written off over what is left of the book life of their class, by its method."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from small_scenarios import box, demand, hall, point, purchase, scenario

from planner.inputs import Settings
from planner.pipeline import RunOptions, run_plan
from planner.plan import audit_plan
from planner.plan.audit.money.write_offs import own_write_offs
from planner.plan.finance.assets import proceeds, written_off
from planner.plan.finance.calendar import finance_periods
from planner.plan.finance.lots import lot_assets

YEARS = pd.DataFrame(
    {
        "start_date": pd.date_range("2027-01-01", periods=3, freq="YS"),
        "months": 12.0,
        "hours": [8_760.0, 8_784.0, 8_760.0],
        "start_years": np.arange(3.0),
        "years": 1.0,
    },
    index=pd.Index(["2027", "2028", "2029"], name="period", dtype="str"),
)
SAID = {"source": "case", "source_date": "2026-11-29", "confidence": "estimate"}


def register(lot: dict, policy: dict, out: tuple[tuple[str, float], ...] = ()) -> pd.DataFrame:
    """Return the register of one lot with 80 on the books, of a product that lasts eight years."""
    plain = {
        "fleet": "old",
        "product": "box",
        "units": 4.0,
        "in_service_date": "2024-01-01",
        "retire_date": None,
        "purchase_price": np.nan,
        "book_value": 80.0,
        "site": "hall",
        "cooling": "air",
    }
    fleet = pd.DataFrame([plain | lot])
    for name in ("in_service_date", "retire_date"):
        fleet[name] = pd.to_datetime(fleet[name])
    terms = {
        "asset_class": "server",
        "book_method": "straight_line",
        "book_life_years": np.nan,
        "book_residual_fraction": np.nan,
        "declining_ratio": np.nan,
    }
    tables = {
        "fleet": fleet,
        "products": pd.DataFrame({"product": ["box"], "asset_class": ["server"], "life_years": [8.0]}),
        "depreciation": pd.DataFrame([terms | policy]),
    }
    settings = Settings(name="x", discount_rate_fraction=0.08)
    retired = pd.DataFrame(
        {"offer": "fleet:old", "period": [period for period, _ in out], "units": [units for _, units in out]}
    )
    fixed = SimpleNamespace(settings=settings, tables=tables)
    return lot_assets(fixed, SimpleNamespace(periods=YEARS), {"retirements": retired})


@pytest.mark.parametrize(
    ("lot", "policy", "expected"),
    [
        # In service for three of five years of book life: 80 over two years, whatever the product's eight are.
        ({}, {"book_life_years": 5.0}, [40, 40, 0]),
        ({}, {}, [16, 16, 16]),
        # Retired a year from now: what is left is written off until then.
        ({"retire_date": "2028-01-01"}, {"book_life_years": 5.0}, [80, 0, 0]),
        # Kept in use beyond its book life: the books end with the class.
        ({"retire_date": "2032-01-01"}, {"book_life_years": 5.0}, [40, 40, 0]),
        ({"retire_date": "2032-01-01"}, {}, [16, 16, 16]),
        # No book life left: at once.
        ({"in_service_date": "2020-01-01"}, {"book_life_years": 5.0}, [80, 0, 0]),
        # A tenth of 400 is kept: 40 over two years; of an unstated price, the one whose level schedule leaves 80.
        ({"purchase_price": 100.0}, {"book_life_years": 5.0, "book_residual_fraction": 0.1}, [20, 20, 0]),
        ({}, {"book_life_years": 5.0, "book_residual_fraction": 0.1}, [(80 - 0.1 * 80 / 0.46) / 2] * 2 + [0]),
        # 40 % of the book value a year, level over the years left once that is more.
        (
            {"in_service_date": "2026-01-01"},
            {"book_method": "declining_balance", "book_life_years": 5.0},
            [32.0, 19.2, 14.4],
        ),
        # Shares 0.192, 0.1152, 0.1152, 0.0576 of the original cost are still to come.
        (
            {"in_service_date": "2025-01-01"},
            {"book_method": "macrs", "book_life_years": 5.0},
            [32.0, 19.2, 19.2],
        ),
        # Not yet in service: its life begins then.
        ({"in_service_date": "2028-01-01"}, {"book_life_years": 4.0}, [0, 20, 20]),
    ],
)
def test_a_lot_is_written_off_on_the_schedule_of_its_class_from_the_age_it_has(lot, policy, expected):
    assets = register(lot, policy)
    calendar = finance_periods(YEARS, 12.0)
    off = written_off(assets, calendar)[0]
    assert off[:3] == pytest.approx(expected, rel=1e-9, abs=1e-6)
    assert off.sum() + proceeds(assets, calendar)[0].sum() == pytest.approx(80.0)
    own = (
        own_write_offs(assets, calendar)
        .groupby("period")["amount"]
        .sum()
        .reindex(calendar["period"])
        .fillna(0.0)
    )
    assert own.to_numpy() == pytest.approx(off, abs=1e-6)


def test_units_taken_out_leave_the_books_with_the_day_and_the_rest_goes_on():
    assets = register({}, {"book_life_years": 5.0}, out=(("2028", 2.0),))
    off = written_off(assets, finance_periods(YEARS, 12.0)).sum(axis=0)
    # Half of the lot is sold a year from now with 20 left of its 40, which go with the sale.
    assert off[:3] == pytest.approx([40.0, 40.0, 0.0], abs=1e-6)


@pytest.mark.parametrize(
    "policy", [{"book_life_years": 4, "book_residual_fraction": 0.2}, {"book_life_years": 2}]
)
def test_a_plan_of_a_fleet_with_book_lives_of_its_own_passes_its_audit(policy):
    plan = run_plan(
        scenario(
            {
                "periods": [
                    {"period": "first", "start_date": "2027-01-01", "months": 7},
                    {"period": "second", "start_date": "2027-08-01", "months": 17},
                ],
                "sites": [hall()],
                "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 100}],
                "products": [box("old", asset_class="server", life_years=8)],
                "residuals": [
                    {"asset_class": "server", "age_years": 0, "residual_fraction": 1, **SAID},
                    {"asset_class": "server", "age_years": 5, "residual_fraction": 0.2, **SAID},
                ],
                "depreciation": [
                    {"asset_class": "server", "book_method": "declining_balance", **SAID} | policy
                ],
                "operating_points": [point("old")],
                "offers": [purchase(product="old")],
                "fleet": [
                    {
                        "fleet": "old",
                        "product": "old",
                        "site": "hall",
                        "cooling": "air",
                        "units": 4,
                        "in_service_date": "2025-03-10",
                        "book_value": 80_000,
                    }
                ],
                "demand": demand(("first", "second"), [2, 2]),
            }
        ),
        RunOptions(baselines=False),
    )
    assert audit_plan(plan).failures.empty
    books = plan["accounting"]
    assert books.loc[books["line"] == "sunk_book_value", "amount"].sum() == pytest.approx(
        80_000 * (1 - plan["assets"]["book_residual_fraction"].iloc[0])
    )
