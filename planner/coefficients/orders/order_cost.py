"""What an order costs: price by payment milestone, charges on it, value left, term payments, warranty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from planner.coefficients.fleet import STAND
from planner.coefficients.orders.commitment import charge_after_horizon, horizon_years, term_lengths
from planner.coefficients.orders.instalments import has_calendar, instalments, left_at_end
from planner.coefficients.orders.order_dates import delivery_dates, last_order_dates
from planner.coefficients.orders.prices import (
    RENT_LINES,
    lot_prices,
    period_units,
    price_in_period,
    residual_share,
    upkeep_shares,
)
from planner.coefficients.payments import PAYMENT
from planner.inputs import Scenario

ORDER = [*STAND, "period"]
CHARGES = ("freight", "duty", "tax")
"""Lines due with the delivery; their share of the price is the column ``<line>_fraction`` of the offer."""
MILESTONES = ("order", "delivery", "acceptance")


def order_costs(
    scenario: Scenario, stand: pd.DataFrame, orders: pd.DataFrame, alive: pd.DataFrame, periods: pd.DataFrame
) -> pd.DataFrame:
    """Return what one ordered unit costs: price by milestone, charges, residual at the end, term payments, and what a
    term that outlives the horizon is charged.
    """
    table = orders.merge(stand, on=STAND, validate="many_to_one", suffixes=("", "_stand"))
    table["start_years"] = table["period"].map(periods["start_years"])
    table["price_paid"] = price_in_period(table, table["start_years"])
    bought = table[table["mode"] == "purchase"]
    termed = table[table["mode"].isin(["lease", "reserved"])]
    parts = [
        *_purchases(scenario, bought, periods),
        *_terms(termed, alive, periods),
        _beyond(scenario, termed, periods),
        *_warranty(scenario, stand, bought, alive, periods),
    ]
    return pd.concat(parts, ignore_index=True)


def _paid(
    frame: pd.DataFrame, line: str | Sequence[str], kind: str, amount: pd.Series | np.ndarray
) -> pd.DataFrame:
    """Return ledger rows of orders; ``paid_period`` and ``timing`` are columns of the frame."""
    rows = frame[[*ORDER, "paid_period", "timing"]].assign(
        line=line, kind=kind, amount=np.asarray(amount, float)
    )
    return rows.loc[rows["amount"] != 0.0, [*ORDER, *PAYMENT]]


def _purchases(scenario: Scenario, bought: pd.DataFrame, periods: pd.DataFrame) -> list[pd.DataFrame]:
    due = milestones(bought, periods)
    ordered = bought.assign(paid_period=bought["period"], timing="start")
    delivered = due[due["milestone"] == "delivery"]
    end_years = periods["start_years"].iloc[-1] + periods["years"].iloc[-1]
    began = periods["start_years"].to_numpy()[bought["in_service_ordinal"].to_numpy(int)]
    left = residual_share(scenario, bought, end_years - began)
    last = bought.assign(paid_period=periods.index[-1], timing="end")
    return [
        _paid(due, "hardware_purchase", "capex", due["price_paid"] * due["milestone_fraction"]),
        _paid(
            ordered,
            "installation",
            "capex",
            ordered["price_paid"] * ordered["installation_fraction"].astype(float).fillna(0.0),
        ),
        *(
            _paid(
                delivered,
                line,
                "capex",
                delivered["price_paid"] * delivered[f"{line}_fraction"].astype(float).fillna(0.0),
            )
            for line in CHARGES
        ),
        _paid(last, "hardware_residual", "capex", -last["price_paid"] * left),
    ]


def milestones(bought: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return three rows per order: milestone, milestone_fraction, due_date, paid_period, timing.

    order, delivery, acceptance, each ``payment_term_days`` after the last day to order, that of delivery, the day the
    unit serves. An offer that states neither deposit nor delivery share is paid in full with the order, reckoned on the
    first day of its period where no term is given; else the rest is paid on acceptance.
    """
    deposit, delivery = (bought[f"{name}_fraction"].astype(float) for name in ("deposit", "delivery"))
    plain = deposit.isna() & delivery.isna()
    shares = {
        "order": deposit.fillna(0.0).where(~plain, 1.0),
        "delivery": delivery.fillna(0.0),
        "acceptance": (1.0 - deposit.fillna(0.0) - delivery.fillna(0.0)).where(~plain, 0.0),
    }
    days = {
        "order": last_order_dates(bought, periods),
        "delivery": delivery_dates(bought, periods),
        "acceptance": bought["in_service_period"].map(periods["start_date"]),
    }
    term_days = bought["payment_term_days"].astype(float).fillna(0.0)
    later = pd.to_timedelta(term_days, unit="D")
    bought = bought.assign(at_once=plain & (term_days <= 0.0))
    parts = [
        bought.assign(milestone=name, milestone_fraction=shares[name], due_date=days[name] + later)
        for name in MILESTONES
    ]
    due = pd.concat(parts, ignore_index=True)
    period, timing = payment_moments(due["due_date"], periods)
    return due.assign(paid_period=period, timing=np.where(due["at_once"], "start", timing))


