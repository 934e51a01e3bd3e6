"""Rows of the path to usable power: modules ordered, their value at the end, hardware that waits for power."""

from __future__ import annotations

import numpy as np

from reports import styles
from reports.calculation.halls import Place
from reports.calculation.hardware import cheapest_purchase
from reports.calculation.residual import sinking_fund
from reports.calculation.rows import At, Rows
from reports.calculation.timeline_rows import Clock
from reports.content import by_period


def energised_rows(rows: Rows, time: Clock) -> None:
    """Append the rows of modules that the plan orders and of units that stand without power."""
    _modules(rows, time)
    _waiting(rows, time)


def _modules(rows: Rows, time: Clock) -> None:
    modules = rows.content.frame("modules", ["site", "module", "period", "modules", "energised_period"])
    if modules.empty:
        return
    rows.title("Modules on the path to power")
    wide = by_period(modules, ["site", "module"], "modules", rows.content.timeline)
    places = list(zip(wide["site"].astype(str), wide["module"].astype(str), strict=True))
    values = wide[list(rows.content.timeline.names)].to_numpy(float)
    ordered = {
        place: rows.plan_values(
            "Modules ordered", place[1], place[0], "modules", "units", count, styles.COUNT
        )
        for place, count in zip(places, values, strict=True)
    }
    prices = {place: rows.inputs.money("site_modules", list(place), "cost") for place in ordered}
    paid = {
        place: rows.formula(
            "Modules; column H: price of one",
            place[1],
            place[0],
            "modules x price",
            rows.content.currency,
            f"{at.here}*{{H}}",
            prices[place] or 0.0,
        )
        for place, at in ordered.items()
        if prices[place]
    }
    if paid:
        rows.line_total(
            "site_module", "Modules on the path to power", list(paid.values()), "start", rows.content.currency
        )
    _module_residual(rows, time, paid)


def _module_residual(rows: Rows, time: Clock, paid: dict[Place, At]) -> None:
    lives = {place: rows.inputs.cell("site_modules", list(place), "life_years") for place in paid}
    valued = {place: life for place, life in lives.items() if life}
    if not valued or rows.content.settings.get("residual_method") == "none":
        return
    shares = {}
    for place, life in valued.items():
        age = rows.plan_values(
            "Age at the end of modules ordered",
            place[1],
            place[0],
            "years",
            "years",
            _ages(rows, place),
            "0.00",
            total=False,
        )
        shares[place] = rows.formula(
            "Value left; column H: life in years",
            place[1],
            place[0],
            "sinking fund",
            "fraction",
            sinking_fund(time.rate, age.here, "{H}"),
            life,
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
            f"-{time.last.here}*SUMPRODUCT({paid[place].across},{shares[place].across})",
        )
        for place in valued
    ]
    rows.line_total("site_module_residual", "Residual value of modules", parts, "end", rows.content.currency)


def _ages(rows: Rows, place: Place) -> np.ndarray:
    """Return years in use at the end of the horizon of modules ordered in each period (0 where none is)."""
    timeline = rows.content.timeline
    rank = {name: index for index, name in enumerate(timeline.names)}
    modules = rows.content.frame("modules", ["site", "module", "period", "energised_period"])
    own = modules[(modules["site"] == place[0]) & (modules["module"] == place[1])]
    ages = np.zeros(len(timeline.names))
    for ordered, used in zip(own["period"], own["energised_period"], strict=True):
        ages[rank[ordered]] = timeline.end_years[-1] - timeline.start_years[rank[used]]
    return ages


def _waiting(rows: Rows, time: Clock) -> None:
    waiting = rows.content.frame("unpowered", ["site", "product", "period", "units"])
    if waiting.empty:
        return
    wide = by_period(waiting, ["site", "product"], "units", rows.content.timeline)
    charged = {}
    for site, product, units in zip(
        wide["site"].astype(str),
        wide["product"].astype(str),
        wide[list(rows.content.timeline.names)].to_numpy(float),
        strict=True,
    ):
        share = rows.inputs.cell("sites", [site], "holding_fraction_per_year")
        offer = cheapest_purchase(rows, product)
        if share and offer:
            price = rows.inputs.money("offers", [offer], "price")
            charged[site, product] = (units, f"{price}*{share}")
    if not charged:
        return
    rows.title("Delivered, not powered")
    stock = {
        place: rows.plan_values(
            "Units without power", place[1], place[0], "unpowered", "units", units, styles.COUNT, total=False
        )
        for place, (units, _) in charged.items()
    }
    parts = [
        rows.formula(
            "Storage and insurance; column H: per unit-year",
            place[1],
            place[0],
            "units x price x share x years",
            rows.content.currency,
            f"{stock[place].here}*{{H}}*{time.years.here}",
            price,
        )
        for place, (_, price) in charged.items()
    ]
    rows.line_total("delivered_not_powered", "Delivered, not powered", parts, "mid", rows.content.currency)
