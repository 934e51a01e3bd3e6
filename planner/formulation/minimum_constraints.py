"""Minimum bills: a top-up of what the counted charges leave open."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.electricity.bill_minimum import COUNTED, MINIMUM
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms
from planner.units import MONEY_PER_K

NAMES = {"count_component": "component", "count_period": "period", "count_month": "month"}


def minimum_bill(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """The charges a minimum counts and its top-up are no less than what is owed at least.

    minimum_topup[s,k,m] + sum_{m' in span} ( C[s,m'] + earlier minimum_topup[s,.,m'] )
        - sum_{m' in span} L[s,k,m'] * open[s,t']  >=  0
    for every site s, minimum k, month m it is due in; span: that month, or the twelve months that end with it

    minimum_topup  thousand of currency paid on top                     column minimum_topup
    grid_kw        kW at the meter                                      column grid_kw
    ppa_kw         kW settled under a contract, not by the utility      column ppa_kw
    billed_kw      kW billed in a month                                 column billed_kw
    bill_tier      MWh or kW inside a tier                              column bill_tier
    open           1 while the site is open                             column open
    C              currency: a * (grid_kw - ppa_kw) + p * billed_kw + q * bill_tier + F * open; c.billing.minimums
    a, p, q, F     thousand of currency per unit, before levies         c.billing.minimums, counted
    L              least of the month, thousand of currency             c.billing.minimums, owed

    Dual: currency per currency; what one less of minimum would save: 1 (by its discount factor) while the minimum
    is what is paid, 0 above it (>= 0).
    """
    minimums = c.billing.minimums
    rows = number_rows(minimums.due[MINIMUM])
    parts = [terms(rows, columns.frame("minimum_topup"), MINIMUM, 1.0)]
    for family, table in minimums.counted.items():
        scale = 1.0 if family == "minimum_topup" else MONEY_PER_K
        parts.append(_counted(rows, table.assign(amount=table["amount"] / scale), columns, family))
    owed = minimums.owed.assign(amount=-minimums.owed["amount"] / MONEY_PER_K)
    owed = owed.groupby([*MINIMUM, "count_period"], sort=False, as_index=False)["amount"].sum()
    parts.append(_counted(rows, owed, columns, "open"))
    return row_block("minimum_bill", rows, ">=", 0.0, parts)


def _counted(rows: pd.DataFrame, table: pd.DataFrame, columns: ColumnIndex, family: str) -> pd.DataFrame:
    """Return the terms of the columns whose amounts a minimum counts."""
    labels = COUNTED[family]
    back = {NAMES.get(name, name): name for name in labels}
    held = columns.frame(family).rename(columns=back)[["site", *labels, "column"]]
    joined = rows.merge(table, on=MINIMUM)
    return terms(joined, held, ["site", *labels], "amount")
