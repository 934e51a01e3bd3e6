"""The accounting ledger: what each period expenses, and what stays on the balance sheet."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.inputs import Scenario
from planner.plan.finance.assets import written_off
from planner.plan.finance.calendar import by_period
from planner.plan.finance.commitments import borrowing_rate, payment_matrix, right_of_use, service_share
from planner.tables.cost_lines import LOAD_LINES

ENTRY = ["line", "category", "period", "site", "offer", "product", "workload", "use", "amount"]
PLACE = ["line", "site", "offer", "product"]
OPERATING = ("depreciation", "operating expense", "lease depreciation", "lease interest")
"""Categories of running the fleet; the others are loan interest and tax."""


def operating_entries(
    scenario: Scenario, frames: Mapping[str, pd.DataFrame], calendar: pd.DataFrame
) -> pd.DataFrame:
    """Return expenses before loans and tax: line, category, period, site, offer, product, workload, amount.

    depreciation        of every asset by its class's method, in the horizon and until the end of its life
    lease depreciation  of a right of use, level over the term; lease interest beside it
    operating expense   everything else that is paid; a lease or reservation kept off the balance sheet is spread
                        level over its term (ASC 842 operating lease, and services), whenever it is paid
    """
    assets, committed, costs = frames["assets"], frames["commitments"], frames["costs"]
    parts = [
        by_period(assets[PLACE], calendar, written_off(assets, calendar)).assign(category="depreciation")
    ]
    rate = borrowing_rate(scenario)
    amounts, middle = payment_matrix(committed, costs, calendar, frames["instalments"], rate)
    share, labels = service_share(committed, calendar), committed[PLACE]
    listed = committed["capitalised"].to_numpy(bool)
    spread = np.where(listed[:, None], 0.0, amounts.sum(axis=1, keepdims=True) * share)
    parts.append(by_period(labels, calendar, spread).assign(category="operating expense"))
    right, interest, _ = right_of_use(committed, amounts, middle, calendar, rate)
    parts.append(
        by_period(labels, calendar, np.where(listed, right, 0.0)[:, None] * share).assign(
            category="lease depreciation"
        )
    )
    parts.append(
        by_period(labels, calendar, np.where(listed[:, None], interest, 0.0)).assign(
            category="lease interest"
        )
    )
    products = frames["fleet"].drop_duplicates("offer").set_index("offer")["product"]
    paid = costs[costs["kind"].eq("opex") & costs["timing"].ne("end")]
    paid = paid[~paid["line"].isin(committed["line"].unique())]
    paid = paid.assign(product=paid["offer"].map(products).astype("str"), category="operating expense")
    parts.append(paid[[*PLACE, "workload", "category", "period", "amount"]])
    names = [name for name in ENTRY if name not in ("use", "amount")]
    return (
        pd.concat(parts, ignore_index=True)
        .astype(dict.fromkeys(names, "str"))
        .groupby(names, dropna=False, sort=False, as_index=False)["amount"]
        .sum()
        .astype(dict.fromkeys(names, "str"))
    )


def split_by_use(entries: pd.DataFrame, shares: pd.DataFrame, calendar: pd.DataFrame) -> pd.DataFrame:
    """Return the entries with ``use``: the part of standing cost whose hours were busy, and the idle part.

    used     busy hours of the units it stands for; idle  the rest of their hours, a row of its own
    load     cost that follows load by itself (energy, carbon, demand charge, API tokens; ``follows_load``)
    after    falls after the horizon, where no load is planned
    whole    nothing stands there whose hours could be counted
    """
    inside = entries["period"].map(calendar.set_index("period")["inside"]).astype(bool)
    by_product = shares[shares["product"].notna()].set_index(["period", "site", "product"])["used_fraction"]
    by_site = shares[shares["product"].isna() & shares["site"].notna()].set_index(["period", "site"])[
        "used_fraction"
    ]
    own = by_product.reindex(pd.MultiIndex.from_frame(entries[["period", "site", "product"]])).to_numpy(float)
    placed = by_site.reindex(pd.MultiIndex.from_frame(entries[["period", "site"]])).to_numpy(float)
    # Hardware that does not serve yet or any more is wholly idle; a hall is as busy as what stands in it.
    used = np.where(entries["product"].notna(), np.nan_to_num(own, nan=0.0), placed)
    load = entries["line"].isin(LOAD_LINES).to_numpy()
    plain = np.select([~inside.to_numpy(), load, np.isnan(used)], ["after", "load", "whole"], default="")
    whole = entries[plain != ""].assign(use=plain[plain != ""])
    standing, share = entries[plain == ""], used[plain == ""]
    parts = [
        whole,
        standing.assign(use="used", amount=standing["amount"] * share),
        standing.assign(use="idle", amount=standing["amount"] * (1.0 - share)),
    ]
    both = pd.concat(parts, ignore_index=True)
    return both[both["amount"].abs() > 1e-9].astype({"use": "str"}).reset_index(drop=True)[ENTRY]


def book_value_frame(frames: Mapping[str, pd.DataFrame], calendar: pd.DataFrame) -> pd.DataFrame:
    """Return asset_class, period, opening, paid, depreciation, closing: book value, what is not yet in service too.

    closing = opening + paid - depreciation. What is paid before service is on the books as construction; a part
    still unpaid after it lowers the value by what is owed.
    """
    assets, costs = frames["assets"], frames["costs"]
    off = by_period(assets[["line", "asset_class"]], calendar, written_off(assets, calendar))
    capex = costs[costs["kind"].eq("capex") & costs["timing"].ne("end")]
    classes = assets.drop_duplicates(["line", "offer"]).set_index(["line", "offer"])["asset_class"]
    label = classes.reindex(pd.MultiIndex.from_frame(capex[["line", "offer"]])).fillna("other").to_numpy()
    paid = capex.assign(asset_class=label).groupby(["asset_class", "period"])["amount"].sum()
    lots = assets[assets["line"] == "sunk_book_value"].groupby("asset_class")["cost"].sum()
    gone = off.groupby(["asset_class", "period"])["amount"].sum()
    rows = []
    for name in sorted({*assets["asset_class"].dropna(), *paid.index.get_level_values(0)}):
        value = float(lots.get(name, 0.0))
        for period in calendar["period"]:
            spent, written = float(paid.get((name, period), 0.0)), float(gone.get((name, period), 0.0))
            rows.append((name, period, value, spent, written, value + spent - written))
            value = rows[-1][-1]
    columns = ["asset_class", "period", "opening", "paid", "depreciation", "closing"]
    kinds = dict.fromkeys(columns[:2], "str") | dict.fromkeys(columns[2:], float)
    return pd.DataFrame(rows, columns=columns).astype(kinds)
