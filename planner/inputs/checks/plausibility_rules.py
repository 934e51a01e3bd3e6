"""Rules about slips of the unit that no single column shows: per token or per million, months of 720 hours, kWh
that a kW cannot draw, prices of parts far from the whole.

Bands are unsourced estimates around what is shipped unless a source is named; the hard ones leave an order of
magnitude beyond the market.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from planner.errors import Fault
from planner.inputs.checks.price_rules import PURCHASE_PER_W_HARD, PURCHASE_PER_W_SOFT
from planner.inputs.checks.view import Band, Finding, Notice, Rule, View, judge, rows_where
from planner.units import HOURS_PER_DAY, HOURS_PER_MONTH, HOURS_PER_YEAR, MONTHS_PER_YEAR, TOKENS_PER_MTOK

KTOK_PER_MTOK = 1e3

API_PRICES: dict[str, tuple[Band, Band]] = {
    "price_input_per_mtok": ((0.002, 100.0), (0.02, 30.0)),
    "price_output_per_mtok": ((0.005, 500.0), (0.05, 120.0)),
    "price_cached_input_per_mtok": ((0.0005, 100.0), (0.005, 30.0)),
    "price_cache_write_per_mtok": ((0.0005, 100.0), (0.005, 60.0)),
}
"""USD per million tokens, hard and soft; 0 (free) is judged by nobody. Shipped: 0.05..5, 0.09..25, 0.0..0.5."""

VALUE_HARD: Band = (1e-3, 1e5)
VALUE_SOFT: Band = (0.02, 500.0)
"""USD earned per million tokens."""

TIER_RATIO_HARD: Band = (0.2, None)
TIER_RATIO_SOFT: Band = (0.6, None)
"""Price of a tier over the offer's price."""

MODULE_HARD: Band = (1.0, 50_000.0)
MODULE_SOFT: Band = (20.0, 8_000.0)
"""USD per kW of a transformer, a feeder, a generator: a small part up to a whole substation."""

COOLING_HARD: Band = (0.0, 30_000.0)
COOLING_SOFT: Band = (100.0, 8_000.0)
"""USD per kW IT of cooling plant, as for the options themselves."""

PPA_SOFT: Band = (0.01, 0.3)
"""USD per kWh of an energy contract."""

CARBON_SOFT = (1.0, 300.0)
CARBON_HARD = 5_000.0
"""USD per tonne of CO2; 0 is no price. Beyond the hard limit it is a price per unit of another size."""

LONGEST_MONTH_HOURS = 31 * HOURS_PER_DAY
LONGEST_PERIOD_HOURS = 5 * 366 * HOURS_PER_DAY
ROUND_MONTH_HOURS = 30 * HOURS_PER_DAY
"""A month of 30 days: twelve of them are 8,640 hours, not a year."""


def token_price_is_per_million(view: View) -> Iterator[Finding]:
    """Yield token prices that look like a price per token or per thousand."""
    offers = view["api_offers"]
    usd_rate = view.usd_per_row("api_offers")
    for column, (hard, soft) in API_PRICES.items():
        usd = offers.frame[column].to_numpy() * usd_rate
        yield from _judge_per_mtok(view, "api_offers", column, usd, hard, soft)


def value_is_per_million(view: View) -> Iterator[Finding]:
    """Yield values of tokens that look like a value per token or per thousand."""
    usd = view.frame("workloads")["value_per_mtok"].to_numpy() * view.usd_per_row("workloads")
    yield from _judge_per_mtok(view, "workloads", "value_per_mtok", usd, VALUE_HARD, VALUE_SOFT)


