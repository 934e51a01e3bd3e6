"""Rows of demand charges: billed peaks, what changed load and PUE add to them, and prices."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from reports.calculation.load import demand_change, hourly_energy, load_power, pue_change
from reports.calculation.rows import At, Rows
from reports.calculation.tariff_cells import tariff_cell, tariff_rows
from reports.content import by_period


def charged_peaks(rows: Rows) -> pd.DataFrame:
    """Return site, component, period, peak_kw, charge (price of one kW over the period) of all demand charges.

    A charge billed by month appears with the mean of its billed kW, weighted by the price of each month.
    """
    names = ["site", "component", "period", "peak_kw", "price_per_kw_month", "months"]
    peaks = rows.content.frame("peaks", names)
    plain = peaks.assign(charge=peaks["price_per_kw_month"] * peaks["months"])
    monthly = rows.content.frame("billed_peaks", ["site", "component", "period", "price_per_kw", "amount"])
    summed = monthly.groupby(["site", "component", "period"], sort=False, as_index=False)[
        ["price_per_kw", "amount"]
    ].sum()
    summed = summed[summed["price_per_kw"] > 0]
    by_month = summed.assign(peak_kw=summed["amount"] / summed["price_per_kw"], charge=summed["price_per_kw"])
    kept = ["site", "component", "period", "peak_kw", "charge"]
    parts = [part[kept] for part in (plain, by_month) if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else plain[kept]


def demand_charge_rows(rows: Rows) -> None:
    """Append billed peaks, their prices and charges; nothing where no kW is charged."""
    if charged_peaks(rows).empty:
        return
    rows.title("Demand charges")
    names, currency = list(rows.content.timeline.names), rows.content.currency
    charge = charged_peaks(rows)
    keys = ["site", "component"]
    kw, price = (
        by_period(charge, keys, "peak_kw", rows.content.timeline),
        by_period(charge, keys, "charge", rows.content.timeline),
    )
    change = rows.inputs.factor(
        "demand price change",
        "change of every demand charge, -0.1 is ten percent less",
        "fraction",
        0.0,
        "DemandPriceChange",
    )
    billed, prices = [], []
    for index in range(len(kw)):
        place, component = str(kw["site"].iloc[index]), str(kw["component"].iloc[index])
        billed.append(
            rows.plan_values(
                "Billed peak", component, place, "peaks", "kW", kw[names].iloc[index], total=False
            )
        )
    for index in range(len(kw)):
        place, component = str(kw["site"].iloc[index]), str(kw["component"].iloc[index])
        prices.append(
            rows.plan_values(
                "Demand price of the period",
                component,
                place,
                "price x months",
                f"{currency}/kW",
                price[names].iloc[index],
                "#,##0.0000",
                total=False,
            )
        )
    energy = hourly_energy(rows)
    load = load_power(rows, energy)
    parts = []
    for index in range(len(kw)):
        place, component = str(kw["site"].iloc[index]), str(kw["component"].iloc[index])
        more = _peak_change(rows, energy, load, place, component, kw[names].iloc[index].to_numpy(float))
        formula = f"({billed[index].here}{more})*{prices[index].here}*(1+{change})"
        parts.append((place, component, formula + _demand_price(rows, place, component)))
    rows.line_total(
        "demand_charge",
        "Demand charges",
        [
            rows.formula("Demand charge", component, place, "kW x price x (1 + change)", currency, formula)
            for place, component, formula in parts
        ],
        "mid",
        currency,
    )


def _peak_change(
    rows: Rows, energy: pd.DataFrame, load: pd.DataFrame, site: str, component: str, billed: np.ndarray
) -> str:
    """Append the IT power in the hours of the billed peak, and return what a changed PUE and load add to it."""
    own = energy[energy["site"] == site].assign(kw=lambda hour: hour["kwh"] / hour["hours"])
    whole = own["it_kwh"].sum()
    if not whole > 0:
        return ""
    added = pue_change(rows, site, float(own["whole_kwh"].sum() / whole))
    hours = {}
    for name, peak in zip(rows.content.timeline.names, billed, strict=True):
        mine = own[own["period"] == name]
        if peak > 0 and len(mine):
            hours[name] = mine.loc[(mine["kw"] - peak).abs().idxmin()]

    def at_peak(label: str, unit: str, item: str, values: Mapping[str, float]) -> At:
        amounts = [values.get(name, 0.0) for name in rows.content.timeline.names]
        return rows.plan_values(
            label, item, site, f"hour of the {component} peak", unit, amounts, total=False
        )

    label = "IT power at the billed peak"
    it_at = at_peak(label, "kW", component, {name: float(hour["it_kw"]) for name, hour in hours.items()})
    pieces = [f"{it_at.here}*{added}"]
    mine = load[load["site"] == site].set_index(["workload", "period", "block"])["load_kw"]
    for workload in dict.fromkeys(load.loc[load["site"] == site, "workload"]):
        kw = {name: float(mine.get((workload, name, hour["block"]), 0.0)) for name, hour in hours.items()}
        if any(kw.values()):
            it = at_peak("IT power of its load at the billed peak", "kW", workload, kw)
            pue = at_peak("PUE then", "ratio", workload, {n: float(h["pue"]) for n, h in hours.items()})
            pieces.append(f"{demand_change(rows, workload)}*{it.here}*({pue.here}+{added})")
    return "+" + "+".join(pieces)


def _demand_price(rows: Rows, site: str, component: str) -> str:
    """Return the ratio of a demand charge's price now to the one planned with, as a formula piece."""
    known = tariff_rows(rows, site, "demand")
    own = known[known["component"].astype(str) == component]
    if len(own) != 1 or not float(own["price"].iloc[0]):
        return ""
    price = tariff_cell(rows, own.to_dict("records")[0])
    return f"*{price}/({rows.inputs.planned(price)})" if price else ""
