"""Rows of hardware that is paid for by the hour or month: leases, reservations, on-demand and spot rent."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.units import MONTHS_PER_YEAR
from reports import styles
from reports.calculation.hardware import offer_price, order_discounts, term_stated, times, trend_index
from reports.calculation.rows import At, Rows
from reports.calculation.timeline_rows import Clock
from reports.content import by_period

RENT_LINES = {
    "lease": ("lease", "Lease payments"),
    "reserved": ("reserved_rent", "Reserved capacity"),
    "on_demand": ("on_demand_rent", "On-demand rent"),
    "spot": ("spot_rent", "Spot rent"),
}
"""Contract mode -> cost line and its title."""

ALIVE_TOLERANCE_YEARS = 1e-9


def rent_rows(rows: Rows, time: Clock) -> None:
    """Append all rows of hardware that the plan leases, reserves or rents."""
    for mode, (line, title) in RENT_LINES.items():
        _rent(rows, time, mode, line, title)
    _beyond(rows, time)


def _beyond(rows: Rows, time: Clock) -> None:
    """Append what terms that outlive the horizon are charged: rent of the years left less what they are worth."""
    held = rows.content.frame(
        "commitments", ["offer", "period", "service_value_fraction", "charge_at_horizon_end"]
    )
    held = held[held["charge_at_horizon_end"] > 0.0]
    if held.empty:
        return
    rows.title("Terms that outlive the horizon")
    currency, names = rows.content.currency, list(rows.content.timeline.names)
    rent = held.assign(rent=held["charge_at_horizon_end"] / (1.0 - held["service_value_fraction"]))
    rent["worth"] = rent["rent"] * rent["service_value_fraction"]
    by_offer = {name: by_period(rent, ["offer"], name, rows.content.timeline) for name in ("rent", "worth")}
    owed = by_offer["rent"][names].to_numpy(float)
    share = np.divide(by_offer["worth"][names].to_numpy(float), owed, out=np.zeros_like(owed), where=owed > 0)
    left = [
        rows.plan_values(
            "Rent of the years left", offer, "all sites", "by order date, at the end", currency, values
        )
        for offer, values in zip(by_offer["rent"]["offer"], owed, strict=True)
    ]
    worth = [
        rows.plan_values(
            "Service left is worth",
            offer,
            "",
            "residuals",
            "fraction",
            values,
            styles.PERCENT_PLAIN,
            total=False,
        )
        for offer, values in zip(by_offer["rent"]["offer"], share, strict=True)
    ]
    parts = [
        rows.formula(
            "Charge; column H: price now / as planned",
            offer,
            "all sites",
            "rent left x (1 - worth) x price ratio",
            currency,
            f"{time.last.here}*(SUM({rent_at.across})-SUMPRODUCT({rent_at.across},{worth_at.across}))*{{H}}",
            _price_ratio(rows, offer),
            constant_form=styles.FACTOR,
        )
        for offer, rent_at, worth_at in zip(by_offer["rent"]["offer"], left, worth, strict=True)
    ]
    rows.line_total("commitment_after_horizon", "Terms that outlive the horizon", parts, "end", currency)


def _price_ratio(rows: Rows, offer: str) -> str | float:
    """Return the formula of an offer's price now over its price as planned, 1 where it has none."""
    price = offer_price(rows, offer)
    return f"{price}/({rows.inputs.planned(price)})" if price else 1.0


def _rent(rows: Rows, time: Clock, mode: str, line: str, title: str) -> None:
    fleet = rows.content.frame("fleet", ["offer", "mode", "period", "units"])
    held = by_period(fleet[fleet["mode"] == mode], ["offer"], "units", rows.content.timeline)
    if held.empty:
        return
    rows.title(title)
    currency, names = rows.content.currency, list(rows.content.timeline.names)
    hours, index = {}, {}
    for offer, units in zip(held["offer"], held[names].to_numpy(float), strict=True):
        hours[offer] = _unit_hours(rows, time, mode, offer, units)
    for offer in hours:
        index[offer] = _rent_index(rows, time, mode, offer)
    parts = [
        rows.formula(
            f"Payments; column H: price per unit-{_time_unit(rows, offer)}",
            offer,
            "all sites",
            f"unit-{_time_unit(rows, offer)}s x price x index",
            currency,
            f"{hours[offer].here}*{{H}}{times(index[offer])}",
            offer_price(rows, offer) or 0.0,
            constant_form="#,##0.0000",
        )
        for offer in hours
    ]
    if not term_stated(rows, hours, ("upfront_fraction", "payment_every_months")):
        rows.line_total(line, title, parts, "mid", currency)