def _judge_per_mtok(
    view: View, table: str, column: str, usd: np.ndarray, hard: Band, soft: Band
) -> Iterator[Finding]:
    """Yield prices outside their bands; the unit says what another unit would make of the number."""
    paid = np.where(usd > 0, usd, np.nan)
    low, high = soft
    for words, factor in (
        ("USD per million tokens (stated per token? then {:.6g} per million)", TOKENS_PER_MTOK),
        ("USD per million tokens (stated per thousand? then {:.6g} per million)", KTOK_PER_MTOK),
    ):
        meant = paid * factor
        slip = (paid < (low or 0)) & (meant >= (low or 0)) & (meant <= (high or np.inf))
        for at in np.flatnonzero(slip):
            alone = np.where(np.arange(len(paid)) == at, paid, np.nan)
            yield from judge(view, view[table], column, alone, words.format(meant[at]), hard, soft)
        paid = np.where(slip, np.nan, paid)
    yield from judge(view, view[table], column, paid, "USD per million tokens", hard, soft)


def hours_are_of_a_calendar(view: View) -> Iterator[Finding]:
    """Yield periods whose hours look like months of 30 days, and periods beyond five years."""
    periods = view["periods"]
    hours = periods.frame["hours"].to_numpy()
    yield from judge(view, periods, "hours", hours, "h", (None, LONGEST_PERIOD_HOURS))
    months = np.round(hours / ROUND_MONTH_HOURS)
    for at in rows_where(periods, (hours > 0) & (hours == months * ROUND_MONTH_HOURS)):
        start, count = periods.frame["start_date"].iloc[at], int(months[at])
        if pd.isna(start):
            continue
        calendar = (start + pd.DateOffset(months=count) - start) / pd.Timedelta(hours=1)
        # 720 hours are June, 1,440 no two months: only a length that differs from the calendar is a slip.
        if calendar != hours[at]:
            message = (
                f"unusual: {hours[at]:,.0f} h is {count} x {ROUND_MONTH_HOURS:g} h; {_calendar_words(count)} from "
                f"{start:%Y-%m-%d} {'has' if count == 1 else 'have'} {calendar:,.0f} h; if that is meant, give months"
            )
            yield Notice(periods.fault(at, "hours", message))


def _calendar_words(months: int) -> str:
    if months % MONTHS_PER_YEAR == 0:
        years = months // MONTHS_PER_YEAR
        return f"{years} year{'s' if years > 1 else ''} ({HOURS_PER_YEAR:,.0f} h each, 8,784 in a leap year)"
    return f"{months} month{'s' if months > 1 else ''} ({HOURS_PER_MONTH:g} h on average)"


def hours_of_use_fit_a_month(view: View) -> Iterator[Finding]:
    """Yield tiers by kWh per kW that begin beyond the hours of a month: kWh / (kW x h) would be above 1."""
    tariffs = view["tariffs"]
    start, unit_of = tariffs.frame["tier_from"], tariffs.frame["tier_unit"]
    by_day = start * LONGEST_MONTH_HOURS / HOURS_PER_DAY
    values = np.select([unit_of == "kwh_per_kw", unit_of == "kwh_per_kw_day"], [start, by_day], np.nan)
    unit = f"kWh per kW of a month, which has {LONGEST_MONTH_HOURS:g} h at most"
    yield from judge(view, tariffs, "tier_from", values, unit, (None, LONGEST_MONTH_HOURS))


def tier_is_near_its_offer(view: View) -> Iterator[Finding]:
    """Yield quantity discounts that no vendor gives, by price or by fraction."""
    tiers = view["offer_tiers"]
    base = view.lookup(tiers.frame["offer"], "offers", "price").astype(float)
    ratios = {"price": tiers.frame["price"] / base, "discount_fraction": 1 - tiers.frame["discount_fraction"]}
    for column, ratio in ratios.items():
        unit = "times the offer's price"
        yield from judge(
            view, tiers, column, ratio.to_numpy(dtype=float), unit, TIER_RATIO_HARD, TIER_RATIO_SOFT
        )


def fleet_price_is_plausible(view: View) -> Iterator[Finding]:
    """Yield prices paid for existing units far from any price per watt of TDP."""
    fleet = view["fleet"]
    product = fleet.frame["product"]
    chip = view.lookup(product, "products", "chip")
    chips = view.lookup(product, "products", "chips_per_unit").astype(float)
    watts = chips * view.lookup(chip, "chips", "tdp_w").astype(float)
    price = fleet.frame["purchase_price"] * view.usd_per_row("fleet")
    unit = "USD per W of TDP"
    per_watt = (price / watts).to_numpy(dtype=float)
    yield from judge(view, fleet, "purchase_price", per_watt, unit, PURCHASE_PER_W_HARD, PURCHASE_PER_W_SOFT)


