"""Metrics of the fleet and its sites: utilisation, availability, energy, PUE, carbon, water."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from planner.coefficients import Coefficients
from planner.plan.attribution import REQUESTS, TOKENS, basis_of
from planner.plan.metric_rows import MetricRow, over_horizon, ratio
from planner.plan.totals import held_unit_hours
from planner.plan.unit_costs import PER
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


@dataclass(frozen=True)
class OwnOutput:
    """What own sites make, counted in one way, and the part of their energy that is for it.

    Attributes
    ----------
    scope
        What the metric speaks of: own sites, or one of them.
    unit, words
        Of the output: per Mtok or per million requests.
    made
        Millions of effective tokens or requests served there, undiscounted.
    share
        Of the energy there: 1 but where tokens and requests without lengths are both served.
    site
        The site; blank for all of them.
    """

    scope: str
    unit: str
    words: str
    made: float
    share: float
    site: str = ""


OWN_SITES = "own sites"
WORDS = {TOKENS: "effective token", REQUESTS: "effective request"}


def own_output(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> list[OwnOutput]:
    """Return what is served at the sites whose energy the plan pays, together and each: hosted units and services not.

    Energy is split, where it has to be, by what the load of each adds to it.
    """
    own = frames["energy"]["site"].unique()
    serving = frames["serving"]
    serving = serving[serving["site"].isin(own)]
    table = serving[["site"]].assign(
        basis=basis_of(c, serving),
        made=serving["effective_mtok"] + serving["effective_mrequests"],
        kwh=serving["units_running"] * serving["hours"] * serving["added_kw"],
    )
    rows = []
    for site, part in [("", table), *table.groupby("site", sort=False)]:
        made = part.groupby("basis", sort=False)[["made", "kwh"]].sum()
        drawn = float(made["kwh"].sum())
        for basis, row in made.iterrows():
            alone = len(made) == 1 or not drawn
            share = 1.0 if alone else float(row["kwh"]) / drawn
            scope = str(site) or OWN_SITES
            rows.append(
                OwnOutput(scope, PER[str(basis)], WORDS[str(basis)], float(row["made"]), share, str(site))
            )
    return rows


def footprint_metrics(footprint: pd.DataFrame, outputs: list[OwnOutput]) -> list[MetricRow]:
    """Return carbon and water of own sites over the output served there; hosted units have none of ours."""
    rows = []
    for own in outputs:
        here = footprint[footprint["site"].eq(own.site)] if own.site else footprint
        carbon, water = float(here["carbon_t"].sum()) * own.share, float(here["water_m3"].sum()) * own.share
        for name, amount, unit, what in (
            (
                "carbon",
                carbon * KG_PER_TONNE,
                "kg",
                "CO2 of its energy (grid average, contracts at their own)",
            ),
            ("water", water * L_PER_M3, "l", "cooling water"),
        ):
            if amount and own.made:
                definition = f"{what} / {own.words}s served there"
                metric = f"{name} per {own.words}"
                rows.append(
                    over_horizon(metric, own.scope, amount / own.made, f"{unit}/{own.unit}", definition)
                )
    return rows


def energy_metrics(energy: pd.DataFrame, outputs: list[OwnOutput]) -> list[MetricRow]:
    """Return energy of the own sites over the output served there, PUE and load factor of each."""
    rows: list[MetricRow] = []
    energy = energy.assign(kwh=energy["kwh"] + energy["onsite_kw"] * energy["hours"])
    kwh, it_kwh = float(energy["kwh"].sum()), float((energy["it_kw"] * energy["hours"]).sum())
    pue = "facility energy / IT energy"
    for own in outputs:
        here = energy[energy["site"].eq(own.site)] if own.site else energy
        drawn = float(here["kwh"].sum()) * own.share
        if not (drawn > 0 and own.made > 0):
            continue
        definition = f"energy of the site / {own.words}s served there (hosted units bill no energy)"
        rows.append(
            over_horizon(
                f"energy per {own.words}", own.scope, drawn / own.made, f"kWh/{own.unit}", definition
            )
        )
        if own.words == WORDS[TOKENS]:
            definition = "effective tokens served there / energy of the site"
            rows.append(
                over_horizon("token energy efficiency", own.scope, own.made / drawn, "Mtok/kWh", definition)
            )
    if kwh > 0:
        rows.append(over_horizon("PUE", OWN_SITES, kwh / it_kwh, "ratio", pue))
    for site, group in energy.groupby("site", sort=False):
        it, drawn = float((group["it_kw"] * group["hours"]).sum()), float(group["kwh"].sum())
        if it > 0:
            mean = drawn / float(group["hours"].sum())
            load = mean / float((group["grid_kw"] + group["onsite_kw"]).max())
            rows.append(over_horizon("PUE", str(site), drawn / it, "ratio", pue))
            definition = "mean / peak power at the meter"
            rows.append(over_horizon("load factor", str(site), load, "fraction", definition))
    return rows
