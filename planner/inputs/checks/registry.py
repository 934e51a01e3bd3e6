"""The order in which checks run, and which columns each rule needs."""

from __future__ import annotations

from collections.abc import Mapping

from planner.errors import Fault
from planner.inputs.checks.columns import band_faults
from planner.inputs.checks.references import check_references, check_settings_keys
from planner.inputs.checks.view import View
from planner.inputs.located import Located
from planner.inputs.scenario import Settings


def check_scenario(
    tables: Mapping[str, Located],
    catalog: Mapping[str, Located],
    settings: Settings,
    settings_where: str,
    settings_readable: bool,
) -> tuple[list[Fault], list[str]]:
    """Return all faults and warnings of merged tables; form and limits of single cells are checked before.

    ``settings_readable`` is False when the settings have faults themselves; what they name is then not
    checked.
    """
    view = View(tables, catalog, settings, settings_where)
    faults: list[Fault] = check_settings_keys(view) if settings_readable else []
    warnings: list[str] = []
    faults += check_references(view)
    for name, located in tables.items():
        hard, soft = band_faults(located, frozenset(settings.accept), view.usd_per_row(name))
        faults += hard
        warnings += soft
    return faults, warnings
