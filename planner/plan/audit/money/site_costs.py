"""What sites, halls, power and unserved optional demand cost, from build, sites, energy, peaks and
unserved.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.clock import first_period_from, yearly_rate
from planner.plan.audit.electricity.bills import fixed_amounts, levied
from planner.plan.audit.electricity.month_bills import by_month, month_entries, owed_sites, site_charges
from planner.plan.audit.facility.colo_rent import bound_sites
from planner.plan.audit.facts import LOT, at
from planner.plan.audit.money.hardware_costs import entries, no_entries, sinking_fund
from planner.plan.audit.once import once
from planner.plan.audit.report import total
from planner.units import BYTES_PER_GB, G_PER_KG, KG_PER_TONNE, SECONDS_PER_HOUR

RETROFIT_TERMS = [
    "capex_per_kw",
    "lead_weeks",
    "downtime_weeks",
    "life_years",
    "maintenance_fraction_per_year",
]


@once
def hall_readiness(books: Books) -> pd.DataFrame:
    """Return the build frame with the numbers of its hall and ``first``, the ordinal of the period it is
    ready in.
    """
    build = books["build"]
    hall = at(books.facts.halls.set_index(["site", "cooling"]), build, ["site", "cooling"])
    site = books.facts.sites.reindex(build["site"]).set_index(build.index)
    ready = books.period_of(build, "start_weeks") + np.maximum(
        site["build_weeks"].fillna(0.0).to_numpy(float), hall["train_weeks"].to_numpy(float)
    )
    listed = hall["capex_per_kw_listed"].fillna(0.0) * hall["plant_fx"]
    plant = (hall["capex_per_kw"] * site["fx"]).where(hall["capex_per_kw"].notna(), listed)
    return build.assign(
        first=first_period_from(books.facts.periods, ready),
        shell=site["build_capex_per_kw"] * site["fx"] + hall["train_price"],
        plant=plant,
        life=site["build_life_years"],
        upkeep=plant * hall["maintenance_fraction_per_year"].fillna(0.0)
        + hall["train_price"] * hall["train_upkeep"],
    )


@once
def retrofit_dates(books: Books) -> pd.DataFrame:
    """Return the retrofits with their price per kW and the ordinals of the periods in which the kW are first gone
    (``out``: the work starts in it) and first back (``back``: begins after the work).

    A change that nobody offers has no price and never comes back.
    """
    rows = books["retrofits"]
    offered = books.facts.scenario.tables["hall_retrofits"].rename(columns={"to_cooling": "cooling"})
    key = ["site", "from_cooling", "cooling"]
    about = at(offered.set_index(key)[RETROFIT_TERMS], rows, key)
    fx = books.facts.sites["fx"].reindex(rows["site"]).to_numpy(float)
    starts = books.period_of(rows, "start_weeks") + about["lead_weeks"].fillna(0.0).to_numpy(float)
    done = starts + about["downtime_weeks"].fillna(0.0).to_numpy(float)
    weeks = books.facts.periods["start_weeks"].to_numpy(float)
    out = [int((weeks <= start + 1e-6).sum()) - 1 for start in starts]
    known = about["capex_per_kw"].notna().to_numpy()
    back = first_period_from(books.facts.periods, done)
    return rows.assign(
        price=about["capex_per_kw"].to_numpy(float) * fx,
        life=about["life_years"].to_numpy(float),
        upkeep=about["maintenance_fraction_per_year"].fillna(0.0).to_numpy(float),
        out=out,
        back=np.where(known, back, len(weeks)).astype(int),
    )


@once
def retrofit_entries(books: Books) -> pd.DataFrame:
    """Return what changing the cooling of halls costs when ordered."""
    rows = retrofit_dates(books)
    return entries(
        rows.drop(columns="from_cooling"), "hall_retrofit", "capex", "start", rows["kw"] * rows["price"]
    )


@once
def build_entries(books: Books) -> pd.DataFrame:
    """Return shell with power chain and cooling plant when ordered; upkeep of both and of retrofits once they are in
    service, and what they are worth at the end.

    The value at the end follows the sinking-fund rule over the life of the building or of the change (none without a
    life, or where the scenario leaves residuals out).
    """
    halls, changes = hall_readiness(books), retrofit_dates(books).drop(columns="from_cooling")
    halls = halls.assign(paid=halls["kw"] * (halls["shell"] + halls["plant"]))
    changes = changes.assign(
        first=changes["back"],
        paid=changes["kw"] * changes["price"],
        upkeep=changes["price"] * changes["upkeep"],
    )
    parts = []
    for rows in (halls, changes):
        left = rows["paid"] * value_left(books, rows["first"].to_numpy(int), rows["life"])
        last = rows.assign(ordered=rows["period"], period=books.facts.periods.index[-1])
        kept = in_service(books, rows)
        yearly = kept["kw"] * kept["upkeep"] * books.period_of(kept, "years")
        parts.append(entries(last, "facility_residual", "capex", "end", -left))
        parts.append(entries(kept, "cooling_maintenance", "opex", "mid", yearly))
    return pd.concat(
        [
            entries(halls, "facility_build", "capex", "start", halls["kw"] * halls["shell"]),
            entries(halls, "cooling_build", "capex", "start", halls["kw"] * halls["plant"]),
            *parts,
        ],
        ignore_index=True,
    )


def value_left(books: Books, first: np.ndarray, life: pd.Series) -> np.ndarray:
    """Return value at the end of the horizon over price by the sinking fund, 0 without a life."""
    periods, settings = books.facts.periods, books.facts.scenario.settings
    end_years = periods["start_years"].iloc[-1] + periods["years"].iloc[-1]
    age = end_years - periods["start_years"].to_numpy()[np.minimum(first, len(periods) - 1)]
    return np.array(
        [
            0.0
            if settings.residual_method == "none" or np.isnan(own)
            else sinking_fund(yearly_rate(settings), years, own)
            for years, own in zip(age, life.to_numpy(float), strict=True)
        ],
        dtype=float,
    )


def in_service(books: Books, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows once per period from ``first`` on, ``period`` that period."""
    periods = books.facts.periods
    row, column = np.nonzero(rows["first"].to_numpy(int)[:, None] <= np.arange(len(periods))[None, :])
    chosen = rows.iloc[row]
    return chosen.assign(ordered=chosen["period"], period=periods.index[column]).reset_index(drop=True)


