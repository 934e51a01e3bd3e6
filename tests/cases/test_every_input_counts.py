"""Inputs that count for every kind of row: openings of cloud regions, the stated draw of an opaque point."""

from dataclasses import replace

import pytest
from small_scenarios import (
    SAID,
    cloud,
    demand,
    energy,
    hall,
    least_cost_relaxed,
    line,
    model_of,
    one_year,
    point,
    purchase,
    quarters,
    rental,
    scenario,
    solved,
)
from workbook_checks import failed_checks

from planner.plan import audit_plan
from planner.solve import SolveOptions, solve

OPENING = {"opening_cost": 90_000, "fixed_cost_per_year": 40_000}


def rented(rate=1.0, sites=(), offers=(), **tables):
    return scenario(
        {
            "periods": one_year(),
            "sites": list(sites) or [cloud() | OPENING],
            "offers": list(offers) or [rental(price=2.0)],
            "demand": demand(["2027"], rate),
        }
        | tables
    )


@pytest.fixture(scope="module")
def opened_region():
    return solved(rented(), audit=True)


def test_opening_a_cloud_region_is_paid_as_stated(opened_region):
    assert opened_region.headline["total_cost"] == pytest.approx(147_520)
    assert line(opened_region, "on_demand_rent") == pytest.approx(17_520)
    assert line(opened_region, "site_opening") == pytest.approx(90_000)
    assert line(opened_region, "site_fixed") == pytest.approx(40_000)
    assert opened_region["checks"]["passed"].all()


@pytest.mark.slow
def test_the_workbook_counts_the_opening_of_a_cloud_region(opened_region, tmp_path):
    assert not failed_checks(opened_region, tmp_path)


def test_the_audit_sees_service_from_a_region_that_is_closed(opened_region):
    shut = opened_region["sites"].assign(open=False, open_fraction=0.0)
    tampered = replace(opened_region, frames={**opened_region.frames, "sites": shut})
    checks = audit_plan(tampered).checks
    assert not checks.set_index("check").loc["open_to_serve", "passed"]


@pytest.mark.slow
@pytest.mark.parametrize(("opening_cost", "chosen"), [(8_000, "far"), (9_000, "near")])
def test_an_opening_is_worth_it_only_where_it_saves_more(opening_cost, chosen):
    """One dollar an hour saves 8,760 a year."""
    sites = [cloud("near"), cloud("far") | {"opening_cost": opening_cost}]
    offers = [rental("here", price=2.0, sites=["near"]), rental("there", price=1.0, sites=["far"])]
    model = model_of(rented(sites=sites, offers=offers))
    found = solve(model.problem, SolveOptions(gap=0.0))
    best = {"far": 8_760 + opening_cost, "near": 17_520}
    assert found.objective == pytest.approx(min(best.values()))
    assert min(best, key=best.get) == chosen


def test_what_a_request_before_the_opening_is_worth_is_the_dual():
    """Relaxed, each of 2 requests/s opens half the region: half of 10,000 more than the rent."""

    def of_demand(rate):
        return rented(rate, sites=[cloud() | {"opening_cost": 10_000}])

    model = model_of(of_demand(2.0))
    found = solve(model.problem, SolveOptions(relax=True))
    duals = model.problem.row_frame("open_to_serve", found.row_duals)
    assert duals["value"].tolist() == [pytest.approx(-5_000)]
    served = -duals["value"].iloc[0] * 2.0 + 17_520 * 2.0
    assert least_cost_relaxed(of_demand(2.0)) == pytest.approx(served)


@pytest.mark.slow
def test_a_lot_in_a_cloud_region_keeps_it_open():
    lot = {"fleet": "old", "product": "box", "site": "cloud", "cooling": "hosted", "units": 2}
    case = rented(offers=[rental(price=2.0)], fleet=[lot | {"in_service_date": "2026-01-01"}])
    assert least_cost_relaxed(case) == pytest.approx(130_000)


@pytest.mark.slow
def test_a_region_pays_its_fixed_cost_from_its_first_use_on():
    case = scenario(
        {
            "periods": quarters(2),
            "sites": [cloud() | {"fixed_cost_per_year": 36_500}],
            "offers": [rental(price=0.0)],
            "demand": demand(["2027-Q1", "2027-Q2"], [0.0, 1.0]),
        },
        accept=["offers/rental/price"],
    )
    assert least_cost_relaxed(case) == pytest.approx(36_500 / 4)


def drawn(power_w, scope, tables=None, **product):
    """Return five years of one owned box at 0.10 per kWh whose stated rate says what it draws."""
    years = [{"period": str(year), "start_date": f"{year}-01-01", "months": 12} for year in range(2027, 2032)]
    box = {"product": "box", "chips_per_unit": 1, "vendor": "Maker", "nameplate_kw": 1.0, "busy_kw": 0.82}
    return scenario(
        {
            "periods": years,
            "products": [box | {"idle_kw": 0, "racks_per_unit": 0.1, "life_years": 9} | product | SAID],
            "sites": [hall()],
            "offers": [purchase(price=0.0)],
            "tariffs": [energy(price=0.10)],
            "operating_points": [point(power_w=power_w, power_scope=scope)],
            "demand": [row for year in years for row in demand([year["period"]], 1.0)],
            **(tables or {}),
        },
        accept=["offers/purchase/price"],
    )


def test_the_draw_an_opaque_point_states_is_paid():
    assert least_cost_relaxed(drawn(650, "system")) == pytest.approx(2_848.56)
    assert least_cost_relaxed(drawn(None, None)) > 2_900


@pytest.mark.slow
def test_a_draw_per_accelerator_gets_the_share_of_its_host():
    """Nameplate 1 kW less the 0.7 kW of its chip is 0.3 kW of host: 0.3 + 0.5."""
    chip = {"chip": "chip", "vendor": "Maker", "family": "any", "memory_gb": 80, "memory_tb_per_s": 2}
    family = {"family": "any", "bandwidth_efficiency_fraction": 0.6, "mfu_bf16_fraction": 0.4}
    ratios = {"overhead_ratio": 1, "band_low_ratio": 0.5, "band_high_ratio": 2}
    case = drawn(
        500,
        "per accelerator",
        tables={
            "chips": [chip | {"tdp_w": 700, "scale_up_chips": 1} | SAID],
            "chip_families": [family | ratios | SAID],
        },
        chip="chip",
    )
    assert least_cost_relaxed(case) == pytest.approx(0.8 * 43_824 * 0.10)