def payment_moments(due: pd.Series, periods: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the period in which each payment falls and its timing, never later than it is due.

    A payment of the first half of a period is reckoned at its start, one of the second half in its middle; one after
    the horizon in the middle of the last period.
    """
    start = periods["start_date"].to_numpy("datetime64[ns]")
    length = pd.to_timedelta(periods["hours"].to_numpy(float), unit="h").to_numpy()
    end = np.append(start[1:], start[-1] + length[-1])
    moment = due.to_numpy("datetime64[ns]")
    place = np.clip(np.searchsorted(start, moment, side="right") - 1, 0, len(start) - 1)
    first_half = (moment - start[place]) * 2 < (end[place] - start[place])
    return periods.index.to_numpy()[place], np.where(first_half, "start", "mid")


def _terms(termed: pd.DataFrame, alive: pd.DataFrame, periods: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the payments of leases and reservations.

    upfront       share of all hours or months of the term, with the first period of service
    over the term the rest, by the hours or calendar months of each period served, or by its payment calendar
    left at end   what was paid ahead for the term after the horizon: an asset still held, no payment
    accrued       what is due after the horizon for service within it
    installation  of a lease: share of the term's payments, with the order; the unit stands in a hall of ours
    """
    upfront = termed["upfront_fraction"].astype(float).fillna(0.0)
    termed = termed.assign(upfront=upfront, line=termed["mode"].map(RENT_LINES))
    calendar = has_calendar(termed)
    dated = _instalments(termed[calendar], alive, periods)
    held = termed.merge(alive, on=ORDER)
    units = pd.Series(period_units(held, held["alive_period"], periods), index=held.index)
    by_period = ~has_calendar(held)
    over = held.assign(paid_period=held["alive_period"], timing="mid")
    served = units.groupby([held[name] for name in ORDER]).sum()
    inside = served.reindex(pd.MultiIndex.from_frame(termed[ORDER])).fillna(0.0).to_numpy(float)
    length = term_lengths(termed, periods)
    beyond = length["left_units"].to_numpy(float)
    first = termed.assign(paid_period=termed["in_service_period"], timing="start")
    last = termed.assign(paid_period=periods.index[-1], timing="end")
    paid_first = termed["price_paid"] * termed["upfront"]
    leased = termed["mode"].eq("lease").to_numpy()
    lease = termed[leased].assign(timing="start")
    lease = lease.assign(paid_period=lease["period"])
    installed = lease["price_paid"] * length.loc[leased, "term_units"].to_numpy(float)
    return [
        _paid(
            over, "", "opex", (held["price_paid"] * (1.0 - held["upfront"]) * units).where(by_period, 0.0)
        ).assign(line=lambda kept: held.loc[kept.index, "line"]),
        *dated,
        _paid(first, "", "opex", paid_first * (inside + beyond)).assign(
            line=lambda kept: termed.loc[kept.index, "line"]
        ),
        _paid(last, "prepaid_rent_left", "opex", -paid_first * beyond),
        _paid(
            lease,
            "installation",
            "capex",
            installed * lease["installation_fraction"].astype(float).fillna(0.0),
        ),
    ]


def _instalments(termed: pd.DataFrame, alive: pd.DataFrame, periods: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the payments of orders with a calendar, what is paid ahead at the end, and what is served but not paid."""
    if termed.empty:
        return []
    paid = instalments(termed, alive, periods)
    rate = termed.assign(rate=termed["price_paid"] * (1.0 - termed["upfront"])).set_index(ORDER)[
        ["rate", "line"]
    ]
    rows = paid[paid["in_horizon"]].merge(rate, on=ORDER)
    left = left_at_end(paid).join(rate).reset_index().assign(paid_period=periods.index[-1], timing="end")
    return [
        _paid(rows, "", "opex", rows["rate"] * rows["units"]).assign(
            line=lambda kept: rows.loc[kept.index, "line"]
        ),
        _paid(left, "prepaid_rent_left", "opex", -left["rate"] * left["prepaid"]),
        _paid(left, "rent_accrued", "opex", left["rate"] * left["accrued"]),
    ]


def _beyond(scenario: Scenario, termed: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    _, charge = charge_after_horizon(scenario, termed, term_lengths(termed, periods), horizon_years(periods))
    last = termed.assign(paid_period=periods.index[-1], timing="end")
    return _paid(last, "commitment_after_horizon", "opex", charge)


def _warranty(
    scenario: Scenario, stand: pd.DataFrame, bought: pd.DataFrame, alive: pd.DataFrame, periods: pd.DataFrame
) -> list[pd.DataFrame]:
    """Return what the warranty pays of maintenance and parts: taken off what installed units cost to keep."""
    covered = bought[bought["warranty_years"].astype(float).fillna(0.0) > 0].merge(alive, on=ORDER)
    began = periods["start_years"].to_numpy()[covered["in_service_ordinal"].to_numpy(int)]
    start = covered["alive_period"].map(periods["start_years"]).to_numpy(float)
    length = covered["alive_period"].map(periods["years"]).to_numpy(float)
    years = np.clip(began + covered["warranty_years"].to_numpy(float) - start, 0.0, length)
    price = lot_prices(scenario, stand, covered).to_numpy(float)
    kept = covered.assign(paid_period=covered["alive_period"], timing="mid")
    return [
        _paid(kept, line, "opex", -price * share.to_numpy(float) * years)
        for line, share in upkeep_shares(covered).items()
    ]


__all__ = ["CHARGES", "MILESTONES", "milestones", "order_costs", "payment_moments"]
