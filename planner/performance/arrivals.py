"""How the requests of a workload arrive, as the queue model sees it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs.demand import forecast
from planner.inputs.scenario import Scenario
from planner.performance.roofline_constants import roofline_constants

TARGETS = ("ttft_ms", "tpot_ms", "e2e_ms")
SHORT_WINDOW_S, LONG_WINDOW_S = 1.0, 10.0
"""Windows in which the tables state the dispersion of arrivals."""


def arrivals(scenario: Scenario, workloads: pd.DataFrame) -> pd.DataFrame:
    """Return for each workload whether its waiting is computed, and the burstiness of arrivals and of prompts.

    ``queued``: a latency target and no stated allowance (``waiting_ms`` blank). ``burst_dispersion``: variance over
    mean of arrivals in windows of ``burst_window_s`` around the mean of their minute, of the minutes capacity is sized
    on: the busiest, or with ``sizing_statistic`` attained all of them, and then ``minute_cv`` is the swing from one to
    the other, of requests or of prompt tokens, the larger (0 otherwise: the ratio of the busiest minute has it).
    ``prompt_scv``: squared coefficient of variation of prompt lengths as stated, else that of the shapes:
    ``sum(share * length^2) / sum(share * length)^2 - 1``, without what varies inside a shape.

    Returns
    -------
    DataFrame
        Columns workload, queued, burst_dispersion, minute_cv, prompt_scv, own_lines (each replica has a line of its
        own), in_turn (a router fills them in turn), and asked_requests_per_s: attempts from all
        regions, mean over the periods, at the minute that is sized on.
    """
    shapes = scenario.tables["shapes"]
    length, share = shapes["input_tokens"].fillna(0.0), shapes["share_fraction"]
    by_workload = shapes["workload"]
    mean = (share * length).groupby(by_workload).sum()
    square = (share * length**2).groupby(by_workload).sum()
    between = (square / mean.where(mean > 0.0) ** 2 - 1.0).clip(lower=0.0)
    own = workloads["workload"].map(between).astype(float)
    targeted = workloads[list(TARGETS)].notna().any(axis=1)
    attained = workloads["sizing_statistic"].eq("attained")
    window_s = roofline_constants(scenario.tables["roofline_constants"]).burst_window_s
    swing = workloads[["arrival_cv", "input_cv"]].max(axis=1)
    whole = in_window(workloads["arrival_dispersion"], workloads["arrival_dispersion_1s"], window_s)
    busy = in_window(workloads["busy_dispersion"], workloads["busy_dispersion_1s"], window_s)
    ratio = 0.5 * (workloads["sizing_input_ratio"] + workloads["sizing_output_ratio"])
    asked = forecast(scenario).groupby(["workload", "period"])["requests_per_s"].sum()
    asked = workloads["workload"].map(asked.groupby("workload").mean()).astype(float)
    return pd.DataFrame(
        {
            "workload": workloads["workload"],
            "asked_requests_per_s": asked.fillna(0.0) * (1.0 + workloads["retry_fraction"]) * ratio,
            "queued": targeted & workloads["waiting_ms"].isna(),
            "burst_dispersion": whole.where(attained, busy.fillna(whole)).fillna(1.0),
            "minute_cv": swing.fillna(0.0).where(attained, 0.0),
            "own_lines": workloads["router"].isin(["round_robin", "prefix_aware"]),
            "in_turn": workloads["router"].eq("round_robin"),
            "prompt_scv": workloads["prompt_scv"].fillna(own).fillna(0.0),
        }
    )


def in_window(long: pd.Series, short: pd.Series, window_s: float) -> pd.Series:
    """Return the dispersion in a window from those in ten seconds and in one, linear in the logarithms.

    A blank figure of one second is taken as bursts of ten seconds and more would give it: what is above 1 grows in
    proportion to the window.

    >>> in_window(pd.Series([21.0]), pd.Series([float("nan")]), 1.0).item()
    3.0
    """
    proportion = 1.0 + (long - 1.0) * (SHORT_WINDOW_S / LONG_WINDOW_S)
    near = short.fillna(proportion)
    part = np.log(window_s / SHORT_WINDOW_S) / np.log(LONG_WINDOW_S / SHORT_WINDOW_S)
    both = near.clip(lower=1e-3) ** (1.0 - part) * long.clip(lower=1e-3) ** part
    return both.astype(float)
