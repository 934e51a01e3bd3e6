"""The purchase schedule: every order and contract with its dates, its first payment and its whole value."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import COMMITTED, STAND
from planner.inputs import Scenario
from planner.plan.purchase_contracts import (
    earlier,
    energy_rows,
    first_deliveries,
    generator_rows,
    paid_on,
    rent_rows,
    token_rows,
)

KIND_LINES: Mapping[str, tuple[str, ...]] = {
    "hardware": (
        "hardware_purchase",
        "installation",
        "freight",
        "duty",
        "tax",
        "lease",
        "reserved_rent",
    ),
    "rental": ("on_demand_rent", "spot_rent"),
    "hall": ("facility_build",),
    "cooling": ("cooling_build",),
    "retrofit": ("hall_retrofit",),
    "power module": ("site_module",),
    "site opening": ("site_opening", "site_fixed"),
    "colocation": ("facility_rent", "facility_rent_unused"),
    "generator": ("bridge_rent", "bridge_fuel"),
    "energy contract": ("ppa",),
    "token service": ("api_tokens",),
}
"""Kind of row -> the cost lines whose payments its rows add up to."""

DATES = [
    "order_by_date",
    "deposit_date",
    "vendor_delivery_date",
    "delivery_date",
    "ready_date",
    "in_service_date",
]
AMOUNTS = [
    "quantity",
    "stored_units",
    "deposit_amount",
    "paid_in_horizon",
    "owed_after_horizon",
    "contract_value",
]
PURCHASES = [
    "kind",
    "item",
    "vendor",
    "site",
    "cooling",
    "period",
    "quantity",
    "quantity_unit",
    "order_by_date",
    "deposit_date",
    "deposit_amount",
    "vendor_delivery_date",
    "delivery_date",
    "stored_units",
    "ready_date",
    "in_service_date",
    "paid_in_horizon",
    "owed_after_horizon",
    "contract_value",
]


def purchase_frame(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return PURCHASES, one row per order or contract, by the last day to order.

    ``deposit_amount`` is due with the order; ``paid_in_horizon`` are all payments to the end of the horizon,
    ``owed_after_horizon`` those of its term after it, ``contract_value`` both, undiscounted. ``ready_date`` of hardware
    is the day by which hall and power must take it, of anything else the day it is ready. Halls, cooling, changes and
    modules are ordered on the first day of their period: what is installed in them is dated from that.
    ``vendor_delivery_date`` is the day a vendor of hardware could deliver, ``stored_units`` those that wait for power.
    """
    parts = [
        _hardware(frames),
        _built(c, frames),
        _retrofits(c, frames),
        _modules(c, frames),
        _openings(c, frames),
        rent_rows(scenario, c, frames),
        generator_rows(c, frames),
        energy_rows(scenario, c, frames),
        token_rows(scenario, c, frames),
    ]
    rows = [part.reindex(columns=PURCHASES) for part in parts if len(part)]
    table = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=PURCHASES)
    numbers = {name: table[name].astype(float).fillna(0.0) for name in AMOUNTS if name != "contract_value"}
    table = table.assign(**numbers)
    table["contract_value"] = table["paid_in_horizon"] + table["owed_after_horizon"]
    texts = [name for name in PURCHASES if name not in (*DATES, *AMOUNTS)]
    table = table.astype({**dict.fromkeys(DATES, "datetime64[ns]"), **dict.fromkeys(AMOUNTS, float)})
    table[texts] = table[texts].astype(object).fillna("").astype("str")
    return table.sort_values(["order_by_date", "kind", "site", "item"], kind="stable", ignore_index=True)


