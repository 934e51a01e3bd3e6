"""Defined names: a small fixed set, so that scripts find the headline outputs and the scalar inputs."""

from __future__ import annotations

from openpyxl import Workbook
from openpyxl.workbook.defined_name import DefinedName


def define(book: Workbook, name: str, reference: str, comment: str = "") -> None:
    """Give a cell a name that holds in the whole workbook."""
    book.defined_names[name] = DefinedName(name, attr_text=reference, comment=comment or None)
