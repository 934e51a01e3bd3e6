"""Rows of electricity: energy, demand charges and carbon."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from reports import styles
from reports.calculation.demand_charges import demand_charge_rows
from reports.calculation.load import demand_change, hourly_energy, load_power, pue_change
from reports.calculation.rows import At, Rows
from reports.calculation.tariff_cells import tariff_change
from reports.calculation.timeline_rows import Clock


def electricity_rows(rows: Rows, time: Clock) -> None:
    """Append the rows of energy, carbon and demand charges by site."""
    energy = rows.content.frame("energy", ["site", "period", "kwh", "price_per_kwh"])
    if len(energy):
        drawn = _energy(rows)
        _carbon(rows, drawn)
    demand_charge_rows(rows)


def _energy(rows: Rows) -> dict[str, At]:
    """Append IT energy, PUE, price and cost by site, and what changed requests of each workload add."""
    rows.title("Energy")
    energy = hourly_energy(rows)
    load = load_power(rows, energy)
    change = rows.inputs.factor(
        "energy price change",
        "change of every energy price, -0.1 is ten percent less",
        "fraction",
        0.0,
        "EnergyPriceChange",
    )
    used = {site: _site_energy(rows, str(site), own, load) for site, own in energy.groupby("site")}
    drawn = {
        site: rows.formula(
            "Energy at the meter, now",
            "",
            site,
            "planned + changes of PUE, load",
            "kWh",
            use.kwh,
            form=styles.MONEY_PLAIN,
        )
        for site, use in used.items()
    }
    parts = [
        rows.formula(
            "Energy cost",
            "",
            site,
            "kWh x price x (1 + change)",
            rows.content.currency,
            f"({use.cost}{tariff_change(rows, site, drawn[site])})*(1+{change})*(1+{use.price_change})",
        )
        for site, use in used.items()
    ]
    rows.line_total("energy", "Energy", parts, "mid", rows.content.currency)
    return drawn


@dataclass(frozen=True)
class _Use:
    """Formulas of a site's energy and of its cost, and the cell that changes its energy price."""

    kwh: str
    cost: str
    price_change: str


def _site_energy(rows: Rows, site: str, energy: pd.DataFrame, load: pd.DataFrame) -> _Use:
    """Append a site's planned energy and prices, and those of each workload's load, as values of the plan."""
    it_kwh, whole = energy["it_kwh"].sum(), energy["whole_kwh"].sum()
    added = pue_change(rows, site, float(whole / it_kwh)) if it_kwh > 0 else "0"
    per_kwh = f"{rows.content.currency}/kWh"

    def values(
        label: str, amounts: np.ndarray, unit: str, form: str, item: str = "", total: bool = False
    ) -> At:
        return rows.plan_values(label, item, site, "energy", unit, amounts, form, total)

    def price(weight: pd.Series) -> np.ndarray:
        return _mean(rows, energy, energy["price_per_kwh"], weight)

    planned = values(
        "Energy at the meter, planned", _sum(rows, energy, energy["kwh"]), "kWh", MONEY, total=True
    )
    it_at = values("IT energy", _sum(rows, energy, energy["it_kwh"]), "kWh", MONEY, total=True)
    paid = values("Energy price, mean of the hours used", price(energy["kwh"]), per_kwh, PRICE)
    paid_it = values("Energy price, mean by IT energy", price(energy["it_kwh"]), per_kwh, PRICE)
    kwh, cost = [planned.here, f"{it_at.here}*{added}"], [f"{planned.here}*{paid.here}"]
    cost.append(f"{it_at.here}*{added}*{paid_it.here}")
    mine = load[load["site"] == site]
    for workload in dict.fromkeys(mine["workload"]):
        own = mine[mine["workload"] == workload].set_index(["period", "block"])["load_kw"]
        kw = own.reindex(pd.MultiIndex.from_frame(energy[["period", "block"]])).fillna(0.0).to_numpy(float)
        it = pd.Series(kw * energy["hours"].to_numpy(float), index=energy.index)
        if not it.sum() > 0:
            continue
        need = values("IT energy of its load", _sum(rows, energy, it), "kWh", MONEY, workload, True)
        pue = values(
            "PUE of its load", _mean(rows, energy, energy["pue"], it), "ratio", styles.RATIO, workload
        )
        at = values("Energy price of its load", price(it * energy["pue"]), per_kwh, PRICE, workload)
        more = f"{demand_change(rows, workload)}*{need.here}*({pue.here}+{added})"
        kwh.append(more)
        cost.append(f"{more}*{at.here}")
    cell = rows.inputs.factor(
        f"energy price change of {site}", "change of the energy prices of one site", "fraction", 0.0, ""
    )
    return _Use("+".join(kwh), "+".join(cost), cell)


MONEY, PRICE = styles.MONEY_PLAIN, "0.000000"


def _sum(rows: Rows, energy: pd.DataFrame, values: pd.Series) -> np.ndarray:
    names = list(rows.content.timeline.names)
    return values.groupby(energy["period"]).sum().reindex(names).fillna(0.0).to_numpy(float)


def _mean(rows: Rows, energy: pd.DataFrame, values: pd.Series, weight: pd.Series) -> np.ndarray:
    """Return the mean by weight in each period, by hours where there is no weight."""
    above, below = _sum(rows, energy, values * weight), _sum(rows, energy, weight)
    flat = _sum(rows, energy, values * energy["hours"])
    hours = _sum(rows, energy, energy["hours"])
    flat = np.divide(flat, hours, out=np.zeros(len(hours)), where=hours > 0)
    return np.divide(above, below, out=flat, where=below > 0)


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
        limits=(0.0, 10_000.0),
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
