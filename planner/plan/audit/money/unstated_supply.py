"""Rentals whose supply is not stated or an estimate, counted again from the units held and the ledger."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.facts import RENTED
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.report import Check, alike, compare
from planner.tables.cost_lines import COST_LINE

ROW = ["offer", "site", "depth"]
WARNS_FROM = 0.05
"""Share of payments from which a plan has to warn."""
SAID = {"unstated": "no supply is stated", "estimate": "the supply is only an estimate"}


def unstated_supply(books: Accounts) -> Check:
    """Return the check of rentals whose supply is not stated, or an estimate: peak, unit-hours, rent, and their shares.

    Units by block and period as they are held, rent and payments of the ledger made by the audit. A plan whose share
    of payments is WARNS_FROM or more has a warning, by depth.
    """
    stated = books.plan.frames.get("unstated_supply")
    if stated is None:
        return compare("unstated_supply", "orders", books["orders"].iloc[:0], "==")
    own = _rented_without_limit(books)
    stated = stated if "depth" in stated else stated.assign(depth="unstated")
    said = " ".join(str(text) for text in books.plan.headline.get("warnings", ()))
    share = own.groupby("depth")["payments_fraction"].sum()
    answers = [(words in said, share.get(depth, 0.0) >= WARNS_FROM) for depth, words in SAID.items()]
    sums = [
        pd.DataFrame(
            {"offer": "all", "site": "warned", "depth": list(SAID), "peak_units": np.array(yes, float)}
        )
        for yes in zip(*answers, strict=True)
    ]
    left, right = (
        pd.concat([frame, last], ignore_index=True) for frame, last in zip((stated, own), sums, strict=True)
    )
    return alike("unstated_supply", "orders", left, right, ROW)


def _rented_without_limit(books: Accounts) -> pd.DataFrame:
    fleet, hourly = books.fleet, books.hourly
    whole = fleet[~fleet["hourly"]]
    parts = [
        frame[["offer", "mode", "site", "period", "units"]].assign(block=block, hours=frame["units"] * hours)
        for frame, block, hours in (
            (whole, "", books.period_of(whole, "hours")),
            (hourly, hourly["block"], books.hours_of(hourly)),
        )
    ]
    held = pd.concat(parts, ignore_index=True)
    held = held.assign(depth=_depth(books, held))
    free = held[held["mode"].isin(RENTED) & held["depth"].ne("stated")]
    ledger = books.ledger
    real = ledger["kind"].isin(("capex", "opex")) & ledger["in_objective"].astype(bool)
    lines = [name for name, line in COST_LINE.items() if line.nature == "paid"]
    paid = ledger[real & ledger["line"].isin(lines)]
    rent = paid[paid["line"].isin(("on_demand_rent", "spot_rent"))]
    rent = rent.assign(depth=_depth(books, rent))
    chips = books.facts.table("products", "product")["chips_per_unit"].astype(float)
    rows = []
    for (offer, site, depth), units in free.groupby(ROW, sort=False):
        mine = rent[rent["offer"].eq(offer) & rent["site"].eq(site) & rent["depth"].eq(depth)]
        peak = float(units.groupby(["period", "block"])["units"].sum().max())
        amount, hours = float(mine["amount"].sum()), float(units["hours"].sum())
        rows.append(
            {
                "offer": offer,
                "site": site,
                "depth": depth,
                "peak_units": peak,
                "peak_chips": peak * chips[books.facts.offers["product"][offer]],
                "unit_hours": hours,
                "amount": amount,
                "payments_fraction": _part(amount, paid["amount"]),
                "unit_hours_fraction": _part(hours, held["hours"]),
            }
        )
    names = ["peak_units", "peak_chips", "unit_hours", "amount", "payments_fraction", "unit_hours_fraction"]
    return pd.DataFrame(rows, columns=[*ROW, *names]).astype(dict.fromkeys(names, float))


def _part(amount: float, of: pd.Series) -> float:
    whole = float(of.sum())
    return amount / whole if whole else 0.0


def _depth(books: Accounts, rows: pd.DataFrame) -> pd.Series:
    """Return for rows (offer, period) what is known of the supply there: stated, an estimate, or nothing (unstated).

    Stated by the offer, its dated supply or a limit of its vendor; an estimate where its dated supply says so.
    """
    tables, offers = books.facts.scenario.tables, books.facts.offers
    table = tables["supply"]
    dated = dict(zip(zip(table["offer"], table["period"], strict=True), table["confidence"], strict=True))
    limits = tables["vendor_capacity"].to_dict("records")

    def has(offer: str, period: str) -> bool:
        return (
            bool(pd.notna(offers["supply_units_per_period"].get(offer)))
            or (offer, period) in dated
            or any(
                (pd.isna(limit["period"]) or limit["period"] == period)
                and (pd.isna(limit["vendor"]) or limit["vendor"] == offers["vendor"].get(offer))
                and (not limit["offers"] or offer in limit["offers"])
                for limit in limits
            )
        )

    pairs = zip(rows["offer"], rows["period"], strict=True)
    found = [
        "estimate" if dated.get(pair) == "estimate" else "stated" if has(*pair) else "unstated"
        for pair in pairs
    ]
    return pd.Series(found, index=rows.index, dtype="str")
