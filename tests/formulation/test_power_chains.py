"""Which power chain a hall is built with, from cases solved by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import Workbook
from small_scenarios import (
    HOURS,
    SAID,
    box,
    cooling,
    demand,
    energy,
    hall,
    least_cost,
    line,
    model_of,
    one_year,
    point,
    purchase,
    quarters,
    scenario,
    solved,
    units,
)
from workbook_checks import failed_checks

from planner.errors import InputError
from planner.inputs import Scenario
from planner.plan import audit_plan
from reports import styles
from reports.content import content_of
from reports.layout import start_page
from reports.sheets.facility import facility_options, option_rows

THIN = {"power_chain": "N", "headroom_fraction": 0.1, "frequency_fraction": 0.9}
STEPS = {"transient_margin_fraction": 0.1}
WIDE = {"power_chain": "2N", "headroom_fraction": 0.3, "frequency_fraction": 1.0}


def choice(dearer: float, usable_kw: float = 10_000.0, kind: str = "owned", **more: object) -> Scenario:
    """Return 9 requests/s on boxes of 10 kW for 10,000 in a hall of 1,000 per kW on either chain."""
    tables = {
        "periods": one_year(),
        "sites": [hall(kind=kind, build_capex_per_kw=1_000, build_weeks=0, build_life_years=15)],
        "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": usable_kw}],
        "power_chains": [THIN | SAID, WIDE | {"capex_per_kw": dearer} | SAID],
        "facility_options": [{"site": "hall", "cooling": "air", "power_chains": "N;2N"}],
        "products": [box(coolings="air")],
        "offers": [purchase(price=10_000)],
        "operating_points": [point()],
        "demand": demand(["2027"], 9),
    }
    return scenario(tables | more)


def test_the_dearer_chain_is_built_as_long_as_the_clock_it_holds_pays_for_it():
    # N holds 0.9 of the clock: ten boxes and 100 kW, 200,000. 2N needs nine and 90 kW: 180,000 + 90 x its price;
    # the two are equal at 222.2 per kW.
    plan = solved(choice(200))
    assert units(plan, "cooling") == {"air@2N": 9}
    assert plan.headline["total_cost"] == pytest.approx(180_000 + 90 * 200)
    assert line(plan, "facility_build") == pytest.approx(90 * 1_200)
    plan = solved(choice(250))
    assert units(plan, "cooling") == {"air@N": 10}
    assert plan.headline["total_cost"] == pytest.approx(200_000)


def test_scarce_power_goes_to_the_chain_that_keeps_less_of_it_free():
    # Of 120 kW 2N leaves 84: eight boxes. N leaves 108, enough for ten at 200,000, and every mix that serves 9
    # costs more: 9 on N and 1 on 2N are 180,000 + 22,000.
    assert least_cost(choice(200, 120)) == pytest.approx(200_000)
    # At no extra price 2N would take all with power enough, and as much as the power allows without: with a boxes
    # on N and b on 2N a / 0.9 + b / 0.7 <= 12, 0.9 a + b >= 9 and whole boxes leave ten in all.
    assert least_cost(choice(0, 10_000)) == pytest.approx(180_000)
    assert least_cost(choice(0, 120)) == pytest.approx(200_000)


def test_modules_that_carry_steps_in_load_need_less_power_kept_free():
    # 2N of 120 kW leaves 84: eight boxes, so 9 requests/s need N. A margin of 10 % for load steps leaves 92.4: nine
    # boxes of 2N, which cost 9 x (10,000 + 10 x (1,000 + 200)); all on N would be ten at 20,000.
    stepped = choice(200, 120, power_chains=[THIN | SAID, WIDE | {"capex_per_kw": 200} | STEPS | SAID])
    assert least_cost(stepped) == pytest.approx(9 * 22_000)
    plan = solved(stepped)
    assert audit_plan(plan).passed
    whole = plan["site_power"].query("level == 'facility'")["usable_kw"]
    assert list(whole) == pytest.approx([92.4])
    book = Workbook()
    content = content_of(plan)
    rows = option_rows(content).set_index("cooling")
    assert rows.loc["air@2N", "usable"] == pytest.approx(0.77)
    assert list(rows["used_kw"]) == pytest.approx([0, 90])
    assert list(rows["prefill"]) == pytest.approx([0.9, 1.0])
    styles.register(book)
    facility_options(start_page(book, content, book.create_sheet("Power").title, "output", ""))
    shown = [cell.value for row in book["Power"].iter_rows() for cell in row if cell.value is not None]
    assert {"air@N", "air@2N", 0.1}.issubset(shown)


def test_an_option_louder_than_the_site_allows_is_a_fault():
    quiet = [
        hall(kind="owned", build_capex_per_kw=1_000, build_weeks=0, build_life_years=15, noise_limit_dba=60)
    ]
    with pytest.raises(InputError, match=r"2N has 65 dB\(A\), the site allows 60"):
        choice(
            200, sites=quiet, power_chains=[THIN | SAID, WIDE | {"capex_per_kw": 200, "noise_dba": 65} | SAID]
        )
    loud = cooling("air", noise_dba=70)
    with pytest.raises(InputError, match=r"70 dB\(A\), the site allows 60"):
        choice(200, sites=quiet, cooling=[loud])


def test_a_cooling_that_no_hardware_may_stand_under_is_told():
    options = [{"site": "hall", "cooling": name} for name in ("air", "immersion")]
    case = choice(200, cooling=[cooling("air"), cooling("immersion")], facility_options=options)
    assert [text for text in case.warnings if "no hardware" in text and "immersion" in text]
    assert not [text for text in case.warnings if "no hardware" in text and "'air'" in text]


def test_heat_that_a_site_can_remove_is_shared_by_the_chains_of_a_cooling():
    # 95 kW of heat are nine boxes, on whichever chain: only 2N holds the clock to serve 9 with them.
    options = [{"site": "hall", "cooling": "air", "power_chains": "N;2N", "capacity_kw": 95}]
    assert least_cost(choice(250, 300, facility_options=options)) == pytest.approx(180_000 + 90 * 250)


def losses_and_upkeep() -> Scenario:
    """Return a lot on standing hall and one box more in the second quarter, on 2N."""
    # 2N: 10 % of losses at 1 per kWh, up 99 % of the time, 100 per kW and 5 % of that a year, ready after 13 weeks.
    # Standing hall carries the first quarter's box on the first chain named, where the lot is.
    chain = WIDE | {
        "distribution_loss_fraction": 0.1,
        "capex_per_kw": 100,
        "maintenance_fraction_per_year": 0.05,
        "availability_fraction": 0.99,
        "build_weeks": 13,
    }
    return scenario(
        {
            "periods": quarters(2),
            "sites": [hall(kind="owned", build_capex_per_kw=1_000, build_weeks=4, build_life_years=15)],
            "power_chains": [chain | SAID],
            "facility_options": [{"site": "hall", "cooling": "air", "power_chains": "2N", "existing_kw": 10}],
            "tariffs": [energy(price=1.0)],
            "products": [box(idle_kw=10, coolings="air")],
            "offers": [purchase(price=10_000)],
            "fleet": [
                {
                    "fleet": "old",
                    "product": "box",
                    "site": "hall",
                    "cooling": "air",
                    "units": 1,
                    "in_service_date": "2026-01-01",
                }
            ],
            "demand": demand(["2027-Q1", "2027-Q2"], [0.99, 1.98]),
        }
    )


def test_losses_availability_upkeep_and_time_to_build_are_those_of_the_chain():
    plan = solved(losses_and_upkeep())
    assert units(plan, "cooling") == {"air@2N": 1}
    assert plan["build"][["cooling", "period", "kw"]].to_numpy().tolist() == [["air@2N", "2027-Q1", 10.0]]
    assert line(plan, "facility_build") == pytest.approx(10 * 1_100)
    assert line(plan, "cooling_maintenance") == pytest.approx(10 * 100 * 0.05 / 4)
    first, second = HOURS["2027-Q1"], HOURS["2027-Q2"]
    assert line(plan, "energy") == pytest.approx(11 * first + 22 * second)


@pytest.mark.slow
def test_the_workbook_calculates_the_cost_of_a_plan_with_chains(tmp_path: Path):
    assert failed_checks(solved(losses_and_upkeep()), tmp_path) == []


def test_an_option_without_chains_is_left_alone():
    case = choice(0, facility_options=[{"site": "hall", "cooling": "air"}])
    labels = model_of(case).columns.frame("build_kw")
    assert labels["cooling"].unique().tolist() == ["air"]
    assert case.tables["products"]["coolings"].tolist() == [("air",)]


def test_chains_are_chosen_only_where_we_build():
    with pytest.raises(InputError, match="name the one chain it has"):
        choice(0, kind="colo")
    with pytest.raises(InputError, match="N costs 2000 USD/kW less than the train of a building of 1000"):
        choice(0, power_chains=[THIN | {"capex_per_kw": -2_000} | SAID, WIDE | SAID])
    with pytest.raises(InputError, match="frequency_low_fraction"):
        choice(0, power_chains=[THIN | {"frequency_low_fraction": 0.95} | SAID, WIDE | SAID])
