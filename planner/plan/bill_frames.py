"""The electricity bill of a plan by month, as labelled frames."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.billing import CHARGE_MONTH
from planner.formulation.blocks import ColumnIndex
from planner.units import MONEY_PER_K


def billed_peaks(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return site, component, period, month, measured_kw, billed_kw, floor_kw, ratchet_kw, price_per_kw, amount.

    ``ratchet_kw`` is the share of an earlier peak of the horizon that the month is billed at least.
    """
    charges = c.billing.charges
    measured = columns.frame("month_peak_kw")
    billed = columns.frame("billed_kw")
    table = charges.merge(
        measured.assign(measured_kw=values[measured["column"].to_numpy(int)]).drop(columns="column"),
        on=CHARGE_MONTH,
    ).merge(
        billed.assign(billed_kw=values[billed["column"].to_numpy(int)]).drop(columns="column"),
        on=CHARGE_MONTH,
        how="left",
    )
    past = c.billing.look_back.merge(
        table[[*CHARGE_MONTH, "measured_kw"]].rename(
            columns={"period": "past_period", "month": "past_month", "measured_kw": "past_kw"}
        ),
        on=["site", "component", "past_period", "past_month"],
    )
    owed = (past["past_kw"] * past["ratchet_fraction"]).groupby([past[name] for name in CHARGE_MONTH]).max()
    at = pd.MultiIndex.from_frame(table[CHARGE_MONTH])
    billed_kw = table["billed_kw"].fillna(0.0)
    return table.assign(
        billed_kw=billed_kw,
        ratchet_kw=owed.reindex(at).fillna(0.0).to_numpy(float),
        amount=billed_kw * table["price_per_kw"],
    )[[*CHARGE_MONTH, "measured_kw", "billed_kw", "floor_kw", "ratchet_kw", "price_per_kw", "amount"]]


def topups(columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return site, component, period, month, amount of the top-ups of minimum bills, zero where nothing is due."""
    due = columns.frame("minimum_topup")
    amount = values[due["column"].to_numpy(int)] * MONEY_PER_K
    return due.drop(columns="column").assign(amount=amount)
