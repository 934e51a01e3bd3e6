"""Times the kernel database gave before, kept in the scenario's folder so that the next run need not ask again."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from pathlib import Path

from planner.performance.kernel_database import Configuration, NotCovered, installed_version

FILE = Path("cache") / "aiconfigurator.csv"
HEADER = ["version", "phase", *Configuration._fields, "count", "tokens", "ms", "reason"]
Key = tuple[str, ...]


def store_file(origin: str) -> Path | None:
    """Return where the times of a scenario are kept; None for shipped examples and values in memory.

    A folder keeps them below itself, a workbook beside itself.
    """
    place = Path(origin)
    if (place / "scenario.yaml").is_file():
        return place / FILE
    return place.parent / FILE if place.suffix == ".xlsx" and place.is_file() else None


class StepStore:
    """Milliseconds by (phase, configuration, count, tokens) of one version of the package.

    ``count`` is the batch of a step and the cached tokens of a prompt; ``tokens`` the context of a step and the
    computed tokens of a prompt. What the database refused is kept with its reason, for it is the slowest to ask.
    Rows of another version of the package are dropped.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.version = installed_version() or ""
        self.values: dict[Key, float] = {}
        self.refusals: dict[Key, str] = {}
        self.added = 0
        if path is not None and path.is_file():
            self._load(path)

    def _load(self, path: Path) -> None:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        if not rows or rows[0] != HEADER:
            return
        for version, *key, ms, reason in (row for row in rows[1:] if len(row) == len(HEADER)):
            if version == self.version and ms:
                self.values[tuple(key)] = float(ms)
            elif version == self.version:
                self.refusals[tuple(key[1:-2])] = reason

    def ms(
        self, phase: str, wanted: Configuration, count: int, tokens: int, ask: Callable[[], float]
    ) -> float:
        """Return the time kept under the key, or ask for it and keep it.

        Raises
        ------
        NotCovered
            The database holds nothing for the configuration, now or before.
        """
        configuration = tuple(str(value) for value in wanted)
        if configuration in self.refusals:
            raise NotCovered(self.refusals[configuration])
        key = (phase, *configuration, str(count), str(tokens))
        if key not in self.values:
            self.added += 1
            try:
                self.values[key] = ask()
            except NotCovered as error:
                self.refusals[configuration] = str(error)
                raise
        return self.values[key]

    def save(self) -> None:
        """Write everything in one move, so that a reader never sees half a file; nothing new writes nothing."""
        if self.path is None or not self.added:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(f".{os.getpid()}.partial")
        with partial.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEADER)
            writer.writerows(
                [self.version, *key, repr(value), ""] for key, value in sorted(self.values.items())
            )
            for configuration, reason in sorted(self.refusals.items()):
                writer.writerow([self.version, "", *configuration, "", "", "", reason])
        os.replace(partial, self.path)
        self.added = 0
