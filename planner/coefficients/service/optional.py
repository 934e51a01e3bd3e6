"""What optional demand is worth that is not served."""

from __future__ import annotations

import pandas as pd

from planner.coefficients.payments import payment_rows
from planner.coefficients.service.serving import requests_in_block


def optional_value(
    demand: pd.DataFrame, shapes: pd.DataFrame, workloads: pd.DataFrame, blocks: pd.DataFrame
) -> pd.DataFrame:
    """Return the value of one request/s of optional demand left unserved in a block (a loss, kind ``value``).

    Valued at reference yield (success x quality), so that the worth of a request does not depend on what serves it.
    """
    optional = workloads[
        (workloads["must_serve_fraction"] < 1) & (workloads["value_per_mtok"].fillna(0.0) > 0)
    ]
    mean = (shapes["share_fraction"] * shapes["reference_mtok_per_request"]).groupby(shapes["workload"]).sum()
    table = demand[demand["workload"].isin(optional.index)].merge(
        blocks[["period", "block", "hours"]], on=["period", "block"]
    )
    worth = (
        table["workload"].map(mean)
        * table["workload"].map(workloads["value_per_mtok"])
        * requests_in_block(table["hours"])
    )
    return payment_rows(
        table,
        ["workload", "region", "period", "block"],
        "optional_demand_value",
        "value",
        "period",
        "mid",
        worth,
    )
