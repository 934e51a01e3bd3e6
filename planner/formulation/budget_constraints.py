"""Budgets: what may be paid, undiscounted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from planner.coefficients import LABELS, Coefficients
from planner.coefficients.business import forecast_share
from planner.coefficients.payments import INCOME
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block
from planner.units import MONEY_PER_K


def budget(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """What is paid in a period (or over the horizon) stays inside the budget.

    sum_{families f, columns j, lines, t} a[budget,t] * cost[f,j,line,t] * x[f,j]
        <=  B[budget] - sum_{lines, t} a[budget,t] * cost0[line,t]
    for every budget; kind, site and cost line as the budget names them

    x     decision of a variable family (every family that is paid for)  columns of c.costs
    cost  currency paid in period t per unit of x, undiscounted; residual value is no payment   c.costs
    cost0  currency paid in period t whatever is decided: energy contracts on a profile     c.costs["constant"]
    a     fraction: 1, or the business line's part of the forecast of period t                c.demand
    B     currency                                                      c.budgets, limit

    Both sides are written in thousands, so that coefficients of servers and of kilowatts stay of one size.

    Dual: currency of present value per thousand of budget; what one thousand more of budget would save (<= 0).
    """
    rows = number_rows(c.budgets[["budget"]])
    if rows.empty:
        return row_block("budget", rows, "<=", 0.0, [])
    spend, settled = spending_terms(c, columns), settled_terms(c)
    parts, limits = [], []
    for row, limit in zip(rows["row"], c.budgets.itertuples(), strict=True):
        chosen = _counted(c, spend, limit)
        parts.append(
            pd.DataFrame({"row": row, "column": chosen["column"], "value": chosen["amount"] / MONEY_PER_K})
        )
        limits.append((limit.limit - _counted(c, settled, limit)["amount"].sum()) / MONEY_PER_K)
    return row_block("budget", rows, "<=", np.array(limits), parts)


def _counted(c: Coefficients, spend: pd.DataFrame, limit: Any) -> pd.DataFrame:
    """Return the payments that count towards a budget, with the part of each that does."""
    mask = pd.Series(True, index=spend.index)
    if limit.kind != "total":
        mask &= spend["kind"] == limit.kind
    for name, column in (("period", "paid_period"), ("site", "site"), ("line", "line")):
        wanted = getattr(limit, name, None)
        if isinstance(wanted, str):
            mask &= spend[column] == wanted
    chosen = spend[mask]
    business = getattr(limit, "business", None)
    if isinstance(business, str):
        chosen = chosen.assign(amount=chosen["amount"] * _share(c, business, chosen["paid_period"]))
    return chosen


def _share(c: Coefficients, business: str, period: pd.Series) -> pd.Series:
    share = forecast_share(c)
    own = share[share["business"] == business].set_index("period")["share_fraction"]
    return period.map(own).fillna(0.0).astype(float)


def spending_terms(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return column, line, kind, paid_period, site, amount of all that is really paid: no residual, no value."""
    parts = []
    for family, table in c.costs.items():
        # Nor does what a sold unit or a grant brings make room in a budget.
        if family in ("constant", "unserved") or table.empty:
            continue
        joined = table[~table["line"].isin(INCOME)].merge(
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


def settled_terms(c: Coefficients) -> pd.DataFrame:
    """Return line, kind, paid_period, site, amount of what is paid whatever is decided."""
    table = c.costs["constant"].reindex(columns=["line", "kind", "paid_period", "site", "timing", "amount"])
    return table[table["kind"].isin(("capex", "opex")) & table["timing"].ne("end")].reset_index(drop=True)
