"""What a vendor gives of several offers together: units, chips or kW in each period."""

from __future__ import annotations

import pandas as pd

from planner.inputs import Scenario

VENDOR_CAPACITY = ["limit", "period", "amount", "offer", "weight"]
WEIGHTS = {"units": None, "chips": "chips_per_unit", "kw": "nameplate_kw"}
"""Measure of a limit, and the column of products that one unit counts for in it."""


def vendor_capacity(scenario: Scenario, periods: pd.DataFrame) -> pd.DataFrame:
    """Return VENDOR_CAPACITY: every limit of ``vendor_capacity`` by period and by offer that counts towards it.

    An offer counts where its vendor is named, its key is, or both where both are stated. A row with a period holds in
    that one, a row without in every period by itself.
    """
    limits = scenario.tables["vendor_capacity"]
    if limits.empty:
        return pd.DataFrame(columns=VENDOR_CAPACITY)
    products = scenario.tables["products"].set_index("product")
    offers = scenario.tables["offers"][["offer", "vendor", "product"]]
    pairs = limits.rename(columns={"vendor": "of_vendor"}).merge(offers, how="cross")
    named = [
        not names or offer in names for names, offer in zip(pairs["offers"], pairs["offer"], strict=True)
    ]
    counts = (pairs["of_vendor"].isna() | pairs["of_vendor"].eq(pairs["vendor"])) & pd.Series(
        named, pairs.index
    )
    pairs = pairs[counts].merge(pd.DataFrame({"in_period": periods.index}), how="cross")
    pairs = pairs[pairs["period"].isna() | pairs["period"].eq(pairs["in_period"])]
    weight = pd.Series(1.0, index=pairs.index)
    for measure, column in WEIGHTS.items():
        if column is not None:
            each = pairs["product"].map(products[column]).astype(float)
            weight = weight.mask(pairs["measure"].eq(measure), each)
    table = pairs.assign(period=pairs["in_period"], weight=weight)
    return table[VENDOR_CAPACITY].reset_index(drop=True)
