"""Limits of orders that may give way: supply, terms of an offer, shares of vendors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from planner.coefficients.orders.purchase_policy import ORDER
from planner.pipeline.clash import Clash
from planner.pipeline.diagnosis_cells import Change, at_most, enough, largest, row_of
from planner.pipeline.diagnosis_limit import changed_cell


def more_supply(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Raise the units a vendor confirms: of the period where ``supply`` states them, else of every period."""
    changes = []
    key = ["offer", "period"]
    known = clash.coefficients.supply[[*key, "units"]]
    limits = rows.drop(columns=["units"], errors="ignore").merge(known, on=key)
    for (offer, period), part in limits.groupby(key, sort=False):
        named = ("vendor supply", str(offer), "units")
        needed = enough(float(part["units"].max() + part["shortfall"].max()), whole=True)
        row = row_of(clash.scenario, "supply", offer=offer, period=period)
        if row is not None:
            changes.append(changed_cell(clash, part, ("supply", row, "units"), needed, named))
            continue
        row = row_of(clash.scenario, "offers", offer=offer)
        if row is not None:
            cell = ("offers", row, "supply_units_per_period")
            changes.append(changed_cell(clash, part, cell, needed, named))
    return largest(changes)


def is_confirmed(clash: Clash, labels: pd.DataFrame) -> np.ndarray:
    """Return where what an order can be good for is what the vendor confirms."""
    limited = pd.MultiIndex.from_frame(clash.coefficients.supply[["offer", "period"]])
    return np.asarray(pd.MultiIndex.from_frame(labels[["offer", "period"]]).isin(limited))


def smaller_order(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let the smallest order be what the plan orders."""
    changes = []
    for offer, part in rows.groupby("offer", sort=False):
        row = row_of(clash.scenario, "offers", offer=offer)
        if row is None:
            continue
        had = float(row["minimum_order_units"])
        new = at_most(had - float(part["shortfall"].max()), whole=True)
        named = ("smallest order", str(offer), "units")
        cell = ("offers", row, "minimum_order_units")
        change = changed_cell(clash, part, cell, new if new >= 1 else None, named)
        changes.append(replace(change, amount=had - new))
    return changes


def no_lots(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let an offer be sold by the unit."""
    changes = []
    for offer, part in rows.groupby("offer", sort=False):
        row = row_of(clash.scenario, "offers", offer=offer)
        if row is not None:
            named = ("whole lots", str(offer), "units")
            change = changed_cell(clash, part, ("offers", row, "order_multiple_units"), None, named)
            amount = float(row["order_multiple_units"]) - 1.0
            changes.append(replace(change, amount=amount, note="sold by the unit"))
    return changes


def fewer_sources(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Ask for fewer sources; with one left the second source goes, and a largest share stands in its place."""
    changes = []
    for limit, part in rows.groupby("limit", sort=False):
        row = row_of(clash.scenario, "concentration", limit=limit)
        if row is None:
            continue
        had = float(row["min_count"])
        left = np.floor(had - float(part["shortfall"].max()) + 1e-6)
        named = ("sources to order from", str(limit), "sources")
        changes.append(
            changed_cell(clash, part, ("concentration", row, "min_count"), left if left >= 2 else None, named)
        )
        changes[-1] = replace(changes[-1], amount=had - max(left, 1.0))
        if left < 2:
            changes += _without_second_source(clash, part, row, named)
    return changes


def _without_second_source(
    clash: Clash, part: pd.DataFrame, row: pd.Series, named: tuple[str, str, str]
) -> list[Change]:
    """Return what a limit without a count needs to stay a legal row."""
    changes = []
    if pd.notna(row["min_fraction"]):
        changes.append(changed_cell(clash, part, ("concentration", row, "min_fraction"), None, named))
    if pd.isna(row["max_fraction"]):
        changes.append(changed_cell(clash, part, ("concentration", row, "max_fraction"), 1.0, named))
    return [replace(change, amount=0.0) for change in changes]


def smaller_share(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let the least share of a source be that of the smallest one the plan orders from."""
    changes = []
    for limit, part in rows.groupby("limit", sort=False):
        row = row_of(clash.scenario, "concentration", limit=limit)
        if row is not None:
            shares = _shares(clash, clash.coefficients.sources, str(limit), values)
            least = at_most(float(shares[shares > 0].min())) if (shares > 0).any() else 0.0
            named = ("share of a second source", str(limit), "fraction")
            changes.append(changed_cell(clash, part, ("concentration", row, "min_fraction"), least, named))
    return changes


def larger_share(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let the largest share be the largest one the plan has."""
    changes = []
    for limit, part in rows.groupby("limit", sort=False):
        row = row_of(clash.scenario, "concentration", limit=limit)
        if row is not None:
            shares = _shares(clash, clash.coefficients.concentration, str(limit), values)
            most = min(enough(float(shares.max())), 1.0) if len(shares) else 1.0
            most = most if most > float(row["max_fraction"]) else 1.0
            groups = ", ".join(dict.fromkeys(part["group"].astype(str)))
            named = ("largest share in what is ordered", f"{limit}: {groups}", "fraction")
            changes.append(changed_cell(clash, part, ("concentration", row, "max_fraction"), most, named))
    return changes


def _shares(clash: Clash, weights: pd.DataFrame, limit: str, values: np.ndarray) -> pd.Series:
    """Return the share of each vendor (country, chip, product) in what a plan orders under a limit."""
    ordered = clash.values_of("order", values)
    own = weights[weights["limit"] == limit].merge(ordered[[*ORDER, "value"]], on=ORDER)
    weight = (own["weight"].astype(float) * own["value"]).groupby(own["group"]).sum()
    return weight / weight.sum() if weight.sum() > 0 else weight.iloc[:0]


def heaviest_weight(clash: Clash) -> float:
    """Return what the heaviest few units weigh under a limit on shares: what a relief of it is relative to."""
    weights = clash.coefficients.concentration["weight"].astype(float)
    return 10.0 * max(float(weights.abs().max()) if len(weights) else 1.0, 1.0)
