"""Names of chips, models and engines: spellings, aliases and names that fit several keys.

One rule wherever such a name is read (scenario tables, ``--set``, importers, ``planner predict``): the key itself;
else the key or alias of the same spelling but for case, maker or organisation and separators; else, for models, the
same without the endings that name a release, a tuning or a quantisation. A name that fits several keys resolves to
none of them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from planner.inputs.cells import nearest
from planner.inputs.located import Located
from planner.tables import Column

KINDS: Mapping[str, str] = {"chip": "chips", "model": "models", "engine": "engines"}
"""What is named, and the table that holds its key in the column of the same name."""

MAKERS = (
    "nvidia",
    "amd",
    "instinct",
    "intel",
    "habana",
    "google",
    "cloud",
    "huawei",
    "aws",
    "geforce",
    "tesla",
)
"""Words before a chip's name that say who makes or sells it."""

ENDINGS = (
    *("instruct", "chat", "it", "hf", "base", "preview", "thinking", "exp", "dynamic", "bf16", "fp16"),
    *("fp8", "mxfp8", "fp4", "nvfp4", "mxfp4", "int8", "int4", "awq", "gptq", "w8a8", "w4a16"),
)
"""Words after a model's name that change neither its layers nor their sizes."""

_RELEASE = re.compile(r"[0-9]{4}|v0\.[0-9]")
_SEPARATORS = re.compile(r"[\s_\-(),]+")
SHOWN_CANDIDATES = 8


def words(name: str, kind: str) -> tuple[str, ...]:
    """Return a name as words in small letters, without the organisation before a slash or the maker of a chip.

    >>> words("nvidia/NVIDIA H100_80GB HBM3", "chip"), words("meta-llama/Llama-3.1-8B-Instruct", "model")
    (('h100', '80gb', 'hbm3'), ('llama', '3.1', '8b', 'instruct'))
    """
    parts = tuple(part for part in _SEPARATORS.split(name.rsplit("/", 1)[-1].lower()) if part)
    while kind == "chip" and len(parts) > 1 and parts[0] in MAKERS:
        parts = parts[1:]
    return parts


