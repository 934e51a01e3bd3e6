"""Demand charges billed month by month, recomputed from the tariff rows and kW at the meter."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.clock import yearly_rate
from planner.plan.audit.electricity.bills import levied, minimum_rows
from planner.plan.audit.electricity.coincident_bills import coincident_kw, owed_per_kw, ratchet_months
from planner.plan.audit.electricity.tariff_rows import PER_DAY, charges, named_months, untiered
from planner.plan.audit.money.hardware_costs import entries
from planner.plan.audit.once import once
from planner.plan.audit.report import Check, beside, compare, total
from planner.units import MONTHS_PER_YEAR

CHARGE_MONTH = ["site", "component", "period", "month"]
BILLS = [
    *CHARGE_MONTH,
    "measured_kw",
    "billed_kw",
    "price_per_kw",
    "price_bare",
    "share",
    "owed",
    "owed_value",
    "after",
]
USUAL_MONTHS_BACK = 11
"""Months a ratchet looks back where the tariff states none."""
MONTH_LABEL = len("2027-01")
TINY = 1e-9
"""Amounts below are no entry of the ledger."""


@once
def site_charges(books: Books) -> list[dict[Hashable, Any]]:
    """Return the demand charges of every own and colocation site, a ladder at its lowest tier.

    To the row are added ``site``, ``least_kw`` (the larger of minimum and share of the contract) and ``ratchet``.
    """
    sites = books.facts.sites
    rows = untiered(charges(books.facts, "demand"))
    found = []
    for site, about in sites[sites["kind"].ne("cloud")].iterrows():
        for row in rows:
            if row["tariff"] == about["tariff"]:
                least = [0.0, row["minimum_kw"], row["contract_fraction"] * about["contract_kw"]]
                ratchet = 0.0 if pd.isna(row["ratchet_fraction"]) else float(row["ratchet_fraction"])
                found.append(
                    {**row, "site": str(site), "least_kw": float(np.nanmax(least)), "ratchet": ratchet}
                )
    return found


def by_month(books: Books) -> set[tuple[str, str]]:
    """Return which (site, component) are billed month by month.

    All charges with a ratchet, a floor, tiers or named hours, or beside a minimum bill are; others are where the plan
    says so.
    """
    tariffs = books.facts.scenario.tables["tariffs"]
    topped = set(tariffs.loc[tariffs["charge"] == "minimum", "tariff"])
    stated = books["billed_peaks"]
    listed = set(zip(stated["site"], stated["component"], strict=True))
    return {
        (row["site"], row["component"])
        for row in site_charges(books)
        if row["ratchet"] > 0
        or row["least_kw"] > 0
        or not pd.isna(row["tier_of"])
        or not pd.isna(row["named_hours"])
        or row["price_unit"] in PER_DAY
        or row["tariff"] in topped
        or (row["site"], row["component"]) in listed
    }


@once
def owed_sites(books: Books) -> set[str]:
    """Return the sites that owe a least kW, or a share of a peak before the horizon, while they are open."""
    history = books.facts.scenario.tables["peak_history"]
    history = history[history["peak_kw"] > 0]
    known = set(zip(history["site"], history["component"], strict=True))
    floors = {
        row["site"]
        for row in site_charges(books)
        if row["least_kw"] > 0
        or (
            (row["ratchet"] > 0 or not pd.isna(row["named_hours"]))
            and (row["site"], row["component"]) in known
        )
    }
    sites = books.facts.sites
    own = sites[sites["kind"].ne("cloud")]
    return floors | {
        str(site)
        for site, tariff, contract in zip(own.index, own["tariff"], own["contract_kw"], strict=True)
        if any(row["price"] > 0 for row in minimum_rows(books.facts, tariff, contract))
    }


@once
def month_bills(books: Books) -> pd.DataFrame:
    """Return site, component, period, month, measured_kw, billed_kw, price_per_kw, looking back month by month.

    billed = max(measured, ratchet x highest earlier peak that counts, least kW x open)
    billed = max(mean peak of the named hours' months + that of the history x open, least kW x open)   on named hours

    ``owed`` and ``owed_value`` are what a month's peak is billed after the horizon. ``after`` are the months after it
    that a ratchet bills on peaks inside it, whatever is drawn then.
    """
    chosen = by_month(books)
    rows: list[dict] = []
    for row in site_charges(books):
        if (row["site"], row["component"]) in chosen:
            rows += _day_rows(books, row) if row["price_unit"] in PER_DAY else _charge_rows(books, row)
    return pd.DataFrame(rows, columns=BILLS)


def _charge_rows(books: Books, row: dict) -> list[dict]:
    meter, kw = books.site_hours[row["site"]], books.site_kw[row["site"]]
    held = meter.held(row, row["held_months"])
    # Other months than the charge's own matter only where later months look back at them.
    looked_at = not pd.isna(row["named_hours"]) or row["ratchet"] > 0
    inside = meter.window(row) > 0
    if not looked_at:
        inside &= meter.in_months(row["held_months"])[meter.at]
    measured = meter.peaks(kw, inside)
    months = meter.months.assign(
        measured_kw=measured,
        share=held,
        price_bare=row["bare"] * held,
        price_per_kw=row["bare"] * held * levied(meter, row),
        open=_open_share(books, row["site"], meter.months["period"]),
    )
    labels = {
        "site": row["site"],
        "component": row["component"],
        "owed": 0.0,
        "owed_value": 0.0,
        "after": False,
    }
    rows = [{**month, **labels} for month in months.to_dict("records")]
    if pd.isna(row["named_hours"]):
        _bill_measured(books, row, rows)
    else:
        _bill_named(books, row, rows)
    return rows


def _day_rows(books: Books, row: dict) -> list[dict]:
    """Bill every day on which a charge per kW and day holds its own peak; its label is the day."""
    meter, kw = books.site_hours[row["site"]], books.site_kw[row["site"]]
    # Whole hours count: a window that begins inside an hour sees it.
    of_kind = meter.window(row)
    inside = np.where(of_kind > 0, np.where(meter.hours["weekday"].isin((0.0, 1.0)), 1.0, of_kind), 0.0)
    inside = inside * meter.in_months(row["held_months"])[meter.at]
    days = meter.day_peaks(kw, inside)
    held = (pd.isna(row["start_date"]) | (days["day"] >= row["start_date"])) & (
        pd.isna(row["end_date"]) | (days["day"] <= row["end_date"])
    )
    days = days[held]
    # The days of a sample are all alike: one row, by its first day.
    sampled = books.facts.periods["stated_in_hours"].reindex(days["period"]).to_numpy(bool)
    first = days.groupby("period")["day"].transform("min")
    days = days.assign(day=days["day"].where(~sampled, first))
    alike = days.groupby(["period", "number", "day"], sort=False, as_index=False)
    days = alike.agg(measured_kw=("measured_kw", "max"), days=("days", "sum"))
    factor = pd.Series(levied(meter, row), index=pd.MultiIndex.from_frame(meter.months[["period", "number"]]))
    price = row["bare"] * days["days"]
    least = row["least_kw"] * _open_share(books, row["site"], days["period"])
    return (
        days.assign(
            site=row["site"],
            component=row["component"],
            month=days["day"].dt.strftime("%Y-%m-%d"),
            billed_kw=np.maximum(days["measured_kw"], least),
            price_bare=price,
            price_per_kw=price
            * factor.reindex(pd.MultiIndex.from_frame(days[["period", "number"]])).to_numpy(),
            share=1.0,
            owed=0.0,
            owed_value=0.0,
            after=False,
        )[BILLS]
    ).to_dict("records")


def _open_share(books: Books, site: str, periods: pd.Series) -> np.ndarray:
    stated = books["sites"]
    is_open = total(stated["open_fraction"], stated, ["site", "period"])
    return np.array([float(is_open.get((site, period), 1.0)) for period in periods])


def _bill_measured(books: Books, row: dict, rows: list[dict]) -> None:
    """Bill the months of a charge their own peaks, or what a ratchet or the least kW makes of them."""
    season = named_months(row["ratchet_season"])
    span = USUAL_MONTHS_BACK if pd.isna(row["ratchet_months"]) else int(row["ratchet_months"])
    before = _history(books, row["site"], row["component"])

    def highest(known: list[tuple[int, float]], now: int) -> float:
        counted = [
            kw for when, kw in known if 1 <= now - when <= span and when % MONTHS_PER_YEAR + 1 in season
        ]
        return max(counted, default=0.0)

    known: list[tuple[int, float]] = []
    for bill in list(rows):
        floor = max(row["least_kw"], row["ratchet"] * highest(before, bill["number"])) * bill["open"]
        back = row["ratchet"] * highest(known, bill["number"])
        bill["billed_kw"] = max(bill["measured_kw"], back, floor)
        known.append((bill["number"], bill["measured_kw"]))
    rate = yearly_rate(books.facts.scenario.settings)
    rows += [rows[-1] | later for later in ratchet_months(row, known, span, season, rate)]


def _bill_named(books: Books, row: dict, rows: list[dict]) -> None:
    """Bill the months of a charge on named hours the peaks they rest on, in place of their own."""
    measured: dict[pd.Period, list[float]] = {}
    for bill in rows:
        measured.setdefault(_calendar(bill["number"]), []).append(bill["measured_kw"])
    before = _history(books, row["site"], row["component"])
    earlier = {_calendar(when): kw for when, kw in before}
    numbers = [bill["number"] for bill in rows]
    owed = owed_per_kw(row, numbers, yearly_rate(books.facts.scenario.settings))
    for bill in rows:
        inside, past = coincident_kw(row, bill["number"], measured, earlier)
        bill["billed_kw"] = max(inside + past * bill["open"], row["least_kw"] * bill["open"])
        bill["owed"], bill["owed_value"] = (bill["measured_kw"] * per_kw for per_kw in owed[bill["number"]])


def _calendar(month: int) -> pd.Period:
    return pd.Period(year=month // MONTHS_PER_YEAR, month=month % MONTHS_PER_YEAR + 1, freq="M")


def _history(books: Books, site: str, component: str) -> list[tuple[int, float]]:
    table = books.facts.scenario.tables["peak_history"]
    own = table[(table["site"] == site) & (table["component"] == component)]
    return [
        (12 * when.year + when.month - 1, float(kw))
        for when, kw in zip(own["month"], own["peak_kw"], strict=True)
    ]


def month_entries(books: Books) -> pd.DataFrame:
    """Return the demand charges billed month by month: billed kW x price."""
    bills = month_bills(books)
    return entries(bills, "demand_charge", "opex", "mid", bills["billed_kw"] * bills["price_per_kw"])


def coincident_entries(books: Books) -> pd.DataFrame:
    """Return what coincident peaks of the horizon are billed after it: a value on its last day, no payment."""
    return _owed_entries(books, "coincident_peak_after_horizon", after=False)


def ratchet_entries(books: Books) -> pd.DataFrame:
    """Return what ratchets bill after the horizon on its peaks: a value on its last day, no payment."""
    return _owed_entries(books, "ratchet_after_horizon", after=True)


def _owed_entries(books: Books, line: str, after: bool) -> pd.DataFrame:
    bills = month_bills(books)
    bills = bills[bills["after"] == after]
    last = bills.assign(ordered=bills["period"], period=books.facts.periods.index[-1])
    rows = entries(last, line, "opex", "end", last["owed_value"])
    return rows[rows["amount"].abs() > TINY].reset_index(drop=True)


def billed_months(books: Books) -> Check:
    """Return the check that every month is billed what the tariff bills: measured and billed kW, amount.

    Of a charge per kW and day the plan states days that are alike once, by the first of them: kW are compared on those
    days, amounts by month.
    """
    stated, own = books["billed_peaks"], month_bills(books)
    listed = pd.MultiIndex.from_frame(stated[CHARGE_MONTH])
    alike = (own["month"].str.len() > MONTH_LABEL) & ~pd.MultiIndex.from_frame(own[CHARGE_MONTH]).isin(listed)
    billed = own[(own["share"] > 0.0) | own["after"]]
    parts = []
    for name, mine in (("billed_kw", billed[~alike[billed.index]]), ("measured_kw", own[~alike])):
        kept = (
            mine[pd.MultiIndex.from_frame(mine[CHARGE_MONTH]).isin(listed)] if name != "billed_kw" else mine
        )
        rows = beside(total(stated[name], stated, CHARGE_MONTH), total(kept[name], kept, CHARGE_MONTH))
        parts.append(rows.assign(quantity=name))
    dated, mine = (rows.assign(month=rows["month"].str[:MONTH_LABEL]) for rows in (stated, billed))
    amount = beside(
        total(dated["amount"], dated, CHARGE_MONTH),
        total(mine["billed_kw"] * mine["price_per_kw"], mine, CHARGE_MONTH),
    )
    parts.append(amount.assign(quantity="amount"))
    owed = beside(
        total(stated["owed_after_horizon"], stated, CHARGE_MONTH),
        total(own["owed"][~alike], own[~alike], CHARGE_MONTH),
    )
    parts.append(owed.assign(quantity="owed_after_horizon"))
    return compare("billed_months", "billed_peak", pd.concat(parts, ignore_index=True), "==")
