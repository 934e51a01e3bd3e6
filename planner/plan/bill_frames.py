"""The electricity bill of a plan by month, as labelled frames."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.electricity.billing import CHARGE_MONTH
from planner.formulation.bill_values import earlier_kw
from planner.formulation.blocks import ColumnIndex
from planner.units import MONEY_PER_K

BILLED_PEAKS = [
    *(*CHARGE_MONTH, "measured_kw", "billed_kw", "floor_kw", "ratchet_kw", "coincident_kw"),
    *("named", "price_per_kw", "amount", "owed_after_horizon"),
]


def billed_peaks(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return site, component, period, month, measured_kw, billed_kw, floor_kw, ratchet_kw, coincident_kw, named,
    price_per_kw, amount, owed_after_horizon.

    Months after the horizon that a ratchet bills are rows too, without price and amount. ``ratchet_kw`` is the share of
    an earlier peak of the horizon that the month is billed at least, ``coincident_kw``
    what its charge on named hours makes of the peaks of the year before, in the horizon. ``owed_after_horizon`` is
    what the month's own coincident peak, or the ratchet in a month after the horizon, is billed then, undiscounted.
    """
    # The peak that hours-of-use tiers count by is no charge of the tariff: it is in the tiers' own line.
    scale = c.billing.ladders.loc[c.billing.ladders["unit"] == "kwh_per_kw", ["site", "component"]]
    own = pd.MultiIndex.from_frame(c.billing.charges[["site", "component"]])
    charges = c.billing.charges[~own.isin(pd.MultiIndex.from_frame(scale))]
    measured = columns.frame("month_peak_kw")
    billed = columns.frame("billed_kw")
    table = charges.merge(
        measured.assign(measured_kw=values[measured["column"].to_numpy(int)]).drop(columns="column"),
        on=CHARGE_MONTH,
        how="left",
    ).merge(
        billed.assign(billed_kw=values[billed["column"].to_numpy(int)]).drop(columns="column"),
        on=CHARGE_MONTH,
        how="left",
    )
    at = pd.MultiIndex.from_frame(table[CHARGE_MONTH])
    kw = table["measured_kw"].set_axis(at)
    ratchet = earlier_kw(c.billing.look_back, "ratchet_fraction", kw).max()
    coincident = earlier_kw(c.billing.coincident, "share", kw).sum()
    billed_kw, measured_kw = table["billed_kw"].fillna(0.0), table["measured_kw"].fillna(0.0)
    after = table["after"].astype(bool)
    return table.assign(
        billed_kw=billed_kw,
        measured_kw=measured_kw,
        ratchet_kw=ratchet.reindex(at).fillna(0.0).to_numpy(float),
        coincident_kw=coincident.reindex(at).fillna(0.0).to_numpy(float),
        amount=billed_kw * table["price_per_kw"],
        owed_after_horizon=measured_kw.where(~after, billed_kw) * table["owed_per_kw"],
    )[BILLED_PEAKS]


def topups(columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return site, component, period, month, amount of the top-ups of minimum bills, zero where nothing is due."""
    due = columns.frame("minimum_topup")
    amount = values[due["column"].to_numpy(int)] * MONEY_PER_K
    return due.drop(columns="column").assign(amount=amount)
