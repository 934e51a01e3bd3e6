"""Minimum bills recomputed: what the charges of each month leave open of the least that is owed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.electricity.bills import (
    Amounts,
    energy_amounts,
    fixed_amounts,
    minimum_owed,
    minimum_rows,
    top_ups,
)
from planner.plan.audit.electricity.month_bills import MONTH_LABEL, month_bills
from planner.plan.audit.electricity.tariff_rows import YEARLY
from planner.plan.audit.electricity.tier_bills import settled_kwh, tier_amounts
from planner.plan.audit.money.hardware_costs import entries
from planner.plan.audit.once import once
from planner.plan.audit.report import Check, compare, total

LABELS = ["site", "component", "period", "month"]


@once
def topups(books: Books) -> pd.DataFrame:
    """Return site, component, period, month, amount of every minimum bill, due month by due month."""
    stated, parts = books["sites"], []
    is_open = total(stated["open_fraction"], stated, ["site", "period"])
    for site, meter in books.site_hours.items():
        about = books.facts.sites.loc[site]
        contract = float(about["contract_kw"])
        rows = minimum_rows(books.facts, about["tariff"], contract)
        if not rows:
            continue
        share = np.array([float(is_open.get((site, period), 0.0)) for period in meter.months["period"]])
        charged, added = _charged(books, site, share), np.zeros(len(share))
        for row in rows:
            counted = [charged[name] for name in (row["applies_to"] or charged) if name in charged]
            owed = minimum_owed(meter, row, contract) * share
            amount = top_ups(owed, sum(counted, added), row["price_unit"] in YEARLY)
            added = added + amount
            labels = meter.months[["period", "month"]]
            parts.append(labels.assign(site=site, component=row["component"], amount=amount))
    names = [*LABELS, "amount"]
    return pd.concat(parts, ignore_index=True)[names] if parts else pd.DataFrame(columns=names)


def _charged(books: Books, site: str, share: np.ndarray) -> Amounts:
    """Return what the site is charged by component and month, before levies."""
    meter, tariff = books.site_hours[site], books.facts.sites["tariff"][site]
    charged = energy_amounts(books.facts, meter, tariff, settled_kwh(books, site))
    bills = month_bills(books)
    month = bills["month"].str[:MONTH_LABEL]
    demand = bills.assign(month=month, bare=bills["billed_kw"] * bills["price_bare"])
    fixed = fixed_amounts(books.facts, tariff).assign(site=site)
    months = pd.MultiIndex.from_frame(meter.months[["period", "month"]])
    for table, part in ((demand, 1.0), (tier_amounts(books), 1.0), (fixed, share)):
        for component, rows in table[table["site"] == site].groupby("component", sort=False):
            bare = rows.groupby(["period", "month"])["bare"].sum().reindex(months).fillna(0.0)
            charged[str(component)] = charged.get(str(component), 0.0) + bare.to_numpy(float) * part
    return charged


def topup_entries(books: Books) -> pd.DataFrame:
    """Return the top-ups of minimum bills."""
    paid = topups(books)
    return entries(paid, "minimum_take", "opex", "mid", paid["amount"])


def minimum_bill(books: Books) -> Check:
    """Return the check that every top-up is what its minimum leaves open."""
    stated, own = books["topups"], topups(books)
    due = pd.MultiIndex.from_frame(stated[LABELS])
    mine = total(own["amount"], own, LABELS).reindex(due).to_numpy(float)
    rows = stated[LABELS].assign(left=stated["amount"].to_numpy(float), right=mine)
    return compare("minimum_bill", "minimum_bill", rows, "==")
