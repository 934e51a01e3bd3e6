"""Operating points computed once for all cases whose performance side is the same.

What the performance stage reads is watched while it runs: tables by name, of some tables only the columns that stage
may see, settings by name. Another scenario that agrees in all of that has the same points, because the stage is a
function of what it reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import pandas as pd

from planner.inputs.load import table_hash
from planner.inputs.scenario import Scenario, Settings
from planner.performance import PointSet, operating_points

SEEN: Mapping[str, tuple[str, ...]] = {
    "offers": ("offer", "product"),
    "fleet": ("product", "cooling"),
    "sites": ("site", "region"),
    "facility_options": ("site", "cooling"),
}
"""Columns the performance stage sees of tables that are about money, power and dates: a change of others leaves the
points as they are. The stage is handed these alone, so that it cannot read more unnoticed."""


class _WatchedTables(Mapping[str, pd.DataFrame]):
    """The tables of a scenario, as far as the performance stage sees them; ``read`` names those that were taken."""

    def __init__(self, tables: Mapping[str, pd.DataFrame]):
        self._tables = tables
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> pd.DataFrame:
        self.read.add(name)
        return seen(self._tables, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


class _WatchedSettings:
    """The settings; ``read`` names those that were taken."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self.read: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.read.add(name)
        return getattr(self._settings, name)


def seen(tables: Mapping[str, pd.DataFrame], name: str) -> pd.DataFrame:
    """Return a table as the performance stage sees it."""
    return tables[name][list(SEEN[name])] if name in SEEN else tables[name]


@dataclass(frozen=True)
class KnownPoints:
    """Operating points, and what they were made from.

    Attributes
    ----------
    points
        The points.
    tables, settings
        Names of what the stage read.
    key
        Hash of what it read.
    """

    points: PointSet
    tables: tuple[str, ...]
    settings: tuple[str, ...]
    key: str

    @classmethod
    def of(cls, scenario: Scenario) -> KnownPoints:
        """Return the points of a scenario.

        Raises
        ------
        InputError
            The scenario has no operating points to compute.
        """
        tables, settings = _WatchedTables(scenario.tables), _WatchedSettings(scenario.settings)
        watched = replace(scenario, tables=tables, settings=cast(Settings, settings))
        points = operating_points(watched)
        names = tuple(sorted(tables.read)), tuple(sorted(settings.read))
        return cls(points, *names, _key(scenario, *names))

    def fit(self, scenario: Scenario) -> bool:
        """Return whether these are the points of a scenario too."""
        return _key(scenario, self.tables, self.settings) == self.key


def _key(scenario: Scenario, tables: tuple[str, ...], settings: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for name in tables:
        digest.update(f"{name} {table_hash(seen(scenario.tables, name))}\n".encode())
    for name in settings:
        digest.update(f"{name} {getattr(scenario.settings, name)!r}\n".encode())
    return digest.hexdigest()
