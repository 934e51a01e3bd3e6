"""What ratchets bill after the horizon on the peaks of its last months, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from bill_model import bill_scenario, cells_of, solve_bill

ENERGY = {"component": "energy", "charge": "energy", "price": 0.0, "price_unit": "kwh"}


def ratchet(price=10.0, **more):
    return {
        "component": "d",
        "charge": "demand",
        "price": price,
        "price_unit": "kw_month",
        "ratchet_fraction": 0.8,
    } | more


def solved(charges, peaks, rate=0.0, default=100.0):
    """Return the bill of 2027 whose months have these peaks."""
    case = bill_scenario([ENERGY, *charges], ["2027-01-01"], [12])
    case = replace(case, settings=case.settings.model_copy(update={"discount_rate_fraction": rate}))
    cells = cells_of(case)
    return solve_bill(case, cells, cells["month"].map(peaks).fillna(default).to_numpy())


def test_a_peak_in_december_is_billed_eleven_months_more():
    found = solved([ratchet()], {12: 200.0})
    assert found.line("demand_charge") == pytest.approx(10 * (11 * 100 + 200))
    assert found.line("ratchet_after_horizon") == pytest.approx(10 * 0.8 * 200 * 11)


def test_each_month_looks_back_as_far_as_its_ratchet_says_and_forgets():
    # July's 300 kW are seen until October 2027 + 0 months of a ratchet of three: nothing after the horizon; November's
    # 200 until February.
    found = solved([ratchet(ratchet_months=3)], {7: 300.0, 11: 200.0})
    later = 0.8 * 10 * (200 + 200 + 100)
    assert found.line("ratchet_after_horizon") == pytest.approx(later)


def test_the_season_counts_in_the_year_after_and_the_charge_in_its_own_months():
    # Only June to September count; the charge is billed from November to March.
    found = solved([ratchet(ratchet_season="6-9", months="11-3")], {8: 400.0, 12: 900.0})
    assert found.line("ratchet_after_horizon") == pytest.approx(10 * 0.8 * 400 * 3)


def test_a_charge_that_ends_owes_nothing_after_its_last_day_and_levies_are_owed_with_it():
    tax = {"component": "tax", "charge": "levy", "price": 0.1, "price_unit": "fraction", "months": "1"}
    found = solved([ratchet(end_date="2028-02-14"), tax], {12: 200.0})
    assert found.line("ratchet_after_horizon") == pytest.approx(10 * 0.8 * 200 * (1.1 + 14 / 29))


def test_what_is_owed_is_valued_on_the_last_day():
    found = solved([ratchet()], {12: 200.0}, rate=0.08)
    value = 10 * 0.8 * 200 / 1.08 ** ((np.arange(11) + 0.5) / 12)
    assert found.line("ratchet_after_horizon") == pytest.approx(value.sum())
