"""Many cells in one model: each changed in a copy of its own of the site, offer or workload it belongs to.

A copy is every row that leads back to the entity (by what the columns refer to), its keys with a number behind a tilde.
Two copies are the same to the model when what is labelled with them is the same but for the number.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from planner.formulation.build import PlanModel
from planner.performance import PointSet
from planner.tables import TABLES

Row = dict[str, Any]
Rows = Mapping[str, list[Row]]
MARK = re.compile(r"~(\d+)")


def copied(tables: Rows, table: str, column: str, value: Any, number: int) -> dict[str, dict[int, Row]]:
    """Return by table and row the copies of all rows that lead back to a key: site, offer, workload and so on."""
    renamed = {(table, column): {value}}
    copies: dict[str, dict[int, Row]] = defaultdict(dict)
    grown = True
    while grown:
        grown = False
        for name, rows in tables.items():
            for at, row in enumerate(rows):
                made = _renamed(name, row, renamed, number)
                if made is None or made == copies[name].get(at):
                    continue
                copies[name][at], grown = made, True
                key = TABLES[name].key
                if all(made[part] == row[part] for part in key):
                    renamed.setdefault(named_in(name, key[0]), set()).add(row[key[0]])
    return {name: rows for name, rows in copies.items() if rows}


def _renamed(table: str, row: Row, renamed: Mapping[tuple[str, str], set[Any]], number: int) -> Row | None:
    """Return the row with its renamed keys and references, None where it has none."""
    made, touched = dict(row), False
    for column in TABLES[table].columns:
        now = row.get(column.name)
        if now is None:
            continue
        other = named_in(table, column.name)
        known = renamed.get(other, set()) | renamed.get((table, column.name), set())
        if column.kind == "list":
            names = str(now).split(";")
            if known.intersection(names):
                made[column.name] = ";".join(f"{name}~{number}" if name in known else name for name in names)
                touched = True
        elif now in known:
            made[column.name], touched = f"{now}~{number}", True
    return made if touched else None


def named_in(table: str, column: str) -> tuple[str, str]:
    """Return table and column in which the keys of a column are named in the first place."""
    while refers_to := TABLES[table][column].refers_to:
        table, column = refers_to.split(".")
    return table, column


def with_copies(tables: Rows, copies: Iterable[Mapping[str, Mapping[int, Row]]]) -> dict[str, list[Row]]:
    """Return the tables with all copies behind their own rows."""
    result = {name: list(rows) for name, rows in tables.items()}
    for each in copies:
        for name, rows in each.items():
            result[name].extend(rows.values())
    return result


def _texts(labels: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return of each label the number of the copy it belongs to, blank for none, and its text without numbers."""
    if labels.empty:
        return [], []
    texts = ["|".join(map(str, values)) for values in labels.itertuples(index=False, name=None)]
    numbers = [found.group(1) if (found := MARK.search(text)) else "" for text in texts]
    return numbers, [MARK.sub("", text) for text in texts]


def by_copy(model: PlanModel) -> dict[str, set[str]]:
    """Return what the model says of each copy: its columns with cost and bounds, its rows with limits and entries."""
    said: dict[str, set[str]] = defaultdict(set)
    owner, name = [], []
    at = 0
    for block in model.columns.blocks:
        numbers, texts = _texts(block.labels)
        owner += numbers
        name += [f"{block.family}({text})" for text in texts]
        for offset, number in enumerate(numbers):
            column = at + offset
            figures = (
                model.value[column],
                model.numerator[column],
                model.denominator[column],
                block.upper[offset],
            )
            said[number].add(f"{name[column]} {' '.join(f'{figure:.10g}' for figure in figures)}")
        at += len(numbers)
    for block in model.problem.rows:
        numbers, texts = _texts(block.labels)
        for number, text, right in zip(numbers, texts, block.rhs, strict=True):
            if number:
                said[number].add(f"{block.family}[{text}] {block.sense} {right:.10g}")
        for row, column, value in zip(block.row, block.column, block.value, strict=True):
            number = numbers[row] or owner[column]
            if number:
                said[number].add(f"{block.family}[{texts[row]}] {name[column]} {value:.10g}")
    return said


def points_by_copy(points: PointSet) -> dict[str, set[str]]:
    """Return what the performance stage says of each copy: points, refusals, routes and caps of one copy alone."""
    said: dict[str, set[str]] = defaultdict(set)
    frames = {
        "point": points.taken,
        "refused": points.refused,
        "route": points.routes,
        "cap": points.caps,
    }
    for name, frame in frames.items():
        for row in frame.itertuples(index=False, name=None):
            text = "|".join(f"{value:.10g}" if isinstance(value, float) else str(value) for value in row)
            numbers = set(MARK.findall(text))
            if len(numbers) == 1:
                said[numbers.pop()].add(f"{name} {MARK.sub('', text)}")
    return said
