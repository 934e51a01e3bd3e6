"""Prices, rates and delays at which an order leaves the plan; the arithmetic stands beside each."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import small_scenarios as case
from openpyxl import load_workbook

from planner.analysis import decision_cases as cases
from planner.analysis.acquisition import acquisition
from planner.analysis.answer import answer, answer_of, waiting
from planner.analysis.break_even import break_even, offers_in_reach
from planner.analysis.decisions import decide, periods_waited
from planner.analysis.offer_case import OfferCase
from planner.analysis.offer_prices import Kink, Prices, priced
from planner.analysis.reduced_cost import enters_below
from planner.analysis.sites_study import Study
from planner.errors import InputError
from planner.inputs import Scenario
from planner.performance import PointSet
from planner.pipeline import RunOptions, run_plan
from planner.pipeline.run import build_scenario
from reports import write_decisions_workbook

EXACT = RunOptions(gap=0.0, baselines=False)


def three_offers(periods: Any = None, requests: float = 12) -> Scenario:
    """Return 12 requests/s: twelve old boxes (1.80 M), ten new ones (1.90 M), or rent of 30 an hour."""
    periods = periods or case.one_year()
    names = [row["period"] for row in periods]
    return case.scenario(
        {
            "periods": periods,
            "sites": [case.hall(), case.cloud()],
            "products": [case.box("old"), case.box("new")],
            "offers": [
                case.purchase("old", "old", 150_000, supply_units_per_period=20),
                case.purchase("new", "new", 190_000),
                case.rental("rent", "old", 30.0),
            ],
            "operating_points": [case.point("old", 1.0), case.point("new", 1.2)],
            "demand": case.demand(names, requests),
        }
    )


@cache
def study() -> Study:
    return Study.of(three_offers(), EXACT)


@cache
def planned() -> Any:
    return study().solved(study().model, whole=True).values


@cache
def prices() -> Prices:
    return Prices.of(study())


def row_of(offer: str) -> dict[str, Any]:
    one = OfferCase(prices(), offer, True)
    return break_even(one, one.found(planned()))


def test_a_taken_offer_stays_up_to_the_price_at_which_the_next_plan_costs_as_much():
    # Twelve old at p cost what ten new at 190,000 do when p = 1,900,000 / 12.
    row = row_of("old")
    assert row["quantity"] == pytest.approx(12)
    assert row["break_even_price"] == pytest.approx(1_900_000 / 12, rel=1e-6)
    assert row["leaves_above_price"] == pytest.approx(1_900_000 / 12, rel=1e-6)
    assert row["next_quantity"] == pytest.approx(0)


def test_an_offer_not_taken_enters_below_the_price_that_makes_it_as_cheap():
    # Ten new at p cost 1,800,000 at p = 180,000. Mixes: a old + b new with a + 1.2 b >= 12; five new and six old
    # cost 900,000 + 5 p, the same at 180,000; six new and five old serve 12.2 for 750,000 + 6 p: 175,000.
    row = row_of("new")
    assert row["quantity"] == pytest.approx(0)
    assert row["break_even_price"] == pytest.approx(180_000, rel=1e-6)
    assert row["reading"] == "enters below this price"


def test_rent_enters_when_its_hours_cost_less_than_the_box():
    # Twelve boxes for 8,760 h: 1,800,000 / (12 x 8,760) an hour.
    assert row_of("rent")["break_even_price"] == pytest.approx(150_000 / 8_760, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("offer", ["old", "rent"])
def test_a_model_at_another_price_is_the_model_built_at_that_price(offer):
    one = OfferCase(prices(), offer, True)
    for ratio in (0.4, 3.0):
        quick = prices().model_at(offer, ratio, one.vectors)
        built = build_scenario(priced(study().scenario, [offer], ratio), study().built.points).model
        np.testing.assert_allclose(quick.numerator, built.numerator, rtol=1e-12, atol=1e-9)
        assert quick.numerator_constant == pytest.approx(built.numerator_constant)


@pytest.mark.slow
def test_upkeep_of_a_product_follows_the_lowest_of_its_purchase_prices_and_budgets_follow_too():
    # Two shops sell the same box for 100 and 120 thousand; upkeep is 10 % a year of the lower price.
    two = case.scenario(
        {
            "periods": case.one_year(),
            "sites": [case.hall()],
            "products": [case.box("old", maintenance_fraction_per_year=0.1)],
            "offers": [case.purchase("cheap", "old", 100_000), case.purchase("dear", "old", 120_000)],
            "operating_points": [case.point("old", 1.0)],
            "demand": case.demand(["2027"], 3),
            "budgets": [{"budget": "all", "kind": "total", "limit": 1e9}],
        }
    )
    both = Study.of(two, EXACT)
    found = Prices.of(both)
    assert found.kink("cheap") == Kink(1.2)
    assert found.kink("dear") == Kink(100 / 120)
    for offer in ("cheap", "dear"):
        one = OfferCase(found, offer, True)
        for ratio in (0.5, 1.1, 1.5):
            quick = found.model_at(offer, ratio, one.vectors)
            built = build_scenario(priced(two, [offer], ratio), both.built.points).model
            np.testing.assert_allclose(quick.numerator, built.numerator, rtol=1e-12, atol=1e-9)
            np.testing.assert_allclose(
                quick.problem.row_block("budget").value, built.problem.row_block("budget").value, rtol=1e-12
            )


@pytest.mark.parametrize(("offer", "price"), [("new", 180_000), ("rent", 150_000 / 8_760)])
def test_reduced_costs_of_the_relaxation_give_the_price_at_which_an_offer_enters(offer, price):
    # A new box serves 1.2 requests/s as 1.2 old ones do; a rented one as an old one. One plan just below confirms it.
    one = OfferCase(prices(), offer, False)
    row = break_even(one, one.found(study().relaxed.values))
    assert enters_below(one) * row["price"] == pytest.approx(price, rel=1e-9)
    assert row["break_even_price"] == pytest.approx(price, rel=1e-9)
    assert row["method"] == "relaxation, by reduced cost and one plan below"
    assert row["solves"] == 1


@pytest.mark.study
@pytest.mark.parametrize("offer", ["old", "new", "rent"])
def test_quantity_changes_on_one_side_of_the_break_even_price_and_not_on_the_other(offer):
    one = OfferCase(prices(), offer, True)
    row = row_of(offer)
    ratio = row["break_even_price"] / row["price"]
    same = []
    for side in (0.999, 1.001):
        again = build_scenario(priced(study().scenario, [offer], ratio * side), study().built.points)
        found = study().solved(again.model, whole=True)
        same.append(float(one.amounts @ found.values) == pytest.approx(row["quantity"]))
    assert sorted(same) == [False, True]


@pytest.mark.study
def test_an_offer_without_which_there_is_no_plan_stays_at_any_price():
    alone = case.scenario(
        {
            "periods": case.one_year(),
            "sites": [case.hall()],
            "offers": [case.purchase()],
            "demand": case.demand(["2027"], 3),
        }
    )
    only = Study.of(alone, EXACT)
    values = only.solved(only.model, whole=True).values
    one = OfferCase(Prices.of(only), "purchase", True)
    row = break_even(one, one.found(values))
    assert row["reading"].startswith("no plan without it")
    assert pd.isna(row["break_even_price"])


def test_own_against_rent_breaks_even_where_the_hours_cost_the_same():
    # 150,000 over 8,760 h is 17.12 an hour; at 30 an hour that is 57 % of the hours. No energy price here.
    table = acquisition(study()).set_index("offer")
    assert table.loc["old", "fixed_per_hour"] == pytest.approx(150_000 / 8_760)
    assert table.loc["old", "break_even_use_fraction"] == pytest.approx(150_000 / 8_760 / 30)
    # A new box makes 1.2 times the tokens of the old ones that are rented: 36 an hour for the same.
    assert table.loc["new", "rent_per_hour"] == pytest.approx(36)
    assert table.loc["new", "break_even_use_fraction"] == pytest.approx(190_000 / 8_760 / 36)


@pytest.mark.slow
def test_hours_taken_away_make_rent_dearer_and_failures_make_owning_dearer():
    spot = case.rental("spot", "old", 12.0, mode="spot", interruption_fraction=0.2)
    failing = {"failures_per_year": 2, "repair_days": 18.25}
    offers = [case.purchase("box", "old", 150_000), spot]
    tables = {
        "products": [case.box("old", **failing)],
        "offers": offers,
        "sites": [case.hall(), case.cloud()],
    }
    once = {"operating_points": [case.point("old", 1.0)], "demand": case.demand(["2027"], 3)}
    row = acquisition(Study.of(case.scenario({"periods": case.one_year()} | tables | once), EXACT)).iloc[0]
    up = 1 - 2 * 18.25 / 365
    # The rented box fails as often, and is taken away a fifth of the time.
    assert row["rent_per_hour"] == pytest.approx(12 / 0.8)
    assert row["cost_per_mtok_full_use"] == pytest.approx(150_000 / 8_760 / (row["mtok_per_hour"] / up) / up)


def test_waiting_a_quarter_costs_the_rent_less_nothing_else():
    # Nothing ordered in the first of two quarters: 12 boxes rented for 2,160 h at 30, then the purchase.
    two = Study.of(three_offers(case.quarters(2)), EXACT)
    first = two.coefficients.periods.index[0]
    rented = 12 * two.coefficients.periods["hours"].iloc[0] * 30
    late = waiting(two, None, [first], whole=True)
    base = answer_of(two, two.built, whole=True)
    assert late.status == "optimal"
    assert base.cost == pytest.approx(
        min(1_800_000, rented + 12 * two.coefficients.periods["hours"].iloc[1] * 30)
    )
    assert late.cost == pytest.approx(
        rented + min(1_800_000, 12 * two.coefficients.periods["hours"].iloc[1] * 30)
    )


MONTHS = [{"period": f"2027-{m:02d}", "start_date": f"2027-{m:02d}-01", "months": 1} for m in range(1, 13)]
LATER = [
    {"period": f"2028-Q{q + 1}", "start_date": f"2028-{3 * q + 1:02d}-01", "months": 3} for q in range(2)
]


def test_waiting_is_priced_by_month_where_the_first_year_has_months():
    # Twelve months, then quarters: each month of waiting is twelve boxes rented at 2 an hour.
    names = [row["period"] for row in MONTHS + LATER]
    tables = {
        "periods": MONTHS + LATER,
        "sites": [case.hall(), case.cloud()],
        "offers": [case.purchase(price=1_000), case.rental(price=2.0)],
        "demand": case.demand(names, 12),
    }
    monthly = Study.of(case.scenario(tables), EXACT)
    assert periods_waited(monthly.coefficients.periods) == 12
    costs = [waiting(monthly, None, names[:count], True).cost for count in (0, 1, 2)]
    hours = monthly.coefficients.periods["hours"].to_numpy()
    assert hours[:2].tolist() == [744.0, 672.0]
    assert np.diff(costs) == pytest.approx([12 * 744 * 2, 12 * 672 * 2])


def slower(product: str, share: float) -> PointSet:
    """Return the operating points with a product serving only a share of its rate at every point."""
    points = study().built.points
    rate, own = points.taken["requests_per_s"], points.taken["product"] == product
    return replace(points, taken=points.taken.assign(requests_per_s=rate.where(~own, rate * share)))


def test_a_slower_product_changes_what_reads_rates_and_nothing_else():
    quick = cases.slowed(study(), "old", 0.5).model
    whole = study().rebuilt(study().scenario, slower("old", 0.5)).model
    assert abs(quick.problem.arrays().matrix - whole.problem.arrays().matrix).max() == pytest.approx(0.0)
    np.testing.assert_allclose(quick.denominator, whole.denominator)
    assert np.abs(quick.denominator - study().model.denominator).max() > 0


def test_a_slower_box_leaves_the_plan_and_a_cut_vendor_costs_more():
    points = slower("old", 0.5)
    # Two dozen old boxes would cost 3.6 M, ten new ones 1.9 M.
    found = answer(study(), study().scenario, True, points)
    assert found.cost == pytest.approx(1_900_000)
    assert found.units("old", 0, study().coefficients.periods["ordinal"]) == 0
    orders = pd.DataFrame({"offer": ["old"], "period": ["2027"], "units": [12.0]})
    cut = cases.cut_supply(study().scenario, "Maker", orders)
    # Of ten old boxes at most, six with five new ones serve exactly 12 requests/s: 0.9 M + 0.95 M.
    assert answer(study(), cut, True).cost == pytest.approx(1_850_000)
    limits = cut.tables["offers"].set_index("offer")["supply_units_per_period"]
    assert limits["old"] == 10


def test_half_of_what_is_rented_is_a_case_of_its_own():
    # Eight units: five of the ten stated at 1, half of the eight taken at 2 where nobody said how many there are.
    tables = {
        "periods": case.one_hour(),
        "sites": [case.cloud()],
        "offers": [
            case.rental("near", price=1.0),
            case.rental("far", price=2.0),
            case.rental("dear", price=9.0),
        ],
        "supply": [{"offer": "near", "period": "hour", "units": 10}],
        "demand": case.demand(["hour"], 14.0),
    }
    asked = Study.of(case.scenario(tables, accept=["offers/dear/price"]), EXACT)
    orders = pd.DataFrame(
        {"offer": ["near", "far"], "mode": "on_demand", "period": "hour", "units": [10.0, 4.0]}
    )
    (half,) = cases.half_rented(asked.scenario, orders).items()
    assert half[0] == "half of the supply on demand and spot"
    # Five at 1, two at 2 and seven at 9 instead of ten at 1 and four at 2.
    assert answer(asked, asked.scenario, True).cost == pytest.approx(18)
    assert answer(asked, half[1], True).cost == pytest.approx(5 + 4 + 63)
    assert cases.half_rented(asked.scenario, orders.assign(mode="purchase")) == {}


@pytest.mark.study
def test_the_decisions_of_a_plan_as_tables_workbook_and_kept_pieces(tmp_path):
    plan = run_plan(three_offers(), EXACT)
    told: list[str] = []
    found = decide(plan, EXACT, keep=tmp_path / "kept.jsonl", tell=told.append)
    due = found.tables["sign_now"].set_index("offer").loc["old"]
    assert due["units"] == pytest.approx(12)
    assert due["break_even_price"] == pytest.approx(1_900_000 / 12, rel=1e-6)
    assert "hardware 20% lower" in due["stays_in"]
    assert due["waiting_costs"] == pytest.approx(100_000)
    assert due["waiting_change"] == "old -12, new +10"
    # Down to 0.96 five old ones serve what six new ones leave, for 1.89 M; slower, ten new ones at 1.90 M cost least.
    assert 0.95 <= due["break_even_throughput_fraction"] < 0.96
    # A month late is after the only period.
    assert due["break_even_delay_weeks"] == 4
    assert due["leaves_above_price"] == pytest.approx(1_900_000 / 12, rel=1e-6)
    assert due["commitment_after_horizon"] == 0.0
    cut = found.tables["supply_cut"].set_index("vendor").loc["Maker"]
    # Ten of twenty old ones are left, new ones are not limited: six old and five new serve exactly 12 for 1.85 M.
    assert cut["costs"] == pytest.approx(50_000)
    again: list[str] = []
    same = decide(plan, EXACT, keep=tmp_path / "kept.jsonl", tell=again.append)
    assert told
    assert not again
    for name, table in found.tables.items():
        pd.testing.assert_frame_equal(table, same.tables[name], check_dtype=False)
    book = load_workbook(write_decisions_workbook(plan, found, tmp_path / "decisions.xlsx"))
    assert book.sheetnames[0] == "Sign now"


def test_an_unknown_offer_is_named_with_those_the_plan_could_use():
    plan = run_plan(three_offers(), EXACT)
    with pytest.raises(InputError, match="known: old, new, rent"):
        decide(plan, EXACT, offers=["none"])
    assert offers_in_reach(study()) == ["old", "new", "rent"]
