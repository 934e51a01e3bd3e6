"""The electricity bill by month: measured peaks, ratchets, coincident peaks, floors, minimum bills."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.electricity.bill_minimum import COUNTED, MINIMUM
from planner.coefficients.electricity.billing import CHARGE_MONTH
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms
from planner.units import MONEY_PER_K

SITE_BLOCK = ["site", "period", "block"]
PAST = ["site", "component", "past_period", "past_month"]
NAMES = {"count_component": "component", "count_period": "period", "count_month": "month"}


def month_peak(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A month's measured peak is no less than the kW of any block its charge looks at.

    grid_kw[s,t,b] - month_peak_kw[s,d,m]  <=  0
    for every site s, demand charge d billed by month, month m of period t, block b inside the charge's window

    grid_kw        kW at the meter                                      column grid_kw
    month_peak_kw  kW measured in the month inside the window           column month_peak_kw

    Dual: currency per kW; share of the month's charge and of later ratchets this block causes (<= 0).
    """
    rows = number_rows(c.billing.peak_blocks[[*CHARGE_MONTH, "block"]])
    parts = [
        terms(rows, columns.frame("grid_kw"), SITE_BLOCK, 1.0),
        terms(rows, columns.frame("month_peak_kw"), CHARGE_MONTH, -1.0),
    ]
    return row_block("month_peak", rows, "<=", 0.0, parts)


def billed_peak(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A month is billed no less than it measured.

    month_peak_kw[s,d,m] - billed_kw[s,d,m]  <=  0
    for every site s, demand charge d billed by month (none on named hours), month m in which it is billed

    month_peak_kw  kW measured in the month                             column month_peak_kw
    billed_kw      kW billed in the month                               column billed_kw

    Dual: currency per kW; what one kW less measured would save in the month's own bill (<= 0).
    """
    billed = columns.frame("billed_kw")
    charges = c.billing.charges
    named = charges.loc[charges["named"].astype(bool) | charges["after"].astype(bool), CHARGE_MONTH]
    own = ~pd.MultiIndex.from_frame(billed[CHARGE_MONTH]).isin(pd.MultiIndex.from_frame(named))
    rows = number_rows(billed.loc[own, CHARGE_MONTH])
    parts = [
        terms(rows, columns.frame("month_peak_kw"), CHARGE_MONTH, 1.0),
        terms(rows, billed, CHARGE_MONTH, -1.0),
    ]
    return row_block("billed_peak", rows, "<=", 0.0, parts)


def ratchet(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A month is billed no less than a share of each earlier peak its charge looks back at.

    f[d] * month_peak_kw[s,d,m'] - billed_kw[s,d,m]  <=  0
    for every site s, demand charge d with a ratchet, month m in the horizon or after it, month m' of the horizon among
    the months before m that count (the ratchet's season, at most so many months back)

    month_peak_kw  kW measured in the earlier month                     column month_peak_kw
    billed_kw      kW billed in the month                               column billed_kw
    f              share of the earlier peak, fraction                  c.billing.look_back, ratchet_fraction

    Dual: currency per kW; what the earlier peak costs in the month through the ratchet (<= 0).
    """
    rows = number_rows(c.billing.look_back)
    past = columns.frame("month_peak_kw").rename(columns={"period": "past_period", "month": "past_month"})
    parts = [
        terms(rows, past, PAST, "ratchet_fraction"),
        terms(rows, columns.frame("billed_kw"), CHARGE_MONTH, -1.0),
    ]
    labels = rows.drop(columns="ratchet_fraction")
    return row_block("ratchet", labels, "<=", 0.0, parts)


def coincident_peak(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A month's charge on named hours is billed the mean of the peaks of the year before it.

    sum_{m'} w[d,m,m'] * month_peak_kw[s,d,m'] + H[s,d,m] * open[s,t] - billed_kw[s,d,m]  <=  0
    for every site s, demand charge d on named hours, month m of period t in which it is billed
    (m' the months of the horizon its bill rests on; open = 1 where opening costs nothing)

    month_peak_kw  kW measured in the earlier month                     column month_peak_kw
    open           1 while the site is open                             column open
    billed_kw      kW billed in the month                               column billed_kw
    w              share of the named hours in the earlier month        c.billing.coincident, share
    H              kW that peaks before the horizon add                 c.billing.charges, history_kw

    Dual: currency per kW; what one kW more of earlier peaks costs in the month (<= 0).
    """
    charges = c.billing.charges[
        c.billing.charges["named"].astype(bool) & c.billing.charges["billed"].astype(bool)
    ]
    rows = number_rows(charges[CHARGE_MONTH])
    past = columns.frame("month_peak_kw").rename(columns={"period": "past_period", "month": "past_month"})
    pairs = c.billing.coincident.merge(rows, on=CHARGE_MONTH)
    history = charges["history_kw"].to_numpy(float)
    opened = columns.frame("open")
    costly = _opens_at_a_cost(rows, opened)
    parts = [
        terms(pairs, past, PAST, "share"),
        terms(rows.assign(kw=history)[history > 0], opened, ["site", "period"], "kw"),
        terms(rows, columns.frame("billed_kw"), CHARGE_MONTH, -1.0),
    ]
    return row_block("coincident_peak", rows, "<=", np.where(costly, 0.0, -history), parts)


def billed_floor(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """An open site is billed no less than the charge's floor.

    billed_kw[s,d,m] - B[s,d,m] * open[s,t]  >=  0
    for every site s, demand charge d with a floor, month m of period t   (open = 1 where opening costs nothing)

    billed_kw  kW billed in the month                                   column billed_kw
    open       1 while the site is open                                 column open
    B          kW: minimum, share of contract or of an earlier peak     c.billing.charges, floor_kw

    Dual: currency per kW; what one kW less of floor would save in the month (>= 0).
    """
    floors = c.billing.charges[(c.billing.charges["floor_kw"] > 0) & c.billing.charges["billed"].astype(bool)]
    rows = number_rows(floors[CHARGE_MONTH])
    least = rows.assign(floor_kw=-floors["floor_kw"].to_numpy(float))
    opened = columns.frame("open")
    costly = _opens_at_a_cost(rows, opened)
    parts = [
        terms(rows, columns.frame("billed_kw"), CHARGE_MONTH, 1.0),
        terms(least, opened, ["site", "period"], "floor_kw"),
    ]
    return row_block(
        "billed_floor", rows, ">=", np.where(costly, 0.0, floors["floor_kw"].to_numpy(float)), parts
    )


def _opens_at_a_cost(rows: pd.DataFrame, opened: pd.DataFrame) -> np.ndarray:
    site_period = pd.MultiIndex.from_frame(opened[["site", "period"]])
    return np.asarray(pd.MultiIndex.from_frame(rows[["site", "period"]]).isin(site_period), dtype=bool)


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
