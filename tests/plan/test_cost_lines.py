"""A cost line is declared once, and no view forgets it: ledgers, unit cost, chargeback, budgets, export, sheets."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest
from plan_cases import solved

from planner.coefficients import build_coefficients
from planner.coefficients.payments import payment_rows
from planner.performance import operating_points
from planner.plan import load_plan, save_plan
from planner.plan.audit import CHECKS
from planner.plan.audit.money.accounts import SOURCES
from planner.plan.finance import finance_frames
from planner.plan.finance.accounting import OPERATING
from planner.plan.finance.chargeback import chargeback_frame
from planner.plan.focus import focus_frame
from planner.plan.metrics import accounting_cost
from planner.plan.plan import Plan
from planner.plan.waterfall import waterfall_frame
from planner.tables import TABLES
from planner.tables.cost_lines import (
    BILL_LINES,
    BUDGET_LINES,
    COST_LINE,
    DECLARED,
    INCOME_LINES,
    KEPT_LINES,
    LINE_ORDER,
    OWED_LINES,
    PAID_LINES,
)
from reports.calculation import build_calculation
from reports.content import content_of
from reports.costs import lines_by_period, payments
from reports.sheets.site_comparison import _cost_lines

SITE, OFFER, PERIOD = "hall", "box purchase", "2027-Q2"


def amount_of(name: str) -> float:
    """Return an amount that tells each line from every other."""
    return 1_000.0 + 7.0 * list(COST_LINE).index(name)


def added_rows(costs: pd.DataFrame) -> pd.DataFrame:
    """Return one row of every declared line that the ledger has not: labelled with who bears it."""
    rows = []
    for line in DECLARED:
        if line.name in set(costs["line"]) or line.nature in ("sunk", "value"):
            continue
        ended = line.nature in ("kept", "owed")
        amount = -amount_of(line.name) if line.nature == "kept" else amount_of(line.name)
        rows.append(
            {
                "line": line.name,
                "kind": line.kind,
                "period": "2027-Q4" if ended else PERIOD,
                "site": None if line.borne_by == "workload" else SITE,
                "offer": OFFER if line.borne_by == "offer" else None,
                "workload": "chat" if line.borne_by == "workload" else None,
                "amount": amount,
                "discount_factor": 1.0,
                "discounted": amount,
                "in_objective": True,
                "timing": "end" if ended else "start",
                "cooling": "air" if line.borne_by == "offer" else None,
                "decided_period": PERIOD,
            }
        )
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def every() -> SimpleNamespace:
    """Return a plan with a row of every cost line in its ledger, its finance frames made anew."""
    plan = solved("limited")
    scenario = plan.scenario
    c = build_coefficients(scenario, operating_points(scenario))
    costs = plan["costs"]
    added = added_rows(costs).astype(dict.fromkeys(("site", "offer", "workload", "cooling"), "str"))
    module = pd.DataFrame(
        {
            "site": [SITE],
            "module": "substation",
            "period": PERIOD,
            "modules": 1.0,
            "energised_period": "2027-Q4",
            "cost": amount_of("site_module"),
        }
    )
    frames = dict(plan.frames) | {
        "costs": pd.concat([costs, added], ignore_index=True),
        "modules": module,
    }
    made = ("assets", "commitments", "finance_periods", "used_units", "cash", "accounting", "book_value")
    frames = {name: frame for name, frame in frames.items() if name not in (*made, "reconciliation")}
    frames |= finance_frames(scenario, c, frames)
    frames["chargeback"] = chargeback_frame(scenario, c, frames)
    return SimpleNamespace(c=c, plan=Plan(plan.headline, frames, scenario), added=added)


def test_the_declaration_and_the_audit_know_the_same_lines():
    assert set(SOURCES) == set(COST_LINE)
    assert {check for check in CHECKS if check.startswith("cost ")} == {f"cost {line}" for line in COST_LINE}
    limits = next(column for column in TABLES["budgets"].columns if column.name == "line")
    assert set(limits.choices) == set(BUDGET_LINES) == set(PAID_LINES) - set(INCOME_LINES)
    assert len(DECLARED) == len(COST_LINE)


@pytest.mark.parametrize(("line", "kind"), [("coffee", "opex"), ("energy", "capex")])
def test_a_line_that_is_not_declared_or_of_another_kind_is_an_error(line, kind):
    frame = pd.DataFrame({"site": ["hall"], "period": ["2027"]})
    with pytest.raises(ValueError, match=rf"cost line {line} is .*declared"):
        payment_rows(frame, ["site", "period"], line, kind, "period", "mid", pd.Series([1.0]))


def test_every_line_is_in_all_three_ledgers_and_meets_itself_there(every):
    table = every.plan["reconciliation"].set_index("line")
    assert set(LINE_ORDER) <= set(table.index)
    assert table["paid_over_life"].to_numpy() == pytest.approx(table["expensed_over_life"].to_numpy())
    cash = table["economic"] - table["value_at_horizon_end"]
    own = table.index.difference(["loans", "income_tax"])
    assert cash[own].to_numpy() == pytest.approx(table["paid_in_horizon"][own].to_numpy())
    for line in every.added["line"]:
        ended = line in (*KEPT_LINES, *OWED_LINES)
        inside = table.at[line, "value_at_horizon_end" if ended else "paid_over_life"]
        assert abs(inside) == pytest.approx(amount_of(line)), line


def test_modules_are_written_off_from_the_period_in_which_they_carry_power(every):
    books = every.plan["accounting"]
    periods = books.loc[books["line"] == "site_module", "period"].unique().tolist()
    assert periods[0] == "2027-Q4"
    assert every.plan["assets"].set_index("line").at["site_module", "asset_class"] == "power_path"


def test_every_line_is_charged_back_and_what_follows_load_is_nobodys_idle_cost(every):
    books = every.plan["accounting"]
    inside = every.plan["finance_periods"].set_index("period")["inside"]
    spent = books[books["category"].isin(OPERATING) & books["period"].map(inside).astype(bool)]
    charged = every.plan["chargeback"].groupby("view")["amount"].sum()
    assert charged.to_numpy() == pytest.approx([spent["amount"].sum()] * 3)
    for line in DECLARED:
        use = set(spent.loc[spent["line"] == line.name, "use"])
        assert not line.follows_load or use <= {"load"}, line.name
        assert line.follows_load or "load" not in use, line.name


def test_every_paid_line_is_in_the_export_under_a_category_of_the_specification(every):
    table = focus_frame(every.plan)
    assert set(PAID_LINES) <= set(table["ServiceName"])
    billed = table.groupby("ServiceName")["BilledCost"].sum()
    for line in set(every.added["line"]) & set(PAID_LINES):
        assert billed[line] == pytest.approx(amount_of(line)), line
    assert set(table["ServiceCategory"]) <= {
        *("AI and Machine Learning", "Compute", "Management and Governance", "Networking", "Other")
    }


def test_every_line_is_on_the_sheets(every):
    content = content_of(every.plan, audit=False)
    assert set(LINE_ORDER) <= set(build_calculation(content).lines)
    assert set(lines_by_period(content)["line"]) == set(LINE_ORDER)
    assert set(payments(content)["line"]) == set(PAID_LINES)
    by_site = {row[0].lower() for row in _cost_lines(content)}
    placed = {line.name.replace("_", " ") for line in DECLARED if line.borne_by in ("site", "offer")}
    assert len(by_site) >= len(placed & set(LINE_ORDER))
    costs = every.plan["costs"]
    assert set(BILL_LINES) <= set(costs.loc[costs["site"].eq(SITE), "line"])


def test_the_accounting_unit_cost_takes_rents_tokens_the_bill_staff_network_and_resale(every):
    parts = accounting_cost(every.plan.frames)
    lines = every.plan["costs"].groupby("line")["amount"].sum()
    rents = ("lease", "reserved_rent", "on_demand_rent", "spot_rent")
    assert parts["accelerator rent"] == pytest.approx(lines[list(rents)].sum())
    assert parts["API tokens"] == pytest.approx(amount_of("api_tokens"))
    assert parts["resale"] == pytest.approx(amount_of("resale"))
    assert parts["electricity"] == pytest.approx(
        lines[[n for n in BILL_LINES if n in PAID_LINES and not n.startswith("carbon")]].sum()
    )


def test_every_line_comes_back_from_disk(every, tmp_path):
    again = load_plan(save_plan(every.plan, tmp_path / "plan"))
    assert set(again["costs"]["line"]) >= set(LINE_ORDER)
    pd.testing.assert_frame_equal(again["accounting"], every.plan["accounting"])


def test_tokens_bought_are_the_last_link_of_the_waterfall(every):
    plan = every.plan
    bought = plan["api"].reindex(range(1)).assign(workload="chat", effective_mtok=250.0)
    steps = waterfall_frame(plan["waterfall_hours"], bought).set_index(["scope", "link"])["value"]
    own = plan["waterfall"].set_index(["scope", "link"])["value"]
    for scope in ("all", "chat"):
        made = own[scope, "effective tokens"]
        assert steps[scope, "effective tokens"] == pytest.approx(made)
        assert steps[scope, "with API tokens"] == pytest.approx(made + 250.0)
    alone = waterfall_frame(plan["waterfall_hours"].iloc[:0], bought)
    assert alone["value"].tolist() == [250.0, 250.0]
