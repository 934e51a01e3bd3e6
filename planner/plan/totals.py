"""Totals that metrics, headline and waterfall are made of: tokens, accounting cost, unit-hours held."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.tables.cost_lines import DECLARED
from planner.units import SECONDS_PER_HOUR


def token_frame(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return workload, period, effective_mtok, its discounted value, generated_mtok, input_mtok, served_fraction."""
    key = ["workload", "period"]
    counted = [*key, "effective_mtok", "generated_mtok"]
    made = pd.concat([frames["serving"][counted], frames["api"][counted]], ignore_index=True)
    # Without a unit running or a service used the stacked columns would be objects.
    made = made.astype(dict.fromkeys(counted[2:], float)).groupby(key, sort=False)[counted[2:]].sum()
    sent_on = [*key, "shape", "block", "requests_per_s"]
    flows = pd.concat([frames["flows"][sent_on], frames["api"][sent_on]], ignore_index=True)
    flows = flows.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    flows = flows.merge(c.shapes[["workload", "shape", "input_mtok_per_request"]], on=["workload", "shape"])
    requests = flows["requests_per_s"] * flows["hours"] * SECONDS_PER_HOUR
    sent = flows.assign(input_mtok=requests * flows["input_mtok_per_request"], served=requests)
    sent = sent.groupby(key, sort=False)[["input_mtok", "served"]].sum()
    asked = c.demand.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    asked = (
        asked.assign(asked=asked["requests_per_s"] * asked["hours"] * SECONDS_PER_HOUR)
        .groupby(key, sort=False)[["asked"]]
        .sum()
    )
    table = asked.join(sent).join(made).fillna(0.0).reset_index()
    factor = table["period"].map(c.periods["discount_mid"])
    return table.assign(
        effective_mtok_discounted=table["effective_mtok"] * factor,
        served_fraction=np.divide(
            table["served"], table["asked"], out=np.ones(len(table)), where=table["asked"].to_numpy() > 0
        ),
    )[
        [
            *key,
            "effective_mtok",
            "effective_mtok_discounted",
            "generated_mtok",
            "input_mtok",
            "served_fraction",
        ]
    ]


def accounting_cost(frames: Mapping[str, pd.DataFrame]) -> pd.Series:
    """Return the sources' cost by part: accelerator depreciation, electricity, staff, network (undiscounted).

    Depreciation is that of the accounting ledger: the price of bought units, by the method and life of their class,
    inside the horizon. The price of leases, reservations, rentals and API tokens stands beside it as the accelerators'
    own cost, what units taken out are sold for is taken off. Which line belongs to which part:
    ``planner/tables/cost_lines.py``.
    """
    lines = frames["costs"].groupby("line")["amount"].sum()
    books = frames["accounting"]
    price = books["category"].eq("depreciation") & books["line"].eq("hardware_purchase")
    depreciation = float(books.loc[price & books["use"].ne("after"), "amount"].sum())
    paid: dict[str, float] = {}
    for line in DECLARED:
        if line.unit_cost_part != "elsewhere":
            amount = float(lines.get(line.name, 0.0))
            paid[line.unit_cost_part] = paid.get(line.unit_cost_part, 0.0) + amount
    return pd.Series({"accelerator depreciation": depreciation, **paid})


def held_unit_hours(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return product, site, cooling, period, unit_hours: whole periods, and hour by hour what is rented by the hour."""
    pool = ["product", "site", "cooling", "period"]
    fleet, hourly = frames["fleet"], frames["hourly_rent"]
    by_hour = pd.MultiIndex.from_frame(fleet[["offer", "site", "cooling", "period"]]).isin(
        pd.MultiIndex.from_frame(hourly[["offer", "site", "cooling", "period"]])
    )
    whole = fleet[~by_hour]
    whole = whole.assign(unit_hours=whole["units"] * whole["period"].map(c.periods["hours"]).astype(float))
    product = c.stands[["offer", "site", "cooling", "product"]]
    released = hourly.merge(product, on=["offer", "site", "cooling"]).merge(
        c.blocks[["period", "block", "hours"]], on=["period", "block"]
    )
    released = released.assign(unit_hours=released["units"] * released["hours"])
    both = pd.concat([whole[[*pool, "unit_hours"]], released[[*pool, "unit_hours"]]], ignore_index=True)
    return both.groupby(pool, sort=False, as_index=False)["unit_hours"].sum()
