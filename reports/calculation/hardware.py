"""Rows of hardware that is bought: purchase, installation, residual value and maintenance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from reports import styles
from reports.calculation.residual import residual_rows
from reports.calculation.rows import At, Rows
from reports.calculation.timeline_rows import Clock
from reports.content import by_period


def hardware_rows(rows: Rows, time: Clock) -> None:
    """Append all rows of hardware that the plan buys and keeps."""
    orders = rows.content.frame("orders", ["offer", "mode", "period", "units", "in_service_period"])
    bought = orders[orders["mode"] == "purchase"]
    if len(bought):
        costs = _purchase(rows, time, bought)
        _installation(rows, costs)
        residual_rows(rows, time, bought, costs)
    _maintenance(rows, time)


def trend_index(rows: Rows, time: Clock, offer: str, label: str) -> At | None:
    """Append the offer's price index by period, or return None for a price without a trend."""
    trend = rows.inputs.number("offers", [offer], "price_trend_fraction_per_year")
    if not trend or np.isnan(trend):
        return None
    cell = rows.inputs.cell("offers", [offer], "price_trend_fraction_per_year")
    formula = f"(1+{cell})^{time.start_years.here}"
    return rows.formula(label, offer, "", "(1 + trend) ^ years", "factor", formula, "", styles.FACTOR)


def quantity_factor(rows: Rows, offer: str) -> At | None:
    """Append the share of the price left by the tiers reached, by period of the order; None without any."""
    discount = order_discounts(rows, offer)
    if discount is None:
        return None
    orders = rows.content.frame("orders")
    own = orders[orders["offer"] == offer]
    units = own.groupby("period")["units"].sum()
    left = 1.0 - discount.groupby(level="period").sum() / units
    values = left.reindex(list(rows.content.timeline.names)).fillna(1.0)
    return rows.plan_values(
        "Price left by quantity tiers",
        offer,
        "all sites",
        "mean of the units ordered",
        "factor",
        values,
        styles.FACTOR,
        total=False,
    )


def order_discounts(rows: Rows, offer: str) -> pd.Series | None:
    """Return units x discount by (site, cooling, period) of an offer's orders at the price of a tier."""
    tiers = rows.content.frame(
        "order_tiers", ["offer", "site", "cooling", "period", "discount_fraction", "units"]
    )
    own = tiers[tiers["offer"] == offer]
    if own.empty:
        return None
    return (
        (own["units"] * own["discount_fraction"])
        .groupby([own[name] for name in ("site", "cooling", "period")])
        .sum()
    )


def times(at: At | None) -> str:
    """Return the formula piece that multiplies by a row of the same period; empty without a row."""
    return f"*{at.here}" if at is not None else ""


def _purchase(rows: Rows, time: Clock, bought: pd.DataFrame) -> dict[str, At]:
    rows.title("Hardware purchase")
    wide = by_period(bought, ["offer"], "units", rows.content.timeline)
    names, currency = list(rows.content.timeline.names), rows.content.currency
    units, index = {}, {}
    for offer, values in zip(wide["offer"], wide[names].to_numpy(float), strict=True):
        units[offer] = rows.plan_values(
            "Units ordered", offer, "all sites", "orders", "units", values, styles.COUNT
        )
    for offer in units:
        index[offer] = trend_index(rows, time, offer, "Price index at the order")
    earned = {offer: quantity_factor(rows, offer) for offer in units}
    costs = {
        offer: rows.formula(
            "Purchase; column H: unit price",
            offer,
            "all sites",
            "units x price x index",
            currency,
            f"{units[offer].here}*{{H}}{times(index[offer])}{times(earned[offer])}",
            offer_price(rows, offer) or 0.0,
        )
        for offer in units
    }
    if not term_stated(rows, costs, ("deposit_fraction", "delivery_fraction", "payment_term_days")):
        rows.line_total("hardware_purchase", "Hardware purchase", list(costs.values()), "start", currency)
    return costs


def offer_price(rows: Rows, offer: str) -> str | None:
    """Return the formula of an offer's price in the plan's currency, its contract discount taken off."""
    price = rows.inputs.money("offers", [offer], "price")
    discount = rows.inputs.number("offers", [offer], "contract_discount_fraction")
    if price is None or not discount or np.isnan(discount):
        return price
    return f"{price}*(1-{rows.inputs.cell('offers', [offer], 'contract_discount_fraction')})"


