"""Charges on hours named afterwards (coincident peaks): which month's bill rests on which earlier months.

The hours of one summer set the kW of the year after: ERCOT's 4CP, a capacity obligation by zone (PLC, ICAP). A
tariff row carries the hours last named, ``planner bill`` bills exactly those. The hours of a year still to come are
not known, so every later year rests on the same calendar months of its own year before, each at its highest kW
inside the charge's days and hours: whichever of them is named costs no more. A narrow window makes it exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from planner.coefficients.electricity.calendar import month_held
from planner.coefficients.electricity.meter import PlanMeter
from planner.inputs.named_hours import Row, first_billed, named_shares, peaks_behind
from planner.units import MONTHS_PER_YEAR

MIDDLE = 0.5
"""A month's bill is paid in its middle, as payments inside the horizon are."""


@dataclass(frozen=True)
class Coincident:
    """What the months of one charge on named hours rest on.

    Attributes
    ----------
    pairs
        position (a billed month), past (a month of the horizon whose peak counts), share.
    history_kw
        What months before the horizon add to each billed month, ndarray (months,).
    owed_per_kw, value_per_kw
        What one kW of each month's peak is billed after the horizon, and that at its value on the last day.
    """

    pairs: pd.DataFrame
    history_kw: np.ndarray
    owed_per_kw: np.ndarray
    value_per_kw: np.ndarray


def coincident(
    meter: PlanMeter, row: Row, billed: np.ndarray, history: Mapping[int, float], rate_fraction: float
) -> Coincident:
    """Return what each month of a charge on named hours rests on, and what its peaks are billed after the horizon.

    A peak of the last year is owed in full although nobody pays it inside the horizon: the bill of the year after
    rests on kW drawn before, whatever is drawn then. So the plan is charged it, at its value on the last day; left
    out, the last summer's peak would be free and every plan would put its load there. Nothing is taken off for a
    fleet that may be gone by then: hardware's value at the end of the horizon assumes that it serves on, on this
    connection. What earlier peaks (history) leave for after the horizon no decision changes; it is not counted.

    Parameters
    ----------
    billed
        Share of each billing month in which the charge is billed.
    history
        Peaks before the horizon by months since year 0.
    """
    months = meter.bill_months["bill_month"].to_numpy(int)
    pairs: list[tuple[int, int, float]] = []
    history_kw = np.zeros(len(months))
    for at in np.flatnonzero(billed > 0):
        for past, share in peaks_behind(row, int(months[at])).items():
            seen = np.flatnonzero(months == past)
            pairs += [(int(at), int(position), share / len(seen)) for position in seen]
            history_kw[at] += share * history.get(past, 0.0)
    owed, value = _owed_after(row, months, rate_fraction)
    frame = pd.DataFrame(pairs, columns=["position", "past", "share"])
    return Coincident(frame.astype({"position": int, "past": int, "share": float}), history_kw, owed, value)


def _owed_after(row: Row, months: np.ndarray, rate_fraction: float) -> tuple[np.ndarray, np.ndarray]:
    owed, value = np.zeros(len(months)), np.zeros(len(months))
    if not len(months):
        return owed, value
    last = int(months.max())
    wait = first_billed(row) - min(named_shares(str(row["named_hours"])))
    for month in range(last + 1, last + max(wait, 0) + MONTHS_PER_YEAR + 1):
        price = row["price_bare"] * month_held(row, month)
        price *= 1.0 + sum(levy["price"] * month_held(levy, month) for levy in row["levies"])
        worth = (1.0 + rate_fraction) ** -((month - last - MIDDLE) / MONTHS_PER_YEAR)
        for past, share in peaks_behind(row, month).items():
            seen = months == past
            owed[seen] += price * share / max(seen.sum(), 1)
            value[seen] += price * worth * share / max(seen.sum(), 1)
    return owed, value
