"""Levies that hold in some months or between dates: what they add to a price in each month."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from planner.coefficients.electricity.bill import months_held
from planner.coefficients.electricity.charges import LEVIED
from planner.coefficients.electricity.metered import Metered

Levy = Mapping[Hashable, Any]


def levies_on(rows: pd.DataFrame, tariffs: pd.DataFrame) -> pd.Series:
    """Return the levies on each row, as tuples of their own rows, on the index of ``rows``.

    A levy without ``applies_to`` falls on all energy, demand and fixed charges of its tariff.

    Parameters
    ----------
    rows
        Rows of the tariffs table whose price is levied.
    tariffs
        The whole table, with its levy rows.
    """
    levies = tariffs[tariffs["charge"] == "levy"].to_dict("records")
    found = [
        tuple(
            levy
            for levy in levies
            if levy["tariff"] == row["tariff"]
            and (row["component"] in levy["applies_to"] if levy["applies_to"] else row["charge"] in LEVIED)
        )
        for row in rows[["tariff", "component", "charge"]].to_dict("records")
    ]
    return pd.Series(found, index=rows.index, dtype=object)


def always(levy: Levy) -> bool:
    """Return whether a levy holds in every month, without dates."""
    return all(pd.isna(levy[name]) for name in ("months", "start_date", "end_date"))


def levied_by_month(levies: tuple[Levy, ...], meter: Metered) -> np.ndarray:
    """Return 1 + the levies of a charge in each billing month: ndarray (months,).

    factor[m] = 1 + sum over levies v of price_v * share of the days of m between v's dates * (m one of v's months)
    """
    factor = np.ones(len(meter.months))
    for levy in levies:
        factor += levy["price"] * months_held(levy, meter)
    return factor
