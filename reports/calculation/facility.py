"""Rows of sites: colocation rent, staff, network, opening and fixed cost."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reports.calculation.hardware import own_hardware
from reports.calculation.rows import At, Rows
from reports.calculation.timeline_rows import Clock
from reports.content import by_period
from reports.costs import truth


def facility_rows(rows: Rows, time: Clock) -> None:
    """Append the rows of space that is taken and of sites that are open."""
    _space(rows, time)
    _unused(rows)
    _bridging(rows, time)
    _open(rows, time)


def _space(rows: Rows, time: Clock) -> None:
    fleet = own_hardware(rows)
    if fleet.empty:
        return
    fleet = fleet.assign(kw=fleet["units"] * provisioned_kw(rows, fleet))
    wide = by_period(fleet, ["site"], "kw", rows.content.timeline)
    rows.title("Space, staff and network")
    provisioned = {
        str(site): rows.plan_values(
            "Provisioned IT power", "", str(site), "fleet x provisioned kW", "kW IT", kw, total=False
        )
        for site, kw in zip(
            wide["site"], wide[list(rows.content.timeline.names)].to_numpy(float), strict=True
        )
    }
    sites = rows.content.table("sites").set_index("site")
    rent = {
        site: rows.inputs.money("sites", [site], "rent_per_kw_month")
        for site in provisioned
        if sites["kind"].get(site) == "colo"
    }
    levels = _rent_levels(rows, list(rent))
    _per_kw(rows, provisioned, rent, "facility_rent", "Colocation rent", "per kW-month", time.months, levels)
    staff = {site: staff_price(rows, site) for site in provisioned}
    _per_kw(rows, provisioned, staff, "staff", "Operations staff", "per kW-year", time.years)
    network = {site: rows.inputs.money("sites", [site], "network_cost_per_kw_year") for site in provisioned}
    _per_kw(rows, provisioned, network, "network", "Network", "per kW-year", time.years)


def _rent_levels(rows: Rows, sites: list[str]) -> dict[str, At]:
    """Return the row of the rent over the rent stated in the table sites, of sites whose contract lets it rise."""
    levels = rows.content.frame("rent_levels", ["site", "period", "level"])
    wide = by_period(levels[levels["site"].astype(str).isin(sites)], ["site"], "level", rows.content.timeline)
    names = list(rows.content.timeline.names)
    return {
        str(row["site"]): rows.plan_values(
            "Rent over the stated rent",
            "",
            str(row["site"]),
            "contract",
            "ratio",
            np.array([row[name] for name in names], dtype=float),
            "0.0000",
            total=False,
        )
        for row in wide.to_dict("records")
        if any(abs(row[name] - 1.0) > 1e-12 for name in names)
    }


Priced = tuple[str, str, At, str | float]
"""Item, place, row of the quantity, and formula of its price."""


def _below(rows: Rows, priced: list[Priced], label: str, basis: str, length: str = "") -> list[At]:
    """Append quantity x price x length of each, below each other so that a sum takes them alone."""
    return [
        rows.formula(label, item, place, basis, rows.content.currency, f"{at.here}*{{H}}{length}", price)
        for item, place, at, price in priced
    ]


def _unused(rows: Rows) -> None:
    """Append the rent of kW that contracts have paid for and that are not used."""
    rent = rows.content.frame("colo_rent", ["site", "period", "cost"])
    wide = by_period(rent, ["site"], "cost", rows.content.timeline)
    priced: list[Priced] = []
    for row in wide.to_dict("records"):
        site = str(row["site"])
        paid = np.array([row[name] for name in rows.content.timeline.names], dtype=float)
        price = rows.inputs.price("sites", [site], "rent_per_kw_month")
        if not paid.any() or not price > 0.0:
            continue
        if not priced:
            rows.title("Contracted colocation power that is not used")
        label = "Paid for and not used, at the risen rent"
        at = rows.plan_values(label, "", site, "contract", "kW-months", paid / price)
        priced.append(("", site, at, rows.inputs.money("sites", [site], "rent_per_kw_month") or 0.0))
    if priced:
        parts = _below(rows, priced, "Rent of what is not used; column H: per kW-month", "kW-months x price")
        title = "Rent of contracted kW not used"
        rows.line_total("facility_rent_unused", title, parts, "mid", rows.content.currency)


def _bridging(rows: Rows, time: Clock) -> None:
    """Append rent and fuel of generation on site."""
    plants = rows.content.frame("bridging", ["site", "generator", "period", "kw", "kwh"])
    if plants.empty:
        return
    rows.title("Generation on site")
    tails = rows.content.frame("bridge_tails", ["site", "generator", "period", "kw", "months"])
    owed = tails.assign(kw_months=tails["kw"] * tails["months"])
    rent, fuel = "rent_per_kw_month", "fuel_per_kwh"
    held = _plants(rows, plants, "kw", "Generators rented", "kW", rent)
    left = _plants(rows, owed, "kw_months", "Given back, owed to the end of the term", "kW-months", rent)
    made = _plants(rows, plants, "kwh", "Generated on site", "kWh", fuel)
    parts = _below(rows, held, "Rent; column H: per kW-month", "kW x price x time", f"*{time.months.here}")
    parts += _below(rows, left, "Rent owed; column H: per kW-month", "kW-months x price")
    rows.line_total("bridge_rent", "Rent of generators", parts, "mid", rows.content.currency)
    burnt = _below(rows, made, "Fuel; column H: per kWh", "kWh x price")
    rows.line_total("bridge_fuel", "Fuel of generators", burnt, "mid", rows.content.currency)


def _plants(rows: Rows, frame: pd.DataFrame, value: str, label: str, unit: str, column: str) -> list[Priced]:
    """Append a quantity of each generator, and return it with its price."""
    names, found = list(rows.content.timeline.names), []
    for row in by_period(frame, ["site", "generator"], value, rows.content.timeline).to_dict("records"):
        site, name = str(row["site"]), str(row["generator"])
        amounts = np.array([row[period] for period in names], dtype=float)
        at = rows.plan_values(label, name, site, "bridging", unit, amounts, total=False)
        price = rows.inputs.money("bridging_power", [site, name], column) or 0.0
        found.append((name, site, at, price))
    return found


def provisioned_kw(rows: Rows, fleet: pd.DataFrame) -> pd.Series:
    """Return provisioned kW per unit: the fleet's own column, else the product's (blank: nameplate)."""
    if "provisioned_kw" in fleet:
        return fleet["provisioned_kw"]
    products = rows.content.table("products").set_index("product")
    return fleet["product"].map(products["provisioned_kw"].fillna(products["nameplate_kw"]))


def staff_price(rows: Rows, site: str) -> str | None:
    """Return the formula of staff cost per kW-year, None where the site states none."""
    stated = [rows.inputs.number("sites", [site], name) for name in ("staff_per_mw", "staff_cost_per_year")]
    if np.isnan(stated).any():
        return None
    people = rows.inputs.cell("sites", [site], "staff_per_mw")
    return f"{people}/{rows.inputs.kw_per_mw()}*{rows.inputs.money('sites', [site], 'staff_cost_per_year')}"


def _per_kw(
    rows: Rows,
    provisioned: dict[str, At],
    prices: dict[str, str | None],
    line: str,
    title: str,
    unit: str,
    length: At,
    levels: dict[str, At] | None = None,
) -> None:
    charged = {site: price for site, price in prices.items() if price}
    if not charged:
        return
    risen = {site: f"*{level.here}" for site, level in (levels or {}).items()}
    parts = [
        rows.formula(
            f"{title}; column H: {unit}",
            "",
            site,
            "kW x price x time",
            rows.content.currency,
            f"{provisioned[site].here}*{{H}}*{length.here}{risen.get(site, '')}",
            price,
            constant_form="#,##0.00",
        )
        for site, price in charged.items()
    ]
    rows.line_total(line, title, parts, "mid", rows.content.currency)


def _open(rows: Rows, time: Clock) -> None:
    opened = rows.content.frame("sites", ["site", "period", "open"])
    known = opened.assign(share=open_share(opened))
    wide = by_period(known, ["site"], "share", rows.content.timeline)
    states = dict(
        zip(wide["site"].astype(str), wide[list(rows.content.timeline.names)].to_numpy(float), strict=True)
    )
    states = {site: state for site, state in states.items() if state.any()}
    once = {site: rows.inputs.money("sites", [site], "opening_cost") for site in states}
    yearly: dict[str, str | float | None] = {
        site: rows.inputs.money("sites", [site], "fixed_cost_per_year") for site in states
    }
    monthly: dict[str, str | float | None] = {
        site: fixed_charge(rows, site, state) for site, state in states.items()
    }
    _opening(rows, states, {site: price for site, price in once.items() if price})
    flags = _open_flags(rows, states, [site for site in states if yearly[site] or monthly[site]])
    _while_open(rows, flags, yearly, "site_fixed", "Fixed cost of open sites", "per year", time.years)
    _while_open(rows, flags, monthly, "tariff_fixed", "Fixed electricity charges", "per month", time.months)
    _uneven_fixed(rows, [site for site in states if not monthly[site]])


def open_share(sites: pd.DataFrame) -> pd.Series:
    """Return 1 where a site is open and 0 where not; a share where the plan is a linear relaxation."""
    if "open_fraction" in sites:
        return sites["open_fraction"].astype(float)
    return sites["open"].map(truth).astype(float)


def _opening(rows: Rows, states: dict[str, np.ndarray], prices: dict[str, str]) -> None:
    if not prices:
        return
    rows.title("Opening of sites")
    change = {
        site: rows.plan_values(
            "Site opens",
            "",
            site,
            "sites",
            "flag",
            np.maximum(np.diff(states[site], prepend=0.0), 0.0),
            "0",
            total=False,
        )
        for site in prices
    }
    parts = [
        rows.formula(
            "Opening; column H: once",
            "",
            site,
            "flag x price",
            rows.content.currency,
            f"{change[site].here}*{{H}}",
            price,
        )
        for site, price in prices.items()
    ]
    rows.line_total("site_opening", "Opening of sites", parts, "start", rows.content.currency)


def _open_flags(rows: Rows, states: dict[str, np.ndarray], sites: list[str]) -> dict[str, At]:
    if sites:
        rows.title("Open sites")
    return {
        site: rows.plan_values("Site is open", "", site, "sites", "flag", states[site], "0", total=False)
        for site in sites
    }


def _while_open(
    rows: Rows,
    flags: dict[str, At],
    prices: dict[str, str | float | None],
    line: str,
    title: str,
    unit: str,
    length: At,
) -> None:
    charged = {site: price for site, price in prices.items() if price and site in flags}
    if not charged:
        return
    parts = [
        rows.formula(
            f"{title}; column H: {unit}",
            "",
            site,
            "flag x price x time",
            rows.content.currency,
            f"{flags[site].here}*{{H}}*{length.here}",
            price,
            constant_form="#,##0.00",
        )
        for site, price in charged.items()
    ]
    rows.line_total(line, title, parts, "mid", rows.content.currency)


def _uneven_fixed(rows: Rows, sites: list[str]) -> None:
    """Append fixed charges that differ from month to month (by season, date or day) as the plan has them."""
    costs = rows.content.frame("costs", ["line", "site", "period", "amount"])
    billed = costs[(costs["line"] == "tariff_fixed") & costs["site"].astype(str).isin(sites)]
    wide = by_period(billed, ["site"], "amount", rows.content.timeline)
    if wide.empty:
        return
    currency, title = rows.content.currency, "Fixed electricity charges by month"
    rows.title(title)
    amounts = wide[list(rows.content.timeline.names)].to_numpy(float)
    parts = [
        rows.plan_values("Amount as planned", "", str(site), "costs", currency, amount)
        for site, amount in zip(wide["site"], amounts, strict=True)
    ]
    rows.line_total("tariff_fixed", title, parts, "mid", currency, at_today=False)


def fixed_charge(rows: Rows, site: str, state: np.ndarray) -> float | None:
    """Return the fixed electricity charge per open month with levies, None without or where months differ."""
    costs = rows.content.frame("costs", ["line", "site", "period", "amount"])
    own = costs[(costs["line"] == "tariff_fixed") & (costs["site"].astype(str) == site)]
    by_name = own.groupby("period")["amount"].sum()
    amounts = by_name.reindex(list(rows.content.timeline.names)).fillna(0.0).to_numpy(float)
    open_months = state * rows.content.timeline.months
    if not np.allclose(amounts * open_months.sum(), amounts.sum() * open_months, rtol=1e-9, atol=1e-9):
        return None
    costs = rows.content.frame("costs", ["line", "site", "amount"])
    billed = costs[(costs["line"] == "tariff_fixed") & (costs["site"].astype(str) == site)]["amount"].sum()
    months = float((state * rows.content.timeline.months).sum())
    return float(billed) / months if billed and months else None
