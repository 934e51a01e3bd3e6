"""What a kW of new hall costs: building, cooling plant, upkeep, property tax, value at the end of the horizon."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.money import currency_ratio, sinking_fund_residual
from planner.coefficients.payments import payment_rows, yearly_rows
from planner.inputs import Scenario


def property_tax(scenario: Scenario, site: pd.Series) -> np.ndarray:
    """Return the yearly property tax of each site as a share of what is taxed."""
    stated = scenario.tables["sites"].set_index("site")["property_tax_fraction_per_year"].astype(float)
    return site.map(stated).astype(float).fillna(0.0).to_numpy(float)


def build_costs(
    scenario: Scenario, hall: pd.DataFrame, builds: pd.DataFrame, periods: pd.DataFrame
) -> pd.DataFrame:
    """Return what one kW of new hall costs: building with its power chain, cooling plant, upkeep, value at the end."""
    labels = ["site", "cooling", "period"]
    fx, currency = scenario.tables["fx"], scenario.settings.currency
    site_ratio = currency_ratio(fx, hall["currency"], currency)
    plant = hall["capex_per_kw"].to_numpy() * site_ratio
    listed = hall["capex_per_kw_cooling"].fillna(0.0).to_numpy() * currency_ratio(
        fx, hall["currency_cooling"], currency
    )
    plant = np.where(np.isnan(plant), listed, plant)
    train = hall["chain_capex_per_kw"].fillna(0.0).to_numpy() * currency_ratio(
        fx, hall["chain_currency"], currency
    )
    kept = plant * hall["maintenance_fraction_per_year"].fillna(0.0).to_numpy()
    priced = hall[["site", "cooling", "build_life_years"]].assign(
        shell=hall["build_capex_per_kw"].to_numpy() * site_ratio + train,
        plant=plant,
        kept_per_year=kept + train * hall["chain_maintenance_fraction_per_year"].fillna(0.0).to_numpy(),
    )
    table = builds.merge(priced, on=["site", "cooling"], validate="many_to_one").assign(
        last=periods.index[-1]
    )
    end_years = periods["start_years"].iloc[-1] + periods["years"].iloc[-1]
    ready_years = periods["start_years"].to_numpy()[table["in_service_ordinal"].to_numpy(int)]
    life = table["build_life_years"].fillna(1.0).to_numpy()
    left = sinking_fund_residual(scenario.settings.nominal_rate_fraction, end_years - ready_years, life)
    left = (
        np.where(table["build_life_years"].isna(), 0.0, left)
        if scenario.settings.residual_method != "none"
        else np.zeros(len(table))
    )
    taxed = property_tax(scenario, table["site"])
    return pd.concat(
        [
            payment_rows(table, labels, "facility_build", "capex", "period", "start", table["shell"]),
            payment_rows(table, labels, "cooling_build", "capex", "period", "start", table["plant"]),
            payment_rows(
                table,
                labels,
                "facility_residual",
                "capex",
                "last",
                "end",
                -(table["shell"] + table["plant"]) * left,
            ),
            yearly_rows(table, labels, "cooling_maintenance", table["kept_per_year"], periods),
            yearly_rows(table, labels, "property_tax", (table["shell"] + table["plant"]) * taxed, periods),
        ],
        ignore_index=True,
    )