def _hardware(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    orders, owed = frames["orders"], frames["commitments"]
    key = [*STAND, "period"]
    later = owed.groupby(key)["owed_after_horizon"].sum() if len(owed) else pd.Series(dtype=float)
    label = pd.MultiIndex.from_frame(orders[key])
    left = later.reindex(label).to_numpy(float) if len(later) else 0.0
    kept = [*STAND[1:], "vendor", "period", "order_by_date", "deposit_date", "deposit_amount"]
    kept += ["vendor_delivery_date", "delivery_date", "stored_units", "in_service_date"]
    return orders[kept].assign(
        kind=["hardware" if mode in COMMITTED else "rental" for mode in orders["mode"]],
        item=orders["offer"],
        quantity=orders["units"],
        quantity_unit="units",
        ready_date=orders["power_ready_date"],
        paid_in_horizon=orders["cost"],
        owed_after_horizon=left,
    )


def _ordered_at_start(table: pd.DataFrame, c: Coefficients) -> pd.DataFrame:
    """Return the rows with the dates of what is ordered on the first day of its period and paid then."""
    day = table["period"].map(c.periods["start_date"])
    return table.assign(
        order_by_date=day,
        deposit_date=day,
        deposit_amount=table["paid_in_horizon"],
        delivery_date=table["ready_date"],
    )


def _built(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    build = frames["build"].merge(c.builds, on=["site", "cooling", "period"])
    serves = c.periods["start_date"].to_numpy()[build["in_service_ordinal"].to_numpy(int)]
    label = pd.MultiIndex.from_frame(build[["site", "cooling", "period"]])
    parts = []
    for kind, line in (("hall", "facility_build"), ("cooling", "cooling_build")):
        paid = paid_on(frames, line, "site", "cooling", "decided_period")
        amount = paid.reindex(label).fillna(0.0).to_numpy(float) if len(paid) else 0.0
        parts.append(
            build.assign(
                kind=kind,
                item=build["cooling"],
                quantity=build["kw"],
                quantity_unit="kW IT",
                in_service_date=serves,
                paid_in_horizon=amount,
            )
        )
    rows = pd.concat(parts, ignore_index=True)
    return _ordered_at_start(rows, c)


def _retrofits(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    key = ["site", "from_cooling", "cooling", "period"]
    rows = frames["retrofits"].merge(c.retrofits, on=key)
    serves = c.periods["start_date"].to_numpy()[rows["in_service_ordinal"].to_numpy(int)]
    return _ordered_at_start(
        rows.assign(
            kind="retrofit",
            item=rows["from_cooling"] + " to " + rows["cooling"],
            quantity=rows["kw"],
            quantity_unit="kW IT",
            in_service_date=serves,
            paid_in_horizon=rows["kw"] * rows["capex_per_kw"],
        ),
        c,
    )


def _modules(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    known = c.energised.modules[["site", "module", "period", "ready_date"]]
    rows = frames["modules"].merge(known, on=["site", "module", "period"])
    return _ordered_at_start(
        rows.assign(
            kind="power module",
            item=rows["module"],
            quantity=rows["modules"],
            quantity_unit="modules",
            in_service_date=rows["energised_date"],
            paid_in_horizon=rows["cost"],
        ),
        c,
    )


def _openings(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return a row per site that the plan opens at a cost: what opening costs, and its fixed costs from then on.

    It opens with its first period open, or with the first delivery there, whichever is earlier.
    """
    once, fixed = paid_on(frames, "site_opening", "site"), paid_on(frames, "site_fixed", "site")
    both = once.add(fixed, fill_value=0.0)
    state = frames["sites"]
    opened = state[(state["open_fraction"] > 1e-6) & state["site"].isin(both.index)]
    first = opened.drop_duplicates("site").set_index("site")["period"].reindex(both.index)
    day = earlier(first.map(c.periods["start_date"]), first_deliveries(frames))
    return pd.DataFrame(
        {
            "kind": "site opening",
            "item": both.index,
            "site": both.index,
            "period": first.to_numpy(),
            "quantity": 1.0,
            "quantity_unit": "site",
            "order_by_date": day.to_numpy(),
            "deposit_date": day.where(both.index.isin(once.index)).to_numpy(),
            "deposit_amount": once.reindex(both.index).to_numpy(float),
            "delivery_date": day.to_numpy(),
            "ready_date": day.to_numpy(),
            "in_service_date": day.to_numpy(),
            "paid_in_horizon": both.to_numpy(float),
        }
    )


__all__ = ["KIND_LINES", "PURCHASES", "purchase_frame"]
