"""Property tax of a site: a share a year of the price of what is ours and stands there."""

from __future__ import annotations

import pytest
from small_scenarios import YEAR, cloud, demand, hall, least_cost, purchase, quarters, rental, scenario

from planner.coefficients import Coefficients, build_coefficients
from planner.errors import InputError
from planner.inputs import Scenario
from planner.performance import operating_points


def taxed(share: float | None = 0.02, **more: object) -> Scenario:
    tables = {
        "periods": quarters(),
        "sites": [hall(kind="owned", property_tax_fraction_per_year=share), cloud()],
        "facility_options": [{"site": "hall", "cooling": "air", "existing_kw": 100}],
        "offers": [purchase(price=10_000), rental(price=20)],
        "demand": demand(YEAR, 2),
    }
    return scenario(tables | more)


def coefficients(case: Scenario) -> Coefficients:
    return build_coefficients(case, operating_points(case))


def test_bought_units_are_taxed_on_their_price_for_the_years_they_stand():
    # Two boxes of 10,000 for a year at 2 %.
    assert least_cost(taxed()) - least_cost(taxed(None)) == pytest.approx(2 * 10_000 * 0.02)


def test_a_change_of_the_rate_costs_its_finite_difference():
    slope = (least_cost(taxed(0.03)) - least_cost(taxed(0.02))) / 0.01
    assert slope == pytest.approx(20_000)


def test_halls_and_modules_are_taxed_from_the_period_they_serve_in():
    # Building 500 per kW and plant 0 ready after 13 weeks, a module of 4,000 after 26: three and two quarters at 2 %.
    site = hall(
        kind="owned",
        property_tax_fraction_per_year=0.02,
        build_capex_per_kw=500,
        build_weeks=13,
        build_life_years=20,
    )
    module = {"site": "hall", "module": "gear", "item": "gear", "kw": 100, "lead_weeks": 26, "cost": 4_000}
    c = coefficients(taxed(sites=[site, cloud()], site_modules=[module]))
    for family, due in (("build_kw", 500 * 0.02 * 3 / 4), ("module", 4_000 * 0.02 * 2 / 4)):
        rows = c.costs[family]
        first = rows[rows["line"].eq("property_tax") & rows["period"].eq("2027-Q1")]
        assert first["amount"].sum() == pytest.approx(due)


def test_without_a_rate_nothing_is_taxed():
    rows = coefficients(taxed(None)).costs["installed"]
    assert not rows["line"].eq("property_tax").any()


def test_a_cloud_region_pays_no_property_tax_of_ours():
    with pytest.raises(
        InputError, match=r"column property_tax_fraction_per_year.*not used for a site of kind cloud"
    ):
        taxed(sites=[hall(kind="owned"), cloud() | {"property_tax_fraction_per_year": 0.01}])
