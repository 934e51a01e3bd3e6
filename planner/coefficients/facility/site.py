"""Site limits by period, hall capacity, openings and demand-charge peaks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.electricity.billing import Billing, floored_sites
from planner.coefficients.electricity.tariff import priced_rows
from planner.coefficients.facility.colocation import bound_by_opening
from planner.coefficients.timing import NEVER, in_service_ordinal, ready_dates
from planner.inputs import Scenario
from planner.inputs.chains import chain_of_options


def site_limits(scenario: Scenario, periods: pd.DataFrame) -> pd.DataFrame:
    """Return site, period, kind, usable_kw, headroom_fraction, it_limit_kw, facility_limit_kw, racks.

    ``usable_kw`` is the last ``site_power`` row whose date is not after the period's first day; 0 before the first.
    Cloud sites have no row.
    """
    sites = scenario.tables["sites"]
    own = sites[sites["kind"] != "cloud"]
    pairs = own.merge(periods.reset_index()[["period", "start_date"]], how="cross")
    dated = scenario.tables["site_power"].sort_values("from_date")
    usable = np.zeros(len(pairs))
    for site, group in dated.groupby("site"):
        mask = (pairs["site"] == site).to_numpy(bool)
        position = group["from_date"].searchsorted(pairs.loc[mask, "start_date"], side="right") - 1
        values = np.concatenate([group["usable_kw"].to_numpy(), [0.0]])
        usable[mask] = values[position]
    return pairs.assign(usable_kw=usable, headroom_fraction=pairs["headroom_fraction"].fillna(0.0))[
        [
            "site",
            "period",
            "kind",
            "region",
            "tariff",
            "usable_kw",
            "headroom_fraction",
            "it_limit_kw",
            "facility_limit_kw",
            "racks",
        ]
    ]


def halls(scenario: Scenario) -> pd.DataFrame:
    """Return site, cooling, existing_kw, capacity_kw, owned, and the price of one more kW of hall and of cooling.

    ``chain_`` columns are those of the option's power chain, blank without one; the longer of the weeks a hall and its
    power chain take counts.
    """
    sites = scenario.tables["sites"]
    options = scenario.tables["facility_options"].merge(
        sites[["site", "kind", "build_capex_per_kw", "build_weeks", "build_life_years", "currency"]],
        on="site",
    )
    options = options.merge(
        scenario.tables["cooling"][
            ["cooling", "heat_limit_of", "capex_per_kw", "maintenance_fraction_per_year", "currency"]
        ],
        on="cooling",
        suffixes=("", "_cooling"),
        validate="many_to_one",
    )
    chains = chain_of_options(scenario).reindex(options["cooling"].to_numpy()).set_axis(options.index)
    return options.assign(
        owned=options["kind"] == "owned",
        existing_kw=options["existing_kw"].fillna(0.0),
        heat_limit_of=options["heat_limit_of"].fillna(options["cooling"]),
        build_weeks=np.fmax(options["build_weeks"], chains["build_weeks"]),
        chain_capex_per_kw=chains["capex_per_kw"],
        chain_maintenance_fraction_per_year=chains["maintenance_fraction_per_year"],
        chain_currency=chains["currency"].astype("str"),
    )


def build_columns(hall: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return site, cooling, period, in_service_ordinal, ready_date of halls that can be ready inside the horizon."""
    buildable = hall[hall["owned"] & hall["build_capex_per_kw"].notna()]
    pairs = buildable.merge(periods.reset_index()[["period", "ordinal", "start_date"]], how="cross")
    weeks = pairs["build_weeks"].fillna(0.0)
    ready = in_service_ordinal(
        periods["start_weeks"].to_numpy(),
        pairs["ordinal"].to_numpy(int),
        weeks.to_numpy(float),
    )
    pairs["in_service_ordinal"] = ready
    pairs["ready_date"] = ready_dates(pairs["start_date"], weeks, pairs["in_service_ordinal"], periods)
    kept = ["site", "cooling", "period", "ordinal", "in_service_ordinal", "ready_date"]
    return pairs.loc[ready != NEVER, kept].reset_index(drop=True)


def openings(
    scenario: Scenario, periods: pd.DataFrame, limits: pd.DataFrame, bill: Billing, bridged: pd.DataFrame
) -> pd.DataFrame:
    """Return site, period where being open costs something by itself, and power is there to open with.

    Power of the grid, or of a generator that can be rented (``bridged``: site, period). A cloud region has its own.
    """
    sites = scenario.tables["sites"]
    costs = sites["opening_cost"].fillna(0.0) + sites["fixed_cost_per_year"].fillna(0.0)
    fixed = priced_rows(scenario, "fixed")
    billed = sites["tariff"].isin(fixed.loc[fixed["price_bare"] > 0, "tariff"])
    owed = sites["site"].isin([*floored_sites(bill), *bound_by_opening(scenario)])
    cloud = sites["kind"] == "cloud"
    costly = sites.loc[~cloud & ((costs > 0) | billed | owed), "site"]
    rented = pd.MultiIndex.from_frame(limits[["site", "period"]]).isin(
        pd.MultiIndex.from_frame(bridged[["site", "period"]])
    )
    powered = limits[limits["site"].isin(costly) & ((limits["usable_kw"] > 0) | rented)]
    hosted = sites.loc[cloud & (costs > 0), ["site"]].merge(periods.reset_index()[["period"]], how="cross")
    return pd.concat([powered[["site", "period"]], hosted], ignore_index=True)
