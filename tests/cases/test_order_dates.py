"""Calendar dates of the purchase schedule, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from small_scenarios import YEAR, cloud, demand, hall, purchase, quarters, rental, scenario, solved

from planner.plan.audit.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.orders.date_checks import PAIRS


@pytest.fixture(scope="module")
def plan():
    # Ten boxes from the third quarter; lead 10 and installation 3 weeks: an order of the second quarter serves from
    # 1 July. A second kind takes 8 weeks in all and is on sale until 20 April only.
    return solved(
        scenario(
            {
                "periods": quarters(),
                "sites": [hall(), cloud()],
                "offers": [
                    purchase(lead_weeks=10, install_weeks=3, supply_units_per_period=6, vendor="One"),
                    purchase(
                        "quick",
                        price=101_000,
                        lead_weeks=6.5,
                        install_weeks=1.5,
                        available_until="2027-04-20",
                        supply_units_per_period=4,
                        vendor="Two",
                    ),
                    rental(price=1.0, lead_weeks=4, supply_units_per_period=1),
                ],
                "demand": demand(YEAR, [0, 0, 11, 11]),
            },
            discount_rate_fraction=0.1,
        )
    )


def dates(plan, offer):
    row = plan["orders"][plan["orders"]["offer"] == offer].iloc[0]
    names = ("order_date", "order_by_date", "delivery_by_date", "power_ready_date", "in_service_date")
    return [None if pd.isna(row[name]) else row[name].date().isoformat() for name in names]


def test_the_last_day_to_order_counts_back_from_the_day_of_service(plan):
    # 1 July - 13 weeks (91 days) is 1 April; delivery 3 weeks before, on 10 June, when the hall must have power.
    assert dates(plan, "purchase") == ["2027-04-01", "2027-04-01", "2027-06-10", "2027-06-10", "2027-07-01"]


def test_an_offer_that_ends_is_ordered_before_it_ends(plan):
    # 1 July - 8 weeks is 6 May, but the offer ends on 20 April. 1.5 weeks are 11 days begun: 20 June.
    assert dates(plan, "quick") == ["2027-04-01", "2027-04-20", "2027-06-20", "2027-06-20", "2027-07-01"]
    # Ordered then it could come 46 days later, on 5 June: the plan asks for the later date.
    row = plan["orders"][plan["orders"]["offer"] == "quick"].iloc[0]
    assert (row["vendor_delivery_date"], row["delivery_terms"]) == (
        pd.Timestamp("2027-06-05"),
        "later date asked",
    )
    assert row["delivery_date"] == pd.Timestamp("2027-06-20")


def test_the_deposit_is_due_on_the_last_day_to_order(plan):
    orders = plan["orders"].set_index("offer")
    assert orders.loc["purchase", "deposit_date"] == orders.loc["purchase", "order_by_date"]
    assert orders.loc["purchase", "deposit_amount"] == orders.loc["purchase", "units"] * 100_000
    rented = orders.loc[["rental"]]
    assert rented["deposit_date"].isna().all()
    assert rented["deposit_amount"].isna().all()


def test_what_is_rented_says_its_peak_and_unit_hours(plan):
    rented = plan["orders"][plan["orders"]["offer"] == "rental"]
    assert rented["peak_units"].tolist() == rented["units"].tolist() == [1, 1]
    assert rented["unit_hours"].tolist() == [92 * 24, 92 * 24]
    assert plan["orders"].loc[plan["orders"]["mode"] == "purchase", "unit_hours"].isna().all()


def test_a_rental_is_asked_for_its_lead_time_ahead_and_needs_no_power_of_ours(plan):
    assert dates(plan, "rental") == ["2027-06-03", "2027-06-03", "2027-07-01", None, "2027-07-01"]


def test_each_vendor_is_asked_by_quarter(plan):
    asked = plan["rfq"].set_index("vendor")
    assert asked.loc["One", ["quarter", "units", "unit_price"]].tolist() == ["2027-Q2", 6.0, 100_000.0]
    assert asked.loc["Two", "first_order_by"] == pd.Timestamp("2027-04-20")
    assert "rental" not in set(asked["offer"])


def fails(plan, check, frame, changed):
    wrong = replace(plan, frames={**plan.frames, frame: changed})
    return not CHECKS[check](Accounts(wrong, Facts(wrong.scenario))).passed


DATES = [name for pair in PAIRS for name in pair]


@pytest.mark.parametrize("name", sorted(set(DATES)))
@pytest.mark.parametrize("days", [-1, 1, 400])
def test_the_audit_sees_one_date_moved(plan, name, days):
    orders = plan["orders"]
    moved = orders[name].where(orders["offer"] != "purchase", orders[name] + pd.Timedelta(days=days))
    assert fails(plan, "order_dates", "orders", orders.assign(**{name: moved}))


@pytest.mark.parametrize(("early", "late"), PAIRS)
def test_the_audit_sees_two_dates_that_contradict_each_other(plan, early, late):
    orders = plan["orders"]
    assert not fails(plan, "date_order", "orders", orders)
    after = orders[early].where(orders["offer"] != "quick", orders[late] + pd.Timedelta(days=1))
    assert fails(plan, "date_order", "orders", orders.assign(**{early: after}))


@pytest.mark.parametrize(
    ("check", "name"),
    [("deposits", "deposit_amount"), ("rented_hours", "unit_hours"), ("rented_hours", "peak_units")],
)
def test_the_audit_sees_another_deposit_or_peak(plan, check, name):
    orders = plan["orders"]
    assert fails(plan, check, "orders", orders.assign(**{name: orders[name] * 1.01}))
    assert fails(plan, check, "orders", orders.assign(**{name: float("nan")}))


def test_the_audit_sees_a_late_order_and_a_unit_used_before_it_is_installed(plan):
    orders, fleet = plan["orders"], plan["fleet"]
    bought = orders["offer"] == "purchase"
    late = orders["order_date"].where(~bought, orders["order_date"] + pd.Timedelta(days=7))
    assert fails(plan, "ordered_in_time", "orders", orders.assign(order_date=late))
    by = orders["order_by_date"].where(~bought, orders["order_by_date"] + pd.Timedelta(days=7))
    assert fails(plan, "ordered_in_time", "orders", orders.assign(order_by_date=by))
    early = fleet["period"].where(fleet["offer"] != "purchase", "2027-Q2")
    assert fails(plan, "commissioned", "fleet", fleet.assign(period=early))


def test_a_quarter_of_installation_begins_no_earlier_than_it_is_ordered():
    # 13 weeks are 91 days, the first quarter has 90: ordered on 1 January, installed and powered from that day on.
    tables = {
        "periods": quarters(2),
        "sites": [hall()],
        "offers": [
            purchase(install_weeks=13, deposit_fraction=0.5, delivery_fraction=0.5, payment_term_days=5)
        ],
        "demand": demand(YEAR[:2], [0, 5]),
    }
    early = solved(scenario(tables), audit=True)
    assert dates(early, "purchase") == [*["2027-01-01"] * 4, "2027-04-01"]
    assert set(early["commissioning"]["day"]) == {pd.Timestamp("2027-01-01")}
    assert early["payments"]["due_date"].dt.date.astype(str).unique().tolist() == ["2027-01-06"]
