"""Own, lease, reserve, rent by the hour or buy tokens: what a unit-hour costs, and from which use on owning wins."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.analysis.sites_study import Study
from planner.coefficients.fleet import STAND
from planner.formulation.objective import cost_terms
from planner.units import SECONDS_PER_HOUR

ACQUISITION = [
    "product",
    "site",
    "offer",
    "mode",
    "hours",
    "fixed_per_hour",
    "fixed_per_hour_discounted",
    "energy_per_used_hour",
    "rent_offer",
    "rent_per_hour",
    "break_even_use_fraction",
    "break_even_use_fraction_discounted",
    "mtok_per_hour",
    "cost_per_mtok_full_use",
    "cost_per_mtok_half_use",
    "api_offer",
    "api_cost_per_mtok",
    "break_even_use_fraction_api",
    "reading",
]


def acquisition(study: Study) -> pd.DataFrame:
    """Return ACQUISITION: every committed offer against renting by the hour and buying tokens.

    For the first order of each offer, site and cooling that can serve inside the horizon:

    fixed_per_hour           everything one unit costs over the horizon, residual taken off, over its hours in service;
                             discounted: present value over discounted hours (a levelised cost)
    energy_per_used_hour     (kW idle + kW added at its fastest point) x mean PUE x mean energy price; 0 where hosted
    rent_per_hour            of the offer that rents the same effective tokens for least in the first period, whatever
                             product it is of: price per hour x mtok_per_hour / its own
    break_even_use_fraction  fixed / (rent - energy): share of its hours a unit must be needed for the commitment to
                             cost less than renting those hours; above 1 renting always costs less
    mtok_per_hour            effective Mtok of a unit at its fastest point x its availability; cost_per_mtok at full and
                             at half use
    break_even_use_fraction_api  fixed / (API price x mtok_per_hour - energy)

    Demand charges and the hall a unit stands in are decisions of the site and not in these rows.
    """
    units = _committed(study)
    if units.empty:
        return pd.DataFrame(columns=ACQUISITION)
    table = units.merge(_running(study), on=STAND, how="left").merge(_rents(study), on="workload", how="left")
    table["rent_per_hour"] = table["rent_per_mtok"] * table["mtok_per_hour"]
    table = table.merge(_api(study), on="workload", how="left")
    saved = table["rent_per_hour"] - table["energy_per_used_hour"].where(
        table["rent_includes"] == "hosted", 0.0
    )
    table["break_even_use_fraction"] = _ratio(table["fixed_per_hour"], saved)
    table["break_even_use_fraction_discounted"] = _ratio(table["fixed_per_hour_discounted"], saved)
    for word, share in (("full", 1.0), ("half", 0.5)):
        used = table["fixed_per_hour_discounted"] / share + table["energy_per_used_hour"]
        table[f"cost_per_mtok_{word}_use"] = used / table["mtok_per_hour"]
    bought = table["api_cost_per_mtok"] * table["mtok_per_hour"] - table["energy_per_used_hour"]
    table["break_even_use_fraction_api"] = _ratio(table["fixed_per_hour_discounted"], bought)
    table["reading"] = [_reading(row) for row in table.to_dict("records")]
    return table[ACQUISITION].sort_values(["product", "fixed_per_hour_discounted"]).reset_index(drop=True)


def _ratio(fixed: pd.Series, saved: pd.Series) -> pd.Series:
    return (fixed / saved.where(saved > 0)).astype(float)


def _reading(row: dict[str, object]) -> str:
    share = row["break_even_use_fraction_discounted"]
    if not isinstance(share, float) or np.isnan(share):
        return "no hourly rent serves the same workload"
    if share > 1.0:
        return f"renting costs less even when needed every hour ({row['rent_offer']})"
    return f"costs less than {row['rent_offer']} when needed more than {share:.0%} of its hours"


def _committed(study: Study) -> pd.DataFrame:
    """Return one unit of each committed offer, at its first order: its hours in service and what it costs in all."""
    c, columns = study.coefficients, study.model.columns
    first = c.orders.assign(ordinal=c.orders["period"].map(c.periods["ordinal"]))
    first = first.sort_values("ordinal", kind="stable").drop_duplicates(STAND)[[*STAND, "period"]]
    alive = c.alive.merge(first, on=[*STAND, "period"]).drop(columns="period")
    alive = alive.rename(columns={"alive_period": "period"})
    hours = alive["period"].map(c.periods["hours"])
    kept = alive.assign(hours=hours, discounted_hours=hours * alive["period"].map(c.periods["discount_mid"]))
    terms = cost_terms(c, columns)
    own = terms[terms["family"] == "order"].merge(first, on=[*STAND, "period"])
    upkeep = terms[terms["family"] == "installed"].merge(alive[[*STAND, "period"]], on=[*STAND, "period"])
    paid = pd.concat([own, upkeep])
    paid = paid.assign(worth=paid["amount"] * paid["discount_factor"])
    money = paid.groupby(STAND, as_index=False)[["amount", "worth"]].sum()
    table = kept.groupby(STAND, as_index=False)[["hours", "discounted_hours"]].sum().merge(money, on=STAND)
    table = table.merge(c.stands[[*STAND, "product", "mode"]], on=STAND)
    return table.assign(
        fixed_per_hour=table["amount"] / table["hours"],
        fixed_per_hour_discounted=table["worth"] / table["discounted_hours"],
    )


def _running(study: Study) -> pd.DataFrame:
    """Return per stand what an hour at its fastest point makes and draws: workload, mtok_per_hour, energy."""
    c = study.coefficients
    fastest = _rates(study).drop_duplicates(["product", "site", "cooling"])
    stands = c.stands[[*STAND, "product", "includes", "idle_kw", "availability_fraction"]]
    table = stands.merge(fastest, on=["product", "site", "cooling"], suffixes=("", "_run"))
    table["mtok_per_hour"] = table["mtok_per_hour"] * table["availability_fraction"]
    pue = c.pue.groupby(["site", "cooling"], as_index=False)["pue"].mean()
    price = c.prices.groupby("site", as_index=False)["price_per_kwh"].mean()
    table = table.merge(pue, on=["site", "cooling"], how="left").merge(price, on="site", how="left")
    drawn = (table["idle_kw"] + table["added_kw"]) * table["pue"] * table["price_per_kwh"]
    own = (table["includes"] == "hardware") & drawn.notna()
    return table.assign(energy_per_used_hour=drawn.where(own, 0.0))[
        [*STAND, "workload", "mtok_per_hour", "energy_per_used_hour"]
    ]


def _rates(study: Study) -> pd.DataFrame:
    """Return the runs with mtok_per_hour, the effective tokens of a busy unit-hour; the fastest first."""
    runs = study.coefficients.runs
    runs = runs[runs["phase"].isin(["mixed", "decode"])]
    rate = runs["requests_per_s"] * SECONDS_PER_HOUR * runs["effective_mtok_per_request"]
    return runs.assign(mtok_per_hour=rate).sort_values("mtok_per_hour", ascending=False, kind="stable")


def _rents(study: Study) -> pd.DataFrame:
    """Return per workload the rent by the hour of the first period that makes its tokens for least.

    Any product may be rented; hours the vendor takes away make no tokens.
    """
    c, columns = study.coefficients, study.model.columns
    terms = cost_terms(c, columns)
    hired = terms[terms["family"].isin(["rent", "rent_hour"])]
    held = hired["period"].map(c.periods["hours"])
    if "block" in hired:
        by_block = c.blocks.set_index(["period", "block"])["hours"]
        block_hours = by_block.reindex(pd.MultiIndex.from_frame(hired[["period", "block"]])).to_numpy(float)
        held = held.where(hired["family"] == "rent", block_hours)
    stands = c.stands[[*STAND, "product", "includes", "availability_fraction"]]
    hourly = hired.assign(price=hired["amount"] / held).merge(stands, on=STAND)
    first = hourly[hourly["period"].map(c.periods["ordinal"]) == 0].drop_duplicates(STAND)
    place = ["product", "site", "cooling"]
    rates = _rates(study).drop_duplicates([*place, "workload"])[[*place, "workload", "mtok_per_hour"]]
    made = first[[*STAND, "product", "includes", "availability_fraction", "price"]].merge(rates, on=place)
    made["rent_per_mtok"] = made["price"] / (made["mtok_per_hour"] * made["availability_fraction"])
    cheapest = made.sort_values("rent_per_mtok", kind="stable").drop_duplicates("workload")
    names = {"offer": "rent_offer", "includes": "rent_includes"}
    return cheapest.rename(columns=names)[["workload", "rent_offer", "rent_includes", "rent_per_mtok"]]


def _api(study: Study) -> pd.DataFrame:
    """Return per workload the cheapest token service, currency per effective Mtok."""
    api = study.coefficients.api
    if api.empty:
        return pd.DataFrame({"workload": [], "api_offer": [], "api_cost_per_mtok": []}).astype(
            {"workload": "str", "api_offer": "str", "api_cost_per_mtok": float}
        )
    each = api.assign(api_cost_per_mtok=api["price_per_request"] / api["effective_mtok_per_request"])
    each = each.sort_values("api_cost_per_mtok").drop_duplicates("workload")
    return each[["workload", "api_offer", "api_cost_per_mtok"]]
