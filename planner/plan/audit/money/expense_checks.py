"""The expenses of the accounting ledger: what leases write off and bear in interest, and whose use it all is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.view_checks import UNIT, unit_use
from planner.plan.audit.money.write_offs import own_write_offs
from planner.plan.audit.orders.standing import STAND
from planner.plan.audit.report import Check, beside, compare, total
from planner.tables.cost_lines import LOAD_LINES

ENTRY = ["line", "category", "period", "site", "offer", "workload"]
Payment = tuple[float, float, str]
"""When, how much, and the period it is in."""


def lease_payments(books: Accounts, lease: dict) -> list[Payment]:
    """Return the payments of a term: those of the ledger in the middle of their period, the rest level to its end."""
    costs, calendar = books["costs"], books["finance_periods"]
    mine = (
        costs["line"].eq(lease["line"])
        & costs["timing"].ne("end")
        & costs["decided_period"].eq(lease["period"])
    )
    for name in STAND:
        mine &= costs[name].eq(lease[name])
    paid = costs[mine].groupby("period")["amount"].sum()
    found, later = [], []
    for row in calendar.to_dict("records"):
        start, end = row["start_years"], row["end_years"]
        if row["inside"]:
            found.append(((start + end) / 2.0, float(paid.get(row["period"], 0.0)), row["period"]))
        elif start < lease["term_end_years"]:
            later.append((start, min(end, lease["term_end_years"]), row["period"]))
    whole = sum(end - start for start, end, _ in later)
    return found + [
        ((start + end) / 2.0, lease["owed_after_horizon"] * (end - start) / whole, period)
        for start, end, period in later
    ]


def lease_expenses(books: Accounts) -> Iterator[dict]:
    """Yield what each term is expensed: on the balance sheet its right of use and interest, else level over the term.

    The right of use is the present value of the payments on the first day of service; interest is what the debt, the
    payments still to come at present value, grows by between them.
    """
    settings, calendar = books.facts.scenario.settings, books["finance_periods"].to_dict("records")
    rate = settings.loan_rate_fraction
    rate = settings.discount_rate_fraction if rate is None else rate

    def worth(amount: float, years: float) -> float:
        return amount / (1.0 + rate) ** max(years, 0.0)

    for lease in books["commitments"].to_dict("records"):
        payments, began, ends = lease_payments(books, lease), lease["began_years"], lease["term_end_years"]
        labels = {"line": lease["line"], "site": lease["site"], "offer": lease["offer"], "workload": ""}
        asset = sum(worth(amount, moment - began) for moment, amount, _ in payments)

        def owed(day: float, payments: list[Payment] = payments, began: float = began) -> float:
            due = [pay for pay in payments if pay[0] >= day - 1e-9 and pay[0] >= began - 1e-9]
            return sum(worth(amount, moment - day) for moment, amount, _ in due)

        for row in calendar:
            start, end, inside = row["start_years"], row["end_years"], {**labels, "period": row["period"]}
            share = max(min(end, ends) - max(start, began), 0.0) / (ends - began)
            if not lease["capitalised"]:
                level = share * sum(amount for _, amount, _ in payments)
                yield {**inside, "category": "operating expense", "amount": level}
                continue
            yield {**inside, "category": "lease depreciation", "amount": share * asset}
            if start >= began - 1e-9:
                paid = sum(amount for _, amount, period in payments if period == row["period"])
                yield {**inside, "category": "lease interest", "amount": owed(end) - owed(start) + paid}


def expenses(books: Accounts) -> Check:
    """Return the check of every expense before loans and tax, by line, category, period, site, offer and workload.

    Write-offs of assets, what leases and reservations are expensed, and what else is paid in the period. Terms paid by
    a calendar are left to the check of their instalments.
    """
    stated, ledger = books["accounting"], books.ledger
    stated = stated[~stated["category"].isin(("loan interest", "income tax"))]
    off = own_write_offs(books["assets"], books["finance_periods"]).assign(
        category="depreciation", workload=""
    )
    termed = set(books["commitments"]["line"])
    paid = ledger[ledger["kind"].eq("opex") & ledger["timing"].ne("end") & ~ledger["line"].isin(termed)]
    own = [off, pd.DataFrame(lease_expenses(books)), paid.assign(category="operating expense")]
    entries = [part.reindex(columns=[*ENTRY, "amount"]) for part in own]
    both = pd.concat([part for part in entries if len(part)] or entries[:1], ignore_index=True)
    dated = books.plan.frames.get("instalments", pd.DataFrame(columns=["site", "offer"]))
    by_calendar = set(zip(dated["site"], dated["offer"], strict=True))
    parts = [
        frame[
            np.array(
                [place not in by_calendar for place in zip(frame["site"], frame["offer"], strict=True)],
                dtype=bool,
            )
        ]
        for frame in (stated, both)
    ]
    rows = beside(*(total(frame["amount"].astype(float), frame, ENTRY) for frame in parts))
    return compare("expenses", "accounting", rows, "==")


def expense_use(books: Accounts) -> Check:
    """Return the check of whose use each expense is: busy hours of what it stands for are used, the rest idle.

    What follows load by itself is load, what falls after the horizon after, what has no hours to count whole.
    """
    stated, use = books["accounting"], unit_use(books)
    own = stated[~stated["category"].isin(("loan interest", "income tax"))]
    key = [*ENTRY, "product"]
    whole = total(own["amount"], own, key).rename("amount").reset_index()
    by_unit = use[use["product"].notna()].set_index(UNIT)["used_fraction"]
    by_site = use[use["product"].isna() & use["site"].notna()].set_index(["period", "site"])["used_fraction"]
    inside, parts = set(books.facts.periods.index), []
    for row in whole.to_dict("records"):
        place = (row["period"], row["site"])
        busy = by_unit.get((*place, row["product"]), 0.0) if row["product"] else by_site.get(place, np.nan)
        if row["period"] not in inside:
            shares = {"after": 1.0}
        elif row["line"] in LOAD_LINES:
            shares = {"load": 1.0}
        else:
            shares = {"whole": 1.0} if np.isnan(busy) else {"used": busy, "idle": 1.0 - busy}
        parts += [{**row, "use": name, "amount": row["amount"] * share} for name, share in shares.items()]
    made = pd.DataFrame(parts, columns=[*key, "use", "amount"])
    rows = beside(total(own["amount"], own, [*key, "use"]), total(made["amount"], made, [*key, "use"]))
    return compare("expense_use", "accounting", rows, "==")


CHECKS = (expenses, expense_use)
