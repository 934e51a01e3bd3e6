"""``planner catalog``: what is shipped, and which numbers have grown old."""

from __future__ import annotations

import datetime
import re
from importlib.resources import files
from typing import TYPE_CHECKING

import click

from planner.cli.console import frame_text, table_text
from planner.cli.framework import PlannerGroup, echo_json
from planner.cli.options import json_option
from planner.errors import Fault, InputError
from planner.tables import TABLES

if TYPE_CHECKING:
    import pandas as pd

DAYS_UNTIL_STALE = 365
PROVENANCE = ("source", "source_date", "confidence", "notes")


@click.group(cls=PlannerGroup)
def catalog() -> None:
    """Look into the shipped catalogue."""


def shipped(name: str) -> pd.DataFrame | None:
    """Return a shipped table as text cells, or None when the catalogue has no such file."""
    import pandas as pd

    entry = files("catalogs").joinpath(f"{name}.csv")
    if not entry.is_file():
        return None
    with entry.open("rb") as stream:
        return pd.read_csv(stream, dtype=str, keep_default_na=False)


@catalog.command(name="list", examples=["planner catalog list"])
@json_option
def list_tables(as_json: bool) -> None:
    """List the shipped tables with their size."""
    found = {name: frame for name in TABLES if (frame := shipped(name)) is not None}
    rows = [
        {"table": name, "rows": len(frame), "scope": TABLES[name].scope, "holds": TABLES[name].meaning}
        for name, frame in found.items()
    ]
    if as_json:
        echo_json({"status": "ok", "tables": rows})
        return
    click.echo(
        table_text(["table", "rows", "scope", "holds"], [list(row.values()) for row in rows], indent="")
    )


@catalog.command(examples=["planner catalog show chips", "planner catalog show fx --json"])
@click.argument("table", metavar="TABLE")
@click.option("--notes", is_flag=True, help="Show the notes too.")
@json_option
def show(table: str, notes: bool, as_json: bool) -> None:
    """Show the rows of one shipped table."""
    frame = shipped(table) if table in TABLES else None
    if frame is None:
        known = ", ".join(name for name in TABLES if shipped(name) is not None)
        raise InputError([Fault("TABLE", f"the catalogue ships {known}", value=table)])
    if as_json:
        echo_json({"status": "ok", "table": table, "rows": frame.to_dict("records")})
        return
    filled = [name for name in frame.columns if (frame[name] != "").any() and (notes or name != "notes")]
    click.echo(frame_text(frame[filled]))


@catalog.command(examples=["planner catalog stale", "planner catalog stale --before 2025-01-01 --json"])
@click.option(
    "--before",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Rows whose source is older than this day  [default: one year ago]",
)
@json_option
def stale(before: datetime.datetime | None, as_json: bool) -> None:
    """List the rows whose source is old, or whose source states no date."""
    today = datetime.date.today()
    limit = before.date() if before else today - datetime.timedelta(days=DAYS_UNTIL_STALE)
    rows = [row for name in TABLES for row in stale_rows(name, limit)]
    if as_json:
        echo_json({"status": "ok", "before": limit, "rows": rows})
        return
    header = ["table", "key", "source_date", "confidence", "source"]
    click.echo(table_text(header, [[row[name] for name in header] for row in rows], indent=""))
    click.echo(f"{len(rows)} rows older than {limit} or without a date")


def stale_rows(name: str, limit: datetime.date) -> list[dict[str, str]]:
    """Return the rows of one shipped table whose source date is before ``limit`` or unknown."""
    frame = shipped(name)
    if frame is None or "source_date" not in frame.columns:
        return []
    old = []
    for row in frame.to_dict("records"):
        day = first_day(row["source_date"])
        if day is None or day < limit:
            key = "|".join(row[part] for part in TABLES[name].key)
            kept = {column: row.get(column, "") for column in PROVENANCE if column != "notes"}
            old.append({"table": name, "key": key, **kept})
    return old


def first_day(text: str) -> datetime.date | None:
    """Return the first day a source date may mean, None when it names no year.

    >>> first_day("2025-07"), first_day("2024"), first_day("FY2026 Q1"), first_day("")
    (datetime.date(2025, 7, 1), datetime.date(2024, 1, 1), datetime.date(2026, 1, 1), None)
    """
    found = re.search(r"(?<!\d)(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?", text)
    if found is None:
        return None
    year, month, day = (int(part) if part else 1 for part in found.groups())
    try:
        return datetime.date(year, month, day)
    except ValueError:
        return None
