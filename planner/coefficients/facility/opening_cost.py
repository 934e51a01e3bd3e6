"""What opening a site and keeping it open costs."""

from __future__ import annotations

import pandas as pd

from planner.coefficients.electricity.bill_minimum import fixed_by_month
from planner.coefficients.money import currency_ratio
from planner.coefficients.payments import payment_rows
from planner.inputs import Scenario


def opening_costs(scenario: Scenario, opened: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return what being open costs: the one-off in the first open period, fixed cost and fixed charges in each.

    The one-off is carried as ``+cost`` in the period and ``-cost`` in the next, so that a site open from v on pays it
    once; a site that can no longer be open gets nothing back.
    """
    labels = ["site", "period"]
    sites = scenario.tables["sites"]
    ratio = currency_ratio(scenario.tables["fx"], sites["currency"], scenario.settings.currency)
    fixed = fixed_by_month(scenario).groupby(["tariff", "period"])["amount"].sum()
    money = sites[["site"]].assign(
        once=sites["opening_cost"].fillna(0.0) * ratio,
        yearly=sites["fixed_cost_per_year"].fillna(0.0) * ratio,
        tariff=sites["tariff"],
    )
    table = opened.merge(money, on="site", validate="many_to_one")
    following = dict(zip(periods.index[:-1], periods.index[1:], strict=True))
    table["next_period"] = table["period"].map(following)
    paid = pd.MultiIndex.from_frame(table[["tariff", "period"]])
    billed = pd.Series(fixed.reindex(paid).fillna(0.0).to_numpy(float), index=table.index)
    openable = pd.MultiIndex.from_frame(table[labels])
    later = table[pd.MultiIndex.from_frame(table[["site", "next_period"]]).isin(openable)]
    return pd.concat(
        [
            payment_rows(table, labels, "site_opening", "capex", "period", "start", table["once"]),
            payment_rows(later, labels, "site_opening", "capex", "next_period", "start", -later["once"]),
            payment_rows(
                table,
                labels,
                "site_fixed",
                "opex",
                "period",
                "mid",
                table["yearly"] * table["period"].map(periods["years"]),
            ),
            payment_rows(
                table,
                labels,
                "tariff_fixed",
                "opex",
                "period",
                "mid",
                billed,
            ),
        ],
        ignore_index=True,
    )
