"""A plan says how much of it is rented without anybody having said that it can be had."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pandas as pd
import pytest
from plan_cases import bridged, solved

from planner.inputs import Scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan import Plan
from planner.plan.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts
from planner.plan.unstated_supply import supply_warnings
from reports.text import summary_text

NUMBERS = ("peak_units", "peak_chips", "unit_hours", "amount", "payments_fraction", "unit_hours_fraction")


def partly_stated() -> Scenario:
    """Rent by the hour without a limit; spot by the hour with one in all quarters but the last."""
    scenario = bridged()
    offers, supply = scenario.tables["offers"], scenario.tables["supply"]
    free = offers["offer"].isin(["hour box", "spot hour box"])
    own = offers["supply_units_per_period"].mask(free)
    dated = pd.DataFrame({"offer": "spot hour box", "period": ["2027-Q1", "2027-Q2"], "units": 1.0})
    limits = scenario.tables["vendor_capacity"]
    of_vendor = {
        "limit": "third quarter",
        "vendor": "Cloud",
        "period": "2027-Q3",
        "measure": "units",
        "amount": 9.0,
    }
    tables = {
        **scenario.tables,
        "offers": offers.assign(supply_units_per_period=own),
        "supply": dated.reindex(columns=supply.columns),
        "vendor_capacity": pd.DataFrame([of_vendor | {"offers": ()}]).reindex(columns=limits.columns),
    }
    return replace(scenario, tables=tables)


@cache
def plan() -> Plan:
    return run_plan(partly_stated(), RunOptions(baselines=False))


def test_rentals_count_in_the_periods_in_which_no_supply_is_stated():
    orders, rows = plan()["orders"], plan()["unstated_supply"].set_index("offer")
    last = orders["offer"].eq("spot hour box") & orders["period"].eq("2027-Q4")
    free = orders["offer"].eq("hour box") & orders["period"].ne("2027-Q3") | last
    assert last.any()
    for offer, own in orders[free].groupby("offer"):
        assert rows.loc[offer, "peak_units"] == own["units"].max()
        assert rows.loc[offer, "unit_hours"] == pytest.approx(own["unit_hours"].sum())
        assert rows.loc[offer, "amount"] == pytest.approx(own["cost"].sum())
    assert set(rows.index) == set(orders.loc[free, "offer"])
    share = orders.loc[free, "cost"].sum() / plan().headline["totals"]["payments"]
    assert rows["payments_fraction"].sum() == pytest.approx(share)


def test_a_rental_by_the_period_counts_as_one_by_the_hour():
    (row,) = solved("unpowered")["unstated_supply"].to_dict("records")
    rents = solved("unpowered")["orders"].query("offer == 'cloud box'")
    assert row["peak_units"] == rents["units"].max()
    assert row["amount"] == pytest.approx(rents["cost"].sum())


def test_limits_of_offers_and_of_their_vendor_are_stated_supply():
    for case in ("bridged", "limited"):
        assert solved(case)["unstated_supply"].empty
        assert solved(case).headline["warnings"] == []


def test_an_estimate_of_the_supply_is_told_as_one_and_stands_among_the_assumptions():
    estimate = _estimated()
    (row,) = estimate["unstated_supply"].query("depth == 'estimate'").to_dict("records")
    own = estimate["orders"].query("offer == 'spot hour box' and period == '2027-Q1'")
    assert (row["offer"], row["amount"]) == ("spot hour box", pytest.approx(own["cost"].sum()))
    assert _passes(estimate)
    warned = supply_warnings(pd.DataFrame([row | {"payments_fraction": 0.5}]))
    assert warned[0].startswith(
        "50% of payments rent on demand or spot what the supply is only an estimate of"
    )
    assert warned[0].endswith("have it confirmed, or see in planner decisions what half of it changes")
    assumed = estimate["estimates"].query("table == 'supply'")
    assert assumed["key"].tolist() == ["spot hour box | 2027-Q1"]
    assert assumed["notes"].tolist() == ["heard in a call"]


def test_the_audit_knows_an_estimate_from_what_is_stated():
    rows = _estimated()["unstated_supply"]
    said = {**_estimated().frames, "unstated_supply": rows.assign(depth="unstated")}
    assert not _passes(replace(_estimated(), frames=said))


def test_a_material_share_is_a_warning_and_a_small_one_is_not():
    (warning,) = plan().headline["warnings"]
    share = plan()["unstated_supply"]["payments_fraction"].sum()
    assert warning.startswith(f"{share:.0%} of payments")
    assert "x box (32 accelerators) of Cloud at cloud (offer 'hour box')" in warning
    assert f"Warning: {warning}" in summary_text(plan())
    rows = plan()["unstated_supply"]
    assert supply_warnings(rows.assign(payments_fraction=0.04 / len(rows))) == []


@pytest.mark.parametrize("column", NUMBERS)
def test_the_audit_counts_every_number_again(column):
    assert _passes(plan())
    rows = plan()["unstated_supply"]
    changed = rows.assign(**{column: rows[column].where(rows.index != 0, rows[column] * 1.001)})
    assert not _passes(_with(changed))


def test_the_audit_misses_rows_and_the_warning():
    rows = plan()["unstated_supply"]
    assert not _passes(_with(rows.iloc[1:]))
    assert not _passes(_with(rows.assign(site="hall")))
    assert not _passes(replace(plan(), headline={**plan().headline, "warnings": []}))


def test_a_plan_saved_before_the_table_was_there_is_audited():
    frames = {name: frame for name, frame in plan().frames.items() if name != "unstated_supply"}
    assert _passes(replace(plan(), frames=frames))


@cache
def _estimated() -> Plan:
    """Return the plan with its spot supply of the first quarter known from hearsay."""
    case = partly_stated()
    first = case.tables["supply"]["period"].eq("2027-Q1")
    words = {
        "source": "case",
        "source_date": "2026-12-01",
        "confidence": "estimate",
        "notes": "heard in a call",
    }
    supply = case.tables["supply"].assign(
        **{name: pd.Series(word, first.index).where(first) for name, word in words.items()}
    )
    return run_plan(replace(case, tables={**case.tables, "supply": supply}), RunOptions(baselines=False))


def _with(rows: pd.DataFrame) -> Plan:
    return replace(plan(), frames={**plan().frames, "unstated_supply": rows})


def _passes(changed: Plan) -> bool:
    return CHECKS["unstated_supply"](Accounts(changed, Facts(changed.scenario))).passed
