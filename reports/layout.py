"""The frame of every sheet: title, model status, blocks of rows, widths, frozen panes, print setup.

A time sheet has descriptors in columns A to F, the unit in G, a total or constant in H, and the periods from
column I on, on every sheet alike. A list sheet has its columns from A on. The first header stands in row 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from openpyxl import Workbook
from openpyxl.utils import get_column_letter, quote_sheetname
from openpyxl.worksheet.hyperlink import Hyperlink
from openpyxl.worksheet.pagebreak import Break
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet

from planner.plan.bound import BOUND_LABEL
from reports import styles
from reports.cells import put, put_formula
from reports.content import Content
from reports.labels import Label

TITLE_ROW, PURPOSE_ROW, STATUS_ROW, DATE_ROW, HEADER_ROW = 1, 2, 3, 4, 5
DESCRIPTORS = 6
UNIT_COLUMN = 7
TOTAL_COLUMN = 8
FIRST_PERIOD_COLUMN = 9
STATUS_CELL = "Checks!$C$6"
"""Where the Checks sheet states in words whether the model holds."""

MOST_COLUMN_WIDTH = 60.0
PERIOD_WIDTH = 13.0
"""Width of a period's column, unless the plan's amounts need more."""


@dataclass
class Page:
    """A worksheet that is filled from top to bottom.

    Attributes
    ----------
    sheet, content
        Worksheet and what it shows.
    row
        Next free row.
    widths
        Column number -> width asked for.
    periods_fixed
        True once a block has periods as columns: later lists do not widen those.
    """

    sheet: Worksheet
    content: Content
    row: int = HEADER_ROW
    widths: dict[int, float] = field(default_factory=dict)
    periods_fixed: bool = False

    @property
    def name(self) -> str:
        """Return the sheet's name as formulas write it."""
        return str(quote_sheetname(self.sheet.title))


@dataclass(frozen=True, slots=True)
class Block:
    """Where a block of rows stands: for references, charts and names.

    Attributes
    ----------
    sheet
        Sheet name, quoted as in a formula.
    header, first, last
        Header row, first and last row of values (``last < first`` when the block is empty).
    columns
        Column name -> column number.
    """

    sheet: str
    header: int
    first: int
    last: int
    columns: Mapping[str, int]

    def cell(self, row: int, column: str | int) -> str:
        """Return the absolute reference of one cell, ``Sheet!$B$7``."""
        number = self.columns[column] if isinstance(column, str) else column
        return f"{self.sheet}!${get_column_letter(number)}${row}"

    def column_range(self, column: str | int) -> str:
        """Return the absolute reference of a column of values."""
        number = self.columns[column] if isinstance(column, str) else column
        letter = get_column_letter(number)
        return f"{self.sheet}!${letter}${self.first}:${letter}${self.last}"


def start_page(book: Workbook, content: Content, name: str, kind: str, purpose: str, title: str = "") -> Page:
    """Return a page with title, purpose and model status, tab colour and print setup.

    Parameters
    ----------
    kind
        ``control``, ``output``, ``calculation`` or ``input``.
    """
    sheet = book[name]
    sheet.sheet_properties.tabColor = styles.TAB_COLOURS[kind]
    put(sheet, TITLE_ROW, 1, title or name, "title")
    sheet.row_dimensions[TITLE_ROW].height = 24
    put(sheet, PURPOSE_ROW, 1, purpose, "purpose")
    if "Checks" in book.sheetnames and name != "Checks":
        put_formula(sheet, STATUS_ROW, 1, f"={STATUS_CELL}", "status")
    if content.is_bound:
        put(sheet, STATUS_ROW, 1, BOUND_LABEL.capitalize(), "status")
    _print_setup(sheet, content)
    return Page(sheet, content)


