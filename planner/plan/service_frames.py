"""What serves the demand and where, as labelled frames."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.blocks import ColumnIndex
from planner.formulation.objective import api_tokens, run_tokens
from planner.formulation.service_constraints import sized_runs
from planner.plan.attribution import TOKENS, basis_of
from planner.plan.decided import decided


def serving_frame(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return units running by operating point, place, period and block, with the requests and tokens they serve."""
    running = decided(columns, values, "run", "units_running")
    caps = sized_runs(c, columns)[["column", "utilisation_cap_fraction"]]
    running = running.merge(caps, on="column", validate="one_to_one")
    tokens = run_tokens(c, columns).drop(
        columns=["point", "site", "cooling", "period", "block", "product", "workload", "shape", "phase"]
    )
    table = running.merge(tokens, on="column", validate="one_to_one")
    labels = c.runs[
        [
            "point",
            "site",
            "cooling",
            "workload",
            "shape",
            "ttft_class",
            "product",
            "phase",
            "peak_ratio",
            "added_kw",
        ]
    ]
    table = table.merge(labels, on=["point", "site", "cooling"], validate="many_to_one")
    busy = table["units_running"]
    # What has no lengths makes no tokens that anybody could count: its requests are its output.
    tokens = basis_of(c, table) == TOKENS
    made = table["effective_mtok"] * busy
    return table.assign(
        requests_per_s=table["requests_per_s"] * busy,
        effective_mtok=made.where(tokens, 0.0),
        generated_mtok=(table["generated_mtok"] * busy).where(tokens, 0.0),
        effective_mrequests=made.where(~tokens, 0.0),
    )[
        [
            "point",
            "workload",
            "shape",
            "ttft_class",
            "product",
            "phase",
            "site",
            "cooling",
            "period",
            "block",
            "hours",
            "units_running",
            "requests_per_s",
            "peak_ratio",
            "utilisation_cap_fraction",
            "added_kw",
            "effective_mtok",
            "generated_mtok",
            "effective_mrequests",
        ]
    ]


def api_frame(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return what is sent to token services by offer, workload, shape, region, block: rate, Mtok, cost, quality."""
    sent = decided(columns, values, "api", "requests_per_s")
    amounts = ["effective_mtok", "generated_mtok", "input_mtok", "cost"]
    tokens = api_tokens(c, columns)[["column", *amounts, "quality_pass_fraction"]]
    table = sent.merge(tokens, on="column", validate="one_to_one").drop(columns="column")
    table[amounts] = table[amounts].mul(table["requests_per_s"], axis=0)
    names = ["api_offer", "workload", "shape", "region", "period", "block"]
    numbers = ["requests_per_s", *amounts, "quality_pass_fraction"]
    return table.astype(dict.fromkeys(names, "str") | dict.fromkeys(numbers, float))


def placement_frame(c: Coefficients, flows: pd.DataFrame) -> pd.DataFrame:
    """Return mean requests/s of a workload from a region to each site in a period, their share, and the round trip."""
    table = flows.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    table["weighted"] = table["requests_per_s"] * table["hours"] / table["period"].map(c.periods["hours"])
    key = ["workload", "region", "site", "period"]
    mean = (
        table.groupby(key, as_index=False, sort=False)["weighted"]
        .sum()
        .rename(columns={"weighted": "requests_per_s"})
    )
    total = mean.groupby(["workload", "region", "period"])["requests_per_s"].transform("sum")
    rtt = c.routes[["workload", "region", "site", "rtt_ms"]]
    return mean.assign(share_fraction=mean["requests_per_s"] / total).merge(
        rtt, on=["workload", "region", "site"], how="left"
    )
