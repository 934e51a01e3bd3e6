"""What the tiers of energy and demand charges add to the bill, filled month by month from kW at the meter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from planner.coefficients.electricity.bill_tiers import LADDER_MONTH, demand_tiers, energy_tiers
from planner.coefficients.electricity.meter import PlanMeter
from planner.coefficients.electricity.tariff import ladders, priced_rows
from planner.plan.audit.books import Books
from planner.plan.audit.electricity.month_bills import clocked_meter, month_bills
from planner.plan.audit.facility.environment_checks import covered_kw
from planner.plan.audit.money.hardware_costs import entries
from planner.units import KWH_PER_MWH

AMOUNTS = [*LADDER_MONTH, "first_component", "amount", "bare"]


def site_meters(books: Books) -> dict[str, PlanMeter]:
    """Return the load of every own and colocation site, laid out for billing.

    Peaks are the meter's; energy is what the utility settles, without what contracts cover.
    """
    own = books.facts.sites[books.facts.sites["kind"].ne("cloud")]
    drawn = books.grid_kw
    covered = covered_kw(books).groupby(level=["site", "period", "block"]).sum()
    settled = drawn - covered.reindex(drawn.index).fillna(0.0)
    meters = {}
    for site in own.index:
        known = settled.index.get_level_values("site") == site
        meter = clocked_meter(books, site)
        meters[str(site)] = replace(meter, kwh=meter.drawing(settled[known].droplevel("site")).kwh)
    return meters


def tier_amounts(books: Books) -> pd.DataFrame:
    """Return site, ladder, period, month, line, first_component, amount and the same before levies (``bare``)."""
    own = books.facts.sites[books.facts.sites["kind"].ne("cloud")]
    scenario, usable = books.facts.scenario, books.usable_kw
    energy, demand = (ladders(priced_rows(scenario, charge)) for charge in ("energy", "demand"))
    bills = month_bills(books)
    parts = []
    for site, meter in site_meters(books).items():
        tariff, months = own["tariff"][site], _months(meter)
        rows = energy[energy["tariff"] == tariff]
        use = pd.Series(meter.month_kwh / KWH_PER_MWH, index=months)
        for tiers, months_of, _ in energy_tiers(meter, site, rows, usable[site]) if len(rows) else ():
            by_peak = (months_of["unit"] == "kwh_per_kw").any()
            scale = pd.Series(meter.month_peak_kw if by_peak else 1.0, index=months)
            parts.append(_filled(tiers, use, scale).assign(line="energy_tiers"))
        for _, ladder in demand[demand["tariff"] == tariff].groupby("tier_of", sort=False):
            named = bills["component"].isin(set(ladder["component"])) & (bills["site"] == site)
            billed = bills[named].set_index(["period", "month"]).reindex(months)
            row = {"site": site, "floor_kw": 0.0, **ladder.iloc[0][["tier_of", "component"]]}
            share = billed["share"].fillna(0.0).to_numpy(float)
            tiers, _ = demand_tiers(meter, row, ladder, share, usable[site])
            parts.append(_filled(tiers, billed["billed_kw"], use * 0.0 + 1.0).assign(line="demand_tiers"))
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=[*AMOUNTS, "line"])


def tier_entries(books: Books) -> pd.DataFrame:
    """Return what the use inside each tier costs above the first tier's price."""
    table = tier_amounts(books)
    parts = [
        entries(part, line, "opex", "mid", part["amount"])
        for line in ("energy_tiers", "demand_tiers")
        for part in (table[table["line"] == line],)
    ]
    return pd.concat(parts, ignore_index=True)


def _months(meter: PlanMeter) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(meter.bill_months[["period", "month"]])


def _filled(tiers: pd.DataFrame, use: pd.Series, scale: pd.Series) -> pd.DataFrame:
    """Return the tiers with ``amount``: the use between their start and end times their step."""
    rows = []
    for (period, month), ladder in tiers.groupby(["period", "month"], sort=False):
        start, total = 0.0, float(use.get((period, month), 0.0))
        for tier in ladder.sort_values("tier").to_dict("records"):
            width = np.inf if pd.isna(tier["width"]) else tier["width"] * float(scale[period, month])
            inside = min(max(total - start, 0.0), width)
            labels = {name: tier[name] for name in (*LADDER_MONTH, "first_component")}
            paid = {"amount": inside * tier["price_step"], "bare": inside * tier["step_bare"]}
            rows.append(labels | paid)
            start += width
    return pd.DataFrame(rows, columns=AMOUNTS)
