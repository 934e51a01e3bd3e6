"""Grants and tax credits, counted again from the capex and kW of the plan."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facility.energised import module_entries
from planner.plan.audit.money.hardware_costs import entries, order_entries
from planner.plan.audit.money.site_costs import build_entries, opening_entries, retrofit_entries
from planner.plan.audit.report import Check, alike, compare
from planner.tables.cost_lines import COST_LINE

AWARD = ["incentive", "site"]
NUMBERS = ["earned_amount", "amount"]


def incentive_entries(books: Books) -> pd.DataFrame:
    """Return what the plan says is received, as income in the course of its period."""
    rows = _stated(books)
    return entries(rows, "incentive", "opex", "mid", -rows["amount"].astype(float))


def incentives(books: Books) -> Check:
    """Return the check of every incentive: earned by share of capex, per kW, or by the capex a flat amount asks for.

    All of what is earned is received up to the most; where that cuts it, how sites share it is the plan's to say, and
    none has more than it earns.
    """
    stated = _stated(books)
    if stated.empty and books.facts.scenario.tables["incentives"].empty:
        return compare("incentives", "incentive_earned", stated, "==")
    own = _earned(books)
    both = own.merge(stated[[*AWARD, "amount"]], on=AWARD, how="left")
    got = both["amount"].fillna(0.0)
    most = both["incentive"].map(_most(books)).fillna(math.inf)
    whole = both["earned_amount"].groupby(both["incentive"]).transform("sum")
    alone = both.groupby("incentive")["site"].transform("size").eq(1)
    # Shared under a most: the sum has to be right, each part no more than earned.
    share = np.minimum(both["earned_amount"], most).where(
        alone | (whole <= most), np.minimum(got, both["earned_amount"])
    )
    rows = both[[*AWARD, "period", "earned_amount"]].assign(amount=share)
    sums = got.groupby(both["incentive"]).sum()
    due = np.minimum(whole, most).groupby(both["incentive"]).max()
    total = pd.DataFrame({"incentive": due.index, "site": "all", "amount": due.to_numpy()})
    said = total.assign(amount=sums.reindex(due.index).to_numpy(float))
    left, right = (pd.concat(parts, ignore_index=True) for parts in ((stated, said), (rows, total)))
    if right.empty and left.empty:
        return compare("incentives", "incentive_earned", pd.DataFrame({"left": [], "right": []}), "==")
    return alike("incentives", "incentive_earned", left, right, AWARD)


def _stated(books: Books) -> pd.DataFrame:
    columns = [*AWARD, "period", *NUMBERS]
    frame = books.plan.frames.get("incentives", pd.DataFrame(columns=columns))
    return frame[columns].astype(dict.fromkeys(NUMBERS, float))


def _most(books: Books) -> pd.Series:
    table = books.facts.scenario.tables["incentives"]
    most = table["most_amount"].astype(float) * books.facts.fx(table["currency"])
    return pd.Series(most.to_numpy(), index=table["incentive"].to_numpy()).dropna()


def _earned(books: Books) -> pd.DataFrame:
    """Return incentive, site, period, earned_amount of what each site earns of each."""
    table, periods = books.facts.scenario.tables["incentives"], books.facts.periods
    capex, kw = _capex(books), _kilowatts(books)
    starts = periods["start_date"].to_numpy("datetime64[ns]")
    end = periods["end_date"].iloc[-1]
    rows = []
    for row, rate in zip(table.to_dict("records"), books.facts.fx(table["currency"]), strict=True):
        when = np.datetime64(row["received_date"], "ns")
        place = int(np.searchsorted(starts, when, side="right")) - 1
        if place < 0 or row["received_date"] >= end:
            continue
        counted = kw if row["basis"] == "per_kw" else capex
        counted = counted[counted["paid"] <= place]
        for name in ("site", "asset_class"):
            if isinstance(row[name], str):
                counted = counted[counted[name] == row[name]]
        for site, amount in counted.groupby("site")["amount"].sum().items():
            if row["basis"] == "flat":
                asked = float(row["least_capex"]) * rate
                earned = float(row["amount"]) * rate if amount >= asked * (1.0 - 1e-9) - 1e-6 else 0.0
            else:
                earned = amount * float(row["amount"]) * (rate if row["basis"] == "per_kw" else 1.0)
            if earned > 1e-6:
                rows.append((row["incentive"], site, periods.index[place], earned))
    return pd.DataFrame(rows, columns=[*AWARD, "period", "earned_amount"]).astype({"earned_amount": float})


def _capex(books: Books) -> pd.DataFrame:
    """Return site, asset_class, paid (place of the period), amount of all capex paid."""
    sources = (order_entries, build_entries, retrofit_entries, module_entries, opening_entries)
    rows = pd.concat([source(books) for source in sources], ignore_index=True)
    rows = rows[rows["kind"].eq("capex") & rows["timing"].ne("end")]
    known = {name: line.asset_class for name, line in COST_LINE.items()}
    product = books.facts.offers["product"].reindex(rows["offer"]).to_numpy()
    of_product = books.facts.table("products", "product")["asset_class"].reindex(product).to_numpy()
    by_line = rows["line"].map(known).to_numpy()
    asset = np.where(pd.notna(by_line), by_line, of_product)
    places = dict(zip(books.facts.periods.index, range(len(books.facts.periods)), strict=True))
    return rows[["site", "amount"]].assign(asset_class=asset, paid=rows["period"].map(places).astype(int))


def _kilowatts(books: Books) -> pd.DataFrame:
    """Return site, asset_class, paid, amount (kW) of units bought, halls and modules, by their first payment.

    What pays in several parts counts from the first on.
    """
    places = dict(zip(books.facts.periods.index, range(len(books.facts.periods)), strict=True))
    products = books.facts.table("products", "product")
    orders = books["orders"]
    bought = orders[orders["mode"].eq("purchase")]
    about = products.reindex(bought["product"])
    units = bought[["site", "period"]].assign(
        asset_class=about["asset_class"].to_numpy(),
        amount=bought["units"].to_numpy(float) * about["nameplate_kw"].fillna(0.0).to_numpy(float),
    )
    parts = [units]
    for name, classes in (("build", ("building", "cooling_plant")), ("retrofits", ("cooling_plant",))):
        built = books[name]
        parts += [built[["site", "period"]].assign(asset_class=one, amount=built["kw"]) for one in classes]
    modules = books["modules"]
    size = books.facts.scenario.tables["site_modules"].set_index(["site", "module"])["kw"]
    each = size.reindex(pd.MultiIndex.from_frame(modules[["site", "module"]])).to_numpy(float)
    parts.append(
        modules[["site", "period"]].assign(asset_class="power_path", amount=modules["modules"] * each)
    )
    rows = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    return rows.assign(paid=rows["period"].map(places).astype(float), amount=rows["amount"].astype(float))
