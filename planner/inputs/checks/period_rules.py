"""Rules about dates: the horizon, orders, fleets and energisation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from planner.inputs.calendar import end_date
from planner.inputs.checks.view import Finding, Notice, Rule, View, rows_where

DAY = pd.Timedelta(days=1)


def horizon(view: View) -> tuple[pd.Timestamp, pd.Timestamp]:
    """Return the first moment of the horizon and the first one after it, NaT where the last period has no length.

    Nothing is later than NaT: a length that is not stated is a fault of its own.
    """
    periods = view.frame("periods").sort_values("start_date")
    last = periods.iloc[-1]
    if last[["months", "hours"]].isna().all():
        return periods["start_date"].iloc[0], pd.NaT
    return periods["start_date"].iloc[0], end_date(last["start_date"], last["months"], last["hours"])


def period_has_one_length(view: View) -> Iterator[Finding]:
    """Yield periods that give neither or both of months and hours."""
    periods = view["periods"]
    months, hours = periods.frame["months"].notna(), periods.frame["hours"].notna()
    for at in rows_where(periods, months == hours):
        yield periods.fault(at, "months", "give either months or hours", "both" if months[at] else None)


def months_start_on_the_first(view: View) -> Iterator[Finding]:
    """Yield periods in months that do not start with a month; bills are by calendar month."""
    periods = view["periods"]
    wrong = periods.frame["months"].notna() & (periods.frame["start_date"].dt.day != 1)
    for at in rows_where(periods, wrong):
        yield periods.fault(at, "start_date", "a period in months must start on the first day of a month")


def periods_follow_each_other(view: View) -> Iterator[Finding]:
    """Yield periods that are out of order, or leave a gap to the one before or overlap it."""
    periods = view["periods"]
    frame = periods.frame
    if not (frame["months"].notna() ^ frame["hours"].notna()).all():
        return
    for at in range(1, len(frame)):
        before = frame.iloc[at - 1]
        start = frame["start_date"].iloc[at]
        end = end_date(before["start_date"], before["months"], before["hours"])
        due = end.ceil("D")
        if abs(start - end) < DAY:
            continue
        what = (
            "is before the period above"
            if start <= before["start_date"]
            else ("leaves a gap after the period above" if start > end else "overlaps the period above")
        )
        message = f"{what}; {before['period']} ends so that the next starts on {due:%Y-%m-%d}"
        yield periods.fault(at, "start_date", message)


def order_window_is_open(view: View) -> Iterator[Finding]:
    """Yield offers whose last order date is before the first."""
    offers = view["offers"]
    wrong = offers.frame["available_until"] < offers.frame["available_from"]
    for at in rows_where(offers, wrong):
        first = offers.frame["available_from"].iloc[at]
        yield offers.fault(at, "available_until", f"must not be before available_from {first:%Y-%m-%d}")


def fleet_retires_after_it_serves(view: View) -> Iterator[Finding]:
    """Yield lots that retire before they serve."""
    fleet = view["fleet"]
    for at in rows_where(fleet, fleet.frame["retire_date"] <= fleet.frame["in_service_date"]):
        first = fleet.frame["in_service_date"].iloc[at]
        yield fleet.fault(at, "retire_date", f"must be after in_service_date {first:%Y-%m-%d}")


def charge_ends_after_it_starts(view: View) -> Iterator[Finding]:
    """Yield tariff charges that end before they start."""
    tariffs = view["tariffs"]
    for at in rows_where(tariffs, tariffs.frame["end_date"] < tariffs.frame["start_date"]):
        first = tariffs.frame["start_date"].iloc[at]
        yield tariffs.fault(at, "end_date", f"must not be before start_date {first:%Y-%m-%d}")


def energisation_dates_ascend(view: View) -> Iterator[Finding]:
    """Yield energisation rows that are not later than the site's row above."""
    power = view["site_power"]
    above = power.frame.groupby("site")["from_date"].shift()
    for at in rows_where(power, power.frame["from_date"] < above):
        message = f"dates of a site must ascend; the row above has {above.iloc[at]:%Y-%m-%d}"
        yield power.fault(at, "from_date", message)


def power_comes_within_the_horizon(view: View) -> Iterator[Finding]:
    """Yield sites whose first power comes only after the horizon."""
    power = view["site_power"]
    first = power.frame.groupby("site")["from_date"].transform("min")
    end = horizon(view)[1]
    late = (power.frame["from_date"] == first) & (first >= end)
    for at in rows_where(power, late & ~power.frame.duplicated("site")):
        message = f"the site has no power in the whole horizon, which ends before {end:%Y-%m-%d}"
        yield Notice(power.fault(at, "from_date", message))


def supply_periods_are_used(view: View) -> Iterator[Finding]:
    """Yield confirmed units that lie outside the offer's order window."""
    supply = view["supply"]
    starts = view.lookup(supply.frame["period"], "periods", "start_date")
    until = view.lookup(supply.frame["offer"], "offers", "available_until")
    late = (starts > until) & np.asarray(supply.frame["units"] > 0)
    for at in rows_where(supply, late):
        message = f"the offer can be ordered only until {until.iloc[at]:%Y-%m-%d}, before this period"
        yield Notice(supply.fault(at, "units", message))


LENGTH = ("periods.start_date", "periods.months", "periods.hours")

RULES = (
    Rule(period_has_one_length, LENGTH[1:]),
    Rule(months_start_on_the_first, LENGTH),
    Rule(periods_follow_each_other, ("periods.period", *LENGTH)),
    Rule(order_window_is_open, ("offers.available_from", "offers.available_until")),
    Rule(fleet_retires_after_it_serves, ("fleet.in_service_date", "fleet.retire_date")),
    Rule(charge_ends_after_it_starts, ("tariffs.start_date", "tariffs.end_date")),
    Rule(energisation_dates_ascend, ("site_power.site", "site_power.from_date")),
    Rule(power_comes_within_the_horizon, ("site_power.site", "site_power.from_date", *LENGTH)),
    Rule(
        supply_periods_are_used,
        ("supply.period", "supply.units", "supply.offer", "periods.start_date", "offers.available_until"),
    ),
)
