"""A fault inside the model's own arithmetic is seen by the audit: the plan that it makes does not pass."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from plan_cases import CASES, base_tables, scenario_of

import planner.coefficients.build as model
from planner.inputs.windows import hour_shares, parse_hours, parse_months
from planner.pipeline import RunOptions, run_plan
from planner.plan import audit_plan
from planner.plan.audit.clock import walked_periods
from planner.plan.audit.electricity.site_hours import SiteHours, horizon_hours
from planner.plan.audit.electricity.tariff_rows import hours_inside, named_months


def failed_after(monkeypatch, function: str, column: str, change) -> set[str]:
    """Return the checks that fail where one function of the model gives another number."""
    right = getattr(model, function)

    def wrong(*given):
        frame = right(*given)
        return frame.assign(**{column: change(frame[column])})

    monkeypatch.setattr(model, function, wrong)
    plan = run_plan(CASES["by_hand"](), RunOptions(baselines=False))
    return set(audit_plan(plan).failures["check"])


def test_a_wrong_energy_price_in_the_model_fails_the_audit(monkeypatch):
    failed = failed_after(monkeypatch, "energy_price_by_cell", "price_per_kwh", lambda price: price * 1.01)
    assert {"block_price", "cost energy", "objective"} <= failed


def test_a_wrong_pue_in_the_model_fails_the_audit(monkeypatch):
    failed = failed_after(monkeypatch, "pue_by_cell", "pue", lambda pue: pue + 0.01)
    assert {"block_pue", "grid_power"} <= failed


@pytest.mark.parametrize("text", [None, "07-22;23-24", "22-07", "08:30-11:15", "00-24"])
def test_hours_are_read_as_the_declared_reader_reads_them(text):
    np.testing.assert_allclose(hours_inside(text), hour_shares(parse_hours(text)))


@pytest.mark.parametrize("text", [None, "1-3;12", "11-2;6", "7"])
def test_months_are_read_as_the_declared_reader_reads_them(text):
    assert tuple(sorted(named_months(text))) == parse_months(text)


def test_hours_of_a_site_are_every_hour_of_the_calendar_once():
    scenario = CASES["far_apart"]()
    periods = walked_periods(scenario)
    for offset in (-5.0, 0.0, 8.0):
        every = horizon_hours(periods, offset)
        assert every["weight"].sum() == pytest.approx(periods["hours"].sum())
        cells = every.assign(block="b1", label="distinct hours")
        meter = SiteHours.of(every, cells)
        assert meter.by_month(meter.weight).sum() == pytest.approx(periods["hours"].sum())
        drawn = pd.Series(3.0, index=pd.MultiIndex.from_product([periods.index, ["b1"]]))
        assert meter.peaks(meter.kw(drawn), np.ones(len(every), dtype=bool)) == pytest.approx(3.0)


@pytest.mark.parametrize("max_blocks", [6, pytest.param(0, marks=pytest.mark.slow)])
def test_charges_and_tiers_per_day_pass_the_audit(max_blocks):
    tables = base_tables()
    charge = tables["tariffs"][2] | {"component": "daily", "price": 0.5, "price_unit": "kw_day"}
    weekend = charge | {"component": "weekend", "day_type": "weekend", "hours": None, "minimum_kw": 60}
    tier = tables["tariffs"][0] | {"tier_of": "use", "tier_unit": "kwh_day"}
    tables["tariffs"] += [
        charge,
        weekend,
        tier | {"component": "low", "price": 0.02, "tier_from": 0},
        tier | {"component": "high", "price": 0.05, "tier_from": 1_000},
    ]
    plan = run_plan(scenario_of(tables, max_blocks=max_blocks), RunOptions(baselines=False))
    assert {"daily", "weekend"} <= set(plan["billed_peaks"]["component"])
    assert audit_plan(plan).failures.to_dict("records") == []
