"""Frames of the calendar made once more: lengths of periods, years after the horizon, names of blocks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.report import Check, compare

YEARS_SHOWN = 10
"""Years after the horizon shown one by one."""


def periods(books: Accounts) -> pd.DataFrame:
    """Return period, months (blank where hours are stated), calendar_months, months_equivalent."""
    own = books.facts.periods
    months = own["months"].where(~own["stated_in_hours"].astype(bool))
    return pd.DataFrame(
        {
            "period": own.index,
            "months": months.to_numpy(float),
            "calendar_months": own["months"].to_numpy(float),
            "months_equivalent": own["months"].to_numpy(float),
        }
    )


def blocks(books: Accounts) -> pd.DataFrame:
    """Return period, block and the label that its hours have."""
    return books["block_cells"].drop_duplicates(["period", "block"])[["period", "block", "label"]]


def block_labels(books: Accounts) -> Check:
    """Return the check that all hours of a block are in it for the same reason, the one that the block states."""
    cells = books["block_cells"]
    if "label" not in cells or "label" not in books["blocks"]:
        return compare("block_labels", "blocks", cells.iloc[:0], "==")
    said = books["blocks"].set_index(["period", "block"])["label"]
    own = said.reindex(pd.MultiIndex.from_frame(cells[["period", "block"]])).to_numpy()
    same = (cells["label"].to_numpy() == own).astype(float)
    rows = cells[["period", "month", "hour_utc", "block"]].assign(left=same, right=1.0)
    return compare("block_labels", "blocks", rows, "==")


def finance_periods(books: Accounts) -> pd.DataFrame:
    """Return the periods of the ledgers: those of the horizon, then years one by one, all later ones in a last row.

    How many years are shown is the plan's to say: payments and write-offs that fall beyond them are missed elsewhere.
    """
    own, stated = books.facts.periods, books["finance_periods"]
    inside = pd.DataFrame(
        {
            "period": own.index,
            "inside": True,
            "start_years": own["start_years"].to_numpy(float),
            "end_years": (own["start_years"] + own["years"]).to_numpy(float),
            "start_date": own["start_date"].to_numpy(),
            "end_date": own["end_date"].to_numpy(),
        }
    )
    count = max(len(stated) - len(own), 0)
    if not count:
        return inside
    lengths = np.ones(count)
    if count > YEARS_SHOWN:
        last = float(stated["end_years"].iloc[-1] - stated["start_years"].iloc[-1])
        lengths[YEARS_SHOWN:] = max(np.rint(last), 1.0)
    edges = np.concatenate([[0.0], np.cumsum(lengths)])
    horizon, edge = float(inside["end_years"].iloc[-1]), own["end_date"].iloc[-1]
    days = [edge + pd.DateOffset(years=round(years)) for years in edges]
    names = [f"after year {at + 1}" for at in range(count)]
    names[YEARS_SHOWN:] = [f"after year {YEARS_SHOWN + 1} on"] * (count - YEARS_SHOWN)
    after = pd.DataFrame(
        {
            "period": names,
            "inside": False,
            "start_years": horizon + edges[:-1],
            "end_years": horizon + edges[1:],
            "start_date": days[:-1],
            "end_date": days[1:],
        }
    )
    return pd.concat([inside, after], ignore_index=True)


CALENDAR_FRAMES = {
    "periods": (["period"], periods),
    "blocks": (["period", "block"], blocks),
    "finance_periods": (["period"], finance_periods),
}
