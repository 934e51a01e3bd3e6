"""Rules about electricity tariffs and currencies."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from planner.inputs.checks.view import (
    RATE_HARD,
    Band,
    Finding,
    Notice,
    Rule,
    View,
    judge,
    outside,
    rows_where,
)
from planner.inputs.windows import parse_hours, parse_months
from planner.tables import HOURS
from planner.units import MONTHS_PER_YEAR

UNITS = {
    "energy": ("kwh", "kvah"),
    "demand": ("kw_month", "kva_month", "kw_day", "kva_day", "kw_year"),
    "fixed": ("month", "day", "year"),
    "minimum": ("kw_month", "kva_month", "kw_year", "month", "day", "year"),
    "levy": ("fraction",),
}
KVA_UNITS = ("kvah", "kva_month", "kva_day")

BANDS: dict[tuple[str, ...], tuple[str, Band, Band]] = {
    ("kwh", "kvah"): ("USD per kWh", (-1, 2), (0.0, 0.5)),
    ("kw_month", "kva_month"): ("USD per kW-month", (0, 150), (0, 60)),
    ("kw_day", "kva_day"): ("USD per kW-day", (0, 5), (0, 2)),
    ("kw_year",): ("USD per kW-year", (0, 1_800), (0, 720)),
}
"""Hard and soft band by unit. Unsourced estimate; shipped: energy 0..0.31, demand 2.3..35 USD."""

ENERGY_HARD: Band = (-0.2, 1.0)
ENERGY_SOFT: Band = (0.01, 0.5)
"""All hours together, USD per kWh. Unsourced estimate; shipped tariffs of one flat charge: 0.05..0.2."""
RATE_SOFT: Band = (0.7, 1.4)
RATE_LIMITS: Band = (1e-6, 100.0)
"""What the column itself allows; beyond it the column's own fault tells."""

MARKET_HARD: Band = (-1, 2)
SHARES_AGREE = 1e-9
"""What sums of shares may be above 1 by rounding."""


def charge_has_its_unit(view: View) -> Iterator[Finding]:
    """Yield charges whose unit does not fit what is billed."""
    tariffs = view["tariffs"]
    for charge, units in UNITS.items():
        wrong = (tariffs.frame["charge"] == charge) & ~tariffs.frame["price_unit"].isin(units)
        for at in rows_where(tariffs, wrong):
            yield tariffs.fault(
                at, "price_unit", f"allowed for a charge of kind {charge}: {', '.join(units)}"
            )


def kva_has_a_power_factor(view: View) -> Iterator[Finding]:
    """Yield charges per kVA without a power factor."""
    tariffs = view["tariffs"]
    wrong = tariffs.frame["price_unit"].isin(KVA_UNITS) & ~(tariffs.frame["power_factor"] > 0)
    for at in rows_where(tariffs, wrong):
        yield tariffs.fault(at, "power_factor", "needed for a price per kVA")


def windows_can_be_read(view: View) -> Iterator[Finding]:
    """Yield windows of months or hours that cannot be read."""
    readers: dict[str, Callable[[object], object]] = {
        "months": parse_months,
        "ratchet_season": parse_months,
        "hours": parse_hours,
        "weekend_hours": parse_hours,
    }
    tariffs = view["tariffs"]
    for column, read in readers.items():
        texts = tariffs.frame[column]
        wrong: dict[str, str] = {}
        for text in texts.dropna().unique():
            try:
                read(text)
            except ValueError as error:
                wrong[text] = str(error)
        for at in rows_where(tariffs, texts.isin(list(wrong))):
            yield tariffs.fault(at, column, wrong[texts.iloc[at]])


def levy_names_components(view: View) -> Iterator[Finding]:
    """Yield levies on components the tariff does not have."""
    tariffs = view["tariffs"]
    named = tariffs.frame[["tariff", "applies_to"]].explode("applies_to").dropna(subset="applies_to")
    known = pd.MultiIndex.from_frame(tariffs.frame[["tariff", "component"]])
    wrong = ~pd.MultiIndex.from_frame(named).isin(known)
    for at, component in named.loc[wrong, "applies_to"].items():
        message = f"the tariff has no component {component!r}"
        yield tariffs.fault(int(at), "applies_to", message)  # type: ignore[call-overload]


def levy_is_in_a_currency_of_its_tariff(view: View) -> Iterator[Finding]:
    """Yield levies in a currency in which no charge of the tariff is: their price is a share of those charges."""
    tariffs = view["tariffs"]
    levy = tariffs.frame["charge"].eq("levy")
    billed = tariffs.frame.loc[~levy].groupby("tariff")["currency"].unique()
    for at in rows_where(tariffs, levy & tariffs.frame["currency"].notna()):
        known = billed.get(tariffs.frame["tariff"].iloc[at], [])
        if len(known) and tariffs.frame["currency"].iloc[at] not in known:
            message = f"a levy is a share of charges in {', '.join(sorted(known))}: state that currency"
            yield tariffs.fault(at, "currency", message)


