"""Native charts over value ranges (a chart over formulas stays empty until a program recalculates them)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openpyxl.chart import BarChart, LineChart, Reference
from openpyxl.chart.axis import ChartLines
from openpyxl.chart.data_source import StrRef
from openpyxl.chart.marker import Marker
from openpyxl.chart.series import Series, SeriesLabel
from openpyxl.chart.series_factory import SeriesFactory
from openpyxl.chart.shapes import GraphicalProperties
from openpyxl.chart.text import RichText
from openpyxl.drawing.line import LineProperties
from openpyxl.drawing.text import CharacterProperties, Paragraph, ParagraphProperties, RichTextProperties
from openpyxl.utils import get_column_letter

from reports.layout import Block, Page
from reports.styles import LIMIT_COLOUR, LINE, PALETTE, USED_COLOUR

HEIGHT_CM = 8.2
WIDTH_CM = 16.0
WIDE_CM = 26.0
ROWS = 18
"""Sheet rows of the default height that one chart covers, with a margin."""

BAR_CM = 1.1
"""Height of one bar of a waterfall with its gap."""

ROW_CM = 0.53
"""Height of a sheet row of the default height."""

MOST_SERIES = len(PALETTE)


def stacked_periods(
    page: Page, block: Block, title: str, axis: str, name_column: str, anchor: str, rows: int
) -> None:
    """Draw the rows of a time block as columns stacked per period.

    Parameters
    ----------
    block
        Time block; its first ``rows`` rows become series named by ``name_column``.
    axis
        Title of the value axis: quantity and unit.
    anchor
        Cell of the upper left corner.
    """
    chart = _column_chart(title, axis)
    chart.grouping = "stacked"
    chart.overlap = 100
    periods = _period_columns(page, block)
    for index in range(min(rows, MOST_SERIES)):
        series = _row_series(page, block, block.first + index, periods, name_column)
        _fill(series, PALETTE[index])
        chart.series.append(series)
    chart.set_categories(Reference(page.sheet, periods[0], block.header, periods[-1], block.header))
    page.sheet.add_chart(chart, anchor)


def used_and_limit(
    page: Page,
    block: Block,
    pairs: Sequence[tuple[int, int]],
    name_column: str,
    title: str,
    axis: str,
    anchor: str,
) -> None:
    """Draw rows of a time block as columns and their limits as dashed lines of the same colour.

    Parameters
    ----------
    pairs
        Row of the quantity used and row of its limit, one pair per place.
    """
    chart = _column_chart(title, axis)
    _size(chart, WIDE_CM, HEIGHT_CM)
    lines = LineChart()
    periods = _period_columns(page, block)
    for index, (used, limit) in enumerate(pairs[:MOST_SERIES]):
        bars = _row_series(page, block, used, periods, name_column)
        _fill(bars, PALETTE[index])
        chart.series.append(bars)
        line = _row_series(page, block, limit, periods, name_column)
        _dash(line, PALETTE[index])
        lines.series.append(line)
    categories = Reference(page.sheet, periods[0], block.header, periods[-1], block.header)
    chart.set_categories(categories)
    lines.set_categories(categories)
    chart += lines
    page.sheet.add_chart(chart, anchor)


def kept_and_lost(page: Page, block: Block, first: int, last: int, title: str, axis: str, anchor: str) -> int:
    """Draw what each link of a waterfall keeps and loses, one bar per link; return the rows it covers."""
    chart = _column_chart(title, axis)
    chart.type = "bar"
    chart.grouping = "stacked"
    chart.overlap = 100
    chart.x_axis.scaling.orientation = "maxMin"
    chart.y_axis.scaling.min = 0
    words = {"value": ("left after the link", USED_COLOUR), "lost": ("lost in the link", LIMIT_COLOUR)}
    for column, (name, colour) in words.items():
        number = block.columns[column]
        series = SeriesFactory(Reference(page.sheet, number, first, number, last), title=name)
        _fill(series, colour)
        chart.series.append(series)
    link = block.columns["link"]
    chart.set_categories(Reference(page.sheet, link, first, link, last))
    height = max(HEIGHT_CM, BAR_CM * (last - first + 1) + 3)
    _size(chart, WIDTH_CM, height)
    page.sheet.add_chart(chart, anchor)
    return int(height / ROW_CM) + 2


def bars(
    page: Page, block: Block, category: str, values: Sequence[str], title: str, axis: str, anchor: str
) -> None:
    """Draw columns of a list as bars side by side, one group per row.

    Parameters
    ----------
    category
        Column whose cells name the groups.
    values
        Columns of numbers, one series each, named by their headers.
    """
    chart = _column_chart(title, axis)
    chart.y_axis.number_format = "General"
    for index, name in enumerate(values[:MOST_SERIES]):
        column = block.columns[name]
        series = SeriesFactory(Reference(page.sheet, column, block.first, column, block.last))
        letter = get_column_letter(column)
        series.tx = SeriesLabel(strRef=StrRef(f"{block.sheet}!${letter}${block.header}"))
        _fill(series, PALETTE[index])
        chart.series.append(series)
    named = block.columns[category]
    chart.set_categories(Reference(page.sheet, named, block.first, named, block.last))
    page.sheet.add_chart(chart, anchor)


def _period_columns(page: Page, block: Block) -> list[int]:
    return [block.columns[name] for name in page.content.timeline.names]


def _row_series(page: Page, block: Block, row: int, periods: Sequence[int], name_column: str) -> Series:
    """Return a series of one row, named by a cell of that row."""
    series = SeriesFactory(Reference(page.sheet, periods[0], row, periods[-1], row))
    letter = get_column_letter(block.columns[name_column])
    series.tx = SeriesLabel(strRef=StrRef(f"{block.sheet}!${letter}${row}"))
    return series


def _fill(series: Series, colour: str) -> None:
    series.graphicalProperties = GraphicalProperties(solidFill=colour)
    series.graphicalProperties.line.solidFill = "FFFFFF"


def _dash(line: Series, colour: str) -> None:
    line.graphicalProperties = GraphicalProperties(
        ln=LineProperties(solidFill=colour, w=28_575, prstDash="sysDash")
    )
    line.marker = Marker(symbol="diamond", size=7, spPr=GraphicalProperties(solidFill=colour))
    line.smooth = False


def _size(chart: BarChart, width_cm: float, height_cm: float) -> None:
    sized: Any = chart
    sized.width, sized.height = width_cm, height_cm


def _column_chart(title: str, axis: str) -> BarChart:
    chart = BarChart()
    chart.type = "col"
    chart.style = 10
    chart.title = title
    _size(chart, WIDTH_CM, HEIGHT_CM)
    chart.gapWidth = 60
    chart.x_axis.delete = False
    chart.y_axis.delete = False
    chart.y_axis.title = axis
    chart.y_axis.number_format = "#,##0"
    chart.y_axis.majorGridlines = ChartLines(spPr=GraphicalProperties(ln=LineProperties(solidFill=LINE)))
    chart.x_axis.tickLblPos = "low"
    chart.legend.position = "r"
    titles: tuple[tuple[Any, CharacterProperties], ...] = (
        (chart.title, CharacterProperties(sz=1200, b=True)),
        (chart.y_axis.title, CharacterProperties(sz=900, b=False)),
    )
    for text, properties in titles:
        for run in text.tx.rich.p[0].r or ():
            run.rPr = properties
    small = CharacterProperties(sz=800)
    for part in (chart.x_axis, chart.y_axis, chart.legend):
        paragraph = Paragraph(pPr=ParagraphProperties(defRPr=small), endParaRPr=small)
        part.txPr = RichText(bodyPr=RichTextProperties(), p=[paragraph])
    return chart
