"""Demand that waits for a better hour, within its window."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.service.deferral import WAITING
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms

ARRIVED = ["workload", "region", "period", "block"]


def put_off(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return requests/s that each waiting column takes out of its own block and puts into that of the next hour.

    One request/s x h waiting at the end of an hour is served an hour or more later: in the block of its hour the mean
    rate is less by the hour's share of the block, in the block of the next hour more by that one's share.
    """
    hours = c.deferrable
    here = columns.frame("waiting").merge(
        hours[[*WAITING, "block", "block_share", "next_hour"]], on=WAITING, validate="one_to_one"
    )
    there = hours[[*WAITING, "block", "block_share"]].rename(
        columns={"hour_utc": "next_hour", "block": "later_block", "block_share": "later_share"}
    )
    there = here.merge(there, on=["workload", "region", "period", "month", "day_type", "next_hour"])
    parts = [
        here[[*ARRIVED, "column"]].assign(rate=here["block_share"].astype(float)),
        there[["workload", "region", "period", "column"]].assign(
            block=there["later_block"], rate=-there["later_share"].astype(float)
        ),
    ]
    return pd.concat(parts, ignore_index=True)


def served_hour(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """No more is put off in an hour than arrives in it or waits from the hour before.

    waiting[w,r,t,h] - waiting[w,r,t,h-1]  <=  A[w,r,t,h]
    for every workload w that may wait, region r, period t, hour h of a day of each kind

    waiting  requests/s x h that wait at the end of the hour            column waiting
    A        requests/s that arrive in the hour                         c.deferrable, arriving

    Dual: currency per (request/s) in the hour; what one request/s more that may wait would save (<= 0).
    """
    rows = number_rows(c.deferrable[WAITING])
    waiting = columns.frame("waiting")
    passed_on = waiting.drop(columns="hour_utc").assign(
        hour_utc=waiting.merge(c.deferrable, on=WAITING, validate="one_to_one")["next_hour"].to_numpy()
    )
    parts = [terms(rows, waiting, WAITING, 1.0), terms(rows, passed_on, WAITING, -1.0)]
    return row_block("served_hour", rows, "<=", c.deferrable["arriving"].to_numpy(float), parts)


def deferral_window(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Nothing waits longer than its window: what waits has arrived in the last H hours.

    waiting[w,r,t,h]  <=  sum_{h' in the H hours up to h} A[w,r,t,h']
    for every workload w that may wait H hours, region r, period t, hour h of a day of each kind

    waiting  requests/s x h that wait at the end of the hour            column waiting
    A        requests/s that arrive in an hour                          c.deferrable; the sum: most_waiting

    Dual: currency per (request/s x h); what one more that may wait would save (<= 0).
    """
    rows = number_rows(c.deferrable[WAITING])
    parts = [terms(rows, columns.frame("waiting"), WAITING, 1.0)]
    return row_block("deferral_window", rows, "<=", c.deferrable["most_waiting"].to_numpy(float), parts)
