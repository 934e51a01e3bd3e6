"""Tariffs, staff, rents and fixed costs that rise, and rates that are stated real: model, audit, workbook alike."""

from __future__ import annotations

import pytest
from small_scenarios import box, demand, energy, hall, line, point, purchase, scenario, solved
from workbook_checks import failed_checks

from planner.plan import audit_plan

YEARS = ("2027", "2028", "2029")
RISES = {
    "tariff_escalation_fraction_per_year": 0.10,
    "staff_escalation_fraction_per_year": 0.05,
    "rent_escalation_fraction_per_year": 0.04,
    "fixed_cost_escalation_fraction_per_year": 0.02,
}


def plan_of(**settings):
    """Return three years of one box of 10 kW in a hall with energy, a meter, rent, staff, network and fixed cost."""
    site = hall(
        rent_per_kw_month=100.0,
        fixed_cost_per_year=5_000.0,
        staff_per_mw=10.0,
        staff_cost_per_year=100_000.0,
        network_cost_per_kw_year=50.0,
    )
    meter = energy("meter", 40.0) | {"charge": "fixed", "price_unit": "month"}
    tables = {
        "periods": [{"period": year, "start_date": f"{year}-01-01", "months": 12} for year in YEARS],
        "sites": [site],
        "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 100}],
        "products": [box()],
        "operating_points": [point("box")],
        "offers": [purchase()],
        "tariffs": [energy(price=0.1), meter],
        "demand": demand(YEARS, 1),
    }
    return solved(scenario(tables, **settings))


@pytest.fixture(scope="module")
def rising():
    return plan_of(discount_rate_fraction=0.08, **RISES)


def test_each_kind_of_cost_rises_at_its_own_rate_from_the_first_day(rising):
    def sums(rise: float, yearly: dict[str, float]) -> float:
        return sum(amount * (1 + rise) ** at for at, amount in enumerate(yearly.values()))

    each = dict.fromkeys(YEARS, 1.0)
    drawn = rising["energy"].groupby("period")["kwh"].sum()
    assert line(rising, "energy") == pytest.approx(sums(0.10, {year: drawn[year] * 0.1 for year in YEARS}))
    assert line(rising, "tariff_fixed") == pytest.approx(sums(0.10, each) * 12 * 40)
    assert line(rising, "facility_rent") == pytest.approx(sums(0.04, each) * 12 * 100 * 10)
    assert line(rising, "staff") == pytest.approx(sums(0.05, each) * 10 * 100_000 * 0.010)
    assert line(rising, "site_fixed") == pytest.approx(sums(0.02, each) * 5_000)
    assert line(rising, "network") == pytest.approx(sums(0.02, each) * 50 * 10)


def test_the_audit_and_the_workbook_raise_them_by_themselves(rising, tmp_path):
    assert audit_plan(rising).failures.empty
    assert failed_checks(rising, tmp_path) == []


@pytest.mark.slow
def test_a_real_rate_with_inflation_is_the_nominal_rate_that_contains_it(tmp_path):
    inflation = 0.03
    real = plan_of(
        money_terms="real", inflation_fraction_per_year=inflation, discount_rate_fraction=0.05, **RISES
    )
    nominal = {name: (1 + rise) * (1 + inflation) - 1 for name, rise in RISES.items()}
    same = plan_of(discount_rate_fraction=1.05 * 1.03 - 1, **nominal)
    assert real.headline["total_cost"] == pytest.approx(same.headline["total_cost"])
    assert line(real, "staff") == pytest.approx(line(same, "staff"))
    assert audit_plan(real).failures.empty
    assert failed_checks(real, tmp_path) == []
    # In nominal terms inflation by itself moves nothing.
    idle = plan_of(inflation_fraction_per_year=inflation, discount_rate_fraction=0.05)
    plain = plan_of(discount_rate_fraction=0.05)
    assert idle.headline["total_cost"] == pytest.approx(plain.headline["total_cost"])
