"""Rented capacity whose supply nobody stated, or somebody only estimated: how much of it a plan leans on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import RENTED, supply_limits
from planner.inputs import Scenario

UNSTATED_SUPPLY = [
    "offer",
    "vendor",
    "product",
    "site",
    "mode",
    "depth",
    "peak_units",
    "peak_chips",
    "unit_hours",
    "amount",
    "payments_fraction",
    "unit_hours_fraction",
]
UNSTATED, ESTIMATE = "unstated", "estimate"
"""What is known of the supply of a period: nothing, or an estimate (``supply.confidence``)."""
MATERIAL_FRACTION = 0.05
"""Share of payments from which the plan warns: the 5 % rule of thumb for what is material in financial statements
(SEC Staff Accounting Bulletin 99)."""
NAMED = 3
"""Rows that the warning names; the frame has all."""


def unstated_supply_frame(
    scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Return UNSTATED_SUPPLY: on-demand and spot rentals in periods whose supply is not stated or only an estimate.

    Stated is what ``offers.supply_units_per_period``, a row of ``supply`` or a limit of ``vendor_capacity`` says; a row
    of ``supply`` with the confidence ``estimate`` is an estimate, whatever else is stated.
    One row per offer, site and depth, what is paid most for first:

    depth                ``unstated`` or ``estimate``
    peak_units           most units held at once
    unit_hours           unit-hours rented; unit_hours_fraction of all unit-hours in service
    amount               undiscounted rent; payments_fraction of all payments of the plan
    """
    orders = frames["orders"]
    at, dated = pd.MultiIndex.from_frame(orders[["offer", "period"]]), scenario.tables["supply"]
    known = pd.concat(
        [supply_limits(scenario, c.periods)[["offer", "period"]], c.vendor_capacity[["offer", "period"]]]
    )
    guessed = dated.loc[dated["confidence"].eq("estimate"), ["offer", "period"]]
    stated, estimated = (at.isin(pd.MultiIndex.from_frame(frame)) for frame in (known, guessed))
    orders = orders.assign(depth=np.where(estimated, ESTIMATE, UNSTATED))
    rented = orders[orders["mode"].isin(RENTED) & (estimated | ~stated)]
    key = UNSTATED_SUPPLY[:6]
    held = rented.groupby([*key, "period"], sort=False)[["peak_units", "unit_hours", "cost"]].sum()
    rows = held.groupby(level=key, sort=False).agg(
        peak_units=("peak_units", "max"), unit_hours=("unit_hours", "sum"), amount=("cost", "sum")
    )
    rows = rows.reset_index().sort_values("amount", ascending=False, kind="stable", ignore_index=True)
    chips = rows["product"].map(scenario.tables["products"].set_index("product")["chips_per_unit"])
    used, totals = frames["used_units"], frames["totals"]
    hours = used.loc[used["product"].notna(), "unit_hours"].sum()
    paid = totals.loc[totals["total"].eq("payments") & totals["site"].eq("all"), "amount"].sum()
    return rows.assign(
        peak_chips=rows["peak_units"] * chips.astype(float),
        payments_fraction=rows["amount"] / paid if paid else 0.0,
        unit_hours_fraction=rows["unit_hours"] / hours if hours else 0.0,
    )[UNSTATED_SUPPLY]


def supply_warnings(rows: pd.DataFrame) -> list[str]:
    """Return a sentence for each depth whose rentals are at least MATERIAL_FRACTION of payments."""
    return [text for depth in (UNSTATED, ESTIMATE) for text in _warned(rows[rows["depth"] == depth], depth)]


def _warned(rows: pd.DataFrame, depth: str) -> list[str]:
    share = float(rows["payments_fraction"].sum())
    if share < MATERIAL_FRACTION:
        return []
    what = "no supply is stated for" if depth == UNSTATED else "the supply is only an estimate of"
    do = "state offers.supply_units_per_period" if depth == UNSTATED else "have it confirmed"
    named = [
        f"up to {row.peak_units:,.0f} x {row.product} ({row.peak_chips:,.0f} accelerators) of {row.vendor} at "
        f"{row.site} (offer {row.offer!r})"
        for row in rows.head(NAMED).itertuples()
    ]
    more = [f"{len(rows) - NAMED} more"] if len(rows) > NAMED else []
    return [
        f"{share:.0%} of payments rent on demand or spot what {what}: {', '.join([*named, *more])}; "
        f"{do}, or see in planner decisions what half of it changes"
    ]
