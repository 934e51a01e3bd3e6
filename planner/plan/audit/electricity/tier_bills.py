"""What the tiers of energy and demand charges add to the bill, filled month by month from kW at the meter."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.electricity.bills import demand_tiers, energy_tiers
from planner.plan.audit.electricity.month_bills import month_bills
from planner.plan.audit.facility.environment_checks import covered_kw
from planner.plan.audit.money.hardware_costs import entries
from planner.plan.audit.once import once


def settled_kwh(books: Books, site: str) -> np.ndarray:
    """Return kWh the utility settles in each hour of a site: what the meter draws without what contracts cover."""
    meter = books.site_hours[site]
    covered = covered_kw(books).groupby(level=["site", "period", "block"]).sum()
    own = covered[covered.index.get_level_values("site") == site].droplevel("site")
    return (books.site_kw[site] - meter.kw(own)) * meter.weight


@once
def tier_amounts(books: Books) -> pd.DataFrame:
    """Return site, ladder, period, month, line, component, amount and the same before levies (``bare``)."""
    bills, parts = month_bills(books), []
    for site, meter in books.site_hours.items():
        tariff = books.facts.sites["tariff"][site]
        kwh, kw = settled_kwh(books, site), books.site_kw[site]
        # Tiers are billed in the horizon; what ratchets bill after it has the first tier's price.
        own = bills[(bills["site"] == site) & bills["month"].isin(meter.months["month"])]
        billed = {name: rows["billed_kw"].to_numpy(float) for name, rows in own.groupby("component")}
        share = {name: rows["share"].to_numpy(float) for name, rows in own.groupby("component")}
        energy = energy_tiers(books.facts, meter, tariff, kwh, kw)
        demand = demand_tiers(books.facts, meter, tariff, billed, share)
        parts += [
            part.assign(site=site, line=line)
            for part, line in ((energy, "energy_tiers"), (demand, "demand_tiers"))
            if len(part)
        ]
    names = ["site", "ladder", "period", "month", "line", "component", "amount", "bare"]
    return pd.concat(parts, ignore_index=True)[names] if parts else pd.DataFrame(columns=names)


def tier_entries(books: Books) -> pd.DataFrame:
    """Return what the use inside each tier costs above the first tier's price."""
    table = tier_amounts(books)
    parts = [
        entries(part, line, "opex", "mid", part["amount"])
        for line in ("energy_tiers", "demand_tiers")
        for part in (table[table["line"] == line],)
    ]
    return pd.concat(parts, ignore_index=True)
