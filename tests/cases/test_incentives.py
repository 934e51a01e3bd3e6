"""Grants and tax credits: what is earned by what is invested, found by hand."""

from dataclasses import replace

import pytest
from openpyxl import load_workbook
from small_scenarios import (
    SAID,
    YEAR,
    box,
    cloud,
    demand,
    hall,
    least_cost,
    least_cost_relaxed,
    line,
    model_of,
    purchase,
    quarters,
    scenario,
    solved,
    units,
)

from planner.errors import InputError
from planner.plan import audit_plan
from planner.solve import SolveOptions, solve
from reports.workbook import write_workbook

CREDIT = {
    "incentive": "credit",
    "basis": "capex_fraction",
    "amount": 0.3,
    "received_date": "2027-08-15",
    **SAID,
}
PER_KW = CREDIT | {"incentive": "per kW", "basis": "per_kw", "amount": 500, "asset_class": "server"}
GRANT = CREDIT | {
    "incentive": "grant",
    "basis": "flat",
    "amount": 150_000,
    "least_capex": 1_050_000,
    "site": "hall",
}


def ten(*given, **more):
    """Return a year in which ten boxes of 10 kW are needed, bought at 100,000 each for a hall."""
    tables = {
        "periods": quarters(),
        "sites": [hall()],
        "products": [box(asset_class="server")],
        "residuals": [{"asset_class": "server", "age_years": 0, "residual_fraction": 1, **SAID}],
        "offers": [purchase()],
        "demand": demand(YEAR, 10.0),
        "incentives": list(given),
    }
    return scenario(tables | more)


@pytest.fixture(scope="module")
def plan():
    return solved(ten(CREDIT, PER_KW), audit=True)


def test_a_share_of_the_capex_and_an_amount_per_kw_come_back(plan):
    """0.3 x 1,000,000 and 500 x 100 kW: 350,000 of a million."""
    assert line(plan, "hardware_purchase") == pytest.approx(1_000_000)
    assert line(plan, "incentive") == pytest.approx(-350_000)
    assert plan.headline["total_cost"] == pytest.approx(650_000)
    assert plan.headline["totals"]["gross_capex"] == pytest.approx(1_000_000)


def test_it_comes_in_its_period_in_ledger_cash_and_expense(plan):
    rows = plan["incentives"].set_index("incentive")
    assert rows["amount"].to_dict() == {"credit": pytest.approx(300_000), "per kW": pytest.approx(50_000)}
    assert set(rows["period"]) == {"2027-Q3"}
    for name in ("costs", "cash", "accounting"):
        own = plan[name].query("line == 'incentive'")
        assert own.groupby("period")["amount"].sum().to_dict() == {"2027-Q3": pytest.approx(-350_000)}


def test_the_budget_sheet_and_calc_show_it(plan, tmp_path):
    write_workbook(plan, tmp_path / "plan.xlsx")
    book = load_workbook(tmp_path / "plan.xlsx")
    for name, text in (("Budget", "Grants and tax credits"), ("Calc", "Incentive")):
        assert text in [cell.value for row in book[name].iter_rows() for cell in row]


@pytest.mark.slow
def test_a_most_cuts_what_is_received_and_its_dual_is_the_money_itself():
    capped = CREDIT | {"most_amount": 200_000}
    case = solved(ten(capped), audit=True)
    assert case.headline["total_cost"] == pytest.approx(800_000)
    row = case["incentives"].iloc[0]
    assert (row["earned_amount"], row["amount"]) == (pytest.approx(300_000), pytest.approx(200_000))
    model = model_of(ten(capped))
    found = solve(model.problem, SolveOptions(relax=True))
    dual = model.problem.row_frame("incentive_cap", found.row_duals)["value"].tolist()
    more = least_cost_relaxed(ten(capped | {"most_amount": 210_000}))
    assert dual == [pytest.approx((more - found.objective) / 10)]
    assert dual == [pytest.approx(-1_000)]