def _print_setup(sheet: Worksheet, content: Content) -> None:
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.paperSize = sheet.PAPERSIZE_A4
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    sheet.page_setup.fitToWidth = 1
    sheet.page_setup.fitToHeight = 0
    sheet.print_title_rows = f"{TITLE_ROW}:{HEADER_ROW}"
    sheet.page_margins.left = sheet.page_margins.right = 0.4
    sheet.page_margins.top, sheet.page_margins.bottom = 0.5, 0.8
    sheet.page_margins.footer = 0.3
    footer = cast(Any, sheet.oddFooter)
    footer.left.text = _header_text(content.scenario_name)
    footer.center.text = "&A"
    footer.right.text = "Page &P of &N"
    sheet.sheet_view.showGridLines = False


def _header_text(text: str) -> str:
    """Return text for a page footer, in which ``&`` starts a code."""
    return text.replace("&", "&&")[:80]


def finish_page(page: Page, freeze: str | None = None) -> None:
    """Set column widths and the frozen panes of a filled page."""
    for column, width in page.widths.items():
        page.sheet.column_dimensions[get_column_letter(column)].width = min(width, MOST_COLUMN_WIDTH)
    if freeze:
        page.sheet.freeze_panes = freeze


def number_width(content: Content) -> float:
    """Return the width in which every amount of the plan fits, its sign and separators included."""
    largest = 0.0
    for name, column in (("costs", "amount"), ("tokens", "input_mtok"), ("tokens", "generated_mtok")):
        largest = max(largest, float(content.frame(name, [column])[column].abs().sum()))
    return max(PERIOD_WIDTH, len(f"-{largest:,.0f}") + 2.0)


def widen(page: Page, column: int, width: float) -> None:
    """Make a column at least this many characters wide (a period's column keeps its width)."""
    if page.periods_fixed and column >= FIRST_PERIOD_COLUMN:
        width = min(width, number_width(page.content))
    page.widths[column] = max(page.widths.get(column, 0.0), width)


def link(page: Page, name: str) -> None:
    """Write a link to a sheet in the first column."""
    cell = put(page.sheet, page.row, 1, name, "link")
    cell.hyperlink = Hyperlink(ref=cell.coordinate, location=f"{quote_sheetname(name)}!A1", display=name)
    put(page.sheet, page.row, 1, name, "link")


def note(page: Page, text: str) -> None:
    """Write one line of explanation."""
    put(page.sheet, page.row, 1, text, "note")
    page.row += 1


def section(page: Page, title: str, columns: int) -> None:
    """Write a section title across the block below it, with an empty row before it unless it is the first."""
    if page.row > HEADER_ROW:
        page.row += 1
    for column in range(1, columns + 1):
        cell = put(page.sheet, page.row, column, title if column == 1 else " ", "section")
        if column > 1:
            cell.value = None
    page.row += 1


def header_row(page: Page, labels: Sequence[Label], first_column: int = 1) -> int:
    """Write a header row and return its row number."""
    row = page.row
    lines = 1
    for offset, label in enumerate(labels):
        column = first_column + offset
        text = label.header(page.content.currency)
        put(page.sheet, row, column, text, "header")
        widen(page, column, label.width)
        lines = max(lines, wrapped_lines(text, page.widths[column]))
    page.sheet.row_dimensions[row].height = 4 + 13.5 * max(lines, 2)
    page.row += 1
    return row


def wrapped_lines(text: str, width: float) -> int:
    """Return how many lines a text needs at a column width, word by word.

    >>> wrapped_lines("two words", 6.0)
    2
    """
    usable = max(width, 1.0)
    total = 0
    for paragraph in text.split("\n"):
        lines, filled = 1, 0.0
        for word in paragraph.split(" "):
            length = float(len(word))
            if filled and filled + 1 + length > usable:
                lines, filled = lines + 1, 0.0
            filled += length + (1 if filled else 0)
            lines += int(filled // (usable + 1e-9)) if filled > usable else 0
        total += lines
    return total


def page_break(page: Page) -> None:
    """Start a new printed page below the last written row."""
    page.sheet.row_breaks.append(Break(id=page.row - 1))


def repeat_title_only(page: Page) -> None:
    """Repeat only title and status on every printed page: for sheets whose blocks have different headers."""
    page.sheet.print_title_rows = f"{TITLE_ROW}:{STATUS_ROW}"
