"""A scenario as it was read, before it is checked: what every case changes in its own way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from planner.inputs.load import build_scenario, memory_source, resolve_reference
from planner.inputs.located import RawScenario
from planner.inputs.overrides import Override
from planner.inputs.parse import Rows
from planner.inputs.read import read_source
from planner.inputs.scenario import Scenario


@dataclass(frozen=True)
class Base:
    """Everything read of a scenario, and what is changed in all cases.

    Attributes
    ----------
    source, origin
        The cells as read, and how to name where they were.
    overrides
        Changes of all cases, as ``planner solve --set`` takes them.
    catalog
        Whether the shipped catalogue joins.
    part
        Whether it may be part of a scenario (values in memory).
    """

    source: RawScenario
    origin: str
    overrides: tuple[str | Override, ...] = ()
    catalog: bool = True
    part: bool = False

    @classmethod
    def read(cls, reference: str | Path | None, overrides: Sequence[str] = ()) -> Base:
        """Return the base of a folder, a workbook or a shipped example; None means ``flagship``.

        Raises
        ------
        InputError
            There is no such scenario.
        """
        path, origin = resolve_reference(reference)
        return cls(read_source(path), origin, tuple(overrides))

    @classmethod
    def of_tables(
        cls, settings: Mapping[str, object], tables: Mapping[str, Rows], catalog: bool = True
    ) -> Base:
        """Return the base of values in memory, as ``make_scenario`` takes them."""
        return cls(memory_source(settings, tables), "memory", (), catalog, part=True)

    def scenario(self, changes: Sequence[str | Override] = ()) -> Scenario:
        """Return the checked scenario with changes made after those of all cases.

        Raises
        ------
        InputError
            With every fault of the files, the changes and the rules between tables.
        """
        return build_scenario(
            self.source, self.origin, (*self.overrides, *changes), self.catalog, part=self.part
        )
