"""Periods and representative hours: the blocks are the calendar, and their means are the means of its
hours.
"""

from __future__ import annotations

import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.clock import CELL
from planner.plan.audit.report import Check, beside, compare, total

PERIOD_COLUMNS = ("hours", "start_weeks", "start_years", "years")
DISCOUNT_COLUMNS = ("discount_start", "discount_mid", "discount_end")


def calendar(books: Books) -> Check:
    """Return the check that every hour of the calendar is in just one block."""
    cells = books["block_cells"]
    own = books.facts.cells
    rows = beside(total(cells["hours"], cells, CELL), total(own["hours"], own, CELL))
    return compare("calendar", "blocks", rows, "==")


def block_hours(books: Books) -> Check:
    """Return the check that the blocks, and what is counted by block, have the hours of their cells."""
    parts = [
        books[name][["period", "block"]].assign(
            frame=name, left=books[name]["hours"], right=books.hours_of(books[name])
        )
        for name in ("blocks", "serving", "energy")
    ]
    missing = beside(total(books["blocks"]["hours"], books["blocks"], ["period", "block"]), books.hours)
    return compare("block_hours", "blocks", pd.concat([*parts, missing], ignore_index=True), "==")


def period_dates(books: Books) -> Check:
    """Return the check of length and place of every period: hours of the calendar, weeks and years from the
    start.
    """
    return compare("period_dates", "periods", _periods(books, PERIOD_COLUMNS), "==")


def discount_factors(books: Books) -> Check:
    """Return the check of the discount factors: (1 + r)^-years to the start, the middle, the end of the
    horizon.
    """
    return compare("discount_factors", "periods", _periods(books, DISCOUNT_COLUMNS), "==", floor=1e-3)


def _periods(books: Books, columns: tuple[str, ...]) -> pd.DataFrame:
    stated = books["periods"].set_index("period")
    parts = [
        beside(stated[name], books.facts.periods[name], absent=float("nan")).assign(quantity=name)
        for name in columns
    ]
    return pd.concat(parts, ignore_index=True)


def block_demand(books: Books) -> Check:
    """Return the check that demand of a block is the mean of its hours, weighted by hours."""
    key = ["workload", "region", "period", "block"]
    stated = books["demand"]
    rows = beside(total(stated["requests_per_s"], stated, key), books.block_demand)
    return compare("block_demand", "demand", rows, "==")


def block_price(books: Books) -> Check:
    """Return the check that the energy price of a block is the mean of its hours, weighted by hours."""
    energy = books["energy"]
    key = ["site", "period", "block"]
    own = books.block_price.reindex(pd.MultiIndex.from_frame(energy[key]))
    return compare(
        "block_price",
        "energy",
        energy[key].assign(left=energy["price_per_kwh"], right=own.to_numpy()),
        "==",
        floor=1e-3,
    )


def block_pue(books: Books) -> Check:
    """Return the check that PUE of a site and block is the mean of its hours, weighted by the IT load of each
    cooling.
    """
    energy = books["energy"]
    key = ["site", "period", "block"]
    it = books.it_rows
    facility, compute = total(it["it_kw"] * it["pue"], it, key), total(it["it_kw"], it, key)
    running = compute[compute > 1e-9]
    own = (
        (facility.reindex(running.index) / running).reindex(pd.MultiIndex.from_frame(energy[key])).to_numpy()
    )
    rows = energy[key].assign(left=energy["pue"], right=own)
    silent = rows["left"].isna() & rows["right"].isna()
    return compare("block_pue", "energy", rows[~silent], "==", floor=1e-3)
