"""What is finished, kept in one SQLite file beside the plan, so that a stopped study goes on where it was.

A result is found by what it depends on: the hash of all inputs of its case, the options of the solve, what was asked
and the version of the package. A change of any of them finds nothing and is solved anew; results of before stay.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from planner.errors import Fault, InputError
from planner.study.outcome import NAMES, OUTCOME, Outcome

FORM = 1
"""Number of the form of the database."""
BUSY_SECONDS = 60.0
"""How long one study waits while another writes."""
TABLES = f"""
CREATE TABLE IF NOT EXISTS inputs (
  input_hash TEXT PRIMARY KEY, scenario TEXT NOT NULL, origin TEXT NOT NULL, first_used TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS cases (
  run TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, changes TEXT NOT NULL, labels TEXT NOT NULL,
  input_hash TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (run, position)
);
CREATE TABLE IF NOT EXISTS results (
  key TEXT PRIMARY KEY, {", ".join(f"{column.name} {column.kind}" for column in OUTCOME)}, finished TEXT NOT NULL
);
"""


def key_of(*parts: object) -> str:
    """Return the key of a result from everything it depends on."""
    return hashlib.sha256(json.dumps([str(part) for part in parts]).encode()).hexdigest()


class Store:
    """Results of cases by key; safe for several processes at once.

    Parameters
    ----------
    path
        The file; ``made`` makes it and its folder.
    """

    def __init__(self, path: Path):
        self.path = path

    def made(self) -> Store:
        """Return the store, its file made where there is none.

        Raises
        ------
        InputError
            The file is no store, or one of another form.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as database:
                form = database.execute("PRAGMA user_version").fetchone()[0]
                if form not in (0, FORM):
                    message = (
                        f"is a store of form {form}, this version reads form {FORM}: choose another name"
                    )
                    raise InputError([Fault(str(self.path), message)])
                # Each statement is its own: a script would end the transaction that guards them.
                for statement in filter(str.strip, TABLES.split(";")):
                    database.execute(statement)
                database.execute(f"PRAGMA user_version = {FORM}")
        except (sqlite3.Error, OSError) as error:
            raise InputError([Fault(str(self.path), f"cannot be used as a store: {error}")]) from error
        return self

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection whose changes are kept together or not at all."""
        with closing(sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")

    def finished(self, keys: Iterable[str]) -> dict[str, Outcome]:
        """Return the results there are by key, without those that failed: these are tried again."""
        wanted = set(keys)
        with self._open() as database:
            rows = database.execute(f"SELECT key, {', '.join(NAMES)} FROM results WHERE status != 'failed'")
            return {row[0]: dict(zip(NAMES, row[1:], strict=True)) for row in rows if row[0] in wanted}

    def state(self, run: str, inputs: tuple[str, str, str], rows: Iterable[Mapping[str, Any]]) -> None:
        """Keep what a run is about: the unchanged inputs (hash, scenario, origin) and its cases in order."""
        with self._open() as database:
            database.execute("INSERT OR IGNORE INTO inputs VALUES (?, ?, ?, datetime('now'))", inputs)
            database.execute("DELETE FROM cases WHERE run = ?", (run,))
            database.executemany(
                "INSERT INTO cases VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        run,
                        position,
                        row["name"],
                        row["changes"],
                        json.dumps(row["labels"]),
                        row["input_hash"],
                        row["key"],
                    )
                    for position, row in enumerate(rows)
                ],
            )

    def keep(self, key: str, found: Outcome) -> None:
        """Keep one result; of two of one key the first stays, unless it failed."""
        marks = ", ".join("?" * (len(NAMES) + 1))
        with self._open() as database:
            database.execute("DELETE FROM results WHERE key = ? AND status = 'failed'", (key,))
            database.execute(
                f"INSERT OR IGNORE INTO results VALUES ({marks}, datetime('now'))",
                (key, *(found[name] for name in NAMES)),
            )
