"""One name, one figure: totals of money, ratios of one scope, and no token figure where no token is known."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from openpyxl import load_workbook
from plan_cases import solved as solved_case
from small_scenarios import (
    SAID,
    cloud,
    cooling,
    demand,
    energy,
    hall,
    one_year,
    point,
    purchase,
    rental,
    scenario,
    shape,
    solved,
    workload,
)
from workbook_checks import failed_checks

from planner.analysis import compare_plans
from planner.analysis.decisions import decide
from planner.analysis.sites import compare_sites
from planner.inputs import Scenario
from planner.pipeline import RunOptions
from planner.plan import Plan, audit_plan, plan_document
from planner.plan.focus import focus_frame
from planner.plan.totals import LABELS, TOTALS
from reports import summary_text, write_workbook

HOURS = 8_760
SECONDS = HOURS * 3_600


def by_request(**settings: object) -> Scenario:
    """0.5 requests/s without stated lengths; a unit at 2.50 an hour answers 0.25 of them: two units, 43,800 a year."""
    return scenario(
        {
            "periods": one_year(),
            "sites": [cloud()],
            "offers": [rental(price=2.5)],
            "operating_points": [point(requests_per_s=0.25)],
            "demand": demand(["2027"], 0.5),
        },
        **settings,
    )


def two_lines(y_shape: dict, **settings: object) -> Scenario:
    """x asks 1/s with minutes of 4, y 2/s without peaks; one unit of 10/s is held all year at 12 an hour."""
    return scenario(
        {
            "periods": one_year(),
            "sites": [cloud()],
            "offers": [rental(price=12)],
            "workloads": [
                workload("x", business="X", minute_peak_input_ratio=4, minute_peak_output_ratio=4),
                workload("y", business="Y"),
            ],
            "shapes": [shape("x", input_tokens=100, output_tokens=100), y_shape],
            "operating_points": [point(requests_per_s=10, name=name) for name in "xy"],
            "demand": demand(["2027"], 1.0, "x") + demand(["2027"], 2.0, "y"),
        },
        **settings,
    )


@pytest.fixture(scope="module")
def requests() -> Plan:
    return solved(by_request(objective="unit-cost"), audit=True)


@pytest.fixture(scope="module")
def mixed() -> Plan:
    return solved(two_lines(shape("y"), objective="unit-cost"), audit=True)


@pytest.fixture(scope="module")
def held() -> Plan:
    return solved(two_lines(shape("y", input_tokens=100, output_tokens=100)), audit=True)


# Requests without token lengths


def test_requests_without_lengths_cost_per_million_requests(requests):
    head = requests.headline
    assert head["cost_per_million_requests"] == pytest.approx(2.5 * 2 * HOURS / (0.5 * SECONDS / 1e6))
    assert head["cost_per_million_requests"] == pytest.approx(2_777.8, abs=0.05)
    assert head["accounting_cost_per_million_requests"] == pytest.approx(2_777.8, abs=0.05)
    assert head["objective"] == pytest.approx(2.5 * 2 * HOURS)


def test_no_document_terminal_line_or_table_has_a_token_figure_of_them(requests):
    document = plan_document(requests)
    assert all(document[key] is None for key in document if "mtok" in key)
    assert "Mtok" not in json.dumps(document)
    text = summary_text(requests)
    assert "2,778 USD per million requests" in text
    assert "tok" not in text.lower()
    for name in ("tokens", "serving"):
        counted = [column for column in requests[name] if "mtok" in column]
        assert (requests[name][counted] == 0.0).all(axis=None), name
    for name in ("metrics", "unit_costs", "chargeback_rates", "waterfall", "marginal_costs"):
        assert not requests[name]["unit"].str.contains("tok").any(), name
    assert not requests["metrics"]["metric"].str.contains("tok").any()
    trend = requests["unit_cost_trend"]
    assert trend.filter(like="per_mtok").isna().all(axis=None)
    assert trend["paid_per_million_requests"].to_list() == pytest.approx([2_777.8], abs=0.05)


def test_no_sheet_has_a_unit_of_tokens_and_the_live_unit_cost_agrees(requests, tmp_path):
    assert failed_checks(requests, tmp_path) == []
    book = load_workbook(write_workbook(requests, tmp_path / "report.xlsx"))
    for sheet in book.worksheets:
        if sheet.title.startswith("Input") or sheet.title == "Assumptions":
            continue
        cells = [cell.value for row in sheet.iter_rows() for cell in row if isinstance(cell.value, str)]
        assert not [text for text in cells if text.endswith(("Mtok", "Mtok]", "tok/s", "tok/min"))], (
            sheet.title
        )
        assert not [
            text for text in cells if text.startswith(("Cost per million effective", "Effective tok"))
        ] or (sheet.title == "Checks"), sheet.title


def test_compare_and_focus_have_no_token_figure_of_them(requests):
    other = solved(by_request())
    found = compare_plans({"a": requests, "b": other})
    assert not found.headline["metric"].str.contains("mtok").any()
    assert "cost_per_million_requests" in set(found.headline["metric"])
    assert not focus_frame(requests)[["ConsumedUnit", "PricingUnit"]].stack().str.contains("ok").any()


def test_sites_and_decisions_have_no_token_figure_of_them(requests):
    options = RunOptions(baselines=False)
    signed, placed = decide(requests, options, most_offers=0), compare_sites(requests, options)
    for found in (signed, placed):
        for question, table in found.tables.items():
            assert not [column for column in table if "tok" in column], question
            assert "token" not in found.notes[question], question
    cost = placed.tables["unit_cost"].set_index("site")["unit_cost"]
    assert cost["cloud"] == pytest.approx(2_777.8, abs=0.05)


def test_a_plan_of_both_pays_for_each_over_its_own_output(mixed):
    """Held for x at its busiest minute: 4 of 10; for y 2. x pays two thirds of 105,120, y one third."""
    head = mixed.headline
    assert head["cost_per_mtok_effective"] == pytest.approx(105_120 * 2 / 3 / (SECONDS * 100 / 1e6))
    assert head["cost_per_million_requests"] == pytest.approx(105_120 / 3 / (2 * SECONDS / 1e6))
    assert head["effective_mtok"] == pytest.approx(SECONDS * 100 / 1e6)
    text = summary_text(mixed)
    assert "22.22 USD per million effective tokens, 555.6 USD per million requests" in text
    assert audit_plan(mixed).passed


def test_the_workbook_of_both_shows_both(mixed, tmp_path):
    assert failed_checks(mixed, tmp_path) == []
    book = load_workbook(write_workbook(mixed, tmp_path / "report.xlsx"))
    keys = {row[1].value: row[2].value for row in book["Summary"].iter_rows(min_row=6, max_row=30)}
    assert keys["cost_per_mtok_effective"] == pytest.approx(22.22, abs=0.005)
    assert keys["cost_per_million_requests"] == pytest.approx(555.6, abs=0.05)


# What is held for a line


def test_a_line_pays_for_what_is_held_for_its_busiest_minute(held):
    charged = held["chargeback"].groupby(["view", "business"])["amount"].sum() / HOURS
    assert charged["by use", "X"] == pytest.approx(1.20)
    assert charged["by use", "Y"] == pytest.approx(2.40)
    assert charged["by allocation", "X"] == pytest.approx(4.80)
    assert charged["by allocation", "Y"] == pytest.approx(2.40)
    assert charged["by allocation", "idle capacity"] == pytest.approx(4.80)
    assert charged["fully loaded", "X"] == pytest.approx(8.00)
    assert charged["fully loaded", "Y"] == pytest.approx(4.00)
    assert charged.groupby("view").sum().to_numpy() == pytest.approx([12.0] * 3)


def test_units_by_the_hour_are_held_hour_by_hour_and_a_pool_by_itself():
    """Siblings: y alone rents by the hour in a second cloud, so the idle capacity of x's unit is none of its."""
    plan = solved(
        scenario(
            {
                "periods": one_year(),
                "sites": [cloud(), cloud("other")],
                "products": [
                    {"product": name, "chips_per_unit": 1, "vendor": "Maker", **SAID} for name in ("a", "b")
                ],
                "offers": [
                    rental("whole", "a", 12.0, sites="cloud"),
                    rental("hourly", "b", 5.0, rent_step="hour", sites="other"),
                ],
                "workloads": [workload("x", business="X"), workload("y", business="Y")],
                "shapes": [shape(name, input_tokens=100, output_tokens=100) for name in "xy"],
                "operating_points": [point("a", 10, "x"), point("b", 10, "y")],
                "demand": demand(["2027"], 1.0, "x") + demand(["2027"], 2.0, "y"),
            },
            integer_hourly_rent=False,
        ),
        audit=True,
    )
    charged = plan["chargeback"].groupby(["view", "business"])["amount"].sum() / HOURS
    assert charged["by allocation", "X"] == pytest.approx(1.20)
    assert charged["by allocation", "idle capacity"] == pytest.approx(10.80)
    assert charged["fully loaded", "X"] == pytest.approx(12.00)
    assert charged["fully loaded", "Y"] == pytest.approx(charged["by allocation", "Y"])
    assert charged["by allocation", "Y"] == pytest.approx(1.0)


