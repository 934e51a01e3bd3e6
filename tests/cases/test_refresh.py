"""The plan's own purchases taken out again: replaced where energy or upkeep makes it worthwhile, kept elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_scenarios import (
    SAID,
    box,
    demand,
    energy,
    hall,
    least_cost,
    line,
    model_of,
    point,
    purchase,
    quarters,
    scenario,
    solved,
    units,
)
from workbook_checks import failed_checks

from planner.errors import InputError
from planner.inputs import Scenario
from planner.plan import audit_plan
from planner.plan.audit.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts
from reports.answer import answer_lines
from reports.content import content_of

YEARS = ["2027", "2028", "2029"]
HOURS = {"2027": 8_760, "2028": 8_784, "2029": 8_760}
DRAWN = 0.95
"""Power of a unit that answers over its busy power, where a point states no activity."""


def refresh(price_per_kwh: float, settings: dict | None = None, **old: object) -> Scenario:
    """Return one request/s for three years: an old box of 10 kW, one on sale from 2028 does it in 2 kW for 60,000.

    An old one costs 100,000 and is worth 60 % of that after a year, 40 % after two; a buyer pays half of its value.
    """
    terms = {"resale_fraction": 0.5} | old
    return scenario(
        {
            "periods": [{"period": year, "start_date": f"{year}-01-01", "months": 12} for year in YEARS],
            "sites": [hall()],
            "tariffs": [energy(price=price_per_kwh)],
            "products": [
                box("old", asset_class="server", maintenance_fraction_per_year=0.02),
                box("new", kw=2.0, asset_class="server"),
            ],
            "residuals": [
                {"asset_class": "server", "age_years": age, "residual_fraction": left, **SAID}
                for age, left in ((0, 1.0), (1, 0.6), (2, 0.4), (3, 0.2))
            ],
            "operating_points": [point("old"), point("new")],
            "offers": [
                purchase("old", "old", **terms),
                purchase("new", "new", 60_000, available_from="2028-01-01"),
            ],
            "demand": demand(YEARS, 1.0),
        },
        **(settings or {}),
    )


def kept(price: float) -> float:
    """Return the cost of the old box for all three years, its support 2,000 a year."""
    return 100_000 + 3 * 2_000 + DRAWN * 10 * sum(HOURS.values()) * price


def replaced(price: float) -> float:
    """Return the cost of an old box for a year, sold for half of 60,000, and a new one for the other two."""
    later = HOURS["2028"] + HOURS["2029"]
    return 100_000 + 2_000 - 30_000 + 60_000 + DRAWN * (10 * HOURS["2027"] + 2 * later) * price


@pytest.mark.parametrize("price", [0.19, 0.20])
def test_a_box_is_replaced_where_the_energy_saved_is_worth_it(price):
    # 60,000 - 30,000 - 4,000 of support against 7.6 kW x 17,544 h: worth it from 0.195 a kWh on.
    assert least_cost(refresh(price)) == pytest.approx(min(kept(price), replaced(price)))
    assert (kept(price) > replaced(price)) == (price > 0.195)


@pytest.mark.slow
def test_without_a_stated_resale_nothing_bought_is_taken_out():
    model = model_of(refresh(0.30, resale_fraction=None))
    assert len(model.columns.block("resold")) == 0
    assert least_cost(refresh(0.30, resale_fraction=None)) == pytest.approx(kept(0.30))


@pytest.mark.slow
def test_a_box_may_be_scrapped_for_nothing_to_save_its_power():
    # 60,000 for the new one less 4,000 of support against 133,334 kWh: from 0.42 a kWh on.
    cost = least_cost(refresh(0.45, resale_fraction=0.0))
    assert cost == pytest.approx(replaced(0.45) + 30_000)
    assert least_cost(refresh(0.35, resale_fraction=0.0)) == pytest.approx(kept(0.35))


@pytest.fixture(scope="module")
def plan():
    market = {"residual_method": "market", "discount_rate_fraction": 0.08, "tax_rate_fraction": 0.25}
    return solved(refresh(0.60, market, warranty_years=2, installation_fraction=0.02))


@pytest.mark.slow
def test_a_refresh_in_a_whole_plan_by_hand(plan):
    assert units(plan, "offer") == {"old": 1, "new": 1}
    sold = plan["resales"].iloc[0]
    assert (sold["period"], sold["sold_period"], sold["units"], sold["age_years"]) == ("2027", "2028", 1, 1.0)
    assert line(plan, "resale") == pytest.approx(-30_000)
    assert "take out 1 x old in 2028" in answer_lines(content_of(plan, audit=False))[0]
    # Value left at the end: of the new box at two years 40 % of 60,000, none of the old one.
    assert line(plan, "hardware_residual") == pytest.approx(-0.4 * 60_000)
    # Two years of warranty, of which the first is used: no support is paid, and none is got back for 2028.
    assert line(plan, "maintenance") == pytest.approx(0.0, abs=1e-6)


@pytest.mark.slow
def test_what_is_not_yet_written_off_is_written_off_with_the_sale(plan):
    books = plan["accounting"]
    old = books[books["offer"].eq("old") & books["line"].eq("hardware_purchase")]
    by_period = old.groupby("period")["amount"].sum()
    # Five years, level: 20,000 in the first year and the rest in the year of the sale; nothing after the horizon.
    assert by_period.to_dict() == pytest.approx({"2027": 20_000.0, "2028": 80_000.0}, rel=1e-4)
    table = plan["reconciliation"].set_index("line")
    assert table["paid_over_life"].to_numpy() == pytest.approx(table["expensed_over_life"].to_numpy())


@pytest.mark.slow
def test_the_audit_and_the_workbook_recompute_the_refresh(plan, tmp_path):
    assert audit_plan(plan).failures.to_dict("records") == []
    assert failed_checks(plan, tmp_path) == []

    def passes(check, **frames):
        wrong = replace(plan, frames={**plan.frames, **frames})
        return CHECKS[check](Accounts(wrong, Facts(wrong.scenario))).passed

    sold = plan["resales"]
    assert not passes("fleet_balance", resales=sold.iloc[:0])
    assert not passes("resold_units", resales=sold.assign(units=2.0))
    assert not passes("resold_units", resales=sold.assign(sold_period="2027"))
    assert not passes("cost hardware_residual", resales=sold.iloc[:0])
    assert not passes("cost resale", resales=sold.assign(sold_period="2029"))
    assert not passes("asset_terms", assets=plan["assets"].assign(disposed_years=float("nan")))
    costs = plan["costs"]
    assert not passes("cost resale", costs=costs.assign(amount=costs["amount"] * 1.001))


@pytest.mark.parametrize(
    ("terms", "tiers", "words"),
    [
        ({"mode": "lease", "term_months": 24, "price_unit": "unit_month"}, [], "only for purchase"),
        (
            {},
            [{"offer": "old", "from_units": 10, "basis": "incremental", "discount_fraction": 0.1}],
            "offer_tiers",
        ),
    ],
)
def test_resale_is_of_purchases_at_one_price(terms, tiers, words):
    with pytest.raises(InputError) as caught:
        scenario(
            {
                "products": [box("old")],
                "sites": [hall()],
                "offers": [purchase("old", "old", resale_fraction=0.5) | terms],
                "offer_tiers": [tier | {"counts": "order"} for tier in tiers],
                "operating_points": [point("old")],
                "periods": quarters(1),
                "demand": demand(["2027-Q1"], 1.0),
            }
        )
    found = [fault for fault in caught.value.faults if fault.column == "resale_fraction"]
    assert len(found) == 1
    assert words in found[0].message
