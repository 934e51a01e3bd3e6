"""Every column of the tables that speak of a place, for every kind of row: it changes the model, or check refuses it.

Other tables are walked by ``planner/tables`` declarations only where they name kinds (``test_unused_cells``).
"""

from __future__ import annotations

import pytest
from column_stages import FACILITY
from column_walk import PROVENANCE, Try, candidates, kind_text, outcome, proven, walk_by_copies

from planner.tables import TABLES

PLACES = ["sites", "site_power", "facility_options", "hall_retrofits", "peak_history", "carbon"]


ONE_BY_ONE = {("sites", "cloud", "region")}
"""Cells that only what a plan tells of shows: each takes a model and a plan of its own."""


def cell_of(item: Try) -> tuple[str, int, str]:
    return item.table, item.row, item.column.name


def cells(tables: list[str], only: str = "") -> dict[tuple[str, str, str], Try]:
    """Return a try of every column of the first row of every kind: by table, kind and column."""
    case = FACILITY.base(0).scenario
    found: dict[tuple[str, str, str], Try] = {}
    for table in tables:
        for row in range(len(FACILITY.tables[table])):
            kind = kind_text(case, table, row)
            if only and only not in kind:
                continue
            for column in TABLES[table].columns:
                if column.name not in PROVENANCE and (table, kind, column.name) not in found:
                    values = list(candidates(FACILITY, table, row, column))
                    found[table, kind, column.name] = Try(table, row, column, values)
    return found


def walked(tables: list[str], only: str = "", rounds: int = 6) -> dict[tuple[str, str, str], str]:
    """Return how each cell showed: by copies in one model, those of a case in its case, the rest one by one."""
    tries = cells(tables, only)
    values = {cell: list(item.values) for cell, item in tries.items()}
    for variant in range(len(FACILITY.settings)):
        for cell, item in tries.items():
            cased = item.column.name.endswith(("_low", "_high"))
            item.values = list(values[cell]) if variant == 0 or cased else []
        for _ in range(rounds):
            left = [item for item in tries.values() if not proven(item.shown) and item.values]
            if left:
                walk_by_copies(FACILITY, left, variant)
    for cell, item in tries.items():
        if item.column.name in TABLES[item.table].key and not proven(item.shown):
            item.shown = "model"  # the copies differ in it: a key is what the rest hangs on
        for value in values[cell][:2] if cell in ONE_BY_ONE else ():
            item.shown = item.shown if proven(item.shown) else outcome(FACILITY, *cell_of(item), value)
    return {cell: item.shown for cell, item in tries.items()}


def test_what_a_cloud_region_states_is_read_or_refused():
    shown = walked(["sites"], only="cloud", rounds=3)
    unread = {cell: how for cell, how in shown.items() if not proven(how)}
    assert not unread


@pytest.mark.slow
def test_every_column_of_a_place_is_read_or_refused_for_every_kind_of_row():
    shown = walked(PLACES)
    unread = {cell: how for cell, how in shown.items() if not proven(how)}
    assert not unread, "\n".join(f"{' | '.join(cell)}: {how}" for cell, how in unread.items())


def test_every_column_of_a_place_is_walked():
    """A new column or kind joins the walk by itself: every declared kind of site has its row."""
    tries = cells(PLACES)
    for table in PLACES:
        kinds = {kind for name, kind, _ in tries if name == table}
        columns = {column.name for column in TABLES[table].columns} - set(PROVENANCE)
        for kind in kinds:
            assert {column for name, of, column in tries if (name, of) == (table, kind)} == columns
    assert {kind for name, kind, _ in tries if name == "sites"} == {"owned", "colo", "cloud"}
