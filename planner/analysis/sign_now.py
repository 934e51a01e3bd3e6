"""The orders due, one row per offer: in which cases they stay, at which price, rate and delay they would not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from planner.analysis.answer import Answer
from planner.coefficients import Coefficients
from planner.coefficients.fleet import COMMITTED
from planner.plan.ledger import liability_after_horizon

SIGN_NOW = [
    "order_by_date",
    "offer",
    "vendor",
    "product",
    "mode",
    "period",
    "sites",
    "units",
    "cost",
    "in_service_date",
    "stays_in",
    "leaves_in",
    "break_even_price",
    "price_change_fraction",
    "tolerance_price",
    "leaves_above_price",
    "leaves_tolerance_price",
    "break_even_throughput_fraction",
    "throughput_reading",
    "break_even_delay_weeks",
    "delay_reading",
    "waiting_costs",
    "waiting_status",
    "waiting_change",
    "commitment_after_horizon",
]
FROM_BREAK_EVEN = {
    "break_even_price": "break_even_price",
    "price_change_fraction": "change_fraction",
    "tolerance_price": "tolerance_price",
    "leaves_above_price": "leaves_above_price",
    "leaves_tolerance_price": "leaves_tolerance_price",
}
"""Columns taken over from the table of break-even prices."""


@dataclass(frozen=True)
class Due:
    """Committed orders of one offer that are due.

    Attributes
    ----------
    offer, product, period
        What is ordered, in which period.
    orders
        Its rows of the plan's ``orders``, one per site and cooling.
    until
        Ordinal of the period.
    """

    offer: str
    product: str
    period: str
    orders: pd.DataFrame
    until: int

    @property
    def units(self) -> float:
        """Return the units over all sites."""
        return float(self.orders["units"].sum())


def due_orders(orders: pd.DataFrame, c: Coefficients) -> list[Due]:
    """Return the committed orders of the first period in which anything is committed to, by offer."""
    committed = orders[orders["mode"].isin(COMMITTED) & (orders["units"] > 0)]
    if committed.empty:
        return []
    ordinals = committed["period"].map(c.periods["ordinal"])
    first = committed[ordinals == ordinals.min()]
    return [
        Due(
            str(offer),
            str(group["product"].iloc[0]),
            str(group["period"].iloc[0]),
            group,
            int(ordinals.min()),
        )
        for offer, group in first.groupby("offer", sort=False)
    ]


def order_row(
    due: Due,
    c: Coefficients,
    answered: Mapping[str, Answer],
    even: pd.DataFrame,
    wait: Answer,
    limits: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the row of SIGN_NOW of one order.

    Parameters
    ----------
    answered
        Case -> its plan; ``as planned`` is the one compared with.
    even
        Break-even prices by offer.
    wait
        The plan in which the offer is not ordered in this period.
    limits
        Break-even throughput and delay with their readings.
    """
    orders, first, planned = due.orders, due.orders.iloc[0], answered["as planned"]
    stays = {
        name: found.units(due.offer, due.until, c.periods["ordinal"]) >= min(due.units, 1.0) - 1e-6
        for name, found in answered.items()
        if name != "as planned"
    }
    asked = even[even["offer"] == due.offer]
    return {
        "order_by_date": orders["order_by_date"].min(),
        "offer": due.offer,
        "vendor": first["vendor"],
        "product": due.product,
        "mode": first["mode"],
        "period": due.period,
        "sites": ", ".join(
            f"{site} {units:,.10g}" for site, units in orders.groupby("site")["units"].sum().items()
        ),
        "units": due.units,
        "cost": float(orders["cost"].sum()),
        "in_service_date": orders["in_service_date"].min(),
        "stays_in": ", ".join(name for name, kept in stays.items() if kept),
        "leaves_in": ", ".join(name for name, kept in stays.items() if not kept),
        **{
            name: asked[column].iloc[0] if len(asked) else float("nan")
            for name, column in FROM_BREAK_EVEN.items()
        },
        **limits,
        "waiting_costs": wait.cost - planned.cost,
        "waiting_status": wait.status,
        "waiting_change": wait.change_from(planned),
        "commitment_after_horizon": liability_after_horizon(c, orders),
    }
