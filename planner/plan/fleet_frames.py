"""What is ordered, rented, held and taken out again, as labelled frames."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import RENTED, STAND
from planner.coefficients.orders.prices import price_in_period
from planner.coefficients.orders.resale import RESOLD
from planner.formulation.blocks import ColumnIndex
from planner.inputs import Scenario
from planner.plan.decided import decided
from planner.plan.order_tiers import mean_discount
from planner.plan.schedule import deposit_share, order_dates


def order_frame(
    scenario: Scenario,
    c: Coefficients,
    columns: ColumnIndex,
    values: np.ndarray,
    tiers: pd.DataFrame,
    waiting: pd.DataFrame,
) -> pd.DataFrame:
    """Return orders and rentals, one row per offer, place and period: units, dates and the price after discounts.

    ``deposit_amount`` is what a purchase pays with the order; ``peak_units`` and ``unit_hours`` say of what is rented
    the most held at once and the hours paid for. ``waiting`` are the units that stand without power.
    """
    ordered = decided(columns, values, "order", "units").merge(
        c.orders, on=[*STAND, "period"], validate="one_to_one"
    )
    rented = [decided(columns, values, "rent", "units"), _hourly_peak(columns, values)]
    rented_frame = pd.concat(rented, ignore_index=True).assign(delay_weeks=0.0)
    rented_frame["in_service_period"] = rented_frame["period"]
    both = pd.concat([ordered, rented_frame], ignore_index=True)
    table = both.merge(c.stands, on=STAND, validate="many_to_one", suffixes=("", "_stand"))
    rank = table["in_service_period"].map(c.periods["ordinal"]) * len(c.periods)
    table = table.assign(order_rank=rank + table["period"].map(c.periods["ordinal"]))
    dates = order_dates(c, table, waiting)
    rents = table["mode"].isin(RENTED)
    hours = _unit_hours(c, columns, values)
    at = pd.MultiIndex.from_frame(table[[*STAND, "period"]])
    table = table.assign(
        **{name: dates[name] for name in dates.columns},
        peak_units=table["units"].where(rents),
        unit_hours=hours.reindex(at).to_numpy(float),
        unit_price=price_in_period(table, table["period"].map(c.periods["start_years"]))
        * (1.0 - mean_discount(table, tiers)),
        currency=scenario.settings.currency,
    )
    due = table["units"] * table["unit_price"] * deposit_share(table)
    table = table.assign(deposit_amount=due.where(table["deposit_date"].notna()))
    columns_kept = [
        "offer",
        "mode",
        "vendor",
        "product",
        "site",
        "cooling",
        "period",
        "units",
        "order_date",
        "order_by_date",
        "deposit_date",
        "deposit_amount",
        "delivery_date",
        "delivery_by_date",
        "vendor_delivery_date",
        "delivery_terms",
        "stored_units",
        "hall_ready_date",
        "power_ready_date",
        "in_service_date",
        "in_service_period",
        "peak_units",
        "unit_hours",
        "unit_price",
        "price_unit",
        "currency",
        "confidence",
        "source",
    ]
    order = {name: rank for rank, name in enumerate(c.periods.index)}
    table = table[columns_kept].sort_values(
        ["period", "site", "offer", "cooling"], key=lambda s: s.map(order) if s.name == "period" else s
    )
    return table.reset_index(drop=True)


def _unit_hours(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.Series:
    """Return the unit-hours of what is rented: each block's hours times the units held in it, or the period's."""
    whole = decided(columns, values, "rent", "units")
    hourly = decided(columns, values, "rent_hour", "units").merge(c.blocks, on=["period", "block"])
    whole = whole.assign(hours=whole["period"].map(c.periods["hours"]).astype(float))
    both = pd.concat([whole, hourly], ignore_index=True)
    return (both["units"] * both["hours"]).groupby([both[name] for name in [*STAND, "period"]]).sum()


def _hourly_peak(columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return units rented by the hour as one row per period: the most units held in any block."""
    hourly = decided(columns, values, "rent_hour", "units")
    return hourly.groupby([*STAND, "period"], as_index=False, sort=False)["units"].max()


def fleet_frame(
    c: Coefficients, columns: ColumnIndex, values: np.ndarray, serving: pd.DataFrame
) -> pd.DataFrame:
    """Return units held per period, place and offer, with their product, power, racks and the phase they serve."""
    held = pd.concat(
        [
            decided(columns, values, "installed", "units"),
            decided(columns, values, "rent", "units"),
            _hourly_peak(columns, values),
        ],
        ignore_index=True,
    )
    unit = c.stands[
        [
            *STAND,
            "product",
            "mode",
            "vendor",
            "includes",
            "provisioned_kw",
            "idle_kw",
            "racks",
            "availability_fraction",
        ]
    ]
    table = held.merge(unit, on=STAND, validate="many_to_one")
    phase = (
        serving.groupby(["period", "site", "cooling", "product"])["phase"]
        .agg(lambda phases: "+".join(sorted(set(phases))))
        .rename("phase")
        .reset_index()
    )
    table = table.merge(phase, on=["period", "site", "cooling", "product"], how="left")
    table["phase"] = table["phase"].fillna("idle")
    kept = [
        "period",
        "site",
        "cooling",
        "product",
        "offer",
        "mode",
        "vendor",
        "phase",
        "units",
        "includes",
        "provisioned_kw",
        "idle_kw",
        "racks",
        "availability_fraction",
    ]
    return table[kept]


def retirement_frame(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return the units of existing lots taken out at the start of a period, their age and what they bring."""
    out = decided(columns, values, "retire", "units").drop(columns="column")
    table = out.merge(c.retirable, on=[*STAND, "period"], validate="one_to_one")
    numbers = {name: table[name].astype(float) for name in ("units", "age_years", "value_per_unit")}
    labels = dict.fromkeys([*STAND, "period"], "str")
    return table.astype(labels).assign(**numbers, income=numbers["units"] * numbers["value_per_unit"])


def resale_frame(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return the units of orders taken out again at the start of a period, their age and what they bring."""
    out = decided(columns, values, "resold", "units").drop(columns="column")
    table = out.merge(c.resales, on=RESOLD, validate="one_to_one")
    numbers = {name: table[name].astype(float) for name in ("units", "age_years", "value_per_unit")}
    kept = c.costs["resold"]
    kept = kept[kept["line"] == "hardware_residual"].set_index(RESOLD)["amount"]
    forgone = kept.reindex(pd.MultiIndex.from_frame(table[RESOLD])).fillna(0.0).to_numpy(float)
    return table.astype(dict.fromkeys(RESOLD, "str")).assign(
        **numbers,
        income=numbers["units"] * numbers["value_per_unit"],
        residual_forgone=numbers["units"] * forgone,
    )
