"""The accounting and the cash ledger: recomputed, and reconciled with the economic one line by line."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.asset_terms import PLACE, SUNK, asset_terms
from planner.plan.audit.money.commitment_costs import termed_orders
from planner.plan.audit.money.loans import loans
from planner.plan.audit.money.write_offs import own_write_offs
from planner.plan.audit.orders.standing import STAND
from planner.plan.audit.report import Check, beside, compare, total

OPERATING = ("depreciation", "operating expense", "lease depreciation", "lease interest")
RENT = {"lease": "lease", "reserved": "reserved_rent"}


def asset_cost(books: Accounts) -> Check:
    """Return the check that what is capitalised is the capex paid, by line, site and offer, and the book value
    of lots.
    """
    own, assets = books.ledger, books["assets"]
    spent = own[own["kind"].eq("capex") & own["timing"].ne("end")]
    lots = own[own["line"] == SUNK]
    both = pd.concat([spent, lots], ignore_index=True)
    rows = beside(total(assets["cost"], assets, PLACE), total(both["amount"], both, PLACE))
    return compare("asset_cost", "accounting", rows, "==")


def depreciation(books: Accounts) -> Check:
    """Return the check of depreciation by line, place and period, and that over its life each asset's cost less
    residual is written off.
    """
    assets, stated = books["assets"], books["accounting"]
    stated = stated[stated["category"] == "depreciation"]
    own = own_write_offs(assets, books["finance_periods"])
    key = [*PLACE, "period"]
    rows = beside(total(stated["amount"], stated, key), total(own["amount"], own, key)).assign(
        quantity="period"
    )
    whole = assets["cost"] * (1.0 - assets["book_residual_fraction"])
    life = beside(total(stated["amount"], stated, PLACE), total(whole, assets, PLACE)).assign(quantity="life")
    return compare("depreciation", "accounting", pd.concat([rows, life], ignore_index=True), "==")


def book_value(books: Accounts) -> Check:
    """Return the check of book values: opening is the closing before, closing = opening + paid - depreciation, and what
    is paid is the capex of each class in the ledger counted once more.
    """
    value, assets, stated = books["book_value"], books["assets"], books["accounting"]
    carried = value.groupby("asset_class")["closing"].shift()
    booked = assets[assets["line"] == SUNK]
    lots = total(booked["cost"], booked, ["asset_class"])
    first = value["asset_class"].map(lots).fillna(0.0)
    labels = value[["asset_class", "period"]]
    moved = value["opening"] + value["paid"] - value["depreciation"]
    parts = [
        labels.assign(quantity="opening", left=value["opening"], right=carried.fillna(first)),
        labels.assign(quantity="closing", left=value["closing"], right=moved),
    ]
    stated = stated[stated["category"] == "depreciation"]
    parts.append(
        beside(
            total(value["depreciation"], value, ["period"]), total(stated["amount"], stated, ["period"])
        ).assign(quantity="depreciation")
    )
    spent = books.ledger
    spent = spent[spent["kind"].eq("capex") & spent["timing"].ne("end")]
    place = ["line", "offer"]
    booked, spent = (rows.assign(offer=rows["offer"].fillna("").astype("str")) for rows in (assets, spent))
    classes = booked.drop_duplicates(place).set_index(place)["asset_class"]
    label = classes.reindex(pd.MultiIndex.from_frame(spent[place])).fillna("other")
    spent = spent.assign(asset_class=label.to_numpy())
    key = ["asset_class", "period"]
    parts.append(
        beside(total(value["paid"], value, key), total(spent["amount"], spent, key)).assign(quantity="paid")
    )
    return compare("book_value", "accounting", pd.concat(parts, ignore_index=True), "==")


def commitments(books: Accounts) -> Check:
    """Return the check of every lease and reservation: paid inside the horizon, owed after it, charged for it."""
    stated, own, ledger = books["commitments"], termed_orders(books), books.ledger
    key = [*STAND, "period"]
    parts = [
        beside(total(stated[name], stated, key), total(own["units"] * value, own, key)).assign(quantity=name)
        for name, value in (
            ("owed_after_horizon", own["open_owed"]),
            ("charge_at_horizon_end", own["charge"]),
        )
    ]
    paid = ledger[ledger["line"].isin(RENT.values())]
    place = ["line", "site", "offer"]
    parts.append(
        beside(total(stated["paid_in_horizon"], stated, place), total(paid["amount"], paid, place)).assign(
            quantity="paid_in_horizon"
        )
    )
    return compare("commitments", "cash", pd.concat(parts, ignore_index=True), "==")


def cash_payments(books: Accounts) -> Check:
    """Return the check of cash before loans and tax, by line, place and period: the payments of the economic ledger
    inside the horizon, the rest of each term after it, and what assets are sold for at the end of their life.
    """
    cash, own, calendar = books["cash"], books.ledger, books["finance_periods"]
    inside = cash["period"].map(calendar.set_index("period")["inside"]).astype(bool)
    paid = own[own["kind"].isin(("capex", "opex")) & own["timing"].ne("end")]
    key = [*PLACE, "period"]
    now = cash[inside & cash["category"].isin(("capex", "opex"))]
    parts = [
        beside(total(now["amount"], now, key), total(paid["amount"], paid, key)).assign(quantity="horizon")
    ]
    termed = termed_orders(books)
    termed = termed.assign(line=termed["mode"].map(RENT))
    later = cash[~inside & cash["category"].eq("opex")]
    owed = total(termed["units"] * termed["open_owed"], termed, PLACE)
    parts.append(beside(total(later["amount"], later, PLACE), owed).assign(quantity="after"))
    sold, assets = cash[cash["category"] == "sold at end of life"], books["assets"]
    kept = total(-assets["cost"] * assets["book_residual_fraction"], assets, PLACE)
    parts.append(beside(total(sold["amount"], sold, PLACE), kept).assign(quantity="sold"))
    return compare("cash_payments", "cash", pd.concat(parts, ignore_index=True), "==")


def tax(books: Accounts) -> Check:
    """Return the check of tax: the rate on the expenses of each period in the books, and the same sum in cash."""
    rate = books.facts.scenario.settings.tax_rate_fraction
    stated, cash = books["accounting"], books["cash"]
    charged = stated[stated["category"] == "income tax"]
    before = stated[stated["category"] != "income tax"]
    rows = beside(
        total(charged["amount"], charged, ["period"]), -rate * total(before["amount"], before, ["period"])
    )
    saved = float(cash.loc[cash["category"] == "tax saved", "amount"].astype(float).sum())
    life = pd.DataFrame(
        [{"period": "over life", "left": saved, "right": float(charged["amount"].astype(float).sum())}]
    )
    return compare("tax", "cash", pd.concat([rows, life], ignore_index=True), "==")


def idle_capacity(books: Accounts) -> Check:
    """Return the check that idle is the share of their hours in which bought and rented units do not work."""
    stated, fleet, hourly, serving = books["accounting"], books.fleet, books.hourly, books.serving
    unit = ["period", "site", "product"]
    whole = fleet[~fleet["hourly"]]
    hours = pd.concat(
        [
            whole[unit].assign(hours=whole["units"] * books.period_of(whole, "hours")),
            hourly[unit].assign(hours=hourly["units"] * books.hours_of(hourly)),
        ],
        ignore_index=True,
    )
    split = stated[stated["use"].isin(("used", "idle")) & stated["product"].notna()]
    held = total(hours["hours"], hours, unit)
    busy = (
        total(serving["units_running"] * books.hours_of(serving), serving, unit)
        .reindex(held.index)
        .fillna(0.0)
    )
    idle = split[split["use"] == "idle"]
    own = (1.0 - (busy / held).clip(upper=1.0)).reindex(total(split["amount"], split, unit).index).fillna(1.0)
    rows = beside(total(idle["amount"], idle, unit), own * total(split["amount"], split, unit))
    return compare("idle_capacity", "accounting", rows, "==")


def reconciliation(books: Accounts) -> Check:
    """Return the check that the three ledgers meet in every cost line, each side taken from its own ledger.

    economic less values at the end of the horizon = paid in the horizon; paid before, in and after the horizon =
    expensed in and after it; present value + discounting = economic; and the stated table is these numbers.
    """
    own, cash, stated = books.ledger, books["cash"], books["accounting"]
    table = books["reconciliation"].set_index("line")
    inside = books["finance_periods"].set_index("period")["inside"]
    counted = own[own["kind"].isin(("capex", "opex"))]
    ended = counted[counted["timing"] == "end"]
    booked = own[own["line"] == SUNK]
    sides = {
        "present_value": total(counted["discounted"], counted, ["line"]),
        "economic": total(counted["amount"], counted, ["line"]),
        "value_at_horizon_end": total(ended["amount"], ended, ["line"]),
        "paid_before": total(booked["amount"], booked, ["line"]),
        "paid_in_horizon": _when(cash, inside, True),
        "paid_after": _when(cash, inside, False),
        "expensed_in_horizon": _when(stated, inside, True),
        "expensed_after": _when(stated, inside, False),
    }
    parts = [beside(table[name], side).assign(quantity=name) for name, side in sides.items()]
    both = pd.DataFrame(sides).fillna(0.0)
    meets = {
        "economic = cash": (both["economic"] - both["value_at_horizon_end"], both["paid_in_horizon"]),
        "cash = accounting": (
            both["paid_before"] + both["paid_in_horizon"] + both["paid_after"],
            both["expensed_in_horizon"] + both["expensed_after"],
        ),
        "discounting": (table["present_value"] + table["discounting"], table["economic"]),
        "over life": (table["paid_over_life"], table["expensed_over_life"]),
    }
    # Loans and tax are no cost of the economic ledger.
    financing = ("loans", "income_tax")
    for name, (left, right) in meets.items():
        kept = left.index if name != "economic = cash" else left.index.difference(financing, sort=False)
        parts.append(
            pd.DataFrame(
                {
                    "line": kept,
                    "quantity": name,
                    "left": left[kept].to_numpy(),
                    "right": right[kept].to_numpy(),
                }
            )
        )
    rows = pd.concat(parts, ignore_index=True)
    return compare("reconciliation", "ledgers", rows, "==")


def _when(rows: pd.DataFrame, inside: pd.Series, wanted: bool) -> pd.Series:
    fits = rows[rows["period"].map(inside).astype(bool) == wanted]
    return total(fits["amount"], fits, ["line"])


def chargeback(books: Accounts) -> Check:
    """Return the check that each view of the chargeback sums to the operating expense of the period, and that what
    is by use nobody's is the idle capacity.
    """
    charged, stated = books["chargeback"], books["accounting"]
    inside = books["finance_periods"].set_index("period")["inside"]
    spent = stated[stated["category"].isin(OPERATING) & stated["period"].map(inside).astype(bool)]
    whole = total(spent["amount"], spent, ["period"])
    parts = [
        beside(total(rows["amount"], rows, ["period"]), whole).assign(view=view)
        for view, rows in charged.groupby("view", sort=False)
    ]
    idle = spent[spent["use"] == "idle"]
    nobody = charged[charged["view"].eq("by use") & charged["business"].eq("idle capacity")]
    busy = books.serving["period"].unique()
    own = total(idle["amount"], idle, ["period"])
    rows = beside(total(nobody["amount"], nobody, ["period"]), own).assign(view="idle by use")
    parts.append(rows[rows["period"].isin(busy)])
    return compare("chargeback", "accounting", pd.concat(parts, ignore_index=True), "==")


def investment(books: Accounts) -> Check:
    """Return the check that the net present value against each baseline is its cost less the plan's."""
    case = books["investment"]
    case = case[case["measure"] == "NPV"].set_index("baseline")["value"]
    costs = books.plan.frames.get("baselines")
    rows = [] if costs is None else costs[costs["total_cost"].notna()].to_dict("records")
    own = books.ledger
    plan = float(own.loc[own["kind"].isin(("capex", "opex")), "discounted"].sum())
    scale = max(abs(plan), 1.0)
    compared = [
        {
            "baseline": row["baseline"],
            "left": (float(case.get(row["baseline"], np.nan)) + plan) / scale,
            "right": row["total_cost"] / scale,
        }
        for row in rows
    ]
    return compare("investment", "cash", pd.DataFrame(compared, columns=["baseline", "left", "right"]), "==")


CHECKS = (
    chargeback,
    investment,
    asset_cost,
    asset_terms,
    depreciation,
    book_value,
    commitments,
    cash_payments,
    loans,
    tax,
    idle_capacity,
    reconciliation,
)
