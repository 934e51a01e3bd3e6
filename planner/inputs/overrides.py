"""Single values changed from outside: ``table/key1|key2/column=value`` and ``settings/field=value``.

``column*=0.8`` and ``column+=26`` change the number that stands there; a key with ``*`` in it names every row whose key
it fits (rows whose cell is blank are left out of a relative change). ``+table/key1|key2/column=value`` adds the row
where no row has that key. ``table[filter].column=value`` changes every row that fits the filter (``row_filter``),
``table.column=value`` every row.
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
from planner.inputs.row_filter import filtered_rows
from planner.inputs.scenario import Settings
from planner.tables import TABLES, Column

_FORM = re.compile(
    r"(?P<add>\+?)(?P<table>[^/=+]+)/(?P<key>.*?)/(?P<column>[A-Za-z0-9_]+)(?P<how>[*+]?)=(?P<value>.*)",
    re.DOTALL,
)
_FILTERED = re.compile(
    r"(?P<table>[A-Za-z0-9_]+)(\[(?P<rows>.*?)\])?\.(?P<column>[A-Za-z0-9_]+)(?P<how>[*+]?)=(?P<value>.*)",
    re.DOTALL,
)
_SETTING = re.compile(r"settings[/.](?P<column>[^/=*+]+)(?P<how>[*+]?)=(?P<value>.*)", re.DOTALL)
FORMS = "table/key1|key2/column=value, table[filter].column=value or settings/field=value"


@dataclass(frozen=True)
class Override:
    """One value to set; ``where`` is how faults name it, ``how`` is ``*`` or ``+`` for a change of what is there.

    ``adds`` says that the row is added where there is none of that key; ``rows`` is a filter that names the rows
    instead of a key.
    """

    where: str
    table: str
    key: str
    column: str
    value: str
    how: str = ""
    adds: bool = False
    rows: str | None = None

    @property
    def text(self) -> str:
        """Return the change as ``--set`` takes it."""
        value = f"{self.column}{self.how}={self.value}"
        if self.table == "settings":
            return f"settings/{value}"
        if self.rows is None:
            return f"{'+' if self.adds else ''}{self.table}/{self.key}/{value}"
        return f"{self.table}[{self.rows}].{value}" if self.rows else f"{self.table}.{value}"


def split_overrides(
    changes: Sequence[str | Override],
) -> tuple[list[Override], list[Override], list[Fault]]:
    """Return the overrides of settings, those of tables, and a fault for each text that has no known form."""
    settings, tables, faults = list[Override](), list[Override](), list[Fault]()
    for change in changes:
        override = change if isinstance(change, Override) else read_override(change, f"--set {change}")
        if override is None:
            faults.append(Fault(f"--set {change}", f"must have the form {FORMS}"))
        elif override.table == "settings":
            settings.append(override)
        else:
            tables.append(override)
    return settings, tables, faults


def read_override(text: str, where: str) -> Override | None:
    """Return what a text says is to be set; None where it has no known form."""
    if match := _SETTING.fullmatch(text):
        return Override(where, "settings", "", match["column"].strip(), match["value"], match["how"])
    if match := _FORM.fullmatch(text):
        table, key, column, value, how = match.group("table", "key", "column", "value", "how")
        return Override(where, table, key, column, value, how, adds=bool(match["add"]))
    if match := _FILTERED.fullmatch(text):
        table, rows, column, value, how = match.group("table", "rows", "column", "value", "how")
        return Override(where, table, "", column, value, how, rows=rows or "")
    return None


def changed_settings(
    values: Mapping[str, object], overrides: Sequence[Override]
) -> tuple[dict[str, object], list[Fault]]:
    """Return the raw settings with values set, and a fault for each relative change of what is no number."""
    changed, faults = dict(values), list[Fault]()
    for override in overrides:
        if not override.how:
            changed[override.column] = override.value
            continue
        field = Settings.model_fields.get(override.column)
        before = changed.get(override.column, field.default if field else None)
        try:
            by, number = float(override.value), float(before)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            message = f"{override.column}{override.how}= changes a number by a number"
            faults.append(Fault(override.where, message, value=override.value))
            continue
        changed[override.column] = repr(number * by if override.how == "*" else number + by)
    return changed, faults


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
        located = changed[override.table]
        rows, found = _rows_of(changed, override)
        if not found:
            rows, values, found = _values_of(located, override, rows)
        if not found:
            located, found = _set_values(located, override, rows, values)
        faults += found
        if not found:
            changed[override.table] = located
    return changed, faults


def _rows_of(merged: Mapping[str, Located], override: Override) -> tuple[np.ndarray, list[Fault]]:
    """Return the positions of the rows an override names, by its filter or by its key."""
    located = merged[override.table]
    if override.rows is None:
        return np.array(_named_rows(_key_texts(located), override.key), dtype=int), []

    def names(column: Column) -> Names | None:
        kind = _kind_named(override.table, column)
        return _names_of_kind(merged, kind) if kind else None

    return filtered_rows(located, override.rows, names, override.where)


def _kind_named(table_name: str, column: Column) -> str | None:
    """Return chip, model or engine where a column names one."""
    own = next((kind for kind, table in KINDS.items() if (table, kind) == (table_name, column.name)), None)
    return kind_of(column) or own


def _names_of_kind(merged: Mapping[str, Located], kind: str) -> Names:
    return names_of(kind, merged[KINDS[kind]].frame[kind].dropna(), merged["aliases"].frame)


def _key_names(merged: Mapping[str, Located], table_name: str) -> list[Names | None]:
    """Return, per part of a table's key, the names of the chips, models or engines it may be; None for other parts."""
    table = TABLES[table_name]
    kinds = [_kind_named(table_name, table[name]) for name in table.key]
    return [_names_of_kind(merged, kind) if kind else None for kind in kinds]


