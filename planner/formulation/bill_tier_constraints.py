"""Tiers of energy and demand charges: what fills them, how wide they are, and their order."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.electricity.bill_tiers import LADDER_MONTH
from planner.coefficients.electricity.billing import CHARGE_MONTH
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms

SITE_BLOCK = ["site", "period", "block"]
TIER = [*LADDER_MONTH, "tier"]


def bill_tier_balance(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """The tiers of a month hold its whole use: the energy the utility settles, or the billed kW.

    sum_{b} h[l,m,b] * ( grid_kw[s,t,b] - sum_{p of s} ppa_kw[p,t,b] ) + e[l] * billed_kw[s,d,m]
        - sum_{j} bill_tier[s,l,m,j]  ==  0
    for every site s, ladder l of energy or of demand charge d, month m of period t in which a tier's price differs
    from the first   (e = 0 for energy, h = 0 for demand)

    grid_kw    kW at the meter                                          column grid_kw
    ppa_kw     kW settled under a contract, not by the utility          column ppa_kw
    billed_kw  kW billed in the month                                   column billed_kw
    bill_tier  MWh or kW inside tier j                                  column bill_tier
    h          thousand hours of block b in the month                   c.billing.fills, mwh_per_kw
    e          1 while the ladder is of a demand charge                 c.billing.ladders

    Dual: currency per MWh or kW; what one more costs in the last tier reached above the first one's price, with
    its sign.
    """
    ladders = c.billing.ladders
    rows = number_rows(ladders[LADDER_MONTH])
    drawn = c.billing.fills.merge(columns.frame("grid_kw"), on=SITE_BLOCK)
    covered = c.billing.fills.merge(columns.frame("ppa_kw"), on=SITE_BLOCK)
    covered = covered.assign(mwh_per_kw=-covered["mwh_per_kw"])
    kw = ladders.assign(row=rows["row"])[ladders["unit"] == "kw"]
    parts = [
        terms(rows, drawn, LADDER_MONTH, "mwh_per_kw"),
        terms(rows, covered, LADDER_MONTH, "mwh_per_kw"),
        terms(kw[[*CHARGE_MONTH, "row"]], columns.frame("billed_kw"), CHARGE_MONTH, 1.0),
        terms(rows, columns.frame("bill_tier"), LADDER_MONTH, -1.0),
    ]
    return row_block("bill_tier_balance", rows, "==", 0.0, parts)


def _widths(c: Coefficients) -> pd.DataFrame:
    """Return the tiers that end, with their ladder's charge and limits."""
    tiers = c.billing.tiers[c.billing.tiers["width"].notna()]
    return tiers.merge(c.billing.ladders.drop(columns="unit"), on=LADDER_MONTH, validate="many_to_one")


