"""Rules about offers: terms of each contract mode, where they stand, plausible prices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from planner.inputs.checks.view import Band, Finding, Notice, Rule, View, judge, rows_where
from planner.units import HOURS_PER_MONTH, HOURS_PER_YEAR, W_PER_KW

RENT_UNITS = ("unit_hour", "unit_month")
TERMED = ("lease", "reserved")
UNTERMED = ("on_demand", "spot")

CHIP_HOUR_HARD: Band = (0.02, 60.0)
CHIP_HOUR_SOFT: Band = (0.3, 16.0)
"""USD per chip-hour, purchases over their life. Unsourced estimate; shipped offers span 0.25..27."""

PURCHASE_PER_W_HARD: Band = (3.0, 200.0)
PURCHASE_PER_W_SOFT: Band = (10.0, 130.0)
"""USD per watt of TDP. Unsourced estimate; shipped purchases span 22..114."""

RENT_PER_KW_HOUR: dict[str, tuple[Band, Band]] = {
    "lease": ((0.2, 7.0), (0.5, 6.0)),
    "reserved": ((0.4, 30.0), (1.0, 18.0)),
    "on_demand": ((0.5, 45.0), (1.5, 25.0)),
    "spot": ((0.1, 30.0), (0.4, 15.0)),
}
"""USD per hour and kW of TDP, hard and soft by mode. Unsourced estimate; shipped offers: lease 0.8..4.2,
reserved 1.5..14, on demand 2..23, spot 0.7..9.4."""

PEER_HARD: Band = (0.12, 6.0)
PEER_SOFT: Band = (0.25, 3.0)
"""Price over the median of other offers of the same chip and mode. Unsourced estimate; shipped 0.2..2.6."""


def purchase_has_no_term(view: View) -> Iterator[Finding]:
    """Yield purchases with a term, a price per time, or power and space included."""
    offers = view["offers"]
    purchase = offers.frame["mode"] == "purchase"
    for at in rows_where(offers, purchase & (offers.frame["price_unit"] != "unit")):
        yield offers.fault(at, "price_unit", "a purchase is priced per unit")
    for at in rows_where(offers, purchase & offers.frame["term_months"].notna()):
        yield offers.fault(at, "term_months", "a purchase has no term; leave it blank")
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
    """Yield on-demand and spot offers without rent step, with a term, priced per unit, or not hosted."""
    offers = view["offers"]
    rented = offers.frame["mode"].isin(UNTERMED)
    for at in rows_where(offers, rented & offers.frame["rent_step"].isna()):
        yield offers.fault(at, "rent_step", "on demand and spot need one: period or hour")
    for at in rows_where(offers, rented & offers.frame["term_months"].notna()):
        yield offers.fault(at, "term_months", "on demand and spot have no term; leave it blank")
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


def chip_hour_price(view: View) -> pd.DataFrame:
    """Return every offer's price by chip.

    per chip-hour: price / (chips * life_years * 8760) for a purchase, price / chips per hour,
    price / chips / 730 per month

    Returns
    -------
    DataFrame on the rows of ``offers``; columns ``chip``, ``mode``, ``usd_per_chip_hour``, ``usd_per_chip``,
    ``tdp_w``; NaN where the product names no chip or a number is missing.
    """
    offers = view.frame("offers")
    product = offers["product"]
    chip = view.lookup(product, "products", "chip")
    chips = view.lookup(product, "products", "chips_per_unit").astype(float).where(chip.notna())
    life_h = view.lookup(product, "products", "life_years").astype(float) * HOURS_PER_YEAR
    hours = np.select(
        [offers["price_unit"] == "unit", offers["price_unit"] == "unit_hour"], [life_h, 1.0], HOURS_PER_MONTH
    )
    usd_per_chip = offers["price"] * view.usd_per_row("offers") / chips
    return pd.DataFrame(
        {
            "chip": chip,
            "mode": offers["mode"],
            "usd_per_chip": usd_per_chip,
            "usd_per_chip_hour": usd_per_chip / hours,
            "tdp_w": view.lookup(chip, "chips", "tdp_w").astype(float),
        }
    )


def price_is_plausible(view: View) -> Iterator[Finding]:
    """Yield offers whose price per chip-hour, or per watt of TDP, is far from any market price."""
    offers = view["offers"]
    price = chip_hour_price(view)
    hourly = price["usd_per_chip_hour"].to_numpy()
    found = list(judge(view, offers, "price", hourly, "USD per chip-hour", CHIP_HOUR_HARD, CHIP_HOUR_SOFT))
    bought = (price["usd_per_chip"] / price["tdp_w"]).where(price["mode"] == "purchase").to_numpy()
    unit = "USD per W of TDP"
    found += judge(view, offers, "price", bought, unit, PURCHASE_PER_W_HARD, PURCHASE_PER_W_SOFT)
    rented = price["usd_per_chip_hour"] / price["tdp_w"] * W_PER_KW
    for mode, (hard, soft) in RENT_PER_KW_HOUR.items():
        values = rented.where(price["mode"] == mode).to_numpy()
        found += judge(view, offers, "price", values, f"USD per hour and kW of TDP ({mode})", hard, soft)
    yield from found


def price_is_near_its_peers(view: View) -> Iterator[Finding]:
    """Yield own offers far from the shipped offers of the same chip and mode."""
    offers = view["offers"]
    shipped = view.catalog.get("offers")
    if shipped is None or not offers.own.any():
        return
    catalog = View({**view.tables, "offers": shipped}, view.catalog, view.settings, view.settings_where)
    peers = chip_hour_price(catalog).dropna(subset="usd_per_chip_hour")
    median = peers.groupby(["chip", "mode"])["usd_per_chip_hour"].median()
    price = chip_hour_price(view)
    key = pd.MultiIndex.from_frame(price[["chip", "mode"]])
    ratio = price["usd_per_chip_hour"].to_numpy() / median.reindex(key).to_numpy()
    unit = "times the median of the catalogue's offers of this chip and mode"
    yield from judge(view, offers, "price", np.where(offers.own, ratio, np.nan), unit, PEER_HARD, PEER_SOFT)


TERMS = ("offers.mode", "offers.price_unit", "offers.term_months")
PRICE = (
    "offers.price",
    "offers.price_unit",
    "offers.currency",
    "offers.mode",
    "products.chips_per_unit",
    "products.life_years",
    "chips.tdp_w",
    "fx.usd_per_unit",
)

RULES = (
    Rule(purchase_has_no_term, (*TERMS, "offers.includes")),
    Rule(lease_has_a_term, TERMS),
    Rule(rental_has_a_step, (*TERMS, "offers.rent_step", "offers.includes")),
    Rule(lead_times_are_in_order, ("offers.lead_weeks", "offers.lead_weeks_low", "offers.lead_weeks_high")),
    Rule(offer_names_sites_of_its_kind, ("offers.sites", "offers.includes", "sites.kind")),
    Rule(
        offer_has_a_place, ("offers.sites", "offers.regions", "offers.includes", "sites.kind", "sites.region")
    ),
    Rule(price_is_plausible, PRICE),
    Rule(price_is_near_its_peers, PRICE),
)
