"""From a folder, a workbook, an example or values in memory to one checked scenario."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.catalog import example_names, example_path, shipped_catalog
from planner.inputs.cells import nearest
from planner.inputs.chains import with_power_chains
from planner.inputs.checks import check_scenario
from planner.inputs.checks.columns import check_columns
from planner.inputs.located import Located, RawScenario, cell_text
from planner.inputs.merge import merge
from planner.inputs.names import with_known_names
from planner.inputs.overrides import Override, apply_overrides, changed_settings, split_overrides
from planner.inputs.parse import Rows, empty_table, parse_table, raw_from_rows
from planner.inputs.policies import parse_settings
from planner.inputs.read import read_source
from planner.inputs.scenario import Scenario, Settings
from planner.tables import TABLES

DEFAULT_EXAMPLE = "flagship"


def load_scenario(reference: str | Path | None = None, overrides: Sequence[str | Override] = ()) -> Scenario:
    """Return a checked scenario merged with the shipped catalogue.

    Parameters
    ----------
    reference
        A folder, an ``.xlsx`` workbook or the name of a shipped example; None means ``flagship``.
    overrides
        ``table/key1|key2/column=value``, ``table[filter].column=value`` and ``settings/field=value``, applied in order
        before the checks.

    Raises
    ------
    InputError
        With every fault found in files, settings, overrides and between tables.
    """
    path, origin = resolve_reference(reference)
    return build_scenario(read_source(path), origin, overrides, catalog=True)


def make_scenario(
    settings: Mapping[str, object],
    tables: Mapping[str, Rows],
    catalog: bool = True,
    overrides: Sequence[str | Override] = (),
) -> Scenario:
    """Return a checked scenario from values in memory.

    Without one of the tables that every plan needs (periods, workloads, shapes, demand, sites, and offers or
    a fleet) it is part of a scenario, to try one stage with: cells and references are checked, the rules
    between tables are not.

    Parameters
    ----------
    settings
        Fields of ``Settings``.
    tables
        Table name to rows (mappings, or a frame); the first row is row 2 in faults, as under a header. A
        table without rows counts as not given.
    catalog
        Merge with the shipped catalogue; False keeps to the rows given.
    overrides
        As in ``load_scenario``.
    """
    return build_scenario(memory_source(settings, tables), "memory", overrides, catalog, part=True)


def memory_source(settings: Mapping[str, object], tables: Mapping[str, Rows]) -> RawScenario:
    """Return values in memory as what a file would hold; tables without rows count as not given."""
    faults = tuple(
        Fault(name, f"unknown table{nearest(name, TABLES)}") for name in tables if name not in TABLES
    )
    raw = {name: raw_from_rows(name, rows) for name, rows in tables.items() if name in TABLES and len(rows)}
    return RawScenario("memory", "settings", dict(settings), {}, raw, faults)


def resolve_reference(reference: str | Path | None) -> tuple[Path, str]:
    """Return the path of a scenario and how to name its origin."""
    name = DEFAULT_EXAMPLE if reference is None else str(reference)
    path = Path(name)
    known = example_names()
    if path.is_file() or (path / "scenario.yaml").is_file() or (path.is_dir() and name not in known):
        return path, name
    if name in known:
        return example_path(name), name
    message = f"no such folder or workbook, and no shipped example of that name; examples: {', '.join(known)}"
    raise InputError([Fault("scenario", message, value=name)])


def build_scenario(
    source: RawScenario, origin: str, overrides: Sequence[str | Override], catalog: bool, part: bool = False
) -> Scenario:
    """Return the checked scenario of everything read from one source."""
    faults = list(source.faults)
    for_settings, for_tables, unreadable = split_overrides(overrides)
    faults += unreadable
    values, not_numbers = changed_settings(source.settings, for_settings)
    faults += not_numbers
    places = {item.column: item.where for item in for_settings}
    settings, setting_faults = parse_settings(
        source.settings_where, values, source.settings_rows, places, source.settings_letter
    )
    unread = not source.settings and any(fault.where == source.settings_where for fault in source.faults)
    # What a file that cannot be read does not state is not missing as well.
    faults += [] if unread else setting_faults
    own, form_faults = parse_own(source)
    faults += form_faults
    shipped = shipped_catalog() if catalog else {}
    policies = settings or Settings(name="unreadable", discount_rate_fraction=0.0)
    merged, merge_faults = merge(own, shipped, policies, source.settings_where)
    faults += merge_faults if settings else []
    merged, override_faults = apply_overrides(merged, for_tables)
    faults += override_faults
    merged = with_known_names(merged)
    found, warnings = check_scenario(
        merged, shipped, policies, source.settings_where, settings is not None, part
    )
    faults += found
    if faults or settings is None:
        raise InputError(list(dict.fromkeys(faults)))
    tables = with_power_chains({name: located.frame for name, located in merged.items()})
    return Scenario(
        settings.name, settings, tables, origin, tuple(warnings), hash_inputs(settings, tables, shipped)
    )


def parse_own(source: RawScenario) -> tuple[dict[str, Located], list[Fault]]:
    """Return the scenario's own tables, typed, with their faults of form and limits."""
    own = {name: empty_table(table, source.place(name)) for name, table in TABLES.items()}
    faults: list[Fault] = []
    for name, raw in source.tables.items():
        own[name], form = parse_table(TABLES[name], raw, own=True)
        faults += form + check_columns(own[name])
    return own, faults


def hash_inputs(
    settings: Settings, tables: Mapping[str, pd.DataFrame], shipped: Mapping[str, Located]
) -> str:
    """Return the sha256 of the settings and all merged tables, the same for either form."""
    digest = hashlib.sha256(json.dumps(settings.model_dump(mode="json"), sort_keys=True).encode())
    for name in sorted(tables):
        located = shipped.get(name)
        whole = located is not None and tables[name] is located.frame
        table = shipped_hash(name) if whole else table_hash(tables[name])
        digest.update(f"{name} {table}\n".encode())
    return digest.hexdigest()


@cache
def shipped_hash(name: str) -> str:
    """Return the hash of a whole shipped table; computed once per process."""
    return table_hash(shipped_catalog()[name].frame)


def table_hash(frame: pd.DataFrame) -> str:
    """Return the sha256 of a typed frame, rows and columns in order."""
    digest = hashlib.sha256()
    for name in frame.columns:
        digest.update(f"\n{name}\n".encode() + _column_bytes(frame[name]))
    return digest.hexdigest()


def _column_bytes(series: pd.Series) -> bytes:
    """Return the content of a column as bytes that are the same on every machine."""
    if series.dtype.kind == "f":
        values = series.to_numpy() + 0.0
        return np.where(np.isnan(values), np.nan, values).astype("<f8").tobytes()
    if series.dtype.kind in "Mb":
        return series.to_numpy().astype("<i8").tobytes()
    return "\x1f".join(cell_text(value) or "" for value in series.tolist()).encode()
