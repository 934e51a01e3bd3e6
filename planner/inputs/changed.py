"""A scenario in memory with single cells changed, as ``--set`` changes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from planner.errors import InputError
from planner.inputs.catalog import shipped_catalog
from planner.inputs.checks import check_scenario
from planner.inputs.load import hash_inputs
from planner.inputs.located import Located
from planner.inputs.overrides import apply_overrides, split_overrides
from planner.inputs.policies import parse_settings
from planner.inputs.scenario import Scenario
from planner.tables import TABLES


def changed_scenario(scenario: Scenario, changes: Sequence[str], checked: bool = True) -> Scenario:
    """Return the scenario with cells and settings changed, as ``--set`` on the command line names them.

    Parameters
    ----------
    changes
        ``table/key1|key2/column=value`` and ``settings/field=value``.
    checked
        Refuse changes after which the scenario breaks a rule that it kept before.

    Raises
    ------
    InputError
        A change names no cell, is no value of its column, or breaks a rule between tables.
    """
    policies, overrides, faults = split_overrides(changes)
    settings = scenario.settings
    if policies:
        values = settings.model_dump(mode="json") | {item.column: item.value for item in policies}
        parsed, wrong = parse_settings(
            scenario.origin, values, {}, {item.column: item.where for item in policies}
        )
        settings, faults = parsed or settings, [*faults, *wrong]
    touched = {override.table for override in overrides} & set(scenario.tables)
    before = {name: _located(scenario, name) for name in (scenario.tables if checked else touched)}
    after, found = apply_overrides(before, overrides)
    faults += found
    if checked and not faults:
        shipped = shipped_catalog()
        known, _ = check_scenario(before, shipped, scenario.settings, scenario.origin, True)
        broken, _ = check_scenario(after, shipped, settings, scenario.origin, True)
        said = {(fault.where, fault.message) for fault in known}
        faults += [fault for fault in broken if (fault.where, fault.message) not in said]
    if faults:
        raise InputError(faults)
    tables = {**scenario.tables, **{name: after[name].frame for name in touched}}
    return replace(
        scenario,
        settings=settings,
        tables=tables,
        input_hash=hash_inputs(settings, tables, shipped_catalog()),
    )


def _located(scenario: Scenario, name: str) -> Located:
    frame = scenario.tables[name]
    rows = np.arange(2, len(frame) + 2)
    where = np.full(len(frame), name, dtype=object)
    return Located(TABLES[name], frame, where, rows, np.ones(len(frame), bool), file=name)
