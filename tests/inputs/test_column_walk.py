"""Every column of the proven tables, for every kind of row: it changes the model or the plan, or check refuses it.

``PROVEN`` names the tables by the small scenario in which they are walked, ``WALKS`` the others, each with the steps
that show its cells. A column or kind that is declared joins the walk by itself; a new table must be named in one of
the two. Only the columns of provenance (source, date, confidence, notes) are not walked, and those that a table
declares as stated only.
"""

from __future__ import annotations

import pytest
from column_bills import BILLS
from column_classes import CLASSES
from column_constants import CONSTANTS, FACTORS, OPTIONS, POOLS, SHIPPED
from column_limits import LIMITS as STANDING_ALONE
from column_once import HOURS, MONTH
from column_places import PLACES as IN_PLACES
from column_proof import Step, prove, shown_by
from column_quality import QUALIFIED, QUALITY
from column_service import SERVICE
from column_speed import SPEED
from column_stages import FACILITY, ORDERS
from column_walk import PROVENANCE, Stage, Try, candidates, kind_text, outcome, proven, walk, walk_by_copies

from planner.tables import TABLES

PLACES = ["sites", "site_power", "facility_options", "hall_retrofits", "peak_history", "carbon"]
CONTRACTS = ["fleet", "ppas", "colo_contracts", "colo_ramp", "bridging_power", "site_modules"]
LIMITS = ["budgets"]
"""Tables of no copies, walked one cell at a time: their rows hang on nothing that could be copied."""
PROVEN = [(FACILITY, PLACES), (FACILITY, CONTRACTS), (ORDERS, ["offers"]), (ORDERS, LIMITS)]
IDS = ["places", "contracts", "offers", "budgets"]

BY_COPIES = (Step(SPEED),)
"""Operating points of copies tell what changes rates, latencies and draws; no model is built."""
WALKS = {
    **dict.fromkeys(["chips", "chip_families", "models", "engines", "engine_options"], BY_COPIES),
    **dict.fromkeys(["operating_points", "software_eras", "latency"], BY_COPIES),
    **dict.fromkeys(["supply", "residuals", "offer_tiers"], (Step(SERVICE, 3),)),
    **dict.fromkeys(["concentration", "export_limits", "vendor_capacity"], (Step(STANDING_ALONE, 8),)),
    **dict.fromkeys(["failure_cases", "incentives", "resource_limits"], (Step(STANDING_ALONE, 8),)),
    **dict.fromkeys(["tariffs", "wholesale"], (Step(BILLS),)),
    **dict.fromkeys(["regions", "climate", "power_chains"], (Step(IN_PLACES, 6),)),
    "profiles": (Step(IN_PLACES, 2),),
    "demand": (Step(SERVICE, 3),),
    "quotas": (Step(SERVICE), Step(SERVICE, 3, singly=True)),
    **dict.fromkeys(["fx", "sources", "aliases"], (Step(MONTH, 2, singly=True),)),
    **dict.fromkeys(["api_offers", "depreciation"], (Step(MONTH, 8, singly=True),)),
    "periods": (Step(MONTH, singly=True), Step(HOURS, singly=True)),
    "site_pue": (Step(IN_PLACES, 8),),
    "cooling": (Step(IN_PLACES, 6), Step(IN_PLACES, 1, singly=True)),
    **dict.fromkeys(["evaluations", "quality_gates"], (Step(QUALITY, 3, singly=True),)),
    "qualifications": (Step(QUALIFIED, 2, singly=True),),
    "egress_prices": (Step(CLASSES, 3, singly=True),),
    "service_classes": (Step(SPEED, 3), Step(CLASSES, 3, singly=True)),
    "products": (Step(SPEED, 3), Step(SERVICE, 3), Step(MONTH, 3, singly=True)),
    "workloads": (Step(SPEED), Step(SERVICE), *(Step(stage, 3, singly=True) for stage in (MONTH, CLASSES))),
    "shapes": (Step(SPEED, 3), Step(SERVICE, 3)),
    "statistic_factors": (Step(FACTORS, singly=True),),
    "roofline_constants": tuple(
        Step(stage, 2, singly=True) for stage in (CONSTANTS, POOLS, OPTIONS, SHIPPED)
    ),
}
"""Tables walked one by one, each by the steps that show its cells at least cost."""

UNREAD = [name for name, table in TABLES.items() if table.read_by]
"""Tables that no plan reads, which check says of the first row a scenario states."""

ONE_BY_ONE = {
    ("sites", "cloud", "region"),
    ("fleet", "owned", "book_value"),
    ("fleet", "colo", "book_value"),
    ("fleet", "cloud", "book_value"),
    ("ppas", "colo, a profile", "price_per_kwh"),
    ("ppas", "colo, a profile", "currency"),
}
"""Cells that only what a plan tells of shows, or its fixed cost: each takes a model and a plan of its own."""


