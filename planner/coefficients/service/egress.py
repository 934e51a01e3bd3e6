"""What it costs to send answers from a site's region to its users."""

from __future__ import annotations

import pandas as pd

from planner.coefficients.money import currency_ratio
from planner.coefficients.payments import PAYMENT, payment_rows
from planner.coefficients.service.serving import requests_in_block
from planner.inputs import Scenario
from planner.units import BYTES_PER_GB

FLOW = ["workload", "shape", "region", "site", "period", "block"]


def egress_prices(scenario: Scenario) -> pd.DataFrame:
    """Return from_region, to_region, per_gb in the scenario's currency."""
    table = scenario.tables["egress_prices"]
    ratio = currency_ratio(scenario.tables["fx"], table["currency"], scenario.settings.currency)
    return table[["from_region", "to_region"]].assign(per_gb=table["price_per_gb"] * ratio)


def egress_costs(
    scenario: Scenario,
    routes: pd.DataFrame,
    demand: pd.DataFrame,
    shapes: pd.DataFrame,
    workloads: pd.DataFrame,
    blocks: pd.DataFrame,
) -> pd.DataFrame:
    """Return what one request/s on a route costs in a block: GB of its answers, retries included, at the route's price.

    price/GB x bytes/token x visible tokens x (1 + retries) x 3600 x hours / 1e9
    """
    empty = pd.DataFrame(columns=[*FLOW, *PAYMENT])
    sent = workloads["egress_bytes_per_token"].fillna(0.0)
    priced = routes[routes["workload"].map(sent) > 0]
    if priced.empty:
        return empty
    region = scenario.tables["sites"].set_index("site")["region"]
    ways = priced.assign(from_region=priced["site"].map(region), to_region=priced["region"])
    ways = ways.merge(egress_prices(scenario), on=["from_region", "to_region"])
    asked = demand[["workload", "region"]].drop_duplicates()
    rows = ways.merge(asked, on=["workload", "region"]).merge(
        shapes.loc[shapes["share_fraction"] > 0, ["workload", "shape", "output_tokens"]], on="workload"
    )
    # Deferred requests may be answered in any block: what no column of a flow matches is dropped later.
    rows = rows.merge(blocks[["period", "block", "hours"]], how="cross")
    attempts = 1.0 + rows["workload"].map(workloads["retry_fraction"])
    gb = rows["workload"].map(sent) * rows["output_tokens"] * attempts / BYTES_PER_GB
    amount = rows["per_gb"] * gb * requests_in_block(rows["hours"])
    table = payment_rows(rows, FLOW, "egress", "opex", "period", "mid", amount)
    return table.reset_index(drop=True)
