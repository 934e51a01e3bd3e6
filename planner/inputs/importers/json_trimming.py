"""Large JSON files without their bulk: values under some names are passed over and never become objects.

Benchmark tools embed every request beside the statistics that matter here. The file is mapped, not read; only
what is kept is copied, so memory follows the statistics and not the requests.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable
from pathlib import Path

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)
"""A string, or a bracket outside of strings."""


def trimmed_json(path: Path, names: Iterable[str]) -> bytes:
    """Return the text of a JSON file with every array or object under one of the names replaced by null."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return _trimmed(content, names)


def _trimmed(content: mmap.mmap | bytes, names: Iterable[str]) -> bytes:
    r"""Return the text without the values under the names.

    A quote inside a string is escaped, so ``"name":`` followed by a bracket can only be a name of an object.

    >>> _trimmed(b'{"a": 1, "big": [1, {"x": "]"}], "b": "big"}', ["big"])
    b'{"a": 1, "big": null, "b": "big"}'
    >>> _trimmed(rb'{"text": "\"big\": [", "b": 2}', ["big"])
    b'{"text": "\\"big\\": [", "b": 2}'
    """
    wanted = b"|".join(re.escape(name.encode()) for name in names)
    opening = re.compile(rb'(?<!\\)"(?:' + wanted + rb')"\s*:\s*[\[{]')
    parts, position = [], 0
    while (found := opening.search(content, position)) is not None:
        parts += [content[position : found.end() - 1], b"null"]
        position = _end_of_value(content, found.end() - 1)
    return b"".join([*parts, content[position:]])


def _end_of_value(content: mmap.mmap | bytes, start: int) -> int:
    """Return the position after the array or object that starts at a bracket; the end when it never closes."""
    depth = 0
    for token in TOKEN.finditer(content, start):
        first = content[token.start()]
        if first in b"[{":
            depth += 1
        elif first in b"]}":
            depth -= 1
            if depth == 0:
                return token.end()
    return len(content)
