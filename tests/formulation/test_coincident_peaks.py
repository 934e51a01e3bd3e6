"""Charges on hours named afterwards, solved inside the model: against arithmetic by hand and the bill calculator."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from bill_model import bill_scenario, cells_of, hourly, solve_bill
from test_bill_in_the_model import demand, energy, least, starts

from planner.coefficients.electricity.bill import yearly_bill

SUMMER = "2026-06-24T16:00;2026-07-20T16:00;2026-08-19T16:00;2026-09-02T16:00"
EARLIER = {6: 2_000.0, 7: 1_000.0, 8: 3_000.0, 9: 6_000.0}


def history_of(component="4cp"):
    return [
        {"site": "hall", "component": component, "month": f"2026-{month:02d}-15", "peak_kw": kw}
        for month, kw in EARLIER.items()
    ]


def load_before():
    """Return 2026: the stated kW in the named hours, 500 else."""
    times = pd.date_range("2026-01-01", "2026-12-31 23:00", freq="h")
    load = pd.DataFrame({"timestamp": times, "kw": 500.0})
    for text in SUMMER.split(";"):
        load.loc[load["timestamp"] == text, "kw"] = EARLIER[pd.Timestamp(text).month]
    return load


def three_years(charges, **more):
    rows = [energy("energy", 0.01), *charges]
    return bill_scenario(rows, starts("2027-01-01", 3, 12), [12] * 3, peak_history=history_of(), **more)


def by_year(case, kw, cells, year, before):
    """Return the calculator's bill of one year of the plan's load, with what was drawn before it."""
    load = hourly(cells, kw, case)
    own = load[load["timestamp"].dt.year == year]
    past = pd.concat([before, load[load["timestamp"].dt.year < year]], ignore_index=True)
    return yearly_bill(case.tables["tariffs"], own, history=past)


def test_each_year_is_billed_the_summer_before_and_the_last_summer_is_owed():
    case = three_years([demand("4cp", 5, named_hours=SUMMER, hours="15-18", day_type="weekday")])
    cells = cells_of(case)
    year = cells["period"].str.removeprefix("p").astype(int).to_numpy()
    summer = cells["month"].isin([6, 7, 8, 9]).to_numpy()
    afternoon = (cells["hour_utc"].isin([15, 16, 17]) & cells["day_type"].eq("weekday")).to_numpy()
    # Afternoons of the summers draw 4,000, 8,000 and 1,000 kW; 9,000 are drawn where the charge does not look.
    kw = np.where(summer & afternoon, np.array([4_000.0, 8_000.0, 1_000.0])[year], 9_000.0)
    solved = solve_bill(case, cells, kw)
    first = sum(EARLIER.values()) / 4
    assert solved.line("demand_charge") == pytest.approx(5 * 12 * (first + 4_000 + 8_000))
    assert solved.line("coincident_peak_after_horizon") == pytest.approx(5 * 12 * 1_000)
    before = load_before()
    for at, base in enumerate((first, 4_000, 8_000)):
        bill = by_year(case, kw, cells, 2027 + at, before)
        assert bill.as_json()["demand"] == pytest.approx(5 * 12 * base)


def test_what_the_last_summer_owes_is_valued_on_the_last_day():
    charges = [demand("4cp", 5, named_hours=SUMMER, hours="15-18")]
    charges += [
        {"component": "tax", "charge": "levy", "price": 0.1, "price_unit": "fraction", "months": "1-6"}
    ]
    case = three_years(charges)
    case = replace(case, settings=case.settings.model_copy(update={"discount_rate_fraction": 0.08}))
    cells = cells_of(case)
    solved = solve_bill(case, cells, np.full(len(cells), 1_000.0))
    months = np.arange(12)
    value = 5_000 * np.where(months < 6, 1.1, 1.0) / 1.08 ** ((months + 0.5) / 12)
    assert solved.line("coincident_peak_after_horizon") == pytest.approx(value.sum())


@pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]
)
def test_rows_of_each_year_bill_random_loads_what_the_calculator_bills(seed):
    draw = np.random.default_rng(seed)
    named = {2026: SUMMER}
    for year in (2027, 2028):
        days = pd.date_range(f"{year}-06-01", f"{year}-09-30", freq="D")
        days = days[days.day_of_week < 5]
        chosen = [draw.choice(days[days.month == month]) for month in (6, 7, 7, 8, 9)]
        named[year] = ";".join(f"{pd.Timestamp(day):%Y-%m-%d}T16:00" for day in chosen)
    dated = [
        demand(
            "4cp" if year == 2026 else f"4cp {year}", 4 + year - 2026, named_hours=text, hours="16-17",
            day_type="weekday",
            months=draw.choice(["1-12", "1-9"]), minimum_kw=float(draw.choice([0.0, 90.0])),
            start_date=f"{year + 1}-01-01", end_date=f"{year + 1}-12-31",
        )
        for year, text in named.items()
    ]  # fmt: skip
    case = three_years([*dated, demand("delivery", 3), least("least", 4_000, "month")])
    cells = cells_of(case)
    kw = draw.gamma(2.0, 60.0, len(cells))
    solved = solve_bill(case, cells, kw)
    before = load_before()
    bills = [by_year(case, kw, cells, year, before).as_json() for year in (2027, 2028, 2029)]
    assert solved.line("demand_charge") == pytest.approx(sum(bill["demand"] for bill in bills))
    assert solved.line("minimum_take") == pytest.approx(sum(bill["minimum"] for bill in bills))
    assert solved.line("energy") == pytest.approx(sum(bill["energy"] for bill in bills))
    # No row says what 2030 costs, so nothing is owed for it.
    assert solved.line("coincident_peak_after_horizon") == 0.0


def test_a_year_that_begins_in_june_rests_on_the_summer_before_it():
    named = "2026-06-22T17:00;2026-07-15T17:00;2026-07-16T17:00;2026-08-12T17:00"
    charge = demand("plc", 2, named_hours=named, hours="17-18", start_date="2027-06-01")
    case = bill_scenario(
        [energy("energy", 0.01), charge], starts("2027-01-01", 2, 12), [12] * 2, peak_history=history_of("plc")[:3]
    )  # fmt: skip
    cells = cells_of(case)
    year = cells["period"].str.removeprefix("p").astype(int)
    kw = np.where(cells["month"].eq(7), 100.0, 60.0) * np.where(year.eq(0), 1.0, 2.0)
    solved = solve_bill(case, cells, kw)
    # June 2027 to May 2028 on the summer of 2026, June to December 2028 on that of 2027.
    first = (2_000 + 2 * 1_000 + 3_000) / 4
    second = (60 + 2 * 100 + 60) / 4
    assert solved.line("demand_charge") == pytest.approx(2 * (12 * first + 7 * second))
    # Five months more on the summer of 2027, twelve on that of 2028.
    assert solved.line("coincident_peak_after_horizon") == pytest.approx(2 * (5 * second + 12 * 2 * second))


def test_a_coincident_peak_billed_in_its_own_month_rests_on_it():
    charges = [
        demand(
            "june",
            7,
            named_hours="2027-06-24T16:00",
            hours="16-17",
            start_date="2027-06-01",
            end_date="2027-06-30",
        )
    ]
    case = bill_scenario([energy("energy", 0.0), *charges], ["2027-06-01"], [1])
    cells = cells_of(case)
    kw = np.where(cells["hour_utc"].eq(16), 300.0, 900.0)
    solved = solve_bill(case, cells, kw)
    assert solved.total == pytest.approx(7 * 300.0)
    assert yearly_bill(case.tables["tariffs"], hourly(cells, kw, case)).as_json()["total"] == pytest.approx(
        2_100.0
    )
