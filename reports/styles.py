"""Fonts, fills, number formats and colours; a colour never carries a meaning alone, a word does too."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakKeyDictionary

from openpyxl import Workbook
from openpyxl.cell.cell import Cell, MergedCell
from openpyxl.styles import Alignment, Border, Font, NamedStyle, PatternFill, Side

MONEY = '#,##0;[Red]-#,##0;"-"'
MONEY_PLAIN = "#,##0;[Red]-#,##0"
MONEY_FINE = "#,##0.00;[Red]-#,##0.00"
PRICE = "[>=1000]#,##0;[<=-1000][Red]-#,##0;#,##0.00##"
PER_MTOK = "0.000;[Red]-0.000"
ENERGY_PRICE = "0.0000;[Red]-0.0000"
COUNT = '#,##0;-#,##0;"-"'
COUNT_PLAIN = "#,##0"
QUANTITY = '#,##0.0;-#,##0.0;"-"'
QUANTITY_FINE = "#,##0.000"
RATIO = "0.000"
PERCENT = '0.0%;-0.0%;"-"'
PERCENT_PLAIN = "0.0%"
PERCENT_FINE = "0.00%"
DATE = "yyyy-mm-dd"
HOURS = "#,##0.0"
GENERAL = "General"
FACTOR = "0.000000"
DIFFERENCE = "0.0E+00"

PALETTE = ("0072B2", "E69F00", "009E73", "CC79A7", "56B4E9", "D55E00", "F0E442", "7F7F7F", "332288", "882255")
"""Colours that colour-blind readers tell apart: Okabe and Ito's, then two dark ones of Tol's."""

LIMIT_COLOUR = "D55E00"
USED_COLOUR = "0072B2"

STYLE_PREFIX = "Report "
"""Before every cell style's name, so that none takes the name of a style Excel brings itself."""

INK = "1F2933"
LINE = "B8C2CC"
HEADER_FILL = "1F4E79"
SECTION_FILL = "DCE6F1"
INPUT_FILL = "FFF8DC"
INPUT_FONT = "0000FF"
PLAN_FONT = "006100"
CHECK_FILL = "E2EFDA"
FAIL_FILL = "F8CBAD"
NOTE_FONT = "5F6B76"

TAB_COLOURS = {
    "control": "D55E00",
    "output": "0072B2",
    "calculation": "7F7F7F",
    "input": "F0E442",
}
"""Tab colour by kind of sheet."""

_THIN = Side(style="thin", color=LINE)
_BOTTOM = Border(bottom=_THIN)
_BOX = Border(left=_THIN, right=_THIN, top=_THIN, bottom=_THIN)
_TOTAL = Border(top=Side(style="thin", color=INK), bottom=Side(style="double", color=INK))


@dataclass(frozen=True, slots=True)
class Look:
    """How one cell style looks."""

    bold: bool = False
    italic: bool = False
    size: int = 10
    colour: str = INK
    fill: str = ""
    border: Border | None = None
    align: str = "general"
    vertical: str = "top"
    wrap: bool = False
    indent: int = 0
    form: str = GENERAL
    underline: Literal["single"] | None = None


LOOKS: dict[str, Look] = {
    "title": Look(bold=True, size=16, colour=HEADER_FILL, vertical="center"),
    "purpose": Look(italic=True, colour=NOTE_FONT, vertical="center"),
    "status": Look(bold=True, vertical="center"),
    "section": Look(bold=True, size=11, colour=HEADER_FILL, fill=SECTION_FILL, vertical="center"),
    "header": Look(
        bold=True,
        colour="FFFFFF",
        fill=HEADER_FILL,
        border=_BOX,
        align="center",
        vertical="center",
        wrap=True,
    ),
    "text": Look(border=_BOTTOM, align="left", indent=1),
    "wrapped": Look(border=_BOTTOM, wrap=True, align="left", indent=1),
    "number": Look(border=_BOTTOM, align="right"),
    "total": Look(bold=True, border=_TOTAL),
    "input": Look(colour=INPUT_FONT, fill=INPUT_FILL, border=_BOX),
    "plan": Look(colour=PLAN_FONT, border=_BOTTOM, align="right"),
    "calculation": Look(border=_BOTTOM),
    "calculation total": Look(bold=True, border=_TOTAL),
    "check": Look(bold=True, fill=CHECK_FILL, border=_BOX, align="center"),
    "note": Look(italic=True, colour=NOTE_FONT, wrap=False),
    "wrapped note": Look(italic=True, colour=NOTE_FONT, wrap=True),
    "label": Look(bold=True, border=_BOTTOM, align="left", indent=1),
    "total label": Look(bold=True, border=_TOTAL, align="left", indent=1),
    "answer": Look(size=11, wrap=True, border=_BOTTOM, vertical="center"),
    "link": Look(colour="0563C1", underline="single", border=_BOTTOM),
}
"""Every cell style of the workbook."""


def register(book: Workbook) -> None:
    """Add the cell styles to a workbook, so that readers find them by name."""
    for name, look in LOOKS.items():
        style = NamedStyle(name=STYLE_PREFIX + name)
        style.font = Font(
            name="Calibri",
            size=look.size,
            bold=look.bold,
            italic=look.italic,
            color=look.colour,
            underline=look.underline,
        )
        style.alignment = Alignment(
            horizontal=look.align, vertical=look.vertical, wrap_text=look.wrap, indent=look.indent
        )
        style.border = look.border or Border()
        style.number_format = look.form
        if look.fill:
            style.fill = PatternFill("solid", start_color=look.fill)
        book.add_named_style(style)


def apply(cell: Cell | MergedCell, style: str, form: str = "") -> None:
    """Give a cell a registered style and, when stated, a number format.

    Looking a style up by its name takes longer than writing the cell: each pair of style and format is looked up once.
    """
    styled: Any = cell
    made = _MADE.setdefault(styled.parent.parent, {})
    if (style, form) in made:
        styled._style = copy(made[style, form])
        return
    styled.style = STYLE_PREFIX + style
    if form:
        styled.number_format = form
    made[style, form] = copy(styled._style)


_MADE: WeakKeyDictionary[Workbook, dict[tuple[str, str], Any]] = WeakKeyDictionary()
"""Workbook -> style and number format -> the numbers by which its cells refer to them."""


def style_of(cell: Cell | MergedCell) -> str:
    """Return the name of a cell's style in ``LOOKS``; another style under its own name.

    A workbook lists all its styles for each question; each number of a style is asked for once.
    """
    styled: Any = cell
    names = _NAMES.setdefault(styled.parent.parent, {})
    # A cell inside a merged range has no style until it is asked for.
    number = styled._style.xfId if styled._style is not None else 0
    if number not in names:
        names[number] = str(styled.style).removeprefix(STYLE_PREFIX)
    return names[number]


_NAMES: WeakKeyDictionary[Workbook, dict[int, str]] = WeakKeyDictionary()
"""Workbook -> number of a style -> its name."""


def align(cell: Cell, **settings: object) -> None:
    """Change parts of a cell's alignment (indent, wrap_text, horizontal)."""
    alignment: Any = copy(cell.alignment)
    for name, value in settings.items():
        setattr(alignment, name, value)
    cell.alignment = alignment
