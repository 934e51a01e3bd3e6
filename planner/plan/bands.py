"""How far the rates behind a plan may be off, by tokens: bands, whose rates they are, and why they are not measured.

A band is 5th to 95th percentile of true over planned rate. Over several points it is the mean by tokens (of the
logarithm): a wide band of a point that serves next to nothing says nothing of the plan.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.plan.metric_rows import MetricRow, over_horizon

BAND = "true / planned rate, 5th or 95th percentile, mean over the tokens served"
TUNED = "the same with what tuning of the own engines, unlike the measured ones, may change"
SHARE = "tokens generated at points of this provider / all generated; requests where no tokens are counted"
BANDS = ["band_low_ratio", "band_high_ratio"]
TUNING = ["tuning_low_ratio", "tuning_high_ratio"]


def used_points(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the points the plan runs at: point, workload, provider, bands, evidence, amount.

    ``amount`` is millions of generated tokens; of a workload whose requests have no lengths, requests.
    """
    serving = frames["serving"]
    weighed = serving.assign(requests=serving["requests_per_s"] * serving["hours"])
    used = weighed.groupby("point", as_index=False)[["requests", "generated_mtok"]].sum()
    columns = ["point", "workload", "provider", "phase", "evidence", *BANDS, *TUNING]
    used = used[used["requests"] > 0].merge(frames["points"][columns], on="point")
    counted = used.groupby("workload")["generated_mtok"].transform("sum") > 0
    # Prompts on units of their own generate nothing: the units of the answers stand for both.
    return used.assign(amount=used["generated_mtok"].where(counted, used["requests"]), counted=counted)


def weighted_band(used: pd.DataFrame, columns: list[str]) -> list[float]:
    """Return the mean by amount of the logarithms of some ratios."""
    weight = used["amount"] / used["amount"].sum()
    return [float(np.exp((np.log(used[name].astype(float)) * weight).sum())) for name in columns]


def counted_in(used: pd.DataFrame) -> str:
    """Return what the amounts of some points count: tokens, or requests where none has lengths."""
    return "tokens" if used["counted"].any() else "requests"


def with_tuning(band: float, tuning: float) -> float:
    """Return the end of a band widened by an independent one: logarithms add in squares.

    >>> round(with_tuning(0.8, 0.65), 3)
    0.616
    """
    sign = -1.0 if band < 1.0 or tuning < 1.0 else 1.0
    return float(np.exp(sign * np.hypot(np.log(band), np.log(tuning))))


def band_metrics(frames: Mapping[str, pd.DataFrame]) -> list[MetricRow]:
    """Return the bands by tokens and the share of tokens by provider, for all workloads and for each."""
    used = used_points(frames)
    used = used[used["amount"] > 0]
    whole = used[used["counted"]] if used["counted"].any() else used
    scopes = [("all", whole), *((str(name), part) for name, part in used.groupby("workload", sort=False))]
    rows: list[MetricRow] = []
    for scope, part in scopes:
        if part.empty:
            continue
        band, tuning = weighted_band(part, BANDS), weighted_band(part, TUNING)
        for end, value, tuned in zip(("low", "high"), band, tuning, strict=True):
            rows.append(over_horizon(f"rate band, {end}", scope, value, "ratio", BAND))
            both = with_tuning(value, tuned)
            rows.append(over_horizon(f"rate band with engine tuning, {end}", scope, both, "ratio", TUNED))
        total, counted = float(part["amount"].sum()), counted_in(part)
        for provider, amount in part.groupby("provider")["amount"].sum().items():
            share = float(amount) / total
            rows.append(over_horizon(f"{counted} on {provider} rates", scope, share, "fraction", SHARE))
    return rows


def rates_behind(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return per workload the share of tokens by provider, the band, and why the largest unmeasured part is not.

    Returns
    -------
    DataFrame
        Columns workload, counted (tokens or requests), measured, anchored, estimated (fractions), band_low_ratio,
        band_high_ratio, missing.
    """
    used = used_points(frames)
    used = used[used["amount"] > 0]
    rows = []
    for workload, part in used.groupby("workload", sort=False):
        share = part.groupby("provider")["amount"].sum() / part["amount"].sum()
        stated = share.reindex(["measured", "opaque"]).sum()
        anchored = share.reindex(["anchored"]).sum()
        guessed = part[~part["provider"].isin(["measured", "opaque", "anchored"])]
        reasons = guessed.groupby("evidence")["amount"].sum().sort_values(ascending=False)
        low, high = weighted_band(part, BANDS)
        missing = str(reasons.index[0]) if len(reasons) else ""
        estimated = float(guessed["amount"].sum() / part["amount"].sum())
        rows.append((workload, counted_in(part), stated, anchored, estimated, low, high, missing))
    columns = ["workload", "counted", "measured", "anchored", "estimated", *BANDS, "missing"]
    return pd.DataFrame(rows, columns=columns)