def _with_named_key(merged: Mapping[str, Located], override: Override) -> Override:
    """Return an override whose key names chips, models and engines as their tables do."""
    if override.rows is not None or override.table not in TABLES:
        return override
    if _named_rows(_key_texts(merged[override.table]), override.key):
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
    if override.rows is not None:
        return None
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


def _values_of(
    located: Located, override: Override, rows: np.ndarray
) -> tuple[np.ndarray, list[str], list[Fault]]:
    """Return the rows that are set and the value of each, a relative change made a value; or the fault of doing so."""
    if not override.how:
        return rows, [override.value] * len(rows), []
    column = located.table[override.column]
    try:
        by = float(override.value)
    except ValueError:
        by = float("nan")
    if column.kind not in ("number", "integer") or not np.isfinite(by):
        message = f"{override.column}{override.how}= changes a number by a number"
        return rows, [], [Fault(override.where, message, value=override.value)]
    cells = located.frame[column.name].astype(float).to_numpy()
    stated = rows[np.isfinite(cells[rows])]
    if not len(stated):
        return stated, [], [Fault(override.where, f"{override.column} is blank there: nothing to change")]
    after = cells[stated] * by if override.how == "*" else cells[stated] + by
    return stated, [repr(float(value)) for value in after], []


def _set_values(
    located: Located, override: Override, rows: np.ndarray, values: Sequence[str]
) -> tuple[Located, list[Fault]]:
    """Return the table with cells of one column changed, or faults of type, limits and required value.

    A value that is wrong in many rows is told once.
    """
    column = located.table[override.column]
    cells = clean(values)
    typed, complaints = typed_column(column, cells)
    if column.required:
        complaints |= {at: f"required: {column.meaning}" for at, cell in enumerate(cells) if cell is None}
    if complaints:
        said = dict.fromkeys((message, values[at]) for at, message in sorted(complaints.items()))
        return located, [Fault(override.where, message, value=value) for message, value in said]
    series = located.frame[column.name].copy()
    series.iloc[rows] = typed
    changed = replace(located, frame=located.frame.assign(**{column.name: series}))
    shipped = rows[~located.own[rows]]
    if len(shipped):
        where, row, own = located.where.copy(), located.row.copy(), located.own.copy()
        where[shipped], row[shipped], own[shipped] = override.where, NO_ROW, True
        changed = replace(changed, where=where, row=row, own=own)
    limits = check_columns(changed.take(rows))
    outside = dict.fromkeys((fault.message, fault.value) for fault in limits)
    return changed, [Fault(override.where, message, value=value) for message, value in outside]
