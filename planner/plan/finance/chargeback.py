"""What each business line pays, in three views that add up to the same expense."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.business import forecast_share
from planner.inputs import Scenario
from planner.plan.finance.accounting import OPERATING

VIEWS = ("by use", "by allocation", "fully loaded")
IDLE = "idle capacity"
CHARGE = ["view", "business", "period", "amount"]


def chargeback_frame(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return view, business, period, amount: the operating expense of each period of the horizon, handed on.

    by use         what a business line's requests keep busy: standing cost by busy unit-hours of the product and
                   site, energy and carbon by the energy its load adds, what a workload alone causes (API tokens,
                   egress) by its business; idle capacity is a row that nobody pays
    by allocation  all of it, in the share of the forecast in effective tokens: what a line asked for, used or not
    fully loaded   by use, with idle capacity on top in proportion

    Loans and tax are left out; each view sums to the accounting ledger of the period.
    """
    business = scenario.tables["workloads"].set_index("workload")["business"]
    books = frames["accounting"]
    inside = frames["finance_periods"].set_index("period")["inside"]
    books = books[books["category"].isin(OPERATING) & books["period"].map(inside).astype(bool)]
    used = _by_use(books, frames, business)
    expense = books.groupby("period", sort=False)["amount"].sum()
    asked = forecast_share(c)
    allocated = asked.assign(
        amount=asked["share_fraction"] * asked["period"].map(expense).fillna(0.0).astype(float)
    )
    missing = expense[~expense.index.isin(asked["period"])]
    rest = pd.DataFrame({"business": IDLE, "period": missing.index, "amount": missing.to_numpy()})
    parts = {
        "by use": used,
        "by allocation": pd.concat([allocated, rest], ignore_index=True) if len(rest) else allocated,
        "fully loaded": _loaded(used),
    }
    stacked = pd.concat([part.assign(view=view) for view, part in parts.items()], ignore_index=True)
    summed = stacked.groupby(CHARGE[:-1], sort=False, as_index=False)["amount"].sum()
    return summed.astype(dict.fromkeys(CHARGE[:-1], "str"))


def _by_use(books: pd.DataFrame, frames: Mapping[str, pd.DataFrame], business: pd.Series) -> pd.DataFrame:
    serving = frames["serving"]
    busy = serving[["period", "site", "product"]].assign(
        business=serving["workload"].map(business),
        hours=serving["units_running"] * serving["hours"],
        kwh=serving["units_running"] * serving["hours"] * serving["added_kw"],
    )
    idle = books[books["use"] == "idle"]
    own = books["use"].ne("idle") & books["workload"].notna()
    parts = [
        idle[["period", "amount"]].assign(business=IDLE),
        books.loc[own, ["period", "amount"]].assign(business=books.loc[own, "workload"].map(business)),
    ]
    left = books[books["use"].ne("idle") & ~own].reset_index(drop=True)
    ladder = [
        (left["use"].eq("load"), ["period", "site"], "kwh"),
        (left["product"].notna(), ["period", "site", "product"], "hours"),
        (left["site"].notna(), ["period", "site"], "hours"),
        (pd.Series(True, index=left.index), ["period"], "hours"),
    ]
    for fits, key, driver in ladder:
        share = _shares(busy, key, driver)
        rows = left[fits.reindex(left.index, fill_value=False)]
        found = rows.reset_index().merge(share, on=key, how="inner")
        parts.append(found.assign(amount=found["amount"] * found["share"])[["period", "amount", "business"]])
        left = left.drop(index=found["index"].unique())
    parts.append(left[["period", "amount"]].assign(business=IDLE))
    return (
        pd.concat(parts, ignore_index=True)
        .groupby(["business", "period"], sort=False, as_index=False)["amount"]
        .sum()
    )


def _shares(busy: pd.DataFrame, key: list[str], driver: str) -> pd.DataFrame:
    table = busy.groupby([*key, "business"], sort=False, as_index=False)[driver].sum()
    whole = table.groupby(key)[driver].transform("sum")
    return table[whole > 0].assign(share=table[driver] / whole)[[*key, "business", "share"]]


def _loaded(used: pd.DataFrame) -> pd.DataFrame:
    idle = used[used["business"] == IDLE].groupby("period")["amount"].sum()
    own = used[used["business"] != IDLE]
    whole = own.groupby("period")["amount"].transform("sum")
    extra = own["period"].map(idle).fillna(0.0).astype(float)
    loaded = own.assign(
        amount=own["amount"] * (1.0 + np.divide(extra, whole, out=np.zeros(len(own)), where=whole != 0))
    )
    stranded = used[used["business"].eq(IDLE) & ~used["period"].isin(own["period"])]
    return pd.concat([loaded, stranded], ignore_index=True)


def budget_use_frame(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return budget, kind, line, business, period, site, limit, paid, left: what the plan pays under each limit.

    A business line pays its share of the period's forecast of every cost.
    """
    costs = frames["costs"]
    paid = costs[costs["kind"].isin(("capex", "opex")) & costs["timing"].ne("end")]
    share = forecast_share(c).set_index(["business", "period"])["share_fraction"]
    rows = []
    for limit in scenario.tables["budgets"].to_dict("records"):
        counts = pd.Series(limit["kind"] == "total", index=paid.index) | paid["kind"].eq(limit["kind"])
        for name in ("period", "site", "line"):
            if isinstance(limit[name], str):
                counts &= paid[name].eq(limit[name])
        amount = paid.loc[counts].groupby("period")["amount"].sum()
        if isinstance(limit["business"], str):
            amount = (
                amount
                * share.reindex([(limit["business"], period) for period in amount.index])
                .fillna(0.0)
                .to_numpy()
            )
        rows.append({**limit, "paid": float(amount.sum())})
    columns = ["budget", "kind", "line", "business", "period", "site", "limit", "paid"]
    table = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[:-2], "str"))
    table = table.astype({"limit": float, "paid": float})
    return table.assign(left=table["limit"] - table["paid"])
