"""Calendar dates of orders: the last day to order, to take delivery and to have power, and what to ask whom for."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import COMMITTED, lead_weeks
from planner.units import DAYS_PER_WEEK

RFQ = [
    "vendor",
    "quarter",
    "mode",
    "product",
    "offer",
    "units",
    "orders",
    "first_order_by",
    "first_delivery_by",
    "sites",
    "unit_price",
    "price_unit",
    "cost",
]


def order_dates(c: Coefficients, table: pd.DataFrame) -> pd.DataFrame:
    """Return the dates of each order, on its index.

    order_date        first day of the period of the order: the day the plan reckons with
    delivery_date     order_date + lead weeks (a rental: at once), not after delivery_by_date: see order_by_date
    in_service_date   first day of the first period that starts after lead and installation
    order_by_date     last day to order: in_service_date - (lead + installation) weeks, not after the last day of the
                      period (its price and allocation end there) nor of the offer's sale, not before order_date (a
                      13-week quarter of 90 to 92 days rounds by two days at most)
    delivery_by_date  last day of delivery: in_service_date - installation weeks
    power_ready_date  day by which the site must supply the unit: it is tested under power, so its last day of
                      delivery; blank where hosted

    Parameters
    ----------
    table
        Orders with the columns of their stand, ``period``, ``in_service_period``, ``delay_weeks``.
    """
    start = table["period"].map(c.periods["start_date"])
    serves = table["in_service_period"].map(c.periods["start_date"])
    committed = table["mode"].isin(COMMITTED)
    lead = lead_weeks(table, c.settings.lead_case).astype(float)
    install = table["install_weeks"].astype(float)
    dates = pd.DataFrame(
        {
            "order_date": start,
            "delivery_date": start + weeks(lead.where(committed, 0.0)),
            "in_service_date": serves,
            "order_by_date": serves - weeks(lead + install),
            "delivery_by_date": serves - weeks(install.where(committed, 0.0)),
        }
    )
    last = table["period"].map(last_days(c.periods))
    last = last.where(~committed, pd.concat([last, table["available_until"]], axis=1).min(axis=1))
    by = pd.concat([dates["order_by_date"], last], axis=1).min(axis=1)
    by = by.where(~committed, pd.concat([by, start], axis=1).max(axis=1))
    hardware = table["includes"] == "hardware"
    arrives = dates[["delivery_date", "delivery_by_date"]].min(axis=1)
    return dates.assign(
        delivery_date=arrives.astype("datetime64[ns]"),
        order_by_date=by.astype("datetime64[ns]"),
        power_ready_date=dates["delivery_by_date"].where(hardware).astype("datetime64[ns]"),
    )


def weeks(count: pd.Series) -> pd.Series:
    """Return so many weeks as whole days, rounded up: a day begun is a day needed."""
    return pd.to_timedelta(np.ceil(count.to_numpy(float) * DAYS_PER_WEEK - 1e-9), unit="D").to_series(
        index=count.index
    )


def last_days(periods: pd.DataFrame) -> pd.Series:
    """Return the last day of each period, index period."""
    ends = periods["start_date"].shift(-1)
    days = pd.to_timedelta(np.ceil(periods["hours"].to_numpy(float) / 24.0), unit="D")
    ends = ends.fillna(periods["start_date"] + days)
    return ends - pd.Timedelta(days=1)


def rfq_frame(orders: pd.DataFrame) -> pd.DataFrame:
    """Return RFQ: what to ask each vendor for, by quarter of the last day to order.

    Purchases, leases and reservations only; ``unit_price`` is the mean price planned with, ``cost`` what they pay
    over the horizon.
    """
    asked = orders[orders["mode"].isin(COMMITTED)]
    if asked.empty:
        return pd.DataFrame(columns=RFQ)
    asked = asked.assign(
        quarter=quarter_of(asked["order_by_date"]), paid=asked["units"] * asked["unit_price"]
    )
    key = ["vendor", "quarter", "mode", "product", "offer"]
    table = asked.groupby(key, as_index=False).agg(
        units=("units", "sum"),
        orders=("units", "size"),
        first_order_by=("order_by_date", "min"),
        first_delivery_by=("delivery_by_date", "min"),
        sites=("site", lambda names: ";".join(sorted(set(names)))),
        paid=("paid", "sum"),
        price_unit=("price_unit", "first"),
        cost=("cost", "sum"),
    )
    return table.assign(unit_price=table["paid"] / table["units"])[RFQ].reset_index(drop=True)


def quarter_of(days: pd.Series) -> list[str]:
    """Return the calendar quarter of each day.

    >>> quarter_of(pd.Series([pd.Timestamp("2027-05-01")]))
    ['2027-Q2']
    """
    moments = pd.to_datetime(days)
    return [f"{day.year}-Q{day.quarter}" for day in moments]