def test_the_sheet_defines_the_views_recommends_one_and_states_the_rate_beside_the_amount(held, tmp_path):
    sheet = load_workbook(write_workbook(held, tmp_path / "report.xlsx"))["Finance"]
    text = [str(cell.value) for row in sheet.iter_rows() for cell in row if cell.value is not None]
    assert any("busiest minute" in cell for cell in text)
    assert [cell for cell in text if "(recommended)" in cell] == ["Fully loaded (recommended)"]
    rates = held["chargeback_rates"].set_index(["view", "business"])["unit_cost"]
    assert rates["fully loaded", "X"] == pytest.approx(8.0 * HOURS / (SECONDS * 100 / 1e6))
    header = next(row for row in sheet.iter_rows() if row[0].value == "Business line")
    names = [str(cell.value) for cell in header]
    row = next(row for row in sheet.iter_rows(min_row=header[0].row + 1) if row[0].value == "X")
    shown = {name: cell.value for name, cell in zip(names, row, strict=True)}
    assert shown["Fully loaded, unit cost"] == pytest.approx(rates["fully loaded", "X"])
    assert "USD/Mtok" in shown.values()


def test_unit_costs_of_every_scope_sum_to_the_total_cost(held, mixed):
    for plan in (held, mixed, solved_case("far_apart"), solved_case("owned")):
        table = plan["unit_costs"]
        for scope, rows in table.groupby("scope"):
            assert rows["cost"].sum() == pytest.approx(plan.headline["total_cost"]), scope
        spread = plan["cost_by_workload"].groupby("line")["discounted"].sum()
        costs = plan["costs"]
        counted = costs[costs["in_objective"] & costs["kind"].ne("value")]
        pd.testing.assert_series_equal(
            spread.sort_index(), counted.groupby("line")["discounted"].sum().sort_index(), check_exact=False
        )


