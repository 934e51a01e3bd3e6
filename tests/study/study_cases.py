"""A tiny scenario for many solves: a hall that buys boxes or a cloud that rents them, one quarter."""

from __future__ import annotations

from small_scenarios import cloud, demand, energy, hall, purchase, quarters, rental, stated

from planner.pipeline import RunOptions
from planner.study import Base

PRICE = "offers[mode=purchase].price*="
RELAXED = RunOptions(relax=True)


def tiny(**settings) -> Base:
    """Return ten requests/s for a quarter on boxes of one request/s at 10 kW: bought at 100,000, rented at 20."""
    return Base.of_tables(
        *stated(
            {
                "periods": quarters(1),
                "sites": [hall(), cloud()],
                "offers": [purchase(), rental()],
                "demand": demand(["2027-Q1"], 10.0),
                "tariffs": [energy(price=0.1)],
            },
            **settings,
        ),
        catalog=False,
    )
