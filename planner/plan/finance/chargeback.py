"""What each business line pays, in three views that add up to the same expense."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.business import forecast_share
from planner.inputs import Scenario
from planner.plan.attribution import IDLE, REQUESTS, UNIT, Drivers, Rung, own_basis, spread
from planner.plan.finance.accounting import OPERATING
from planner.tables.cost_lines import BUDGET_LINES

BY_USE, BY_ALLOCATION, FULLY_LOADED = "by use", "by allocation", "fully loaded"
VIEWS = {
    BY_USE: "what its requests keep busy: busy unit-hours of each product and site over all hours held, energy by "
    "what its load draws; the rest is idle capacity, which nobody pays",
    BY_ALLOCATION: "what is held for it at its busiest minute (busy units x minute peak / load its pool may carry), "
    "used or not, over all units held; what is held for nobody is idle capacity, which nobody pays",
    FULLY_LOADED: "as by allocation, each pool's idle capacity on top in proportion: everything is paid for",
}
"""View -> its definition. Tokens from services, egress and other cost of one workload is its own in each."""
RECOMMENDED = FULLY_LOADED
"""View to charge by: it recovers all of the expense, and a line pays for the peaks that units are held for."""
CHARGE = ["view", "business", "basis", "period", "amount"]
RATE = ["view", "business", "basis", "amount", "output", "unit_cost", "unit"]


def chargeback_frame(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return view, business, basis, period, amount: the operating expense of each period of the horizon, handed on.

    The views are those of ``VIEWS``; ``basis`` is how the output paid for is counted, tokens or requests. Loans and tax
    are left out; each view sums to the accounting ledger of the period.
    """
    business = scenario.tables["workloads"].set_index("workload")["business"]
    books = frames["accounting"]
    inside = frames["finance_periods"].set_index("period")["inside"]
    books = books[books["category"].isin(OPERATING) & books["period"].map(inside).astype(bool)]
    drivers = Drivers.of(c, frames)
    own = books["workload"].notna() & books["use"].ne("idle")
    mine = books[own].assign(basis=own_basis(c, books.loc[own, "workload"]), share=1.0)
    others = books[~own].reset_index(drop=True)
    idle = others["use"].eq("idle")
    parts = {
        BY_USE: [
            spread(others[~idle], _by_use(others[~idle].reset_index(drop=True), drivers)),
            _nobody(others[idle]),
        ],
        BY_ALLOCATION: [spread(others, _by_allocation(others, drivers))],
        FULLY_LOADED: [spread(others, _fully_loaded(others, drivers))],
    }
    stacked = pd.concat(
        [part.assign(view=view) for view, found in parts.items() for part in (mine, *found)],
        ignore_index=True,
    )
    stacked["amount"] = stacked["amount"].astype(float) * stacked["share"].astype(float)
    stacked["business"] = stacked["workload"].map(business).astype("str").fillna(IDLE)
    summed = stacked.groupby(CHARGE[:-1], sort=False, as_index=False)["amount"].sum()
    summed = summed[summed["amount"].abs() > 1e-9].reset_index(drop=True)
    return summed.astype(dict.fromkeys(CHARGE[:-1], "str"))


def _nobody(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(workload=IDLE, basis=IDLE, share=1.0)


def _load_rungs(rows: pd.DataFrame, drivers: Drivers) -> list[Rung]:
    """Return how cost that follows load goes in every view: by the energy that load adds, else by busy hours."""
    load, site, period = rows["use"].eq("load"), ["period", "site"], ["period"]
    return [
        (load, site, drivers.used(site, "kwh")),
        (load, site, drivers.used(site)),
        (load, period, drivers.used(period)),
    ]


def _by_use(rows: pd.DataFrame, drivers: Drivers) -> list[Rung]:
    """Return how what is used goes to those who use it; the idle part is a row of its own beforehand."""
    made, placed, always = rows["product"].notna(), rows["site"].notna(), pd.Series(True, index=rows.index)
    return [
        *_load_rungs(rows, drivers),
        (made, UNIT, drivers.used(UNIT)),
        (placed, ["period", "site"], drivers.used(["period", "site"])),
        (always, ["period"], drivers.used(["period"])),
    ]


def _by_allocation(rows: pd.DataFrame, drivers: Drivers) -> list[Rung]:
    """Return how standing cost goes to those for whom it stands; what is held for nobody stays idle."""
    made, placed = rows["product"].notna(), rows["site"].notna()
    return [
        *_load_rungs(rows, drivers),
        (made, UNIT, drivers.allocated(UNIT)),
        (~made & placed, ["period", "site"], drivers.allocated(["period", "site"])),
        (rows["use"].eq("whole"), ["period"], drivers.allocated(["period"])),
    ]


def _fully_loaded(rows: pd.DataFrame, drivers: Drivers) -> list[Rung]:
    """Return how all of it goes to somebody, units that stand for nobody included, by what lines hold beside them."""
    made, placed, always = rows["product"].notna(), rows["site"].notna(), pd.Series(True, index=rows.index)
    return [
        *_load_rungs(rows, drivers),
        (made, UNIT, drivers.loaded(UNIT)),
        (placed, ["period", "site"], drivers.loaded(["period", "site"])),
        (always, ["period"], drivers.loaded(["period"])),
    ]


def chargeback_rates(
    scenario: Scenario, charged: pd.DataFrame, tokens: pd.DataFrame, currency: str
) -> pd.DataFrame:
    """Return RATE: what each business line pays in the horizon, its output, and the one over the other.

    Output is effective tokens in millions, or effective requests in millions where lengths are not stated.
    """
    sums = charged.groupby(["view", "business", "basis"], sort=False, as_index=False)["amount"].sum()
    business = scenario.tables["workloads"].set_index("workload")["business"]
    made = tokens.assign(business=tokens["workload"].map(business).astype("str"))
    made = made.groupby("business")[["effective_mtok", "effective_mrequests"]].sum()
    own = made.reindex(sums["business"])
    requests = sums["basis"].eq(REQUESTS).to_numpy()
    output = np.where(requests, own["effective_mrequests"], own["effective_mtok"])
    output = np.where(sums["basis"].eq(IDLE), np.nan, output)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.where(output > 0, sums["amount"] / output, np.nan)
    unit = np.where(requests, f"{currency}/million requests", f"{currency}/Mtok")
    unit = np.where(sums["basis"].eq(IDLE), "", unit)
    table = sums.assign(output=output, unit_cost=rate, unit=unit)
    return table[RATE].astype({"output": float, "unit_cost": float, "unit": "str"})


def budget_use_frame(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return budget, kind, line, business, period, site, limit, paid, left: what the plan pays under each limit.

    A business line pays its share of the period's forecast of every cost. What comes in (resale, grants) is no payment
    and makes no room (``BUDGET_LINES``).
    """
    costs = frames["costs"]
    paid = costs[costs["line"].isin(BUDGET_LINES) & costs["timing"].ne("end")]
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
