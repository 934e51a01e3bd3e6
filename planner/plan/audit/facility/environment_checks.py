"""Energy contracts, carbon and water recomputed from the load of the plan."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facility.bridging import bridge_carbon_t
from planner.plan.audit.facts import at
from planner.plan.audit.money.hardware_costs import entries
from planner.plan.audit.once import once
from planner.plan.audit.report import Check, beside, compare, total
from planner.units import G_PER_KG, KG_PER_TONNE, L_PER_M3

SITE_BLOCK = ["site", "period", "block"]
PPA = ["ppa", *SITE_BLOCK]


def contracts(books: Books) -> pd.DataFrame:
    """Return ppa, site, period, block, hours, share_fraction, kw, price, gco2_per_kwh by block of each contract."""
    table = books.facts.scenario.tables["ppas"]
    table = table.assign(price=table["price_per_kwh"] * books.facts.fx(table["currency"]))
    rows = []
    for contract in table.to_dict("records"):
        for (period, block), hours in books.hours.items():  # type: ignore[misc]
            dates = books.facts.periods.loc[period, ["start_date", "end_date"]]
            moments = pd.date_range(dates["start_date"], dates["end_date"], freq="h", inclusive="left")
            holds = np.ones(len(moments), dtype=bool)
            holds &= True if pd.isna(contract["start_date"]) else moments >= contract["start_date"]
            holds &= True if pd.isna(contract["end_date"]) else moments.normalize() <= contract["end_date"]
            held = float(holds.mean())
            if held > 0.0:
                scaled = {name: contract[name] * held for name in ("share_fraction", "kw")}
                rows.append({**contract, **scaled, "period": period, "block": block, "hours": hours})
    names = [*PPA, "hours", "share_fraction", "kw", "price", "gco2_per_kwh"]
    return pd.DataFrame(rows, columns=names)


def covered_kw(books: Books) -> pd.Series:
    """Return kW covered by (ppa, site, period, block) as the plan states them."""
    return total(books["ppa"]["ppa_kw"], books["ppa"], PPA)


def ppa(books: Books) -> Check:
    """Return the check that a share is covered exactly, a profile not beyond what it delivers or the site draws."""
    terms = contracts(books)
    covered = at(covered_kw(books), terms, PPA).fillna(0.0)
    drawn = at(books.grid_kw, terms, SITE_BLOCK).fillna(0.0)
    share = terms["share_fraction"].notna()
    exact = terms[PPA].assign(left=covered, right=terms["share_fraction"] * drawn)[share]
    most = terms[PPA].assign(left=covered, right=np.fmin(covered, terms["kw"]))[~share]
    used = beside(covered_kw(books).groupby(level=SITE_BLOCK).sum(), books.grid_kw)
    beyond = used.assign(right=np.minimum(used["left"], used["right"]))
    return compare("ppa", "ppa_use", pd.concat([exact, most, beyond], ignore_index=True), "==")


def ppa_entries(books: Books) -> pd.DataFrame:
    """Return what contracts cost, and what of the tariff's energy charges and of the grid's carbon they spare."""
    terms = contracts(books)
    covered = at(covered_kw(books), terms, PPA).fillna(0.0)
    tariff = at(books.block_price, terms, SITE_BLOCK)
    paid = covered.where(terms["share_fraction"].notna(), terms["kw"]) * terms["price"] * terms["hours"]
    grid = books.facts.table("carbon", "region")["gco2_per_kwh"]
    region = books.facts.sites["region"].reindex(terms["site"])
    cleaner = grid.reindex(region).fillna(0.0).to_numpy(float) - terms["gco2_per_kwh"].fillna(0.0)
    per_kwh = cleaner / (G_PER_KG * KG_PER_TONNE) * books.facts.scenario.settings.carbon_price_per_t
    return pd.concat(
        [
            entries(terms, "carbon_offset", "opex", "mid", -covered * per_kwh * terms["hours"]),
            entries(terms, "ppa", "opex", "mid", paid),
            entries(terms, "ppa_offset", "opex", "mid", -covered * tariff * terms["hours"]),
        ],
        ignore_index=True,
    )


def carbon_rows(books: Books) -> pd.DataFrame:
    """Return site, period, t of CO2: energy at the grid's intensity, contracts and generators at their own."""
    grid = books.facts.table("carbon", "region")["gco2_per_kwh"]
    region = books.facts.sites["region"]
    drawn = books.grid_kw.rename("kw").reset_index()
    per_kwh = grid.reindex(region.reindex(drawn["site"])).fillna(0.0).to_numpy(float)
    terms = contracts(books)
    covered = at(covered_kw(books), terms, PPA).fillna(0.0)
    stated = grid.reindex(region.reindex(terms["site"])).fillna(0.0).to_numpy(float)
    parts = [
        drawn.assign(amount=drawn["kw"] * books.hours_of(drawn) * per_kwh),
        terms.assign(amount=covered * terms["hours"] * (terms["gco2_per_kwh"].fillna(0.0) - stated)),
    ]
    # A plan on rented units alone draws no power of its own.
    kept = [part for part in parts if len(part)] or [drawn.assign(amount=0.0)]
    both = pd.concat([part[["site", "period", "amount"]] for part in kept], ignore_index=True)
    tonnes = both.assign(amount=both["amount"] / (G_PER_KG * KG_PER_TONNE))
    made = bridge_carbon_t(books)
    return pd.concat([tonnes, made], ignore_index=True) if len(made) else tonnes


def water_rows(books: Books) -> pd.DataFrame:
    """Return site, period, m3 of water: IT energy under each cooling times its litres per kWh."""
    litres = books.facts.table("cooling", "cooling")["water_l_per_kwh"].fillna(0.0)
    it = books.it_rows
    amount = it["it_kw"] * books.hours_of(it) * litres.reindex(it["cooling"]).to_numpy(float) / L_PER_M3
    return it[["site", "period"]].assign(amount=amount)


@once
def resource_limits(books: Books) -> Check:
    """Return the check of every limit on carbon and water."""
    rows = []
    for limit in books.facts.scenario.tables["resource_limits"].to_dict("records"):
        used = carbon_rows(books) if limit["kind"] == "carbon_t" else water_rows(books)
        inside = pd.Series(True, index=used.index)
        for name in ("site", "period"):
            if isinstance(limit[name], str):
                inside &= used[name] == limit[name]
        if not pd.isna(limit["year"]):
            inside &= used["period"].map(books.facts.periods["start_date"].dt.year) == limit["year"]
        spent = float(used.loc[inside, "amount"].sum())
        rows.append({"limit": limit["limit"], "left": spent, "right": limit["amount"]})
    table = pd.DataFrame(rows, columns=["limit", "left", "right"])
    return compare("resource_limits", "carbon_limit", table, "<=")


def footprint(books: Books) -> Check:
    """Return the check of the stated carbon and water by site and period."""
    stated, parts = books["footprint"], []
    key = ["site", "period"]
    for name, own in (("carbon_t", carbon_rows(books)), ("water_m3", water_rows(books))):
        rows = beside(total(stated[name], stated, key), total(own["amount"], own, key))
        parts.append(rows.assign(quantity=name))
    return compare("footprint", "carbon_limit", pd.concat(parts, ignore_index=True), "==")
