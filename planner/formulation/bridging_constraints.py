"""Generation rented on site: how much can be rented, how long it is kept, what it gives."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.facility.bridging import BRIDGE, BRIDGE_BLOCK
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms
from planner.formulation.site_constraints import SITE_PERIOD


def bridge_limit(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """No more is rented of a generator than there is, and nothing while the site is closed.

    bridge_kw[s,g,t] - M[s,g] * open[s,t]  <=  0
    for every generator g of site s, period t in which it can stand   (open = 1 where opening costs nothing)

    bridge_kw  kW rented                                                column bridge_kw
    open       1 while the site is open                                 column open
    M          most that can be rented, kW                              c.bridging.stands, max_kw

    Dual: currency per kW-period; what one more kW that can be rented would save (<= 0).
    """
    stands = c.bridging.stands
    rows = number_rows(stands[BRIDGE])
    opened = stands.merge(columns.frame("open"), on=SITE_PERIOD)
    opened = opened.assign(kw=-opened["max_kw"].astype(float))
    closable = pd.MultiIndex.from_frame(stands[SITE_PERIOD]).isin(
        pd.MultiIndex.from_frame(opened[SITE_PERIOD])
    )
    most = np.where(closable, 0.0, stands["max_kw"].to_numpy(float))
    parts = [terms(rows, columns.frame("bridge_kw"), BRIDGE, 1.0), terms(rows, opened, BRIDGE, "kw")]
    return row_block("bridge_limit", rows, "<=", most, parts)


def bridge_hire(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """What is rented more than in the period before begins a rent of its own.

    bridge_kw[s,g,t] - bridge_kw[s,g,t-1] - bridge_hire_kw[s,g,t]  <=  0
    for every generator g of site s, period t in which it can stand

    bridge_kw       kW rented                                           column bridge_kw
    bridge_hire_kw  kW whose rent begins in t                           column bridge_hire_kw

    Dual: currency per kW; what one kW more without a new shortest rent would save (<= 0).
    """
    stands = c.bridging.stands
    rows = number_rows(stands[BRIDGE])
    key = ["site", "generator", "ordinal"]
    dated = rows.assign(ordinal=stands["ordinal"].to_numpy(int))
    held = columns.frame("bridge_kw").merge(stands[[*BRIDGE, "ordinal"]], on=BRIDGE)
    before = held.assign(ordinal=held["ordinal"].astype(int) + 1)[[*key, "column"]]
    parts = [
        terms(rows, held, BRIDGE, 1.0),
        terms(dated, before, key, -1.0),
        terms(rows, columns.frame("bridge_hire_kw"), BRIDGE, -1.0),
    ]
    return row_block("bridge_hire", rows, "<=", 0.0, parts)


def bridge_term(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Rent that has begun is kept for its shortest term, or paid to its end in the period it ends inside.

    sum_{t' with t in its term} bridge_hire_kw[s,g,t'] - bridge_kw[s,g,t]
        - sum_{t' with its end in t} bridge_tail_kw[s,g,t']  <=  0
    for every generator g of site s, period t in the term of some rent (0 kW where it may no longer stand)

    bridge_kw       kW rented                                           column bridge_kw
    bridge_hire_kw  kW whose rent begins in t'                          column bridge_hire_kw, c.bridging.terms
    bridge_tail_kw  kW paid to the end of its term, inside t            column bridge_tail_kw, c.bridging.tails

    Dual: currency per kW-period; what one kW less kept in t would save (<= 0).
    """
    kept = c.bridging.terms
    labels = kept[["site", "generator", "kept_period"]].drop_duplicates(ignore_index=True)
    rows = number_rows(labels.rename(columns={"kept_period": "period"}))
    begun = kept.merge(columns.frame("bridge_hire_kw"), on=BRIDGE).drop(columns="period")
    begun = begun.rename(columns={"kept_period": "period"})
    tails = c.bridging.tails.merge(columns.frame("bridge_tail_kw"), on=BRIDGE).drop(columns="period")
    parts = [
        terms(rows, begun, BRIDGE, 1.0),
        terms(rows, tails.rename(columns={"kept_period": "period"}), BRIDGE, -1.0),
        terms(rows, columns.frame("bridge_kw"), BRIDGE, -1.0),
    ]
    return row_block("bridge_term", rows, "<=", 0.0, parts)


def bridge_tail(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """No more is given back in the period a shortest rent ends in than that rent began with.

    bridge_tail_kw[s,g,t] - bridge_hire_kw[s,g,t]  <=  0
    for every generator g of site s, period t whose shortest rent ends inside a later period

    bridge_tail_kw  kW given back and paid to the end of the term       column bridge_tail_kw
    bridge_hire_kw  kW whose rent begins in t                           column bridge_hire_kw

    Dual: currency per kW; what one kW more that may be given back would save (<= 0).
    """
    tails = columns.frame("bridge_tail_kw")
    rows = number_rows(tails[BRIDGE])
    parts = [
        terms(rows, tails, BRIDGE, 1.0),
        terms(rows, columns.frame("bridge_hire_kw"), BRIDGE, -1.0),
    ]
    return row_block("bridge_tail", rows, "<=", 0.0, parts)


def bridge_output(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A generator gives no more than is rented of it.

    bridge_run_kw[s,g,t,b] - bridge_kw[s,g,t]  <=  0
    for every generator g of site s, period t in which it can stand, block b

    bridge_run_kw  kW given at the meter                                column bridge_run_kw
    bridge_kw      kW rented                                            column bridge_kw

    Dual: currency per kW in the block; what one more rented kW would save in it (<= 0).
    """
    made = columns.frame("bridge_run_kw")
    rows = number_rows(made[BRIDGE_BLOCK])
    parts = [terms(rows, made, BRIDGE_BLOCK, 1.0), terms(rows, columns.frame("bridge_kw"), BRIDGE, -1.0)]
    return row_block("bridge_output", rows, "<=", 0.0, parts)