def charge_price_is_plausible(view: View) -> Iterator[Finding]:
    """Yield prices far from any tariff, in USD."""
    tariffs = view["tariffs"]
    usd = tariffs.frame["price"].to_numpy() * view.usd_per_row("tariffs")
    unit_of = tariffs.frame["price_unit"]
    for units, (words, hard, soft) in BANDS.items():
        values = np.where(unit_of.isin(units), usd, np.nan)
        yield from judge(view, tariffs, "price", values, words, hard, soft)
    wrong = tariffs.frame["charge"].isin(["demand", "fixed", "minimum"]) & (tariffs.frame["price"] < 0)
    for at in rows_where(tariffs, wrong):
        yield tariffs.fault(at, "price", "only energy and levies may be negative")


def site_energy_price_is_plausible(view: View) -> Iterator[Finding]:
    """Yield sites whose tariff, all flat energy charges together, is far from any electricity price."""
    sites = view["sites"]
    tariffs = view.frame("tariffs")
    flat = (tariffs["charge"] == "energy") & tariffs[["months", "hours", "tier_of", "market"]].isna().all(
        axis=1
    )
    flat &= tariffs["day_type"].eq("all")
    usd = tariffs["price"] * view.usd_per_row("tariffs")
    windowed = tariffs.loc[(tariffs["charge"] == "energy") & ~flat, "tariff"]
    total = usd[flat].groupby(tariffs["tariff"]).sum()
    price = sites.frame["tariff"].map(total[~total.index.isin(windowed)]).to_numpy(dtype=float)
    yield from judge(view, sites, "tariff", price, "USD per kWh in every hour", ENERGY_HARD, ENERGY_SOFT)


def market_is_complete(view: View) -> Iterator[Finding]:
    """Yield charges on a market without prices for all twelve months."""
    tariffs = view["tariffs"]
    months = view.frame("wholesale").groupby("market")["month"].nunique()
    market = tariffs.frame["market"]
    short = market.notna() & (market.map(months).fillna(0) < MONTHS_PER_YEAR)
    for at in rows_where(tariffs, short & market.isin(months.index)):
        message = f"wholesale has {int(months[market.iloc[at]])} of 12 months for this market"
        yield tariffs.fault(at, "market", message)


def market_price_is_plausible(view: View) -> Iterator[Finding]:
    """Yield market prices far from any market, in USD per kWh."""
    wholesale = view["wholesale"]
    usd = view.usd_per_row("wholesale")
    for hour in HOURS:
        values = wholesale.frame[hour].to_numpy() * usd
        yield from judge(view, wholesale, hour, values, "USD per kWh", MARKET_HARD)


def dollar_is_a_dollar(view: View) -> Iterator[Finding]:
    """Yield a row of USD whose rate is not 1."""
    fx = view["fx"]
    for at in rows_where(fx, (fx.frame["currency"] == "USD") & (fx.frame["usd_per_unit"] != 1)):
        yield fx.fault(at, "usd_per_unit", "one USD is 1 USD")


def rate_is_of_the_currency(view: View) -> Iterator[Finding]:
    """Yield rates far from the shipped one of the currency: inverted, or for 100 units."""
    fx = view["fx"]
    rate = fx.frame["usd_per_unit"].to_numpy(float)
    judged = (fx.frame["currency"] != "USD").to_numpy() & ~outside(rate, RATE_LIMITS)
    ratio = np.where(judged, view.rate_over_catalog().to_numpy(float), np.nan)
    inverted = ~outside(ratio / rate**2, RATE_HARD)
    unit = "times the shipped rate"
    for words, rows in ((f"{unit} (stated per USD?)", inverted), (unit, ~inverted)):
        yield from judge(view, fx, "usd_per_unit", np.where(rows, ratio, np.nan), words, RATE_HARD, RATE_SOFT)


PRICE = ("tariffs.charge", "tariffs.price", "tariffs.price_unit", "tariffs.currency", "fx.usd_per_unit")


def plan_bills_the_charge_in_full(view: View) -> Iterator[Finding]:
    """Yield sites whose tariff has parts that a plan bills only in their plain form."""
    sites, tariffs = view["sites"], view["tariffs"].frame
    ours = sites.frame["kind"] != "cloud"
    shares = set(tariffs.loc[tariffs["contract_fraction"] > 0, "tariff"])
    no_contract = sites.frame["tariff"].isin(shares) & sites.frame["contract_kw"].isna()
    for at in rows_where(sites, ours & no_contract):
        message = (
            "has a share of contract kW: without contract_kw it is not billed, this cost is a lower bound"
        )
        yield Notice(sites.fault(at, "tariff", message))


def contract_is_a_share_or_a_profile(view: View) -> Iterator[Finding]:
    """Yield energy contracts that state neither or both of a share and kW, end before they start, or of a cloud."""
    ppas = view["ppas"]
    frame = ppas.frame
    both = frame["share_fraction"].notna() == frame["kw"].notna()
    for at in rows_where(ppas, both):
        yield ppas.fault(at, "share_fraction", "state either a share of the load or the kW delivered")
    for at in rows_where(ppas, frame["end_date"] < frame["start_date"]):
        yield ppas.fault(
            at, "end_date", f"must not be before start_date {frame['start_date'].iloc[at]:%Y-%m-%d}"
        )
    kind = view.lookup(frame["site"], "sites", "kind")
    for at in rows_where(ppas, kind.eq("cloud")):
        yield ppas.fault(at, "site", "a cloud site buys no energy of its own")


