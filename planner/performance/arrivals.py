"""How the requests of a workload arrive, as the queue model sees it."""

from __future__ import annotations

import pandas as pd

from planner.inputs.scenario import Scenario

TARGETS = ("ttft_ms", "tpot_ms", "e2e_ms")


def arrivals(scenario: Scenario, workloads: pd.DataFrame) -> pd.DataFrame:
    """Return for each workload whether its waiting is computed, and the burstiness of arrivals and of prompts.

    ``queued``: a latency target and no stated allowance (``waiting_ms`` blank). ``arrival_dispersion``: 1 (Poisson)
    where blank. ``prompt_scv``: squared coefficient of variation of prompt lengths as stated, else that of the shapes:
    ``sum(share * length^2) / sum(share * length)^2 - 1``, without what varies inside a shape.

    Returns
    -------
    DataFrame
        Columns workload, queued, arrival_dispersion, prompt_scv.
    """
    shapes = scenario.tables["shapes"]
    length, share = shapes["input_tokens"].fillna(0.0), shapes["share_fraction"]
    by_workload = shapes["workload"]
    mean = (share * length).groupby(by_workload).sum()
    square = (share * length**2).groupby(by_workload).sum()
    between = (square / mean.where(mean > 0.0) ** 2 - 1.0).clip(lower=0.0)
    own = workloads["workload"].map(between).astype(float)
    targeted = workloads[list(TARGETS)].notna().any(axis=1)
    return pd.DataFrame(
        {
            "workload": workloads["workload"],
            "queued": targeted & workloads["waiting_ms"].isna(),
            "arrival_dispersion": workloads["arrival_dispersion"].fillna(1.0),
            "prompt_scv": workloads["prompt_scv"].fillna(own).fillna(0.0),
        }
    )
