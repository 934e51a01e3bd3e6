"""Whole plans under tariffs with ratchets and floors: the bill, its audit and its workbook rows."""

import pytest
from bill_model import full_power, hourly
from small_scenarios import (
    cloud,
    demand,
    demand_charge,
    energy,
    hall,
    least_cost,
    line,
    purchase,
    rental,
    scenario,
    solved,
)
from workbook_checks import failed_checks

from planner.coefficients.electricity.bill import yearly_bill
from planner.plan import Plan, audit_plan

pytestmark = pytest.mark.study

MONTHS = ("2027-01", "2027-02", "2027-03")
ELECTRICITY = ("energy", "energy_tiers", "demand_charge", "demand_tiers", "tariff_fixed", "minimum_take")


def monthly() -> list[dict]:
    return [{"period": name, "start_date": f"{name}-01", "months": 1} for name in MONTHS]


def electricity(plan: Plan) -> float:
    return sum(line(plan, name) for name in ELECTRICITY)


def implied_load(plan: Plan):
    """Return the load of every hour that the plan's blocks imply at the hall."""
    cells = plan["block_cells"]
    drawn = plan["energy"].set_index(["period", "block"])["grid_kw"]
    kw = drawn.reindex(list(zip(cells["period"], cells["block"], strict=True))).to_numpy(float)
    cells = cells[["period", "month", "day_type", "hour_utc"]]
    return hourly(cells, kw, plan.scenario)


@pytest.fixture(scope="module")
def plan():
    """Eight boxes in January, then four; rent of 3,000 a month in the cloud would avoid the peak."""
    return solved(
        scenario(
            {
                "periods": monthly(),
                **full_power(),
                "sites": [hall(contract_kw=60, opening_cost=10.0)],
                "tariffs": [
                    energy(price=0.1),
                    demand_charge("delivery", 4, ratchet_fraction=0.75),
                    demand_charge("contract", 2, contract_fraction=1),
                ],
                "offers": [purchase(price=100)],
                "demand": demand(MONTHS, [8, 4, 4]),
            }
        )
    )


def test_a_plan_pays_what_the_bill_calculator_bills_for_its_load(plan):
    # 80 kW in January, 40 after it: the ratchet bills 60, the contract 60 at least.
    assert line(plan, "demand_charge") == pytest.approx(4 * (80 + 60 + 60) + 2 * (80 + 60 + 60))
    bill = yearly_bill(plan.scenario.tables["tariffs"], implied_load(plan), contract_kw=60)
    assert electricity(plan) == pytest.approx(bill.as_json()["total"])
    inside = plan["billed_peaks"].query("component == 'delivery' and month <= '2027-03'")
    assert inside["measured_kw"].tolist() == pytest.approx([80, 40, 40])


def test_a_plan_is_charged_what_its_ratchet_bills_after_the_horizon(plan):
    # January's 80 kW are billed 60 until December, the 40 of February and March 30 in January and February after it.
    owed = 4 * (9 * 60 + 2 * 30)
    assert line(plan, "ratchet_after_horizon") == pytest.approx(owed)
    assert plan.headline["liability_after_horizon"] == pytest.approx(owed)
    later = plan["billed_peaks"].query("month > '2027-03'")
    assert later["billed_kw"].tolist() == pytest.approx([60] * 9 + [30] * 2)
    assert (later["amount"] == 0).all()
    assert audit_plan(plan).passed
    costs = plan["costs"]
    more = costs.assign(
        amount=costs["amount"].where(costs["line"] != "ratchet_after_horizon", costs["amount"] * 1.01)
    )
    wrong = Plan(plan.headline, {**plan.frames, "costs": more}, plan.scenario)
    assert "cost ratchet_after_horizon" in set(audit_plan(wrong).failures["check"])


def test_the_workbook_counts_what_is_billed_after_the_horizon(plan, tmp_path):
    assert failed_checks(plan, tmp_path) == []


def test_the_audit_finds_a_month_after_the_horizon_that_is_billed_too_little(plan):
    peaks = plan["billed_peaks"]
    wrong = peaks.assign(
        owed_after_horizon=peaks["owed_after_horizon"].where(peaks["month"] != "2027-09", 1.0)
    )
    changed = Plan(plan.headline, {**plan.frames, "billed_peaks": wrong}, plan.scenario)
    assert {"billed_months"} <= set(audit_plan(changed).failures["check"])


