"""What a person sees: fixed-width tables on stdout, progress and warnings on stderr."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pandas as pd

MISSING = "-"


def number_text(value: Any) -> str:
    """Return a cell: numbers with thousands separators and about four significant digits, blanks as a dash.

    >>> number_text(1234567.0), number_text(0.123456), number_text(3), number_text(None), number_text("H100")
    ('1,234,567', '0.1235', '3', '-', 'H100')
    >>> number_text(datetime.datetime(2027, 1, 7))
    '2027-01-07'
    """
    if value is None or value != value:
        return MISSING
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def table_text(header: Sequence[str], rows: Iterable[Sequence[Any]], indent: str = "  ") -> str:
    """Return rows as aligned columns, numbers to the right.

    >>> print(table_text(["chip", "units"], [["H100", 12], ["L4", 3]], indent=""))
    chip  units
    H100     12
    L4        3
    """
    table = [list(row) for row in rows]
    numeric = [
        all(isinstance(row[i], (int, float)) or row[i] is None for row in table) and bool(table)
        for i in range(len(header))
    ]
    cells = [list(header), *([number_text(value) for value in row] for row in table)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = (
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        )
        for row in cells
    )
    return "\n".join(indent + line.rstrip() for line in lines)


def frame_text(frame: pd.DataFrame, columns: Sequence[str] | None = None, indent: str = "") -> str:
    """Return a frame (or some of its columns) as aligned text."""
    shown = frame if columns is None else frame[list(columns)]
    return table_text(list(shown.columns), shown.astype(object).to_numpy().tolist(), indent)


def warn(messages: Iterable[str]) -> None:
    """Write warnings on stderr, one line each."""
    for message in messages:
        click.echo(f"warning: {message}", err=True)