def module_cost_is_plausible(view: View) -> Iterator[Finding]:
    """Yield parts of the path to power far from any price per kW."""
    modules = view["site_modules"]
    usd = modules.frame["cost"] * view.usd_per_row("site_modules")
    values = (usd / modules.frame["kw"]).where(usd > 0).to_numpy(dtype=float)
    yield from judge(view, modules, "cost", values, "USD per kW", MODULE_HARD, MODULE_SOFT)


def site_cooling_price_is_plausible(view: View) -> Iterator[Finding]:
    """Yield prices of cooling at a site, in the site's currency, far from any plant's."""
    options = view["facility_options"]
    currency = view.lookup(options.frame["site"], "sites", "currency").fillna(view.settings.currency)
    usd = options.frame["capex_per_kw"] * currency.map(view.usd_rates).astype(float)
    values = usd.to_numpy(dtype=float)
    yield from judge(view, options, "capex_per_kw", values, "USD per kW IT", COOLING_HARD, COOLING_SOFT)


def contract_price_is_plausible(view: View) -> Iterator[Finding]:
    """Yield prices of energy contracts that are unusual; beyond any price they are a fault of the column."""
    ppas = view["ppas"]
    usd = ppas.frame["price_per_kwh"].to_numpy() * view.usd_per_row("ppas")
    yield from judge(view, ppas, "price_per_kwh", usd, "USD per kWh", (None, None), PPA_SOFT)


def carbon_price_is_per_tonne(view: View) -> Iterator[Finding]:
    """Yield a carbon price that looks like one per kilogramme, or per unit of another size."""
    price = view.settings.carbon_price_per_t
    usd = price * float(view.usd_rates.get(view.settings.currency, np.nan))
    low, high = CARBON_SOFT
    shown = f"{usd:.6g} USD per tonne of CO2"
    hint = f"; stated per kg? then {usd * 1_000:.6g} per tonne" if usd < low else ""
    place = (None, "carbon_price_per_t", f"{price:g}")
    if usd > CARBON_HARD:
        yield Fault(view.settings_where, f"implausible: {shown} is above {CARBON_HARD:g}", *place)
    elif usd > 0 and not low <= usd <= high:
        yield Notice(
            Fault(view.settings_where, f"unusual: {shown} is outside {low:g}..{high:g}{hint}", *place)
        )


RULES = (
    Rule(token_price_is_per_million, (*(f"api_offers.{name}" for name in API_PRICES), "fx.usd_per_unit")),
    Rule(value_is_per_million, ("workloads.value_per_mtok", "fx.usd_per_unit")),
    Rule(hours_are_of_a_calendar, ("periods.hours", "periods.start_date")),
    Rule(hours_of_use_fit_a_month, ("tariffs.tier_from", "tariffs.tier_unit")),
    Rule(
        tier_is_near_its_offer,
        ("offer_tiers.price", "offer_tiers.discount_fraction", "offer_tiers.offer", "offers.price"),
    ),
    Rule(
        fleet_price_is_plausible,
        (
            "fleet.purchase_price",
            "fleet.product",
            "products.chips_per_unit",
            "chips.tdp_w",
            "fx.usd_per_unit",
        ),
    ),
    Rule(module_cost_is_plausible, ("site_modules.cost", "site_modules.kw", "fx.usd_per_unit")),
    Rule(
        site_cooling_price_is_plausible,
        ("facility_options.capex_per_kw", "facility_options.site", "sites.currency", "fx.usd_per_unit"),
    ),
    Rule(contract_price_is_plausible, ("ppas.price_per_kwh", "ppas.currency", "fx.usd_per_unit")),
    Rule(carbon_price_is_per_tonne, ("sites.site", "fx.usd_per_unit")),
)
