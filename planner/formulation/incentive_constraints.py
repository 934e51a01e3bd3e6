"""Incentives: what is received is earned by what is invested."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import LABELS, Coefficients
from planner.coefficients.incentives import AWARD
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms
from planner.units import MONEY_PER_K


def incentive_earned(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """No more is received than the capex, or the kW, of a site earn; a flat amount where its condition is met.

    granted[i,s]  <=  sum_{families f, columns j at s} a[i,f,j] * x[f,j]  (+ G[i] * grant_met[i,s] where i is flat)
    for every incentive i, site s with capex that counts

    granted    thousand of currency received                           column granted
    x          decision of a variable family paid for with capex       columns of c.incentives.earned
    a          thousand of currency per unit of x: share x capex, or amount per kW x kW   c.incentives.earned
    grant_met  1 when the condition of a flat amount is met, binary    column grant_met
    G          flat amount, thousand of currency                       c.incentives.awards, rate

    Dual: currency of present value per thousand; what one thousand more earned would save (<= 0).
    """
    awards = c.incentives.awards
    rows = number_rows(awards[AWARD])
    flat = awards[awards["basis"].eq("flat")]
    met = columns.frame("grant_met").merge(flat[[*AWARD, "rate"]], on=AWARD)
    met = met.assign(amount=-met["rate"].astype(float) / MONEY_PER_K)
    parts = [
        terms(rows, columns.frame("granted"), AWARD, 1.0),
        terms(rows, met, AWARD, "amount"),
        *_counted(c, columns, rows, ~awards["basis"].eq("flat")),
    ]
    return row_block("incentive_earned", rows, "<=", 0.0, parts)


def incentive_cap(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """An incentive gives no more than its most, all sites together.

    sum_s granted[i,s]  <=  B[i]
    for every incentive i with a most

    granted  thousand of currency received                             column granted
    B        thousand of currency                                      c.incentives.awards, most

    Dual: currency of present value per thousand; what one thousand more of it would save (<= 0).
    """
    capped = c.incentives.awards
    capped = capped[capped["most"].notna()].drop_duplicates("incentive")
    rows = number_rows(capped[["incentive"]])
    most = capped["most"].to_numpy(float) / MONEY_PER_K
    parts = [terms(rows, columns.frame("granted"), ["incentive"], 1.0)]
    return row_block("incentive_cap", rows, "<=", most, parts)


def incentive_condition(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A flat amount is received where the capex it asks for is spent.

    L[i] * grant_met[i,s]  <=  sum_{families f, columns j at s} k[i,f,j] * x[f,j]
    for every flat incentive i, its site s

    grant_met  1 when the condition of a flat amount is met, binary   column grant_met
    x          decision of a variable family paid for with capex       columns of c.incentives.earned
    k          thousand of currency of capex counted per unit of x     c.incentives.earned, amount
    L          thousand of currency                                    c.incentives.awards, least_capex

    Dual: currency of present value per thousand of capex; what one thousand less asked for would save (<= 0).
    """
    awards = c.incentives.awards
    flat = awards["basis"].eq("flat")
    rows = number_rows(awards.loc[flat, AWARD])
    least = awards.loc[flat, [*AWARD, "least_capex"]]
    met = columns.frame("grant_met").merge(least, on=AWARD)
    met = met.assign(amount=met["least_capex"].astype(float) / MONEY_PER_K)
    parts = [terms(rows, met, AWARD, "amount"), *_counted(c, columns, rows, flat)]
    return row_block("incentive_condition", rows, "<=", 0.0, parts)


def _counted(
    c: Coefficients, columns: ColumnIndex, rows: pd.DataFrame, chosen: pd.Series
) -> list[pd.DataFrame]:
    """Return minus what the decisions earn, or are counted with, of the incentives chosen, in thousands."""
    names = c.incentives.awards.loc[np.asarray(chosen, dtype=bool), "incentive"].unique()
    parts = []
    for family, earned in c.incentives.earned.items():
        own = earned[earned["incentive"].isin(names)]
        held = columns.frame(family).merge(own, on=LABELS[family], validate="one_to_many")
        parts.append(terms(rows, held.assign(value=-held["amount"] / MONEY_PER_K), AWARD, "value"))
    return parts
