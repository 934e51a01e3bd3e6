"""Colocation contracts: rent on no less than the contracted minimum, and no more kW than contracted."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.facility.colocation import RENT_MONTH
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms
from planner.formulation.site_constraints import SITE_PERIOD, hardware_units


def rent_minimum(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """What stands at a colocation site and what is paid for unused are no less than the contract's minimum.

    unused_rent_kw[s,t,m] + sum_{o,e} P[o] * installed[o,s,e,t] - sum_v D[s,t,m,v] * open[s,v]  >=  M[s,t,m]
    for every site s with a contracted ramp, period t, month m of it

    unused_rent_kw  kW paid for and not used                            column unused_rent_kw
    installed       units in service                                    column installed
    P               provisioned kW of one unit                          c.stands, provisioned_kw
    open            1 while the site is open                            column open
    M               least kW of a contract that starts on a given day   c.colocation.owed, minimum_kw
    D               least kW in m of a start in v over a start one period later  c.colocation.owed_from, minimum_kw

    Dual: currency per kW-month; what one kW less of minimum would save: the month's rent while less than the minimum
    stands, 0 above it (>= 0).
    """
    owed = c.colocation.owed
    rows = number_rows(owed[RENT_MONTH])
    started = c.colocation.owed_from.assign(kw=-c.colocation.owed_from["minimum_kw"].astype(float))
    parts = [
        terms(rows, columns.frame("unused_rent_kw"), RENT_MONTH, 1.0),
        terms(rows, hardware_units(c, columns), SITE_PERIOD, "provisioned_kw"),
        terms(rows, _with_open(columns, started), RENT_MONTH, "kw"),
    ]
    return row_block("rent_minimum", rows, ">=", owed["minimum_kw"].to_numpy(float), parts)


def contracted_power(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Where more is refused, no more IT power stands at a colocation site than is contracted by then.

    sum_{o,e} P[o] * installed[o,s,e,t] - sum_v E[s,t,v] * open[s,v]  <=  C[s,t]
    for every site s whose contract refuses more, period t

    installed  units in service                                         column installed
    P          provisioned kW of one unit                               c.stands, provisioned_kw
    open       1 while the site is open                                 column open
    C          contracted kW of a start on a given day, least of t      c.colocation.most, contracted_kw
    E          contracted kW of a start in v over a start one period later  c.colocation.most_from, contracted_kw

    Dual: currency per kW-period; what one more contracted kW, free of rent by itself, would save (<= 0).
    """
    most = c.colocation.most
    rows = number_rows(most[SITE_PERIOD])
    started = c.colocation.most_from.assign(kw=-c.colocation.most_from["contracted_kw"].astype(float))
    parts = [
        terms(rows, hardware_units(c, columns), SITE_PERIOD, "provisioned_kw"),
        terms(rows, _with_open(columns, started), SITE_PERIOD, "kw"),
    ]
    return row_block("contracted_power", rows, "<=", most["contracted_kw"].to_numpy(float), parts)


def _with_open(columns: ColumnIndex, started: pd.DataFrame) -> pd.DataFrame:
    opened = columns.frame("open").rename(columns={"period": "open_period"})
    return started.merge(opened, on=["site", "open_period"])


def settled_rent(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> np.ndarray:
    """Return the values with unused kW at what the minimum leaves open, where a free rent lets them float."""
    unused = columns.frame("unused_rent_kw")
    if unused.empty:
        return values
    block = rent_minimum(c, columns)
    column = unused["column"].to_numpy(int)
    settled = values.copy()
    settled[column] = 0.0
    held = np.bincount(block.row, weights=block.value * settled[block.column], minlength=len(block.labels))
    due = block.labels.assign(kw=np.maximum(block.rhs - held, 0.0)).merge(unused, on=RENT_MONTH)
    settled[due["column"].to_numpy(int)] = due["kw"].to_numpy(float)
    return settled
