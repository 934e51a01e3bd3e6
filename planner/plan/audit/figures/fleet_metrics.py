"""Metrics of units and sites: utilisation, availability, energy, PUE, load factor, carbon and water."""

from __future__ import annotations

import pandas as pd

from planner.plan.audit.figures.metric_rows import EVERY, PER, Metric, over, whole
from planner.plan.audit.headline_checks import made_tokens
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.shares import TOKENS, basis_of
from planner.plan.audit.once import once
from planner.plan.audit.report import total
from planner.units import KG_PER_TONNE, L_PER_M3

PLACE = ["product", "site", "cooling", "period"]
OWN_SITES = "own sites"


@once
def held_hours(books: Accounts) -> pd.Series:
    """Return unit-hours by PLACE: of whole periods, and hour by hour what is rented by the hour."""
    whole, rented = books.fleet[~books.fleet["hourly"]], books.hourly
    hours = [whole["units"] * books.period_of(whole, "hours").astype(float)]
    hours.append(rented["units"] * books.hours_of(rented))
    both = pd.concat([whole[PLACE], rented[PLACE]], ignore_index=True)
    return total(pd.concat(hours, ignore_index=True).astype(float), both, PLACE)


@once
def run_hours(books: Accounts) -> pd.Series:
    """Return busy unit-hours by PLACE."""
    serving = books.serving
    return total(serving["units_running"] * books.hours_of(serving), serving, PLACE)


def unit_metrics(books: Accounts) -> list[Metric]:
    """Return busy over held unit-hours, and the share of time a unit is there by the units of each period."""
    held, busy = held_hours(books), run_hours(books)
    by_product = held.groupby(level="product").sum()
    used = busy.groupby(level="product").sum().reindex(by_product.index).fillna(0.0)
    rows = [
        whole("accelerator utilisation", str(product), over(float(used[product]), float(hours)), "fraction")
        for product, hours in by_product.items()
    ]
    rows.append(
        whole("accelerator utilisation", EVERY, over(float(busy.sum()), float(held.sum())), "fraction")
    )
    fleet = books.fleet
    there = total(fleet["units"] * fleet["availability_fraction"], fleet, ["product"])
    share = there / total(fleet["units"], fleet, ["product"])
    rows += [whole("availability of a unit", str(name), value, "fraction") for name, value in share.items()]
    return rows


def site_metrics(books: Accounts) -> list[Metric]:
    """Return PUE and load factor of own sites.

    PUE = energy of the site / energy of its IT, what is generated there included;  load factor = mean / highest power
    """
    energy = _energy(books)
    rows: list[Metric] = []
    if energy["kwh"].sum() > 0.0:
        rows.append(whole("PUE", OWN_SITES, energy["kwh"].sum() / energy["it_kwh"].sum(), "ratio"))
    for site, part in energy.groupby("site", sort=False):
        if part["it_kwh"].sum() > 0.0:
            kwh = float(part["kwh"].sum())
            mean = kwh / float(part["hours"].sum())
            rows.append(whole("PUE", str(site), kwh / float(part["it_kwh"].sum()), "ratio"))
            rows.append(whole("load factor", str(site), mean / float(part["kw"].max()), "fraction"))
    return rows


def _energy(books: Accounts) -> pd.DataFrame:
    energy = books["energy"]
    made = energy["onsite_kw"] if "onsite_kw" in energy else pd.Series(0.0, index=energy.index)
    hours = pd.Series(books.hours_of(energy), index=energy.index)
    kw = energy["grid_kw"] + made
    return energy[["site"]].assign(hours=hours, kw=kw, kwh=kw * hours, it_kwh=energy["it_kw"] * hours)


def resource_metrics(books: Accounts) -> list[Metric]:
    """Return energy, carbon and water over the output of own sites, together and each.

    amount of the site * share / millions served there;  share: 1, or, where tokens and requests without lengths are
    both served, the part of the kWh that running adds
    """
    energy, used = _energy(books), books["footprint"]
    made = _made(books, set(energy["site"]))
    rows: list[Metric] = []
    for scope, here in [(OWN_SITES, made), *made.groupby("site", sort=False)]:
        site = None if here is made else str(scope)
        drawn = here.groupby("basis", sort=False)[["made", "kwh"]].sum()
        added = float(drawn["kwh"].sum())
        kwh, carbon, water = (
            float(frame.loc[frame["site"].eq(site), name].sum() if site else frame[name].sum())
            for frame, name in ((energy, "kwh"), (used, "carbon_t"), (used, "water_m3"))
        )
        for basis, output in drawn.iterrows():
            share = 1.0 if len(drawn) == 1 or not added else float(output["kwh"]) / added
            amounts = (kwh * share, carbon * share * KG_PER_TONNE, water * share * L_PER_M3)
            rows += _per_output(str(scope), str(basis), float(output["made"]), *amounts)
    return rows


def _per_output(
    scope: str, basis: str, made: float, kwh: float, carbon_kg: float, water_l: float
) -> list[Metric]:
    word, per = ("token" if basis == TOKENS else "request"), PER[basis]
    rows: list[Metric] = []
    if kwh > 0.0 and made > 0.0:
        rows.append(whole(f"energy per effective {word}", scope, kwh / made, f"kWh/{per}"))
        if basis == TOKENS:
            rows.append(whole("token energy efficiency", scope, made / kwh, "Mtok/kWh"))
    for name, amount, unit in (("carbon", carbon_kg, "kg"), ("water", water_l, "l")):
        if amount and made:
            rows.append(whole(f"{name} per effective {word}", scope, amount / made, f"{unit}/{per}"))
    return rows


def _made(books: Accounts, sites: set[str]) -> pd.DataFrame:
    """Return site, basis, made (millions of tokens or requests), kwh that running adds, of every row at these sites."""
    run = books.serving
    output = run[run["phase"].ne("prefill")]
    tokens = made_tokens(books).iloc[: len(output)].set_axis(output.index)
    millions = (tokens["effective_mtok"] + tokens["effective_mrequests"]).reindex(run.index).fillna(0.0)
    kwh = run["units_running"] * books.hours_of(run) * run["added_kw"]
    table = run[["site"]].assign(basis=basis_of(books, run), made=millions, kwh=kwh)
    return table[table["site"].isin(sites)]
