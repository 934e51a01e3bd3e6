"""What one unit of an offer is where it stands: kW, racks, availability, price, and whether it may stand
there.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.facts import HOSTED, LOT, RENTED, Facts, at
from planner.plan.audit.once import once
from planner.units import HOURS_PER_DAY, HOURS_PER_YEAR

STAND = ["offer", "site", "cooling"]
PRODUCT_COLUMNS = [
    "nameplate_kw",
    "provisioned_kw",
    "idle_kw",
    "busy_kw",
    "racks_per_unit",
    "rack_scale",
    "life_years",
    "failures_per_year",
    "repair_days",
    "parts_fraction_per_failure",
    "maintenance_fraction_per_year",
    "asset_class",
]

TERMS = [
    "deposit_fraction",
    "delivery_fraction",
    "payment_term_days",
    "freight_fraction",
    "duty_fraction",
    "tax_fraction",
    "upfront_fraction",
    "warranty_years",
    "term_months",
    "payment_every_months",
]


def standing(facts: Facts, rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows (offer, site, cooling) with the numbers of one unit there.

    provisioned_kw  = nameplate where the site provisions it, else the stated peak, else nameplate
                      (0 where hosted: no power of ours)
    racks           = its own, or for a server that is spread: at least provisioned_kw / kW per rack of the
    cooling
    availability    = (1 - failures/year * repair days / 365) * (1 - share of hours a spot unit is taken away)
                      * share of time its power chain gives power
    """
    offer = at(facts.offers, rows, ["offer"])
    product = at(
        facts.table("products", "product")[PRODUCT_COLUMNS],
        offer.assign(product=offer["product"]),
        ["product"],
    )
    per_rack = facts.table("cooling", "cooling")["kw_per_rack"].reindex(rows["cooling"]).to_numpy(float)
    hosted = offer["includes"].eq(HOSTED).to_numpy()
    named = facts.sites["provisioning"].reindex(rows["site"]).eq("nameplate").to_numpy()
    peak = product["provisioned_kw"]
    stated = peak.where(peak.notna() & ~named, product["nameplate_kw"])
    kw = np.where(hosted, 0.0, stated.fillna(0.0))
    own_racks = product["racks_per_unit"].fillna(0.0).to_numpy(float)
    with np.errstate(invalid="ignore"):
        spread = np.nan_to_num(kw / per_rack)
    rack_scale = product["rack_scale"].fillna(False).to_numpy(bool)
    racks = np.where(rack_scale, own_racks, np.fmax(own_racks, spread))
    out_days = product["failures_per_year"].fillna(0.0) * product["repair_days"].fillna(0.0)
    fed = facts.chains["availability_fraction"].reindex(rows["cooling"]).fillna(1.0).to_numpy(float)
    up = 1.0 - out_days * HOURS_PER_DAY / HOURS_PER_YEAR
    return rows[STAND].assign(
        product=offer["product"],
        mode=offer["mode"],
        includes=offer["includes"],
        provisioned_kw=kw,
        idle_kw=np.where(hosted, 0.0, product["idle_kw"].fillna(0.0)),
        racks=np.where(hosted, 0.0, racks),
        denser=rack_scale & (spread > own_racks + 1e-9),
        availability_fraction=up * (1.0 - offer["interruption_fraction"].fillna(0.0)) * fed,
        life_years=product["life_years"],
        asset_class=product["asset_class"],
        maintenance_fraction_per_year=product["maintenance_fraction_per_year"].fillna(0.0),
        parts_fraction_per_year=(product["failures_per_year"] * product["parts_fraction_per_failure"])
        .astype(float)
        .fillna(0.0),
        **{name: offer[name].astype(float) for name in TERMS},
        payment_in=offer["payment_in"],
        delay_weeks=offer["delay_weeks"],
        install_weeks=offer["install_weeks"],
        service_years=offer["service_years"],
        price_converted=offer["price_converted"],
        price_unit=offer["price_unit"],
        trend=offer["price_trend_fraction_per_year"].fillna(0.0),
        stated_trend=offer["price_trend_fraction_per_year"].astype(float),
        installation_fraction=offer["installation_fraction"].fillna(0.0),
        hourly=offer["mode"].isin(RENTED) & offer["rent_step"].eq("hour"),
    )


def price_at(unit: pd.DataFrame, start_years: pd.Series | np.ndarray) -> np.ndarray:
    """Return the price of one unit ordered so many years into the horizon: ``price * (1 + trend)^years``."""
    return unit["price_converted"].to_numpy(float) * (1.0 + unit["trend"].to_numpy(float)) ** np.asarray(
        start_years
    )


def misplacements(facts: Facts, rows: pd.DataFrame) -> pd.DataFrame:
    """Return which rows (offer, site, cooling) break which rule of where a unit may stand.

    Returns
    -------
    DataFrame of bool on the rows' index: ``cooling`` (the site does not offer it, or the product may not
    stand under it), ``hosting`` (hosted away from a cloud site, hardware or an own rental at one), ``place``
    (the offer does not serve the site or its region), ``density`` (a whole rack denser than the cooling
    allows). An existing lot stands where it stands.
    """
    unit = standing(facts, rows)
    offer = at(facts.offers, rows, ["offer"])
    allowed = at(facts.table("products", "product")["coolings"], unit, ["product"])
    site = facts.sites.reindex(rows["site"])
    cloud = site["kind"].eq("cloud").to_numpy()
    pairs = set(zip(facts.halls["site"], facts.halls["cooling"], strict=True))
    own = rows["offer"].str.startswith(LOT).to_numpy()
    offered = np.array(
        [
            (where, how) in pairs or (is_cloud and how == HOSTED)
            for where, how, is_cloud in zip(rows["site"], rows["cooling"], cloud, strict=True)
        ],
        dtype=bool,
    )
    hosted = unit["includes"].eq(HOSTED).to_numpy()
    rented_hardware = (unit["mode"].isin(RENTED) & ~unit["includes"].eq(HOSTED)).to_numpy()
    broken = pd.DataFrame(
        {
            "cooling": ~offered | ~_listed(allowed, rows["cooling"]),
            "hosting": (hosted != cloud) | rented_hardware,
            "place": ~(_listed(offer["sites"], rows["site"]) & _listed(offer["regions"], site["region"])),
            "density": unit["denser"].to_numpy(bool),
        },
        index=rows.index,
    )
    return broken.where(pd.Series(~own, index=rows.index), False)


def _listed(lists: pd.Series, values: pd.Series) -> np.ndarray:
    """Return whether each value is in its list; an empty list admits everything."""
    return np.array(
        [
            not isinstance(names, tuple) or not names or value in names
            for names, value in zip(lists, values, strict=True)
        ],
        dtype=bool,
    )


@once
def lowest_purchase_price(facts: Facts) -> pd.Series:
    """Return the least purchase price of each product today among offers that some site can take, index
    product.
    """
    bought = facts.offers[facts.offers["mode"].eq("purchase")]
    pairs = bought.reset_index()[["offer"]].merge(facts.halls[["site", "cooling"]], how="cross")
    if pairs.empty:
        return pd.Series(dtype=float)
    fits = pairs[~misplacements(facts, pairs).any(axis=1)]
    kept = bought.loc[bought.index.isin(fits["offer"])]
    return kept.groupby("product")["price_converted"].min()
