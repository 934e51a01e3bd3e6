"""Who pays: the cost of the objective by workload, the expense by business line, and both over their output."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.ledger_checks import OPERATING
from planner.plan.audit.money.shares import (
    EVERYTHING,
    LINE,
    NOBODY,
    REQUESTS,
    TOKENS,
    UNIT,
    Rule,
    basis_of,
    handed_on,
    own_basis,
    parts,
)
from planner.tables.cost_lines import COST_LINE

SITE, PERIOD = ["period", "site"], ["period"]
MADE = {TOKENS: "effective_mtok", REQUESTS: "effective_mrequests"}
PER = {TOKENS: "Mtok", REQUESTS: "million requests", NOBODY: ""}
SPREAD = ["line", "kind", "period", "site", *LINE]
SMALL = 1e-9


def cost_by_workload(books: Accounts) -> pd.DataFrame:
    """Return SPREAD, amount, discounted: each row of the objective by whom it is for.

    A workload's own cost is its own; what follows load goes by the energy the load adds; other cost by what is held for
    each line at its busiest minute: of the product and site, else the site, else all, in the period of what runs, over
    the horizon of what is bought or valued at its end.
    """
    costs = books["costs"]
    rows = costs[costs["in_objective"].astype(bool) & costs["kind"].ne("value")]
    made = books["fleet"].drop_duplicates("offer").set_index("offer")["product"]
    rows = rows.assign(product=rows["offer"].map(made))
    own = rows["workload"].notna()
    mine = rows[own].assign(basis=own_basis(books, rows.loc[own, "workload"]), part=1.0)
    others = rows[~own].reset_index(drop=True)
    stays = others["kind"].eq("capex") | others["timing"].eq("end")
    load = others["line"].isin([name for name, line in COST_LINE.items() if line.follows_load])
    placed, unit = others["site"].notna(), others["product"].notna()
    every, part = pd.Series(True, index=others.index), parts(books)
    rules: list[Rule] = [
        ((load & placed).to_numpy(), SITE, part["kwh", "period site"]),
        ((load & placed).to_numpy(), SITE, part["hours", "period site"]),
        ((unit & ~stays).to_numpy(), UNIT, part["held", "period site product"]),
        ((unit & placed).to_numpy(), ["site", "product"], part["held", "site product"]),
        ((placed & ~stays).to_numpy(), SITE, part["held", "period site"]),
        (placed.to_numpy(), ["site"], part["held", "site"]),
        ((~stays).to_numpy(), PERIOD, part["held", "period"]),
        (every.to_numpy(), [EVERYTHING], part["held", EVERYTHING]),
    ]
    paid = mine.groupby(LINE, sort=False)["discounted"].sum()
    if paid.sum() > 0.0:
        rules.append(
            (
                every.to_numpy(),
                [EVERYTHING],
                (paid / paid.sum()).rename("part").reset_index().assign(**{EVERYTHING: 0}),
            )
        )
    both = _stacked([mine, handed_on(others, rules)])
    silent = REQUESTS if books.tokens["opaque"].all() else TOKENS
    both["basis"] = both["basis"].where(both["basis"].ne(NOBODY), silent)
    for name in ("amount", "discounted"):
        both[name] = both[name].astype(float) * both["part"].astype(float)
    return both.groupby(SPREAD, dropna=False, sort=False, as_index=False)[["amount", "discounted"]].sum()


def chargeback(books: Accounts) -> pd.DataFrame:
    """Return view, business, basis, period, amount: the operating expense of the horizon by who pays for it.

    By use: by what requests keep busy, the idle part nobody's. By allocation: by what is held at the busiest minute,
    over all that is held. Fully loaded: the same, over what is held for anybody.
    """
    inside = books["finance_periods"].set_index("period")["inside"]
    spent = books["accounting"]
    spent = spent[spent["category"].isin(OPERATING) & spent["period"].map(inside).astype(bool)]
    own = spent["workload"].notna() & spent["use"].ne("idle")
    mine = spent[own].assign(basis=own_basis(books, spent.loc[own, "workload"]), part=1.0)
    others = spent[~own].reset_index(drop=True)
    idle = others["use"].eq("idle")
    used = others[~idle].reset_index(drop=True)
    found = {
        "by use": [
            handed_on(used, [*_load(books, used), *_placed(books, used, "hours")]),
            others[idle].assign(workload=NOBODY, basis=NOBODY, part=1.0),
        ],
        "by allocation": [handed_on(others, [*_load(books, others), *_allocated(books, others)])],
        "fully loaded": [handed_on(others, [*_load(books, others), *_placed(books, others, "held")])],
    }
    rows = _stacked([part.assign(view=view) for view, frames in found.items() for part in (mine, *frames)])
    business = books.facts.table("workloads", "workload")["business"]
    rows["business"] = rows["workload"].map(business).fillna(NOBODY)
    rows["amount"] = rows["amount"].astype(float) * rows["part"].astype(float)
    key = ["view", "business", "basis", "period"]
    summed = rows.groupby(key, sort=False, as_index=False)["amount"].sum()
    return summed[summed["amount"].abs() > SMALL].reset_index(drop=True)


def _stacked(frames: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([frame for frame in frames if len(frame)] or frames[:1], ignore_index=True)


def _load(books: Accounts, rows: pd.DataFrame) -> list[Rule]:
    load, part = rows["use"].eq("load").to_numpy(), parts(books)
    return [
        (load, SITE, part["kwh", "period site"]),
        (load, SITE, part["hours", "period site"]),
        (load, PERIOD, part["hours", "period"]),
    ]


def _placed(books: Accounts, rows: pd.DataFrame, driver: str) -> list[Rule]:
    part = parts(books)
    return [
        (rows["product"].notna().to_numpy(), UNIT, part[driver, "period site product"]),
        (rows["site"].notna().to_numpy(), SITE, part[driver, "period site"]),
        (np.ones(len(rows), dtype=bool), PERIOD, part[driver, "period"]),
    ]


def _allocated(books: Accounts, rows: pd.DataFrame) -> list[Rule]:
    unit, placed, part = rows["product"].notna(), rows["site"].notna(), parts(books)
    return [
        (unit.to_numpy(), UNIT, part["all", "period site product"]),
        ((~unit & placed).to_numpy(), SITE, part["all", "period site"]),
        (rows["use"].eq("whole").to_numpy(), PERIOD, part["all", "period"]),
    ]


def chargeback_rates(books: Accounts) -> pd.DataFrame:
    """Return view, business, basis, amount, output, unit_cost, unit: what a business line pays in the horizon, over
    what it makes.
    """
    charged, made, money = books["chargeback"], books["tokens"], books.facts.scenario.settings.currency
    rows = charged.groupby(["view", "business", "basis"], sort=False, as_index=False)["amount"].sum()
    business = made["workload"].map(books.facts.table("workloads", "workload")["business"])
    sums = {basis: made[name].groupby(business).sum() for basis, name in MADE.items()}
    output = [
        float(sums[basis].get(name, np.nan)) if basis in sums else np.nan
        for name, basis in zip(rows["business"], rows["basis"], strict=True)
    ]
    rows = rows.assign(output=np.array(output, dtype=float))
    rows["unit_cost"] = rows["amount"].astype(float) / rows["output"].where(rows["output"] > 0.0)
    return rows.assign(unit=[f"{money}/{PER[basis]}" if PER[basis] else "" for basis in rows["basis"]])


def unit_costs(books: Accounts) -> pd.DataFrame:
    """Return scope, name, basis, cost, output, unit_cost, unit: present value of cost over that of output.

    Of all, of each business line, workload, model and site; what no site makes has no output at a site.
    """
    spread, made, about = books["cost_by_workload"], books["tokens"], books.facts.workloads
    money, places = books.facts.scenario.settings.currency, books["serving"]
    cost = _scopes(spread["workload"], about).assign(site=spread["site"].fillna("no site"))
    output = _scopes(made["workload"], about)
    basis = basis_of(books, places)
    at_site = pd.DataFrame(
        {
            "name": places["site"],
            "basis": basis,
            "output": np.where(basis == TOKENS, places["effective_mtok"], places["effective_mrequests"])
            * books.period_of(places, "discount_mid").astype(float),
        }
    )
    found = []
    for scope in ("all", "business", "workload", "model", "site"):
        paid = spread["discounted"].groupby([cost[scope].rename("name"), spread["basis"]]).sum()
        rows = (
            at_site
            if scope == "site"
            else pd.concat(
                [
                    pd.DataFrame(
                        {"name": output[scope], "basis": way, "output": made[f"{column}_discounted"]}
                    )
                    for way, column in MADE.items()
                ],
                ignore_index=True,
            )
        )
        both = pd.concat(
            [paid.rename("cost"), rows.groupby(["name", "basis"])["output"].sum()], axis=1
        ).fillna(0.0)
        both = both[(both["cost"].abs() > SMALL) | (both["output"] > 0.0)].reset_index()
        found.append(both.assign(scope=scope))
    table = pd.concat(found, ignore_index=True)
    table["unit_cost"] = table["cost"] / table["output"].where(table["output"] > 0.0)
    return table.assign(unit=[f"{money}/{PER[basis]}" for basis in table["basis"]])


def _scopes(workload: pd.Series, about: pd.DataFrame) -> pd.DataFrame:
    model = workload.map(about["model"]).fillna("no model stated")
    return pd.DataFrame(
        {
            "all": "all",
            "business": workload.map(about["business"]).fillna(NOBODY),
            "workload": workload,
            "model": model.where(workload.isin(about.index), NOBODY),
        },
        index=workload.index,
    )


CHARGE_FRAMES = {
    "cost_by_workload": (SPREAD, cost_by_workload),
    "chargeback": (["view", "business", "basis", "period"], chargeback),
    "chargeback_rates": (["view", "business", "basis"], chargeback_rates),
    "unit_costs": (["scope", "name", "basis"], unit_costs),
}
