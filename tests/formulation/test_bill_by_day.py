"""Charges per kW and day and tiers per day in the model, against the calculator and by hand."""

import numpy as np
import pytest
from bill_model import bill_scenario, cells_of, hourly, solve_bill
from small_scenarios import region

from planner.coefficients.electricity.bill import yearly_bill
from planner.inputs import typed_frame


def charge(component, kind, price, unit, **more):
    return {"component": component, "charge": kind, "price": price, "price_unit": unit, **more}


ENERGY = charge("energy", "energy", 0.0, "kwh")


def by_hours(case, *rows):
    """Return the case over periods in hours: start, hours."""
    periods = [{"period": f"h{k}", "start_date": day, "hours": hours} for k, (day, hours) in enumerate(rows)]
    case.tables["periods"] = typed_frame("periods", periods)
    return case


def test_364_days_of_300_kw_and_one_of_1000_pay_55_100():
    case = bill_scenario([ENERGY, charge("daily", "demand", 0.5, "kw_day")], ["2027-01-01"], [12])
    case = by_hours(case, ("2027-01-01", 364 * 24), ("2027-12-31", 24))
    cells = cells_of(case)
    kw = np.where((cells["period"] == "h1") & (cells["hour_utc"] == 15), 1_000.0, 300.0)
    solved = solve_bill(case, cells, kw)
    assert solved.total == pytest.approx(55_100)
    assert solved.line("demand_charge") == pytest.approx(55_100)


CHARGES = [
    charge("energy", "energy", 0.05, "kwh"),
    charge("any", "demand", 0.4, "kw_day"),
    charge("on", "demand", 0.3, "kw_day", hours="08-20", day_type="weekday", months="2-3", minimum_kw=150),
    charge(
        "dated", "demand", 0.2, "kva_day", power_factor=0.9, start_date="2027-02-11", end_date="2027-03-09"
    ),
    charge("share", "demand", 0.1, "kw_day", contract_fraction=0.5),
    charge("use 0", "energy", 0.02, "kwh", tier_of="use", tier_from=0, tier_unit="kwh_day"),
    charge("use 1", "energy", 0.05, "kwh", tier_of="use", tier_from=1_500, tier_unit="kwh_day"),
    charge("use 2", "energy", 0.01, "kwh", tier_of="use", tier_from=3_000, tier_unit="kwh_day"),
    charge("load 0", "energy", 0.04, "kwh", tier_of="load", tier_from=0, tier_unit="kwh_per_kw_day"),
    charge("load 1", "energy", 0.01, "kwh", tier_of="load", tier_from=8, tier_unit="kwh_per_kw_day"),
    charge("tax", "levy", 0.1, "fraction", months="3"),
    charge("least", "minimum", 22_000, "month"),
]


@pytest.mark.parametrize("offset", [-6, pytest.param(0, marks=pytest.mark.slow)])
def test_the_model_bills_days_and_tiers_per_day_as_the_calculator_does(offset):
    case = bill_scenario(
        CHARGES,
        ["2027-01-01", "2027-03-01"],
        [2, 1],
        regions=[region(utc_offset_h=offset)],
        hall={"contract_kw": 320},
    )
    cells = cells_of(case)
    kw = np.random.default_rng(3).gamma(2.0, 60.0, len(cells))
    bill = yearly_bill(case.tables["tariffs"], hourly(cells, kw, case, offset), contract_kw=320).as_json()
    assert min(bill[kind] for kind in ("energy", "demand", "levy", "minimum")) > 0
    assert solve_bill(case, cells, kw).total == pytest.approx(bill["total"], rel=1e-9)


def test_a_kept_peak_stands_for_every_weekday_of_averaged_hours():
    case = bill_scenario(
        [ENERGY, charge("daily", "demand", 1.0, "kw_day", day_type="weekday")], ["2027-02-01"], [1]
    )
    cells = cells_of(case)
    peak = (cells["day_type"] == "weekday") & (cells["hour_utc"] == 15)
    cells = cells.assign(
        block=np.where(peak, "x0", "a0"),
        label=np.where(peak, "peak decode load", "average, load group 1 of 1"),
    )
    kw = np.where(peak, 500.0, 100.0)
    assert solve_bill(case, cells, kw).total == pytest.approx(20 * 500)
