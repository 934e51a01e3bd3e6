"""Existing lots taken out early and sold: when space or upkeep is worth more than keeping them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_scenarios import YEAR, box, demand, hall, line, point, purchase, quarters, scenario, solved, units
from workbook_checks import failed_checks

from planner.inputs import Scenario
from planner.plan.audit.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts

pytestmark = pytest.mark.study

SAID = {"source": "case", "source_date": "2026-11-29", "confidence": "estimate"}
LOT = {
    "fleet": "old",
    "product": "old",
    "site": "hall",
    "cooling": "air",
    "units": 4,
    "in_service_date": "2025-01-01",
}


def crowded(rate: float, kw: float, budgets: list | None = None, **lot: object) -> Scenario:
    """Return four old boxes of one request/s under so many kW; a new box does four in the same 10 kW for 50,000.

    An old one cost 100,000, keeps 40 % of that at two years of age, 30 % at three, and 8 % a year are its support.
    """
    ages = [(0, 1.0), (2, 0.4), (3, 0.3)]
    return scenario(
        {
            "periods": quarters(),
            "sites": [hall()],
            "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": kw}],
            "products": [box("old", asset_class="server", maintenance_fraction_per_year=0.08), box("new")],
            "residuals": [
                {"asset_class": "server", "age_years": age, "residual_fraction": left, **SAID}
                for age, left in ages
            ],
            "operating_points": [point("old"), point("new", 4.0)],
            "offers": [purchase("new", "new", 50_000)],
            "fleet": [LOT | {"purchase_price": 100_000} | lot],
            "demand": demand(YEAR, [2, 2, rate, rate]),
            "budgets": budgets or [],
        },
        discount_rate_fraction=0.0,
    )


@pytest.fixture(scope="module")
def plan():
    # Two requests/s need two old boxes; two idle ones are sold at once for half of 40 % of 100,000, 20,000 each, and
    # save 8,000 a year. From July eight requests/s in 30 kW: no old ones beside two new ones help, so the other two
    # go too: at 2.5 years 35 %, 17,500 each, in July, or at once in January when a new one costs the same: the four
    # are worth 80,000 now against 40,000 + 35,000 later, and new boxes serve from the start.
    return solved(crowded(8, 30, resale_fraction=0.5))


def test_what_boxes_are_sold_for_makes_no_room_in_a_budget():
    """Two boxes for 100,000 are paid, 80,000 come back: what is used of a limit on everything is what is paid."""
    limit = [{"budget": "all", "kind": "total", "limit": 120_000}]
    plan = solved(crowded(8, 30, limit, resale_fraction=0.5), audit=True)
    assert line(plan, "resale") < 0.0
    (paid,) = plan["budget_use"]["paid"]
    costs = plan["costs"]
    spent = costs[
        costs["kind"].isin(("capex", "opex")) & costs["timing"].ne("end") & costs["line"].ne("resale")
    ]
    assert paid == pytest.approx(spent["amount"].sum())
    assert paid >= 100_000
    checks = plan["checks"].set_index("check")
    assert checks.loc["budget", "left"] == pytest.approx(paid)
    assert checks.loc[["budget", "budget_use"], "passed"].all()


def test_boxes_that_stand_in_the_way_are_sold_when_they_are_worth_most(plan):
    assert plan["retirements"].groupby("offer")["units"].sum().to_dict() == {"fleet:old": 4.0}
    assert units(plan, "offer") == {"new": 2}
    assert set(plan["retirements"]["period"]) == {"2027-Q1"}
    # 730 days after 1 January 2025 they are 1.9986 years old.
    assert line(plan, "resale") == pytest.approx(-80_000, rel=2e-3)
    assert line(plan, "maintenance") == 0.0
    assert plan.headline["total_cost"] == pytest.approx(100_000 - 80_000, rel=1e-2)


def test_a_lot_without_a_stated_resale_is_kept_to_its_end():
    plan = solved(crowded(4, 50))
    assert plan["retirements"].empty
    assert line(plan, "maintenance") == pytest.approx(4 * 8_000)


def test_the_book_value_of_what_is_taken_out_is_written_off_at_once():
    # 40,000 on the books, two of four boxes scrapped in January: 20,000 at once, the rest level over three years.
    plan = solved(crowded(2, 50, resale_fraction=0.0, book_value=40_000))
    books = plan["accounting"]
    lots = books[books["line"] == "sunk_book_value"].groupby("period")["amount"].sum()
    quarter = 20_000 * 0.25 / 3.0
    assert lots["2027-Q1"] == pytest.approx(20_000 + quarter, rel=2e-2)
    assert lots["2027-Q2"] == pytest.approx(quarter, rel=2e-2)
    assert lots.sum() == pytest.approx(40_000)
    assert CHECKS["asset_terms"](Accounts(plan, Facts(plan.scenario))).passed
    whole = plan["assets"].assign(disposed_years=float("nan"))
    wrong = replace(plan, frames={**plan.frames, "assets": whole})
    assert not CHECKS["asset_terms"](Accounts(wrong, Facts(plan.scenario))).passed


def test_a_lot_may_be_scrapped_to_save_its_upkeep():
    # At no price at all two idle boxes still cost 8,000 a year each.
    plan = solved(crowded(2, 50, resale_fraction=0.0))
    assert plan["retirements"]["units"].sum() == 2.0
    assert plan.headline["total_cost"] == pytest.approx(2 * 8_000)


def test_the_workbook_and_the_audit_recompute_what_is_sold(plan, tmp_path):
    assert failed_checks(plan, tmp_path) == []

    def passes(check, **frames):
        wrong = replace(plan, frames={**plan.frames, **frames})
        return CHECKS[check](Accounts(wrong, Facts(wrong.scenario))).passed

    more = plan["retirements"].assign(units=5.0)
    assert not passes("retired_units", retirements=more)
    assert not passes("fleet_balance", retirements=plan["retirements"].iloc[:0])
    costs = plan["costs"]
    assert not passes("cost resale", costs=costs.assign(amount=costs["amount"] * 1.001))
