"""Finished pieces of a long analysis, kept in a file, so that a stopped run goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Result = dict[str, Any]


class Journal:
    """Results by name, each appended to a file as soon as it is there.

    Parameters
    ----------
    path
        The file, one JSON document a line; None keeps nothing.
    question
        What the results depend on (inputs, gap, share): others in the file are not taken.
    tell
        Called with one line before each piece that has to be computed.
    """

    def __init__(self, path: Path | None, question: str, tell: Callable[[str], None] = lambda line: None):
        self._path, self._question, self._tell = path, question, tell
        self._known: dict[str, Result] = {}
        if path is not None and path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = _entry(line)
                if entry.get("question") == question:
                    self._known[entry["name"]] = entry["result"]

    def result(self, name: str, compute: Callable[[], Result]) -> Result:
        """Return the result of that name: from the file if it is there, else computed and kept."""
        if name not in self._known:
            self._tell(name)
            found = compute()
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"question": self._question, "name": name, "result": found}) + "\n")
            self._known[name] = found
        return self._known[name]


def _entry(line: str) -> Result:
    """Return one line of the file; a line cut short by the stop counts as not there."""
    try:
        entry = json.loads(line)
    except json.JSONDecodeError:
        return {}
    return entry if isinstance(entry, dict) else {}
