"""Budgets: what may be paid, undiscounted."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import LABELS, Coefficients
from planner.coefficients.business import forecast_share
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block
from planner.units import MONEY_PER_K


def budget(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """What is paid in a period (or over the horizon) stays inside the budget.

    sum_{families f, columns j, lines, t} a[budget,t] * cost[f,j,line,t] * x[f,j]  <=  B[budget]
    for every budget; kind, site and cost line as the budget names them

    x     decision of a variable family (every family that is paid for)  columns of c.costs
    cost  currency paid in period t per unit of x, undiscounted; residual value is no payment   c.costs
    a     fraction: 1, or the business line's part of the forecast of period t                c.demand
    B     currency                                                      c.budgets, limit

    Both sides are written in thousands, so that coefficients of servers and of kilowatts stay of one size.

    Dual: currency of present value per thousand of budget; what one thousand more of budget would save (<= 0).
    """
    rows = number_rows(c.budgets[["budget"]])
    if rows.empty:
        return row_block("budget", rows, "<=", 0.0, [])
    spend = spending_terms(c, columns)
    parts = []
    for row, limit in zip(rows["row"], c.budgets.itertuples(), strict=True):
        mask = pd.Series(True, index=spend.index)
        if limit.kind != "total":
            mask &= spend["kind"] == limit.kind
        if isinstance(limit.period, str):
            mask &= spend["paid_period"] == limit.period
        if isinstance(limit.site, str):
            mask &= spend["site"] == limit.site
        if isinstance(getattr(limit, "line", None), str):
            mask &= spend["line"] == limit.line
        chosen = spend[mask]
        value = chosen["amount"] / MONEY_PER_K
        business = getattr(limit, "business", None)
        if isinstance(business, str):
            value = value * _share(c, business, chosen["paid_period"])
        parts.append(pd.DataFrame({"row": row, "column": chosen["column"], "value": value}))
    return row_block("budget", rows, "<=", c.budgets["limit"].to_numpy() / MONEY_PER_K, parts)


def _share(c: Coefficients, business: str, period: pd.Series) -> pd.Series:
    share = forecast_share(c)
    own = share[share["business"] == business].set_index("period")["share_fraction"]
    return period.map(own).fillna(0.0).astype(float)


def spending_terms(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return column, line, kind, paid_period, site, amount of all that is really paid: no residual, no value."""
    parts = []
    for family, table in c.costs.items():
        # Nor does what a sold unit brings make room in a budget.
        if family in ("constant", "unserved") or table.empty:
            continue
        joined = table[table["line"] != "resale"].merge(
            columns.frame(family), on=LABELS[family], validate="many_to_one"
        )
        # What a token service is paid belongs to no site.
        parts.append(
            joined.reindex(columns=["column", "line", "kind", "paid_period", "site", "timing", "amount"])
        )
    stacked = (
        pd.concat(parts, ignore_index=True)
        if parts
        else pd.DataFrame(columns=["column", "line", "kind", "paid_period", "site", "timing", "amount"])
    )
    return stacked[stacked["timing"] != "end"].reset_index(drop=True)
