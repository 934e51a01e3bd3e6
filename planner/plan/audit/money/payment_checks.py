"""What is due when and from whom it is asked for: the payments of purchases and the requests for quotes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.facts import BOUGHT_OR_TERMED
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.hardware_costs import milestone_payments
from planner.plan.audit.orders.last_days import last_day_to_order
from planner.plan.audit.report import Check, alike, total

CHARGES = ("freight", "duty", "tax")
DUE = [
    "due_date",
    "vendor",
    "offer",
    "site",
    "cooling",
    "order_period",
    "milestone",
    "line",
    "period",
    "timing",
]
QUOTE = ["vendor", "quarter", "mode", "product", "offer"]


def payments(books: Accounts) -> Check:
    """Return the check of every payment of a purchase: its day, its milestone, whom it goes to, and the amount.

    The price by milestone, charges with the delivery, installation on the last day to order, reckoned at the
    start of its period.
    """
    orders = books.orders[books.orders["mode"].eq("purchase")]
    whole = orders["units"] * orders["paid_price"]
    labels = orders.assign(order_period=orders["period"], vendor=_vendors(books, orders["offer"]))
    parts = []
    for milestone, due in milestone_payments(books, orders).items():
        dated = labels.assign(
            due_date=due["due_date"], milestone=milestone, period=due["period"], timing=due["timing"]
        )
        parts.append(dated.assign(line="hardware_purchase", amount=whole * due["milestone_fraction"]))
        if milestone == "delivery":
            parts += [
                dated.assign(line=line, amount=whole * orders[f"{line}_fraction"].astype(float).fillna(0.0))
                for line in CHARGES
            ]
        if milestone == "order":
            first = dated.assign(
                due_date=last_day_to_order(books).loc[orders.index], period=orders["period"], timing="start"
            )
            share = orders["installation_fraction"].astype(float).fillna(0.0)
            parts.append(first.assign(line="installation", amount=whole * share))
    own = pd.concat(parts, ignore_index=True)
    own = _bought(books, own.loc[own["amount"] != 0.0, [*DUE, "amount"]])
    return alike("payments", "orders", books["payments"], own, DUE)


def _bought(books: Accounts, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a plan; a bound in fractions of units buys nothing and asks for nothing."""
    return rows.iloc[:0] if books.plan.headline.get("relaxed") else rows


def _vendors(books: Accounts, offers: pd.Series) -> np.ndarray:
    return books.facts.offers["vendor"].reindex(offers).to_numpy()


def rfq(books: Accounts) -> Check:
    """Return the check of what each vendor is asked for: orders of a quarter summed, their first days, mean prices.

    The price is the mean one planned with, in the money of the plan and in that of the offer.
    """
    orders = books["orders"]
    if "order_by_date" not in orders:
        return alike("rfq", "orders", books["rfq"], books["rfq"], QUOTE)
    facts, asked = books.facts, orders[orders["mode"].isin(BOUGHT_OR_TERMED)]
    terms = facts.offers.reindex(asked["offer"])
    by = pd.to_datetime(asked["order_by_date"])
    asked = asked.assign(
        vendor=terms["vendor"].to_numpy(),
        quarter=(by.dt.year.astype("str") + "-Q" + by.dt.quarter.astype("str")).to_numpy(),
        paid=asked["units"] * books.orders.loc[asked.index, "paid_price"],
    )
    rows = []
    for key, group in asked.groupby(QUOTE, sort=False):
        offer = facts.offers.loc[key[-1]]
        units, paid = float(group["units"].sum()), float(group["paid"].sum())
        currency = (
            offer["currency"] if isinstance(offer["currency"], str) else facts.scenario.settings.currency
        )
        rows.append(
            {
                **dict(zip(QUOTE, key, strict=True)),
                "units": units,
                "orders": float(len(group)),
                "first_order_by": group["order_by_date"].min(),
                "first_delivery_by": group["delivery_by_date"].min(),
                "sites": ";".join(sorted(set(group["site"]))),
                "quote_price": paid / units / float(facts.fx(pd.Series([currency]))[0]),
                "quote_currency": currency,
                "price_unit": offer["price_unit"],
                "payment_terms": terms_of_payment(offer),
                "unit_price": paid / units,
                "cost": float(group["cost"].sum()),
            }
        )
    names = [*QUOTE, "units", "orders", "first_order_by", "first_delivery_by", "sites", "quote_price"]
    names += ["quote_currency", "price_unit", "payment_terms", "unit_price", "cost"]
    return alike("rfq", "orders", books["rfq"], _bought(books, pd.DataFrame(rows, columns=names)), QUOTE)


def terms_of_payment(offer: pd.Series) -> str:
    """Return the terms of payment of an offer in words, as the quote sheet has them."""
    if offer["mode"] != "purchase":
        share = 0.0 if pd.isna(offer["upfront_fraction"]) else float(offer["upfront_fraction"])
        return f"{offer['term_months']:g} months" + (f", {_percent(share)} up front" if share > 0.0 else "")
    order, delivery = offer["deposit_fraction"], offer["delivery_fraction"]
    if pd.isna(order) and pd.isna(delivery):
        order, delivery = 1.0, 0.0
    order, delivery = (0.0 if pd.isna(share) else float(share) for share in (order, delivery))
    due = {"with the order": order, "on delivery": delivery, "on acceptance": 1.0 - order - delivery}
    text = ", ".join(f"{_percent(share)} {when}" for when, share in due.items() if share > 1e-9)
    days = offer["payment_term_days"]
    return text if pd.isna(days) or not days > 0 else f"{text}; {days:g} days each"


def _percent(share: float) -> str:
    return f"{round(100.0 * share, 6):g}%"


def payments_sum(books: Accounts) -> Check:
    """Return the check that payments listed sum to the ledger's, by line, offer, site and period."""
    stated, own = books["payments"], books.ledger
    key = ["line", "offer", "site", "period", "timing"]
    bought = set(books["orders"].loc[books["orders"]["mode"].eq("purchase"), "offer"])
    lines = ("hardware_purchase", "installation", *CHARGES)
    paid = own[own["line"].isin(lines) & own["offer"].isin(bought)]
    left = total(stated["amount"], stated, key).rename("amount").reset_index()
    right = total(paid["amount"], paid, key).rename("amount").reset_index()
    right = _bought(books, right[right["amount"] != 0.0])
    return alike("payments_sum", "orders", left[left["amount"] != 0.0], right, key)


CHECKS = (payments, payments_sum, rfq)
