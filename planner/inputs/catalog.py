"""The shipped catalogue and the shipped example scenarios."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from planner.errors import Fault, InputError
from planner.inputs.checks.columns import check_columns
from planner.inputs.checks.references import check_catalog
from planner.inputs.folder import read_csv
from planner.inputs.located import Located
from planner.inputs.parse import parse_table
from planner.tables import TABLES


def catalog_root() -> Path:
    """Return the folder of the shipped catalogue."""
    return Path(str(files("catalogs")))


def example_names() -> list[str]:
    """Return the names of the shipped example scenarios, sorted."""
    folder = catalog_root() / "examples"
    if not folder.is_dir():
        return []
    return sorted(child.name for child in folder.iterdir() if (child / "scenario.yaml").is_file())


def example_path(name: str) -> Path:
    """Return the folder of a shipped example."""
    return catalog_root() / "examples" / name


@lru_cache(maxsize=1)
def shipped_catalog() -> dict[str, Located]:
    """Return every shipped library and candidate table, typed and checked column by column.

    Parsed once per process; frames are never edited in place, so sharing them is safe. A fault in the
    catalogue raises: it is a defect of the product, not of the scenario.
    """
    located: dict[str, Located] = {}
    faults: list[Fault] = []
    for name, table in TABLES.items():
        path = catalog_root() / f"{name}.csv"
        if table.scope == "scenario" or not path.is_file():
            continue
        raw, reading = read_csv(path, f"catalogs/{name}.csv")
        faults += reading
        if raw is not None:
            located[name], form = parse_table(table, raw, own=False)
            faults += form + check_columns(located[name])
    faults += check_catalog(located)
    if faults:
        raise InputError(faults)
    return located


def known_keys(table_name: str, column: str) -> list[str]:
    """Return the shipped keys of a table in order, each once."""
    located = shipped_catalog().get(table_name)
    return [] if located is None else located.frame[column].dropna().drop_duplicates().tolist()
