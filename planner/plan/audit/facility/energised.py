"""Checks and costs of the path to usable power, and of units that wait for it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.clock import yearly_rate
from planner.plan.audit.facility.bridging import rented_kw
from planner.plan.audit.facility.path import ITEM, MODULE, carried_kw, first_powered
from planner.plan.audit.facts import BOUGHT_OR_TERMED, HOSTED, at
from planner.plan.audit.money.hardware_costs import entries, no_entries, sinking_fund
from planner.plan.audit.once import once
from planner.plan.audit.orders.standing import STAND, lowest_purchase_price, standing
from planner.plan.audit.report import Check, beside, breaches, compare, total


def power_path(books: Books) -> Check:
    """Return the check of what each item of the path is said to carry."""
    stated = books["power_path"]
    return compare(
        "power_path", "path_power", beside(total(stated["carried_kw"], stated, ITEM), carried_kw(books)), "=="
    )


@once
def _least_kw(books: Books) -> pd.Series:
    """Return kW of the smallest item on the path of each site with modules, index (site, period)."""
    return carried_kw(books).groupby(level=["site", "period"]).min()


def energised_load(books: Books) -> Check:
    """Return the check that kW at the meter <= kW of the smallest item on the path, in every block."""
    drawn = books.grid_kw.rename("left").reset_index()
    rows = drawn.assign(right=at(_least_kw(books), drawn, ["site", "period"]))
    return compare("energised_load", "energised_load", rows[rows["right"].notna()], "<=")


@once
def energised_provision(books: Books) -> Check:
    """Return the check that provisioned kW x design PUE <= (1 - headroom) x (kW of the smallest item + rented kW)."""
    units = books.own_fleet
    used = total(
        units["units"] * units["provisioned_kw"] * units["design_pue"] * units["headroom_ratio"],
        units,
        ["site", "period"],
    )
    least = _least_kw(books)
    kept = books.facts.sites["headroom_fraction"].fillna(0.0).reindex(least.index.get_level_values("site"))
    limits = least * (1.0 - kept.to_numpy(float)) + rented_kw(books).reindex(least.index).fillna(0.0)
    rows = used.rename("left").reset_index()
    rows = rows.assign(right=at(limits, rows, ["site", "period"]))
    return compare("energised_provision", "energised_provision", rows[rows["right"].notna()], "<=")


def module_orders(books: Books) -> Check:
    """Return the check that modules are ordered whole, no earlier and no more than can be, and only where they are a
    decision; and that they say when they carry power.
    """
    rows, periods = books["modules"], books.facts.periods
    table = at(books.facts.scenario.tables["site_modules"].set_index(MODULE), rows, MODULE)
    start = pd.Series(books.period_of(rows, "start_date"), index=rows.index)
    relaxed = bool(books.plan.headline.get("relaxed"))
    part = ~relaxed & ((rows["modules"] - rows["modules"].round()).abs() > 1e-6)
    given = table["ordered_date"].notna() | table["energised_date"].notna()
    names = np.append(periods.index.to_numpy(str), "after the horizon")
    moved = names[first_powered(books)] != rows["energised_period"].to_numpy(str)
    most = table["max_modules"].fillna(1.0).astype(float)
    many = rows.groupby(MODULE)["modules"].transform("sum") > most + 1e-6
    broken = part | given | (start < table["earliest_order_date"]) | moved | many
    return breaches("module_orders", "module_count", rows, broken, ["site", "module", "period"])


def commissioning(books: Books) -> Check:
    """Return the check that units wait for power only where a site lets them, from the period they arrive in.

    Left is what waits, right what waited in the period before and what arrives: orders delivered and set up in the
    period, and existing lots in their first period.
    """
    rows, periods, key = books["unpowered"], books.facts.periods, [*STAND, "period"]
    names = np.append(periods.index.to_numpy(str), "after the horizon")
    orders = books.orders[books.orders["mode"].isin(BOUGHT_OR_TERMED)]
    arrived = orders[[*STAND, "units"]].assign(period=names[orders["first"].to_numpy(int)])
    rank = books.lots["period"].map(periods["ordinal"])
    lots = books.lots.assign(rank=rank).sort_values("rank").drop_duplicates(STAND)[[*key, "units"]]
    following = names[books.period_of(rows, "ordinal").astype(int) + 1]
    waited = rows[[*STAND, "units"]].assign(period=following)
    source = pd.concat([arrived, lots, waited], ignore_index=True)
    able = total(source["units"], source, key)
    site = books.facts.sites["holding_fraction_per_year"].reindex(rows["site"])
    hosted = at(books.facts.offers["includes"], rows, ["offer"]).eq(HOSTED)
    right = at(able, rows, key).fillna(0.0)
    allowed = right.where(site.notna().to_numpy() & ~hosted, 0.0)
    return compare(
        "commissioning",
        "commissioning",
        rows[key].assign(left=rows["units"], right=allowed),
        "<=",
    )


@once
def module_entries(books: Books) -> pd.DataFrame:
    """Return modules when they are ordered, and what they are worth at the end of the horizon (sinking fund)."""
    rows, periods = books["modules"], books.facts.periods
    settings = books.facts.scenario.settings
    table = books.facts.scenario.tables["site_modules"]
    priced = table.assign(price=table["cost"] * books.facts.fx(table["currency"])).set_index(MODULE)
    about = at(priced[["price", "life_years"]], rows, MODULE)
    end_years = periods["start_years"].iloc[-1] + periods["years"].iloc[-1]
    age = end_years - periods["start_years"].to_numpy()[np.minimum(first_powered(books), len(periods) - 1)]
    share = [
        0.0
        if settings.residual_method == "none" or np.isnan(life)
        else sinking_fund(yearly_rate(settings), years, life)
        for years, life in zip(age, about["life_years"].to_numpy(float), strict=True)
    ]
    paid = rows["modules"] * about["price"]
    last = rows.assign(ordered=rows["period"], period=periods.index[-1])
    return pd.concat(
        [
            entries(rows, "site_module", "capex", "start", paid),
            entries(last, "site_module_residual", "capex", "end", -paid * np.array(share, dtype=float)),
        ],
        ignore_index=True,
    )


def waiting_entries(books: Books) -> pd.DataFrame:
    """Return storage and insurance of units without power: price today x yearly share of the site x years."""
    rows = books["unpowered"]
    if rows.empty:
        return no_entries()
    unit = standing(books.facts, rows)
    price = unit["product"].map(lowest_purchase_price(books.facts)).astype(float).fillna(0.0)
    share = books.facts.sites["holding_fraction_per_year"].reindex(rows["site"]).fillna(0.0).to_numpy(float)
    amount = rows["units"] * price * share * books.period_of(rows, "years")
    return entries(rows, "delivered_not_powered", "opex", "mid", amount)
