"""Demand charges billed month by month, recomputed from the tariff rows and kW at the meter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from planner.coefficients.electricity.bill_minimum import billable_minimums
from planner.coefficients.electricity.meter import PlanMeter, site_meter
from planner.coefficients.electricity.tariff import in_force
from planner.inputs.windows import months_text
from planner.plan.audit.books import Books
from planner.plan.audit.electricity.coincident_bills import coincident_kw, owed_per_kw
from planner.plan.audit.money.hardware_costs import entries
from planner.plan.audit.report import Check, beside, compare, total
from planner.units import MONTHS_PER_YEAR

CHARGE_MONTH = ["site", "component", "period", "month"]
USUAL_MONTHS_BACK = 11
"""Months a ratchet looks back where the tariff states none."""
TINY = 1e-9
"""Amounts below are no entry of the ledger."""


def by_month(books: Books) -> pd.Series:
    """Return which (site, component) are billed month by month: index site, component; True.

    All charges with a ratchet, a floor, tiers or named hours, or beside a minimum bill are; others are where the plan
    says so.
    """
    sites = books.facts.sites
    own = sites[sites["kind"].ne("cloud")].reset_index()
    pairs = own.merge(books.facts.demand_charges, on="tariff", how="inner")
    stated = books["billed_peaks"]
    listed = pd.MultiIndex.from_frame(stated[["site", "component"]].drop_duplicates())
    tariffs = books.facts.scenario.tables["tariffs"]
    topped = pairs["tariff"].isin(set(tariffs.loc[tariffs["charge"] == "minimum", "tariff"]))
    needed = (pairs["ratchet_fraction"] > 0) | (_least_kw(pairs) > 0) | pairs["tier_of"].notna() | topped
    needed |= pairs["named_hours"].notna()
    index = pd.MultiIndex.from_frame(pairs[["site", "component"]])
    return pd.Series(needed.to_numpy(bool) | index.isin(listed), index=index)


def _least_kw(pairs: pd.DataFrame) -> pd.Series:
    """Return the larger of the minimum and the share of the contract, 0 where neither is stated."""
    share = (pairs["contract_fraction"] * pairs["contract_kw"]).fillna(0.0)
    return pd.Series(np.maximum(pairs["minimum_kw"].fillna(0.0), share), index=pairs.index)


def owed_sites(books: Books) -> set[str]:
    """Return the sites that owe a least kW, or a share of a peak before the horizon, while they are open."""
    own = books.facts.sites[books.facts.sites["kind"].ne("cloud")].reset_index()
    pairs = own.merge(books.facts.demand_charges, on="tariff", how="inner")
    history = books.facts.scenario.tables["peak_history"]
    known = pd.MultiIndex.from_frame(history.loc[history["peak_kw"] > 0, ["site", "component"]])
    stated = pd.MultiIndex.from_frame(pairs[["site", "component"]]).isin(known)
    ratchets = ((pairs["ratchet_fraction"] > 0) | pairs["named_hours"].notna()) & stated
    floors = set(pairs.loc[(_least_kw(pairs) > 0) | ratchets, "site"])
    least = in_force(books.facts.scenario, "minimum")
    least = least[least["price"] > 0]
    return floors | {
        row.site
        for row in own.itertuples()
        if len(billable_minimums(least[least["tariff"] == row.tariff], row.contract_kw))
    }


def dated_periods(books: Books) -> pd.DataFrame:
    """Return the periods with ``months`` blank where their length is stated in hours."""
    periods = books.facts.periods
    return periods.assign(months=periods["months"].where(~periods["stated_in_hours"]))


def month_bills(books: Books) -> pd.DataFrame:
    """Return site, component, period, month, measured_kw, billed_kw, price_per_kw, looking back month by month.

    billed = max(measured, ratchet x highest earlier peak that counts, least kW x open)
    billed = max(mean peak of the named hours' months + that of the history x open, least kW x open)   on named hours

    ``owed`` and ``owed_value`` are what a month's peak is billed after the horizon.
    """
    columns = [
        *CHARGE_MONTH,
        "measured_kw",
        "billed_kw",
        "price_per_kw",
        "price_bare",
        "share",
        "owed",
        "owed_value",
    ]
    kind = by_month(books)
    own = books.facts.sites[books.facts.sites["kind"].ne("cloud")].reset_index()
    rows = []
    for row in own.merge(books.facts.demand_charges, on="tariff", how="inner").to_dict("records"):
        if kind.get((row["site"], row["component"]), False):
            rows += _charge_rows(books, row)
    return pd.DataFrame(rows, columns=columns)


def clocked_meter(books: Books, site: str) -> PlanMeter:
    """Return the hours of a site by its own clock, with kW at its meter."""
    drawn = books.grid_kw
    known = drawn.index.get_level_values("site") == site
    offset = float(books.facts.sites["utc_offset_h"][site])
    return site_meter(dated_periods(books), books["block_cells"], offset).drawing(
        drawn[known].droplevel("site")
    )


def _charge_rows(books: Books, row: dict) -> list[dict]:
    # Other months than the charge's own matter only where later months look back at them.
    named = not pd.isna(row["named_hours"])
    looked_at = named or row["ratchet_fraction"] > 0
    measured_in = tuple(range(1, MONTHS_PER_YEAR + 1)) if looked_at else row["months"]
    meter = clocked_meter(books, row["site"])
    inside = (meter.window_share(row) > 0) & meter.in_months(measured_in)[meter.month]
    peaks, dated = meter.peak_by_month(inside), {**row, "months": months_text(row["months"])}
    share_held = meter.months_held(dated)
    levied = np.ones(len(peaks))
    for levy in row["levies"]:
        levied += levy["price"] * meter.months_held(levy)
    months = meter.bill_months.to_dict("records")
    earlier = _history(books, row["site"], row["component"])
    is_open = total(books["sites"]["open_fraction"], books["sites"], ["site", "period"])
    season = row["ratchet_season"]
    span = USUAL_MONTHS_BACK if pd.isna(row["ratchet_months"]) else int(row["ratchet_months"])
    least = float(_least_kw(pd.DataFrame([row])).iloc[0])
    rows: list[dict] = []
    known: list[tuple[int, float]] = []
    for month in months:
        at_month = month["position"]
        measured = float(peaks[at_month])
        now = month["bill_month"]
        back = [kw for when, kw in known if 1 <= now - when <= span and when % 12 + 1 in season]
        owed = max(back, default=0.0)
        floor = max(
            [kw for when, kw in earlier if 1 <= now - when <= span and when % 12 + 1 in season], default=0.0
        )
        share = float(is_open.get((row["site"], month["period"]), 1.0))
        ratchet, held = row["ratchet_fraction"], float(share_held[at_month])
        rows.append(
            {
                "site": row["site"],
                "component": row["component"],
                "period": month["period"],
                "month": month["month"],
                "measured_kw": measured,
                "billed_kw": max(measured, ratchet * owed, max(least, ratchet * floor) * share),
                "price_per_kw": row["price_bare"] * float(levied[at_month]) * held,
                "price_bare": row["price_bare"] * held,
                "share": held,
                "owed": 0.0,
                "owed_value": 0.0,
            }
        )
        known.append((now, measured))
    if named:
        _bill_named(books, row, rows, known, {"least": least, "open": is_open, "earlier": earlier})
    return rows


def _bill_named(
    books: Books, row: dict, rows: list[dict], known: list[tuple[int, float]], more: dict[str, Any]
) -> None:
    """Bill the months of a charge on named hours the peaks they rest on, in place of their own."""
    measured: dict[pd.Period, list[float]] = {}
    for when, kw in known:
        measured.setdefault(_calendar(when), []).append(kw)
    earlier = {_calendar(when): kw for when, kw in more["earlier"]}
    numbers = [when for when, _ in known]
    owed = owed_per_kw(row, numbers, books.facts.scenario.settings.discount_rate_fraction)
    for bill, when in zip(rows, numbers, strict=True):
        inside, before = coincident_kw(row, when, measured, earlier)
        share = float(more["open"].get((bill["site"], bill["period"]), 1.0))
        bill["billed_kw"] = max(inside + before * share, more["least"] * share)
        bill["owed"], bill["owed_value"] = (bill["measured_kw"] * per_kw for per_kw in owed[when])


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
    bills = month_bills(books)
    last = bills.assign(period=books.facts.periods.index[-1])
    rows = entries(last, "coincident_peak_after_horizon", "opex", "end", bills["owed_value"])
    return rows[rows["amount"].abs() > TINY].reset_index(drop=True)


def billed_months(books: Books) -> Check:
    """Return the check that every month is billed what the tariff bills: measured and billed kW, amount."""
    stated, own = books["billed_peaks"], month_bills(books)
    billed = own[own["share"] > 0.0]
    parts = []
    for name, mine in (("billed_kw", billed), ("measured_kw", own)):
        index = pd.MultiIndex.from_frame(stated[CHARGE_MONTH])
        kept = mine[pd.MultiIndex.from_frame(mine[CHARGE_MONTH]).isin(index)] if name != "billed_kw" else mine
        rows = beside(total(stated[name], stated, CHARGE_MONTH), total(kept[name], kept, CHARGE_MONTH))
        parts.append(rows.assign(quantity=name))
    amount = beside(
        total(stated["amount"], stated, CHARGE_MONTH),
        total(billed["billed_kw"] * billed["price_per_kw"], billed, CHARGE_MONTH),
    )
    parts.append(amount.assign(quantity="amount"))
    owed = beside(
        total(stated["owed_after_horizon"], stated, CHARGE_MONTH), total(own["owed"], own, CHARGE_MONTH)
    )
    parts.append(owed.assign(quantity="owed_after_horizon"))
    return compare("billed_months", "billed_peak", pd.concat(parts, ignore_index=True), "==")
