"""Months, kinds of day and hours of a bill follow the site's clock, not UTC."""

import numpy as np
import pandas as pd
import pytest
from bill_model import bill_scenario, cells_of, hourly, solve_bill
from small_scenarios import region

from planner.coefficients.electricity.bill import yearly_bill
from planner.coefficients.electricity.meter import site_meter
from planner.coefficients.electricity.tariff import with_windows
from planner.inputs import calendar_cells, period_frame, typed_frame

QUARTERS = ["2027-01-01", "2027-04-01", "2027-07-01", "2027-10-01"]
CLOCKS = (-8, -6, 0, 8, 10)


def charge(component, kind, price, unit, **more):
    return {"component": component, "charge": kind, "price": price, "price_unit": unit, **more}


EVERY_KIND = [
    charge("base", "energy", 0.04, "kwh"),
    charge("peak", "energy", 0.09, "kwh", hours="16-21", day_type="weekday", months="6-9"),
    charge("night", "energy", 0.02, "kwh", hours="22-06", weekend_hours="20-10"),
    charge("dated", "energy", 0.03, "kwh", start_date="2027-05-13", end_date="2027-10-20"),
    charge("use 0", "energy", 0.01, "kwh", tier_of="use", tier_from=0, tier_unit="kwh"),
    charge("use 1", "energy", 0.03, "kwh", tier_of="use", tier_from=90_000, tier_unit="kwh"),
    charge("delivery", "demand", 6, "kw_month", ratchet_fraction=0.9, ratchet_season="6-9"),
    charge("evening", "demand", 9, "kw_month", hours="17-21", day_type="weekday", months="5-10"),
    charge("weekend", "demand", 3, "kw_month", day_type="weekend"),
    charge("meter", "fixed", 3, "day"),
    charge("tax", "levy", 0.08, "fraction", months="4-9", start_date="2027-06-11"),
    charge("least", "minimum", 27_000, "month"),
]


def case_at(offset, charges=EVERY_KIND, starts=QUARTERS, months=(3, 3, 3, 3)):
    return bill_scenario(charges, list(starts), list(months), regions=[region(utc_offset_h=offset)])


@pytest.mark.parametrize("offset", [-6, pytest.param(8, marks=pytest.mark.slow), 10])
def test_a_load_is_billed_by_the_clock_of_its_site_as_the_calculator_bills_it(offset):
    case = case_at(offset)
    cells = cells_of(case)
    kw = np.random.default_rng(7).gamma(2.0, 80.0, len(cells))
    kw *= cells["period"].map({"p0": 1.0, "p1": 1.3, "p2": 0.8, "p3": 1.6})
    bill = yearly_bill(case.tables["tariffs"], hourly(cells, kw.to_numpy(), case, offset)).as_json()
    assert bill["levy"] > 0
    assert bill["minimum"] > 0
    assert solve_bill(case, cells, kw.to_numpy()).total == pytest.approx(bill["total"], rel=1e-9)


def window(**more):
    row = charge("c", "energy", 1.0, "kwh", day_type="all") | {"tariff": "t", "currency": "USD"} | more
    return with_windows(typed_frame("tariffs", [row])).iloc[0].to_dict()


def meter_at(offset):
    case = case_at(offset)
    return site_meter(period_frame(case), calendar_cells(case), offset)


@pytest.mark.parametrize("offset", CLOCKS)
def test_a_site_has_whole_months_and_its_own_weekdays_wherever_it_is(offset):
    meter = meter_at(offset)
    days = pd.date_range("2027-01-01", "2027-12-31")
    assert meter.by_month(meter.hours) == pytest.approx(24.0 * np.bincount(days.month)[1:])
    weekdays = days[days.day_of_week < 5]
    assert meter.by_month(meter.hours * meter.weekday) == pytest.approx(
        24.0 * np.bincount(weekdays.month)[1:]
    )
    assert meter.by_cell(np.ones(len(meter.hours))) == pytest.approx(1.0)


@pytest.mark.parametrize("offset", CLOCKS)
@pytest.mark.parametrize(
    ("more", "hours"),
    [
        ({"hours": "16-20", "day_type": "weekday", "months": "2"}, 4 * 20),
        ({"hours": "16-20", "weekend_hours": "10-12", "months": "2"}, 4 * 20 + 2 * 8),
        ({"hours": "08:30-11:30", "day_type": "weekend"}, 3 * 104),
        ({"start_date": "2027-05-13", "end_date": "2027-05-16", "day_type": "weekday"}, 24 * 2),
        ({"months": "11-2"}, 24 * 120),
    ],
)
def test_a_charge_holds_the_hours_of_its_window_by_the_local_clock(offset, more, hours):
    meter = meter_at(offset)
    assert (meter.share_held(window(**more)) * meter.hours).sum() == pytest.approx(hours)


def test_friday_evening_in_california_is_in_the_utc_weekend():
    meter = meter_at(-8)
    evening = meter.by_cell(meter.share_held(window(hours="16-17", day_type="weekday")))
    cells = calendar_cells(case_at(-8))
    held = cells.assign(share=evening)[(evening > 0) & (cells["month"] == 2)].set_index("day_type")["share"]
    # 16:00 there is 00:00 UTC of the next day. The Mondays to Fridays of February begin on 1 February, a Monday in UTC
    # too, so that midnight is Sunday's 16:00 in California; of the 8 weekend days 4 are Saturdays.
    assert held["weekend"] == pytest.approx(0.5)
    assert held["weekday"] == pytest.approx(16 / 20)


def test_a_period_in_hours_is_one_month_of_mean_days():
    case = case_at(8)
    periods = typed_frame("periods", [{"period": "s", "start_date": "2027-07-10", "hours": 48}])
    case.tables["periods"] = periods
    meter = site_meter(period_frame(case), calendar_cells(case), 8)
    assert meter.bill_months["month"].tolist() == ["2027-07"]
    assert (meter.share_held(window(day_type="weekday")) * meter.hours).sum() == pytest.approx(48 * 5 / 7)
