"""Keys a benchmark may refer to: those of the shipped catalogue and of one scenario of the user's own."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from planner.inputs.catalog import shipped_catalog
from planner.inputs.cells import nearest
from planner.inputs.parse import typed_frame
from planner.inputs.read import read_tables

TABLES_WITH_KEYS: Mapping[str, str] = {
    "chip": "chips",
    "product": "products",
    "model": "models",
    "engine": "engines",
}


class UnknownKeyError(Exception):
    """A name that is no key and no known spelling of one; the message lists the nearest."""


@dataclass(frozen=True)
class KnownKeys:
    """Tables whose keys an operating point refers to, with foreign spellings.

    Attributes
    ----------
    tables
        chips, products, models, engines, software_eras, indexed by key; the scenario's rows replace shipped
        ones of the same key.
    spellings
        Kind (chip, model) to spelling in small letters to key.
    """

    tables: Mapping[str, pd.DataFrame]
    spellings: Mapping[str, Mapping[str, str]]

    def find(self, kind: str, name: str) -> str:
        """Return the key that a name or a foreign spelling of it stands for.

        The owner before a slash (``meta-llama/...``) may be missing from the spellings.
        """
        known = self.tables[TABLES_WITH_KEYS[kind]].index
        if name in known:
            return name
        spellings = {key.lower(): key for key in known} | dict(self.spellings.get(kind, {}))
        for spelling in (name.lower(), name.rsplit("/", 1)[-1].lower()):
            if spelling in spellings:
                return spellings[spelling]
        close = difflib.get_close_matches(name.rsplit("/", 1)[-1].lower(), spellings, n=1)
        hint = f"; nearest known: {spellings[close[0]]!r}" if close else nearest(name, known)
        raise UnknownKeyError(f"unknown {kind}{hint}")

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
    spellings = {
        kind: dict(zip(rows["alias"].str.lower(), rows["name"], strict=True))
        for kind, rows in aliases.groupby("kind")
    }
    return KnownKeys(tables, spellings)


def _merged(name: str, shipped: pd.DataFrame, own: pd.DataFrame | None) -> pd.DataFrame:
    key = shipped.columns[0]
    rows = shipped if own is None else pd.concat([typed_frame(name, own), shipped]).drop_duplicates(key)
    return rows.set_index(key)
