"""What ordering, renting and keeping units costs, from orders and fleet."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.clock import present_value
from planner.plan.audit.facts import RENTED
from planner.plan.audit.report import total
from planner.plan.audit.standing import STAND, lowest_purchase_price, price_at
from planner.units import HOURS_PER_MONTH, KW_PER_MW

ENTRY = ["line", "kind", "period", "site", "offer", "workload", "timing", "amount"]
RENT_LINES = {
    "lease": "lease",
    "reserved": "reserved_rent",
    "on_demand": "on_demand_rent",
    "spot": "spot_rent",
}


def entries(
    rows: pd.DataFrame, line: str | pd.Series, kind: str, timing: str, amount: pd.Series | np.ndarray
) -> pd.DataFrame:
    """Return ledger entries, one per row, with the labels the rows have (blank where they have none)."""
    labels = {name: rows.get(name, "") for name in ("period", "site", "offer", "workload")}
    table = pd.DataFrame({**labels, "line": line, "kind": kind, "timing": timing}, index=rows.index)
    return table.assign(amount=np.asarray(amount, dtype=float))[ENTRY].reset_index(drop=True)


def residual_share(books: Books, bought: pd.DataFrame, age_years: np.ndarray) -> np.ndarray:
    """Return market value at the end of the horizon over the price paid, by the scenario's method.

    market        the asset class's value at that age, between two stated ages in proportion, level beyond the
                  last; 0 without a class, and 0 from the end of the unit's life on
    sinking_fund  (fund still to be paid in) see :func:`sinking_fund`
    """
    settings = books.facts.scenario.settings
    if settings.residual_method == "none":
        return np.zeros(len(bought))
    if settings.residual_method == "sinking_fund":
        life = bought["life_years"].to_numpy(float)
        return np.array(
            [
                sinking_fund(settings.discount_rate_fraction, age, years)
                for age, years in zip(age_years, life, strict=True)
            ]
        )
    table = books.facts.scenario.tables["residuals"].sort_values("age_years")
    shares = []
    lives = bought["life_years"].to_numpy(float)
    for asset_class, age, life in zip(bought["asset_class"], age_years, lives, strict=True):
        known = table[table["asset_class"] == asset_class]
        worth = bool(len(known)) and age < life
        shares.append(float(np.interp(age, known["age_years"], known["residual_fraction"])) if worth else 0.0)
    return np.array(shares)


def sinking_fund(rate_fraction: float, age_years: float, life_years: float) -> float:
    """Return the share of the price left by the sinking-fund rule: what level payments of the rest are worth
    then.

    (1 - (1 + r)^-(L - k)) / (1 - (1 + r)^-L),  k the age, L the life; 1 - k / L at zero interest, 0 beyond
    the life

    >>> round(sinking_fund(0.08, 3.0, 5.0), 6)
    0.44663
    """
    left = max(life_years - age_years, 0.0)
    if rate_fraction == 0.0:
        return left / life_years
    return (1.0 - present_value(rate_fraction, left)) / (1.0 - present_value(rate_fraction, life_years))


def order_entries(books: Books) -> pd.DataFrame:
    """Return purchases with installation and residual, and the payments of leases and reservations.

    A purchase is paid when it is ordered; its residual falls at the end of the horizon, by its age since it
    serves. A lease or reservation pays each hour of each period it serves (a month is 730 hours).
    """
    orders, periods = books.orders, books.facts.periods
    bought = orders[orders["mode"].eq("purchase")]
    paid = bought["units"] * bought["paid_price"]
    end_years = periods["start_years"].iloc[-1] + periods["years"].iloc[-1]
    first = bought["first"].to_numpy(int)
    age = end_years - periods["start_years"].to_numpy()[np.minimum(first, len(periods) - 1)]
    share = residual_share(books, bought, age)
    last = bought.assign(period=periods.index[-1])
    row, column = np.nonzero(books.serves & orders["mode"].isin(("lease", "reserved")).to_numpy()[:, None])
    termed = orders.iloc[row].assign(period=periods.index[column]).reset_index(drop=True)
    hours = books.period_of(termed, "hours")
    return pd.concat(
        [
            entries(bought, "hardware_purchase", "capex", "start", paid),
            entries(bought, "installation", "capex", "start", paid * bought["installation_fraction"]),
            entries(last, "hardware_residual", "capex", "end", -paid * share),
            entries(
                termed,
                termed["mode"].map(RENT_LINES),
                "opex",
                "mid",
                termed["units"] * per_hour(termed, termed["paid_price"]) * hours,
            ),
        ],
        ignore_index=True,
    )


def per_hour(unit: pd.DataFrame, price: pd.Series | np.ndarray) -> np.ndarray:
    """Return a price per hour: as stated per hour, or per month of 730 hours."""
    value = np.asarray(price, dtype=float)
    return np.where(unit["price_unit"].eq("unit_hour"), value, value / HOURS_PER_MONTH)


def payments_by_order(books: Books) -> np.ndarray:
    """Return what each order pays over the horizon, on the rows of ``orders``.

    Purchase: price and installation. Lease, reservation: its hours of every period it serves. Rental: its
    hours of the period, or the hours of each block times the units held there.
    """
    orders, hourly = books.orders, books.hourly
    price = orders["paid_price"].to_numpy(float)
    hours_served = books.serves @ books.facts.periods["hours"].to_numpy(float)
    bought = price * (1.0 + orders["installation_fraction"].to_numpy(float))
    per_unit = np.where(orders["mode"].eq("purchase"), bought, per_hour(orders, price) * hours_served)
    by_block = total(hourly["units"] * books.hours_of(hourly), hourly, [*STAND, "period"])
    unit_hours = by_block.reindex(
        pd.MultiIndex.from_frame(orders[[*STAND, "period"]]), fill_value=0.0
    ).to_numpy()
    return np.where(orders["hourly"], per_hour(orders, price) * unit_hours, orders["units"] * per_unit)


def rent_entries(books: Books) -> pd.DataFrame:
    """Return rentals: whole periods by the fleet's units, hourly ones by the units of each block."""
    fleet, hourly = books.fleet, books.hourly
    whole = fleet[fleet["mode"].isin(RENTED) & ~fleet["hourly"]]
    parts = []
    for rows, hours in ((whole, books.period_of(whole, "hours")), (hourly, books.hours_of(hourly))):
        rate = per_hour(rows, price_at(rows, books.period_of(rows, "start_years")))
        parts.append(entries(rows, rows["mode"].map(RENT_LINES), "opex", "mid", rows["units"] * rate * hours))
    return pd.concat(parts, ignore_index=True)


