"""Halls whose cooling is changed: when the kW are taken down, when they are back, and what a kW costs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.facility.hall_cost import property_tax
from planner.coefficients.money import currency_ratio, sinking_fund_residual
from planner.coefficients.payments import payment_rows, yearly_rows
from planner.coefficients.timing import NEVER, TOLERANCE_WEEKS, in_service_ordinal, ready_dates
from planner.inputs import Scenario

RETROFIT = ["site", "from_cooling", "cooling", "period"]


def retrofit_columns(scenario: Scenario, periods: pd.DataFrame) -> pd.DataFrame:
    """Return the changes of cooling that are done inside the horizon, ``cooling`` the option changed to.

    The kW are gone from the period in which the work starts and back from the first that begins after it.

    Returns
    -------
    DataFrame: site, from_cooling, cooling, period, out_ordinal, in_service_ordinal, ready_date, capex_per_kw in the
    scenario's currency, life_years, maintenance_fraction_per_year.
    """
    sites = scenario.tables["sites"][["site", "currency"]]
    table = scenario.tables["hall_retrofits"].merge(sites, on="site", how="left")
    ratio = currency_ratio(scenario.tables["fx"], table["currency"], scenario.settings.currency)
    table = table.rename(columns={"to_cooling": "cooling"}).assign(
        capex_per_kw=table["capex_per_kw"].to_numpy(float) * ratio
    )
    pairs = table.merge(periods.reset_index()[["period", "ordinal", "start_date"]], how="cross")
    start, ordinal = periods["start_weeks"].to_numpy(float), pairs["ordinal"].to_numpy(int)
    lead = pairs["lead_weeks"].fillna(0.0).to_numpy(float)
    done = lead + pairs["downtime_weeks"].fillna(0.0).to_numpy(float)
    begun = np.searchsorted(start, start[ordinal] + lead + TOLERANCE_WEEKS, side="right") - 1
    pairs = pairs.assign(out_ordinal=begun, in_service_ordinal=in_service_ordinal(start, ordinal, done))
    days = pd.Series(done, index=pairs.index)
    pairs["ready_date"] = ready_dates(pairs["start_date"], days, pairs["in_service_ordinal"], periods)
    kept = [*RETROFIT, "out_ordinal", "in_service_ordinal", "ready_date", "capex_per_kw"]
    kept += ["life_years", "maintenance_fraction_per_year"]
    return pairs.loc[pairs["in_service_ordinal"] != NEVER, kept].reset_index(drop=True)


def retrofit_costs(scenario: Scenario, retrofits: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return what changing one kW costs: its price when ordered, upkeep and tax once done, its value at the end.

    Upkeep stands in ``cooling_maintenance``, the value left by the sinking-fund rule in ``facility_residual``, both as
    for halls that are built; none of either where the change states no share or no life.
    """
    table = retrofits.assign(last=periods.index[-1])
    end_years = periods["start_years"].iloc[-1] + periods["years"].iloc[-1]
    age = end_years - periods["start_years"].to_numpy()[table["in_service_ordinal"].to_numpy(int)]
    life, settings = table["life_years"].astype(float), scenario.settings
    left = sinking_fund_residual(settings.nominal_rate_fraction, age, life.fillna(1.0).to_numpy())
    worth = life.notna().to_numpy() & (settings.residual_method != "none")
    price = table["capex_per_kw"].astype(float)
    upkeep = price * table["maintenance_fraction_per_year"].astype(float).fillna(0.0)
    residual = -price * np.where(worth, left, 0.0)
    taxed = price * property_tax(scenario, table["site"])
    return pd.concat(
        [
            payment_rows(table, RETROFIT, "hall_retrofit", "capex", "period", "start", price),
            payment_rows(table, RETROFIT, "facility_residual", "capex", "last", "end", residual),
            yearly_rows(table, RETROFIT, "cooling_maintenance", upkeep, periods),
            yearly_rows(table, RETROFIT, "property_tax", taxed, periods),
        ],
        ignore_index=True,
    )
