"""Orders: smallest orders, whole lots, and quantity discounts, exact."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms

ORDER = ["offer", "period"]
STAND_ORDER = ["offer", "site", "cooling", "period"]
TIER = ["offer", "period", "tier"]


def minimum_order(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """An order that is placed is at least the smallest one the vendor takes, over all sites.

    N[o] * placed[o,t]  <=  sum_{s,e} order[o,s,e,t]
    for every offer o with a smallest order, period t

    placed  1 while something is ordered                               column placed
    order   units ordered                                              column order
    N       units of the smallest order                                c.order_terms, minimum_units

    Dual: currency per unit; what a smaller smallest order would save with the yes or no held (<= 0).
    """
    stated = c.order_terms[c.order_terms["minimum_units"].notna()]
    rows = number_rows(stated[[*ORDER, "minimum_units"]])
    parts = [
        terms(rows, columns.frame("placed"), ORDER, "minimum_units"),
        terms(rows.drop(columns="minimum_units"), columns.frame("order"), ORDER, -1.0),
    ]
    return row_block("minimum_order", rows.drop(columns="minimum_units"), "<=", 0.0, parts)


def order_placed(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Nothing is ordered of an offer with a smallest order unless the order is placed.

    sum_{s,e} order[o,s,e,t]  <=  U[o,t] * placed[o,t]
    for every offer o with a smallest order, period t

    order   units ordered                                              column order
    placed  1 while something is ordered                               column placed
    U       units an order can be good for: confirmed, or useful       c.order_terms, most_units

    Dual: currency per unit; what one unit more of U would save with the yes or no held (<= 0).
    """
    stated = c.order_terms[c.order_terms["minimum_units"].notna()]
    rows = number_rows(stated[[*ORDER, "most_units"]].assign(most_units=-stated["most_units"]))
    parts = [
        terms(rows.drop(columns="most_units"), columns.frame("order"), ORDER, 1.0),
        terms(rows, columns.frame("placed"), ORDER, "most_units"),
    ]
    return row_block("order_placed", rows.drop(columns="most_units"), "<=", 0.0, parts)


