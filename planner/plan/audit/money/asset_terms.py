"""The terms on which assets are written off, derived once more from the tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from planner.plan.audit.clock import walked_months
from planner.plan.audit.facility.path import first_powered
from planner.plan.audit.facts import LOT
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.resales import resale_values, sold_again
from planner.plan.audit.orders.standing import STAND
from planner.plan.audit.report import Check, beside, compare, total
from planner.units import MONTHS_PER_YEAR

SUNK = "sunk_book_value"
PLACE = ["line", "site", "offer"]
ROUNDING_YEARS = 1e-9
GONE_YEARS = 1e-6
"""Book life left of a lot that has none: written off at once."""


def asset_terms(books: Accounts) -> Check:
    """Return the check of first day in service, life, residual and method: hardware bought, and existing lots."""
    orders, periods = books.orders, books.facts.periods
    orders = orders[orders["mode"] == "purchase"].drop_duplicates([*STAND, "period"])
    due = orders.set_index([*STAND, "period"])
    assets = books["assets"]
    hardware = assets[assets["offer"].notna() & assets["line"].ne(SUNK) & assets["cost"].gt(0.0)]
    place = [*STAND, "decided_period"]
    hardware = hardware[pd.MultiIndex.from_frame(hardware[place]).isin(due.index)]
    key = pd.MultiIndex.from_frame(hardware[place])
    policy = books.facts.table("depreciation", "asset_class").reindex(due["asset_class"].reindex(key))
    starts = periods["start_years"].to_numpy()
    first = due["first"].reindex(key).to_numpy(float)
    began = starts[np.nan_to_num(np.minimum(first, len(periods) - 1)).astype(int)]
    stated = policy["book_life_years"].to_numpy(float)
    own = {
        "in_service_years": began,
        "book_life_years": np.where(np.isnan(stated), due["life_years"].reindex(key).to_numpy(float), stated),
        "book_residual_fraction": policy["book_residual_fraction"]
        .fillna(0.0)
        .where(hardware["disposed_years"].isna().to_numpy(), 0.0)
        .to_numpy(float),
    }
    parts = [
        hardware[PLACE].assign(quantity=name, left=hardware[name], right=right) for name, right in own.items()
    ]
    method = policy["book_method"].fillna("straight_line").to_numpy()
    parts.append(_units_disposed(books, hardware))
    parts.append(_lot_terms(books))
    parts.append(_modules_in_service(books))
    agrees = (hardware["book_method"].to_numpy() == method).astype(float)
    parts.append(hardware[PLACE].assign(quantity="book_method", left=agrees, right=1.0))
    return compare("asset_terms", "accounting", pd.concat(parts, ignore_index=True), "==", floor=1e-3)


def _units_disposed(books: Accounts, hardware: pd.DataFrame) -> pd.DataFrame:
    """Return the share of each purchase's cost that leaves with the units taken out again, by when it leaves."""
    place = [*STAND, "decided_period", "disposed_years"]
    whole = hardware[hardware["line"] == "hardware_purchase"]
    gone = whole[whole["disposed_years"].notna()]
    share = total(gone["cost"], gone, place)
    cost = total(whole["cost"], whole, place[:-1])
    stated = share / cost.reindex(share.index.droplevel("disposed_years")).to_numpy(float)
    out = sold_again(books).rename(columns={"period": "decided_period", "sold_years": "disposed_years"})
    own = total(out["units"].astype(float) / out["ordered_units"].astype(float), out, place)
    lots = books["assets"][books["assets"]["line"].eq(SUNK)]
    left = lots[lots["disposed_years"].notna()]
    retired = resale_values(books)
    fleet = books.facts.scenario.tables["fleet"]
    booked = pd.Series(fleet["book_value"].to_numpy(float), index=(LOT + fleet["fleet"]).astype("str"))
    value = retired["offer"].map(booked).fillna(0.0).astype(float)
    taken = retired.assign(
        cost=value * retired["units"].astype(float) / retired["lot_units"].astype(float),
        disposed_years=books.period_of(retired, "start_years").astype(float),
    )
    taken = taken[value > 0.0]
    key = ["offer", "disposed_years"]
    return pd.concat(
        [
            beside(stated, own).assign(line="hardware_purchase", quantity="share disposed"),
            beside(total(left["cost"], left, key), total(taken["cost"], taken, key)).assign(
                line=SUNK, quantity="book value of units taken out"
            ),
        ],
        ignore_index=True,
    )


