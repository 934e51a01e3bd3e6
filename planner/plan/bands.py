"""How far the rates behind a plan may be off: the widest band of the operating points in use, and who gave them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from planner.plan.metric_rows import MetricRow, over_horizon

BAND = "true / predicted rate, the widest band of the operating points in use"


def used_points(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the points the plan runs at: point, workload, provider, band_low_ratio, band_high_ratio, requests."""
    serving = frames["serving"]
    weighed = serving.assign(requests=serving["requests_per_s"] * serving["hours"])
    used = weighed.groupby("point", as_index=False)["requests"].sum()
    columns = ["point", "workload", "provider", "band_low_ratio", "band_high_ratio"]
    return used[used["requests"] > 0].merge(frames["points"][columns], on="point")


def band_metrics(frames: Mapping[str, pd.DataFrame]) -> list[MetricRow]:
    """Return the widest band and the share of requests by provider, for all workloads and for each."""
    used = used_points(frames)
    scopes = [("all", used), *((str(name), part) for name, part in used.groupby("workload", sort=False))]
    rows: list[MetricRow] = []
    for scope, part in scopes:
        if part.empty:
            continue
        low, high = float(part["band_low_ratio"].min()), float(part["band_high_ratio"].max())
        rows.append(over_horizon("rate band, low", scope, low, "ratio", BAND))
        rows.append(over_horizon("rate band, high", scope, high, "ratio", BAND))
        total = float(part["requests"].sum())
        for provider, requests in part.groupby("provider")["requests"].sum().items():
            text = "requests served at points of this provider / all requests"
            share = float(requests) / total
            rows.append(over_horizon(f"requests on {provider} rates", scope, share, "fraction", text))
    return rows
