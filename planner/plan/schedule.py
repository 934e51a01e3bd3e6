"""Calendar dates of orders: the last day to order, to take delivery and to have power, and what to ask whom for."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import COMMITTED, STAND, lead_weeks
from planner.coefficients.money import currency_ratio
from planner.coefficients.orders.order_cost import CHARGES, milestones
from planner.coefficients.timing import whole_days
from planner.inputs import Scenario

RFQ = [
    "vendor",
    "quarter",
    "mode",
    "product",
    "offer",
    "units",
    "orders",
    "first_order_by",
    "first_delivery_by",
    "sites",
    "quote_price",
    "quote_currency",
    "price_unit",
    "payment_terms",
    "unit_price",
    "cost",
]

PAYMENTS = [
    "due_date",
    "vendor",
    "offer",
    "site",
    "cooling",
    "order_period",
    "milestone",
    "line",
    "amount",
    "period",
    "timing",
]


def order_dates(c: Coefficients, table: pd.DataFrame) -> pd.DataFrame:
    """Return the dates of each order, on its index.

    order_date        first day of the period of the order: the day the plan reckons with
    delivery_date     order_date + lead weeks (a rental: at once), not after delivery_by_date: see order_by_date
    in_service_date   first day of the first period that starts after lead and installation
    order_by_date     last day to order: in_service_date - (lead + installation) weeks, not after the last day of the
                      period (its price and allocation end there) nor of the offer's sale, not before order_date (a
                      13-week quarter of 90 to 92 days rounds by two days at most)
    deposit_date      first payment of a purchase that pays something with the order: order_date + payment term
    delivery_by_date  last day of delivery: in_service_date - installation weeks
    power_ready_date  day by which the site must supply the unit: it is tested under power, so its last day of
                      delivery; blank where hosted

    Parameters
    ----------
    table
        Orders with the columns of their stand, ``period``, ``in_service_period``, ``delay_weeks``.
    """
    start = table["period"].map(c.periods["start_date"])
    serves = table["in_service_period"].map(c.periods["start_date"])
    committed = table["mode"].isin(COMMITTED)
    lead = lead_weeks(table, c.settings.lead_case).astype(float)
    install = table["install_weeks"].astype(float)
    dates = pd.DataFrame(
        {
            "order_date": start,
            "delivery_date": start + whole_days(lead.where(committed, 0.0)),
            "in_service_date": serves,
            "order_by_date": serves - whole_days(lead + install),
            "delivery_by_date": serves - whole_days(install.where(committed, 0.0)),
        }
    )
    last = table["period"].map(last_days(c.periods))
    last = last.where(~committed, pd.concat([last, table["available_until"]], axis=1).min(axis=1))
    by = pd.concat([dates["order_by_date"], last], axis=1).min(axis=1)
    by = by.where(~committed, pd.concat([by, start], axis=1).max(axis=1))
    hardware = table["includes"] == "hardware"
    arrives = dates[["delivery_date", "delivery_by_date"]].min(axis=1)
    late = pd.to_timedelta(table["payment_term_days"].astype(float).fillna(0.0), unit="D")
    shares = table[["deposit_fraction", "delivery_fraction"]].astype(float)
    paid_first = (table["mode"] == "purchase") & (
        (shares["deposit_fraction"] > 0) | shares.isna().all(axis=1)
    )
    return dates.assign(
        deposit_date=(start + late).where(paid_first).astype("datetime64[ns]"),
        delivery_date=arrives.astype("datetime64[ns]"),
        order_by_date=by.astype("datetime64[ns]"),
        power_ready_date=dates["delivery_by_date"].where(hardware).astype("datetime64[ns]"),
    )


def payment_frame(c: Coefficients, orders: pd.DataFrame) -> pd.DataFrame:
    """Return PAYMENTS: what each purchase pays when, price by milestone and the charges on it.

    ``due_date`` is the calendar day; the ledger reckons it in ``period`` at its ``timing`` (never later than due).
    """
    bought = orders[orders["mode"] == "purchase"]
    terms = [
        "deposit_fraction",
        "delivery_fraction",
        "payment_term_days",
        "installation_fraction",
        "install_weeks",
    ]
    terms += [f"{line}_fraction" for line in CHARGES]
    stand = c.stands[[*STAND, *(name for name in terms if name in c.stands)]]
    table = bought[[*STAND, "vendor", "period", "in_service_period", "units", "unit_price"]]
    table = table.merge(stand, on=STAND, validate="many_to_one")
    table = table.merge(c.orders[[*STAND, "period", "delay_weeks"]], on=[*STAND, "period"])
    due = milestones(table, c.periods)
    value = due["units"] * due["unit_price"]
    delivered = due["milestone"] == "delivery"
    parts = [due.assign(line="hardware_purchase", amount=value * due["milestone_fraction"])]
    parts += [
        due.assign(line=line, amount=value * due[f"{line}_fraction"].astype(float).fillna(0.0))[delivered]
        for line in CHARGES
    ]
    first = due[due["milestone"] == "order"]
    first = first.assign(due_date=first["period"].map(c.periods["start_date"]), paid_period=first["period"])
    share = first["installation_fraction"].astype(float).fillna(0.0)
    parts.append(
        first.assign(line="installation", timing="start", amount=first["units"] * first["unit_price"] * share)
    )
    every = pd.concat(parts, ignore_index=True).rename(
        columns={"period": "order_period", "paid_period": "period"}
    )
    every = every[every["amount"] != 0.0].sort_values(["due_date", "vendor", "offer", "site"], kind="stable")
    return every[PAYMENTS].reset_index(drop=True)


def last_days(periods: pd.DataFrame) -> pd.Series:
    """Return the last day of each period, index period."""
    ends = periods["start_date"].shift(-1)
    days = pd.to_timedelta(np.ceil(periods["hours"].to_numpy(float) / 24.0), unit="D")
    ends = ends.fillna(periods["start_date"] + days)
    return ends - pd.Timedelta(days=1)


def rfq_frame(orders: pd.DataFrame, scenario: Scenario) -> pd.DataFrame:
    """Return RFQ: what to ask each vendor for, by quarter of the last day to order.

    Purchases, leases and reservations only; ``unit_price`` is the mean price planned with and ``cost`` what they pay
    over the horizon, in the plan's currency; ``quote_price`` is that price in ``quote_currency``, the offer's own.
    """
    asked = orders[orders["mode"].isin(COMMITTED)]
    if asked.empty:
        return pd.DataFrame(columns=RFQ)
    asked = asked.assign(
        quarter=quarter_of(asked["order_by_date"]), paid=asked["units"] * asked["unit_price"]
    )
    key = ["vendor", "quarter", "mode", "product", "offer"]
    table = asked.groupby(key, as_index=False).agg(
        units=("units", "sum"),
        orders=("units", "size"),
        first_order_by=("order_by_date", "min"),
        first_delivery_by=("delivery_by_date", "min"),
        sites=("site", lambda names: ";".join(sorted(set(names)))),
        paid=("paid", "sum"),
        price_unit=("price_unit", "first"),
        cost=("cost", "sum"),
    )
    terms = scenario.tables["offers"].set_index("offer").loc[table["offer"]]
    own = scenario.settings.currency
    ratio = currency_ratio(scenario.tables["fx"], terms["currency"], own)
    unit_price = table["paid"] / table["units"]
    table = table.assign(
        unit_price=unit_price,
        quote_price=unit_price.to_numpy() / ratio,
        quote_currency=terms["currency"].fillna(own).to_numpy(),
        payment_terms=[payment_terms(offer) for offer in terms.to_dict("records")],
    )
    return table[RFQ].reset_index(drop=True)


def payment_terms(offer: Mapping[Hashable, Any]) -> str:
    """Return the terms of payment of an offer in words.

    >>> payment_terms({"mode": "purchase", "deposit_fraction": 0.3, "delivery_fraction": 0.5, "payment_term_days": 30})
    '30% with the order, 50% on delivery, 20% on acceptance; 30 days each'
    >>> payment_terms({"mode": "lease", "term_months": 36, "upfront_fraction": 0.1})
    '36 months, 10% up front'
    """

    def stated(name: str) -> float:
        value = offer.get(name)
        return float("nan") if value is None or pd.isna(value) else float(value)

    if offer["mode"] != "purchase":
        upfront = stated("upfront_fraction")
        paid_first = f", {_percent(upfront)} up front" if upfront > 0 else ""
        return f"{stated('term_months'):g} months{paid_first}"
    shares = [stated("deposit_fraction"), stated("delivery_fraction")]
    if all(np.isnan(shares)):
        shares = [1.0, 0.0]
    deposit, delivery = np.nan_to_num(shares)
    named = (
        (deposit, "with the order"),
        (delivery, "on delivery"),
        (1.0 - deposit - delivery, "on acceptance"),
    )
    text = ", ".join(f"{_percent(share)} {when}" for share, when in named if share > 1e-9)
    days = stated("payment_term_days")
    return f"{text}; {days:g} days each" if days > 0 else text


def _percent(share: float) -> str:
    return f"{round(share * 100, 6):g}%"


def quarter_of(days: pd.Series) -> list[str]:
    """Return the calendar quarter of each day.

    >>> quarter_of(pd.Series([pd.Timestamp("2027-05-01")]))
    ['2027-Q2']
    """
    moments = pd.to_datetime(days)
    return [f"{day.year}-Q{day.quarter}" for day in moments]
