"""The walk over whole tables: which cell of which kind of row shows how, each by the cheapest way that shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from column_walk import PROVENANCE, Stage, Try, candidates, kind_text, outcome, proven, walk, walk_by_copies

from planner.tables import TABLES

Cell = tuple[str, str, str]
"""Table, kind of row, column."""

ROW_BY_ROW = ("roofline_constants", "statistic_factors")
"""Tables of which every row means something else: each is a kind of its own, named by its key."""


def cells(stage: Stage, tables: Iterable[str], only: str = "") -> dict[Cell, list[Try]]:
    """Return a try of every column for every row of its kind that the stage has."""
    case = stage.base(0).scenario
    found: dict[Cell, list[Try]] = {}
    for table in tables:
        for row in range(len(stage.tables[table])):
            kind = kind_text(case, table, row)
            if table in ROW_BY_ROW:
                kind = " ".join(str(stage.tables[table][row][name]) for name in TABLES[table].key)
            for column in TABLES[table].columns if only in kind else ():
                if column.name not in PROVENANCE and not column.stated_only:
                    values = list(candidates(stage, table, row, column))
                    found.setdefault((table, kind, column.name), []).append(Try(table, row, column, values))
    return found


def shown_by(tries: list[Try]) -> str:
    """Return the first outcome that proves something, else what the first row showed."""
    return next((item.shown for item in tries if proven(item.shown)), tries[0].shown)


def walk_copies(stage: Stage, found: dict[Cell, list[Try]], rounds: int, variant: int = 0) -> None:
    """Try the cells by copies until each shows, one value and one row of its kind after the other."""
    most = max((len(tries) for tries in found.values()), default=0)
    for number in range(rounds * most):
        left = [tries[number % len(tries)] for tries in found.values() if not proven(shown_by(tries))]
        left = [item for item in left if item.values]
        if left:
            walk_by_copies(stage, left, variant)


def walk_singly(stage: Stage, found: dict[Cell, list[Try]], most: int) -> None:
    """Try the cells one at a time, each in a model of its own, and in a plan where the model is the same."""
    for tries in found.values():
        for item in tries:
            if not proven(shown_by(tries)):
                item.shown = walk(stage, item.table, item.row, item.column, most)


def unproven(found: dict[Cell, list[Try]]) -> Iterator[str]:
    """Yield a line for every cell that showed nowhere."""
    for cell, tries in found.items():
        if not proven(shown_by(tries)):
            yield f"{' | '.join(cell)}: {shown_by(tries)}"


@dataclass(frozen=True)
class Step:
    """A way to walk a table: in which stage, by copies or singly, and how many values are tried in a cell."""

    stage: Stage
    values: int = 4
    singly: bool = False


def prove(table: str, steps: Iterable[Step]) -> dict[Cell, list[Try]]:
    """Return the cells of a table with what showed them, each walked until a step shows it.

    A key shows by itself: the copies differ in nothing else, and are told apart by it.
    """
    known: dict[Cell, list[Try]] = {}
    for step in steps:
        found = cells(step.stage, [table])
        left = {
            cell: tries
            for cell, tries in found.items()
            if cell not in known or not proven(shown_by(known[cell]))
        }
        if step.singly:
            walk_singly(step.stage, left, step.values)
        else:
            walk_copies(step.stage, left, step.values)
            for variant in range(1, len(step.stage.settings)):
                cased = {
                    cell: again(step.stage, tries) for cell, tries in left.items() if is_cased(cell, tries)
                }
                walk_copies(step.stage, cased, step.values, variant)
                left |= cased
            for (_, _, column), tries in left.items():
                if column in TABLES[table].key and not proven(shown_by(tries)):
                    tries[0].shown = "model"
        known |= left
    return known


def is_cased(cell: Cell, tries: list[Try]) -> bool:
    """Return whether a column that counts in a case only has not shown."""
    return any(word in cell[2].split("_") for word in ("low", "high")) and not proven(shown_by(tries))


def again(stage: Stage, tries: list[Try]) -> list[Try]:
    return [
        Try(item.table, item.row, item.column, list(candidates(stage, item.table, item.row, item.column)))
        for item in tries
    ]


__all__ = [
    "Cell",
    "Step",
    "cells",
    "outcome",
    "prove",
    "proven",
    "shown_by",
    "unproven",
    "walk_copies",
    "walk_singly",
]
