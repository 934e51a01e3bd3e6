"""Vendors: what one of them gives of several offers together."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms

OFFERED = ["offer", "period"]
LIMIT = ["limit", "period"]


def vendor_supply(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Offers of one vendor, or of a group of them, stay together inside what it gives in a period.

    sum_{o in V(v)} w[o] * sum_{s,e} (order[o,s,e,t] + rent[o,s,e,t])  <=  U[v,t]
    for every limit v of ``vendor_capacity``, period t

    order, rent  units ordered, units rented for the period             columns order, rent
    w            units, chips or nameplate kW of one unit               c.vendor_capacity, weight
    U            units, chips or kW the vendor gives                    c.vendor_capacity, amount
    V            offers that count under the limit, 1 while counted     c.vendor_capacity, offer

    Dual: currency per unit, chip or kW; what one more of it in t would save (<= 0).
    """
    rows = number_rows(c.vendor_capacity[[*LIMIT, "amount"]].drop_duplicates())
    plain = rows.drop(columns="amount")
    return row_block("vendor_supply", plain, "<=", rows["amount"].to_numpy(float), _wanted(c, columns, plain))


def vendor_hourly_supply(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Where offers of the group are released by the hour, the group stays inside the limit in each block.

    sum_{o in V(v)} w[o] * sum_{s,e} (order[o,s,e,t] + rent[o,s,e,t] + rent_hour[o,s,e,t,b])  <=  U[v,t]
    for every limit v of ``vendor_capacity`` over some offer released by the hour, period t, block b

    order, rent  units ordered, units rented for the period             columns order, rent
    rent_hour    units rented in the block                              column rent_hour
    w            units, chips or nameplate kW of one unit               c.vendor_capacity, weight
    U            units, chips or kW the vendor gives                    c.vendor_capacity, amount
    V            offers that count under the limit, 1 while counted     c.vendor_capacity, offer

    Dual: currency per unit-block, chip-block or kW-block; what one more of it in the block would save (<= 0).
    """
    hourly = c.vendor_capacity.merge(columns.frame("rent_hour"), on=OFFERED)
    rows = number_rows(hourly[[*LIMIT, "block", "amount"]].drop_duplicates())
    plain = rows.drop(columns="amount")
    parts = [terms(plain, hourly, [*LIMIT, "block"], "weight"), *_wanted(c, columns, plain)]
    return row_block("vendor_hourly_supply", plain, "<=", rows["amount"].to_numpy(float), parts)


def _wanted(c: Coefficients, columns: ColumnIndex, rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the terms of what is ordered and rented for whole periods, with rows by limit and period."""
    counted = c.vendor_capacity[[*LIMIT, "offer", "weight"]]
    return [
        terms(rows, counted.merge(columns.frame(family), on=OFFERED), LIMIT, "weight")
        for family in ("order", "rent")
    ]
