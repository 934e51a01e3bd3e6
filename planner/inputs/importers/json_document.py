"""Reading JSON files of other tools: duplicate names refused, every fault with its place in the document."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from planner.errors import Fault, InputError
from planner.inputs.importers.importer import readable_file
from planner.inputs.importers.json_trimming import trimmed_json


def load_json_object(path: Path) -> Mapping[str, Any]:
    """Return the object of a JSON file; a name that occurs twice in one object is a fault, not a choice."""
    document = load_json(path)
    if not isinstance(document, dict):
        raise InputError([Fault(path.name, "must be one JSON object")])
    return document


def load_json(path: Path, leave_out: Iterable[str] = ()) -> Any:
    """Return the value of a JSON file; ``NaN`` and ``Infinity`` are read as floats.

    Parameters
    ----------
    path
        UTF-8 file, with or without a byte-order mark.
    leave_out
        Names whose arrays and objects are passed over unread (they become None), for files larger than memory.
    """
    readable_file(path)
    content = trimmed_json(path, leave_out) if leave_out else path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError([Fault(path.name, f"is not JSON: {error}")]) from None
    return parsed_json(text, path.name)


def parsed_json(text: str, where: str) -> Any:
    """Return the value of a JSON text; a name that occurs twice in one object is a fault."""

    def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            repeated = sorted(name for name, count in counts.items() if count > 1)
            raise InputError([Fault(where, "occurs twice in one object", column=name) for name in repeated])
        return members

    try:
        return json.loads(text, object_pairs_hook=unique)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError([Fault(where, f"is not JSON: {error}")]) from None


class Reader:
    """Collects the faults of one file, so that all of them are reported together."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.faults: list[Fault] = []

    def fault(self, place: str, message: str, value: Any = None) -> None:
        """Note one fault at a place of the document, written like ``gpu_info.A10G.cost``."""
        shown = None if value is None else str(value)
        fault = Fault(self.where, message, column=place, value=shown)
        if fault not in self.faults:
            self.faults.append(fault)

    def stop_on_faults(self) -> None:
        """Raise everything found so far."""
        if self.faults:
            raise InputError(self.faults)

    def number(self, place: str, value: Any, *, above: float | None = None) -> float:
        """Return a finite number of at least zero (or above a limit); nan after noting a fault."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.fault(place, "must be a number", value)
        elif not math.isfinite(value):
            self.fault(place, "must be a finite number", value)
        elif value < 0 or (above is not None and value <= above):
            self.fault(place, "must be above 0" if above is not None else "must be 0 or more", value)
        else:
            return float(value)
        return math.nan

    def matrix(self, place: str, value: Any) -> np.ndarray | None:
        """Return a rectangular matrix of numbers of at least zero; None after noting a fault."""
        if not isinstance(value, list) or not value or not all(isinstance(row, list) for row in value):
            self.fault(place, "must be a matrix: a list of rows, each a list of numbers")
            return None
        widths = {len(row) for row in value}
        if len(widths) != 1 or widths == {0}:
            self.fault(place, f"rows must have the same length, found lengths {sorted(widths)}")
            return None
        found = len(self.faults)
        rows = [
            [self.number(f"{place}[{i}][{j}]", cell) for j, cell in enumerate(row)]
            for i, row in enumerate(value)
        ]
        return np.array(rows) if len(self.faults) == found else None
