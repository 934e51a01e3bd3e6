"""A relaxation is a bound on every plan, and is told as one by everything that reads it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from openpyxl import load_workbook
from small_scenarios import (
    box,
    cloud,
    demand,
    hall,
    one_hour,
    point,
    purchase,
    rental,
    scenario,
)

from planner.analysis import compare_plans
from planner.analysis.decisions import decide
from planner.analysis.sites import compare_sites
from planner.cli import main
from planner.inputs import Scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan import Plan, audit_plan, load_plan, plan_document, save_plan
from planner.plan.storage import DOCUMENT
from reports import summary_text, write_workbook


def two_rates(**offers: object) -> Scenario:
    """230 requests/s for an hour: A does 100 of them for 7, B 60 for 5."""
    return scenario(
        {
            "periods": one_hour(),
            "sites": [cloud()],
            "products": [box("A"), box("B")],
            "operating_points": [point("A", 100.0), point("B", 60.0)],
            "offers": [rental("A", "A", 7.0), rental("B", "B", 5.0)],
            "demand": demand(["hour"], 230.0),
        }
        | offers
    )


@pytest.fixture(scope="module")
def whole() -> Plan:
    return run_plan(two_rates(), RunOptions(baselines=False))


@pytest.fixture(scope="module")
def bound() -> Plan:
    return run_plan(two_rates(), RunOptions(baselines=True, relax=True, audit=True))


@pytest.fixture(scope="module")
def saved(bound, tmp_path_factory):
    return save_plan(bound, tmp_path_factory.mktemp("bound") / "relaxed")


def test_the_bound_is_below_the_plan_in_whole_units(whole, bound):
    assert bound.headline["total_cost"] == pytest.approx(16.1)  # 2.3 A
    assert whole.headline["total_cost"] == pytest.approx(19.0)  # 2 A + 1 B
    assert (bound.status, whole.status) == ("bound", "optimal")


def test_nothing_can_be_ordered_asked_for_or_paid_from_a_bound(bound):
    assert all(bound[name].empty for name in ("orders", "rfq", "payments"))
    assert bound.headline["orders"] == []
    assert bound.headline["label"] == "bound, not a plan"


def test_a_purchase_in_fractions_is_no_request_for_quotation_either():
    """Sibling: what is bought has deposits and dates, which a fraction of a unit must not have."""
    case = scenario(
        {
            "periods": one_hour(),
            "sites": [hall()],
            "offers": [purchase(price=10.0, deposit_fraction=0.5, delivery_fraction=0.5)],
            "demand": demand(["hour"], 2.3),
        }
    )
    plan = run_plan(case, RunOptions(baselines=False, relax=True, audit=True))
    assert plan.headline["total_cost"] == pytest.approx(23.0)
    assert all(plan[name].empty for name in ("orders", "rfq", "payments"))


def test_the_terminal_says_so(bound):
    text = summary_text(bound)
    assert text.startswith("case: bound, not a plan")
    assert "no plan in whole units costs less than 16.1 USD" in text
    assert "2.3 x A" in text
    assert "optimal:" not in text
    assert "Rent on demand" not in text


def test_the_workbook_says_so_on_every_sheet_and_has_nothing_to_act_on(bound, tmp_path):
    book = load_workbook(write_workbook(bound, tmp_path / "bound.xlsx"))
    assert not {"Procurement", "Budget", "Finance", "Fleet", "Calc", "Checks"} & set(book.sheetnames)
    assert book["Cover"]["A1"].value == "Bound, not a plan: case"
    for sheet in book.worksheets:
        assert sheet["A3"].value == "Bound, not a plan", sheet.title


def test_it_comes_back_from_disk_as_a_bound_and_passes_its_audit(bound, saved):
    again = load_plan(saved)
    assert plan_document(again) == plan_document(bound)
    assert audit_plan(again).passed


def test_a_relaxation_saved_as_a_plan_by_an_older_version_is_read_as_a_bound(bound, saved, tmp_path):
    old = Plan(
        {key: value for key, value in bound.headline.items() if key != "label"} | {"status": "optimal"},
        {name: frame for name, frame in bound.frames.items() if name != "bound_units"}
        | {"orders": bound["bound_units"]},
        bound.scenario,
    )
    again = load_plan(save_plan(old, tmp_path / "old"))
    assert again.status == "bound"
    assert again["orders"].empty


@pytest.mark.parametrize("command", [["audit"], ["audit", "--json"], ["report"]])
def test_commands_that_read_it_say_so(saved, tmp_path, command):
    more = ["-o", str(tmp_path / "again.xlsx")] if command == ["report"] else []
    found = CliRunner().invoke(main, [command[0], str(saved), *command[1:], *more])
    assert found.exit_code == 0, found.output
    if command == ["report"]:
        assert load_workbook(tmp_path / "again.xlsx")["Cover"]["A3"].value == "Bound, not a plan"
    else:
        assert "bound, not a plan" in found.output


def test_exports_of_what_would_be_paid_or_asked_for_are_refused(saved, tmp_path):
    found = CliRunner().invoke(main, ["export", "focus", str(saved), "-o", str(tmp_path / "focus.csv")])
    assert found.exit_code == 2
    assert "bound, not a plan" in found.output
    assert not (tmp_path / "focus.csv").exists()


def test_compare_says_so_and_compares_no_orders(whole, bound):
    found = compare_plans({"plan": whole, "relaxed": bound})
    assert found.bounds == ("relaxed",)
    assert found.words[0].startswith("relaxed: bound, not a plan")
    assert found.orders.empty
    assert found.vendors.empty
    assert not any(sentence.startswith("orders:") for sentence in found.words)
    cost = found.headline.set_index("metric").loc["total_cost"]
    assert cost["difference"] == pytest.approx(16.1 - 19.0)


def test_sites_and_decisions_say_so_and_have_no_order_due(bound):
    options = RunOptions(baselines=False, relax=True)
    signed, placed = decide(bound, options, most_offers=0), compare_sites(bound, options)
    for found in (signed, placed):
        assert all(note.startswith("bound, not a plan") for note in found.notes.values())
    assert signed.tables["sign_now"].empty


def test_the_document_says_so(saved):
    document = json.loads((saved / DOCUMENT).read_text(encoding="utf-8"))
    assert (document["status"], document["label"]) == ("bound", "bound, not a plan")
    assert document["orders"] == []
