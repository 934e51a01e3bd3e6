"""Single values changed from outside: ``table/key1|key2/column=value`` and ``settings/field=value``.

``column*=0.8`` and ``column+=26`` change the number that stands there; a key with ``*`` in it names every row whose key
it fits (rows whose cell is blank are left out of a relative change).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.errors import Fault
from planner.inputs.cells import clean, nearest, typed_column
from planner.inputs.checks.columns import check_columns
from planner.inputs.located import NO_ROW, Located
from planner.tables import TABLES

_FORM = re.compile(
    r"(?P<table>[^/=]+)/(?P<key>.*?)/(?P<column>[A-Za-z0-9_]+)(?P<how>[*+]?)=(?P<value>.*)", re.DOTALL
)
_SETTING = re.compile(r"settings/(?P<column>[^/=]+)=(?P<value>.*)", re.DOTALL)


@dataclass(frozen=True)
class Override:
    """One value to set; ``where`` is how faults name it, ``how`` is ``*`` or ``+`` for a change of what is there."""

    where: str
    table: str
    key: str
    column: str
    value: str
    how: str = ""


def split_overrides(texts: Sequence[str]) -> tuple[list[Override], list[Override], list[Fault]]:
    """Return the overrides of settings, those of tables, and a fault for each that has neither form."""
    settings, tables, faults = [], [], []
    for text in texts:
        where = f"--set {text}"
        if match := _SETTING.fullmatch(text):
            settings.append(Override(where, "settings", "", match["column"].strip(), match["value"]))
        elif match := _FORM.fullmatch(text):
            found = (match[name] for name in ("table", "key", "column", "value", "how"))
            tables.append(Override(where, *found))
        else:
            message = "must have the form table/key1|key2/column=value or settings/field=value"
            faults.append(Fault(where, message))
    return settings, tables, faults


def apply_overrides(
    merged: Mapping[str, Located], overrides: Sequence[Override]
) -> tuple[dict[str, Located], list[Fault]]:
    """Return the merged tables with the values set, and the faults of doing so."""
    changed = dict(merged)
    faults: list[Fault] = []
    for override in overrides:
        fault = _unknown_place(changed, override)
        if fault is not None:
            faults.append(fault)
            continue
        single, found = _single_cells(changed[override.table], override)
        faults += found
        for one in single:
            located, found = _set_value(changed[override.table], one)
            faults += found
            if not found:
                changed[override.table] = located
    return changed, faults


def _unknown_place(merged: Mapping[str, Located], override: Override) -> Fault | None:
    """Return a fault when table, column or key is not known."""
    if override.table not in TABLES:
        return Fault(override.where, f"unknown table{nearest(override.table, [*TABLES, 'settings'])}")
    table = TABLES[override.table]
    if override.column not in table.by_column:
        return Fault(override.where, f"unknown column{nearest(override.column, table.column_names)}")
    if override.column in table.key:
        return Fault(override.where, f"{override.column} is part of the key and cannot be set")
    keys = _key_texts(merged[override.table])
    if not _named_rows(keys, override.key):
        wanted = "|".join(table.key)
        return Fault(
            override.where, f"unknown key ({wanted}) of {override.table}{nearest(override.key, keys)}"
        )
    return None


def _key_texts(located: Located) -> list[str]:
    return [located.key_text(position) for position in range(len(located.frame))]


def _named_rows(keys: Sequence[str], key: str) -> list[int]:
    """Return the rows a key names: the one it is, else those it fits with ``*`` for any text."""
    exact = [at for at, text in enumerate(keys) if text == key]
    if exact or "*" not in key:
        return exact
    pattern = re.compile(".*".join(re.escape(part) for part in key.split("*")))
    return [at for at, text in enumerate(keys) if pattern.fullmatch(text)]


def _single_cells(located: Located, override: Override) -> tuple[list[Override], list[Fault]]:
    """Return the override once per row it names, a relative change made a value; or the fault of doing so."""
    keys = _key_texts(located)
    rows = _named_rows(keys, override.key)
    if not override.how:
        return [replace(override, key=keys[at]) for at in rows], []
    column = located.table[override.column]
    try:
        by = float(override.value)
    except ValueError:
        by = float("nan")
    if column.kind not in ("number", "integer") or not np.isfinite(by):
        message = f"{override.column}{override.how}= changes a number by a number"
        return [], [Fault(override.where, message, value=override.value)]
    cells = located.frame[column.name].astype(float).to_numpy()
    stated = [at for at in rows if np.isfinite(cells[at])]
    if not stated:
        return [], [Fault(override.where, f"{override.column} is blank there: nothing to change")]
    return [
        replace(
            override,
            key=keys[at],
            value=repr(float(cells[at] * by if override.how == "*" else cells[at] + by)),
        )
        for at in stated
    ], []


def _set_value(located: Located, override: Override) -> tuple[Located, list[Fault]]:
    """Return the table with one cell changed, or faults of type, limits and required value."""
    column = located.table[override.column]
    cells = clean([override.value])
    typed, complaints = typed_column(column, cells)
    if column.required and cells[0] is None:
        complaints[0] = f"required: {column.meaning}"
    if complaints:
        return located, [Fault(override.where, complaints[0], value=override.value)]
    position = _key_texts(located).index(override.key)
    series = located.frame[column.name].copy()
    series.iloc[position : position + 1] = typed
    changed = replace(located, frame=located.frame.assign(**{column.name: series}))
    if not located.own[position]:
        where, row, own = located.where.copy(), located.row.copy(), located.own.copy()
        where[position], row[position], own[position] = override.where, NO_ROW, True
        changed = replace(changed, where=where, row=row, own=own)
    limits = check_columns(changed.take(np.array([position])))
    return changed, [Fault(override.where, fault.message, value=override.value) for fault in limits]
