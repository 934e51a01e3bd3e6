"""Minimum bills recomputed: what the charges of each month leave open of the least that is owed."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pandas as pd

from planner.coefficients.electricity.bill import YEARLY_UNITS, contract_part, per_month
from planner.coefficients.electricity.bill_energy import plan_prices
from planner.coefficients.electricity.bill_minimum import billable_minimums
from planner.coefficients.electricity.meter import PlanMeter
from planner.coefficients.electricity.tariff import in_force
from planner.plan.audit.books import Books
from planner.plan.audit.electricity.month_bills import month_bills
from planner.plan.audit.electricity.tier_bills import site_meters, tier_amounts
from planner.plan.audit.money.hardware_costs import entries
from planner.plan.audit.report import Check, compare, total
from planner.units import MONTHS_PER_YEAR

Charged = dict[str, np.ndarray]
"""Component -> amount by billing month, before levies."""


def topups(books: Books) -> pd.DataFrame:
    """Return site, component, period, month, amount of every minimum bill, due month by due month."""
    scenario = books.facts.scenario
    rows, parts = in_force(scenario, "minimum"), []
    own = books.facts.sites[books.facts.sites["kind"].ne("cloud")]
    stated = books["sites"]
    is_open = total(stated["open_fraction"], stated, ["site", "period"])
    for site, meter in site_meters(books).items():
        contract = own["contract_kw"][site]
        least = billable_minimums(rows[rows["tariff"] == own["tariff"][site]], contract)
        if least.empty:
            continue
        periods = meter.bill_months["period"]
        share = np.array([float(is_open.get((site, period), 0.0)) for period in periods])
        charged = _charged(books, site, meter, share)
        fx = books.facts.fx(least["currency"])
        parts += _site_topups(site, meter, least.assign(fx=fx), charged, share, contract)
    names = ["site", "component", "period", "month", "amount"]
    return pd.concat(parts, ignore_index=True)[names] if parts else pd.DataFrame(columns=names)


def _site_topups(
    site: str, meter: PlanMeter, rows: pd.DataFrame, charged: Charged, share: np.ndarray, contract: float
) -> list[pd.DataFrame]:
    yearly = rows["price_unit"].isin(YEARLY_UNITS)
    added, parts = np.zeros(len(share)), []
    for row in [*rows[~yearly].to_dict("records"), *rows[yearly].to_dict("records")]:
        part = contract_part(row, None if pd.isna(contract) else float(contract)) * row["fx"]
        owed = per_month(row, meter) * meter.months_held(row) * part * share
        names = row["applies_to"] or list(charged)
        paid = added + sum((charged[name] for name in names if name in charged), np.zeros(len(share)))
        amount = np.zeros(len(share))
        span = MONTHS_PER_YEAR if row["price_unit"] in YEARLY_UNITS else 1
        for first in range(0, len(share), span):
            months = slice(first, first + span)
            last = min(first + span, len(share)) - 1
            amount[last] = max(owed[months].sum() - paid[months].sum(), 0.0)
        added = added + amount
        labels = meter.bill_months[["period", "month"]]
        parts.append(labels.assign(site=site, component=row["component"], amount=amount))
    return parts


def _charged(books: Books, site: str, meter: PlanMeter, share: np.ndarray) -> Charged:
    """Return what the site is charged by component and month, before levies."""
    scenario, tariff = books.facts.scenario, books.facts.sites["tariff"][site]
    charged: Charged = defaultdict(lambda: np.zeros(len(share)))
    for row, per_kwh in plan_prices(scenario, tariff, meter):
        charged[row["component"]] += meter.by_month(meter.kwh * per_kwh)
    months = pd.MultiIndex.from_frame(meter.bill_months[["period", "month"]])
    bills = month_bills(books)
    bills = bills.assign(component=bills["component"], bare=bills["billed_kw"] * bills["price_bare"])
    steps = tier_amounts(books).rename(columns={"first_component": "component"})
    for table in (bills, steps):
        for component, part in table[table["site"] == site].groupby("component", sort=False):
            by_month = part.groupby(["period", "month"])["bare"].sum()
            charged[str(component)] += by_month.reindex(months).fillna(0.0).to_numpy(float)
    fixed = books.facts.fixed_charges
    for row in fixed[fixed["tariff"] == tariff].to_dict("records"):
        at = (meter.bill_months["period"] == row["period"]) & (meter.bill_months["month"] == row["month"])
        charged[row["component"]] += row["bare"] * share * at.to_numpy(float)
    return charged


def topup_entries(books: Books) -> pd.DataFrame:
    """Return the top-ups of minimum bills."""
    paid = topups(books)
    return entries(paid, "minimum_take", "opex", "mid", paid["amount"])


def minimum_bill(books: Books) -> Check:
    """Return the check that every top-up is what its minimum leaves open."""
    stated, own = books["topups"], topups(books)
    labels = ["site", "component", "period", "month"]
    due = pd.MultiIndex.from_frame(stated[labels])
    mine = total(own["amount"], own, labels).reindex(due).to_numpy(float)
    rows = stated[labels].assign(left=stated["amount"].to_numpy(float), right=mine)
    return compare("minimum_bill", "minimum_bill", rows, "==")
