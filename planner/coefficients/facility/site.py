"""Site limits by period, hall capacity, openings and demand-charge peaks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.electricity.billing import Billing, floored_sites
from planner.coefficients.electricity.tariff import demand_charges, fixed_charges, valid_share
from planner.coefficients.electricity.windows import local_window_mask
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
    fixed = fixed_charges(scenario)
    billed = sites["tariff"].isin(fixed.loc[fixed["price_per_month"] > 0, "tariff"])
    owed = sites["site"].isin([*floored_sites(bill), *bound_by_opening(scenario)])
    cloud = sites["kind"] == "cloud"
    costly = sites.loc[~cloud & ((costs > 0) | billed | owed), "site"]
    rented = pd.MultiIndex.from_frame(limits[["site", "period"]]).isin(
        pd.MultiIndex.from_frame(bridged[["site", "period"]])
    )
    powered = limits[limits["site"].isin(costly) & ((limits["usable_kw"] > 0) | rented)]
    hosted = sites.loc[cloud & (costs > 0), ["site"]].merge(periods.reset_index()[["period"]], how="cross")
    return pd.concat([powered[["site", "period"]], hosted], ignore_index=True)


def peak_charges(
    scenario: Scenario, assigned: pd.DataFrame, bill: Billing
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the plain demand charges of each site and period, and the blocks whose load each one bills.

    Charges billed month by month are not among them: those are in the ``bill`` (see :mod:`billing`).

    Each month of a charge is billed at the period's kept peak inside its window; a month in which the charge holds on
    some days only counts by their share.

    Returns
    -------
    (site, component, period, months, price_per_kw_month), (site, component, period, block)
    """
    charges = demand_charges(scenario)
    sites = scenario.tables["sites"]
    offset = scenario.tables["regions"].set_index("region")["utc_offset_h"]
    own = sites.loc[sites["kind"] != "cloud", ["site", "tariff", "region"]]
    pairs = own.merge(charges, on="tariff").reset_index(drop=True)
    named = zip(pairs["site"], pairs["component"], strict=True)
    pairs = pairs[[pair not in bill.monthly for pair in named]]
    peaks, seen = [], []
    for row in pairs.itertuples():
        mask = local_window_mask(
            assigned, float(offset[row.region]), row.months, row.day_type, row.hours, row.weekend_hours
        )
        # A peak is one of all days of the month, whichever of them the charge holds on.
        valid = valid_share(scenario, assigned.assign(day_type="all"), row.start_date, row.end_date)
        inside = assigned.assign(valid=valid)[mask & (valid > 0.0)]
        by_month = inside.groupby(["period", "month"], sort=False)["valid"].first()
        months = by_month.groupby(level="period", sort=False).sum()
        label = {"site": row.site, "component": row.component}
        peaks.append(
            months.rename("months").reset_index().assign(**label, price_per_kw_month=row.price_per_kw_month)
        )
        seen.append(inside[["period", "block"]].drop_duplicates().assign(**label))
    columns = ["site", "component", "period"]
    if not peaks:
        return (
            pd.DataFrame({name: pd.Series(dtype=object) for name in columns}).assign(
                months=0.0, price_per_kw_month=0.0
            ),
            pd.DataFrame({name: pd.Series(dtype=object) for name in [*columns, "block"]}),
        )
    return (
        pd.concat(peaks, ignore_index=True)[[*columns, "months", "price_per_kw_month"]],
        pd.concat(seen, ignore_index=True)[[*columns, "block"]],
    )
