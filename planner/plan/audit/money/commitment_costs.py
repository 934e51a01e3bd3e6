"""Terms that outlive the horizon, priced by the audit's own arithmetic."""

from __future__ import annotations

from math import log

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.clock import present_value, yearly_rate
from planner.plan.audit.money.hardware_costs import entries, residual_share, term_time, time_owed
from planner.plan.audit.once import once
from planner.units import MONTHS_PER_YEAR

TERMED = ("lease", "reserved")


@once
def termed_orders(books: Books) -> pd.DataFrame:
    """Return leases and reservations with term, age at the end of the horizon, years left, rent and open payment
    a year, charge.

    The market rent of a year at age t is what a unit's market value loses in it, interest on it included; the charge
    is what payments left exceed the market rent of the years left, both valued on the last day of the horizon, in
    proportion of contract rent to the market rent of the whole term; of a class without market values, by how much
    the price of the offer has fallen since service began.
    """
    orders, periods = books.orders, books.facts.periods
    termed = orders[orders["mode"].isin(TERMED)]
    settings = books.facts.scenario.settings
    rate = yearly_rate(settings)
    starts = periods["start_years"].to_numpy()
    end_years = starts[-1] + periods["years"].iloc[-1]
    began = starts[np.minimum(termed["first"].to_numpy(int), len(periods) - 1)]
    term = termed["service_years"].to_numpy(float)
    behind = term_time(books, termed.assign(price_unit="unit_month"))[1] / MONTHS_PER_YEAR
    owed = termed["paid_price"].to_numpy(float) * term_time(books, termed)[1]
    yearly = np.divide(owed, behind, out=np.zeros(len(termed)), where=behind > 0.0)
    table = termed.assign(began=began, term=term, age=term - behind, left=behind, yearly=yearly)
    age = table["age"].to_numpy(float)
    chosen = orders["mode"].isin(TERMED).to_numpy()
    unpaid = termed["paid_price"] * (1.0 - termed["upfront_fraction"].fillna(0.0))
    table["open_owed"] = unpaid * time_owed(books)[chosen]
    now, then = (residual_share(books, table, years) for years in (age, term))
    charges = []
    listed = set(books.facts.scenario.tables["residuals"]["asset_class"])
    free = (
        settings.commitment_method == "none"
        or end_years < settings.commitment_horizon_years - 1e-9
        # Without a market there is nothing that the service left could be worth less than.
        or (settings.commitment_method == "market" != settings.residual_method)
    )
    for row, at_age, at_term in zip(table.itertuples(index=False), now, then, strict=True):
        left = level_value(rate, row.left)
        if row.left < 1e-9 or free:
            charges.append(0.0)
            continue
        if settings.commitment_method == "market" and row.asset_class not in listed:
            # No hardware of ours: the service left is worth what the offer itself costs by then.
            unsaid = settings.hosted_rent_trend_fraction_per_year
            trend = unsaid if np.isnan(row.stated_trend) else row.stated_trend
            cheaper = max(1.0 - (1.0 + trend) ** row.age, 0.0)
            charges.append(cheaper * row.yearly * left)
            continue
        whole = 1.0 - at_term * present_value(rate, row.term)
        rest = at_age - at_term * present_value(rate, row.left)
        share = (
            0.0
            if settings.commitment_method == "full"
            else rest * level_value(rate, row.term) / (whole * left)
        )
        charges.append(max(1.0 - max(share, 0.0), 0.0) * row.yearly * left)
    return table.assign(charge=np.array(charges, dtype=float))


def level_value(rate_fraction: float, years: float) -> float:
    """Return the value of one unit of money a year, paid evenly for some years."""
    return (
        years
        if rate_fraction == 0.0
        else (1.0 - present_value(rate_fraction, years)) / log(1.0 + rate_fraction)
    )


def commitment_entries(books: Books) -> pd.DataFrame:
    """Return the charge for terms that outlive the horizon: a value at its end, no payment."""
    termed = termed_orders(books)
    last = termed.assign(ordered=termed["period"], period=books.facts.periods.index[-1])
    rows = entries(last, "commitment_after_horizon", "opex", "end", termed["units"] * termed["charge"])
    return rows[rows["amount"].abs() > 1e-9].reset_index(drop=True)