@pytest.mark.slow
def test_a_flat_amount_is_worth_investing_for():
    """An eleventh box costs 100,000 and brings 150,000: capex of 1.05 M is asked for."""
    case = solved(ten(GRANT), audit=True)
    assert units(case, "offer") == {"purchase": 11}
    assert case.headline["total_cost"] == pytest.approx(950_000)
    assert least_cost(ten(GRANT | {"amount": 90_000})) == pytest.approx(1_000_000)
    assert least_cost(ten(GRANT | {"least_capex": 1_000_000})) == pytest.approx(850_000)


@pytest.mark.slow
def test_sites_share_a_most():
    halls = [hall("one", racks=6), hall("two", racks=6)]
    power = [{"site": one["site"], "from_date": "2027-01-01", "usable_kw": 100} for one in halls]
    case = solved(ten(CREDIT | {"most_amount": 200_000}, sites=halls, site_power=power), audit=True)
    assert case["incentives"]["amount"].sum() == pytest.approx(200_000)
    assert case["incentives"]["earned_amount"].sum() == pytest.approx(300_000)
    one = CREDIT | {"site": "one"}
    assert least_cost(ten(one, sites=halls, site_power=power)) == pytest.approx(1_000_000 - 0.3 * 600_000)


@pytest.mark.slow
def test_an_income_makes_no_room_in_a_budget():
    budget = {"budget": "opex", "kind": "opex", "limit": 0.0}
    case = solved(ten(CREDIT, budgets=[budget]), audit=True)
    assert case.headline["total_cost"] == pytest.approx(700_000)
    assert case["budget_use"]["paid"].tolist() == [0.0]


@pytest.mark.slow
def test_halls_modules_and_dates_count():
    """A hall of 100 kW at 1,000 per kW, ready at once: half of its price comes back, boxes earn nothing."""
    own = hall(kind="owned", build_capex_per_kw=1_000, build_weeks=0, build_life_years=10)
    tables = {
        "sites": [own],
        "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 500}],
        "facility_options": [
            {"site": "hall", "cooling": "air", "capex_per_kw": 0, "capacity_kw": 500, "existing_kw": 0}
        ],
    }
    half = CREDIT | {"amount": 0.5, "asset_class": "building"}
    assert least_cost(ten(half, **tables)) == pytest.approx(1_000_000 + 50_000)
    per_kw = PER_KW | {"asset_class": "building", "amount": 200}
    assert least_cost(ten(per_kw, **tables)) == pytest.approx(1_100_000 - 20_000)
    assert least_cost(ten(CREDIT | {"received_date": "2028-02-01"})) == pytest.approx(1_000_000)


@pytest.mark.parametrize(
    ("column", "value"), [("amount", 299_000.0), ("earned_amount", 1.0), ("period", "2027-Q4")]
)
def test_the_audit_counts_every_incentive_again(plan, column, value):
    frame = plan["incentives"]
    changed = frame.assign(**{column: frame[column].where(frame["incentive"] != "credit", value)})
    failed = audit_plan(replace(plan, frames={**plan.frames, "incentives": changed})).failures["check"]
    assert "incentives" in set(failed)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (GRANT | {"least_capex": None}, "needed for a flat amount"),
        (GRANT | {"site": None}, "needed for a flat amount"),
        (PER_KW | {"asset_class": None}, "needed for an amount per kW"),
        (PER_KW | {"asset_class": "site_opening"}, "an opening has no kW"),
        (CREDIT | {"amount": 30}, "share of the capex"),
        (CREDIT | {"asset_class": "boat"}, "known: .*building.*server"),
        (CREDIT | {"received_date": "2026-12-31"}, "before the horizon"),
        (CREDIT | {"site": "cloud"}, "a cloud region has no capex"),
    ],
)
def test_an_incentive_of_nothing_is_refused(row, message):
    with pytest.raises(InputError, match=message):
        ten(row, sites=[hall(), cloud()])


def test_one_received_too_late_is_warned_of():
    case = ten(CREDIT | {"received_date": "2028-01-01"})
    assert any("after the horizon: it gives nothing" in text for text in case.warnings)