def whole_lots(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """An offer sold in lots is ordered in whole lots, over all sites.

    sum_{s,e} order[o,s,e,t]  ==  L[o] * lots[o,t]
    for every offer o sold in lots, period t

    order  units ordered                                               column order
    lots   lots ordered, whole units of their own                      column lots
    L      units of one lot                                            c.order_terms, multiple_units

    Dual: currency per unit; what one unit more beside the lots held would save, negative where it would cost.
    """
    stated = c.order_terms[c.order_terms["multiple_units"].notna()]
    rows = number_rows(stated[[*ORDER, "multiple_units"]].assign(multiple_units=-stated["multiple_units"]))
    parts = [
        terms(rows.drop(columns="multiple_units"), columns.frame("order"), ORDER, 1.0),
        terms(rows, columns.frame("lots"), ORDER, "multiple_units"),
    ]
    return row_block("whole_lots", rows.drop(columns="multiple_units"), "==", 0.0, parts)


def tier_split(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Units at the prices of tiers are units that are ordered.

    sum_k tier_units[o,s,e,t,k]  <=  order[o,s,e,t]
    for every offer o with tiers, site s, cooling e, period t

    tier_units  units ordered at the price of tier k                   column tier_units
    order       units ordered                                          column order

    Dual: currency per unit; what one unit more at a tier's price would save (<= 0).
    """
    bought = columns.frame("tier_units")
    rows = number_rows(bought[STAND_ORDER].drop_duplicates())
    parts = [
        terms(rows, bought, STAND_ORDER, 1.0),
        terms(rows, columns.frame("order"), STAND_ORDER, -1.0),
    ]
    return row_block("tier_split", rows, "<=", 0.0, parts)


def tier_reached(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A tier is open only when what counts towards it is enough, and lends its price to no unit before that.

    F[o,k] * tier[o,t,k] + sum_{t'} sum_{k'>=k} i[o] * sum_{s,e} tier_units[o,s,e,t',k']
        <=  sum_{t'} sum_{s,e} order[o,s,e,t']
    for every offer o with tiers, tier k, period t that decides on it

    tier        1 while the tier is reached                            column tier
    tier_units  units at the price of this tier or a later one         column tier_units
    order       units ordered in the periods t' that count             column order, periods of c.tier_reach
    F           units at which it opens: from_units, or one less where only units beyond are cheaper (c.tiers)
    i           1 when only the units beyond are cheaper, 0 when all are (over the basis in c.tiers)

    What counts: the order of the period, all orders of a frame contract, or those up to t where a frame contract
    makes only the later units cheaper.

    Dual: currency per unit; what one unit less to be reached would save with the tiers held (<= 0).
    """
    anchored = _anchored(c)
    rows = number_rows(anchored[[*TIER, "floor_units"]])
    plain = rows[[*TIER, "row"]]
    beyond = _at_tier(c, columns, plain, incremental_only=True)
    parts = [
        terms(rows, columns.frame("tier"), TIER, "floor_units"),
        beyond,
        terms(_counted(c, plain), _ordered(columns, "order"), ["offer", "counted_period"], -1.0),
    ]
    return row_block("tier_reached", rows.drop(columns="floor_units"), "<=", 0.0, parts)


def tier_limit(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """No unit has the price of a tier that is not reached.

    sum_{t'} sum_{k'} sum_{s,e} tier_units[o,s,e,t',k']  <=  U[o,t] * tier[o,t,k]
    for every offer o with tiers, tier k, period t that decides on it

    tier_units  units at this tier's price, or a later one's where only units beyond are cheaper   column tier_units
    tier        1 while the tier is reached                            column tier
    U           units that can count: confirmed, or useful             c.tiers, most_units

    Dual: currency per unit; what one unit more of U would save with the tiers held (<= 0).
    """
    anchored = _anchored(c)
    rows = number_rows(anchored[[*TIER, "most_units"]].assign(most_units=-anchored["most_units"]))
    parts = [
        _at_tier(c, columns, rows[[*TIER, "row"]], incremental_only=False),
        terms(rows, columns.frame("tier"), TIER, "most_units"),
    ]
    return row_block("tier_limit", rows.drop(columns="most_units"), "<=", 0.0, parts)


def _anchored(c: Coefficients) -> pd.DataFrame:
    """Return one row per yes or no about a tier, in the order of the column family."""
    own = c.tiers.drop(columns="period").rename(columns={"anchor": "period"})
    return own.drop_duplicates(TIER).reset_index(drop=True)


def _counted(c: Coefficients, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows once per period whose orders count towards their tier."""
    return rows.merge(c.tier_reach, on=TIER)


def _ordered(columns: ColumnIndex, family: str) -> pd.DataFrame:
    return columns.frame(family).rename(columns={"period": "counted_period", "tier": "unit_tier"})


def _at_tier(
    c: Coefficients, columns: ColumnIndex, rows: pd.DataFrame, incremental_only: bool
) -> pd.DataFrame:
    """Return the terms of units at the price of a row's tier, and of later tiers where these count beyond it."""
    tiers = c.tiers[["offer", "tier", "rank", "basis"]].drop_duplicates(["offer", "tier"])
    later = tiers.merge(
        tiers.rename(columns={"tier": "unit_tier", "rank": "unit_rank"}).drop(columns="basis"), on="offer"
    )
    incremental = later["basis"].eq("incremental")
    same = (later["unit_rank"] == later["rank"]) & (not incremental_only)
    later = later[same | (incremental & (later["unit_rank"] >= later["rank"]))]
    pairs = _counted(c, rows).merge(later[["offer", "tier", "unit_tier"]], on=["offer", "tier"])
    return terms(pairs, _ordered(columns, "tier_units"), ["offer", "counted_period", "unit_tier"], 1.0)
