"""Local windows seen from UTC hour classes."""

import numpy as np
import pandas as pd
import pytest

from planner.coefficients.electricity.windows import (
    local_weekday_share,
    local_window_mask,
    local_window_share,
)

EVERY_MONTH = range(1, 13)


def cells(day_type: str, month: int = 1) -> pd.DataFrame:
    return pd.DataFrame({"month": month, "day_type": day_type, "hour_utc": np.arange(24)})


def test_the_local_week_keeps_five_weekdays_wherever_the_clock_is():
    for offset in (-8, 0, 5.5, 8, 10):
        share = 5 * local_weekday_share(cells("weekday"), offset) + 2 * local_weekday_share(
            cells("weekend"), offset
        )
        # hour by hour, 5 UTC weekdays and 2 UTC weekend days hold 5 local weekdays in total
        assert share == pytest.approx(5.0)
        assert local_weekday_share(cells("all"), offset) == pytest.approx(5 / 7)


def test_friday_evening_in_california_is_utc_saturday():
    # 16-20 local at -8 is 00-04 UTC of the next day: one of two UTC weekend days, four of five UTC weekdays
    evening = np.zeros(24)
    evening[16:20] = 1
    weekday = local_window_share(cells("weekday"), -8, EVERY_MONTH, "weekday", evening)
    weekend = local_window_share(cells("weekend"), -8, EVERY_MONTH, "weekday", evening)
    assert weekday[:5].tolist() == pytest.approx([0.8, 0.8, 0.8, 0.8, 0.0])
    assert weekend[:5].tolist() == pytest.approx([0.5, 0.5, 0.5, 0.5, 0.0])
    assert weekday[5:].sum() == weekend[5:].sum() == 0
    assert 5 * weekday.sum() + 2 * weekend.sum() == pytest.approx(5 * 4)  # 4 hours on 5 local weekdays


def test_a_window_counts_only_its_months_and_kinds_of_day():
    noon = np.zeros(24)
    noon[12] = 1
    assert local_window_share(cells("weekday", month=7), 0, [1, 2], "all", noon).sum() == 0
    assert local_window_share(cells("weekend"), 0, EVERY_MONTH, "weekday", noon).sum() == 0
    assert local_window_share(cells("weekend"), 0, EVERY_MONTH, "weekend", noon).sum() == 1
    both = local_window_share(cells("weekend"), 0, EVERY_MONTH, "all", noon, np.ones(24))
    assert both.sum() == 24


def test_any_time_inside_a_window_puts_a_cell_into_its_peak():
    mask = local_window_mask(cells("weekend"), -8, EVERY_MONTH, "weekday", [16], weekend_hours=())
    assert np.flatnonzero(mask).tolist() == [0]