def keeping_entries(books: Books) -> pd.DataFrame:
    """Return what units in our own or colocation halls cost to keep.

    maintenance    lowest purchase price of the product today x yearly share x years, of bought and existing
    units
    facility_rent  rent per kW and month x provisioned kW x months, at colocation sites
    staff          people per MW x cost of a person x provisioned MW x years
    network        cost per kW and year x provisioned kW x years
    """
    units = books.own_fleet
    units = units[~units["mode"].isin(RENTED)]
    site = books.facts.sites.reindex(units["site"]).set_index(units.index)
    years, months = books.period_of(units, "years"), books.period_of(units, "months")
    kw = units["units"] * units["provisioned_kw"]
    price = units["product"].map(lowest_purchase_price(books.facts)).astype(float).fillna(0.0)
    price = price.where(units["mode"].isin(("purchase", "owned")), 0.0)
    upkeep = units["units"] * price * units["maintenance_fraction_per_year"] * years
    rent = (site["rent_per_kw_month"].fillna(0.0) * site["fx"]).where(site["kind"].eq("colo"), 0.0)
    people = site["staff_per_mw"].fillna(0.0) * site["staff_cost_per_year"].fillna(0.0) * site["fx"]
    network = site["network_cost_per_kw_year"].fillna(0.0) * site["fx"]
    return pd.concat(
        [
            entries(units, "maintenance", "opex", "mid", upkeep),
            entries(units, "facility_rent", "opex", "mid", rent * kw * months),
            entries(units, "staff", "opex", "mid", people * kw / KW_PER_MW * years),
            entries(units, "network", "opex", "mid", network * kw * years),
        ],
        ignore_index=True,
    )
