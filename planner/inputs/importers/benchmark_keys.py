"""Keys a benchmark may refer to: those of the shipped catalogue and of one scenario of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from planner.inputs.catalog import shipped_catalog
from planner.inputs.cells import nearest
from planner.inputs.names import KINDS, Names, names_of
from planner.inputs.parse import typed_frame
from planner.inputs.read import read_tables

TABLES_WITH_KEYS: Mapping[str, str] = {
    **KINDS,
    "product": "products",
    "engine_option": "engine_options",
    "api_offer": "api_offers",
}


class UnknownKeyError(Exception):
    """A name that is no key and no known spelling of one, or of several; the message lists the nearest."""


@dataclass(frozen=True)
class KnownKeys:
    """Tables whose keys an operating point refers to, with foreign spellings.

    Attributes
    ----------
    tables
        chips, products, models, engines, software_eras, indexed by key; the scenario's rows replace shipped
        ones of the same key.
    names
        Kind (chip, model, engine) to how its keys may be spelt.
    """

    tables: Mapping[str, pd.DataFrame]
    names: Mapping[str, Names]

    def find(self, kind: str, name: str) -> str:
        """Return the key that a name or a foreign spelling of it stands for (see ``planner.inputs.names``)."""
        known = self.tables[TABLES_WITH_KEYS[kind]].index
        if kind not in self.names:
            if name in known:
                return name
            raise UnknownKeyError(f"unknown {kind}{nearest(name, known)}")
        names = self.names[kind]
        found = names.candidates(name)
        if len(found) > 1:
            raise UnknownKeyError(names.advice(name))
        if not found:
            raise UnknownKeyError(f"unknown {kind}{names.near(name)}")
        return found[0]

    def fact(self, kind: str, key: str, column: str) -> str | None:
        """Return a text of a row, None when blank."""
        value = self.tables[TABLES_WITH_KEYS[kind]].loc[key, column]
        return value if isinstance(value, str) else None

    def listed(self, kind: str, key: str, column: str) -> tuple[str, ...]:
        """Return a list of a row, empty when blank."""
        value = self.tables[TABLES_WITH_KEYS[kind]].loc[key, column]
        return tuple(value)


def known_keys(scenario: str | None = None) -> KnownKeys:
    """Return the keys of the shipped catalogue and of a scenario folder or workbook."""
    shipped = {name: located.frame for name, located in shipped_catalog().items()}
    own = {} if scenario is None else read_tables(Path(scenario))[1]
    tables = {
        name: _merged(name, shipped[name], own.get(name))
        for name in (*TABLES_WITH_KEYS.values(), "software_eras")
    }
    aliases = shipped["aliases"]
    if "aliases" in own:
        aliases = pd.concat([aliases, typed_frame("aliases", own["aliases"])])
    names = {kind: names_of(kind, tables[table].index, aliases) for kind, table in KINDS.items()}
    return KnownKeys(tables, names)


def _merged(name: str, shipped: pd.DataFrame, own: pd.DataFrame | None) -> pd.DataFrame:
    key = shipped.columns[0]
    rows = shipped if own is None else pd.concat([typed_frame(name, own), shipped]).drop_duplicates(key)
    return rows.set_index(key)
