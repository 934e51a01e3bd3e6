"""The periods of the horizon followed by the years in which its purchases and commitments run off."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs.calendar import end_date

YEARLY_AFTER = 10
"""Years after the horizon shown one by one; what lies beyond them is one last row."""

ROUNDING = 1e-9


def finance_periods(periods: pd.DataFrame, until_years: float) -> pd.DataFrame:
    """Return the periods of the ledgers: those of the horizon, then years after it.

    Parameters
    ----------
    periods
        Periods of the plan, index period: start_date, months, hours, start_years, years.
    until_years
        Years from the start of the horizon until the last life, term or loan is over.

    Returns
    -------
    DataFrame: period, inside (of the horizon), start_years, end_years, start_date, end_date.
    """
    last = periods.iloc[-1]
    horizon_years = float(last["start_years"] + last["years"])
    edge = end_date(pd.Timestamp(last["start_date"]), float(last["months"]), float(last["hours"]))
    left = max(until_years - horizon_years, 0.0)
    years = [1.0] * min(int(np.ceil(left - ROUNDING)), YEARLY_AFTER)
    if left > YEARLY_AFTER + ROUNDING:
        years.append(float(np.ceil(left - ROUNDING)) - YEARLY_AFTER)
    starts = horizon_years + np.concatenate([[0.0], np.cumsum(years)])
    rows = [
        {
            "period": f"after year {at + 1}" if at < YEARLY_AFTER else f"after year {YEARLY_AFTER + 1} on",
            "inside": False,
            "start_years": starts[at],
            "end_years": starts[at + 1],
            "start_date": edge + pd.DateOffset(years=round(starts[at] - horizon_years)),
            "end_date": edge + pd.DateOffset(years=round(starts[at + 1] - horizon_years)),
        }
        for at in range(len(years))
    ]
    begun = pd.to_datetime(periods["start_date"]).to_list()
    inside = pd.DataFrame(
        {
            "period": periods.index.to_numpy(),
            "inside": True,
            "start_years": periods["start_years"].to_numpy(float),
            "end_years": (periods["start_years"] + periods["years"]).to_numpy(float),
            "start_date": begun,
            "end_date": [*begun[1:], edge],
        }
    )
    both = pd.concat([inside, pd.DataFrame(rows)], ignore_index=True) if rows else inside
    return both.astype({"period": "str", "inside": bool})


def edges(calendar: pd.DataFrame) -> np.ndarray:
    """Return the start of the first period and the end of every period, years from the start of the horizon."""
    return np.concatenate([calendar["start_years"].to_numpy()[:1], calendar["end_years"].to_numpy()])


def spread(calendar: pd.DataFrame, times: np.ndarray, running: np.ndarray) -> np.ndarray:
    """Return what falls into each period of a quantity whose running total is known at some times.

    Between two times it grows evenly; before the first and after the last it does not change.
    """
    return np.diff(np.interp(edges(calendar), times, running, left=0.0))


def by_period(items: pd.DataFrame, calendar: pd.DataFrame, amounts: np.ndarray) -> pd.DataFrame:
    """Return one row per item and period with an amount, from a matrix (items, periods)."""
    row, column = np.nonzero(np.abs(amounts) > ROUNDING)
    table = items.iloc[row].reset_index(drop=True)
    return table.assign(period=calendar["period"].to_numpy()[column], amount=amounts[row, column])
