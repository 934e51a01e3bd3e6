"""Rows of electricity: energy, demand charges and carbon."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.tables.cost_lines import OWED_LINES
from reports import styles
from reports.calculation.rows import At, Rows
from reports.calculation.timeline_rows import Clock
from reports.content import by_period


def electricity_rows(rows: Rows, time: Clock) -> None:
    """Append the rows of energy, carbon and demand charges by site."""
    energy = rows.content.frame("energy", ["site", "period", "kwh", "price_per_kwh"])
    if len(energy):
        drawn = _energy(rows)
        _carbon(rows, drawn)
    if len(charged_peaks(rows)):
        _demand(rows)
    _plan_lines(rows)


def _energy(rows: Rows) -> dict[str, At]:
    rows.title("Energy")
    names, currency = list(rows.content.timeline.names), rows.content.currency
    energy = rows.content.frame("energy")
    energy = energy.assign(
        paid=energy["kwh"] * energy["price_per_kwh"], whole=energy["price_per_kwh"] * energy["hours"]
    )
    kwh, paid, whole, hours = (
        by_period(energy, ["site"], name, rows.content.timeline) for name in ("kwh", "paid", "whole", "hours")
    )
    change = rows.inputs.factor(
        "energy price change",
        "change of every energy price, -0.1 is ten percent less",
        "fraction",
        0.0,
        "EnergyPriceChange",
    )
    drawn, price = {}, {}
    for index, site in enumerate(kwh["site"].astype(str)):
        amount = kwh[names].iloc[index].to_numpy(float)
        drawn[site] = rows.plan_values(
            "Energy at the meter", "", site, "energy", "kWh", amount, styles.MONEY_PLAIN
        )
    for index, site in enumerate(kwh["site"].astype(str)):
        used, spent = kwh[names].iloc[index].to_numpy(float), paid[names].iloc[index].to_numpy(float)
        flat = whole[names].iloc[index].to_numpy(float) / hours[names].iloc[index].to_numpy(float)
        mean = np.divide(spent, used, out=flat.copy(), where=used > 0)
        price[site] = rows.plan_values(
            "Energy price, mean of the hours used",
            "",
            site,
            "tariff, by hour",
            f"{currency}/kWh",
            mean,
            "0.000000",
            total=False,
        )
    parts = [
        rows.formula(
            "Energy cost",
            "",
            site,
            "kWh x price x (1 + change)",
            currency,
            f"{drawn[site].here}*{price[site].here}*(1+{change})",
        )
        for site in drawn
    ]
    rows.line_total("energy", "Energy", parts, "mid", currency)
    return drawn


def _carbon(rows: Rows, drawn: dict[str, At]) -> None:
    value = float(rows.content.settings.get("carbon_price_per_t") or 0.0)
    sites = rows.content.table("sites")
    region = dict(zip(sites["site"].astype(str), sites["region"].astype(str), strict=True))
    intensity = {site: rows.inputs.number("carbon", [region[site]], "gco2_per_kwh") for site in drawn}
    charged = [site for site in drawn if value and not np.isnan(intensity[site]) and intensity[site]]
    if not charged:
        return
    rows.title("Carbon")
    price = rows.inputs.factor(
        "settings/carbon_price_per_t",
        "price of one tonne of CO2",
        f"{rows.content.currency}/t",
        value,
        "CarbonPrice",
    )
    grams = rows.inputs.grams_per_tonne()
    parts = [
        rows.formula(
            "Carbon cost; column H: per kWh",
            region[site],
            site,
            "kWh x g/kWh x price",
            rows.content.currency,
            f"{drawn[site].here}*{{H}}",
            f"{rows.inputs.cell('carbon', [region[site]], 'gco2_per_kwh')}/{grams}*{price}",
            constant_form="0.000000",
        )
        for site in charged
    ]
    rows.line_total("carbon", "Carbon", parts, "mid", rows.content.currency)


PLAN_LINES = {
    "energy_tiers": "Energy tiers above or below the first tier's price",
    "demand_tiers": "Demand tiers above or below the first tier's price",
    "minimum_take": "Top-up of minimum bills",
    "property_tax": "Property tax",
    "coincident_peak_after_horizon": "Coincident peaks billed after the horizon, at their value on its last day",
    "bridge_carbon": "Carbon of generation on site",
    "ppa": "Energy contracts",
    "ppa_offset": "Energy charges of the tariff that contracts replace",
    "carbon_offset": "Carbon price of the grid, less that of the contracts that replace it",
}
"""Lines that the sheet carries as the plan has them: their parts are no product of two cells."""


def _plan_lines(rows: Rows) -> None:
    costs = rows.content.frame("costs", ["line", "site", "period", "amount"])
    currency, names = rows.content.currency, list(rows.content.timeline.names)
    for line, title in PLAN_LINES.items():
        wide = by_period(costs[costs["line"] == line], ["site"], "amount", rows.content.timeline)
        if wide.empty:
            continue
        rows.title(title)
        parts = [
            rows.plan_values("Amount as planned", "", str(site), "costs", currency, amount)
            for site, amount in zip(wide["site"], wide[names].to_numpy(float), strict=True)
        ]
        rows.line_total(line, title, parts, "end" if line in OWED_LINES else "mid", currency)


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


def _demand(rows: Rows) -> None:
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
    parts = [
        rows.formula(
            "Demand charge",
            str(kw["component"].iloc[index]),
            str(kw["site"].iloc[index]),
            "kW x price x (1 + change)",
            currency,
            f"{billed[index].here}*{prices[index].here}*(1+{change})",
        )
        for index in range(len(kw))
    ]
    rows.line_total("demand_charge", "Demand charges", parts, "mid", currency)
