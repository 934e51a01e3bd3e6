"""Keys that must occur in another table, and accepted names that must exist."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from planner.errors import Fault
from planner.inputs.cells import nearest
from planner.inputs.checks.view import View
from planner.inputs.located import Located
from planner.inputs.names import kind_of, names_of
from planner.tables import TABLES, Column


def check_references(view: View, settings_readable: bool = True) -> list[Fault]:
    """Return a fault for every key of the scenario's own rows that its table does not have.

    Shipped rows refer to shipped rows, which a scenario can replace but not remove; ``check_catalog`` checks
    them. Without readable settings nobody knows which shipped candidates join: any of them may be named.
    """
    return [
        fault
        for located in view.tables.values()
        if located.own.any()
        for column in located.table.columns
        if column.refers_to is not None and column.name not in located.broken
        for fault in unknown_keys(view, located, column, settings_readable)
    ]


def unknown_keys(view: View, located: Located, column: Column, settings_readable: bool) -> list[Fault]:
    """Return a fault for every key of a column that the table it refers to does not have."""
    table_name, target_column = str(column.refers_to).split(".")
    target = view.tables[table_name]
    if target_column in target.broken:
        return []
    here = view.known(table_name, target_column)
    shipped = view.catalog.get(table_name)
    words = _words(located.frame[column.name], column)
    unknown = [(at, word) for at, word in words if word not in here and located.own[at]]
    wide = set(shipped.frame[target_column].dropna()) if unknown and shipped is not None else set()
    if not settings_readable and TABLES[table_name].scope == "candidate":
        # Whatever is shipped may join: it is no fault to name it, and what is near may be meant.
        unknown = [(at, word) for at, word in unknown if word not in wide]
        here = here | wide
    kind = kind_of(column)
    if kind is not None and unknown:
        names = names_of(kind, target.frame[target_column].dropna(), view.frame("aliases"))
        return [located.fault(at, column.name, names.advice(word), word) for at, word in unknown]
    return [
        located.fault(at, column.name, _advice(word, table_name, here, wide), word) for at, word in unknown
    ]


def _words(series: pd.Series, column: Column) -> list[tuple[int, str]]:
    """Return the position and the key of every reference in a column; lists have several per row."""
    if column.kind == "list":
        return [(at, word) for at, words in enumerate(series.tolist()) for word in words]
    return [(at, word) for at, word in enumerate(series.tolist()) if isinstance(word, str)]


def check_catalog(catalog: Mapping[str, Located]) -> list[Fault]:
    """Return a fault for every key of the shipped catalogue that the catalogue does not have."""
    faults = []
    for located in catalog.values():
        for column in located.table.columns:
            table_name, _, target_column = (column.refers_to or "").partition(".")
            if table_name in catalog:
                known = set(catalog[table_name].frame[target_column].dropna())
                faults += [
                    located.fault(at, column.name, f"not in {table_name}{nearest(word, known)}", word)
                    for at, word in _words(located.frame[column.name], column)
                    if word not in known
                ]
    return faults


def _advice(word: str, table_name: str, here: frozenset[str], wide: set[str]) -> str:
    if word in wide and TABLES[table_name].scope == "candidate":
        return f"only in the shipped catalogue; to use it, name it in settings catalog_{table_name}"
    return f"not in {table_name}{nearest(word, sorted(here))}"


def check_settings_keys(view: View) -> list[Fault]:
    """Return faults of settings that name tables, keys or currencies."""
    faults = [
        Fault(view.settings_where, message, None, "accept", name)
        for name in view.settings.accept
        if (message := _unknown_accept(view, name))
    ]
    currencies = view.frame("fx")["currency"].dropna().tolist()
    currency = view.settings.currency
    if currency not in currencies and "currency" not in view.tables["fx"].broken:
        message = f"not in fx{nearest(currency, currencies)}"
        faults.append(Fault(view.settings_where, message, None, "currency", currency))
    return faults


def _unknown_accept(view: View, name: str) -> str | None:
    table_name, _, rest = name.partition("/")
    key, _, column = rest.rpartition("/")
    if table_name not in TABLES:
        return f"must be table/key/column; unknown table{nearest(table_name, TABLES)}"
    if column not in TABLES[table_name].by_column:
        return f"must be table/key/column; unknown column{nearest(column, TABLES[table_name].column_names)}"
    located = view.tables[table_name]
    keys = [located.key_text(position) for position in range(len(located.frame))]
    return None if key in keys else f"unknown key of {table_name}{nearest(key, keys)}"
