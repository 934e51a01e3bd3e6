"""A scenario of one's own to start from."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.catalog import example_names, example_path, shipped_catalog
from planner.inputs.cells import nearest
from planner.inputs.parse import parse_table
from planner.inputs.policies import parse_settings
from planner.inputs.read import read_source
from planner.inputs.write import write_tables
from planner.tables import TABLES

EDITABLE = "service_classes"
"""Shipped table every new scenario holds, because what each service needs is the user's to say."""


def new_scenario(target: str | Path, example: str = "small", force: bool = False) -> Path:
    """Write a copy of a shipped example as a folder or, when the target ends in ``.xlsx``, as a workbook.

    All settings are written, defaults included, and the table of service classes with them. The workbook has
    a sheet for every table a scenario can hold.

    Parameters
    ----------
    target
        Folder or workbook to write.
    example
        Name of a shipped example.
    force
        Replace an existing target.
    """
    if example not in example_names():
        raise InputError([Fault("example", f"unknown{nearest(example, example_names())}", value=example)])
    raw = read_source(example_path(example))
    settings, faults = parse_settings(raw.settings_where, raw.settings, raw.settings_rows)
    frames = {}
    for name, table in raw.tables.items():
        located, found = parse_table(TABLES[name], table, own=True)
        frames[name] = located.frame
        faults += found
    if faults or settings is None:
        raise InputError([*raw.faults, *faults])
    own = frames.get(EDITABLE)
    shipped = shipped_catalog()[EDITABLE].frame
    if own is not None:
        shipped = shipped[~shipped["service_class"].isin(own["service_class"])]
        frames[EDITABLE] = own if shipped.empty else pd.concat([own, shipped], ignore_index=True)
    else:
        frames[EDITABLE] = shipped
    values = settings.model_dump(mode="json") | {"name": name_from(target)}
    return write_tables(target, values, frames, force)


def name_from(target: str | Path) -> str:
    """Return the name of a scenario written to this place.

    >>> name_from("plans/europe.xlsx"), name_from("plans/europe-2028/")
    ('europe', 'europe-2028')
    """
    return Path(target).resolve().name.removesuffix(".xlsx") or "scenario"
