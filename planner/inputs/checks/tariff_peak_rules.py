"""Rules about the kW of demand charges: by day, of hours named afterwards, and peaks before the horizon."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from planner.inputs.checks.view import Finding, Notice, Rule, View, rows_where
from planner.inputs.windows import (
    MINUTES_PER_QUARTER,
    QUARTERS_PER_HOUR,
    first_billed,
    month_number,
    named_spans,
    parse_hours,
    peaks_behind,
)
from planner.units import MONTHS_PER_YEAR

DAILY_UNITS = ("kw_day", "kva_day")


def named_hours_can_be_billed(view: View) -> Iterator[Finding]:
    """Yield hours that cannot be read, span a year, lie after their bill, or are of no plain demand charge."""
    tariffs = view["tariffs"]
    for at in rows_where(tariffs, tariffs.frame["named_hours"].notna()):
        row = tariffs.frame.iloc[at]
        if (times := _times(row)) is None:
            message = (
                "local hours such as 2026-06-24T16:00;2026-07-20T17:00, or quarters: T15:45, T16:00/16:15"
            )
            yield tariffs.fault(at, "named_hours", message)
            continue
        months = [month_number(time) for time in times]
        if row["ratchet_fraction"] > 0:
            yield tariffs.fault(
                at, "ratchet_fraction", "a charge on named hours looks back by itself: leave blank"
            )
        if max(months) - min(months) >= MONTHS_PER_YEAR:
            yield tariffs.fault(
                at, "named_hours", "hours of one year: those of another are a charge of their own"
            )
        elif min(months) >= first_billed(row) + MONTHS_PER_YEAR:
            yield tariffs.fault(
                at, "named_hours", f"must not lie after the year billed from {row['start_date']:%Y-%m-%d}"
            )


def named_hours_lie_in_the_window(view: View) -> Iterator[Finding]:
    """Yield hours outside the hours and days in which a plan expects those of later years."""
    tariffs = view["tariffs"]
    for at in rows_where(tariffs, tariffs.frame["named_hours"].notna()):
        row = tariffs.frame.iloc[at]
        times = _times(row) or []
        try:
            inside = {True: parse_hours(row["hours"]), False: parse_hours(row["hours"])}
            if not pd.isna(row["weekend_hours"]):
                inside[False] = parse_hours(row["weekend_hours"])
        except ValueError:
            continue
        outside = [
            time
            for time in times
            if row["day_type"] == ("weekend" if time.day_of_week < 5 else "weekday")
            or not inside[time.day_of_week < 5][
                time.hour * QUARTERS_PER_HOUR + time.minute // MINUTES_PER_QUARTER
            ]
        ]
        if outside:
            message = (
                f"{outside[0]} is outside the charge's hours and days, in which later years' peaks are taken"
            )
            yield Notice(tariffs.fault(at, "named_hours", message))


def named_quarters_are_hours_in_a_plan(view: View) -> Iterator[Finding]:
    """Yield quarters of an hour named by a tariff that a site pays: a plan knows the kW of whole hours."""
    tariffs, sites = view["tariffs"], view.frame("sites")
    paid = tariffs.frame["tariff"].isin(sites.loc[sites["kind"] != "cloud", "tariff"])
    for at in rows_where(tariffs, paid & tariffs.frame["named_hours"].notna()):
        spans = _spans(tariffs.frame.iloc[at]) or []
        if any(end - start < pd.Timedelta(hours=1) for start, end in spans):
            message = (
                "names a quarter of an hour: later years of a plan are billed the mean kW of the whole hour; "
                "`planner bill` takes the quarter from a load of 15 minutes"
            )
            yield Notice(tariffs.fault(at, "named_hours", message))


def history_has_every_named_month(view: View) -> Iterator[Finding]:
    """Yield sites that state some of the earlier peaks a charge on named hours rests on in the first month, not all."""
    history, tariffs = view["peak_history"], view.frame("tariffs")
    first = view.frame("periods")["start_date"].min()
    named = tariffs[tariffs["named_hours"].notna()]
    if pd.isna(first) or named.empty or history.frame.empty:
        return
    keyed = history.frame.assign(tariff=view.lookup(history.frame["site"], "sites", "tariff"))
    stated = keyed["month"].dt.year * MONTHS_PER_YEAR + keyed["month"].dt.month - 1
    for (tariff, component), rows in keyed.groupby(["tariff", "component"], sort=False):
        own = named[(named["tariff"] == tariff) & (named["component"] == component)]
        if own.empty or _times(own.iloc[0]) is None:
            continue
        start = month_number(first)
        begin = max(start, first_billed(own.iloc[0])) if pd.notna(own["start_date"].iloc[0]) else start
        needed = {month for month in peaks_behind(own.iloc[0], begin) if month < start}
        for site, part in rows.groupby("site", sort=False):
            if missing := sorted(needed - set(stated[part.index])):
                names = ", ".join(
                    f"{number // MONTHS_PER_YEAR}-{number % MONTHS_PER_YEAR + 1:02d}" for number in missing
                )
                at = keyed.index.get_loc(part.index[0])
                message = f"{component} of {site} rests on its peaks of {names} too: state them, 0 where none"
                yield history.fault(at, "month", message)


def daily_peaks_stand_alone(view: View) -> Iterator[Finding]:
    """Yield charges per kW and day that look back, rest on named hours or have tiers: each day is billed by itself."""
    tariffs = view["tariffs"]
    daily = tariffs.frame["price_unit"].isin(DAILY_UNITS) & (tariffs.frame["charge"] == "demand")
    stated = {
        "ratchet_fraction": tariffs.frame["ratchet_fraction"] > 0,
        "named_hours": tariffs.frame["named_hours"].notna(),
        "tier_of": tariffs.frame["tier_of"].notna(),
    }
    for column, told in stated.items():
        for at in rows_where(tariffs, daily & told):
            yield tariffs.fault(at, column, "a charge per kW and day bills each day's own peak: leave blank")


def history_is_of_a_charge(view: View) -> Iterator[Finding]:
    """Yield earlier peaks of a charge that the site's tariff does not have."""
    history = view["peak_history"]
    tariffs = view.frame("tariffs")
    demand = tariffs[tariffs["charge"] == "demand"]
    known = pd.MultiIndex.from_frame(demand[["tariff", "component"]])
    tariff = view.lookup(history.frame["site"], "sites", "tariff")
    asked = pd.MultiIndex.from_arrays([tariff, history.frame["component"]])
    for at in rows_where(history, ~asked.isin(known)):
        allowed = sorted(demand.loc[demand["tariff"] == tariff.iloc[at], "component"])
        message = f"no demand charge of the site's tariff; it has {', '.join(allowed) or 'none'}"
        yield history.fault(at, "component", message)