# Ratios of one scope


@pytest.fixture(scope="module")
def half_own() -> Plan:
    """1 request/s in a box of 10 kW of one's own, 1 in the cloud: half of the tokens stand over all of the energy."""
    return solved(
        scenario(
            {
                "periods": one_year(),
                "sites": [hall(), cloud()],
                "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 10}],
                "offers": [purchase(price=1_000), rental(price=20.0)],
                "cooling": [
                    cooling("air", water_l_per_kwh=1.5),
                    {"cooling": "hosted", "medium": "hosted", **SAID},
                ],
                "carbon": [{"region": "home", "gco2_per_kwh": 400, "basis": "average", **SAID}],
                "tariffs": [energy(price=0.1)],
                "shapes": [shape(input_tokens=100, output_tokens=100)],
                "demand": demand(["2027"], 2.0),
            }
        ),
        audit=True,
    )


def test_energy_carbon_and_water_of_own_sites_stand_over_the_tokens_served_there(half_own):
    metrics = half_own["metrics"].set_index(["metric", "scope"])["value"]
    kwh = half_own["energy"]["kwh"].sum()
    kwh_per_mtok = kwh / (SECONDS * 100 / 1e6)
    assert half_own.headline["effective_mtok"] == pytest.approx(2 * SECONDS * 100 / 1e6)
    for scope in ("own sites", "hall"):
        assert metrics["energy per effective token", scope] == pytest.approx(kwh_per_mtok)
        assert metrics["token energy efficiency", scope] == pytest.approx(1 / kwh_per_mtok)
        assert metrics["carbon per effective token", scope] == pytest.approx(kwh_per_mtok * 0.4)
        assert metrics["water per effective token", scope] == pytest.approx(kwh_per_mtok * 1.5)


