"""Scenarios: read, check, merge with the catalogue, and derive calendar and demand from them.

Reading order: ``scenario`` (what comes out), ``located`` and ``cells`` (one table, typed, with the place
of every row), ``folder`` and ``workbook`` (the two forms), ``merge``, ``checks``, ``load``.
"""

from __future__ import annotations

from planner.inputs.calendar import calendar_cells, period_frame
from planner.inputs.catalog import catalog_root, example_names
from planner.inputs.convert import convert_scenario
from planner.inputs.demand import demand_by_cell
from planner.inputs.load import load_scenario, make_scenario
from planner.inputs.new import new_scenario
from planner.inputs.parse import typed_frame
from planner.inputs.read import read_tables
from planner.inputs.scenario import Scenario, Settings
from planner.inputs.workloads import resolved_workloads
from planner.inputs.write import write_tables

__all__ = [
    "Scenario",
    "Settings",
    "calendar_cells",
    "catalog_root",
    "convert_scenario",
    "demand_by_cell",
    "example_names",
    "load_scenario",
    "make_scenario",
    "new_scenario",
    "period_frame",
    "read_tables",
    "resolved_workloads",
    "typed_frame",
    "write_tables",
]
