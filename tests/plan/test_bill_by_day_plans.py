"""Whole plans under charges per kW and day and tiers per day, at a site with a clock of its own, and their audit."""

import pytest
from bill_model import full_power, hourly
from small_scenarios import demand, energy, hall, line, purchase, region, scenario, solved

from planner.coefficients.electricity.bill import yearly_bill
from planner.plan import Plan, audit_plan

OFFSET = -6
MONTHS = ("2027-02", "2027-03")
ELECTRICITY = ("energy", "energy_tiers", "demand_charge", "demand_tiers", "tariff_fixed", "minimum_take")


def charge(component, kind, price, unit, **more):
    return energy(component, price, charge=kind, **more) | {"price_unit": unit}


DAILY = [
    energy("base", 0.03),
    charge("any", "demand", 0.3, "kw_day"),
    charge("on", "demand", 0.2, "kw_day", hours="08-20", day_type="weekday", minimum_kw=50),
    charge("dated", "demand", 0.1, "kw_day", start_date="2027-02-11", end_date="2027-03-09"),
    *(
        charge(f"use {start}", "energy", price, "kwh", tier_of="use", tier_from=start, tier_unit=unit)
        for unit in ("kwh_day",)
        for start, price in ((0, 0.02), (900, 0.05))
    ),
    charge("load 0", "energy", 0.04, "kwh", tier_of="load", tier_from=0, tier_unit="kwh_per_kw_day"),
    charge("load 1", "energy", 0.01, "kwh", tier_of="load", tier_from=8, tier_unit="kwh_per_kw_day"),
    charge("tax", "levy", 0.1, "fraction", months="3"),
    charge("least", "minimum", 6_000, "month"),
]
SAID = {"source": "case", "source_date": "2026-11-29", "confidence": "estimate"}


def day_and_night():
    """Return a load that follows the clock of the region: twice as high by day, lower at the weekend."""
    return [
        {"profile": "day", "day_type": kind, **SAID}
        | {f"h{hour:02d}": height * (1.5 if 8 <= hour < 20 else 0.5) for hour in range(24)}
        for kind, height in (("weekday", 1.12), ("weekend", 0.7))
    ]


def plan_of(**settings) -> Plan:
    return solved(
        scenario(
            {
                "periods": [{"period": name, "start_date": f"{name}-01", "months": 1} for name in MONTHS],
                **full_power(),
                "regions": [region(utc_offset_h=OFFSET)],
                "sites": [hall(opening_cost=10.0)],
                "tariffs": DAILY,
                "profiles": day_and_night(),
                "offers": [purchase(price=100)],
                "demand": demand(MONTHS, [4, 5], profile="day"),
            },
            **settings,
        )
    )


@pytest.fixture(scope="module")
def plan():
    return plan_of(max_blocks=0)


def test_a_plan_at_utc_minus_6_pays_what_the_calculator_bills_for_its_days(plan):
    assert audit_plan(plan).failures.empty, audit_plan(plan).failures.to_dict("records")
    cells = plan["block_cells"]
    drawn = plan["energy"].set_index(["period", "block"])["grid_kw"]
    kw = drawn.reindex(list(zip(cells["period"], cells["block"], strict=True))).to_numpy(float)
    load = hourly(cells[["period", "month", "day_type", "hour_utc"]], kw, plan.scenario, OFFSET)
    bill = yearly_bill(plan.scenario.tables["tariffs"], load).as_json()
    assert line(plan, "demand_charge") > 0
    assert sum(line(plan, name) for name in ELECTRICITY) == pytest.approx(bill["total"], rel=1e-9)


def test_days_that_look_at_the_same_hours_are_one_row(plan):
    on = plan["billed_peaks"].query("component == 'on'")
    # Of the weekdays of a month the Fridays end in the weekend of UTC, but not by 20:00 there; the first day begins
    # at the other end of the month.
    assert len(on) < 8
    assert set(on["month"].str[:7]) == set(MONTHS)


@pytest.mark.parametrize("column", ["billed_kw", "measured_kw", "amount"])
def test_the_audit_finds_a_day_that_is_billed_otherwise(plan, column):
    peaks = plan["billed_peaks"]
    first = (peaks["component"] == "any") & (
        peaks["month"] == peaks.loc[peaks["component"] == "any", "month"].max()
    )
    wrong = peaks.assign(**{column: peaks[column].where(~first, peaks[column] * 0.9)})
    changed = Plan(plan.headline, {**plan.frames, "billed_peaks": wrong}, plan.scenario)
    assert "billed_months" in set(audit_plan(changed).failures["check"])


@pytest.mark.slow
def test_a_plan_of_averaged_hours_passes_its_audit_too():
    assert audit_plan(plan_of()).passed


def test_364_days_of_300_kw_and_one_of_1000_pay_55_100_in_a_plan():
    periods = [
        {"period": "rest", "start_date": "2027-01-01", "hours": 364 * 24},
        {"period": "day", "start_date": "2027-12-31", "hours": 24},
    ]
    plan = solved(
        scenario(
            {
                "periods": periods,
                **full_power(),
                "sites": [hall()],
                "tariffs": [energy(price=0.0), charge("daily", "demand", 0.50, "kw_day")],
                "offers": [purchase(price=0)],
                "demand": demand(("rest", "day"), [30, 100]),
            }
        )
    )
    assert line(plan, "demand_charge") == pytest.approx(55_100)
    assert audit_plan(plan).failures.empty, audit_plan(plan).failures.to_dict("records")