def shorter(parts: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Yield the words of a model's name with one more ending left out each time."""
    while len(parts) > 1 and (parts[-1] in ENDINGS or _RELEASE.fullmatch(parts[-1])):
        parts = parts[:-1]
        yield parts


@dataclass(frozen=True)
class Names:
    """Keys of one kind and how they may be spelt.

    Attributes
    ----------
    kind
        ``chip``, ``model`` or ``engine``.
    keys
        Keys as their table writes them.
    spelt
        Text in small letters to the key it stands for.
    worded
        Words of a name, joined, to the keys they fit.
    """

    kind: str
    keys: tuple[str, ...]
    spelt: Mapping[str, str]
    worded: Mapping[str, tuple[str, ...]]

    def candidates(self, name: str) -> tuple[str, ...]:
        """Return the keys a name fits: one when it resolves, several when it is ambiguous, none when unknown."""
        if name in self.keys:
            return (name,)
        spelt = self.spelt.get(name.strip().lower())
        if spelt is not None:
            return (spelt,)
        parts = words(name, self.kind)
        found = self.worded.get("".join(parts), ())
        if not found and self.kind == "model":
            found = next(
                (self.worded[k] for short in shorter(parts) if (k := "".join(short)) in self.worded), ()
            )
        return found or self._longer(parts)

    def _longer(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """Return the keys that begin with the words of a name, when there are several."""
        size = len(parts)
        found = tuple(key for key in self.keys if size and words(key, self.kind)[:size] == parts)
        return found if len(found) > 1 else ()

    def find(self, name: str) -> str | None:
        """Return the key a name stands for, None when it is unknown or ambiguous."""
        found = self.candidates(name)
        return found[0] if len(found) == 1 else None

    def advice(self, name: str) -> str:
        """Return why a name does not resolve, to follow the place it stands in."""
        found = self.candidates(name)
        if len(found) > 1:
            shown = ", ".join(repr(key) for key in found[:SHOWN_CANDIDATES])
            rest = f" and {len(found) - SHOWN_CANDIDATES} more" if len(found) > SHOWN_CANDIDATES else ""
            return f"names more than one {self.kind}; write one of {shown}{rest}"
        return f"not in {KINDS[self.kind]}{self.near(name)}"

    def near(self, name: str) -> str:
        """Return the key whose name or alias is nearest to one that is unknown, to follow what is said of it."""
        bare = name.rsplit("/", 1)[-1].lower()
        close = difflib.get_close_matches(bare, self.spelt, n=1)
        return f"; nearest known: {self.spelt[close[0]]!r}" if close else nearest(bare, self.keys)


def names_of(kind: str, keys: Iterable[str], aliases: pd.DataFrame) -> Names:
    """Return the names of one kind.

    Parameters
    ----------
    kind
        ``chip``, ``model`` or ``engine``.
    keys
        Keys of its table; the first of two that differ only in spelling wins.
    aliases : DataFrame
        Table ``aliases``; those of other kinds and of keys that are not there are left out.
    """
    known = tuple(dict.fromkeys(str(key) for key in keys))
    listed = aliases[aliases["kind"].eq(kind) & aliases["name"].isin(known) & aliases["alias"].notna()]
    pairs = [(key, key) for key in known]
    pairs += list(zip(listed["alias"].astype("str"), listed["name"].astype("str"), strict=True))
    spelt: dict[str, str] = {}
    worded: dict[str, dict[str, None]] = {}
    for name, key in pairs:
        spelt.setdefault(name.strip().lower(), key)
        worded.setdefault("".join(words(name, kind)), {})[key] = None
    own = {"".join(words(key, kind)): key for key in reversed(known)}
    # A key's own spelling stands for that key, even where an alias of another key reads the same.
    joined = {text: (own[text],) if text in own else tuple(found) for text, found in worded.items()}
    return Names(kind, known, spelt, joined)


def all_names(tables: Mapping[str, pd.DataFrame]) -> dict[str, Names]:
    """Return the names of every kind from the typed tables of a scenario or of the catalogue."""
    return {
        kind: names_of(kind, tables[table][kind].dropna(), tables["aliases"]) for kind, table in KINDS.items()
    }


def with_known_names(merged: Mapping[str, Located]) -> dict[str, Located]:
    """Return the merged tables with every name of a chip, model or engine in the scenario's own rows as its key.

    What does not resolve stays as written, for the check of references to report.
    """
    known = all_names({name: located.frame for name, located in merged.items()})
    return {name: _resolved(located, known) for name, located in merged.items()}


def _resolved(located: Located, known: Mapping[str, Names]) -> Located:
    """Return a table with the names in its own rows replaced by keys."""
    changed = {}
    for column in located.table.columns if located.own.any() else ():
        kind = kind_of(column)
        if kind is not None and column.name not in located.broken:
            cells = located.frame[column.name]
            found = [
                _key(cell, known[kind]) if own else cell for cell, own in zip(cells, located.own, strict=True)
            ]
            if any(new is not old for new, old in zip(found, cells, strict=True)):
                changed[column.name] = pd.Series(found, index=cells.index, dtype=cells.dtype)
    return replace(located, frame=located.frame.assign(**changed)) if changed else located


def kind_of(column: Column) -> str | None:
    """Return the kind of name a column refers to, None when it refers to none of ``KINDS``."""
    table = str(column.refers_to or "").partition(".")[0]
    return next((kind for kind, name in KINDS.items() if name == table), None)


def _key(cell: object, names: Names) -> object:
    if isinstance(cell, tuple):
        keys = tuple(names.find(word) or word for word in cell)
        return cell if keys == cell else tuple(dict.fromkeys(keys))
    return names.find(cell) or cell if isinstance(cell, str) else cell
