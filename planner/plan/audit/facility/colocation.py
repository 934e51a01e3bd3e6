"""Rent under colocation contracts, recomputed from the tables, what stands, and when sites open."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facility.bridging import openable
from planner.plan.audit.facility.colo_rent import SITE_PERIOD, Row, contracts, rent_level, rent_months
from planner.plan.audit.facts import at
from planner.plan.audit.money.hardware_costs import entries
from planner.plan.audit.once import once
from planner.plan.audit.report import Check, beside, breaches, compare, keyed, total

RENT_MONTH = ["site", "period", "month"]


def contracted_on(books: Books, contract: Row, start: pd.Timestamp, date: pd.Timestamp) -> float:
    """Return the kW contracted on a day by the last step of the ramp that has begun."""
    ramp = books.facts.scenario.tables["colo_ramp"]
    kw = 0.0
    for step in ramp[ramp["site"] == contract["site"]].sort_values("from_month").to_dict("records"):
        if start + pd.DateOffset(months=int(step["from_month"])) <= date:
            kw = float(step["contracted_kw"])
    return kw


def _owed(books: Books, contract: Row, start: pd.Timestamp, date: pd.Timestamp) -> float:
    """Return the kW that are paid at least on a day."""
    term, take = contract["term_months"], contract["take_fraction"]
    over = not pd.isna(term) and start + pd.DateOffset(months=int(term)) <= date
    if date < start or over:
        return 0.0
    return contracted_on(books, contract, start, date) * (1.0 if pd.isna(take) else take)


def contract_starts(books: Books, contract: Row) -> list[tuple[pd.Timestamp, float]]:
    """Return first day and share of every start: the day given, else the periods in which the site opens more."""
    if not pd.isna(contract["start_date"]):
        return [(contract["start_date"], 1.0)]
    stated, found, before = books["sites"], [], 0.0
    state = total(stated["open_fraction"], stated, SITE_PERIOD)
    powered = stated[openable(books, stated)]
    able = set(zip(powered["site"], powered["period"], strict=True))
    for period, start in books.facts.periods["start_date"].items():
        share = float(state.get((contract["site"], str(period)), 0.0))
        if (contract["site"], str(period)) in able:
            found.append((start, share - before))
            before = share
    return found


def least_kw(books: Books) -> pd.Series:
    """Return the kW that are paid at least, index (site, period, month)."""
    found = {}
    for contract in contracts(books):
        starts = contract_starts(books, contract)
        for row in rent_months(books).to_dict("records"):
            kw = sum(share * _owed(books, contract, start, row["date"]) for start, share in starts)
            found[contract["site"], row["period"], row["month"]] = kw
    return keyed(found, RENT_MONTH)


def _used(books: Books) -> pd.Series:
    units = books.own_fleet
    return total(units["units"] * units["provisioned_kw"], units, SITE_PERIOD)


def unused(books: Books) -> pd.DataFrame:
    """Return site, period, month, kw paid for and not used: the least less the provisioned kW that stand."""
    least = least_kw(books).rename("least").reset_index()
    used = at(_used(books), least, SITE_PERIOD).fillna(0.0) if len(least) else 0.0
    return least.assign(kw=np.maximum(least["least"] - used, 0.0))


def rent_minimum(books: Books) -> Check:
    """Return the check that what is said to be unused is the least of the contract less what stands."""
    own, stated = unused(books), books["colo_rent"]
    rows = beside(total(stated["unused_kw"], stated, RENT_MONTH), total(own["kw"], own, RENT_MONTH))
    return compare("rent_minimum", "rent_minimum", rows, "==")


@once
def contracted_power(books: Books) -> Check:
    """Return the check that no more IT power stands than is contracted, where a contract refuses more."""
    rows, used = [], _used(books)
    for contract in contracts(books):
        if contract["beyond"] != "refused":
            continue
        starts = contract_starts(books, contract)
        for period, months in rent_months(books).groupby("period", sort=False):
            most = sum(
                share * min(contracted_on(books, contract, start, date) for date in months["date"])
                for start, share in starts
            )
            left = float(used.get((contract["site"], str(period)), 0.0))
            rows.append((contract["site"], period, left, most))
    table = pd.DataFrame(rows, columns=[*SITE_PERIOD, "left", "right"])
    return compare("contracted_power", "contracted_power", table, "<=")


def unused_entries(books: Books) -> pd.DataFrame:
    """Return the rent of kW that are paid for and not used: kW x rent x its level x months."""
    rows = unused(books).merge(rent_months(books), on=["period", "month"])
    sites = books.facts.sites
    rent = (sites["rent_per_kw_month"].fillna(0.0) * sites["fx"]).reindex(rows["site"]).to_numpy(float)
    terms = {row["site"]: row for row in contracts(books)}
    level = [
        rent_level(books, terms[site], date) for site, date in zip(rows["site"], rows["date"], strict=True)
    ]
    amount = rows["kw"] * rent * np.array(level, dtype=float) * rows["months"]
    return entries(rows, "facility_rent_unused", "opex", "mid", amount)


def owed_after_horizon(books: Books) -> pd.DataFrame:
    """Return site, start_date, owed: least rent of the months of each contract's term that begin after the horizon."""
    sites = books.facts.sites
    end = books.facts.periods["end_date"].iloc[-1]
    rows = []
    for contract in contracts(books):
        rent = float(sites["rent_per_kw_month"].fillna(0.0)[contract["site"]] * sites["fx"][contract["site"]])
        for start, share in contract_starts(books, contract):
            if pd.isna(contract["term_months"]) or share <= 1e-9:
                continue
            date, owed = end, 0.0
            while date < start + pd.DateOffset(months=int(contract["term_months"])):
                owed += _owed(books, contract, start, date) * rent * rent_level(books, contract, date)
                date = date + pd.DateOffset(months=1)
            rows.append((contract["site"], start, owed * share))
    return pd.DataFrame(rows, columns=["site", "start_date", "owed"])


def colo_contracts(books: Books) -> Check:
    """Return the check of what each contract is said to owe after the horizon."""
    stated, own = books["colo_contracts"], owed_after_horizon(books)
    key = ["site", "start_date"]
    if stated.empty and own.empty:
        return breaches(
            "colo_contracts", "liability_after_horizon", stated, np.zeros(0, dtype=bool), ["site"]
        )
    rows = beside(total(stated["owed_after_horizon"], stated, key), total(own["owed"], own, key))
    return compare("colo_contracts", "liability_after_horizon", rows, "==")