def term_stated(rows: Rows, offers: Iterable[str], columns: Sequence[str]) -> bool:
    """Return whether any of the offers states one of these terms: its cost line is then a value of the plan."""
    stated = [rows.inputs.number("offers", [offer], name) for offer in offers for name in columns]
    return any(value and not np.isnan(value) for value in stated)


def _installation(rows: Rows, costs: dict[str, At]) -> None:
    charged = {offer: rows.inputs.cell("offers", [offer], "installation_fraction") for offer in costs}
    charged = {offer: cell for offer, cell in charged.items() if cell}
    if not charged:
        return
    rows.title("Installation, freight and duty")
    parts = [
        rows.formula(
            "Installation; column H: share of price",
            offer,
            "all sites",
            "purchase x share",
            rows.content.currency,
            f"{costs[offer].here}*{{H}}",
            cell or 0.0,
            constant_form=styles.PERCENT_PLAIN,
        )
        for offer, cell in charged.items()
    ]
    orders = rows.content.frame("orders")
    leases = orders.loc[orders["mode"] == "lease", "offer"].astype(str).unique()
    if term_stated(rows, leases, ("installation_fraction",)):
        return
    rows.line_total("installation", "Installation, freight and duty", parts, "start", rows.content.currency)


def _maintenance(rows: Rows, time: Clock) -> None:
    fleet = own_hardware(rows)
    kept = by_period(
        fleet[fleet["mode"].isin(["purchase", "owned"])], ["product"], "units", rows.content.timeline
    )
    charged = {}
    for product, units in zip(
        kept["product"], kept[list(rows.content.timeline.names)].to_numpy(float), strict=True
    ):
        share = rows.inputs.number("products", [product], "maintenance_fraction_per_year")
        offer = cheapest_purchase(rows, product)
        if share and not np.isnan(share) and offer:
            charged[product] = (offer, units)
    if not charged:
        return
    rows.title("Maintenance")
    units_at = {
        product: rows.plan_values(
            "Units kept", product, "all sites", "fleet", "units", units, styles.COUNT, total=False
        )
        for product, (_, units) in charged.items()
    }
    parts = [
        rows.formula(
            "Maintenance; column H: per unit-year",
            product,
            "all sites",
            "units x price x share x years",
            rows.content.currency,
            f"{units_at[product].here}*{{H}}*{time.years.here}",
            _maintenance_price(rows, product, offer),
        )
        for product, (offer, _) in charged.items()
    ]
    bought = rows.content.frame("orders", ["offer", "mode"])
    bought = bought.loc[bought["mode"] == "purchase", "offer"].astype(str).unique()
    lots = rows.content.table("fleet")
    own_price = len(lots) and "purchase_price" in lots and lots["purchase_price"].notna().any()
    if own_price or term_stated(rows, bought, ("warranty_years",)):
        return
    rows.line_total("maintenance", "Maintenance", parts, "mid", rows.content.currency)


def _maintenance_price(rows: Rows, product: str, offer: str) -> str:
    share = rows.inputs.cell("products", [product], "maintenance_fraction_per_year")
    return f"{offer_price(rows, offer)}*{share}"


def own_hardware(rows: Rows) -> pd.DataFrame:
    """Return the fleet rows that stand in an own or colocation hall."""
    fleet = rows.content.frame("fleet", ["site", "cooling", "product", "offer", "mode", "period", "units"])
    if "includes" in fleet:
        return fleet[fleet["includes"] == "hardware"]
    sites = rows.content.table("sites")
    cloud = set(sites.loc[sites["kind"] == "cloud", "site"]) if len(sites) else set()
    return fleet[~fleet["site"].isin(cloud)]


def cheapest_purchase(rows: Rows, product: str) -> str:
    """Return the purchase offer with the lowest price: the base of maintenance."""
    offers = rows.content.table("offers")
    if offers.empty:
        return ""
    sold = offers[(offers["product"] == product) & (offers["mode"] == "purchase")]["offer"].astype(str)
    prices = {offer: contract_price(rows, offer) for offer in sold}
    return min(prices, key=lambda offer: prices[offer]) if prices else ""


def contract_price(rows: Rows, offer: str) -> float:
    """Return an offer's price in the plan's currency, its contract discount taken off."""
    discount = rows.inputs.number("offers", [offer], "contract_discount_fraction")
    return rows.inputs.price("offers", [offer], "price") * (1.0 - (0.0 if np.isnan(discount) else discount))