@once
def opening_entries(books: Books) -> pd.DataFrame:
    """Return the one-off of opening a site when it opens, and its fixed costs while open.

    The one-off is paid on what is open more than in the period before; a closing pays nothing back.
    """
    costly = costly_sites(books)
    rows = books["sites"]
    rows = rows[rows["site"].isin(costly.index)].reset_index(drop=True)
    money = costly.reindex(rows["site"]).set_index(rows.index)
    rows = rows.assign(ordinal=books.period_of(rows, "ordinal"))
    opened = total(rows["open_fraction"], rows, ["site", "ordinal"])
    before = opened.reindex(pd.MultiIndex.from_arrays([rows["site"], rows["ordinal"] - 1]), fill_value=0.0)
    newly = np.maximum(rows["open_fraction"] - before.to_numpy(), 0.0)
    share = rows["open_fraction"]
    billed = at(fixed_bills(books), rows, ["site", "period"]).fillna(0.0).astype(float)
    return pd.concat(
        [
            entries(rows, "site_opening", "capex", "start", money["once"] * newly),
            entries(
                rows, "site_fixed", "opex", "mid", money["yearly"] * share * books.period_of(rows, "years")
            ),
            entries(
                rows,
                "tariff_fixed",
                "opex",
                "mid",
                billed * share,
            ),
        ],
        ignore_index=True,
    )


@once
def fixed_bills(books: Books) -> pd.Series:
    """Return what the fixed charges of each site's tariff bill in each period, index (site, period)."""
    tariff = books.facts.sites["tariff"]
    parts = [fixed_amounts(books.facts, tariff[site]).assign(site=site) for site in books.site_hours]
    rows = (
        pd.concat(parts, ignore_index=True)
        if parts
        else pd.DataFrame({"site": [], "period": [], "amount": []})
    )
    return rows.groupby(["site", "period"])["amount"].sum()


@once
def costly_sites(books: Books) -> pd.DataFrame:
    """Return the sites where some cost comes with being open: amounts once and by year."""
    sites = books.facts.sites
    highest = fixed_bills(books).groupby(level="site").max().reindex(sites.index)
    money = pd.DataFrame(
        {
            "once": sites["opening_cost"].fillna(0.0) * sites["fx"],
            "yearly": sites["fixed_cost_per_year"].fillna(0.0) * sites["fx"],
        }
    )
    billed = highest.fillna(0.0).to_numpy(float) > 0.0
    billed |= sites.index.isin([*owed_sites(books), *bound_sites(books)])
    return money[(money[["once", "yearly"]] > 0.0).any(axis=1) | billed]


def energy_entries(books: Books) -> pd.DataFrame:
    """Return energy at the price of its hours, and the carbon of the grid at the scenario's carbon price."""
    energy = books["energy"]
    kwh = energy["grid_kw"] * books.hours_of(energy)
    region = books.facts.sites["region"].reindex(energy["site"])
    grams = books.facts.table("carbon", "region")["gco2_per_kwh"].reindex(region).fillna(0.0).to_numpy(float)
    per_kwh = grams / (G_PER_KG * KG_PER_TONNE) * books.facts.scenario.settings.carbon_price_per_t
    price = at(books.block_price, energy, ["site", "period", "block"])
    return pd.concat(
        [
            entries(energy, "energy", "opex", "mid", kwh * price),
            entries(energy, "carbon", "opex", "mid", kwh * per_kwh),
        ],
        ignore_index=True,
    )


