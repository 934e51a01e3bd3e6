"""Where each offer's units may stand, when they serve, and what the existing fleet adds."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.service.spares import down_fraction
from planner.coefficients.timing import NEVER, alive_pairs, in_service_ordinal, service_years
from planner.inputs import Scenario
from planner.inputs.chains import chain_of_options
from planner.units import MONTHS_PER_YEAR

STAND = ["offer", "site", "cooling"]
COMMITTED = ("purchase", "lease", "reserved")
RENTED = ("on_demand", "spot")
FLEET_PREFIX = "fleet:"
HOSTED_COOLING = "hosted"
ENDLESS_YEARS = 100.0
"""Life of a unit whose product states none, beyond the end of any plan."""


def site_coolings(scenario: Scenario) -> pd.DataFrame:
    """Return site, cooling pairs: the options of each hall, ``hosted`` at a cloud site."""
    options = scenario.tables["facility_options"][["site", "cooling"]]
    sites = scenario.tables["sites"]
    cloud = sites.loc[sites["kind"] == "cloud", ["site"]].assign(cooling=HOSTED_COOLING)
    return pd.concat([options, cloud], ignore_index=True).merge(sites[["site", "kind", "region"]], on="site")


def stands(scenario: Scenario) -> pd.DataFrame:
    """Return every admissible (offer, site, cooling) with the unit's physical numbers.

    Admissible means: a hosted offer at a cloud site, hardware in an owned or colocation hall; the offer serves
    the site and its region; the product may stand under the cooling; a rack-scale unit is not denser than the
    cooling allows (a server is spread over more racks instead). Lots of the existing fleet are stands too,
    with offer ``fleet:<lot>`` and mode ``owned``.

    Returns
    -------
    DataFrame with columns offer, site, cooling, product, chip, vendor, mode, includes, rent_step, region,
    availability_fraction (share of time a unit is there),
    nameplate_kw, provisioned_kw, idle_kw, busy_kw, racks, life_years and the offer's terms.
    """
    tables = scenario.tables
    offers = tables["offers"]
    pairs = offers.merge(site_coolings(scenario), how="cross", suffixes=("", "_site"))
    hosted = pairs["includes"] == "hosted"
    allowed = hosted == (pairs["kind"] == "cloud")
    allowed &= _listed(pairs, "sites", "site") & _listed(pairs, "regions", "region")
    lots = tables["fleet"].assign(mode="owned", includes="hardware")
    lots["offer"] = FLEET_PREFIX + lots["fleet"]
    lots = lots[["offer", "product", "site", "cooling", "mode", "includes"]].merge(
        tables["sites"][["site", "kind", "region"]], on="site"
    )
    lots.loc[lots["kind"] == "cloud", "includes"] = "hosted"
    both = pd.concat([pairs[allowed], lots], ignore_index=True)
    products = tables["products"].drop(columns=["source", "source_date", "confidence", "notes"])
    both = both.merge(products, on="product", suffixes=("", "_product"), validate="many_to_one")
    both = both.merge(
        tables["cooling"][["cooling", "kw_per_rack"]], on="cooling", how="left", validate="many_to_one"
    )
    fed = chain_of_options(scenario)["availability_fraction"]
    both["provisioning"] = both["site"].map(tables["sites"].set_index("site")["provisioning"])
    both["fed_fraction"] = both["cooling"].map(fed).astype(float).fillna(1.0)
    fits = _listed(both, "coolings", "cooling") | (both["mode"] == "owned")
    return _physical(both[fits].reset_index(drop=True))


def _listed(frame: pd.DataFrame, list_column: str, value_column: str) -> pd.Series:
    """Return whether the value is in the row's list; an empty list admits everything."""
    return pd.Series(
        [
            not allowed or value in allowed
            for allowed, value in zip(frame[list_column], frame[value_column], strict=True)
        ],
        index=frame.index,
        dtype=bool,
    )


def unit_provision(product: pd.DataFrame, policy: pd.Series) -> pd.Series:
    """Return the kW that feeds and halls carry for one unit, rows of both aligned.

    Nameplate where the site's policy says so; else the measured peak, and nameplate where none was measured.
    """
    measured = product["provisioned_kw"].where(policy.ne("nameplate"))
    return measured.fillna(product["nameplate_kw"]).fillna(0.0)


def _physical(both: pd.DataFrame) -> pd.DataFrame:
    provisioned = unit_provision(both, both["provisioning"])
    spread = provisioned / both["kw_per_rack"]
    racks = both["racks_per_unit"].fillna(0.0)
    too_dense = (both["rack_scale"] & (spread > racks + 1e-9)) & (both["mode"] != "owned")
    kept = (1.0 - both["interruption_fraction"].fillna(0.0)) * both["fed_fraction"]
    result = both.assign(
        provisioned_kw=provisioned,
        idle_kw=both["idle_kw"].fillna(0.0),
        racks=np.where(both["rack_scale"], racks, np.maximum(racks, spread.fillna(0.0))),
        availability_fraction=(1.0 - down_fraction(both)) * kept,
    )
    hosted = result["includes"] == "hosted"
    result.loc[hosted, ["provisioned_kw", "idle_kw", "racks"]] = 0.0
    return result[~too_dense].reset_index(drop=True)


