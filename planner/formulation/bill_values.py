"""The bill of a plan as its tariff reads it: the bill's columns recomputed from the load.

A bill's columns follow from kW at the meter. The solver may leave one above its least value where that costs
nothing (a measured peak below a ratchet, a charge below a minimum); the reported bill has none of that slack.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from pandas.core.groupby import SeriesGroupBy

from planner.coefficients import Coefficients
from planner.coefficients.electricity.bill_tiers import LADDER_MONTH
from planner.coefficients.electricity.billing import CHARGE_MONTH
from planner.formulation.bill_constraints import minimum_bill
from planner.formulation.blocks import ColumnIndex

PAST = ["site", "component", "past_period", "past_month"]


def settled_bill(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> np.ndarray:
    """Return the values with every bill column at what the load makes it.

    month_peak_kw = max over its blocks of grid_kw
    billed_kw     = max(month_peak_kw, floor x open, ratchet x earlier month_peak_kw), of named hours
                    max(mean of earlier month_peak_kw + history x open, floor x open)
    minimum_topup = what the counted charges and earlier top-ups leave open of the least owed
    bill_tier     = part of the month's MWh or billed kW between the tier's start and its end
    """
    if c.billing.charges.empty and c.billing.tiers.empty and c.billing.minimums.due.empty:
        return values
    settled = values.copy()
    measured = _measured(c, columns, values)
    settled[columns.frame("month_peak_kw")["column"].to_numpy(int)] = measured.to_numpy(float)
    billed = columns.frame("billed_kw")
    settled[billed["column"].to_numpy(int)] = _billed(c, columns, values, measured)
    _settle_tiers(c, columns, settled)
    _settle_topups(c, columns, settled)
    return settled


def _settle_topups(c: Coefficients, columns: ColumnIndex, settled: np.ndarray) -> None:
    """Set each top-up to what the charges and the earlier top-ups leave open, in the order of the minimums."""
    own = columns.frame("minimum_topup")
    if own.empty:
        return
    settled[own["column"].to_numpy(int)] = 0.0
    block = minimum_bill(c, columns)
    for _, rows in block.labels.groupby(["site", "component"], sort=False):
        held = np.bincount(
            block.row, weights=block.value * settled[block.column], minlength=len(block.labels)
        )
        due = rows.merge(own, on=["site", "component", "period", "month"], how="left")
        settled[due["column"].to_numpy(int)] = np.maximum(-held[rows.index.to_numpy()], 0.0)


def _settle_tiers(c: Coefficients, columns: ColumnIndex, settled: np.ndarray) -> None:
    """Fill the tiers of each month from the first one up, with the use and the peak as settled."""
    use = _tier_use(c, columns, settled)
    tiers = columns.frame("bill_tier").merge(c.billing.tiers, on=[*LADDER_MONTH, "tier"])
    month = c.billing.ladders.set_index(LADDER_MONTH)
    labels = pd.MultiIndex.from_frame(tiers[LADDER_MONTH])
    peaks = columns.frame("month_peak_kw")
    peak = peaks.assign(kw=settled[peaks["column"].to_numpy(int)]).set_index(CHARGE_MONTH)["kw"]
    charge = tiers.assign(component=month["component"].reindex(labels).to_numpy())
    scale = peak.reindex(pd.MultiIndex.from_frame(charge[CHARGE_MONTH])).to_numpy(float)
    width = tiers["width"] * np.where(tiers["unit"] == "kwh_per_kw", scale, 1.0)
    end = width.groupby([tiers[name] for name in LADDER_MONTH]).cumsum().fillna(np.inf)
    start = (end - width).where(tiers["width"].notna(), np.nan)
    below = end.groupby([tiers[name] for name in LADDER_MONTH]).shift(1).fillna(0.0)
    start = start.fillna(below)
    inside = np.clip(np.minimum(use.reindex(labels).to_numpy(float), end) - start, 0.0, None)
    settled[tiers["column"].to_numpy(int)] = inside.to_numpy(float)


def _tier_use(c: Coefficients, columns: ColumnIndex, settled: np.ndarray) -> pd.Series:
    """Return MWh the utility settles, or billed kW, of each month of a ladder."""
    drawn, covered = columns.frame("grid_kw"), columns.frame("ppa_kw")
    drawn = drawn.assign(kw=settled[drawn["column"].to_numpy(int)])
    covered = covered.assign(kw=-settled[covered["column"].to_numpy(int)])
    parts = [drawn, covered] if len(covered) else [drawn]
    energy = c.billing.fills.merge(pd.concat(parts, ignore_index=True), on=["site", "period", "block"])
    mwh = (energy["kw"] * energy["mwh_per_kw"]).groupby([energy[name] for name in LADDER_MONTH]).sum()
    billed = columns.frame("billed_kw")
    billed = billed.assign(kw=settled[billed["column"].to_numpy(int)])
    ladders = c.billing.ladders[c.billing.ladders["unit"] == "kw"]
    kw = ladders.merge(billed, on=CHARGE_MONTH).set_index(LADDER_MONTH)["kw"]
    return pd.concat([mwh, kw])


def _measured(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.Series:
    """Return measured kW by charge and month, in the order of the columns."""
    drawn = columns.frame("grid_kw")
    drawn = drawn.assign(kw=np.maximum(values[drawn["column"].to_numpy(int)], 0.0))
    seen = c.billing.peak_blocks.merge(drawn, on=["site", "period", "block"], how="left")
    highest = seen.groupby(CHARGE_MONTH)["kw"].max()
    labels = pd.MultiIndex.from_frame(columns.block("month_peak_kw").labels[CHARGE_MONTH])
    return highest.reindex(labels).fillna(0.0)


def _billed(c: Coefficients, columns: ColumnIndex, values: np.ndarray, measured: pd.Series) -> np.ndarray:
    labels = columns.block("billed_kw").labels
    index = pd.MultiIndex.from_frame(labels[CHARGE_MONTH])
    opened = columns.frame("open")
    share = pd.Series(
        values[opened["column"].to_numpy(int)], index=pd.MultiIndex.from_frame(opened[["site", "period"]])
    )
    is_open = share.reindex(pd.MultiIndex.from_frame(labels[["site", "period"]])).fillna(1.0).to_numpy(float)
    charges = c.billing.charges.set_index(CHARGE_MONTH)[["floor_kw", "history_kw", "named"]].reindex(index)
    looked_back = earlier_kw(c.billing.look_back, "ratchet_fraction", measured).max()
    rested_on = earlier_kw(c.billing.coincident, "share", measured).sum()
    named = rested_on.reindex(index).fillna(0.0).to_numpy(float) + charges["history_kw"].to_numpy() * is_open
    own = np.where(charges["named"].astype(bool), named, measured.reindex(index).fillna(0.0).to_numpy(float))
    floor = np.maximum(looked_back.reindex(index).fillna(0.0).to_numpy(float), charges["floor_kw"] * is_open)
    return np.maximum(own, floor)


def earlier_kw(pairs: pd.DataFrame, share: str, measured: pd.Series) -> SeriesGroupBy:
    """Return a share of each earlier month's measured kW, grouped by the month that looks back at it."""
    kw = pairs[share].to_numpy(float) * measured.reindex(pd.MultiIndex.from_frame(pairs[PAST])).to_numpy(
        float
    )
    return pd.Series(kw, index=pd.MultiIndex.from_frame(pairs[CHARGE_MONTH])).groupby(level=CHARGE_MONTH)
