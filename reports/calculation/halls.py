"""Rows of hall capacity that is built: building, cooling plant, upkeep, and its value at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from reports import styles
from reports.calculation.residual import sinking_fund
from reports.calculation.rows import At, Rows
from reports.calculation.timeline_rows import Clock
from reports.content import by_period

Place = tuple[str, str]
"""Site and cooling option."""


def hall_rows(rows: Rows, time: Clock) -> None:
    """Append the rows of halls and cooling plant that the plan builds."""
    _retrofits(rows, time)
    build = rows.content.frame("build", ["site", "cooling", "period", "kw"])
    if build.empty:
        return
    rows.title("Hall capacity and cooling plant")
    wide = by_period(build, ["site", "cooling"], "kw", rows.content.timeline)
    places = list(zip(wide["site"].astype(str), wide["cooling"].astype(str), strict=True))
    values = wide[list(rows.content.timeline.names)].to_numpy(float)
    built = {
        place: rows.plan_values("Hall capacity ordered", place[1], place[0], "build", "kW IT", kw)
        for place, kw in zip(places, values, strict=True)
    }
    shell = _priced(
        rows,
        built,
        "Building; column H: per kW",
        lambda place: _shell_price(rows, place),
    )
    if shell:
        rows.line_total(
            "facility_build", "Building and power train", list(shell.values()), "start", rows.content.currency
        )
    plant = _priced(rows, built, "Cooling plant; column H: per kW", lambda place: plant_price(rows, place))
    if plant:
        rows.line_total(
            "cooling_build", "Cooling plant", list(plant.values()), "start", rows.content.currency
        )
    _hall_residual(rows, time, built, shell, plant)
    _plant_upkeep(rows, time, dict(zip(places, values, strict=True)))


def _retrofits(rows: Rows, time: Clock) -> None:
    """Append the rows of halls whose cooling is changed: price, upkeep once done, value at the end."""
    key = ["site", "from_cooling", "cooling"]
    changed = rows.content.frame("retrofits", [*key, "period", "kw"])
    if changed.empty:
        return
    rows.title("Halls changed to another cooling")
    found = []
    for row in by_period(changed, key, "kw", rows.content.timeline).to_dict("records"):
        site, start, end = (str(row[name]) for name in key)
        own = rows.inputs.cell("hall_retrofits", [site, start, end], "capex_per_kw")
        if own is None:
            continue
        sites = rows.content.table("sites")
        price = own + rows.inputs.exchange(sites.loc[sites["site"] == site, "currency"].astype(str).iloc[0])
        kw = np.array([row[name] for name in rows.content.timeline.names], dtype=float)
        way = f"{start} to {end}"
        at = rows.plan_values("Hall capacity changed", way, site, "retrofits", "kW IT", kw)
        found.append(_Change([site, start, end], way, kw, price, at))
    currency = rows.content.currency
    label, basis = "Retrofit; column H: per kW", "kW x price"
    paid = [
        rows.formula(
            label, change.way, change.key[0], basis, currency, f"{change.at.here}*{{H}}", change.price
        )
        for change in found
    ]
    if paid:
        rows.line_total("hall_retrofit", "Retrofit of halls", paid, "start", currency)
    upkeep = _retrofit_upkeep(rows, time, found)
    if upkeep:
        rows.line_total("cooling_maintenance", "Upkeep of retrofits", upkeep, "mid", currency)
    residual = _retrofit_residual(rows, time, found, paid)
    if residual:
        rows.line_total("facility_residual", "Residual value of retrofits", residual, "end", currency)


@dataclass(frozen=True)
class _Change:
    """One retrofit: its key in hall_retrofits, its name, kW by period, price per kW, and the row of its kW."""

    key: list[str]
    way: str
    kw: np.ndarray
    price: str
    at: At


def _done(rows: Rows, change: _Change) -> np.ndarray:
    """Return the period from which a change ordered in each period is back in service."""
    stated = [
        rows.inputs.number("hall_retrofits", change.key, name) for name in ("lead_weeks", "downtime_weeks")
    ]
    start = rows.content.timeline.start_weeks
    return np.searchsorted(start, start + float(np.nansum(stated)) - 1e-9, side="left")


def _retrofit_upkeep(rows: Rows, time: Clock, changes: list[_Change]) -> list[At]:
    kept = []
    for change in changes:
        share = rows.inputs.cell("hall_retrofits", change.key, "maintenance_fraction_per_year")
        if share is None:
            continue
        total = np.zeros(rows.periods)
        for index, first in enumerate(_done(rows, change)):
            total[first:] += change.kw[index]
        label, site = "Changed and in service", change.key[0]
        at = rows.plan_values(label, change.way, site, "retrofits", "kW IT", total, total=False)
        kept.append((change, at, share))
    return [
        rows.formula(
            "Upkeep of the retrofit; column H: per kW-year",
            change.way,
            change.key[0],
            "kW x price x share x years",
            rows.content.currency,
            f"{at.here}*{{H}}*{time.years.here}",
            f"{change.price}*{share}",
            constant_form="#,##0.00",
        )
        for change, at, share in kept
    ]


def _retrofit_residual(rows: Rows, time: Clock, changes: list[_Change], paid: list[At]) -> list[At]:
    if rows.content.settings.get("residual_method") == "none":
        return []
    timeline, valued = rows.content.timeline, []
    for change, spent in zip(changes, paid, strict=True):
        life = rows.inputs.cell("hall_retrofits", change.key, "life_years")
        if life is None:
            continue
        ages = (
            timeline.end_years[-1] - timeline.start_years[np.minimum(_done(rows, change), rows.periods - 1)]
        )
        label, site = "Age of the retrofit at the end", change.key[0]
        age = rows.plan_values(label, change.way, site, "years", "years", ages, "0.00", total=False)
        share = rows.formula(
            "Value left; column H: life in years",
            change.way,
            site,
            "sinking fund",
            "fraction",
            sinking_fund(time.rate, age.here, "{H}"),
            life,
            styles.PERCENT_PLAIN,
            "0.0",
        )
        valued.append((change, f"-{time.last.here}*SUMPRODUCT({spent.across},{share.across})"))
    currency, basis = rows.content.currency, "price x value left"
    return [
        rows.formula("Residual value", change.way, change.key[0], basis, currency, value)
        for change, value in valued
    ]


def _priced(
    rows: Rows, built: Mapping[Place, At], label: str, price: Callable[[Place], str | None]
) -> dict[Place, At]:
    prices = {place: price(place) for place in built}
    return {
        place: rows.formula(
            label,
            place[1],
            place[0],
            "kW x price",
            rows.content.currency,
            f"{at.here}*{{H}}",
            prices[place] or 0.0,
        )
        for place, at in built.items()
        if prices[place]
    }


def plant_price(rows: Rows, place: Place) -> str | None:
    """Return the price of cooling plant per kW: the site's own where it states one, else the option's."""
    own = rows.inputs.cell("facility_options", list(place), "capex_per_kw")
    if own is None:
        return rows.inputs.money("cooling", [place[1]], "capex_per_kw")
    sites = rows.content.table("sites")
    currency = sites.loc[sites["site"] == place[0], "currency"].astype(str).iloc[0]
    return own + rows.inputs.exchange(currency)


def _chain(rows: Rows, cooling: str) -> str | None:
    """Return the power chain of a cooling option, None without one."""
    options = rows.content.table("cooling").set_index("cooling")
    name = options["power_chain"].get(cooling) if "power_chain" in options else None
    return None if name is None or name != name else str(name)


def _train_price(rows: Rows, place: Place) -> str | None:
    """Return the price per kW of the option's power chain over the one in the building's price."""
    chain = _chain(rows, place[1])
    return None if chain is None else rows.inputs.money("power_chains", [chain], "capex_per_kw")


def _shell_price(rows: Rows, place: Place) -> str | None:
    shell = rows.inputs.money("sites", [place[0]], "build_capex_per_kw")
    train = _train_price(rows, place)
    return shell if shell is None or train is None else f"({shell}+{train})"


def _kept_price(rows: Rows, place: Place) -> str | None:
    """Return yearly upkeep per kW of cooling plant and power chain."""
    share = rows.inputs.cell("cooling", [place[1]], "maintenance_fraction_per_year")
    plant, train, chain = plant_price(rows, place), _train_price(rows, place), _chain(rows, place[1])
    parts = [f"{plant}*{share}"] if plant and share else []
    if train and chain:
        kept = rows.inputs.cell("power_chains", [chain], "maintenance_fraction_per_year")
        parts += [f"{train}*{kept}"] if kept else []
    return "+".join(parts) or None


def _ready(rows: Rows, place: Place) -> np.ndarray:
    """Return the period from which a hall ordered in each period is ready (number of periods for never)."""
    timeline = rows.content.timeline
    chain = _chain(rows, place[1])
    stated = [rows.inputs.number("sites", [place[0]], "build_weeks")]
    stated += [rows.inputs.number("power_chains", [chain], "build_weeks")] if chain else []
    weeks = max(0.0, *(week for week in [*stated, 0.0] if not np.isnan(week)))
    start = timeline.start_weeks
    return np.searchsorted(start, start + weeks - 1e-9, side="left")


def _hall_residual(
    rows: Rows, time: Clock, built: Mapping[Place, At], shell: Mapping[Place, At], plant: Mapping[Place, At]
) -> None:
    if rows.content.settings.get("residual_method") == "none":
        return
    timeline = rows.content.timeline
    lives = {place: rows.inputs.cell("sites", [place[0]], "build_life_years") for place in built}
    valued = [place for place in built if lives[place] and (place in shell or place in plant)]
    if not valued:
        return
    shares = {}
    for place in valued:
        ready = np.minimum(_ready(rows, place), rows.periods - 1)
        ages = timeline.end_years[-1] - timeline.start_years[ready]
        age = rows.plan_values(
            "Age at the end of halls ordered", place[1], place[0], "years", "years", ages, "0.00", total=False
        )
        shares[place] = rows.formula(
            "Value left; column H: life in years",
            place[1],
            place[0],
            "sinking fund",
            "fraction",
            sinking_fund(time.rate, age.here, "{H}"),
            lives[place] or 1.0,
            styles.PERCENT_PLAIN,
            "0.0",
        )
    parts = [
        rows.formula(
            "Residual value",
            place[1],
            place[0],
            "price x value left",
            rows.content.currency,
            f"-{time.last.here}*("
            + "+".join(
                f"SUMPRODUCT({kind[place].across},{shares[place].across})"
                for kind in (shell, plant)
                if place in kind
            )
            + ")",
        )
        for place in valued
    ]
    rows.line_total("facility_residual", "Residual value of halls", parts, "end", rows.content.currency)


def _plant_upkeep(rows: Rows, time: Clock, ordered: dict[tuple[str, str], np.ndarray]) -> None:
    prices = {place: _kept_price(rows, place) for place in ordered}
    charged = {place: price for place, price in prices.items() if price}
    if not charged:
        return
    kept = {}
    for place in charged:
        ready, total = _ready(rows, place), np.zeros(rows.periods)
        for index, kw in enumerate(ordered[place]):
            total[ready[index] :] += kw
        kept[place] = rows.plan_values(
            "Plant in service", place[1], place[0], "build", "kW IT", total, total=False
        )
    parts = [
        rows.formula(
            "Upkeep of plant and power chain; column H: per kW-year",
            place[1],
            place[0],
            "kW x price x share x years",
            rows.content.currency,
            f"{kept[place].here}*{{H}}*{time.years.here}",
            price,
            constant_form="#,##0.00",
        )
        for place, price in charged.items()
    ]
    rows.line_total(
        "cooling_maintenance", "Upkeep of cooling and power chains", parts, "mid", rows.content.currency
    )
