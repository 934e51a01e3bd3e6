"""What may stand in a cell: text that can never become a formula, numbers that are never silently empty.

A string that starts with ``=`` turns into a formula and NaN turns into an empty cell when openpyxl is left to
itself, so every value passes through :func:`put` and every formula through :func:`put_formula`.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable
from typing import cast

import numpy as np
import pandas as pd
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE, Cell
from openpyxl.worksheet.worksheet import Worksheet

from reports.styles import apply

NOT_AVAILABLE = "n/a"
"""Shown for a value that does not exist; an empty cell would read as zero."""

LONGEST_TEXT = 32_767
"""Excel cuts a cell's text silently after this many characters."""

CUT_MARK = " … (cut)"

_NOT_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")

CellValue = str | int | float | datetime.date | datetime.datetime


def safe_text(text: str) -> str:
    """Return text without characters a workbook cannot hold, cut visibly at Excel's limit.

    >>> safe_text("a" + chr(7) + "b")
    'ab'
    """
    clean = _NOT_XML.sub("", ILLEGAL_CHARACTERS_RE.sub("", text))
    if len(clean) > LONGEST_TEXT:
        return clean[: LONGEST_TEXT - len(CUT_MARK)] + CUT_MARK
    return clean


def plain(value: object) -> CellValue:
    """Return a value as text, number or date; missing becomes ``n/a``, never an empty cell.

    >>> plain(float("nan")), plain(float("inf")), plain(("a", "b")), plain(None)
    ('n/a', 'no limit', 'a; b', 'n/a')
    """
    if isinstance(value, str):
        return safe_text(value) or NOT_AVAILABLE
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return _plain_number(float(value))
    if value is None or value is pd.NaT or value is pd.NA:
        return NOT_AVAILABLE
    if isinstance(value, pd.Timestamp | datetime.datetime):
        return _plain_date(value)
    if isinstance(value, datetime.date):
        return value
    if isinstance(value, np.datetime64):
        return _plain_date(pd.Timestamp(value))
    if isinstance(value, Iterable):
        return safe_text("; ".join(str(part) for part in value)) or NOT_AVAILABLE
    return safe_text(str(value))


def _plain_number(number: float) -> CellValue:
    if math.isnan(number):
        return NOT_AVAILABLE
    if math.isinf(number):
        return "no limit" if number > 0 else "none"
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _plain_date(moment: datetime.datetime) -> CellValue:
    if moment is pd.NaT:
        return NOT_AVAILABLE
    naive = moment.replace(tzinfo=None)
    return naive.date() if naive.time() == datetime.time(0) else naive


def put(sheet: Worksheet, row: int, column: int, value: object, style: str = "text", form: str = "") -> Cell:
    """Write a value, never a formula, and return its cell.

    Parameters
    ----------
    sheet, row, column
        Where, counted from 1.
    value
        Anything :func:`plain` takes.
    style
        Name of a cell style of ``styles``.
    form
        Number format; empty for the style's own.
    """
    cell = cast(Cell, sheet.cell(row, column))
    shown = plain(value)
    cell.value = shown
    apply(cell, style, form)
    if isinstance(shown, str):
        cell.data_type = "s"
    return cell


def put_formula(
    sheet: Worksheet, row: int, column: int, formula: str, style: str = "calculation", form: str = ""
) -> Cell:
    """Write a formula made by this package (never from user text) and return its cell."""
    cell = cast(Cell, sheet.cell(row, column))
    cell.value = formula if formula.startswith("=") else "=" + formula
    apply(cell, style, form)
    return cell
