"""Configurations a workload may be qualified on: engine (and so precision) and chip, with the cost of each."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.money import currency_ratio
from planner.coefficients.payments import PAYMENT, payment_rows
from planner.inputs import Scenario

CONFIGURATION = ["workload", "engine", "chip"]
CONFIGURATIONS = [*CONFIGURATION, "qualification", "cost"]
RUN_CONFIGURATION = ["point", "site", "cooling", *CONFIGURATION]
STATED_RATES = "stated rates"
"""Engine of points whose rates are stated and whose engine is not."""


def run_configurations(scenario: Scenario, runs: pd.DataFrame) -> pd.DataFrame:
    """Return RUN_CONFIGURATION: the configuration of every run option; a product without a chip is its own."""
    chip = scenario.tables["products"].set_index("product")["chip"]
    of = runs["product"].map(chip)
    engine = runs["engine"].astype(object)
    return runs.assign(
        engine=engine.where(engine.notna(), STATED_RATES).astype("str"),
        chip=of.astype(object).where(of.notna(), runs["product"]).astype("str"),
    )[RUN_CONFIGURATION]


def configurations(scenario: Scenario, of_runs: pd.DataFrame) -> pd.DataFrame:
    """Return CONFIGURATIONS that are limited in number or cost something; none where nothing is stated.

    Of the rows of ``qualifications`` that fit a configuration the one that names most of it counts; of equals the
    dearer.
    """
    table = scenario.tables["qualifications"]
    limit = scenario.settings.max_configurations_per_workload
    if limit is None and table.empty:
        return pd.DataFrame(columns=CONFIGURATIONS)
    found = of_runs[CONFIGURATION].drop_duplicates().reset_index(drop=True)
    paid = table["cost"] * currency_ratio(
        scenario.tables["fx"], table["currency"], scenario.settings.currency
    )
    stated = table[["qualification", *CONFIGURATION]].assign(cost=paid)
    both = found.assign(place=np.arange(len(found))).merge(stated, how="cross", suffixes=("", "_of"))
    named = pd.DataFrame({name: both[f"{name}_of"].notna() for name in CONFIGURATION})
    fits = np.logical_and.reduce([~named[name] | both[f"{name}_of"].eq(both[name]) for name in CONFIGURATION])
    both = both.assign(named=named.sum(axis=1))[fits].sort_values(
        ["place", "named", "cost"], ascending=[True, False, False], kind="stable"
    )
    best = both.drop_duplicates("place").set_index("place")[["qualification", "cost"]]
    return found.join(best).fillna({"cost": 0.0})[CONFIGURATIONS]


def qualification_costs(configurations: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return what each configuration costs, paid at the start of the first period."""
    if configurations.empty:
        return pd.DataFrame(columns=[*CONFIGURATION, *PAYMENT])
    rows = configurations.assign(first=periods.index[0])
    return payment_rows(rows, CONFIGURATION, "qualification", "opex", "first", "start", rows["cost"])
