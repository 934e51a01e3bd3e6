"""Payment calendars of leases and reservations: one payment every so many months, in advance or in arrears."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.fleet import STAND
from planner.coefficients.orders.commitment import term_lengths
from planner.coefficients.orders.prices import time_units
from planner.inputs.calendar import after_months, end_date, months_between

ORDER = [*STAND, "period"]
INSTALMENT = [*ORDER, "due_date", "units", "inside_units", "in_horizon", "paid_period", "timing"]
HOUR = pd.Timedelta(hours=1)


def has_calendar(table: pd.DataFrame) -> pd.Series:
    """Return which orders are paid by a calendar."""
    return table["payment_every_months"].astype(float).notna() & table["mode"].isin(["lease", "reserved"])


def instalments(termed: pd.DataFrame, alive: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return INSTALMENT: every payment of each order with a calendar.

    A payment covers ``payment_every_months`` from the first day of service on, the last one what is left until the end
    of the term, or of the last period served where that is later. ``units`` are the hours or calendar months it
    covers, ``inside_units`` those of them within the horizon. Due in advance on the first day it covers, in arrears
    after the last; what is due within the horizon is reckoned in its period, at the start where it is due in the first
    half, else in the course of it.

    Parameters
    ----------
    termed
        Columns ORDER, in_service_ordinal, term_months, price_unit, payment_every_months, payment_in.
    alive
        Periods served by each order: ORDER, alive_period.
    """
    starts = [pd.Timestamp(day) for day in periods["start_date"]]
    last = periods.iloc[-1]
    edge = end_date(starts[-1], float(last["months"]), float(last["hours"]))
    ends = [*starts[1:], edge]
    served = (
        alive.assign(at=alive["alive_period"].map(periods["ordinal"]).astype(int)).groupby(ORDER)["at"].max()
    )
    names = periods.index.to_list()
    rows = []
    for order in termed.to_dict("records"):
        label = tuple(order[name] for name in ORDER)
        begins = starts[int(order["in_service_ordinal"])]
        until = max(after_months(begins, float(order["term_months"])), ends[int(served.get(label, -1))])
        every, arrears, count = int(order["payment_every_months"]), order["payment_in"] == "arrears", 0
        while begins + pd.DateOffset(months=count * every) < until:
            opens = begins + pd.DateOffset(months=count * every)
            closes = min(begins + pd.DateOffset(months=(count + 1) * every), until)
            due, count = closes if arrears else opens, count + 1
            inside = max(min(closes, edge), opens)
            moment = due - HOUR if arrears else due
            within = moment < edge
            at = max(sum(start <= moment for start in starts) - 1, 0)
            early = (moment - starts[at]) * 2 < ends[at] - starts[at]
            rows.append(
                (
                    *label,
                    due,
                    _units(order, opens, closes),
                    _units(order, opens, inside),
                    within,
                    names[at],
                    "start" if early else "mid",
                )
            )
    kinds = dict.fromkeys((*ORDER, "paid_period", "timing"), "str") | {"due_date": "datetime64[ns]"}
    kinds |= {"units": "float", "inside_units": "float", "in_horizon": "bool"}
    return pd.DataFrame(rows, columns=INSTALMENT).astype(kinds)


def _units(order: dict[str, object], opens: pd.Timestamp, closes: pd.Timestamp) -> float:
    table = pd.DataFrame({"price_unit": [order["price_unit"]]})
    hours, months = np.array([(closes - opens) / HOUR]), np.array([months_between(opens, closes)])
    return float(time_units(table, hours, months)[0])


def left_at_end(paid: pd.DataFrame) -> pd.DataFrame:
    """Return by order ``prepaid``, units paid for beyond the horizon; ``accrued``, units served but not yet paid;
    ``owed``, units of the payments still to come.
    """
    beyond = (paid["units"] - paid["inside_units"]).where(paid["in_horizon"], 0.0)
    accrued = paid["inside_units"].where(~paid["in_horizon"], 0.0)
    owed = paid["units"].where(~paid["in_horizon"], 0.0)
    return (
        paid.assign(prepaid=beyond, accrued=accrued, owed=owed)
        .groupby(ORDER)[["prepaid", "accrued", "owed"]]
        .sum()
    )


def owed_units(table: pd.DataFrame, alive: pd.DataFrame, periods: pd.DataFrame) -> np.ndarray:
    """Return the hours or months of each order whose payment falls after the horizon, but for what is paid up front."""
    left = term_lengths(table, periods)["left_units"].to_numpy(float)
    calendar = has_calendar(table)
    if not calendar.any():
        return left
    owed = left_at_end(instalments(table[calendar], alive, periods))["owed"]
    label = pd.MultiIndex.from_frame(table[ORDER])
    return np.where(calendar, owed.reindex(label).fillna(0.0).to_numpy(float), left)