ELSEWHERE = {
    ("engines", "", "software"): "the optional package aiconfigurator finds its data by it",
}
"""Cells that no stage of the product's own reads, and who does."""


def cell_of(item: Try) -> tuple[str, int, str]:
    return item.table, item.row, item.column.name


def cells(stage: Stage, tables: list[str], only: str = "") -> dict[tuple[str, str, str], Try]:
    """Return a try of every column of the first row of every kind: by table, kind and column."""
    case = stage.base(0).scenario
    found: dict[tuple[str, str, str], Try] = {}
    for table in tables:
        for row in range(len(stage.tables[table])):
            kind = kind_text(case, table, row)
            if only and only not in kind:
                continue
            for column in TABLES[table].columns:
                if column.name not in PROVENANCE and (table, kind, column.name) not in found:
                    values = list(candidates(stage, table, row, column))
                    found[table, kind, column.name] = Try(table, row, column, values)
    return found


def walked(
    stage: Stage, tables: list[str], only: str = "", rounds: int = 6
) -> dict[tuple[str, str, str], str]:
    """Return how each cell showed: by copies in one model, those of a case in its case, the rest one by one."""
    tries = cells(stage, tables, only)
    values = {cell: list(item.values) for cell, item in tries.items()}
    for variant in range(len(stage.settings)):
        for cell, item in tries.items():
            cased = item.column.name.endswith(("_low", "_high"))
            by_copies = item.table not in LIMITS and (variant == 0 or cased)
            item.values = list(values[cell]) if by_copies else []
        for _ in range(rounds):
            left = [item for item in tries.values() if not proven(item.shown) and item.values]
            if left:
                walk_by_copies(stage, left, variant)
    for cell, item in tries.items():
        if item.column.name in TABLES[item.table].key and not proven(item.shown):
            item.shown = "model"  # the copies differ in it: a key is what the rest hangs on
        if item.table in LIMITS and not proven(item.shown):
            item.shown = walk(stage, item.table, item.row, item.column, 8)
        for value in values[cell][:2] if cell in ONE_BY_ONE else ():
            item.shown = item.shown if proven(item.shown) else outcome(stage, *cell_of(item), value)
    return {cell: item.shown for cell, item in tries.items()}


def test_what_a_cloud_region_states_is_read_or_refused():
    shown = walked(FACILITY, ["sites"], only="cloud", rounds=3)
    unread = {cell: how for cell, how in shown.items() if not proven(how)}
    assert not unread


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "tables"), PROVEN, ids=IDS)
def test_every_column_of_a_proven_table_is_read_or_refused_for_every_kind_of_row(stage, tables):
    shown = walked(stage, tables)
    unread = {cell: how for cell, how in shown.items() if not proven(how)}
    assert not unread, "\n".join(f"{' | '.join(cell)}: {how}" for cell, how in unread.items())


@pytest.mark.parametrize(("stage", "tables"), PROVEN, ids=IDS)
def test_every_column_of_a_proven_table_is_walked(stage, tables):
    tries = cells(stage, tables)
    for table in tables:
        kinds = {kind for name, kind, _ in tries if name == table}
        columns = {column.name for column in TABLES[table].columns} - set(PROVENANCE)
        for kind in kinds:
            assert {column for name, of, column in tries if (name, of) == (table, kind)} == columns
    for table in {"sites", "fleet"}.intersection(tables):
        assert {kind for name, kind, _ in tries if name == table} == {"owned", "colo", "cloud"}


@pytest.mark.slow
@pytest.mark.parametrize("table", [name for name in WALKS if name != "latency"])
def test_every_column_of_a_table_is_read_or_refused_for_every_kind_of_row(table):
    assert_shown(table)


def test_every_column_of_a_round_trip_is_read_or_refused():
    assert_shown("latency")


def assert_shown(table):
    found = prove(table, WALKS[table])
    shown = {cell: shown_by(tries) for cell, tries in found.items() if cell not in ELSEWHERE}
    unread = {cell: how for cell, how in shown.items() if not proven(how)}
    assert not unread, "\n".join(f"{' | '.join(cell)}: {how}" for cell, how in unread.items())
    walked_columns = {column.name for column in TABLES[table].columns if not column.stated_only} - set(
        PROVENANCE
    )
    for kind in {of for _, of, _ in found}:
        assert {column for _, of, column in found if of == kind} == walked_columns


def test_every_table_is_walked_or_says_that_no_plan_reads_it():
    walks = [table for _, tables in PROVEN for table in tables]
    assert sorted([*walks, *WALKS, *UNREAD]) == sorted(TABLES)
