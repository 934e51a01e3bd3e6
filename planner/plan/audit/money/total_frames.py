"""Totals of money by name and site, added up once more from the ledger by when and how it is paid."""

from __future__ import annotations

import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.report import Check, compare

LABELS = {
    "gross_capex": "Gross capex",
    "residual_credit": "Residual credit",
    "net_capex": "Net capex",
    "opex_paid": "Opex paid",
    "commitments_at_end": "Commitments at horizon end",
    "net_opex": "Net opex",
    "payments": "Payments",
    "total_cost_undiscounted": "Total cost, undiscounted",
}
ALL, NOWHERE = "all", "no site"


def named_totals(rows: pd.DataFrame) -> dict[str, float]:
    """Return the totals of ledger rows: paid or valued at the end of the horizon, of capex or of opex."""
    end, amount = rows["timing"].eq("end"), rows["amount"].astype(float)
    capex, opex = (rows["kind"].eq(kind) for kind in ("capex", "opex"))
    bought, worth = float(amount[capex & ~end].sum()), -float(amount[capex & end].sum())
    run, owed = float(amount[opex & ~end].sum()), float(amount[opex & end].sum())
    return {
        "gross_capex": bought,
        "residual_credit": worth,
        "net_capex": bought - worth,
        "opex_paid": run,
        "commitments_at_end": owed,
        "net_opex": run + owed,
        "payments": bought + run,
        "total_cost_undiscounted": bought - worth + run + owed,
    }


def counted(books: Books) -> pd.DataFrame:
    """Return the rows of the stated ledger that are a cost of the objective, sites by name."""
    costs = books["costs"]
    rows = costs[costs["kind"].isin(("capex", "opex"))]
    return rows.assign(site=rows["site"].fillna(NOWHERE))


def totals(books: Accounts) -> pd.DataFrame:
    """Return total, label, site (``all``, one, ``no site``), amount."""
    rows = counted(books)
    found = {ALL: rows, **{str(site): part for site, part in rows.groupby("site")}}
    return pd.DataFrame(
        [
            (name, LABELS[name], site, amount)
            for site, part in found.items()
            for name, amount in named_totals(part).items()
        ],
        columns=["total", "label", "site", "amount"],
    )


def headline_totals(books: Accounts) -> Check:
    """Return the check of the totals of the headline against the ledger; an older plan may not state them."""
    own, stated = named_totals(counted(books)), books.plan.headline.get("totals") or {}
    rows = [{"total": name, "left": stated.get(name), "right": amount} for name, amount in own.items()]
    table = pd.DataFrame(rows if stated else [], columns=["total", "left", "right"])
    return compare("headline_totals", "headline", table.astype({"left": float, "right": float}), "==")


TOTAL_FRAMES = {"totals": (["total", "site"], totals)}
