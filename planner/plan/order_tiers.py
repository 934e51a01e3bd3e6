"""Quantity discounts of a plan: which units have the price of which tier, and what an order pays on average."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.blocks import ColumnIndex

KEY = ["offer", "site", "cooling", "period"]
ORDER_TIERS = [*KEY, "tier", "from_units", "basis", "counts", "discount_fraction", "units"]


def order_tiers(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return ORDER_TIERS: the units of each order that have the price of a tier."""
    bought = columns.frame("tier_units")
    units = np.maximum(values[bought["column"].to_numpy(int)], 0.0)
    table = bought.assign(units=units)[units > 1e-9].merge(c.tiers, on=["offer", "period", "tier"])
    kinds = {"from_units": int, "discount_fraction": float, "units": float}
    return table[ORDER_TIERS].astype({name: kinds.get(name, "str") for name in ORDER_TIERS})


def mean_discount(orders: pd.DataFrame, tiers: pd.DataFrame) -> pd.Series:
    """Return the mean discount of the units of each order, 0 where no tier is reached; on the index of orders."""
    if tiers.empty:
        return pd.Series(0.0, index=orders.index)
    saved = (tiers["units"] * tiers["discount_fraction"]).groupby([tiers[name] for name in KEY]).sum()
    label = pd.MultiIndex.from_frame(orders[KEY])
    return pd.Series(
        saved.reindex(label).fillna(0.0).to_numpy(float) / orders["units"].to_numpy(float), orders.index
    )
