"""Halls whose cooling is changed: when the kW are taken down, when they are back, and what a kW costs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.money import currency_ratio
from planner.coefficients.payments import payment_rows
from planner.coefficients.timing import NEVER, TOLERANCE_WEEKS, in_service_ordinal
from planner.inputs import Scenario

RETROFIT = ["site", "from_cooling", "cooling", "period"]


def retrofit_columns(scenario: Scenario, periods: pd.DataFrame) -> pd.DataFrame:
    """Return the changes of cooling that are done inside the horizon, ``cooling`` the option changed to.

    The kW are gone from the period in which the work starts and back from the first that begins after it.

    Returns
    -------
    DataFrame: site, from_cooling, cooling, period, out_ordinal, in_service_ordinal, capex_per_kw in the scenario's
    currency.
    """
    sites = scenario.tables["sites"][["site", "currency"]]
    table = scenario.tables["hall_retrofits"].merge(sites, on="site", how="left")
    ratio = currency_ratio(scenario.tables["fx"], table["currency"], scenario.settings.currency)
    table = table.rename(columns={"to_cooling": "cooling"}).assign(
        capex_per_kw=table["capex_per_kw"].to_numpy(float) * ratio
    )
    pairs = table.merge(periods.reset_index()[["period", "ordinal"]], how="cross")
    start, ordinal = periods["start_weeks"].to_numpy(float), pairs["ordinal"].to_numpy(int)
    lead = pairs["lead_weeks"].fillna(0.0).to_numpy(float)
    done = lead + pairs["downtime_weeks"].fillna(0.0).to_numpy(float)
    begun = np.searchsorted(start, start[ordinal] + lead + TOLERANCE_WEEKS, side="right") - 1
    pairs = pairs.assign(out_ordinal=begun, in_service_ordinal=in_service_ordinal(start, ordinal, done))
    kept = [*RETROFIT, "out_ordinal", "in_service_ordinal", "capex_per_kw"]
    return pairs.loc[pairs["in_service_ordinal"] != NEVER, kept].reset_index(drop=True)


def retrofit_costs(retrofits: pd.DataFrame) -> pd.DataFrame:
    """Return what changing one kW costs, paid when ordered; nothing of it is counted as left at the end."""
    return payment_rows(
        retrofits, RETROFIT, "hall_retrofit", "capex", "period", "start", retrofits["capex_per_kw"]
    )
