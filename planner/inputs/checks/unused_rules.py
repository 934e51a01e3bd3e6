"""Cells that nothing reads in a row of their kind: a number that is stated counts, or is refused."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from planner.inputs.checks.view import Finding, Notice, View, rows_where
from planner.inputs.located import Located
from planner.tables import TABLES, Column
from planner.tables.schema import Kinds


def kind_of_rows(view: View, name: str, kinds: Kinds) -> pd.Series:
    """Return the kind of each row of a table, blank where what tells it is not known."""
    path, asked, _ = kinds.by.partition(" ?")
    frame = view.frame(name)
    if " > " not in path:
        columns = path.split(", ")
        filled = frame[columns].notna().any(axis=1)
        value = frame[columns[0]]
    else:
        reference, _, target = path.partition(" > ")
        table, _, column = target.partition(".")
        value = view.lookup(frame[reference], table, column)
        filled = value.notna()
        known = frame[reference].isin(view.known(table, view[table].table.key[0]))
        value = value.where(known)
    if not asked:
        return value.astype(object)
    words = pd.Series(np.where(filled, kinds.words[0], kinds.words[1]), index=frame.index, dtype=object)
    return words.where(known) if " > " in path else words


def reads(view: View, name: str, column: Column) -> tuple[np.ndarray, pd.Series]:
    """Return which rows of a table read a column, and the kind that says so or not; unknown kinds count as reading."""
    count = len(view.frame(name))
    used, said = np.ones(count, dtype=bool), pd.Series("", index=view.frame(name).index, dtype=object)
    for kinds in TABLES[name].kinds:
        named = kinds.reading(column)
        if not named:
            continue
        kind = kind_of_rows(view, name, kinds)
        wrong = kind.notna().to_numpy() & ~kind.isin(named).to_numpy()
        only = f" (only for {', '.join(named)})"
        text = kind.map(lambda word, of=kinds.name, only=only: f"{of} {word}{only}")
        said = said.mask(pd.Series(wrong & used, index=said.index), text)
        used &= ~wrong
    return used, said


def stated(located: Located, column: Column) -> np.ndarray:
    """Return which rows state something in a column; a flag that is off, an empty list and most zeros do not.

    A choice that every row has to make says nothing by its first word, which names the whole (all days).
    """
    values = located.frame[column.name]
    if column.kind == "boolean":
        return values.fillna(False).to_numpy(bool)
    if column.kind == "list":
        return values.map(len).gt(0).to_numpy(bool)
    filled = values.notna().to_numpy(bool)
    if column.kind == "choice" and column.required:
        filled = filled & values.ne(column.choices[0]).to_numpy(bool)
    if column.kind in ("number", "integer") and not column.zero_says:
        filled = filled & (values.to_numpy(float) != 0)
    return filled


def stated_cells_are_read(view: View) -> Iterator[Finding]:
    """Yield cells of own rows that nothing reads in a row of that kind."""
    for name, located in view.tables.items():
        if not located.own.any():
            continue
        for column in located.table.columns:
            if not column.used_for or column.name in located.broken:
                continue
            used, said = reads(view, name, column)
            for at in rows_where(located, ~used & stated(located, column) & located.own):
                if column.name in located.table.key:
                    message = f"rows of {said.iloc[at]} are not used: leave the row out"
                else:
                    message = f"not used for {said.iloc[at]}: leave it blank"
                place = located.fault(at, column.name, message)
                yield place if column.unused == "fault" else Notice(place)


def what_no_plan_reads_is_said(view: View) -> Iterator[Finding]:
    """Yield a notice of the first own row of a table that no plan reads."""
    for located in view.tables.values():
        for at in rows_where(located, located.own)[:1] if located.table.read_by else ():
            message = f"no plan reads this table: {located.table.read_by}"
            yield Notice(located.fault(at, located.table.key[0], message))
