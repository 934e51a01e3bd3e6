"""Rules about offers: terms of each contract mode, where they stand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from planner.inputs.checks.view import Finding, Notice, Rule, View, rows_where

RENT_UNITS = ("unit_hour", "unit_month")
TERMED = ("lease", "reserved")
UNTERMED = ("on_demand", "spot")


def purchase_is_priced_per_unit(view: View) -> Iterator[Finding]:
    """Yield purchases with a price per time, or power and space included."""
    offers = view["offers"]
    purchase = offers.frame["mode"] == "purchase"
    for at in rows_where(offers, purchase & (offers.frame["price_unit"] != "unit")):
        yield offers.fault(at, "price_unit", "a purchase is priced per unit")
    for at in rows_where(offers, purchase & (offers.frame["includes"] == "hosted")):
        yield offers.fault(at, "includes", "a purchase includes only hardware")


def lease_has_a_term(view: View) -> Iterator[Finding]:
    """Yield leases and reservations without a term or without a price per time."""
    offers = view["offers"]
    termed = offers.frame["mode"].isin(TERMED)
    for at in rows_where(offers, termed & ~(offers.frame["term_months"] > 0)):
        yield offers.fault(at, "term_months", f"a {offers.frame['mode'].iloc[at]} needs a term above 0")
    for at in rows_where(offers, termed & ~offers.frame["price_unit"].isin(RENT_UNITS)):
        yield offers.fault(at, "price_unit", f"allowed for this mode: {', '.join(RENT_UNITS)}")


def rental_has_a_step(view: View) -> Iterator[Finding]:
    """Yield on-demand and spot offers without rent step, priced per unit, or not hosted."""
    offers = view["offers"]
    rented = offers.frame["mode"].isin(UNTERMED)
    for at in rows_where(offers, rented & offers.frame["rent_step"].isna()):
        yield offers.fault(at, "rent_step", "on demand and spot need one: period or hour")
    for at in rows_where(offers, rented & ~offers.frame["price_unit"].isin(RENT_UNITS)):
        yield offers.fault(at, "price_unit", f"allowed for this mode: {', '.join(RENT_UNITS)}")
    for at in rows_where(offers, rented & (offers.frame["includes"] == "hardware")):
        message = (
            "on demand and spot units are hosted; a unit that stands in a hall of yours is bought or leased"
        )
        yield offers.fault(at, "includes", message)


def lead_times_are_in_order(view: View) -> Iterator[Finding]:
    """Yield lead times that are not low <= base <= high."""
    offers = view["offers"]
    base = offers.frame["lead_weeks"]
    for at in rows_where(offers, offers.frame["lead_weeks_low"] > base):
        yield offers.fault(at, "lead_weeks_low", f"must not be above lead_weeks {base.iloc[at]:.6g}")
    for at in rows_where(offers, offers.frame["lead_weeks_high"] < base):
        yield offers.fault(at, "lead_weeks_high", f"must not be below lead_weeks {base.iloc[at]:.6g}")


def offer_names_sites_of_its_kind(view: View) -> Iterator[Finding]:
    """Yield offers that name a site they cannot stand at: hosted at cloud, hardware at owned and colo."""
    offers = view["offers"]
    kind = view.by_key("sites", "kind")
    if view.catalog.get("sites") is not None:
        shipped = view.catalog["sites"].frame.set_index("site")["kind"]
        kind = pd.concat([kind, shipped[~shipped.index.isin(kind.index)]])
    named = offers.frame[["sites", "includes"]].explode("sites").dropna(subset="sites")
    place = named["sites"].map(kind)
    wrong = place.notna() & ((named["includes"] == "hosted") != (place == "cloud"))
    for at, site in named.loc[wrong, "sites"].items():
        includes = offers.frame["includes"].iloc[int(at)]  # type: ignore[call-overload]
        allowed = "cloud sites" if includes == "hosted" else "owned and colo sites"
        message = f"{site} is {place[named['sites'] == site].iloc[0]}; {includes} offers stand at {allowed}"
        yield offers.fault(int(at), "sites", message)  # type: ignore[call-overload]


def offer_has_a_place(view: View) -> Iterator[Finding]:
    """Yield own offers that no site of the scenario can take."""
    offers = view["offers"]
    sites = view.frame("sites")
    cloud = (sites["kind"] == "cloud").to_numpy()
    hosted = (offers.frame["includes"] == "hosted").to_numpy()
    fits = hosted[:, None] == cloud[None, :]
    for column, values in (("sites", sites["site"]), ("regions", sites["region"])):
        listed = offers.frame[column]
        fits &= np.array(
            [values.isin(names).to_numpy() if names else np.ones(len(sites), bool) for names in listed],
            dtype=bool,
        ).reshape(fits.shape)
    for at in rows_where(offers, ~fits.any(axis=1) & offers.own):
        yield Notice(offers.fault(at, "sites", "no site of this scenario can take the offer; it is not used"))


TERMS = ("offers.mode", "offers.price_unit", "offers.term_months")
RULES = (
    Rule(purchase_is_priced_per_unit, (*TERMS, "offers.includes")),
    Rule(lease_has_a_term, TERMS),
    Rule(rental_has_a_step, (*TERMS, "offers.rent_step", "offers.includes")),
    Rule(lead_times_are_in_order, ("offers.lead_weeks", "offers.lead_weeks_low", "offers.lead_weeks_high")),
    Rule(offer_names_sites_of_its_kind, ("offers.sites", "offers.includes", "sites.kind")),
    Rule(
        offer_has_a_place, ("offers.sites", "offers.regions", "offers.includes", "sites.kind", "sites.region")
    ),
)
