"""The register of assets made once more: what was paid for which decision, and how its class is written off."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.clock import ROUNDING, yearly_rate
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.asset_terms import SUNK
from planner.plan.audit.money.commitment_costs import level_value, termed_orders
from planner.plan.audit.money.instalments import months_later
from planner.plan.audit.orders.standing import STAND
from planner.plan.audit.report import Check, beside, compare, total
from planner.tables.cost_lines import COST_LINE

DECISION = ["line", "site", "offer", "cooling", "decided_period"]
PAID = ["line", "period", "site", "offer", "cooling", "decided_period"]
OPENING = "site_opening"
MODULE_LINE = "site_module"


def decided_when(books: Accounts) -> Check:
    """Return the check that every amount of the ledger belongs to the decision that causes it.

    What a decision pays, by line, period of payment, place and period of the decision. A row without a decision is of
    its own period. What opening a site costs is paid in the period in which it is open, and taken off again for what
    was open in the period before.
    """
    costs, own = books["costs"], books.ledger
    if "decided_period" not in costs or "cooling" not in costs:
        return compare("decided_when", "costs", costs.iloc[:0], "==")
    stated = costs.assign(
        decided_period=costs["decided_period"].where(costs["decided_period"].notna(), costs["period"])
    )
    opened = stated["line"].eq(OPENING)
    rows = beside(_by_decision(stated[~opened]), _by_decision(own[own["line"].ne(OPENING)]))
    order = books.facts.periods["ordinal"]
    before = stated[opened]
    late = before["period"].map(order) - before["decided_period"].map(order)
    again = before[PAID].assign(left=late.astype(float), right=(before["amount"] < 0.0).astype(float))
    return compare("decided_when", "costs", pd.concat([rows, again], ignore_index=True), "==")


def _by_decision(rows: pd.DataFrame) -> pd.Series:
    named = rows[PAID].astype(object).where(rows[PAID].notna(), "").astype("str")
    sums = total(rows["amount"], named, PAID)
    return sums[sums.abs() > 1e-9]


def asset_decisions(books: Accounts) -> Check:
    """Return the check that assets cost what the ledger says was paid, by line, place and period of the decision.

    Modules by the period of their order, existing lots in the first period, at their book value.
    """
    assets, costs = books["assets"], books["costs"]
    if "decided_period" not in costs or "cooling" not in costs:
        return compare("asset_decisions", "accounting", costs.iloc[:0], "==")
    paid = costs[costs["kind"].eq("capex") & costs["timing"].ne("end")]
    made = paid["offer"].notna() | paid["cooling"].notna()
    paid = paid.assign(decided_period=paid["decided_period"].where(made, paid["period"]))
    lots = costs[costs["line"] == SUNK].assign(decided_period=books.facts.periods.index[0])
    own = pd.concat([paid, lots], ignore_index=True)
    left, right = (
        total(
            values, frame[DECISION].astype(object).where(frame[DECISION].notna(), "").astype("str"), DECISION
        )
        for values, frame in ((assets["cost"], assets), (own["amount"], own))
    )
    return compare("asset_decisions", "accounting", beside(left, right), "==")


def assets(books: Accounts) -> pd.DataFrame:
    """Return DECISION, disposed_years, and how the class says that each asset is written off, in books and for tax.

    Credits are no assets of theirs: they are taken at once, as in the books. The period of the first day in service is
    the one that begins then; of an existing lot the first.
    """
    rows, tables = books["assets"], books.facts.scenario.tables
    policy = tables["depreciation"].set_index("asset_class").reindex(rows["asset_class"])
    lot, credit = rows["line"].eq(SUNK).to_numpy(), (rows["cost"] < 0.0).to_numpy()
    plain = lot | credit
    stated = policy["tax_method"].astype(object)
    tax = stated.where(stated.notna(), "as_books").to_numpy()
    ratio = policy["declining_ratio"].astype(float).fillna(2.0).to_numpy(float)
    life = policy["tax_life_years"].astype(float).to_numpy(float)
    own = rows[[*DECISION, "disposed_years"]].assign(
        declining_ratio=ratio,
        tax_method=pd.Series(tax, index=rows.index).mask(plain, "as_books"),
        tax_life_years=pd.Series(life, index=rows.index).mask(lot),
        in_service_period=_began(books, rows),
        asset_class=_classes(books, rows),
    )
    method = policy["book_method"].astype(object)
    method = pd.Series(method.where(method.notna(), "straight_line").to_numpy(), index=rows.index)
    # How lots go on is checked with their age (``asset_terms``).
    own["book_method"] = method.mask(credit, "straight_line").where(~lot, rows["book_method"])
    return own


def _began(books: Accounts, rows: pd.DataFrame) -> pd.Series:
    """Return the period that begins on the first day in service; the first one for existing lots."""
    starts, names = books.facts.periods["start_years"], list(books.facts.periods.index)
    years = rows["in_service_years"].to_numpy(float)
    at = [int((starts.to_numpy(float) < value - 1e-9).sum()) for value in years]
    found = [names[place] if place < len(names) else "" for place in at]
    return pd.Series(found, index=rows.index, dtype=object).mask(rows["line"].eq(SUNK), names[0])


def _classes(books: Accounts, rows: pd.DataFrame) -> pd.Series:
    product = rows["offer"].map(books.facts.offers["product"])
    of_product = product.map(books.facts.table("products", "product")["asset_class"]).astype(object)
    of_line = rows["line"].map({name: line.asset_class for name, line in COST_LINE.items()}).astype(object)
    return of_product.where(of_product.notna(), of_line).fillna("other")


def cash_kinds(books: Accounts) -> Check:
    """Return the check that cash is capex or opex as its line is."""
    cash = books["cash"]
    paid = cash[cash["category"].isin(("capex", "opex"))]
    kind = paid["line"].map({name: line.kind for name, line in COST_LINE.items()})
    rows = paid[["line", "period", "site"]].assign(left=(paid["category"] == kind).astype(float), right=1.0)
    return compare("cash_kinds", "cash", rows, "==")


def book_value(books: Accounts) -> pd.DataFrame:
    """Return asset_class and period of every row: all classes of the register in all periods of the ledgers."""
    classes = books["assets"]["asset_class"].drop_duplicates()
    return classes.to_frame().merge(books["finance_periods"][["period"]], how="cross")


def commitments(books: Accounts) -> pd.DataFrame:
    """Return offer, place and period of every lease and reservation, units, last day of the term, and what the service
    left is worth over its payments: what is not charged for of them.
    """
    rows, starts = termed_orders(books), books.facts.periods["start_date"]
    began = starts.to_numpy()[np.minimum(rows["first"].to_numpy(int), len(starts) - 1)]
    rate = yearly_rate(books.facts.scenario.settings)
    open_value = rows["yearly"] * [level_value(rate, left) for left in rows["left"]]
    stated = books["commitments"]["service_value_fraction"].astype(float)
    worth = 1.0 - rows["charge"] / open_value.where(open_value > 0.0)
    unsaid = pd.Series(np.where(rows["left"] < ROUNDING, 1.0, np.nan), index=rows.index)
    worth = worth.where(worth.notna(), unsaid)
    if len(stated) == len(worth):
        # Where nothing is left to pay, what the service is worth moves nothing.
        worth = worth.where(worth.notna(), pd.Series(stated.to_numpy(), index=worth.index))
    return rows[[*STAND, "period", "units"]].assign(
        term_end_date=[
            months_later(pd.Timestamp(day), months)
            for day, months in zip(began, rows["term_months"], strict=True)
        ],
        service_value_fraction=worth,
    )


def baseline_costs(books: Accounts) -> pd.DataFrame:
    """Return the rows of what the baselines pay, with the kind that their line has."""
    rows = books["baseline_costs"]
    kinds = {name: line.kind for name, line in COST_LINE.items()}
    return rows[BASELINE].assign(kind=rows["line"].map(kinds))


BASELINE = ["baseline", "line", "period", "timing", "amount", "discounted"]
ASSET_FRAMES = {
    "commitments": ([*STAND, "period"], commitments),
    "baseline_costs": (BASELINE, baseline_costs),
    "assets": ([*DECISION, "disposed_years"], assets),
    "book_value": (["asset_class", "period"], book_value),
}
