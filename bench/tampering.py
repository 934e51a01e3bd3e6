"""How many single changed cells of a saved plan its audit sees.

    python bench/tampering.py out/small                    # every number, date, yes or no and word of its tables
    python bench/tampering.py out/a out/b --each 6         # at most six cells of a column, drawn by --seed
    python bench/tampering.py out/a --frames orders,costs
    python bench/tampering.py case:campus case:hosted --each 2    # plans of tests/tampering_plans.py, solved here

Every stored cell is changed alone, in memory: a number by a tenth (an empty size by one), a date by two weeks, a yes
to a no, a word to another word of its column. Only the checks that read the frame are run, and the first that fails
ends the case. Prints one line per frame with the cells caught of all, below it each column with what escaped and why,
and the share that was caught.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from planner.plan import Plan, audit_plan, load_plan
from planner.plan.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts

HEADLINE = "plan.json"
DERIVATION = {
    "points": "what an engine does is the performance stage's: measured, fitted or simulated, not recomputed here",
    "refused_points": "as points",
    "pool_caps": "the queue model's table of sizes",
    "estimates": "where numbers come from, in words",
    "sources": "as estimates",
    "provenance": "where numbers come from, in words",
}
"""Frames that decide, date or bill nothing, and what they are."""
RUN = "says how the run went: no number of the plan rests on it"
REASONS = {
    (
        HEADLINE,
        "warnings.#",
    ): "words: those of the inputs must be among them, what a plan says itself is its own",
    (HEADLINE, "requested_gap"): "asked for on the command line: no input says it",
    (HEADLINE, "integers"): "size of the model, which the audit does not know",
    (HEADLINE, "cap_passes"): RUN,
    (HEADLINE, "solver_detail"): RUN,
    (HEADLINE, "solve_seconds"): RUN,
    (HEADLINE, "build_seconds"): RUN,
    (
        "baseline_costs",
        "line",
    ): "of a baseline only its payments are kept: one line stands for another of its kind",
    (
        "duals",
        "dual",
    ): "a price is the solver's: its sign, its limit, that it is used up and what rent or a workload pays are checked",
    (
        "duals",
        "kind",
    ): "a limit may have a price at the plan's fleet and in divisible units, whose plan is not kept",
    ("serving", "point"): "two points that are alike in every rate, kW and latency",
    ("flows", "shape"): "two shapes that are alike in every length",
}
"""Column -> why a change in it may not be seen."""
WORDS = ("definition", "reason", "basis", "detail", "convention", "notes", "message")
"""Columns that explain a number in words."""
SMALL = 1e-4
"""Amounts below are rounding: nothing of them is changed by a tenth."""


@dataclass
class Watched(dict):
    """A mapping that remembers what of it was asked for."""

    frames: Mapping[str, Any]
    asked: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__(self.frames)

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.asked.add(name)
        return super().get(name, default)


@dataclass(frozen=True)
class Cell:
    """One stored cell and what it is changed to."""

    frame: str
    column: str
    row: Any
    was: Any
    now: Any


def changed(value: Any, column: pd.Series | None) -> Any:
    """Return another value of the same kind; None where there is nothing to change."""
    if isinstance(value, (bool, np.bool_)):
        return not value
    if isinstance(value, (int, float, np.integer, np.floating)):
        if not np.isfinite(value):
            return None
        return (
            type(value)(value + 1)
            if isinstance(value, (int, np.integer))
            else (value * 1.1 if abs(value) > SMALL else value + 1.0)
        )
    if isinstance(value, pd.Timestamp):
        return value + pd.Timedelta(days=14)
    if isinstance(value, str):
        others = [] if column is None else sorted({str(one) for one in column.dropna()} - {value})
        return others[0] if others else f"{value} of another"
    return None


def cells(plan: Plan, names: list[str], each: int, seed: int) -> Iterator[Cell]:
    """Yield the cells of these frames, at most ``each`` of a column (0: all)."""
    draw = np.random.default_rng(seed)
    for name in names:
        frame = plan.frames[name]
        for column in frame.columns.difference(WORDS, sort=False):
            rows = np.flatnonzero(frame[column].notna().to_numpy())
            if each and len(rows) > each:
                rows = np.sort(draw.choice(rows, each, replace=False))
            for row in rows:
                was = frame[column].iloc[row]
                now = changed(was, frame[column])
                if now is not None:
                    yield Cell(name, column, int(row), was, now)


def headline_cells(value: Any, path: tuple[Any, ...] = ()) -> Iterator[Cell]:
    """Yield every number and word of ``plan.json``, whatever it is nested in."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from headline_cells(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        for at, item in enumerate(value):
            yield from headline_cells(item, (*path, at))
    elif path:
        now = changed(value, None)
        if now is not None:
            name = ".".join("#" if isinstance(part, int) else str(part) for part in path)
            yield Cell(HEADLINE, name, path, value, now)


def tampered(plan: Plan, cell: Cell) -> Plan:
    """Return the plan with this one cell changed."""
    if cell.frame == HEADLINE:
        return replace(plan, headline=_put(dict(plan.headline), cell.row, cell.now))
    frame = plan.frames[cell.frame].copy()
    values = frame[cell.column].tolist()
    values[cell.row] = cell.now
    kind = frame[cell.column].dtype
    column = pd.Series(values, index=frame.index)
    frame[cell.column] = column.astype(
        "float64" if kind.kind in "iu" and isinstance(cell.now, float) else kind
    )
    return replace(plan, frames={**plan.frames, cell.frame: frame})