def _modules_in_service(books: Accounts) -> pd.DataFrame:
    """Return cost x first year in service of the modules of each site, stated and from the day they carry power."""
    rows, assets, periods = books["modules"], books["assets"], books.facts.periods
    stated = assets[assets["line"] == "site_module"]
    starts = periods["start_years"].to_numpy()
    began = starts[np.minimum(first_powered(books), len(periods) - 1)]
    weighed = beside(
        total(stated["cost"] * stated["in_service_years"], stated, ["site"]),
        total(rows["cost"] * began, rows, ["site"]),
    )
    return weighed.assign(line="site_module", quantity="cost x in_service_years")


def _lot_terms(books: Accounts) -> pd.DataFrame:
    """Return the terms of existing lots, stated and by their dates: age, life, day, residual, method."""
    assets = books["assets"]
    stated = assets[assets["line"].eq(SUNK)]
    own = pd.DataFrame([_lot_term(books, row) for row in _booked(books)], columns=["offer", *_LOT_TERMS])
    own = own.set_index("offer").reindex(stated["offer"])
    parts = []
    for name in _LOT_TERMS:
        left, right = stated.get(name, pd.Series(0.0, index=stated.index)), own[name].to_numpy()
        if name == "book_method":
            left, right = (left.to_numpy() == right).astype(float), np.ones(len(stated))
        elif name == "book_residual_fraction":
            right = np.where(stated["disposed_years"].notna(), 0.0, right.astype(float))
        parts.append(
            stated[PLACE].assign(quantity=name, left=np.asarray(left, float), right=np.asarray(right, float))
        )
    return pd.concat(parts, ignore_index=True)


_LOT_TERMS = ["in_service_years", "age_years", "book_life_years", "book_residual_fraction", "book_method"]


def _booked(books: Accounts) -> list[dict[str, Any]]:
    fleet = books.facts.scenario.tables["fleet"]
    return fleet[fleet["book_value"].fillna(0.0) > 0].to_dict("records")


def _lot_term(books: Accounts, lot: dict[str, Any]) -> tuple[Any, ...]:
    """Return offer and _LOT_TERMS of one lot: the schedule of its class, taken up at the age it has."""
    product = books.facts.table("products", "product").loc[lot["product"]]
    policies = books.facts.table("depreciation", "asset_class")
    known = product["asset_class"] in policies.index
    policy = policies.loc[product["asset_class"]] if known else {}

    def said(name: str, otherwise: Any) -> Any:
        value = policy.get(name)
        return otherwise if value is None or pd.isna(value) else value

    horizon = books.facts.periods["start_date"].iloc[0]
    began = _years(horizon, lot["in_service_date"])
    until = np.inf if pd.isna(lot["retire_date"]) else _years(horizon, lot["retire_date"]) - began
    life = float(said("book_life_years", until if np.isfinite(until) else product["life_years"]))
    method, age = str(said("book_method", "straight_line")), max(-began, 0.0)
    ends = min(life, until)
    if not age < ends - ROUNDING_YEARS:
        method, life, kept = "straight_line", age + GONE_YEARS, 0.0
    elif method == "macrs":
        kept = 0.0
    else:
        life, kept = ends, float(said("book_residual_fraction", 0.0))
    paid = lot["units"] * lot["purchase_price"]
    if pd.isna(paid):
        paid = lot["book_value"] * life / (life - age * (1.0 - kept))
    share = min(kept * paid / lot["book_value"], 1.0)
    return LOT + lot["fleet"], max(began, 0.0), age, life, share, method


def _years(start: pd.Timestamp, day: pd.Timestamp) -> float:
    """Return twelfths of a year from one day to another, month by month and the rest by its days."""
    if day < start:
        return -_years(day, start)
    return walked_months(start, day) / MONTHS_PER_YEAR