def test_the_unit_cost_of_a_site_is_its_cost_over_its_tokens(half_own):
    sites = half_own["unit_costs"].query("scope == 'site'").set_index("name")
    tokens = SECONDS * 100 / 1e6
    assert sites["unit_cost"]["cloud"] == pytest.approx(20.0 * HOURS / tokens)
    bill = half_own["energy"]["kwh"].sum() * 0.1
    assert sites["unit_cost"]["hall"] == pytest.approx((1_000 + bill) / tokens)


# Totals of money


def amounts_by_label(book) -> dict[str, set[float]]:
    """Return every number that stands on a sheet in the row of a total's name: of the plan, not of one site."""
    found: dict[str, set[float]] = {}
    for sheet in book.worksheets:
        if sheet.title not in (
            "Summary",
            "Budget",
            "Ledgers",
            "Finance",
            "Unit cost",
            "Cover",
            "Procurement",
        ):
            continue
        for row in sheet.iter_rows():
            label = row[0].value
            if label not in LABELS.values():
                continue
            # The total of a time line stands before its periods; elsewhere the amount is the first number.
            numbers = [cell.value for cell in row[1:] if isinstance(cell.value, int | float)]
            found.setdefault(str(label), set()).add(round(numbers[0], 2))
    return found


@pytest.mark.parametrize("case", ["far_apart", "owned", "bridged"])
def test_a_total_is_one_number_on_every_sheet_and_in_the_document(case, tmp_path):
    plan = solved_case(case)
    totals = plan.headline["totals"]
    book = load_workbook(write_workbook(plan, tmp_path / "report.xlsx"))
    found = amounts_by_label(book)
    assert set(found) == set(LABELS.values())
    for name, label in LABELS.items():
        assert len(found[label]) == 1, (label, found[label])
        assert found[label].pop() == pytest.approx(totals[name], abs=0.02), label
    finance = plan.headline["finance"]
    assert finance["capex_paid"] == pytest.approx(totals["gross_capex"])
    assert finance["opex_paid"] == pytest.approx(totals["opex_paid"])
    assert totals["net_capex"] == pytest.approx(totals["gross_capex"] - totals["residual_credit"])
    counted = plan["costs"][plan["costs"]["in_objective"] & plan["costs"]["kind"].ne("value")]
    assert totals["total_cost_undiscounted"] == pytest.approx(counted["amount"].sum())


def test_the_totals_of_the_sites_sum_to_those_of_the_plan_and_stand_on_the_sheet(tmp_path):
    plan = solved_case("far_apart")
    table = plan["totals"]
    parts = table[table["site"].ne("all")].groupby("total")["amount"].sum()
    assert {name: parts[name] for name in parts.index} == pytest.approx(plan.headline["totals"])
    sheet = load_workbook(write_workbook(plan, tmp_path / "report.xlsx"))["Sites"]
    sites = [cell.value for cell in sheet[5]][2:]
    for total in TOTALS:
        row = next(row for row in sheet.iter_rows() if row[0].value == total.label)
        by_site = table[table["total"].eq(total.name)].set_index("site")["amount"]
        for site, cell in zip(sites, row[2:], strict=False):
            if site in by_site:
                assert cell.value == pytest.approx(by_site[site]), (total.label, site)


def test_no_label_says_capex_without_saying_which(tmp_path):
    book = load_workbook(write_workbook(solved_case("owned"), tmp_path / "report.xlsx"))
    for title in ("Summary", "Budget", "Sites"):
        for row in book[title].iter_rows(max_col=1):
            text = str(row[0].value or "")
            if "capex" in text.lower():
                assert text.lower().startswith(("gross capex", "net capex", "less")), (title, text)
