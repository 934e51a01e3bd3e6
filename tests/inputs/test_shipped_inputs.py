"""The shipped catalogue and every shipped example load without a fault."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.errors import Fault
from planner.inputs import Settings, example_names, load_scenario
from planner.inputs.catalog import catalog_root, shipped_catalog
from planner.inputs.checks.columns import column_bands
from planner.inputs.checks.registry import RULES
from planner.inputs.checks.view import View
from planner.inputs.parse import empty_table
from planner.tables import TABLES


@pytest.mark.parametrize("name", example_names())
def test_a_shipped_example_loads_without_fault(name):
    scenario = load_scenario(name)
    assert scenario.name
    assert set(scenario.tables) == set(TABLES)


def test_every_table_file_of_the_catalogue_is_declared():
    names = {path.stem for path in catalog_root().glob("*.csv")}
    assert names
    assert names <= {name for name, table in TABLES.items() if table.scope != "scenario"}


def test_the_catalogue_keeps_to_its_own_bands_and_rules():
    """Shipped rows are judged as if they were a user's; rules that need a scenario have none to judge."""
    shipped = shipped_catalog()
    tables = {
        name: replace(shipped[name], own=np.ones(len(shipped[name].frame), dtype=bool))
        if name in shipped
        else empty_table(table)
        for name, table in TABLES.items()
    }
    view = View(tables, shipped, Settings(name="catalogue", discount_rate_fraction=0), "settings")
    found = list(column_bands(view))
    for rule in RULES:
        if all(TABLES[name.split(".")[0]].scope != "scenario" for name in rule.reads):
            found += rule.check(view)
    assert [str(fault) for fault in found if isinstance(fault, Fault)] == []


def test_the_catalogue_is_read_once_however_many_scenarios_load():
    shipped_catalog.cache_clear()
    load_scenario("small")
    read = shipped_catalog.cache_info().misses
    load_scenario("small")
    assert shipped_catalog.cache_info().misses == read
