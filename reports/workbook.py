"""The workbook: which sheets, in which order, and how the file is written."""

from __future__ import annotations

import datetime
import os
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from openpyxl import Workbook

from planner.tables import TABLES
from reports import styles
from reports.calculation import Calculation, build_calculation
from reports.content import Content, content_of
from reports.proof import PlanTables
from reports.sheets import (
    assumptions,
    budget,
    calc,
    checks,
    cover,
    failures,
    finance,
    fleet,
    input_tables,
    inputs,
    ledgers,
    metrics,
    placement,
    plan_tables,
    power,
    procurement,
    proof,
    shortages,
    site_comparison,
    summary,
    unit_cost,
)
from reports.used import shown_rows

if TYPE_CHECKING:
    from planner.plan import Plan

OUTPUT_SHEETS = (
    ("Summary", summary.fill),
    ("Procurement", procurement.fill),
    ("Budget", budget.fill),
    ("Ledgers", ledgers.fill),
    ("Finance", finance.fill),
    ("Fleet", fleet.fill),
    ("Placement", placement.fill),
    ("Losses", failures.fill),
    ("Sites", site_comparison.fill),
    ("Power", power.fill),
    ("Unit cost", unit_cost.fill),
    ("Metrics", metrics.fill),
)
BOUND_SHEETS = ("Summary", "Unit cost", "Metrics")
"""Sheets of a relaxation: what it costs and yields; nothing to order, pay or place."""
PROOF_SHEETS = ("Calc as planned", "Proof", "Plan tables")
"""What stands behind the sheet Checks; readers need it only when a check fails."""
EARLIEST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)


def write_workbook(plan: Plan, path: str | Path, written_on: datetime.date | None = None) -> Path:
    """Write the plan's Excel workbook and return its path.

    The file appears whole or not at all, and the same plan and date give the same bytes.

    Parameters
    ----------
    plan
        A plan, also one that says that none exists.
    path
        File to write; an existing one is replaced.
    written_on
        Date on the cover; today when not given.
    """
    return save_workbook(build_workbook(content_of(plan, written_on)), path)


def save_workbook(book: Workbook, path: str | Path) -> Path:
    """Write a workbook as a whole or not at all, with fixed dates inside the file."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.stem}.", suffix=".xlsx", dir=target.parent)
    os.close(handle)
    fresh = Path(name)
    try:
        book.save(fresh)
        _fix_dates(fresh, book.properties.created)
        fresh.chmod(0o644)
        os.replace(fresh, target)
    finally:
        fresh.unlink(missing_ok=True)
    return target


def build_workbook(content: Content) -> Workbook:
    """Return the filled workbook of a plan."""
    book = Workbook()
    book.remove(book.worksheets[0])
    styles.register(book)
    _describe(book, content)
    tables = {name: rows for name in TABLES if len(rows := shown_rows(content, name))}
    names = sheet_names(content)
    for name in [*names, *(input_tables.sheet_name(table) for table in tables)]:
        book.create_sheet(name)
    if content.is_bound:
        for name in BOUND_SHEETS:
            dict(OUTPUT_SHEETS)[name](book, content)
        inputs.fill(book, content, None, tables)
    elif content.has_plan:
        calculation = build_calculation(content)
        for name, fill in OUTPUT_SHEETS:
            if name in names:
                fill(book, content)
        calc.fill(book, content, calculation)
        calc.fill_as_planned(book, content, calculation)
        inputs.fill(book, content, calculation, tables)
    else:
        if "Shortages" in names:
            shortages.fill(book, content)
        inputs.fill(book, content, None, tables)
    assumptions.fill(book, content)
    cover.fill(book, content)
    if content.has_plan and not content.is_bound:
        _prove(book, content, calculation)
    for table, rows in tables.items():
        input_tables.fill(book, content, table, rows)
    book.active = 0
    return book


def _prove(book: Workbook, content: Content, calculation: Calculation) -> None:
    """Write what proves the numbers: the plan's tables, each number computed again, and the checks of both."""
    own = PlanTables(content)
    read = ["Cover", *(name for name in sheet_names(content) if name in dict(OUTPUT_SHEETS))]
    proved = proof.fill(book, content, read, own, checks.TOLERANCES)
    checks.fill(book, content, calculation, own, proved)
    plan_tables.fill(book, content, own)


def sheet_names(content: Content) -> list[str]:
    """Return the sheets in order, without the input tables; a bound has none that anybody would act on."""
    if content.is_bound:
        return ["Cover", *BOUND_SHEETS, "Assumptions", "Inputs"]
    if content.has_plan:
        shown = [name for name, _ in OUTPUT_SHEETS if name != "Losses" or failures.planned_for(content)]
        return ["Cover", *shown, "Assumptions", "Calc", "Checks", "Inputs", *PROOF_SHEETS]
    shortages_there = ["Shortages"] if content.status == "infeasible" else []
    return ["Cover", *shortages_there, "Assumptions", "Inputs"]


def _describe(book: Workbook, content: Content) -> None:
    moment = datetime.datetime.combine(content.written_on, datetime.time())
    properties = book.properties
    properties.creator = "planner"
    properties.title = _property(f"{cover.subject(content)}: {content.scenario_name}")
    properties.subject = _property(content.description)
    properties.keywords = f"status {content.status}; input {content.input_hash}"
    properties.description = _property(
        f"status {content.status}, objective {content.settings.get('objective')}"
    )
    properties.created = moment
    properties.modified = moment


def _property(text: str) -> str:
    from reports.cells import safe_text

    return safe_text(text)[:255]


def _fix_dates(path: Path, moment: datetime.datetime) -> None:
    """Rewrite the archive with fixed dates, so that equal content is an equal file."""
    modified = f"{moment.isoformat()}Z".encode()
    with zipfile.ZipFile(path) as archive:
        parts = [(info.filename, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts:
            if name == "docProps/core.xml":
                content = _with_modified(content, modified)
            archive.writestr(zipfile.ZipInfo(name, EARLIEST_ZIP_DATE), content, zipfile.ZIP_DEFLATED)


def _with_modified(core: bytes, modified: bytes) -> bytes:
    opening = core.index(b"<dcterms:modified")
    start = core.index(b">", opening) + 1
    return core[:start] + modified + core[core.index(b"</dcterms:modified>") :]
