"""Cost lines whose amounts the plan states by bearer, moved by the prices they are in proportion to.

A line that no group of rows computes from quantities stands here with its amounts as planned, each times the ratio of
its prices now to its prices as planned: a deposit, a commitment beyond the horizon or a tax follows its price.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from planner.tables.cost_lines import COST_LINE
from reports import styles
from reports.calculation.hardware import cheapest_purchase, offer_price
from reports.calculation.load import demand_change
from reports.calculation.rows import Rows, Timing
from reports.costs import counted, line_rank
from reports.labels import words

Labels = Mapping[str, str]
"""Offer, site and workload of a row of the ledger; empty where it has none."""
Prices = Callable[[Rows, Labels], list[str | None]]
"""Formulas of what a line is in proportion to."""


@dataclass(frozen=True)
class Driver:
    """What moves a cost line.

    Attributes
    ----------
    by
        Labels of the ledger that its rows are kept apart by.
    prices
        Prices and shares its amounts are in proportion to.
    """

    by: tuple[str, ...]
    prices: Prices


def _offer(*shares: str) -> Driver:
    def prices(rows: Rows, at: Labels) -> list[str | None]:
        return [
            _price(rows, at["offer"]),
            *(_share(rows, "offers", at["offer"], share) for share in shares),
        ]

    return Driver(("offer",), prices)


def _price(rows: Rows, offer: str) -> str | None:
    return offer_price(rows, offer) if rows.inputs.price("offers", [offer], "price") > 0 else None


def _share(rows: Rows, table: str, key: str, column: str) -> str | None:
    """Return the reference of an input that is not zero, which a ratio needs."""
    return rows.inputs.cell(table, [key], column) if rows.inputs.number(table, [key], column) > 0 else None


def _upkeep(*shares: str) -> Driver:
    """Return the driver of what is a share of the lowest purchase price of the product."""

    def prices(rows: Rows, at: Labels) -> list[str | None]:
        product = _product(rows, at["offer"])
        lowest = cheapest_purchase(rows, product)
        return [
            _price(rows, lowest) if lowest and not _stated_lots(rows) else None,
            *(_share(rows, "products", product, share) for share in shares),
        ]

    return Driver(("offer",), prices)


def _product(rows: Rows, offer: str) -> str:
    fleet = rows.content.frame("fleet", ["offer", "product"])
    own = fleet.loc[fleet["offer"].astype(str) == offer, "product"]
    return str(own.iloc[0]) if len(own) else ""


def _stated_lots(rows: Rows) -> bool:
    lots = rows.content.table("fleet")
    return bool(len(lots) and "purchase_price" in lots and lots["purchase_price"].notna().any())


def _setting(path: str, meaning: str, unit: str, key: str) -> Prices:
    def prices(rows: Rows, _: Labels) -> list[str | None]:
        value = float(rows.content.settings.get(key) or 0.0)
        return [rows.inputs.factor(path, meaning, unit, value, "", limits=(0.0, 10_000.0))] if value else []

    return prices


def _carbon(rows: Rows, at: Labels) -> list[str | None]:
    unit = f"{rows.content.currency}/t"
    path = "settings/carbon_price_per_t"
    return _setting(path, "price of one tonne of CO2", unit, "carbon_price_per_t")(rows, at)


def _tax(rows: Rows, at: Labels) -> list[str | None]:
    return [_share(rows, "sites", at["site"], "property_tax_fraction_per_year")]


def _contract(rows: Rows, at: Labels) -> list[str | None]:
    contracts = rows.content.table("ppas")
    own = contracts.loc[contracts["site"].astype(str) == at["site"], "ppa"].astype(str)
    if len(own) != 1 or not rows.inputs.number("ppas", [own.iloc[0]], "price_per_kwh"):
        return []
    return [rows.inputs.money("ppas", [own.iloc[0]], "price_per_kwh")]


def _incentive(rows: Rows, at: Labels) -> list[str | None]:
    found = rows.content.frame("incentives", ["incentive", "site", "amount"])
    own = found.loc[found["site"].astype(str) == at["site"], "incentive"].astype(str)
    return [rows.inputs.money("incentives", [own.iloc[0]], "amount")] if len(own) == 1 else []


def _nothing(rows: Rows, at: Labels) -> list[str | None]:
    return []


DRIVERS: Mapping[str, Driver] = {
    "hardware_purchase": _offer(),
    "installation": _offer("installation_fraction"),
    "freight": _offer("freight_fraction"),
    "duty": _offer("duty_fraction"),
    "tax": _offer("tax_fraction"),
    "lease": _offer(),
    "reserved_rent": _offer(),
    "prepaid_rent_left": _offer(),
    "commitment_after_horizon": _offer(),
    "on_demand_rent": _offer(),
    "spot_rent": _offer(),
    "maintenance": _upkeep("maintenance_fraction_per_year"),
    "spares": _upkeep("parts_fraction_per_failure", "failures_per_year"),
    "property_tax": Driver(("site",), _tax),
    "bridge_carbon": Driver(("site",), _carbon),
    "carbon": Driver(("site",), _carbon),
    "carbon_offset": Driver(("site",), _carbon),
    "incentive": Driver(("site",), _incentive),
    "ppa": Driver(("site",), _contract),
}
"""Cost line -> what moves it; any other line is moved by a price change of its own."""


def driver_of(line: str) -> Driver:
    """Return what moves a cost line: by its bearer, and by a price change only, where nothing is declared."""
    bearer = COST_LINE[line].borne_by
    return DRIVERS.get(line) or Driver(("offer" if bearer == "lot" else bearer,), _nothing)


def driven_rows(rows: Rows, timing_of: Callable[[pd.Series], Timing]) -> tuple[str, ...]:
    """Append every cost line that no other rows hold, and return their names.

    Parameters
    ----------
    timing_of
        When in its period a row of the ledger is paid.
    """
    costs = counted(rows.content)
    left = sorted(set(costs["line"]) - set(rows.lines), key=line_rank)
    for line in left:
        own = costs[costs["line"] == line]
        timings = own.apply(timing_of, axis=1)
        for timing in ("start", "mid", "end"):
            if (timings == timing).any():
                _line(rows, line, own[timings == timing], timing)
    return tuple(left)


def _line(rows: Rows, line: str, costs: pd.DataFrame, timing: Timing) -> None:
    driver, names = driver_of(line), list(rows.content.timeline.names)
    rows.title(words(line))
    labels = [costs[name].astype(str).replace({"nan": "", "None": ""}) for name in driver.by]
    stated = []
    for bearer, own in costs.groupby(labels, sort=False):
        key = bearer if isinstance(bearer, tuple) else (bearer,)
        at = dict.fromkeys(("offer", "site", "workload"), "") | dict(zip(driver.by, key, strict=True))
        amounts = own["amount"].astype(float).groupby(own["period"].astype(str)).sum()
        values: np.ndarray = amounts.reindex(names).fillna(0.0).to_numpy(float)
        item, place = at["offer"] or at["workload"], at["site"]
        currency = rows.content.currency
        planned = rows.plan_values("As planned", item, place, "costs", currency, values, styles.MONEY_PLAIN)
        stated.append((at, item, place, planned))
    parts = [
        rows.formula(
            f"{words(line)}; column H: prices now / as planned",
            item,
            place,
            "amount x price ratio",
            rows.content.currency,
            f"{planned.here}*{{H}}",
            _ratio(rows, line, at),
            constant_form=styles.FACTOR,
        )
        for at, item, place, planned in stated
    ]
    # Amounts as planned are at the prices of their periods already.
    rows.line_total(line, words(line), parts, timing, rows.content.currency, at_today=False)


def _ratio(rows: Rows, line: str, at: Labels) -> str:
    """Return the formula of the ratio of prices now to those planned with."""
    prices = [price for price in driver_of(line).prices(rows, at) if price]
    pieces = [f"{price}/({rows.inputs.planned(price)})" for price in prices]
    if at["workload"]:
        pieces.append(f"(1+{demand_change(rows, at['workload'])})")
    if not prices:
        bearer = " ".join(at[name] for name in ("offer", "site", "workload") if at[name])
        path = f"price change of {line.replace('_', ' ')} {bearer}".strip()
        change = rows.inputs.factor(path, "change of what the plan pays for it", "fraction", 0.0, "")
        pieces.append(f"(1+{change})")
    return "*".join(pieces)
