"""Blocks of cells as a reader finds them on a written sheet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openpyxl.worksheet.worksheet import Worksheet

from reports.layout import DATE_ROW
from reports.styles import style_of


@dataclass(frozen=True, slots=True)
class Shown:
    """Rows without a gap under one title.

    Attributes
    ----------
    sheet
        The sheet they stand on.
    title
        Section title above them; empty for the first block of a sheet.
    heads
        Header text -> column; the nearest header above, which may belong to an earlier block.
    header
        Row of that header; 0 without one.
    first, last
        First and last row.
    width
        Last column that holds something.
    """

    sheet: Worksheet
    title: str
    heads: Mapping[str, int]
    header: int
    first: int
    last: int
    width: int

    def value(self, row: int, column: int) -> Any:
        """Return the value of a cell."""
        return self.sheet.cell(row, column).value

    def is_sum(self, row: int) -> bool:
        """Return whether a row adds up the rows above it."""
        return style_of(self.sheet.cell(row, 1)) == "total label"


def shown_blocks(sheet: Worksheet) -> list[Shown]:
    """Return the blocks of a sheet, below its title, purpose and status."""
    blocks: list[Shown] = []
    title, header, first = "", 0, 0
    heads: dict[str, int] = {}
    for row in range(DATE_ROW, sheet.max_row + 2):
        style = style_of(sheet.cell(row, 1))
        filled = [cell.column for cell in sheet[row] if cell.value is not None]
        ends = not filled or style in ("section", "header")
        if ends and first:
            blocks.append(_block(sheet, title, heads, header, first, row - 1))
            first = 0
        if style == "section" and filled:
            title = str(sheet.cell(row, 1).value)
        elif style == "header" and filled:
            header, heads = row, {str(sheet.cell(row, column).value): column for column in filled}
        elif filled and not first:
            first = row
    return blocks


def _block(
    sheet: Worksheet, title: str, heads: Mapping[str, int], header: int, first: int, last: int
) -> Shown:
    width = max(cell.column for row in sheet.iter_rows(first, last) for cell in row if cell.value is not None)
    return Shown(sheet, title, heads, header, first, last, width)
