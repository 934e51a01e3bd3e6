"""From order to service: the first period that starts late enough, for as many periods as life or term last."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from planner.coefficients.timing import NEVER, alive_pairs, in_service_ordinal, service_years

QUARTER_WEEKS = np.array([0.0, 13.0, 26.0, 39.0])
PERIODS = pd.DataFrame(
    {"ordinal": range(4), "start_years": [0.0, 0.25, 0.5, 0.75]}, index=pd.Index(["q1", "q2", "q3", "q4"])
)


@pytest.mark.parametrize(
    ("ordered", "delay_weeks", "serves"),
    [
        (0, 0.0, 0),
        (0, 0.5, 1),  # half a week late is a quarter late
        (0, 13.0, 1),  # exactly a quarter
        (0, 13.0 + 1e-12, 1),  # and not a rounding error more
        (0, 13.1, 2),
        (2, 13.0, 3),
        (3, 0.0, 3),
        (3, 1.0, NEVER),
        (1, 40.0, NEVER),
    ],
)
def test_a_unit_serves_from_the_first_quarter_that_starts_after_its_lead_time(ordered, delay_weeks, serves):
    found = in_service_ordinal(QUARTER_WEEKS, np.array([ordered]), np.array([delay_weeks]))
    assert found.tolist() == [serves]


def test_periods_of_unequal_length_are_counted_in_weeks_not_in_periods():
    # A quarter, a half, a year: 30 weeks from the first start end inside the half.
    starts = np.array([0.0, 13.0, 39.0])
    assert in_service_ordinal(starts, np.array([0, 1]), np.array([30.0, 26.0])).tolist() == [2, 2]


def order(serves_from: int, years: float, period: str = "q1") -> pd.DataFrame:
    return pd.DataFrame(
        {
            "offer": ["o"],
            "site": ["s"],
            "cooling": ["c"],
            "period": [period],
            "in_service_ordinal": [serves_from],
            "service_years": [years],
        }
    )


@pytest.mark.parametrize(
    ("serves_from", "years", "periods"),
    [
        (0, 5.0, ["q1", "q2", "q3", "q4"]),
        (2, 5.0, ["q3", "q4"]),
        (1, 0.5, ["q2", "q3"]),  # half a year is two quarters and no day of a third
        (0, 0.6, ["q1", "q2", "q3"]),  # still there on the first day of the third
        (3, 0.25, ["q4"]),
    ],
)
def test_a_unit_serves_until_the_first_quarter_that_starts_after_its_end(serves_from, years, periods):
    alive = alive_pairs(order(serves_from, years), PERIODS)
    assert alive["alive_period"].to_list() == periods
    assert set(alive["period"]) == {"q1"}


def test_life_counts_for_what_is_bought_and_the_term_for_what_is_leased():
    years = service_years(
        pd.Series(["purchase", "lease", "reserved"]),
        pd.Series([5.0, 5.0, 5.0]),
        pd.Series([np.nan, 18.0, 12.0]),
    )
    assert years.to_list() == [5.0, 1.5, 1.0]