def billing_windows(books: Books) -> pd.DataFrame:
    """Return site, component, period, month, block, price: what each demand charge looks at.

    A charge looks at a block of which any hour class touches its local months, days and hours. ``price`` is
    what one kW costs in the month: in a month in which the charge holds on some days only, their share of it.
    """
    parts = [pd.DataFrame(columns=["period", "month", "block", "site", "component", "price"])]
    monthly = by_month(books)
    for row in site_charges(books):
        if (row["site"], row["component"]) in monthly:
            continue
        meter = books.site_hours[row["site"]]
        inside = (meter.window(row) > 0) & meter.in_months(row["held_months"])[meter.at]
        months = meter.months.assign(
            price=row["bare"] * levied(meter, row) * meter.held(row, row["held_months"])
        )
        seen = meter.hours.loc[inside, ["period", "number", "block"]].drop_duplicates()
        seen = seen.merge(months[["period", "number", "month", "price"]], on=["period", "number"])
        labels = {"site": row["site"], "component": row["component"]}
        parts.append(seen.assign(**labels)[seen["price"] != 0.0].drop(columns="number"))
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def peak_entries(books: Books) -> pd.DataFrame:
    """Return the demand charges: billed kW x price x months of the charge in the period; others by month."""
    peaks, windows = books["peaks"], billing_windows(books)
    key = ["site", "component", "period"]
    months = windows.drop_duplicates([*key, "month"]).groupby(key)["price"].sum()
    per_kw = at(months, peaks, key).fillna(0.0)
    plain = entries(peaks, "demand_charge", "opex", "mid", peaks["peak_kw"] * per_kw)
    return pd.concat([plain, month_entries(books)], ignore_index=True)


def egress_entries(books: Books) -> pd.DataFrame:
    """Return what the answers of every flow cost on their way: GB x price of the way, nothing without a price.

    GB = requests/s x 3600 x hours x (1 + retries) x visible tokens x bytes/token / 1e9
    """
    flows, facts = books["flows"], books.facts
    prices = facts.scenario.tables["egress_prices"]
    per_gb = dict(
        zip(
            zip(prices["from_region"], prices["to_region"], strict=True),
            prices["price_per_gb"] * facts.fx(prices["currency"]),
            strict=True,
        )
    )
    region = flows["site"].map(facts.sites["region"])
    price = np.array([per_gb.get(way, 0.0) for way in zip(region, flows["region"], strict=True)], dtype=float)
    about = at(facts.workloads[["egress_bytes_per_token", "retry_fraction"]], flows, ["workload"])
    visible = at(books.tokens["output_tokens"], flows, ["workload", "shape"])
    requests = flows["requests_per_s"] * SECONDS_PER_HOUR * books.hours_of(flows)
    sent = about["egress_bytes_per_token"].fillna(0.0) * visible * (1.0 + about["retry_fraction"])
    amount = requests * sent / BYTES_PER_GB * price
    paid = flows.drop(columns=["region"])[amount > 0.0]
    return entries(paid, "egress", "opex", "mid", amount[amount > 0.0])


def value_entries(books: Books) -> pd.DataFrame:
    """Return minus the value of the optional demand that is served, at reference quality.

    value per Mtok x mean reference Mtok of a request x 3600 x hours x (optional - unserved) requests/s
    """
    workloads = books.facts.workloads
    priced = workloads[
        (workloads["must_serve_fraction"] < 1.0) & (workloads["value_per_mtok"].fillna(0.0) > 0.0)
    ]
    if priced.empty:
        return no_entries()
    demand = books.block_demand.rename("requests_per_s").reset_index()
    demand = demand[demand["workload"].isin(priced.index)].reset_index(drop=True)
    lost = total(
        books["unserved"]["requests_per_s"], books["unserved"], ["workload", "region", "period", "block"]
    )
    unserved = at(lost, demand, ["workload", "region", "period", "block"]).fillna(0.0)
    about = priced.reindex(demand["workload"]).set_index(demand.index)
    tokens = books.tokens
    mean = (tokens["share_fraction"] * tokens["reference_mtok"]).groupby(level="workload").sum()
    served = demand["requests_per_s"] * (1.0 - about["must_serve_fraction"]) - unserved
    worth = (
        demand["workload"].map(mean).astype(float)
        * about["value_per_mtok"]
        * SECONDS_PER_HOUR
        * books.hours_of(demand)
    )
    return entries(demand.drop(columns=["region"]), "optional_demand_value", "value", "mid", -worth * served)


def sunk_entries(books: Books) -> pd.DataFrame:
    """Return the book value of existing lots, shown in the first period and never part of the objective."""
    fleet = books.facts.scenario.tables["fleet"]
    booked = fleet[fleet["book_value"].fillna(0.0) > 0.0]
    rows = pd.DataFrame(
        {
            "site": booked["site"],
            "offer": LOT + booked["fleet"],
            "cooling": booked["cooling"],
            "period": books.facts.periods.index[0],
        },
        index=booked.index,
    )
    return entries(rows, "sunk_book_value", "sunk", "start", booked["book_value"])
