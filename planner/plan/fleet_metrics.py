"""Metrics of the fleet and its sites: utilisation, availability, energy, PUE, carbon, water."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from planner.coefficients import Coefficients
from planner.plan.metric_rows import MetricRow, over_horizon, ratio
from planner.plan.totals import held_unit_hours
from planner.units import KG_PER_TONNE, L_PER_M3

BUSY = "busy unit-hours / unit-hours held"


def fleet_metrics(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> list[MetricRow]:
    """Return utilisation and availability by product."""
    rows: list[MetricRow] = []
    fleet, serving = frames["fleet"], frames["serving"]
    unit_hours = held_unit_hours(c, frames).groupby("product")["unit_hours"].sum()
    busy_hours = (serving["units_running"] * serving["hours"]).groupby(serving["product"]).sum()
    for product, held in unit_hours.items():
        used = ratio(float(busy_hours.get(product, 0.0)), float(held))
        definition = f"time computing / total time ({BUSY})"
        rows.append(over_horizon("accelerator utilisation", str(product), used, "fraction", definition))
    used = ratio(float(busy_hours.sum()), float(unit_hours.sum()))
    rows.append(over_horizon("accelerator utilisation", "all", used, "fraction", BUSY))
    up = (fleet["availability_fraction"] * fleet["units"]).groupby(fleet["product"]).sum()
    definition = "(total time - down time) / total time"
    for product, availability in (up / fleet.groupby("product")["units"].sum()).items():
        rows.append(
            over_horizon("availability of a unit", str(product), availability, "fraction", definition)
        )
    return rows


def footprint_metrics(footprint: pd.DataFrame, effective_mtok: float) -> list[MetricRow]:
    """Return carbon and water per million effective tokens; hosted units have none of ours."""
    carbon, water = float(footprint["carbon_t"].sum()), float(footprint["water_m3"].sum())
    rows = []
    if carbon:
        definition = "CO2 of own sites' energy (grid average, contracts at their own) / effective tokens"
        kg = ratio(carbon * KG_PER_TONNE, effective_mtok)
        rows.append(over_horizon("carbon per effective token", "own sites", kg, "kg/Mtok", definition))
    if water:
        definition = "cooling water of own sites / effective tokens"
        litres = ratio(water * L_PER_M3, effective_mtok)
        rows.append(over_horizon("water per effective token", "own sites", litres, "l/Mtok", definition))
    return rows


def energy_metrics(energy: pd.DataFrame, effective_mtok: float) -> list[MetricRow]:
    """Return energy per token of the own sites, PUE and load factor of each."""
    rows: list[MetricRow] = []
    energy = energy.assign(kwh=energy["kwh"] + energy["onsite_kw"] * energy["hours"])
    kwh, it_kwh = float(energy["kwh"].sum()), float((energy["it_kw"] * energy["hours"]).sum())
    where, pue = "own sites", "facility energy / IT energy"
    if kwh > 0:
        per_mtok, per_kwh = ratio(kwh, effective_mtok), ratio(effective_mtok, kwh)
        definition = "total energy / effective tokens (hosted units bill no energy)"
        rows.append(over_horizon("energy per effective token", where, per_mtok, "kWh/Mtok", definition))
        definition = "effective tokens / total energy"
        rows.append(over_horizon("token energy efficiency", where, per_kwh, "Mtok/kWh", definition))
        rows.append(over_horizon("PUE", where, kwh / it_kwh, "ratio", pue))
    for site, group in energy.groupby("site", sort=False):
        it, drawn = float((group["it_kw"] * group["hours"]).sum()), float(group["kwh"].sum())
        if it > 0:
            mean = drawn / float(group["hours"].sum())
            load = mean / float((group["grid_kw"] + group["onsite_kw"]).max())
            rows.append(over_horizon("PUE", str(site), drawn / it, "ratio", pue))
            definition = "mean / peak power at the meter"
            rows.append(over_horizon("load factor", str(site), load, "fraction", definition))
    return rows
