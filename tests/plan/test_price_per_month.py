"""A price per month is per calendar month, in the model, the audit, the workbook, the cash ledger and FOCUS alike."""

from __future__ import annotations

import pandas as pd
import pytest
from small_scenarios import box, cloud, demand, hall, line, point, purchase, rental, scenario, solved
from workbook_checks import failed_checks

from planner.inputs.calendar import months_between
from planner.plan import audit_plan
from planner.plan.audit.clock import walked_months
from planner.plan.focus import focus_frame

LEAP_YEAR = [{"period": "2028", "start_date": "2028-01-01", "months": 12}]
RESERVED = {"mode": "reserved", "rent_step": None, "term_months": 12}
OFFERS = {
    "lease": purchase("offer", price=2_500, mode="lease", price_unit="unit_month", term_months=12),
    "reserved_rent": rental("offer", price=2_500, price_unit="unit_month", **RESERVED),
    "on_demand_rent": rental("offer", price=2_500, price_unit="unit_month"),
    "on_demand_rent by the hour": rental("offer", price=2_500, price_unit="unit_month", rent_step="hour"),
    "spot_rent": rental("offer", price=2_500, price_unit="unit_month", mode="spot"),
}


def plan_of(offer: dict, periods: list[dict], **settings):
    hosted = offer["includes"] == "hosted"
    tables = {
        "periods": periods,
        "sites": [cloud() if hosted else hall(rent_per_kw_month=100.0)],
        "products": [box()],
        "operating_points": [point("box")],
        "offers": [offer],
        "demand": demand([row["period"] for row in periods], 1),
    }
    if not hosted:
        tables["site_power"] = [{"site": "hall", "from_date": periods[0]["start_date"], "usable_kw": 100}]
    return solved(scenario(tables, **settings))


def agree(plan, name: str, amount: float, folder) -> None:
    """Assert that ledger, orders, audit, cash, FOCUS and workbook all pay this amount on a line."""
    assert line(plan, name) == pytest.approx(amount)
    cash, focus = plan["cash"], focus_frame(plan)
    assert cash.loc[cash["line"] == name, "amount"].sum() == pytest.approx(amount)
    assert focus.loc[focus["ResourceType"] == name, "BilledCost"].sum() == pytest.approx(amount)
    assert focus.loc[focus["ResourceType"] == name, "EffectiveCost"].sum() == pytest.approx(amount)
    assert audit_plan(plan).failures.empty
    assert failed_checks(plan, folder) == []


@pytest.mark.parametrize("kind", ["lease", "on_demand_rent by the hour"])
def test_twelve_months_of_a_leap_year_are_twelve_rents(kind, tmp_path):
    plan = plan_of(OFFERS[kind], LEAP_YEAR)
    agree(plan, kind.split(" by")[0], 12 * 2_500, tmp_path)
    if kind == "lease":
        # Ten kW at 100 a month beside it.
        assert line(plan, "facility_rent") == pytest.approx(12 * 1_000)
        assert plan["orders"]["cost"].sum() == pytest.approx(30_000)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["reserved_rent", "on_demand_rent", "spot_rent"])
def test_twelve_months_of_every_kind_of_rent_are_twelve_rents(kind, tmp_path):
    agree(plan_of(OFFERS[kind], LEAP_YEAR), kind, 12 * 2_500, tmp_path)


def test_a_broken_month_counts_by_its_days_and_what_is_left_of_the_term_is_owed(tmp_path):
    # 1,800 hours from 1 January 2028 are 31 + 29 + 15 days: two months and 15 of March's 31 days.
    hours = [{"period": "start", "start_date": "2028-01-01", "hours": 1_800}]
    upfront = OFFERS["reserved_rent"] | {"upfront_fraction": 0.4}
    plan = plan_of(upfront, hours, commitment_horizon_years=0)
    inside = 2 + 15 / 31
    cash = plan["cash"]
    assert cash.loc[cash["period"] == "start", "amount"].sum() == pytest.approx(
        2_500 * (0.4 * 12 + 0.6 * inside)
    )
    assert line(plan, "prepaid_rent_left") == pytest.approx(-2_500 * 0.4 * (12 - inside))
    assert plan.headline["liability_after_horizon"] == pytest.approx(2_500 * 0.6 * (12 - inside))
    assert cash["amount"].sum() == pytest.approx(30_000)
    assert audit_plan(plan).failures.empty
    assert failed_checks(plan, tmp_path) == []


@pytest.mark.parametrize(
    ("start", "end", "months"),
    [
        ("2027-01-01", "2028-01-01", 12.0),
        ("2028-01-01", "2029-01-01", 12.0),
        ("2027-02-01", "2027-02-15", 0.5),
        ("2028-02-01", "2028-02-15", 14 / 29),
        ("2027-01-15", "2027-03-01", 1.5),
        ("2027-01-01", "2027-01-02", 1 / 31),
        ("2028-01-01", "2028-12-31", 11 + 30 / 31),
    ],
)
def test_months_are_counted_by_the_calendar_in_the_model_and_in_the_audit(start, end, months):
    span = pd.Timestamp(start), pd.Timestamp(end)
    assert months_between(*span) == pytest.approx(months)
    assert walked_months(*span) == pytest.approx(months)
