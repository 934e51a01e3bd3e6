"""Frames that finance reads beside the ledgers: use of units, unit cost over time, lives, budgets, who pays."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.cost_checks import budget_payments
from planner.plan.audit.money.ledger_checks import OPERATING, SUNK
from planner.plan.audit.once import once
from planner.plan.audit.report import Check, alike, total

UNIT = ["period", "site", "product"]
NOT_RUNNING = ("loan drawn", "loan repaid", "loan interest", "tax saved")


@once
def unit_use(books: Accounts) -> pd.DataFrame:
    """Return period, site, product, unit_hours, busy_hours, used_fraction of the units held, sites and periods.

    A site is as busy as its hours are, weighted by the power its units are provisioned with; where nothing in the
    period has power of its own, by unit-hours.
    """
    fleet, hourly = books.fleet, books.hourly
    whole = fleet[~fleet["hourly"]]
    held = pd.concat(
        [
            frame[[*UNIT, "provisioned_kw"]].assign(unit_hours=frame["units"] * hours)
            for frame, hours in ((whole, books.period_of(whole, "hours")), (hourly, books.hours_of(hourly)))
        ],
        ignore_index=True,
    )
    stated = books["fleet"].drop_duplicates("offer").set_index("offer")["provisioned_kw"]
    power = (
        pd.concat([whole["offer"], hourly["offer"]], ignore_index=True).map(stated).astype(float).fillna(0.0)
    )
    held = held.assign(kw_hours=held["unit_hours"] * power)
    rows = held.groupby(UNIT, sort=False)[["unit_hours", "kw_hours"]].sum().reset_index()
    run = books["serving"]
    busy = total(run["units_running"] * books.hours_of(run), run, UNIT)
    rows["busy_hours"] = busy.reindex(pd.MultiIndex.from_frame(rows[UNIT])).fillna(0.0).to_numpy(float)
    rows["used_fraction"] = np.minimum(rows["busy_hours"] / rows["unit_hours"], 1.0)
    parts = [rows]
    for by in (["period", "site"], ["period"]):
        for key, group in rows.groupby(by, sort=False):
            powered = rows.loc[rows["period"] == key[0], "kw_hours"].sum() > 0.0
            weight = group["kw_hours"] if powered and group["kw_hours"].sum() > 0.0 else group["unit_hours"]
            parts.append(
                pd.DataFrame(
                    [
                        {
                            **dict(zip(by, key, strict=True)),
                            "unit_hours": group["unit_hours"].sum(),
                            "busy_hours": group["busy_hours"].sum(),
                            "used_fraction": (weight * group["used_fraction"]).sum() / weight.sum(),
                        }
                    ]
                )
            )
    return pd.concat(parts, ignore_index=True)[[*UNIT, "unit_hours", "busy_hours", "used_fraction"]]


def used_units(books: Accounts) -> Check:
    """Return the check of unit-hours held, busy hours and the share of them, by product, site and period."""
    return alike("used_units", "accounting", books["used_units"], unit_use(books), UNIT)


def _inside(books: Accounts, frame: pd.DataFrame) -> pd.Series:
    periods = set(books.facts.periods.index)
    return frame["period"].isin(periods)


def unit_cost_trend(books: Accounts) -> Check:
    """Return the check of tokens, expense, idle expense and payments of each period, and each per million tokens."""
    ledger, tokens = books["accounting"], books["tokens"]
    cash = books["cash"]
    spent = ledger[ledger["category"].isin(OPERATING)]
    paid = cash[~cash["category"].isin(NOT_RUNNING)]
    own = pd.DataFrame({"period": books.facts.periods.index})
    for name, values, frame in (
        ("effective_mtok", tokens["effective_mtok"], tokens),
        ("effective_mrequests", tokens["effective_mrequests"], tokens),
        ("expense", spent["amount"], spent),
        ("idle_expense", spent["amount"].where(spent["use"] == "idle", 0.0), spent),
        ("paid", paid["amount"], paid),
    ):
        own[name] = total(values, frame, ["period"]).reindex(own["period"]).fillna(0.0).to_numpy(float)
    part = _part_of_tokens(books, "period").reindex(own["period"]).to_numpy(float)
    for name in ("expense", "idle_expense", "paid"):
        mine = own[name] * part
        own[f"{name}_per_mtok"] = mine / own["effective_mtok"].where(own["effective_mtok"] > 0.0)
        # Where no token is made, all of the money is for the requests.
        rest = own[name] * np.where(own["effective_mtok"] > 0.0, 1.0 - part, 1.0)
        made = own["effective_mrequests"].where(own["effective_mrequests"] > 0.0)
        own[f"{name}_per_million_requests"] = rest / made
    return alike("unit_cost_trend", "accounting", books["unit_cost_trend"], own, ["period"])


def _part_of_tokens(books: Accounts, label: str = "") -> pd.Series:
    """Return the part of the expense that is for tokens, fully loaded: all of it but where requests without stated
    lengths are served too.
    """
    made, charged = books["tokens"], books["chargeback"]
    periods = books.facts.periods.index if label else pd.Index(["horizon"])
    if "basis" not in charged:
        return pd.Series(1.0, index=periods)
    loaded = charged[charged["view"].eq("fully loaded")]
    place = loaded["period"] if label else pd.Series("horizon", index=loaded.index)
    sums = {
        basis: loaded["amount"].where(loaded["basis"].eq(basis), 0.0).groupby(place).sum().reindex(periods)
        for basis in ("tokens", "requests")
    }
    output = {
        name: made[name].groupby(made["period"] if label else pd.Series("horizon", index=made.index)).sum()
        for name in ("effective_mtok", "effective_mrequests")
    }
    both = (output["effective_mtok"] > 0.0) & (output["effective_mrequests"] > 0.0)
    part = sums["tokens"] / (sums["tokens"] + sums["requests"])
    return part.where(both.reindex(periods, fill_value=False), 1.0)


LIVES = (3.0, 4.0, 5.0, 6.0)
"""Years of life whose expense is shown beside each other."""


def depreciation_lives(books: Accounts) -> Check:
    """Return the check of what hardware costs a year, an hour, a million tokens and a million requests if written off
    over other lives: those that the frame promises, also where nothing is bought.
    """
    stated, assets, ledger = books["depreciation_lives"], books["assets"], books["accounting"]
    periods = books.facts.periods
    end = float(periods["start_years"].iloc[-1] + periods["years"].iloc[-1])
    bought = assets[assets["product"].notna() & assets["line"].ne(SUNK) & (assets["cost"] > 0.0)]
    cost = bought["cost"] * (1.0 - bought["book_residual_fraction"])
    spent = ledger[ledger["category"].isin(OPERATING) & _inside(books, ledger)]
    own_lines = spent["line"].isin(set(bought["line"])) & spent["category"].eq("depreciation")
    other = float(spent.loc[~own_lines, "amount"].sum())
    units = unit_use(books)
    busy = float(units.loc[units["product"].isin(set(bought["product"])), "busy_hours"].sum()) / end
    mtok, mrequests = (float(books["tokens"][f"effective_{name}"].sum()) for name in ("mtok", "mrequests"))
    part = float(_part_of_tokens(books).iloc[0])
    rest = 1.0 - part if mtok > 0.0 and mrequests > 0.0 else 1.0
    rows = []
    for life in LIVES:
        served = np.minimum(np.maximum(end - bought["in_service_years"], 0.0), life)
        yearly, written = float(cost.sum()) / life, float((cost * served / life).sum())
        rows.append(
            (
                life,
                yearly,
                yearly / busy if busy else np.nan,
                (other + written) * part / mtok if mtok else np.nan,
                (other + written) * rest / mrequests if mrequests else np.nan,
            )
        )
    names = ["life_years", "depreciation_per_year", "per_busy_unit_hour", "expense_per_mtok"]
    names.append("expense_per_million_requests")
    return alike(
        "depreciation_lives", "accounting", stated, pd.DataFrame(rows, columns=names), ["life_years"]
    )


def budget_use(books: Accounts) -> Check:
    """Return the check of what is paid under each budget, and what is left of it."""
    rows = budget_payments(books)
    names = ["budget", "kind", "line", "business", "period", "site", "limit", "paid"]
    own = rows[names].assign(left=rows["limit"].astype(float) - rows["paid"])
    return alike("budget_use", "budget", books["budget_use"], own, ["budget"])


CHECKS = (used_units, unit_cost_trend, depreciation_lives, budget_use)
