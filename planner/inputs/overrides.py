"""Single values changed from outside: ``table/key1|key2/column=value`` and ``settings/field=value``.

``column*=0.8`` and ``column+=26`` change the number that stands there; a key with ``*`` in it names every row whose key
it fits (rows whose cell is blank are left out of a relative change). ``+table/key1|key2/column=value`` adds the row
where no row has that key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.errors import Fault
from planner.inputs.cells import clean, nearest, typed_column
from planner.inputs.checks.columns import check_columns
from planner.inputs.located import NO_ROW, Located, concatenate
from planner.inputs.names import KINDS, Names, kind_of, names_of
from planner.inputs.parse import parse_table, raw_from_rows
from planner.tables import TABLES

_FORM = re.compile(
    r"(?P<add>\+?)(?P<table>[^/=+]+)/(?P<key>.*?)/(?P<column>[A-Za-z0-9_]+)(?P<how>[*+]?)=(?P<value>.*)",
    re.DOTALL,
)
_SETTING = re.compile(r"settings/(?P<column>[^/=]+)=(?P<value>.*)", re.DOTALL)


@dataclass(frozen=True)
class Override:
    """One value to set; ``where`` is how faults name it, ``how`` is ``*`` or ``+`` for a change of what is there.

    ``adds`` says that the row is added where there is none of that key.
    """

    where: str
    table: str
    key: str
    column: str
    value: str
    how: str = ""
    adds: bool = False


def split_overrides(texts: Sequence[str]) -> tuple[list[Override], list[Override], list[Fault]]:
    """Return the overrides of settings, those of tables, and a fault for each that has neither form."""
    settings, tables, faults = [], [], []
    for text in texts:
        where = f"--set {text}"
        if match := _SETTING.fullmatch(text):
            settings.append(Override(where, "settings", "", match["column"].strip(), match["value"]))
        elif match := _FORM.fullmatch(text):
            table, key, column, value, how = match.group("table", "key", "column", "value", "how")
            tables.append(Override(where, table, key, column, value, how, adds=bool(match["add"])))
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
    for stated in overrides:
        override = _with_named_key(changed, stated)
        if override.adds:
            changed, found = _with_row(changed, override)
            faults += found
            if found:
                continue
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


def _key_names(merged: Mapping[str, Located], table_name: str) -> list[Names | None]:
    """Return, per part of a table's key, the names of the chips, models or engines it may be; None for other parts."""
    kinds = [
        kind_of(TABLES[table_name][name])
        or next((k for k, v in KINDS.items() if (v, k) == (table_name, name)), None)
        for name in TABLES[table_name].key
    ]
    return [
        names_of(kind, merged[KINDS[kind]].frame[kind].dropna(), merged["aliases"].frame) if kind else None
        for kind in kinds
    ]


def _with_named_key(merged: Mapping[str, Located], override: Override) -> Override:
    """Return an override whose key names chips, models and engines as their tables do."""
    if override.table not in TABLES or _named_rows(_key_texts(merged[override.table]), override.key):
        return override
    names = _key_names(merged, override.table)
    parts = override.key.split("|")
    if len(parts) != len(names) or not any(names):
        return override
    found = [known.find(part) or part if known else part for part, known in zip(parts, names, strict=True)]
    return replace(override, key="|".join(found))


def _with_row(merged: Mapping[str, Located], override: Override) -> tuple[dict[str, Located], list[Fault]]:
    """Return the tables with the row an override adds, in the order of its key, or why it cannot be added.

    The row is blank but for its key and the cell that is set: a table that requires more cells takes no row this way.
    """
    tables = dict(merged)
    if override.table not in TABLES or override.column not in TABLES[override.table].by_column:
        return tables, []
    table, located = TABLES[override.table], merged[override.table]
    parts = override.key.split("|")
    if _named_rows(_key_texts(located), override.key) or override.how:
        return tables, []
    wanted = [column.name for column in table.columns if column.required]
    unset = [name for name in wanted if name not in (*table.key, override.column)]
    if len(parts) != len(table.key) or unset:
        needs = f"a key {'|'.join(table.key)}" if len(parts) != len(table.key) else f"also {', '.join(unset)}"
        return tables, [Fault(override.where, f"a row added to {override.table} needs {needs}")]
    given = dict(zip(table.key, parts, strict=True)) | {override.column: override.value}
    raw = raw_from_rows(override.where, [given])
    added, faults = parse_table(table, raw, own=True, complete=False)
    if faults:
        return tables, [Fault(override.where, fault.message, value=fault.value) for fault in faults]
    tables[override.table] = _in_order(concatenate([located, replace(added, row=np.array([NO_ROW]))]))
    return tables, []


def _in_order(located: Located) -> Located:
    """Return the table with its last row moved up to where its key belongs among rows of the same leading key."""
    frame, keys = located.frame, list(located.table.key)
    last = len(frame) - 1
    same = np.ones(last, bool)
    for name in keys[:-1]:
        same &= (frame[name].iloc[:last] == frame[name].iloc[last]).to_numpy(bool)
    later = (frame[keys[-1]].iloc[:last] > frame[keys[-1]].iloc[last]).to_numpy(bool)
    after = np.flatnonzero(same & later)
    place = int(after[0]) if len(after) else last
    return located.take(np.insert(np.arange(last), place, last))


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
        names = _key_names(merged, override.table)
        if len(names) == 1 and names[0] is not None:
            return Fault(override.where, names[0].advice(override.key), value=override.key)
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