def order_columns(stand: pd.DataFrame, periods: pd.DataFrame, lead_case: str) -> pd.DataFrame:
    """Return the orders that can still serve inside the horizon.

    Parameters
    ----------
    stand
        Result of :func:`stands`.
    periods
        Index period; ordinal, start_date, start_weeks, start_years.
    lead_case
        ``low``, ``base`` or ``high`` lead time (the base where a case is blank).

    Returns
    -------
    DataFrame: offer, site, cooling, period, ordinal, delay_weeks, in_service_ordinal, in_service_period,
    service_years, sorted by stand and period.
    """
    committed = stand[stand["mode"].isin(COMMITTED)]
    pairs = committed.merge(periods.reset_index()[["period", "ordinal", "start_date"]], how="cross")
    pairs = pairs[_on_sale(pairs)].copy()
    pairs["delay_weeks"] = lead_weeks(pairs, lead_case) + pairs["install_weeks"]
    arrives = in_service_ordinal(
        periods["start_weeks"].to_numpy(), pairs["ordinal"].to_numpy(int), pairs["delay_weeks"].to_numpy()
    )
    pairs["in_service_ordinal"] = arrives
    pairs["service_years"] = service_years(pairs["mode"], pairs["life_years"], pairs["term_months"])
    pairs = pairs[arrives != NEVER].reset_index(drop=True)
    pairs["in_service_period"] = periods.index.to_numpy()[pairs["in_service_ordinal"].to_numpy(int)]
    kept = [
        *STAND,
        "period",
        "ordinal",
        "delay_weeks",
        "in_service_ordinal",
        "in_service_period",
        "service_years",
    ]
    return pairs[kept]


def lead_weeks(offers: pd.DataFrame, lead_case: str) -> pd.Series:
    """Return order to delivery in weeks for the case asked for."""
    if lead_case == "base":
        return offers["lead_weeks"]
    return offers[f"lead_weeks_{lead_case}"].fillna(offers["lead_weeks"])


def _on_sale(pairs: pd.DataFrame) -> pd.Series:
    after = pairs["available_from"].isna() | (pairs["start_date"] >= pairs["available_from"])
    before = pairs["available_until"].isna() | (pairs["start_date"] <= pairs["available_until"])
    return after & before


def rent_columns(stand: pd.DataFrame, periods: pd.DataFrame, lead_case: str) -> pd.DataFrame:
    """Return offer, site, cooling, period, rent_step of on-demand and spot units, from the day they can be had."""
    rented = stand[stand["mode"].isin(RENTED)]
    pairs = rented.merge(
        periods.reset_index()[["period", "ordinal", "start_date", "start_weeks"]], how="cross"
    )
    delay = lead_weeks(pairs, lead_case) + pairs["install_weeks"]
    ready = pairs["start_weeks"] >= delay - 1e-9
    kept = pairs[_on_sale(pairs) & ready]
    return kept[[*STAND, "period", "rent_step"]].reset_index(drop=True)


def fleet_units(scenario: Scenario, periods: pd.DataFrame) -> pd.DataFrame:
    """Return offer, site, cooling, period, units of the lots that serve: in service by the period's first day."""
    fleet = scenario.tables["fleet"]
    life = scenario.tables["products"].set_index("product")["life_years"]
    end = fleet["retire_date"].fillna(worn_out_date(fleet["in_service_date"], fleet["product"].map(life)))
    pairs = fleet.assign(offer=FLEET_PREFIX + fleet["fleet"], end=end).merge(
        periods.reset_index()[["period", "start_date"]], how="cross"
    )
    serves = (pairs["in_service_date"] <= pairs["start_date"]) & (pairs["start_date"] < pairs["end"])
    return pairs.loc[serves, [*STAND, "period", "units"]].reset_index(drop=True)


def worn_out_date(in_service_date: pd.Series, life_years: pd.Series) -> pd.Series:
    """Return the first day after a life of so many years: the same day of the month, years later.

    A blank life lasts longer than any plan.

    >>> worn_out_date(pd.Series([pd.Timestamp("2022-07-01")]), pd.Series([5.0]))[0].date().isoformat()
    '2027-07-01'
    """
    months = (life_years.astype(float).fillna(ENDLESS_YEARS) * MONTHS_PER_YEAR).round()
    dates = [
        date + pd.DateOffset(months=int(count)) for date, count in zip(in_service_date, months, strict=True)
    ]
    return pd.Series(dates, index=in_service_date.index, dtype=in_service_date.dtype)


def supply_limits(scenario: Scenario, periods: pd.DataFrame) -> pd.DataFrame:
    """Return offer, period, units: the ``supply`` row where there is one, else the offer's own limit."""
    offers = scenario.tables["offers"]
    own = offers.loc[offers["supply_units_per_period"].notna(), ["offer", "supply_units_per_period"]]
    own = own.merge(periods.reset_index()[["period"]], how="cross").rename(
        columns={"supply_units_per_period": "units"}
    )
    dated = scenario.tables["supply"][["offer", "period", "units"]]
    merged = pd.concat([dated, own], ignore_index=True).drop_duplicates(["offer", "period"], keep="first")
    return merged[merged["offer"].isin(offers["offer"])].reset_index(drop=True)


__all__ = ["COMMITTED", "FLEET_PREFIX", "RENTED", "STAND", "alive_pairs"]
