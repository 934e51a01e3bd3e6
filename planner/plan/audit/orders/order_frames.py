"""What orders and purchases say beside their amounts: terms of delivery, units stored, vendor, quantity."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.facts import BOUGHT_OR_TERMED, HOSTED
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.orders.standing import STAND
from planner.plan.audit.report import total

ORDER = [*STAND, "period"]
APART = pd.Timedelta(days=3)
"""By so much the weeks of a plan and the calendar may differ: no later date is asked for that."""
SMALL_UNITS = 1e-6


def stored_units(books: Accounts) -> np.ndarray:
    """Return how many units of each order stand without power when they are delivered, those ordered last first."""
    orders, waiting, names = books.orders, books["unpowered"], list(books.facts.periods.index)
    stored = np.zeros(len(orders))
    held = total(waiting["units"], waiting, ORDER) if len(waiting) else pd.Series(dtype=float)
    rank = books.period_of(orders, "ordinal")
    for stand, group in orders.reset_index(drop=True).groupby(STAND):
        for at_row, first, units in zip(group.index, group["first"], group["units"], strict=True):
            if first >= len(names):
                continue
            later = group[(group["first"] <= first) & (group.index != at_row)]
            younger = later[(later["first"] == first) & (rank[later.index.to_numpy(int)] > rank[at_row])][
                "units"
            ]
            left = float(held.get((*stand, names[int(first)]), 0.0)) - float(younger.sum())
            stored[at_row] = min(max(left, 0.0), float(units))
    return stored


def orders(books: Accounts) -> pd.DataFrame:
    """Return ORDER, delivery_terms, stored_units.

    Hosted; stored until powered; later date asked, where the vendor could deliver more than APART before; lead time.
    """
    stated, stored = books["orders"], stored_units(books)
    hosted = books.orders["includes"].eq(HOSTED).to_numpy()
    committed = books.orders["mode"].isin(BOUGHT_OR_TERMED).to_numpy()
    early = committed & (stated["vendor_delivery_date"] + APART < stated["delivery_date"]).to_numpy()
    terms = np.select(
        [hosted, stored > SMALL_UNITS, early],
        ["hosted", "stored until powered", "later date asked"],
        "lead time",
    )
    return stated[ORDER].assign(delivery_terms=terms, stored_units=stored)


def purchases(books: Accounts) -> pd.DataFrame:
    """Return PURCHASE, the vendor of what an offer or a token service sells, the cooling that is built or changed to
    (hardware stands where its orders say, which the dates compare; nothing else has one), and the unit of each kind.
    """
    rows, services = books["purchases"], books.facts.scenario.tables["api_offers"]
    sold = rows["kind"].isin(("hardware", "rental"))
    tokens = rows["kind"].eq("token service")
    vendor = rows["item"].map(books.facts.offers["vendor"]).where(sold, "")
    vendor = vendor.mask(tokens, rows["item"].map(services.set_index("api_offer")["vendor"]))
    built, changed = rows["kind"].isin(("hall", "cooling")), rows["kind"].eq("retrofit")
    cooling = rows["cooling"].where(sold, "").mask(built, rows["item"])
    cooling = cooling.mask(changed, rows["item"].str.split(" to ").str[-1])
    return rows[PURCHASE].assign(cooling=cooling, vendor=vendor, quantity_unit=rows["kind"].map(UNITS))


PURCHASE = ["kind", "item", "site", "period"]
UNITS = {
    **dict.fromkeys(("hardware", "rental"), "units"),
    **dict.fromkeys(("hall", "cooling", "retrofit", "colocation"), "kW IT"),
    **dict.fromkeys(("generator", "energy contract"), "kW"),
    "power module": "modules",
    "site opening": "site",
    "token service": "Mtok",
}
"""Kind of row -> the unit it is counted in."""
ORDER_FRAMES = {
    "orders": (ORDER, orders),
    "purchases": (PURCHASE, purchases),
}