def history_is_before_the_horizon(view: View) -> Iterator[Finding]:
    """Yield earlier peaks of months that are planned, or two of one month."""
    history = view["peak_history"]
    month = history.frame["month"].dt.to_period("M")
    first = view.frame("periods")["start_date"].min()
    if not pd.isna(first):
        for at in rows_where(history, month >= first.to_period("M")):
            yield history.fault(at, "month", f"must lie before the first period, {first:%Y-%m}")
    twice = history.frame.assign(month=month).duplicated(["site", "component", "month"])
    for at in rows_where(history, twice):
        yield history.fault(at, "month", "this month has a peak already")


def _times(row: pd.Series) -> list[pd.Timestamp] | None:
    """Return the starts of the named hours, or None where they cannot be read."""
    spans = _spans(row)
    return None if spans is None else [start for start, _ in spans]


def _spans(row: pd.Series) -> list[tuple[pd.Timestamp, pd.Timestamp]] | None:
    try:
        return named_spans(str(row["named_hours"])) or None
    except ValueError:
        return None


NAMED = ("tariffs.named_hours", "tariffs.charge", "tariffs.start_date")
RULES = (
    Rule(
        daily_peaks_stand_alone,
        (
            "tariffs.charge",
            "tariffs.price_unit",
            "tariffs.ratchet_fraction",
            "tariffs.named_hours",
            "tariffs.tier_of",
        ),
    ),
    Rule(
        history_is_of_a_charge,
        (
            "peak_history.component",
            "peak_history.site",
            "sites.tariff",
            "tariffs.charge",
            "tariffs.component",
        ),
    ),
    Rule(history_is_before_the_horizon, ("peak_history.month", "periods.start_date")),
    Rule(named_hours_can_be_billed, (*NAMED, "tariffs.ratchet_fraction")),
    Rule(named_quarters_are_hours_in_a_plan, (*NAMED, "sites.tariff", "sites.kind")),
    Rule(
        named_hours_lie_in_the_window,
        (*NAMED, "tariffs.hours", "tariffs.weekend_hours", "tariffs.day_type"),
    ),
    Rule(
        history_has_every_named_month,
        (
            *NAMED,
            "peak_history.month",
            "peak_history.site",
            "peak_history.component",
            "sites.tariff",
            "periods.start_date",
        ),
    ),
)
