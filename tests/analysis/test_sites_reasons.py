"""Why a site is used or not, before it has power."""

from __future__ import annotations

import pandas as pd
from small_scenarios import BARE, YEAR, cloud, demand, hall, purchase, quarters, rental, scenario

from planner.analysis.sites_split import _reason as reason
from planner.analysis.sites_split import binding_limits, unpowered
from planner.analysis.sites_study import Study
from planner.inputs import Scenario


def late_hall(**more: object) -> Scenario:
    """Return a hall with 15 kW from mid-May on, and a cloud region that is dear."""
    tables = {
        "periods": quarters(),
        "sites": [hall(), cloud()],
        "site_power": [{"site": "hall", "from_date": "2027-05-15", "usable_kw": 15}],
        "offers": [purchase(price=10_000), rental(price=20)],
        "demand": demand(YEAR, 2),
    }
    return scenario(tables | more)


def test_no_power_yet_is_no_limit_that_binds():
    study = Study.of(late_hall(), BARE)
    dark = unpowered(study)
    assert dark["period"].tolist() == ["2027-Q1", "2027-Q2"]
    assert set(dark["until"]) == {pd.Timestamp("2027-05-15")}
    binding = binding_limits(study)
    row = {"site": "hall", "token_share": 0.5, "probe_costs_per_mtok": 0.0, "probe_status": "optimal"}
    words = reason(row, binding, dark, study)
    assert words.startswith("used; not energised until 2027-05-15; ")
    assert "binds in 2027-Q3, 2027-Q4" in words
    assert "Q1" not in words


def test_a_path_says_when_its_last_module_carries_power():
    gear = {"site": "hall", "module": "gear", "item": "gear", "kw": 100, "lead_weeks": 39, "cost": 0}
    power = [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 100}]
    study = Study.of(late_hall(site_power=power, site_modules=[gear]), BARE)
    assert set(unpowered(study)["until"]) == {pd.Timestamp("2027-10-01")}
