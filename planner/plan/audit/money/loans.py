"""Loans recounted: each paid off by hand, payment by payment, from the capex of the audit's own ledger."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from planner.plan.audit.clock import yearly_rate
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.report import Check, beside, compare, total
from planner.tables.cost_lines import COST_LINE
from planner.units import MONTHS_PER_YEAR

DRAWN, REPAID, PAID = "loan drawn", "loan repaid", "loan interest"
OVERDUE_YEARS = 1e-9


def loans(books: Accounts) -> Check:
    """Return the check of loans by period: drawn, repaid and interest in cash, and the interest of the accounts.

    Every capex payment borrows its share on its day and is paid off in level payments at the end of each interval: the
    payment is what leaves nothing owed after the term; interest is the rate on what is owed.
    """
    cash, stated = books["cash"], books["accounting"]
    own = pd.DataFrame([*_recounted(books)], columns=["ledger", "category", "period", "amount"]).astype(
        {"ledger": "str", "category": "str", "period": "str", "amount": float}
    )
    ledgers = {
        "cash": cash[cash["category"].isin((DRAWN, REPAID, PAID))],
        "accounting": stated[stated["category"] == PAID],
    }
    key = ["category", "period"]
    parts = []
    for name, rows in ledgers.items():
        mine = own[own["ledger"] == name]
        parts.append(
            beside(total(rows["amount"], rows, key), total(mine["amount"], mine, key)).assign(ledger=name)
        )
    return compare("loans", "cash", pd.concat(parts, ignore_index=True), "==")


def _recounted(books: Accounts) -> Iterator[tuple[str, str, str, float]]:
    """Yield ledger, category, period, amount of every loan."""
    settings, calendar = books.facts.scenario.settings, books["finance_periods"]
    rate = settings.loan_rate_fraction
    rate = yearly_rate(settings) if rate is None else rate
    often = settings.loan_payments_per_year
    spans = list(calendar[["period", "start_years", "end_years"]].itertuples(index=False, name=None))
    for row in borrowing(books).to_dict("records"):
        principal, owed = float(row["principal"]), float(row["principal"])
        yield "cash", DRAWN, row["period"], -principal
        count = row["term_years"] * often
        level = (
            principal * rate / often / (1.0 - (1.0 + rate / often) ** -count) if rate else principal / count
        )
        before, done = row["drawn_years"], 0.0
        while done < count - OVERDUE_YEARS:
            part = min(1.0, count - done)
            now = before + part / often
            interest = owed * ((1.0 + rate / often) ** part - 1.0)
            done += part
            repaid = owed if done > count - OVERDUE_YEARS else level - interest
            falls = next((name for name, _, ends in spans if now <= ends + OVERDUE_YEARS), spans[-1][0])
            yield "cash", REPAID, falls, repaid
            yield "cash", PAID, falls, interest
            for name, begins, ends in spans:
                shared = max(min(ends, now) - max(begins, before), 0.0) / (now - before)
                if shared > 0.0:
                    yield "accounting", PAID, name, interest * shared
            owed, before = owed - repaid, now


def borrowing(books: Accounts) -> pd.DataFrame:
    """Return principal, period, drawn_years, term_years of every loan: by the class of what is paid for."""
    settings, own, periods = books.facts.scenario.settings, books.ledger, books.facts.periods
    capex = own[own["kind"].eq("capex") & own["timing"].ne("end")]
    spent = (
        total(capex["amount"], capex, ["line", "site", "offer", "period", "timing"])
        .rename("amount")
        .reset_index()
    )
    spent = spent[spent["amount"] > 0.0]
    product = spent["offer"].map(books.facts.offers["product"])
    of_product = product.map(books.facts.table("products", "product")["asset_class"])
    of_line = spent["line"].map({name: line.asset_class for name, line in COST_LINE.items()})
    classes = of_product.astype(object).where(of_product.notna(), of_line).fillna("other")
    months = classes.map(books.facts.table("depreciation", "asset_class")["loan_term_months"]).astype(float)
    starts, running = (
        periods[name].reindex(spent["period"]).to_numpy(float) for name in ("start_years", "running_years")
    )
    debt = spent.assign(
        asset_class=classes.astype("str"),
        drawn_years=np.where(spent["timing"].eq("start"), starts, running),
        term_years=(months / MONTHS_PER_YEAR).where(months.notna(), settings.loan_term_years),
        principal=spent["amount"] * settings.debt_share_fraction,
    )
    key = ["asset_class", "period", "drawn_years", "term_years"]
    return debt[debt["principal"] > 0.0].groupby(key, as_index=False, sort=False)["principal"].sum()


__all__ = ["borrowing", "loans"]