def bill_tier_width(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A tier holds no more than its width; hours-of-use tiers are as wide as so many hours of the measured peak.

    bill_tier[s,l,m,j] - w[l,j] * month_peak_kw[s,m]  <=  W[l,j]
    for every site s, ladder l, month m, tier j that ends   (w = 0, or W = 0 where tiers count hours of use)

    bill_tier      MWh or kW inside tier j                              column bill_tier
    month_peak_kw  kW measured in the month, every hour                 column month_peak_kw
    w              thousand hours of use inside the tier                c.billing.tiers, width
    W              width of the tier, MWh or kW                         c.billing.tiers, width

    Dual: currency per MWh or kW; what a wider tier would save (<= 0).
    """
    tiers = _widths(c)
    rows = number_rows(tiers[TIER])
    by_peak = (tiers["unit"] == "kwh_per_kw").to_numpy()
    wide = tiers.assign(row=rows["row"], per_kw=-tiers["width"])[by_peak]
    parts = [
        terms(rows, columns.frame("bill_tier"), TIER, 1.0),
        terms(wide[[*CHARGE_MONTH, "row", "per_kw"]], columns.frame("month_peak_kw"), CHARGE_MONTH, "per_kw"),
    ]
    return row_block("bill_tier_width", rows, "<=", np.where(by_peak, 0.0, tiers["width"]), parts)


def _below(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return pairs of a tier and a cheaper tier above it (``above``), with the width of the lower one."""
    above = columns.frame("bill_tier_reached").rename(columns={"tier": "above", "column": "reached"})
    pairs = _widths(c).merge(above, on=LADDER_MONTH)
    return pairs[pairs["tier"] < pairs["above"]].reset_index(drop=True)


def bill_tier_filled(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A tier that gets cheaper is reached only when all tiers below it are full.

    bill_tier[s,l,m,i] - w[l,i] * month_peak_kw[s,m]
        - (W[l,i] + w[l,i] * K[s,t]) * bill_tier_reached[s,l,m,j]  >=  - w[l,i] * K[s,t]
    for every site s, ladder l, month m of period t, tier j cheaper than the one below it, tier i below j
    (w = 0, or W = 0 where tiers count hours of use)

    bill_tier          MWh or kW inside tier i                          column bill_tier
    bill_tier_reached  1 when the use reaches tier j                    column bill_tier_reached
    month_peak_kw      kW measured in the month, every hour             column month_peak_kw
    W, w               width of tier i: MWh, kW; thousand hours of use  c.billing.tiers, width
    K                  usable kW of the grid connection                 c.billing.ladders, most_kw

    Dual: currency per MWh or kW; what reaching the cheaper tier earlier would save (>= 0).
    """
    pairs = _below(c, columns)
    rows = number_rows(pairs[[*TIER, "above"]])
    by_peak = (pairs["unit"] == "kwh_per_kw").to_numpy()
    big = np.where(by_peak, pairs["width"] * pairs["most_kw"], pairs["width"])
    wide = pairs.assign(row=rows["row"], per_kw=-pairs["width"])[by_peak]
    reached = pd.DataFrame({"row": rows["row"], "column": pairs["reached"].astype(int), "value": -big})
    parts = [
        terms(rows, columns.frame("bill_tier"), TIER, 1.0),
        terms(wide[[*CHARGE_MONTH, "row", "per_kw"]], columns.frame("month_peak_kw"), CHARGE_MONTH, "per_kw"),
        reached,
    ]
    return row_block("bill_tier_filled", rows, ">=", np.where(by_peak, -big, 0.0), parts)


def bill_tier_gate(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Nothing is billed in or above a tier that gets cheaper unless it is reached.

    sum_{i from j up} bill_tier[s,l,m,i] - U[s,l,m] * bill_tier_reached[s,l,m,j]  <=  0
    for every site s, ladder l, month m, tier j cheaper than the one below it

    bill_tier          MWh or kW inside tier i                          column bill_tier
    bill_tier_reached  1 when the use reaches tier j                    column bill_tier_reached
    U                  most MWh or kW of the grid connection            c.billing.ladders, most

    Dual: currency per MWh or kW; what room in the cheaper tiers would save (<= 0), 0 where it is reached with room.
    """
    reached = columns.frame("bill_tier_reached")
    rows = number_rows(reached[TIER])
    limits = rows.merge(c.billing.ladders, on=LADDER_MONTH, validate="many_to_one")
    upper = columns.frame("bill_tier").rename(columns={"tier": "held"})
    pairs = rows.merge(upper, on=LADDER_MONTH)
    pairs = pairs[pairs["held"] >= pairs["tier"]]
    held = pairs[["row", "column"]].assign(value=1.0)
    most = rows.assign(most=-limits["most"].to_numpy(float))
    parts = [held, terms(most, reached, TIER, "most")]
    return row_block("bill_tier_gate", rows, "<=", 0.0, parts)


def peak_attained(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A measured peak that makes cheaper tiers wider is one that some block really draws.

    month_peak_kw[s,d,m] - grid_kw[s,t,b] + K[s,t] * peak_block[s,d,m,b]  <=  K[s,t]
    for every site s, measured peak d of tiers that get dearer by hours of use, month m of period t, block b

    month_peak_kw  kW measured in the month                             column month_peak_kw
    grid_kw        kW at the meter                                      column grid_kw
    peak_block     1 when the block sets the peak                       column peak_block
    K              usable kW of the grid connection                     c.billing.ladders, most_kw

    Dual: currency per kW; what a higher peak would save through wider tiers (<= 0).
    """
    chosen = columns.frame("peak_block")
    rows = number_rows(chosen[[*CHARGE_MONTH, "block"]])
    limits = rows.merge(
        c.billing.ladders[[*CHARGE_MONTH, "most_kw"]], on=CHARGE_MONTH, validate="many_to_one"
    )
    big = rows.assign(most=limits["most_kw"].to_numpy(float))
    parts = [
        terms(rows, columns.frame("month_peak_kw"), CHARGE_MONTH, 1.0),
        terms(rows, columns.frame("grid_kw"), SITE_BLOCK, -1.0),
        terms(big, chosen, [*CHARGE_MONTH, "block"], "most"),
    ]
    return row_block("peak_attained", rows, "<=", limits["most_kw"].to_numpy(float), parts)


def peak_chosen(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """One block sets the measured peak of a month.

    sum_{b} peak_block[s,d,m,b]  ==  1
    for every site s, measured peak d of tiers that get dearer by hours of use, month m

    peak_block  1 when the block sets the peak                          column peak_block

    Dual: currency; costs nothing of its own, it follows from the tiers.
    """
    chosen = columns.frame("peak_block")
    rows = number_rows(chosen[CHARGE_MONTH].drop_duplicates())
    return row_block("peak_chosen", rows, "==", 1.0, [terms(rows, chosen, CHARGE_MONTH, 1.0)])
