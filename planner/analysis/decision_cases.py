"""Cases an order has to stand: other demand, prices, supply, delays, throughput, and waiting one period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from planner.analysis.energisation import power_moves
from planner.analysis.sites_study import Study, late_deliveries, shifted
from planner.analysis.worth_rates import with_rates
from planner.coefficients.fleet import RENTED
from planner.inputs import Scenario
from planner.pipeline.run import Built

PRICE_SHIFT = 0.2
"""Share by which prices move in the price cases (unsourced choice; stated in the name of the case)."""
SUPPLY_CUT = 0.5
"""Share of a vendor's units that stays in a supply cut (unsourced choice; stated in the name of the case)."""
HALF_RENTED = "half of the supply on demand and spot"


def named_cases(scenario: Scenario) -> dict[str, Scenario]:
    """Return the cases every order is tried in: demand, prices of purchases and of rent, delays of delivery and power.

    A case that changes nothing (no low forecast, no late site) is left out.
    """
    cases: dict[str, Scenario] = {}
    demand = scenario.tables["demand"]
    for case in ("low", "high"):
        stated = demand[[f"requests_per_s_{case}", f"output_mtok_per_day_{case}"]].notna().any(axis=None)
        if stated and scenario.settings.demand_case == "base":
            cases[f"{case} demand"] = _with_setting(scenario, demand_case=case)
    for ratio, word in ((1 - PRICE_SHIFT, "lower"), (1 + PRICE_SHIFT, "higher")):
        cases[f"rent {PRICE_SHIFT:.0%} {word}"] = _repriced(scenario, RENTED, ratio)
        cases[f"hardware {PRICE_SHIFT:.0%} {word}"] = _repriced(scenario, ["purchase"], ratio)
    return cases | late_cases(scenario)


LATE_DELIVERIES, LATE_POWER = "deliveries at their high lead time", "power one quarter later"


def late_cases(scenario: Scenario) -> dict[str, Scenario]:
    """Return the cases in which something comes late, those that move anything: deliveries, power of all sites."""
    cases: dict[str, Scenario] = {}
    if scenario.settings.lead_case != "high" and scenario.tables["offers"]["lead_weeks_high"].notna().any():
        cases[LATE_DELIVERIES] = late_deliveries(scenario)
    late = scenario
    for site in scenario.tables["site_power"]["site"].unique():
        late = shifted(late, site, 1)
    if power_moves(scenario, late):
        cases[LATE_POWER] = late
    return cases


def _with_setting(scenario: Scenario, **changes: Any) -> Scenario:
    return replace(scenario, settings=scenario.settings.model_copy(update=changes))


def _repriced(scenario: Scenario, modes: Sequence[str], ratio: float) -> Scenario:
    tables = dict(scenario.tables)
    offers = tables["offers"]
    meant = offers["mode"].isin(list(modes))
    tables["offers"] = offers.assign(price=offers["price"].where(~meant, offers["price"] * ratio))
    tiers = tables["offer_tiers"]
    named = tiers["offer"].isin(offers.loc[meant, "offer"])
    tables["offer_tiers"] = tiers.assign(price=tiers["price"].where(~named, tiers["price"] * ratio))
    return replace(scenario, tables=tables)


def cut_supply(scenario: Scenario, vendor: str, orders: pd.DataFrame, share: float = SUPPLY_CUT) -> Scenario:
    """Return the scenario with a vendor confirming a share of its units per period, whole ones.

    Of what it states where it states a limit, else of the most the plan takes in any one period.

    Parameters
    ----------
    orders
        Orders of the plan: offer, period, units.
    """
    return _cut(scenario, scenario.tables["offers"]["vendor"] == vendor, orders, share)


def _cut(scenario: Scenario, own: pd.Series, orders: pd.DataFrame, share: float) -> Scenario:
    """Return the scenario with a share of the units of the offers marked: stated ones, else the most the plan takes."""
    offers, supply = scenario.tables["offers"], scenario.tables["supply"]
    most = orders.groupby(["offer", "period"])["units"].sum().groupby("offer").max()
    limit = offers["supply_units_per_period"].astype(float).fillna(offers["offer"].map(most))
    named = supply["offer"].isin(offers.loc[own, "offer"])
    left = np.floor(limit * share).where(own, offers["supply_units_per_period"])
    units = supply["units"].astype(float)
    tables = {
        **scenario.tables,
        "offers": offers.assign(supply_units_per_period=left),
        "supply": supply.assign(units=units.where(~named, np.floor(units * share))),
    }
    return replace(scenario, tables=tables)


def half_rented(scenario: Scenario, orders: pd.DataFrame) -> dict[str, Scenario]:
    """Return the case in which half of what is rented on demand or spot can be had, of every vendor at once; none
    where the plan rents nothing.

    Half of the units stated or estimated for a period, of the most the plan takes in one where nobody said any.

    Parameters
    ----------
    orders
        Orders of the plan: offer, mode, period, units.
    """
    if not (orders["mode"].isin(RENTED) & orders["units"].gt(0.0)).any():
        return {}
    return {HALF_RENTED: _cut(scenario, scenario.tables["offers"]["mode"].isin(RENTED), orders, SUPPLY_CUT)}


def delayed(scenario: Scenario, offer: str, weeks: float) -> Scenario:
    """Return the scenario with an offer delivered so many weeks later than stated."""
    offers = scenario.tables["offers"]
    own = offers["offer"] == offer
    leads = {
        name: offers[name].astype(float).where(~own, offers[name].astype(float) + weeks)
        for name in ("lead_weeks", "lead_weeks_low", "lead_weeks_high")
    }
    return replace(scenario, tables={**scenario.tables, "offers": offers.assign(**leads)})


def slowed(study: Study, product: str, share: float) -> Built:
    """Return the model of a study with a product at a share of its rate at every point."""
    own = study.coefficients.runs["product"].eq(product).to_numpy()
    return with_rates(study, np.where(own, share, 1.0))
