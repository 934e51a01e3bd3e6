"""Frames of sites, power and bills made once more: which rows they have, and the numbers that no other check reads."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.clock import CELL, yearly_rate
from planner.plan.audit.electricity.bills import levied
from planner.plan.audit.electricity.month_bills import by_month, site_charges
from planner.plan.audit.facility.commissioning import SMALL
from planner.plan.audit.facility.path import ITEM, MODULE, carried_kw, first_powered, in_place
from planner.plan.audit.facts import BOUGHT_OR_TERMED, HOSTED, at
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.site_costs import costly_sites
from planner.plan.audit.orders.last_days import days_of_weeks
from planner.plan.audit.orders.standing import STAND, lowest_purchase_price
from planner.plan.audit.report import Check, breaches, total
from planner.tables import HOURS
from planner.units import HOURS_PER_DAY

SITE_BLOCK = ["site", "period", "block"]
SITE_PERIOD = ["site", "period"]


def energy(books: Accounts) -> pd.DataFrame:
    """Return SITE_BLOCK of every hour of every own and rented hall, and the kW generated there."""
    made = books["bridge_output"]
    own = total(made["kw"], made, SITE_BLOCK) if len(made) else pd.Series(dtype=float)
    blocks = books.hours.reset_index()[["period", "block"]]
    rows = _halls(books).merge(blocks, how="cross")
    place = pd.MultiIndex.from_frame(rows[SITE_BLOCK])
    return rows.assign(onsite_kw=own.reindex(place).fillna(0.0).to_numpy(float))


def _halls(books: Accounts) -> pd.DataFrame:
    sites = books.facts.sites
    return pd.DataFrame({"site": sites.index[sites["kind"].ne("cloud")]})


def footprint(books: Accounts) -> pd.DataFrame:
    """Return the sites and periods of which carbon and water are stated: every own and rented hall."""
    return _halls(books).merge(pd.DataFrame({"period": books.facts.periods.index}), how="cross")


def sites(books: Accounts) -> pd.DataFrame:
    """Return the sites and periods of which it is stated whether they are open: all of own and rented halls and of
    what costs something to open, and clouds in the periods in which something stands there.
    """
    fleet, costly = books["fleet"], costly_sites(books).index
    every = _halls(books)["site"].tolist()
    every += [site for site in costly if site not in every]
    rows = pd.MultiIndex.from_product([every, books.facts.periods.index], names=SITE_PERIOD)
    stands = pd.MultiIndex.from_frame(fleet[fleet["units"] > 0.0][SITE_PERIOD])
    return rows.union(stands, sort=False).drop_duplicates().to_frame(index=False)


def peaks(books: Accounts) -> pd.DataFrame:
    """Return site, component, period, months of the charge in it, price_per_kw_month, of charges with one peak a
    period: a month in which a charge holds on some days counts by their share.
    """
    monthly, rows = by_month(books), []
    for row in site_charges(books):
        if (row["site"], row["component"]) in monthly:
            continue
        meter = books.site_hours[row["site"]]
        inside = (meter.window(row) > 0) & meter.in_months(row["held_months"])[meter.at]
        held = meter.months.assign(
            share=meter.held(row, row["held_months"]), price=row["bare"] * levied(meter, row)
        )
        seen = meter.hours.loc[inside, ["period", "number"]].drop_duplicates()
        seen = seen.merge(held[["period", "number", "share", "price"]], on=["period", "number"])
        seen = seen[seen["share"] > 0.0]
        sums = seen.groupby("period", sort=False).agg(months=("share", "sum"), price=("price", "mean"))
        for period, months, price in sums.itertuples():
            rows.append((row["site"], row["component"], period, months, price))
    return pd.DataFrame(rows, columns=["site", "component", "period", "months", "price_per_kw_month"])


def modules(books: Accounts) -> pd.DataFrame:
    """Return MODULE, period, item, kw of one, its dates of order and of power, and what all of them cost."""
    rows, own = books["modules"], books.facts.periods
    table = books.facts.scenario.tables["site_modules"]
    priced = table.assign(price=table["cost"] * books.facts.fx(table["currency"])).set_index(MODULE)
    about = at(priced[["item", "kw", "price"]], rows, MODULE)
    starts = np.append(own["start_date"].to_numpy("datetime64[ns]"), np.datetime64("NaT", "ns"))
    powered = first_powered(books)
    return rows[[*MODULE, "period"]].assign(
        item=about["item"],
        kw=about["kw"],
        order_date=pd.Series(books.period_of(rows, "start_date"), index=rows.index),
        energised_date=pd.Series(starts[powered], index=rows.index),
        cost=rows["modules"] * about["price"].fillna(0.0),
    )


def standby(books: Accounts) -> pd.DataFrame:
    """Return the kinds of which some modules stand by: how many are in place, stand by and carry in each period."""
    rows = in_place(books)
    kept = rows[rows["redundancy"].notna() & rows["redundancy"].ne("N") & rows["in_place"].gt(SMALL)]
    return kept.reset_index(drop=True)


def power_path(books: Accounts) -> pd.DataFrame:
    """Return site, item, period, carried_kw and whether it is the least there."""
    rows = carried_kw(books).rename("carried_kw").reset_index()
    least = rows.groupby(SITE_PERIOD)["carried_kw"].transform("min")
    return rows.assign(decides=rows["carried_kw"] <= least + 1e-9)


def unpowered(books: Accounts) -> pd.DataFrame:
    """Return what waits for power: the price of a unit today, what holding it and the money in it cost.

    holding_cost = units x price x yearly share x years; capital_cost = units x price x ((1 + rate)^years - 1)
    """
    rows = books["unpowered"]
    product = at(books.facts.offers["product"], rows, ["offer"])
    price = product.map(lowest_purchase_price(books.facts)).astype(float).fillna(0.0)
    share = books.facts.sites["holding_fraction_per_year"].fillna(0.0).reindex(rows["site"]).to_numpy(float)
    years = books.period_of(rows, "years").astype(float)
    grown = (1.0 + yearly_rate(books.facts.scenario.settings)) ** years - 1.0
    return rows[[*STAND, "period"]].assign(
        price=price,
        holding_cost=rows["units"] * price * share * years,
        capital_cost=rows["units"] * price * grown,
    )


def free_cooling(books: Accounts) -> pd.DataFrame:
    """Return site, cooling, period, hours, those without a chiller, and mean PUE of every option of every hall.

    No chiller runs where the month's mean at that local hour is no warmer than supply less approach.
    """
    halls = books.facts.halls
    halls = halls[halls["medium"].ne(HOSTED)]
    rows = halls.merge(books.facts.cells, how="cross")
    local = (rows["hour_utc"] + np.rint(rows["utc_offset_h"])).mod(HOURS_PER_DAY).astype(int)
    climate = books.facts.scenario.tables["climate"].set_index(["region", "month"])[list(HOURS)]
    place = climate.index.get_indexer(pd.MultiIndex.from_frame(rows[["region", "month"]]))
    outdoor = climate.to_numpy(float)[place, local.to_numpy()]
    key = ["site", "cooling", *CELL]
    pue = at(books.facts.cell_pue.set_index(key)["pue"], rows, key).to_numpy(float)
    cool = outdoor <= (rows["supply_c"] - rows["approach_k"]).to_numpy(float)
    hours = rows["hours"].to_numpy(float)
    rows = rows[["site", "cooling", "period"]].assign(
        hours=hours, free_cooling_hours=np.where(cool, hours, 0.0), pue=pue * hours
    )
    sums = rows.groupby(["site", "cooling", "period"], sort=False, as_index=False).sum()
    return sums.assign(pue=sums["pue"] / sums["hours"])


UNITS = {
    "energised power": "kW",
    "path to power": "kW",
    "hall": "kW IT",
    "contracted power": "kW IT",
    "rack positions": "racks",
}
"""Limit on a day of installation -> the unit it is counted in."""


def days_of_test(books: Accounts) -> Check:
    """Return the check that days of installation are days on which one can begin, before a period by the weeks that
    some offer takes, or on which the power of the site changes.
    """
    rows, starts = books["commissioning"], books.facts.periods["start_date"]
    offers, power = books.facts.offers, books.facts.scenario.tables["site_power"]
    weeks = offers.loc[offers["mode"].isin(BOUGHT_OR_TERMED), "install_weeks"].fillna(0.0).unique()
    begins = {start - days_of_weeks(float(week)) for start in starts for week in weeks}
    changes = set(zip(power["site"], power["from_date"], strict=True))
    wrong = [
        day not in begins and (site, day) not in changes
        for site, day in zip(rows["site"], rows["day"], strict=True)
    ]
    return breaches("days_of_test", "commissioning", rows, wrong, ["site", "day", "limit"])


def commissioning(books: Accounts) -> pd.DataFrame:
    """Return site, day, limit, which, with the period that the day lies in and the unit of the limit."""
    rows, starts = books["commissioning"], books.facts.periods["start_date"]
    place = [max(int((starts <= day).sum()) - 1, 0) for day in rows["day"]]
    return rows[["site", "day", "limit", "which"]].assign(
        period=[starts.index[at_period] for at_period in place],
        unit=[UNITS.get(limit, "") for limit in rows["limit"]],
    )


FACILITY_FRAMES = {
    "commissioning": (["site", "day", "limit", "which"], commissioning),
    "energy": (SITE_BLOCK, energy),
    "footprint": (SITE_PERIOD, footprint),
    "sites": (SITE_PERIOD, sites),
    "peaks": (["site", "component", "period"], peaks),
    "modules": ([*MODULE, "period"], modules),
    "standby": ([*MODULE, "period"], standby),
    "power_path": (ITEM, power_path),
    "unpowered": ([*STAND, "period"], unpowered),
    "free_cooling": (["site", "cooling", "period"], free_cooling),
}
