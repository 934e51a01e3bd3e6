"""How much of a calendar cell (UTC hour class) lies in a local window of months, days and hours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from planner.inputs.calendar import local_hours
from planner.units import DAYS_PER_WEEK, HOURS_PER_DAY

WEEKDAYS_PER_WEEK = 5
WEEKEND_DAYS_PER_WEEK = DAYS_PER_WEEK - WEEKDAYS_PER_WEEK


def local_weekday_share(cells: pd.DataFrame, utc_offset_h: float) -> np.ndarray:
    """Return the share of each cell's hours that fall on a local Monday to Friday.

    A cell's kind of day is that of the UTC day. Where the local date is another one, the UTC weekdays are
    locally four weekdays and one weekend day, and the UTC weekend is one of each; day type ``all`` is 5/7.

    Parameters
    ----------
    cells
        Columns ``day_type`` and ``hour_utc``.
    utc_offset_h
        Standard-time offset of the local clock, rounded to whole hours as everywhere in the calendar.
    """
    clock = cells["hour_utc"].to_numpy() + np.rint(utc_offset_h)
    same_day = (clock >= 0) & (clock < HOURS_PER_DAY)
    kind = cells["day_type"].to_numpy()
    weekday = np.where(same_day, 1.0, (WEEKDAYS_PER_WEEK - 1) / WEEKDAYS_PER_WEEK)
    weekend = np.where(same_day, 0.0, 1 / WEEKEND_DAYS_PER_WEEK)
    whole_week = WEEKDAYS_PER_WEEK / DAYS_PER_WEEK
    return np.select([kind == "weekday", kind == "weekend"], [weekday, weekend], whole_week)


def local_window_share(
    cells: pd.DataFrame,
    utc_offset_h: float,
    months: Sequence[int],
    day_type: str,
    hour_shares: np.ndarray,
    weekend_hour_shares: np.ndarray | None = None,
) -> np.ndarray:
    """Return the share of each cell's hours inside a local window, 0..1.

    Parameters
    ----------
    cells
        Columns ``month``, ``day_type``, ``hour_utc``.
    utc_offset_h
        Offset of the local clock.
    months
        Calendar months of the window.
    day_type
        ``all``, ``weekday`` or ``weekend``.
    hour_shares, weekend_hour_shares
        Share of each of the 24 local hours inside the window; the second for Saturday and Sunday where they
        differ.
    """
    late = hour_shares if weekend_hour_shares is None else weekend_hour_shares
    local = local_hours(cells["hour_utc"].to_numpy(), utc_offset_h)
    weekday = local_weekday_share(cells, utc_offset_h)
    on_weekdays = weekday * hour_shares[local] if day_type != "weekend" else 0.0
    on_weekends = (1.0 - weekday) * late[local] if day_type != "weekday" else 0.0
    return np.where(cells["month"].isin(list(months)), on_weekdays + on_weekends, 0.0)


def local_window_mask(
    cells: pd.DataFrame,
    utc_offset_h: float,
    months: Sequence[int],
    day_type: str,
    hours: Sequence[int],
    weekend_hours: Sequence[int] | None = None,
) -> np.ndarray:
    """Return which cells have any time inside a window of whole local hours: a peak there is billed.

    >>> cells = pd.DataFrame({"month": [1, 1], "day_type": ["weekday", "weekend"], "hour_utc": [22, 22]})
    >>> local_window_mask(cells, 8, range(1, 13), "weekday", [6]).tolist()
    [True, True]
    """
    late = None if weekend_hours is None else _flags(weekend_hours)
    return local_window_share(cells, utc_offset_h, months, day_type, _flags(hours), late) > 0


def _flags(hours: Sequence[int]) -> np.ndarray:
    flags = np.zeros(HOURS_PER_DAY)
    flags[list(hours)] = 1.0
    return flags