def contracts_cover_no_more_than_the_load(view: View) -> Iterator[Finding]:
    """Yield energy contracts from whose first day the shares that hold at a site on that day are above 1."""
    ppas = view["ppas"]
    frame = ppas.frame
    first = frame["start_date"].fillna(pd.Timestamp.min)
    last = frame["end_date"].fillna(pd.Timestamp.max)
    for at in rows_where(ppas, frame["share_fraction"].notna()):
        day = first.iloc[at]
        held = (frame["site"] == frame["site"].iloc[at]) & (first <= day) & (last >= day)
        shares = float(frame.loc[held, "share_fraction"].sum())
        if shares > 1 + SHARES_AGREE:
            since = "at the start" if day == pd.Timestamp.min else f"on {day:%Y-%m-%d}"
            message = f"shares of contracts that hold {since} at the site sum to {shares:g}: at most 1"
            yield ppas.fault(at, "share_fraction", message)


def limits_can_be_measured(view: View) -> Iterator[Finding]:
    """Yield limits on carbon or water that miss what they would measure."""
    limits = view["resource_limits"]
    sites = view.frame("sites")
    ours = sites[sites["kind"] != "cloud"]
    known = ours["region"].isin(view.frame("carbon")["region"])
    named = ours["region"].isin(view.known("regions", "region"))
    blank = list(ours.loc[~known & named, "site"])
    site = limits.frame["site"]
    carbon = limits.frame["kind"] == "carbon_t"
    for at in rows_where(limits, carbon & (site.isin(blank) | (site.isna() & bool(blank)))):
        message = f"no row in carbon for the region of {', '.join(blank)}"
        yield limits.fault(at, "kind", message)
    for at in rows_where(limits, site.notna() & ~site.isin(ours["site"]) & site.isin(sites["site"])):
        yield limits.fault(at, "site", "a cloud site draws no energy or water of ours")


def limits_hold_in_a_period(view: View) -> Iterator[Finding]:
    """Yield limits on carbon or water for a year in which the named period, or any period, does not start."""
    limits = view["resource_limits"]
    year = limits.frame["year"]
    start = view.frame("periods")["start_date"].dt.year
    of_period = view.lookup(limits.frame["period"], "periods", "start_date").dt.year
    for at in rows_where(limits, year.notna() & of_period.notna() & (year != of_period)):
        message = (
            f"the period starts in {of_period.iloc[at]:.0f}: give that year, or only one of period and year"
        )
        yield limits.fault(at, "year", message)
    for at in rows_where(limits, year.notna() & limits.frame["period"].isna() & ~year.isin(start)):
        yield Notice(limits.fault(at, "year", "no period starts in this year: the limit does nothing"))


RULES = (
    Rule(
        plan_bills_the_charge_in_full,
        ("sites.tariff", "sites.kind", "sites.contract_kw", "tariffs.charge", "tariffs.contract_fraction"),
    ),
    Rule(
        contract_is_a_share_or_a_profile,
        ("ppas.share_fraction", "ppas.kw", "ppas.site", "ppas.start_date", "ppas.end_date", "sites.kind"),
    ),
    Rule(
        contracts_cover_no_more_than_the_load,
        ("ppas.share_fraction", "ppas.site", "ppas.start_date", "ppas.end_date"),
    ),
    Rule(
        limits_can_be_measured,
        ("resource_limits.kind", "resource_limits.site", "sites.region", "carbon.region"),
    ),
    Rule(
        limits_hold_in_a_period,
        ("resource_limits.year", "resource_limits.period", "periods.period", "periods.start_date"),
    ),
    Rule(charge_has_its_unit, ("tariffs.charge", "tariffs.price_unit")),
    Rule(kva_has_a_power_factor, ("tariffs.price_unit", "tariffs.power_factor")),
    Rule(windows_can_be_read, ("tariffs.months", "tariffs.hours", "tariffs.weekend_hours")),
    Rule(levy_is_in_a_currency_of_its_tariff, ("tariffs.tariff", "tariffs.charge", "tariffs.currency")),
    Rule(levy_names_components, ("tariffs.tariff", "tariffs.component", "tariffs.applies_to")),
    Rule(charge_price_is_plausible, PRICE),
    Rule(site_energy_price_is_plausible, (*PRICE, "sites.tariff", "tariffs.day_type")),
    Rule(market_is_complete, ("tariffs.market", "wholesale.market", "wholesale.month")),
    Rule(
        market_price_is_plausible,
        ("wholesale.currency", "fx.usd_per_unit", *(f"wholesale.{hour}" for hour in HOURS)),
    ),
    Rule(dollar_is_a_dollar, ("fx.currency", "fx.usd_per_unit")),
    Rule(rate_is_of_the_currency, ("fx.currency", "fx.usd_per_unit")),
)