def _time_unit(rows: Rows, offer: str) -> str:
    """Return the time an offer's price is for: hour, or month by the calendar."""
    offers = rows.content.table("offers")
    unit = offers.loc[offers["offer"] == offer, "price_unit"].iloc[0]
    return "month" if unit == "unit_month" else "hour"


def _unit_hours(rows: Rows, time: Clock, mode: str, offer: str, units: np.ndarray) -> At:
    """Append unit-hours paid for: units x hours, or summed by block where units are released by the hour.

    Of a price per month unit-months: units x calendar months, hours by the block as a share of the month's.
    """
    unit = _time_unit(rows, offer)
    length = time.hours if unit == "hour" else time.months
    if mode in ("on_demand", "spot") and released_hourly(rows, offer):
        billed = billed_hours(rows, offer)
        used = rows.plan_values(
            "Unit-hours billed",
            offer,
            "all sites",
            "units x hours, by block",
            "unit-hours",
            billed,
            styles.QUANTITY,
        )
        if unit == "hour":
            return used
        formula = f"{used.here}*{time.months.here}/{time.hours.here}"
        return rows.formula(
            "Unit-months billed", offer, "all sites", "unit-hours / hours x months", "unit-months", formula
        )
    held = rows.plan_values(
        "Units held", offer, "all sites", "fleet", "units", units, styles.COUNT, total=False
    )
    formula = f"{held.here}*{length.here}"
    return rows.formula(
        f"Unit-{unit}s held", offer, "all sites", f"units x {unit}s", f"unit-{unit}s", formula
    )


def released_hourly(rows: Rows, offer: str) -> bool:
    """Return whether units of an offer are released by the hour."""
    offers = rows.content.table("offers")
    return bool((offers.loc[offers["offer"] == offer, "rent_step"] == "hour").any())


def billed_hours(rows: Rows, offer: str) -> np.ndarray:
    """Return unit-hours of hourly rent by period: units of each block x its hours."""
    rent = rows.content.frame("hourly_rent", ["offer", "period", "block", "units"])
    blocks = rows.content.frame("blocks", ["period", "block", "hours"])[["period", "block", "hours"]]
    own = rent[rent["offer"].astype(str) == offer].merge(
        blocks, on=["period", "block"], validate="many_to_one"
    )
    hours = (own["units"] * own["hours"]).groupby(own["period"]).sum()
    return hours.reindex(list(rows.content.timeline.names)).fillna(0.0).to_numpy(float)


def _rent_index(rows: Rows, time: Clock, mode: str, offer: str) -> At | None:
    """Append the price index of the units held: of the period for rent, of the order dates for a term."""
    if mode in ("on_demand", "spot"):
        return trend_index(rows, time, offer, "Price index of the period")
    trend = rows.inputs.number("offers", [offer], "price_trend_fraction_per_year")
    trend = 0.0 if np.isnan(trend) else trend
    if not trend and order_discounts(rows, offer) is None:
        return None
    index = mean_index(rows, offer, trend)
    return rows.plan_values(
        "Price index of the units held",
        offer,
        "",
        "mean over the order dates and tiers",
        "factor",
        index,
        styles.FACTOR,
        total=False,
    )


def mean_index(rows: Rows, offer: str, trend: float) -> np.ndarray:
    """Return the mean price index of the units in term in each period, by the date and tier each was ordered at."""
    timeline = rows.content.timeline
    place = {name: index for index, name in enumerate(timeline.names)}
    orders = rows.content.frame("orders")
    term = rows.inputs.number("offers", [offer], "term_months") / MONTHS_PER_YEAR
    weight, weighted = np.zeros(rows.periods), np.zeros(rows.periods)
    own = orders[orders["offer"] == offer]
    discounts = order_discounts(rows, offer)
    saved = pd.Series(0.0, index=own.index)
    if discounts is not None:
        label = pd.MultiIndex.from_frame(own[["site", "cooling", "period"]])
        saved = pd.Series(discounts.reindex(label).fillna(0.0).to_numpy(float), index=own.index)
    own = own.assign(left=1.0 - saved / own["units"])[["period", "in_service_period", "units", "left"]]
    for ordered, served, units, left in own.to_numpy().tolist():
        began = timeline.start_years[place[served]]
        alive = (timeline.start_years >= began) & (
            timeline.start_years < began + term - ALIVE_TOLERANCE_YEARS
        )
        weight += alive * units
        weighted += alive * units * left * (1.0 + trend) ** timeline.start_years[place[ordered]]
    return np.divide(weighted, weight, out=np.ones(rows.periods), where=weight > 0)
