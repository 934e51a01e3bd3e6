"""Months and hours of tariffs as text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.inputs.windows import hour_shares, hours_text, months_text, parse_hours, parse_months


def test_months_span_the_new_year_and_blank_is_all():
    assert parse_months("1-3;12") == (1, 2, 3, 12)
    assert parse_months("11-2") == (1, 2, 11, 12)
    assert parse_months(None) == parse_months("  ") == parse_months(float("nan")) == tuple(range(1, 13))


def test_hours_hold_their_start_and_not_their_end():
    hours = hour_shares(parse_hours("07-22;23-24"))
    assert hours.sum() == 16
    assert hours[[6, 7, 21, 22, 23]].tolist() == [0, 1, 1, 0, 1]


def test_hours_run_over_midnight_and_use_quarter_hours():
    assert np.flatnonzero(hour_shares(parse_hours("22-07"))).tolist() == [0, 1, 2, 3, 4, 5, 6, 22, 23]
    assert hour_shares(parse_hours("08:30-11:45"))[[8, 9, 11]].tolist() == [0.5, 1.0, 0.75]
    assert parse_hours("22-24").sum() == 8
    assert parse_hours("00-24").all()
    assert parse_hours("").all()


@pytest.mark.parametrize("text", ["13", "0-3", "1-2-3", "Jan"])
def test_a_month_that_does_not_exist_is_refused(text):
    with pytest.raises(ValueError, match="month"):
        parse_months(text)


@pytest.mark.parametrize("text", ["7 to 9", "07-25", "08:10-09", "24-24", "05-05", "24-03"])
def test_hours_that_do_not_exist_are_refused(text):
    with pytest.raises(ValueError, match=r"hour|time"):
        parse_hours(text)


@given(st.sets(st.integers(1, 12), min_size=1))
def test_months_survive_writing_and_reading(months):
    assert set(parse_months(months_text(tuple(months)))) == months


@given(st.sets(st.integers(0, 95), min_size=1))
def test_hours_survive_writing_and_reading(quarters):
    inside = np.zeros(96, dtype=bool)
    inside[list(quarters)] = True
    assert (parse_hours(hours_text(inside)) == inside).all()