def test_the_audit_finds_a_month_that_is_billed_too_little(plan):
    peaks = plan["billed_peaks"]
    wrong = peaks.assign(
        billed_kw=peaks["billed_kw"].where(peaks["month"] != "2027-03", peaks["measured_kw"])
    )
    changed = Plan(plan.headline, {**plan.frames, "billed_peaks": wrong}, plan.scenario)
    assert "billed_months" in set(audit_plan(changed).failures["check"])


def test_a_ratchet_makes_the_plan_rent_away_a_single_month_of_peak():
    # The eighth box in January: 10 kW at 4 $, and 7.5 kW more in each of three months through the ratchet, is 130 $.
    # A rented box costs 100 $ for the month: dearer than January alone, cheaper than the ratchet.
    months = [f"2027-{k:02d}" for k in range(1, 5)]
    tables = {
        "periods": [{"period": name, "start_date": f"{name}-01", "months": 1} for name in months],
        "sites": [hall(), cloud()],
        **full_power(),
        "offers": [purchase(price=0), rental(price=100 / 744)],
        "demand": demand(months, [8, 5.25, 5.25, 5.25]),
    }
    plain = scenario(tables | {"tariffs": [energy(), demand_charge("delivery", 4)]})
    terms = {"ratchet_fraction": 0.75, "end_date": "2027-04-30"}
    ratchet = scenario(tables | {"tariffs": [energy(), demand_charge("delivery", 4, **terms)]})
    assert least_cost(plain) == pytest.approx(4 * (80 + 3 * 52.5))
    assert least_cost(ratchet) == pytest.approx(100 + 4 * (70 + 3 * 52.5))


def tiered(name: str, charge: str, unit: str, *tiers: tuple[float, float]) -> list[dict]:
    """Return the tiers (start, price) of a charge that counts kWh of the month or billed kW."""
    more = {"charge": charge, "tier_of": name, "tier_unit": "kwh" if charge == "energy" else "kw"}
    rows = [energy(f"{name} {start:g}", price, **more, tier_from=start) for start, price in tiers]
    return [row | {"price_unit": unit} for row in rows]


def least(component: str, price: float, unit: str) -> dict:
    return energy(component, price, charge="minimum") | {"price_unit": unit}


def test_a_plan_under_tiers_minimum_bills_and_a_levy_of_some_months_is_audited():
    # 80 kW in January is 59,520 kWh; the first 20,000 cost less than the rest, the last ones less again.
    tiers = tiered("use", "energy", "kwh", (0, 0.02), (20_000, 0.10), (40_000, 0.06))
    steps = tiered("kw", "demand", "kw_month", (0, 9), (50, 4))
    tax = energy("tax", 0.1, charge="levy", months="2-6") | {"price_unit": "fraction"}
    case = scenario(
        {
            "periods": monthly()[:2],
            **full_power(),
            "sites": [hall(opening_cost=10.0)],
            "tariffs": [*tiers, *steps, least("month", 3_000, "month"), least("take", 50_000, "year"), tax],
            "offers": [purchase(price=100)],
            "demand": demand(MONTHS[:2], [8, 4]),
        }
    )
    plan = solved(case)
    assert audit_plan(plan).passed
    january = 20_000 * 0.02 + 20_000 * 0.10 + 19_520 * 0.06 + 50 * 9 + 30 * 4
    february = 20_000 * 0.02 + 6_880 * 0.10 + 40 * 9
    # At least 3,000 a month; two months of the yearly 50,000 are 8,333 and some.
    assert line(plan, "minimum_take") == pytest.approx(50_000 / 6 - january - february)
    assert electricity(plan) == pytest.approx(
        max(january, 3_000) + max(february, 50_000 / 6 - max(january, 3_000)) + 0.1 * february
    )
    bill = yearly_bill(plan.scenario.tables["tariffs"], implied_load(plan))
    assert electricity(plan) == pytest.approx(bill.as_json()["total"])
