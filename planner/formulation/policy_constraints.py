"""Policies on purchases: shares of vendors and countries, and the pace of commissioning."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms

ORDER = ["offer", "site", "cooling", "period"]


def concentration(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """One vendor, country, chip or product has at most its share of what is ordered.

    sum_{orders of g} (m * order[o,s,e,t] + m' * tier_units[o,s,e,t,k])
        <=  f[l] * sum_{orders under l} (m * order[o,s,e,t] + m' * tier_units[o,s,e,t,k])
    for every concentration limit l, vendor (country, chip, product) g under it

    order       units ordered in the periods under the limit           column order
    tier_units  units at the price of a tier                           column tier_units
    f           largest share, fraction                                c.concentration, max_fraction
    m, m'       units, chips, kW or thousands of currency of one unit; what a tier takes off (c.concentration)

    Dual: currency per unit of the measure; what one unit more of it from g would save (<= 0).
    """
    shares = c.concentration
    rows = number_rows(shares[["limit", "group"]].drop_duplicates())
    parts = [
        *_shares(rows, shares, columns.frame("order"), ORDER),
        *_shares(rows, c.concentration_tiers, columns.frame("tier_units"), [*ORDER, "tier"]),
    ]
    return row_block("concentration", rows, "<=", 0.0, parts)


def _shares(
    rows: pd.DataFrame, shares: pd.DataFrame, columns: pd.DataFrame, key: list[str]
) -> list[pd.DataFrame]:
    """Return the terms of a group's own orders, and of its share of all orders under the limit."""
    if shares.empty:
        return []
    bought = shares.merge(columns[[*key, "column"]], on=key)
    everything = bought.drop(columns="group").assign(part=-bought["weight"] * bought["max_fraction"])
    return [
        terms(rows, bought[["limit", "group", "column", "weight"]], ["limit", "group"], "weight"),
        terms(rows, everything[["limit", "column", "part"]], ["limit"], "part"),
    ]


def commissioning_pace(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A site installs and tests so many units per period.

    sum_{o,e,t'} order[o,s,e,t']  <=  N[s]
    for every site s with a stated pace, period t in which orders of t' enter service there

    order  units ordered, hardware only                                column order
    N      units that can be put in service in a period                c.commissioning_pace, most_units

    Dual: currency per unit; what one unit more a period would save (<= 0).
    """
    key = ["site", "in_service_period"]
    rows = number_rows(c.commissioning_pace[[*key, "most_units"]].drop_duplicates(key))
    arriving = c.commissioning_pace[[*ORDER, "in_service_period"]].merge(columns.frame("order"), on=ORDER)
    parts = [terms(rows[[*key, "row"]], arriving, key, 1.0)]
    limit = rows["most_units"].to_numpy(float)
    labels = rows.drop(columns="most_units").rename(columns={"in_service_period": "period"})
    return row_block("commissioning_pace", labels, "<=", limit, parts)
