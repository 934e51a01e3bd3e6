"""Prices of capacity (frame ``duals``) against what a unit more is rented for."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.facts import HOSTED, RENTED
from planner.plan.audit.figures.limit_prices import FIXED, LONG_RUN, POOL_BLOCK, prices
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.hardware_costs import time_of
from planner.plan.audit.orders.standing import price_at
from planner.plan.audit.report import Check, compare, total

MORE = (
    "budget",
    "vendor_supply",
    "vendor_hourly_supply",
    "spare_units",
    "spot_share",
    "warm_capacity",
    "warm_rent",
)
"""Limits that a rented unit takes from beside its own supply: where one binds, nothing is said of its rent."""
UNIT_PERIOD = ["offer", "site", "cooling", "period"]


def rent_of_capacity(books: Accounts) -> Check:
    """Return the check that no price of capacity is above what the plan rents a hosted unit for.

    A * |price of capacity in block b|                        <=  rent of the block  + |price of its supply in b|
    A * sum over the blocks of a period |price of capacity|   <=  rent of the period + |price of its supply|

    of units by the hour and by the period, present value per unit, A the share of time a unit is there: else it would
    pay to rent one more. Long-run prices, in which units are divisible; of the plan's own fleet units by the hour that
    may be rented in shares, whose price is the rent where they are rented and nothing else asks for them (losses to
    survive, spares, replicas of several units). Where another limit on them binds nothing is asked. Tolerance 1e-6.
    """
    duals = books.plan.frames.get("duals", pd.DataFrame())
    if duals.empty:
        return compare("rent_of_capacity", "duals", duals, "<=")
    whole = books.facts.scenario.settings.integer_hourly_rent or books.plan.headline.get("relaxed")
    kinds = [LONG_RUN] if whole else [LONG_RUN, FIXED]
    spares = books.facts.scenario.settings.spare_confidence_fraction is not None
    several = books["points"]["units_per_replica"].astype(float).gt(1.0).any()
    alone = books["failures"].empty and not spares and not several
    parts = []
    for kind in kinds:
        own = duals[duals["kind"].eq(kind)]
        if own["family"].isin(MORE).any():
            continue
        parts += [
            _by_hour(books, own, alone and kind == FIXED),
            _by_period(books, own) if kind == LONG_RUN else own.iloc[:0],
        ]
    rows = pd.concat([part for part in parts if "left" in part], ignore_index=True) if parts else duals[:0]
    return compare("rent_of_capacity", "duals", rows, "<=")


def _by_hour(books: Accounts, duals: pd.DataFrame, exact: bool) -> pd.DataFrame:
    units = books.hourly[books.hourly["includes"].eq(HOSTED)]
    rent = _rent(books, units) * books.hours_of(units) / books.period_of(units, "hours").astype(float)
    supply = prices(duals, "hourly_supply", units, ["offer", "period", "block"])
    worth = units["availability_fraction"].to_numpy(float) * prices(duals, "capacity", units, POOL_BLOCK)
    rows = units[[*UNIT_PERIOD, "block"]].assign(left=worth, right=rent + supply)
    if not exact:
        return rows
    there = units["units"].to_numpy(float) > 1e-6
    same = rows[there].assign(left=rows["right"][there], right=rows["left"][there])
    return pd.concat([rows, same], ignore_index=True)


def _by_period(books: Accounts, duals: pd.DataFrame) -> pd.DataFrame:
    fleet = books.fleet
    units = fleet[fleet["mode"].isin(RENTED) & ~fleet["hourly"] & fleet["includes"].eq(HOSTED)]
    units = units.drop_duplicates(UNIT_PERIOD)
    blocks = books.hours.reset_index()[["period", "block"]]
    each = units.merge(blocks, on="period")
    each = each.assign(price=prices(duals, "capacity", each, POOL_BLOCK) * each["availability_fraction"])
    worth = total(each["price"], each, UNIT_PERIOD).reindex(pd.MultiIndex.from_frame(units[UNIT_PERIOD]))
    supply = prices(duals, "supply", units, ["offer", "period"])
    return units[UNIT_PERIOD].assign(left=worth.to_numpy(float), right=_rent(books, units) + supply)


def _rent(books: Accounts, units: pd.DataFrame) -> np.ndarray:
    """Return the rent of a unit through the period of each row, present value: paid in its middle."""
    price = price_at(units, books.period_of(units, "start_years"))
    paid: np.ndarray = price * np.asarray(time_of(books, units), dtype=float)
    return paid * books.period_of(units, "discount_mid").astype(float)


CHECKS = (rent_of_capacity,)
