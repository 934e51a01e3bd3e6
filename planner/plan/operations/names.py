"""Names that Kubernetes takes, made of names that may hold anything.

An object's name is a DNS label here (RFC 1123: lower-case letters, digits and '-', at most 63, beginning and ending
with a letter or digit), the strictest of the rules Kubernetes has for names of objects and values of labels
(kubernetes.io, "Object Names and IDs", "Labels and Selectors").
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

WORDS = 24
"""Characters of the readable part: charts put a release before a name and a kind after it, within 63."""
MARK = 8
"""Hexadecimal digits that tell names apart whose readable parts are the same: 2**32 of them."""


def dns_label(read: Sequence[str], key: Sequence[str]) -> str:
    """Return a DNS label: letters and digits of what is read, and a mark of the whole key.

    Parameters
    ----------
    read
        Any text, what the name is known by.
    key
        Any text; other keys have other marks, whatever is left of what is read.

    >>> dns_label(["Chat (EU)", "B200 8x"], ["Chat (EU)", "B200 8x", "east"])
    'chat-eu-b200-8x-b015fc33'
    >>> dns_label(["../"], ["../"])
    'x-fa08499e'
    """
    words = re.sub(r"[^a-z0-9]+", "-", "-".join(read).lower()).strip("-")
    cut = words[:WORDS].strip("-") or "x"
    mark = hashlib.sha256("\x1f".join(key).encode("utf-8", "surrogatepass")).hexdigest()[:MARK]
    return f"{cut}-{mark}"


def folder_name(text: str) -> str:
    """Return a name of a folder or file for a period: itself where it is one already, else a marked DNS label.

    >>> folder_name("2027-Q1"), folder_name("../etc")
    ('2027-Q1', 'etc-f7f9121f')
    """
    plain = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}", text)
    # A marked name ends like one of its own: a period that looks marked is marked again.
    return text if plain and not re.search(rf"-[0-9a-f]{{{MARK}}}$", text) else dns_label([text], [text])
