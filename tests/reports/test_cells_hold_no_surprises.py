from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest
from openpyxl import Workbook, load_workbook

from reports import styles
from reports.cells import LONGEST_TEXT, plain, put, safe_text


@pytest.fixture
def sheet():
    book = Workbook()
    styles.register(book)
    return book.active


@pytest.mark.parametrize(
    "text", ['=HYPERLINK("http://example.invalid","x")', "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "#N/A"]
)
def test_text_never_becomes_a_formula_or_an_error_also_after_a_reload(sheet, tmp_path, text):
    cell = put(sheet, 1, 1, text)
    sheet.parent.save(tmp_path / "book.xlsx")
    again = load_workbook(tmp_path / "book.xlsx").active.cell(1, 1)
    assert (cell.data_type, cell.value) == ("s", text)
    assert (again.data_type, again.value) == ("s", text)


def test_control_characters_and_lone_surrogates_are_dropped():
    assert safe_text("a\x00b\x07c\ud800d\uffffe\nf") == "abcde\nf"


def test_text_over_the_limit_is_cut_visibly():
    cut = safe_text("x" * (LONGEST_TEXT + 1))
    assert len(cut) == LONGEST_TEXT
    assert cut.endswith("(cut)")


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, pd.NaT, pd.NA, "", (), np.datetime64("NaT")])
def test_what_is_missing_shows_as_words(sheet, missing):
    assert put(sheet, 1, 1, missing).value == "n/a"


def test_infinite_numbers_are_words():
    assert (plain(np.inf), plain(-np.inf)) == ("no limit", "none")


def test_numbers_and_dates_keep_their_value():
    assert plain(np.float64(0.1)) == 0.1
    assert plain(np.int64(7)) == 7
    assert plain(3.0) == 3
    assert plain(np.bool_(True)) == "yes"
    assert plain(pd.Timestamp("2027-01-31")) == datetime.date(2027, 1, 31)
    assert plain(pd.Timestamp("2027-01-31 12:00", tz="Europe/Oslo")) == datetime.datetime(2027, 1, 31, 12, 0)


def test_chinese_text_and_quotes_are_kept():
    assert plain('推理芯片 "一号"') == '推理芯片 "一号"'