def _put(value: Any, path: tuple[Any, ...], now: Any) -> Any:
    if not path:
        return now
    first, *rest = path
    if isinstance(value, Mapping):
        return {**value, first: _put(value[first], tuple(rest), now)}
    return [_put(item, tuple(rest), now) if at == first else item for at, item in enumerate(value)]


@dataclass
class Auditor:
    """The audit of one plan, prepared so that one changed cell costs a few checks.

    Attributes
    ----------
    readers
        Frame -> the checks that read it, seen by running each alone.
    derived
        What the books derive from frames, and which of them: kept where the changed frame is none of those.
    """

    plan: Plan
    facts: Facts
    readers: dict[str, list[str]]
    derived: dict[Any, tuple[Any, set[str]]]

    @classmethod
    def of(cls, plan: Plan) -> Auditor:
        """Return the auditor of a plan."""
        facts, whole = Facts(plan.scenario), audit_plan(plan)
        if not whole.passed:
            raise SystemExit(f"the plan does not pass its audit as it is: {list(whole.failures['check'])}")
        readers: dict[str, list[str]] = {}
        made: set[Any] = set()
        for name, check in CHECKS.items():
            watched, headline = Watched(plan.frames), Watched(plan.headline)
            books = Accounts(replace(plan, frames=watched, headline=headline), facts)
            check(books)
            made |= {key for key in books.__dict__ if key not in ("plan", "facts", "_made")}
            made |= set(books.__dict__.get("_made", {}))
            for frame in [*watched.asked, *([HEADLINE] if headline.asked else [])]:
                readers.setdefault(frame, []).append(name)
        derived = {}
        for key in made:
            watched, headline = Watched(plan.frames), Watched(plan.headline)
            value = _derive(Accounts(replace(plan, frames=watched, headline=headline), facts), key)
            derived[key] = value, watched.asked | ({HEADLINE} if headline.asked else set())
        return cls(plan, facts, readers, derived)

    def books(self, cell: Cell) -> Accounts:
        """Return the books of the plan with this cell changed, with what does not rest on its frame."""
        books = Accounts(tampered(self.plan, cell), self.facts)
        for key, (value, frames) in self.derived.items():
            if cell.frame not in frames:
                where = books.__dict__ if isinstance(key, str) else books.__dict__.setdefault("_made", {})
                where[key] = value
        return books

    def caught_by(self, cell: Cell) -> str | None:
        """Return the check that sees the change; None where none does."""
        books = self.books(cell)
        names = self.readers.setdefault(cell.frame, [])
        for name in list(names):
            try:
                passed = CHECKS[name](books).passed
            except Exception as error:
                return f"{name}: {type(error).__name__}"
            if not passed:
                names.remove(name)
                names.insert(0, name)
                return name
        return None


def _derive(books: Accounts, key: Any) -> Any:
    if isinstance(key, str):
        return getattr(books, key)
    make, others, named = key
    return make(books, *others, **dict(named))


def tamper(plan: Plan, names: list[str] | None = None, each: int = 0, seed: int = 0) -> pd.DataFrame:
    """Return every changed cell: frame, column, row, was, now, caught_by (blank: none)."""
    auditor = Auditor.of(plan)
    frames = [name for name in plan.frames if name != "checks" and name not in DERIVATION]
    chosen = frames if names is None else [name for name in plan.frames if name in names]
    todo = list(cells(plan, chosen, each, seed))
    if names is None or HEADLINE in names:
        todo += list(headline_cells(plan.headline))
    rows = [
        (cell.frame, cell.column, str(cell.row), str(cell.was), str(cell.now), auditor.caught_by(cell))
        for cell in todo
    ]
    return pd.DataFrame(rows, columns=["frame", "column", "row", "was", "now", "caught_by"])


def plan_of(name: str) -> Plan:
    """Return the plan of a folder, or of a case of ``tests/tampering_plans.py``."""
    if not name.startswith("case:"):
        return load_plan(name)
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    return import_module("tampering_plans").solved(name.removeprefix("case:"))


def main() -> None:
    """Print what was caught by frame, and what escaped by column and why."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("plans", nargs="+")
    parser.add_argument("--each", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--frames")
    parser.add_argument("--out", help="write every changed cell and the check that saw it to this CSV file")
    given = parser.parse_args()
    names = None if given.frames is None else given.frames.split(",")
    caught = cells_in_all = 0
    for folder in given.plans:
        table = tamper(plan_of(folder), names, given.each, given.seed)
        if given.out:
            table.assign(plan=folder).to_csv(given.out, mode="a", index=False)
        seen = table["caught_by"].notna()
        caught, cells_in_all = caught + int(seen.sum()), cells_in_all + len(table)
        print(f"{folder}: {int(seen.sum())} of {len(table)} cells caught", flush=True)
        for frame, rows in table.assign(caught=seen).groupby("frame", sort=False):
            print(f"  {frame:24} {int(rows['caught'].sum()):5} of {len(rows)} caught")
            for column, missed in rows[~rows["caught"]].groupby("column", sort=False):
                reason = REASONS.get((str(frame), str(column)), "NO REASON KNOWN")
                print(
                    f"    {column:30} {len(missed):5} of {(rows['column'] == column).sum()} escaped: {reason}"
                )
        raw = table[seen & table["caught_by"].astype("str").str.contains(": ")]
        for name, count in raw["caught_by"].value_counts().items():
            print(f"  raw error in {name}: {count}")
    print(f"{caught} of {cells_in_all} cells caught: {caught / max(cells_in_all, 1):.1%}")


if __name__ == "__main__":
    main()
