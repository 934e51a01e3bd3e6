"""Payment milestones, charges, upfront shares, warranty and parts: money that can be counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from openpyxl import load_workbook
from small_scenarios import (
    YEAR,
    box,
    cloud,
    demand,
    hall,
    line,
    one_year,
    purchase,
    quarters,
    rental,
    scenario,
    shape,
    solved,
    units,
)
from workbook_checks import failed_checks

from planner.errors import InputError
from planner.inputs import Scenario
from planner.plan.audit.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts

pytestmark = pytest.mark.slow

STATED = {"source": "case", "source_date": "2026", "confidence": "quoted"}

OLD = {
    "fleet": "old",
    "product": "box",
    "site": "hall",
    "cooling": "air",
    "units": 4,
    "in_service_date": "2025-01-01",
}


def quarterly(offer: dict, *more: dict, rates: object = 1, rate: float = 0.0, **tables: list) -> Scenario:
    """Return a year of quarters that needs one box."""
    plain = {"periods": quarters(), "sites": [hall(), cloud()], "offers": [offer, *more]}
    return scenario(plain | {"demand": demand(YEAR, rates)} | tables, discount_rate_fraction=rate)


@pytest.fixture(scope="module")
def in_parts():
    """Lead 13 weeks, installation 2: ordered by 18 March, delivered 17 June, in service from 1 July."""
    terms = {
        "deposit_fraction": 0.3,
        "delivery_fraction": 0.5,
        "payment_term_days": 30,
        "freight_fraction": 0.02,
        "duty_fraction": 0.04,
        "tax_fraction": 0.1,
        "installation_fraction": 0.03,
        "contract_discount_fraction": 0.2,
        "warranty_years": 0.25,
    }
    offer = purchase(price=125_000, lead_weeks=13, install_weeks=2, **terms)
    product = box(maintenance_fraction_per_year=0.08, failures_per_year=2, parts_fraction_per_failure=0.01)
    return solved(quarterly(offer, rates=[0, 0, 1, 1], rate=0.1, products=[product]))


def paid(plan, name):
    rows = plan["costs"][plan["costs"]["line"] == name]
    return {key: round(amount, 6) for key, amount in rows.groupby("period")["amount"].sum().items()}


def test_a_price_is_paid_by_milestone_in_the_period_it_is_due(in_parts):
    # 125,000 less 20 % is 100,000. Ordered by 18 March (15 weeks before July), delivered on 17 June, accepted on
    # 1 July, each paid 30 days later: 30 % on 17 April, 50 % on 17 July, the rest on 31 July.
    assert paid(in_parts, "hardware_purchase") == {"2027-Q2": 30_000, "2027-Q3": 70_000}
    due = in_parts["payments"][in_parts["payments"]["line"] == "hardware_purchase"]
    days = [day.date().isoformat() for day in due["due_date"]]
    assert dict(zip(days, due["amount"], strict=True)) == {
        "2027-04-17": pytest.approx(30_000),
        "2027-07-17": pytest.approx(50_000),
        "2027-07-31": pytest.approx(20_000),
    }
    # The first half of a quarter is reckoned at its start.
    assert set(due["timing"]) == {"start"}
    order = in_parts["orders"].iloc[0]
    assert order["deposit_date"] == order["order_by_date"] == pd.Timestamp("2027-03-18")
    assert order["deposit_amount"] == pytest.approx(30_000)


def test_charges_are_lines_of_their_own_due_with_the_delivery(in_parts):
    assert paid(in_parts, "freight") == {"2027-Q3": 2_000}
    assert paid(in_parts, "duty") == {"2027-Q3": 4_000}
    assert paid(in_parts, "tax") == {"2027-Q3": 10_000}
    assert paid(in_parts, "installation") == {"2027-Q1": 3_000}
    assert in_parts["orders"]["cost"].iloc[0] == pytest.approx(119_000)


def test_a_warranty_bears_maintenance_and_parts_until_it_ends(in_parts):
    # In service in the third and fourth quarter; a quarter of a year is under warranty, the other pays 8 % and
    # 2 failures x 1 % of the price of 100,000 a year.
    assert paid(in_parts, "maintenance").get("2027-Q3", 0.0) == 0.0
    assert paid(in_parts, "maintenance")["2027-Q4"] == pytest.approx(2_000)
    assert paid(in_parts, "spares")["2027-Q4"] == pytest.approx(500)


def test_a_vendor_is_asked_in_its_own_currency_and_told_the_terms():
    offer = purchase(price=12_000_000, currency="JPY", deposit_fraction=0.25, payment_term_days=45)
    yen = {"currency": "JPY", "usd_per_unit": 0.008, **STATED}
    dollar = {"currency": "USD", "usd_per_unit": 1, **STATED}
    plan = solved(quarterly(offer, fx=[yen, dollar]))
    row = plan["rfq"].iloc[0]
    assert row["unit_price"] == pytest.approx(96_000)
    assert (row["quote_price"], row["quote_currency"]) == (pytest.approx(12_000_000), "JPY")
    assert row["payment_terms"] == "25% with the order, 75% on acceptance; 45 days each"


def test_the_accounting_unit_cost_and_the_budget_sheet_write_off_as_the_books_do(tmp_path):
    """Double declining over four years to a tenth: half of the price in the first year, whatever the service life."""
    method = {"asset_class": "gear", "book_method": "declining_balance", "book_life_years": 4}
    method |= {"book_residual_fraction": 0.1, **STATED}
    offer = purchase(price=100_000, installation_fraction=0.02)
    worth = [
        {"asset_class": "gear", "age_years": age, "residual_fraction": 1 - age / 5, **STATED}
        for age in (0, 5)
    ]
    products = [box(asset_class="gear")]
    plan = solved(quarterly(offer, products=products, depreciation=[method], residuals=worth))
    metrics = plan["metrics"].set_index(["metric", "scope"])["value"]
    written = metrics["accounting cost: accelerator depreciation", "all"] * plan.headline["effective_mtok"]
    assert written == pytest.approx(50_000)
    assert failed_checks(plan, tmp_path) == []
    rows = list(load_workbook(next(tmp_path.glob("*.xlsx")), data_only=True)["Budget"].values)
    shown = {
        row[0]: [cell for cell in row if isinstance(cell, (int, float))]
        for row in rows
        if row[0] in ("box", "gear")
    }
    assert sum(shown["box"][-4:]) == pytest.approx(51_000)
    assert shown["gear"][-1] == pytest.approx(51_000)
    assert plan.headline["finance"]["book_value_at_horizon_end"] == pytest.approx(51_000)


def audit_passes(plan, name):
    """Return whether the check of a cost line still passes when its first row is a thousandth higher."""
    costs = plan["costs"].copy()
    row = costs.index[costs["line"] == name][0]
    costs.loc[row, "amount"] *= 1.001
    wrong = replace(plan, frames={**plan.frames, "costs": costs})
    return CHECKS[f"cost {name}"](Accounts(wrong, Facts(wrong.scenario))).passed


def test_the_audit_recomputes_every_line_of_the_terms(in_parts):
    for name in ("hardware_purchase", "freight", "duty", "tax", "spares", "maintenance"):
        assert not audit_passes(in_parts, name), name


def test_the_workbook_recomputes_a_plan_with_payment_terms(in_parts, tmp_path):
    assert failed_checks(in_parts, tmp_path) == []


def test_a_lot_that_nobody_sells_pays_maintenance_on_the_price_it_cost():
    silent = quarterly(rental(), fleet=[OLD], products=[box(maintenance_fraction_per_year=0.05)])
    assert any("the lot pays no maintenance" in text for text in silent.warnings)
    assert line(solved(silent), "maintenance") == 0.0
    told = quarterly(
        rental(),
        fleet=[OLD | {"purchase_price": 200_000}],
        products=[box(maintenance_fraction_per_year=0.05)],
    )
    assert not any("maintenance" in text for text in told.warnings)
    assert line(solved(told), "maintenance") == pytest.approx(4 * 200_000 * 0.05)


def test_the_installation_of_a_lease_is_a_share_of_what_it_pays_over_its_term():
    terms = {"mode": "lease", "price_unit": "unit_month", "term_months": 24, "installation_fraction": 0.05}
    plan = solved(quarterly(purchase("lease", price=1_000, **terms)))
    assert line(plan, "installation") == pytest.approx(24 * 1_000 * 0.05)


def reserved_or_not(hours: int, upfront: float, rate: float) -> set[str]:
    """Return what serves two units wanted for some hours of the day: reserved at 2 an hour or rented at 3."""
    by_hour = {f"h{hour:02d}": (24 / hours if hour < hours else 0.0) for hour in range(24)}
    hosted = {"mode": "reserved", "includes": "hosted", "price_unit": "unit_hour", "term_months": 12}
    case = scenario(
        {
            "periods": one_year(),
            "sites": [cloud()],
            "offers": [
                purchase("reserved", price=2.0, upfront_fraction=upfront, **hosted),
                rental(price=3.0, rent_step="hour"),
            ],
            "demand": demand(["2027"], 2 * hours / 24, profile="day"),
            "profiles": [{"profile": "day", "day_type": "all", **by_hour, **SAID}],
            "shapes": [shape()],
        },
        discount_rate_fraction=rate,
        max_blocks=0,
    )
    return set(solved(case)["orders"]["offer"])


SAID = {"source": "case", "source_date": "2026-11-29", "confidence": "estimate"}


def test_a_unit_is_reserved_when_it_is_used_more_than_the_ratio_of_present_values():
    # Both due together: reserved above 2 / 3 of the hours, 16 a day, at any rate. Paid up front at the start and
    # not in the middle of the year, a reserved hour costs 1.14^0.5 as much: above 17.08 hours a day.
    assert reserved_or_not(17, 0.0, 0.14) == {"reserved"}
    assert reserved_or_not(17, 1.0, 0.14) == {"rental"}
    assert reserved_or_not(18, 1.0, 0.14) == {"reserved"}
    # Half up front: (0.5 x 1.14^0.5 + 0.5) x 16 = 16.54.
    assert reserved_or_not(17, 0.5, 0.14) == {"reserved"}


def test_what_is_paid_up_front_for_hours_after_the_horizon_is_not_lost():
    # Two years at 1 an hour, half of it up front, in a horizon of one year: 0.5 x 17,520 at the start, the other half
    # hour by hour, and 4,380 of what was paid up front belongs to the second year.
    terms = {"mode": "reserved", "includes": "hosted", "price_unit": "unit_hour", "term_months": 24}
    plan = solved(quarterly(purchase("reserved", price=1.0, upfront_fraction=0.5, **terms)))
    assert paid(plan, "reserved_rent")["2027-Q1"] == pytest.approx(8_760 + 0.5 * 2_160)
    assert paid(plan, "prepaid_rent_left") == {"2027-Q4": -4_380}
    assert plan.headline["total_cost"] == pytest.approx(8_760)
    assert plan.headline["liability_after_horizon"] == pytest.approx(4_380)
    assert units(plan) == {("reserved", "2027-Q1"): 1}
    assert not audit_passes(plan, "prepaid_rent_left")


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"deposit_fraction": 0.7, "delivery_fraction": 0.4}, "more than 1"),
        ({"upfront_fraction": 0.2}, "only for lease, reserved"),
    ],
)
def test_terms_that_a_purchase_cannot_have_are_faults(terms, said):
    with pytest.raises(InputError, match=said):
        quarterly(purchase(**terms))


def test_terms_that_a_rental_cannot_have_are_faults():
    with pytest.raises(InputError) as caught:
        quarterly(rental(deposit_fraction=0.2, tax_fraction=0.1, installation_fraction=0.1))
    assert str(caught.value).count("only for purchase)") == 2
    assert "installation_fraction" in str(caught.value)
