"""How cost that several business lines cause together is split between them beforehand."""

from __future__ import annotations

import pandas as pd

from planner.coefficients.bundle import Coefficients


def forecast_share(c: Coefficients) -> pd.DataFrame:
    """Return business, period, share_fraction: a business line's part of the forecast of a period.

    Counted in effective tokens at reference yield (success x quality), so that it depends on what is asked for, not on
    what the plan does: a limit by business stays linear.
    """
    mean = (
        (c.shapes["share_fraction"] * c.shapes["reference_mtok_per_request"])
        .groupby(c.shapes["workload"])
        .sum()
    )
    asked = c.demand.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    asked = asked.assign(
        business=asked["workload"].map(c.workloads["business"]),
        mtok=asked["requests_per_s"] * asked["hours"] * asked["workload"].map(mean).astype(float),
    )
    table = asked.groupby(["business", "period"], sort=False, as_index=False)["mtok"].sum()
    table["whole"] = table.groupby("period")["mtok"].transform("sum")
    # Divided after the rows are chosen: a table without rows would take those of the numbers given to it.
    asked_for = table[table["whole"] > 0]
    return asked_for.assign(share_fraction=asked_for["mtok"] / asked_for["whole"])[
        ["business", "period", "share_fraction"]
    ]
