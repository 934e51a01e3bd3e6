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
from planner.coefficients.orders.order_dates import last_order_dates
from planner.coefficients.timing import whole_days
from planner.inputs import Scenario
from planner.plan.decided import NEGLIGIBLE

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


DAYS_APART = pd.Timedelta(days=3)
"""By so much planning weeks and the calendar may differ: no later date is asked for that."""


def order_dates(c: Coefficients, table: pd.DataFrame, waiting: pd.DataFrame) -> pd.DataFrame:
    """Return the dates of each order, on its index: one clock that counts back from the day of service.

    in_service_date   first day of the first period that starts after lead and installation; of units stored until they
                      have power the day the last of them serves, blank where one waits past the horizon
    delivery_by_date  last day of delivery, and the day the plan takes it: arrival - installation weeks, not before
                      order_by_date
    order_by_date     last day to order: arrival - (lead + installation) weeks, not after the last day of the period
                      (its price and allocation end there) or of the offer's sale, not before order_date (a 13-week
                      quarter of 90 to 92 days rounds by two days at most)
    order_date        first day of the period of the order: from then on it can be placed; a rental's order_by_date
    deposit_date      the deposit falls due with the order, on its last day; blank where nothing is paid with the order
    vendor_delivery_date  order_by_date + lead: the day a vendor could deliver, where delivery_terms ask for a later one
    hall_ready_date, power_ready_date  day by which hall and power must take the unit: that of delivery, of stored units
                      the first installation; blank where hosted
    delivery_terms    ``lead time``, ``later date asked``, ``stored until powered`` or ``hosted``
    stored_units      units that stand without power for some time

    Parameters
    ----------
    table
        Orders with the columns of their stand, ``period``, ``in_service_period``, ``delay_weeks``, ``units``.
    waiting
        Units that stand without power (see ``energised.unpowered_frame``).
    """
    start = table["period"].map(c.periods["start_date"])
    arrives = table["in_service_period"].map(c.periods["start_date"])
    committed = table["mode"].isin(COMMITTED)
    lead = lead_weeks(table, c.settings.lead_case).astype(float)
    install = whole_days(table["install_weeks"].astype(float).where(committed, 0.0))
    ahead = arrives - whole_days(lead + table["install_weeks"].astype(float))
    order_by = ahead.where(
        ~committed, last_order_dates(table.assign(delay_weeks=lead + table["install_weeks"]), c.periods)
    )
    delivery = (arrives - install).where(arrives - install >= order_by, order_by.where(committed, arrives))
    hardware = table["includes"] == "hardware"
    batches = powered_batches(table, waiting, c.periods)
    ready = batches["first"] - install
    ready = ready.where(ready.isna() | (ready >= delivery), delivery)
    vendor = pd.concat([order_by + whole_days(lead), delivery], axis=1).min(axis=1)
    terms = np.select(
        [~hardware, batches["stored"] > NEGLIGIBLE, vendor + DAYS_APART < delivery],
        ["hosted", "stored until powered", "later date asked"],
        "lead time",
    )
    dates = pd.DataFrame(
        {
            "order_date": start.where(committed, order_by),
            "order_by_date": order_by,
            "deposit_date": order_by.where(deposit_share(table) > 0.0),
            "delivery_date": delivery,
            "delivery_by_date": delivery,
            "vendor_delivery_date": vendor.where(committed),
            "hall_ready_date": ready.where(hardware),
            "power_ready_date": ready.where(hardware),
            "in_service_date": batches["last"],
        }
    ).astype("datetime64[ns]")
    return dates.assign(delivery_terms=terms, stored_units=batches["stored"])


def deposit_share(table: pd.DataFrame) -> pd.Series:
    """Return the share of a purchase's price that is due with the order: all of it where no share is stated."""
    shares = table[["deposit_fraction", "delivery_fraction"]].astype(float)
    first = shares["deposit_fraction"].fillna(0.0).where(shares.notna().any(axis=1), 1.0)
    return first.where(table["mode"] == "purchase", 0.0)


def powered_batches(table: pd.DataFrame, waiting: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return first, last (days from which units of an order serve) and stored (units that waited) on its index.

    What was delivered first is powered first. ``last`` is blank where a unit still waits at the end of the horizon.
    """
    starts = periods["start_date"]
    arrives = table["in_service_period"].map(starts)
    found = pd.DataFrame({"first": arrives, "last": arrives, "stored": 0.0}, index=table.index)
    held = waiting.assign(ordinal=waiting["period"].map(periods["ordinal"]).astype(int))
    for stand, group in held.groupby(STAND):
        own = table[(table[STAND] == list(stand)).all(axis=1)].sort_values("order_rank")
        count = group.set_index("ordinal")["units"]
        arrived = own.assign(place=own["in_service_period"].map(periods["ordinal"]).astype(int))
        whole = arrived["units"].cumsum()
        for row, units, upto, place in zip(own.index, own["units"], whole, arrived["place"], strict=True):
            # Units of this stand delivered and powered by the start of each period, oldest first.
            powered = [
                float(arrived.loc[arrived["place"] <= k, "units"].sum()) - float(count.get(k, 0.0))
                for k in range(len(starts))
            ]
            before = upto - units
            first = [k for k, n in enumerate(powered) if k >= place and n > before + NEGLIGIBLE]
            last = [k for k, n in enumerate(powered) if k >= place and n >= upto - NEGLIGIBLE]
            found.loc[row, "first"] = starts.iloc[first[0]] if first else pd.NaT
            found.loc[row, "last"] = starts.iloc[last[0]] if last else pd.NaT
            found.loc[row, "stored"] = float(np.clip(upto - max(powered[place], before), 0.0, units))
    return found


def payment_frame(c: Coefficients, orders: pd.DataFrame) -> pd.DataFrame:
    """Return PAYMENTS: what each purchase pays when, price by milestone and the charges on it.

    ``due_date`` is the calendar day: the payment term after the last day to order, the delivery, the first day of
    service. The ledger reckons it in ``period`` at its ``timing``: not later than due.
    """
    bought = orders[orders["mode"] == "purchase"]
    terms = [
        "deposit_fraction",
        "delivery_fraction",
        "payment_term_days",
        "installation_fraction",
        "install_weeks",
        "available_until",
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
    first = first.assign(due_date=last_order_dates(first, c.periods), paid_period=first["period"])
    share = first["installation_fraction"].astype(float).fillna(0.0)
    parts.append(
        first.assign(line="installation", timing="start", amount=first["units"] * first["unit_price"] * share)
    )
    every = pd.concat(parts, ignore_index=True).rename(
        columns={"period": "order_period", "paid_period": "period"}
    )
    every = every[every["amount"] != 0.0].sort_values(["due_date", "vendor", "offer", "site"], kind="stable")
    return every[PAYMENTS].reset_index(drop=True)


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
