"""What one busy unit does at an operating point under a cooling, and what a request is worth in tokens."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.facts import HOSTED, Facts, at
from planner.units import TOKENS_PER_MTOK

POINT_COLUMNS = [
    "product",
    "model",
    "engine",
    "phase",
    "workload",
    "shape",
    "ttft_class",
    "clock_choice",
    "prefill_time_fraction",
    "requests_per_s",
    "ttft_ms",
    "tpot_ms",
    "e2e_ms",
    "latency_pass_fraction",
    "quality_pass_fraction",
    "prefill_kw",
    "decode_kw",
    "unit_kw",
]


def points_of(points: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the operating point of each serving row, on the rows' index; NaN for a point nobody knows."""
    return at(points.set_index("point")[POINT_COLUMNS], rows, ["point"])


def held_clock(facts: Facts, cooling: pd.Series, phase: str) -> np.ndarray:
    """Return the clock held in a phase under each cooling and its power chain, over nominal; 1 where nothing is
    stated or hosted.
    """
    case = facts.scenario.settings.cooling_case
    table = facts.table("cooling", "cooling")
    held = table[f"frequency_{phase}_fraction"]
    if case != "base":
        stated = table[f"frequency_{phase}_{case}_fraction"]
        held = stated.where(stated.notna(), held)
    fed = facts.chains["frequency_fraction"]
    if case != "base":
        stated = facts.chains[f"frequency_{case}_fraction"]
        fed = stated.where(stated.notna(), fed)
    held = held.fillna(1.0) * fed.fillna(1.0)
    return np.where(cooling == HOSTED, 1.0, held.reindex(cooling).fillna(1.0))


def busy_unit(facts: Facts, points: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return what one busy unit does in each serving row (point, workload, site, cooling).

    requests_per_s = attempts/s of the point / (f / prefill clock + (1 - f) / decode clock) / (1 + retries)
    peak_ratio     = f * sized minute of prompts + (1 - f) * sized minute of outputs
    added_kw       = max(kW at the point - idle kW, 0); 0 where hosted

    f is the share of busy time in prefill; a clock is the held one over the one the point was chosen at, at most 1.
    kW at the point: those of prefill and decode, each weighted with the
    time it takes at the clock held in it; else the kW of both, else the product's busy kW, else its nameplate.
    """
    point = points_of(points, rows)
    workload = at(facts.workloads, rows, ["workload"])
    share = point["prefill_time_fraction"]
    chosen = point["clock_choice"].fillna(1.0)
    first = share / np.minimum(held_clock(facts, rows["cooling"], "prefill") / chosen, 1.0)
    later = (1.0 - share) / np.minimum(held_clock(facts, rows["cooling"], "decode") / chosen, 1.0)
    slower = first + later
    product = at(
        facts.table("products", "product")[["busy_kw", "nameplate_kw", "idle_kw"]], point, ["product"]
    )
    kw = (first * point["prefill_kw"] + later * point["decode_kw"]) / slower
    kw = kw.where(kw.notna(), point["unit_kw"])
    kw = kw.where(kw.notna(), product["busy_kw"])
    kw = kw.where(kw.notna(), product["nameplate_kw"]).fillna(0.0)
    ours = facts.sites["kind"].reindex(rows["site"]).ne("cloud").to_numpy()
    return pd.DataFrame(
        {
            "requests_per_s": point["requests_per_s"] / slower / (1.0 + workload["retry_fraction"]),
            "peak_ratio": share * sized_minute(workload, "input")
            + (1.0 - share) * sized_minute(workload, "output"),
            "added_kw": np.where(ours, np.fmax(kw - product["idle_kw"].fillna(0.0), 0.0), 0.0),
        },
        index=rows.index,
    )


def sized_minute(workload: pd.DataFrame, side: str) -> pd.Series:
    """Return the minute that capacity is sized on over the mean of its hour: busiest, 99th percentile, or the mean.

    Where the percentile is attained over the hour, the caps of the pools see to its busy minutes: the size is the mean.
    """
    asked = workload["sizing_statistic"].fillna("peak")
    ratio = workload[f"minute_peak_{side}_ratio"].where(asked.ne("p99"), workload[f"minute_p99_{side}_ratio"])
    return ratio.where(~asked.isin(["mean", "attained"]), 1.0)


def request_tokens(facts: Facts) -> pd.DataFrame:
    """Return Mtok per request by (workload, shape): visible, effective at reference quality, generated,
    input.

    visible   = output length; 1 where it is not stated (``opaque``): then a request, not a token
    reference = visible * success * quality pass
    generated = visible * reasoning ratio * (1 + retries)
    input     = prompt length * (1 + retries)
    """
    shapes = facts.scenario.tables["shapes"].set_index(["workload", "shape"])
    about = facts.workloads.reindex(shapes.index.get_level_values("workload")).set_index(shapes.index)
    visible = shapes["output_tokens"].fillna(1.0)
    attempts = 1.0 + about["retry_fraction"]
    return pd.DataFrame(
        {
            "share_fraction": shapes["share_fraction"],
            "output_tokens": visible,
            "opaque": shapes["output_tokens"].isna(),
            "reference_mtok": visible
            * about["success_fraction"]
            * about["quality_pass_fraction"]
            / TOKENS_PER_MTOK,
            "generated_mtok": visible * about["reasoning_ratio"] * attempts / TOKENS_PER_MTOK,
            "input_mtok": shapes["input_tokens"].fillna(0.0) * attempts / TOKENS_PER_MTOK,
        }
    )
