"""Last days to order and to be delivered: one clock that counts back from the day an order serves."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.timing import whole_days


def last_order_dates(orders: pd.DataFrame, periods: pd.DataFrame) -> pd.Series:
    """Return the last day to order: in service - (lead + installation) in whole days.

    Not after the last day of the period (its price and allocation end there) or of the offer's sale, not before the
    first day of the period (a 13-week quarter of 90 to 92 days rounds by two days at most).

    Parameters
    ----------
    orders
        Columns period, in_service_period, delay_weeks (lead and installation), available_until.
    """
    start = orders["period"].map(periods["start_date"])
    by = orders["in_service_period"].map(periods["start_date"]) - whole_days(
        orders["delay_weeks"].astype(float)
    )
    last = orders["period"].map(last_days(periods))
    last = pd.concat([last, pd.to_datetime(orders["available_until"])], axis=1).min(axis=1)
    capped = pd.concat([by, last], axis=1).min(axis=1)
    return pd.concat([capped, start], axis=1).max(axis=1).astype("datetime64[ns]")


def delivery_dates(orders: pd.DataFrame, periods: pd.DataFrame) -> pd.Series:
    """Return the day of delivery, the last that leaves time: in service - installation in whole days.

    Not before the last day to order: 13 weeks of installation are a day more than the first quarter of a year has, and
    nothing is delivered before it is ordered.

    Parameters
    ----------
    orders
        Columns period, in_service_period, install_weeks, delay_weeks (lead and installation), available_until.
    """
    serves = orders["in_service_period"].map(periods["start_date"])
    delivery = serves - whole_days(orders["install_weeks"].astype(float))
    return delivery.where(delivery >= (ordered := last_order_dates(orders, periods)), ordered)


def last_days(periods: pd.DataFrame) -> pd.Series:
    """Return the last day of each period, index period."""
    ends = periods["start_date"].shift(-1)
    days = pd.to_timedelta(np.ceil(periods["hours"].to_numpy(float) / 24.0), unit="D")
    ends = ends.fillna(periods["start_date"] + days)
    return ends - pd.Timedelta(days=1)
